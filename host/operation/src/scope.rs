//! The scopes of a key.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// What a key may be used for.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Scope {
    #[strum(serialize = "tools:read")]
    ToolsRead,
    #[strum(serialize = "tools:execute")]
    ToolsExecute,
    #[strum(serialize = "skills:read")]
    SkillsRead,
    #[strum(serialize = "skills:write")]
    SkillsWrite,
    #[strum(serialize = "permissions:read")]
    PermissionsRead,
    #[strum(serialize = "permissions:write")]
    PermissionsWrite,
    Approvals,
    /// Connect the key's own user to a service that it is not connected to, and see its connections.
    #[strum(serialize = "connections:first")]
    ConnectionsFirst,
    Connections,
    Sessions,
    Webhooks,
    Knowledge,
    /// Act for every user of the workspace, not for the key's own alone.
    #[strum(serialize = "users:any")]
    UsersAny,
    Admin,
}

impl Scope {
    pub const ALL: &[Self] = Self::VARIANTS;
}
