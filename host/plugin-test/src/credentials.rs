//! The credentials of a test call: planted ones that can be recognised, or those that the operator gave.

use std::collections::BTreeMap;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::PLANTED;
use toolgate_catalog::manifest::{AuthKind, Slot};
use toolgate_egress::{Credentials, EgressFailure, FailureKind, Injection, Origin, SlotShape};
use toolgate_vault::Secret;

/// The credential slots of one test call. With values from the operator, only the slots that they fill are connected.
/// Without any, every slot is connected with a recognisable test value.
pub(super) struct TestCredentials {
    pub slots: Vec<Slot>,
    pub connected: Option<Vec<String>>,
    pub parameters: BTreeMap<String, String>,
    /// Addresses that the operator set, by setting.
    pub addresses: BTreeMap<String, String>,
    pub secrets: Option<BTreeMap<String, Secret>>,
}

impl TestCredentials {
    fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots
            .iter()
            .find(|slot| slot.slot == name && self.connected(name))
    }

    fn audience(&self, slot: &Slot) -> Vec<String> {
        let filled = slot.audience.iter().map(|origin| {
            self.parameters
                .iter()
                .fold(origin.clone(), |text, (key, value)| {
                    text.replace(&format!("{{{key}}}"), value)
                })
        });
        let own = slot.audience.iter().filter_map(|entry| {
            let setting = entry.strip_prefix('{')?.strip_suffix('}')?;
            let url = url::Url::parse(self.addresses.get(setting)?).ok()?;
            Some(url.origin().ascii_serialization())
        });
        filled
            .filter(|origin| !origin.starts_with('{'))
            .chain(own)
            .collect()
    }
}

impl Credentials for TestCredentials {
    fn fetch<'a>(
        &'a self,
        slot: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        let injection = self.slot(slot).map(|slot| {
            let mut values: BTreeMap<String, Secret> = match &self.secrets {
                Some(secrets) => secrets.clone(),
                None => fields(slot)
                    .into_iter()
                    .chain(["secret", "client_id", "client_secret"])
                    .map(|key| (key.to_owned(), Secret::new(format!("{PLANTED}{key}"))))
                    .collect(),
            };
            for (key, value) in &self.parameters {
                values
                    .entry(key.clone())
                    .or_insert_with(|| Secret::new(value.clone()));
            }
            Injection {
                slot: slot.slot.clone(),
                generation: 1,
                placements: slot.placement.clone(),
                values,
                audience: self.audience(slot),
            }
        });
        let missing = || EgressFailure {
            kind: FailureKind::AuthRequired,
            message: format!("the slot {slot} is not connected"),
            sent: false,
        };
        std::future::ready(injection.ok_or_else(missing)).boxed()
    }

    fn connected(&self, slot: &str) -> bool {
        let named = self.connected.as_ref();
        let named = named.is_none_or(|list| list.iter().any(|name| name == slot));
        let filled = self.secrets.as_ref().is_none_or(|secrets| {
            let slot = self.slots.iter().find(|known| known.slot == slot);
            slot.is_some_and(|slot| {
                fields(slot)
                    .iter()
                    .all(|key| secrets.contains_key(*key) || self.parameters.contains_key(*key))
            })
        });
        named && filled
    }

    fn is_secret(&self, _slot: &str, field: &str) -> bool {
        !self.parameters.contains_key(field)
    }

    fn slot_for_origin(&self, origin: &str) -> Option<String> {
        let origin = Origin::parse(origin).ok()?;
        let holds = |slot: &&Slot| origin.is_in(&self.audience(slot));
        self.slots.iter().find(holds).map(|slot| slot.slot.clone())
    }

    fn shape(&self, slot: &str) -> Option<SlotShape> {
        let slot = self.slot(slot)?;
        Some(SlotShape {
            placements: slot.placement.clone(),
            audience: self.audience(slot),
        })
    }
}

/// The fields that a connection of the slot needs.
fn fields(slot: &Slot) -> Vec<&str> {
    match slot.kind {
        _ if !slot.fields.is_empty() => {
            slot.fields.iter().map(|field| field.key.as_str()).collect()
        }
        AuthKind::Basic => vec!["username", "password"],
        _ => vec!["secret"],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plugin_test_adds_a_credential_where_the_gateway_would() {
        let slot = json!({
            "slot": "user", "title": "User", "type": "api_key", "placement": {"header": "x-key"},
            "audience": ["https://{subdomain}.desk.test", "https://*.files.test", "{api_base}"],
        });
        let credentials = TestCredentials {
            slots: vec![serde_json::from_value(slot).expect("a slot")],
            connected: None,
            parameters: BTreeMap::from([("subdomain".to_owned(), "Acme".to_owned())]),
            addresses: BTreeMap::from([(
                "api_base".to_owned(),
                "https://Git.example.org/api".to_owned(),
            )]),
            secrets: None,
        };
        for (origin, lent) in [
            ("https://acme.desk.test", true),
            ("https://other.desk.test", false),
            ("https://eu.files.test", true),
            ("https://files.test", false),
            ("https://git.example.org", true),
            ("https://git.example.org:8443", false),
        ] {
            let slot = credentials.slot_for_origin(origin);
            assert_eq!(slot.is_some(), lent, "{origin}");
        }
    }
}
