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
    /// Authorize, token and revocation addresses: who sees the user and the client secret.
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
                    endpoints: [&slot.authorize_url, &slot.token_url, &slot.revoke_url]
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
