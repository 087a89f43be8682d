//! What identity is opened with: the provider that members sign in with, and which MCP clients may ask to be let in.

use toolgate_store::Role;
use toolgate_vault::Secret;

/// An OpenID Connect provider that members sign in with.
#[derive(Clone, Debug)]
pub struct OidcConfig {
    /// Without a trailing slash, else exactly as the provider names itself.
    pub issuer: String,
    pub client_id: String,
    /// Absent for a public client.
    pub client_secret: Option<Secret>,
    /// On the button.
    pub name: String,
    /// Which of its groups make whom a member.
    pub groups: GroupRules,
}

/// Groups of a provider that decide who is a member, and as what. Without rules they decide nothing.
#[derive(Clone, Debug)]
pub struct GroupRules {
    /// The claim that lists a person's groups; a JSON Pointer (RFC 6901) if it begins with a slash.
    pub claim: String,
    pub rules: Vec<GroupRule>,
}

impl GroupRules {
    /// The claim where the settings name none.
    pub const CLAIM: &str = "groups";
}

impl Default for GroupRules {
    fn default() -> Self {
        Self {
            claim: Self::CLAIM.to_owned(),
            rules: Vec::new(),
        }
    }
}

/// What one group of the provider makes of its people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRule {
    pub group: String,
    /// By its name; the first one if absent.
    pub workspace: Option<String>,
    pub role: Role,
}

impl std::str::FromStr for GroupRule {
    type Err = String;

    /// `GROUP=ROLE` or `GROUP=WORKSPACE/ROLE`. The name of a group may hold both signs.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "invalid rule `{text}`: use GROUP=ROLE or GROUP=WORKSPACE/ROLE with the role owner, admin or member"
            )
        };
        let (group, target) = text.rsplit_once('=').ok_or_else(bad)?;
        let (workspace, role) = match target.rsplit_once('/') {
            Some((workspace, role)) => (Some(workspace), role),
            None => (None, target),
        };
        if group.is_empty() || workspace.is_some_and(str::is_empty) {
            return Err(bad());
        }
        Ok(Self {
            group: group.to_owned(),
            workspace: workspace.map(str::to_owned),
            role: role.parse().map_err(|_| bad())?,
        })
    }
}

/// Which MCP clients may ask to be let in, and on whose word without asking.
#[derive(Clone, Debug)]
pub struct AppClientsConfig {
    /// Clients whose id is the address of their metadata document.
    pub documents: bool,
    /// Clients that register themselves.
    pub registration: bool,
    /// Issuers whose identity assertions (ID-JAG) are taken for a person's consent.
    pub id_jag_issuers: Vec<AssertionIssuer>,
}

/// An issuer of identity assertions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionIssuer {
    /// As in its metadata, without a trailing slash.
    pub issuer: String,
    /// The name of the workspace whose members it speaks for. `None`: it is the operator's, and speaks for the members
    /// of all workspaces.
    pub workspace: Option<String>,
}

impl Default for AppClientsConfig {
    fn default() -> Self {
        Self {
            documents: true,
            registration: true,
            id_jag_issuers: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_names_a_group_a_role_and_perhaps_a_workspace() {
        for (text, group, workspace, role) in [
            ("engineering=member", "engineering", None, Role::Member),
            (
                "/eng/leads=acme/admin",
                "/eng/leads",
                Some("acme"),
                Role::Admin,
            ),
            ("cn=it,ou=x=owner", "cn=it,ou=x", None, Role::Owner),
        ] {
            let rule: GroupRule = text.parse().unwrap();
            assert_eq!(rule.group, group);
            assert_eq!((rule.workspace.as_deref(), rule.role), (workspace, role));
        }
        for bad in ["", "x", "x=", "x=root", "=member", "x=/member", "x=acme/"] {
            assert!(bad.parse::<GroupRule>().is_err(), "{bad}");
        }
    }
}
