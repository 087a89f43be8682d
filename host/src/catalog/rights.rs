//! What a plugin asks to be allowed, and whether an upgrade asks for more.
//!
//! [`Rights::of`] reads a manifest; [`widened`] compares two. An upgrade that widens anything is
//! parked until the operator approves the difference; one that asks for the same or less is not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::hosts;
use super::manifest::{Capability, Manifest};

/// Everything a manifest asks for that an operator grants. Stored with the approved version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rights {
    /// Host patterns that may be reached.
    pub hosts: BTreeSet<String>,
    pub capabilities: BTreeSet<Capability>,
    /// Operator settings whose value is granted as an address.
    pub config_hosts: BTreeSet<String>,
    /// Credential slots by name.
    pub slots: BTreeMap<String, SlotRights>,
}

/// What is asked for around one credential.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRights {
    /// `auth_type`, for example `oauth2`.
    pub kind: String,
    /// The slot's default scopes and those of the tools that use it.
    pub scopes: BTreeSet<String>,
    /// Origins that receive the credential.
    pub audience: BTreeSet<String>,
    /// Authorize, token and revocation addresses and the issuer: who sees the user and the client
    /// secret, and whose word counts.
    pub endpoints: BTreeSet<String>,
}

impl Rights {
    pub fn of(manifest: &Manifest) -> Self {
        let mut slots: BTreeMap<String, SlotRights> = BTreeMap::new();
        for slot in &manifest.auth {
            slots.insert(
                slot.slot.clone(),
                SlotRights {
                    kind: slot.kind.as_str().to_owned(),
                    scopes: slot.scopes.iter().cloned().collect(),
                    audience: slot
                        .audience
                        .iter()
                        .map(|origin| origin.trim_end_matches('/').to_owned())
                        .collect(),
                    endpoints: [
                        &slot.authorize_url,
                        &slot.token_url,
                        &slot.revoke_url,
                        &slot.issuer,
                    ]
                    .into_iter()
                    .flatten()
                    .cloned()
                    .collect(),
                },
            );
        }
        for tool in &manifest.tools {
            for slot in &tool.auth {
                if let Some(rights) = slots.get_mut(slot) {
                    rights.scopes.extend(tool.scopes.iter().cloned());
                }
            }
        }
        Self {
            hosts: manifest.hosts.iter().cloned().collect(),
            capabilities: manifest.capabilities.iter().copied().collect(),
            config_hosts: manifest
                .config
                .iter()
                .filter(|key| key.adds_host)
                .map(|key| key.key.clone())
                .collect(),
            slots,
        }
    }
}

/// What a new version asks for beyond an old one. Empty lists are left out of the JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Widening {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Capability>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub config_hosts: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotWidening>,
}

/// What is new around one credential slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotWidening {
    pub slot: String,
    /// The slot did not exist, or was of another kind.
    pub new: bool,
    pub kind: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<String>,
}

impl Widening {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What `new` asks for that `old` did not, `None` when nothing. A host that an old wildcard
/// already covers is not more.
pub fn widened(old: &Rights, new: &Rights) -> Option<Widening> {
    let covered = |host: &str| old.hosts.iter().any(|pattern| hosts::covers(pattern, host));
    let mut more = Widening {
        hosts: new
            .hosts
            .iter()
            .filter(|host| !covered(host))
            .cloned()
            .collect(),
        capabilities: new
            .capabilities
            .difference(&old.capabilities)
            .copied()
            .collect(),
        config_hosts: new
            .config_hosts
            .difference(&old.config_hosts)
            .cloned()
            .collect(),
        slots: Vec::new(),
    };
    let nothing = SlotRights::default();
    for (name, asked) in &new.slots {
        let before = old
            .slots
            .get(name)
            .filter(|before| before.kind == asked.kind);
        let had = before.unwrap_or(&nothing);
        let reached = |origin: &str| {
            had.audience
                .iter()
                .any(|old| hosts::covers_origin(old, origin))
        };
        let slot = SlotWidening {
            slot: name.clone(),
            new: before.is_none(),
            kind: asked.kind.clone(),
            scopes: asked.scopes.difference(&had.scopes).cloned().collect(),
            audience: asked
                .audience
                .iter()
                .filter(|o| !reached(o))
                .cloned()
                .collect(),
            endpoints: asked
                .endpoints
                .difference(&had.endpoints)
                .cloned()
                .collect(),
        };
        if slot.new
            || !(slot.scopes.is_empty() && slot.audience.is_empty() && slot.endpoints.is_empty())
        {
            more.slots.push(slot);
        }
    }
    (!more.is_empty()).then_some(more)
}

impl fmt::Display for Widening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.hosts.is_empty() {
            parts.push(format!("reach {}", self.hosts.join(", ")));
        }
        if !self.capabilities.is_empty() {
            let names: Vec<&str> = self.capabilities.iter().map(|c| c.as_str()).collect();
            parts.push(format!("import {}", names.join(", ")));
        }
        if !self.config_hosts.is_empty() {
            parts.push(format!(
                "reach the address set by the operator in {}",
                self.config_hosts.join(", ")
            ));
        }
        for slot in &self.slots {
            let mut about = Vec::new();
            if !slot.scopes.is_empty() {
                about.push(format!("scopes {}", slot.scopes.join(", ")));
            }
            if !slot.audience.is_empty() {
                about.push(format!("sent to {}", slot.audience.join(", ")));
            }
            if !slot.endpoints.is_empty() {
                about.push(format!("obtained through {}", slot.endpoints.join(", ")));
            }
            let what = if slot.new {
                "use a new credential"
            } else {
                "use more of the credential"
            };
            let mut part = format!("{what} `{}` ({})", slot.slot, slot.kind);
            if !about.is_empty() {
                part.push_str(": ");
                part.push_str(&about.join("; "));
            }
            parts.push(part);
        }
        write!(f, "asks to {}", parts.join("; to "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Rights, Widening, widened};
    use crate::catalog::fixture::MANIFESTS;
    use crate::catalog::manifest::Manifest;

    /// Rights of the GitHub fixture, changed by `change`.
    fn rights(change: impl FnOnce(&mut Value)) -> Rights {
        let mut json: Value = serde_json::from_str(MANIFESTS[0]).expect("a fixture is JSON");
        change(&mut json);
        Rights::of(&Manifest::parse(&json.to_string()).expect("the changed manifest has its shape"))
    }

    fn upgrade(change: impl FnOnce(&mut Value)) -> Option<Widening> {
        widened(&rights(|_| {}), &rights(change))
    }

    #[test]
    fn asking_for_the_same_or_less_is_no_widening() {
        assert_eq!(upgrade(|_| {}), None);
        assert_eq!(upgrade(|m| m["version"] = json!("9.0.0")), None);
        assert_eq!(upgrade(|m| m["tools"] = json!([])), None);
        assert_eq!(upgrade(|m| m["auth"] = json!([])), None);
        assert_eq!(upgrade(|m| m["hosts"] = json!([])), None);
        assert_eq!(
            upgrade(|m| m["auth"][0]["audience"] = json!(["https://api.github.com/"])),
            None
        );
        let wild = rights(|m| m["hosts"] = json!(["*.github.com"]));
        let narrow = rights(|m| m["hosts"] = json!(["api.github.com", "*.up.github.com"]));
        assert_eq!(widened(&wild, &narrow), None);
        assert!(widened(&narrow, &wild).is_some());
    }

    #[test]
    fn everything_more_is_named() {
        for (change, said) in [
            (
                json!({"hosts": ["api.github.com", "uploads.github.com"]}),
                "reach uploads.github.com",
            ),
            (json!({"capabilities": ["egress", "kv"]}), "import kv"),
            (
                json!({"config": [{"key": "base", "title": "B", "schema": {}, "adds_host": true}]}),
                "operator in base",
            ),
            (
                json!({"/auth/0/scopes": ["read:user", "admin:org"]}),
                "`user` (oauth2): scopes admin:org",
            ),
            (
                json!({"/auth/0/audience": ["https://x.github.com"]}),
                "sent to https://x.github.com",
            ),
            (
                json!({"/auth/0/token_url": "https://evil.example.com/t"}),
                "obtained through https://evil.example.com/t",
            ),
            (
                json!({"/auth/0/revoke_url": "https://evil.example.com/r"}),
                "obtained through https://evil.example.com/r",
            ),
            (
                json!({"/auth/0/issuer": "https://evil.example.com/i"}),
                "obtained through https://evil.example.com/i",
            ),
            (
                json!({"/auth/0/type": "oauth2_client_credentials"}),
                "a new credential `user`",
            ),
            (json!({"/auth/0/slot": "bot"}), "a new credential `bot`"),
            (
                json!({"/tools/0/scopes": ["repo", "delete_repo"]}),
                "scopes delete_repo",
            ),
        ] {
            let more = upgrade(|m| {
                for (place, value) in change.as_object().expect("an object") {
                    match m.pointer_mut(place).filter(|_| !place.is_empty()) {
                        Some(old) => *old = value.clone(),
                        None if place.starts_with('/') => {
                            let (parent, key) = place.rsplit_once('/').expect("a pointer");
                            m.pointer_mut(parent).expect("it exists")[key] = value.clone();
                        }
                        None => m[place] = value.clone(),
                    }
                }
            });
            let more = more.unwrap_or_else(|| panic!("no widening: {change}"));
            assert!(more.to_string().contains(said), "{said}: {more}");
            let stored = serde_json::to_string(&more).expect("it can be stored");
            assert_eq!(
                serde_json::from_str::<Widening>(&stored).expect("it can be read"),
                more
            );
        }
    }

    #[test]
    fn rights_survive_being_stored() {
        let rights = rights(|_| {});
        let stored = serde_json::to_string(&rights).expect("it can be stored");
        assert_eq!(
            serde_json::from_str::<Rights>(&stored).expect("it can be read"),
            rights
        );
        assert!(
            rights.slots["user"].scopes.contains("repo"),
            "the scopes of tools count"
        );
    }
}
