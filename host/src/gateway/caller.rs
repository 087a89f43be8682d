//! Who is asking: the API key an edge has authenticated, as every operation receives it.

use std::net::IpAddr;

use crate::gateway::Error;
use crate::ids::UserId;
use crate::store::{Changes, DefaultPermission};

/// An authenticated caller. Made by [`crate::gateway::Gateway::authenticate`] alone.
#[derive(Clone, Debug)]
pub struct Caller {
    pub workspace_id: String,
    pub workspace_name: String,
    pub key_id: String,
    pub key_name: String,
    /// First eight characters of the key's random part, for people to recognise it.
    pub key_prefix: String,
    pub scopes: Vec<Scope>,
    /// The user that tools run for when a request names none.
    pub default_user: UserId,
    /// What holds for its users' tools without a rule.
    pub default_permission: DefaultPermission,
    /// What other processes had changed when the key was checked.
    pub changes: Changes,
    /// `req_<ULID>`.
    pub request_id: String,
    pub address: Option<IpAddr>,
}

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    ToolsRead,
    ToolsExecute,
    SkillsRead,
    SkillsWrite,
    PermissionsRead,
    PermissionsWrite,
    Approvals,
    Connections,
    Sessions,
    Webhooks,
    Knowledge,
    Admin,
}

impl Scope {
    pub const ALL: [Self; 12] = [
        Self::ToolsRead,
        Self::ToolsExecute,
        Self::SkillsRead,
        Self::SkillsWrite,
        Self::PermissionsRead,
        Self::PermissionsWrite,
        Self::Approvals,
        Self::Connections,
        Self::Sessions,
        Self::Webhooks,
        Self::Knowledge,
        Self::Admin,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolsRead => "tools:read",
            Self::ToolsExecute => "tools:execute",
            Self::SkillsRead => "skills:read",
            Self::SkillsWrite => "skills:write",
            Self::PermissionsRead => "permissions:read",
            Self::PermissionsWrite => "permissions:write",
            Self::Approvals => "approvals",
            Self::Connections => "connections",
            Self::Sessions => "sessions",
            Self::Webhooks => "webhooks",
            Self::Knowledge => "knowledge",
            Self::Admin => "admin",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

impl Caller {
    /// The user a request is for: the one it names, else the key's default.
    pub fn user(&self, named: Option<&UserId>) -> UserId {
        named.unwrap_or(&self.default_user).clone()
    }

    /// Refuses a caller whose key lacks `scope`. `admin` holds every scope.
    pub fn need(&self, scope: Scope) -> Result<(), Error> {
        if self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin) {
            Ok(())
        } else {
            Err(Error::ScopeDenied(scope.as_str()))
        }
    }
}
