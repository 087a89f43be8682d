//! What of a slot goes into a request, and where to.
//!
//! Pure. Refuses by leaving out: an address that the slot's audience does not name, a parameter that
//! holds a secret.

use std::collections::BTreeMap;

use super::credential::OpenCredential;
use toolgate_catalog::manifest::{AuthKind, CLIENT_ID, Manifest, Slot};
use toolgate_egress::{Injection, Origin, Scrubber, fill_parameters};

/// A field is hidden unless the manifest says that it is not secret.
pub(super) fn is_secret(slot: Option<&Slot>, field: &str) -> bool {
    let declared = slot.and_then(|slot| slot.fields.iter().find(|known| known.key == field));
    match declared {
        Some(known) => known.secret,
        // The gateway's own registration, which every browser that connects is shown.
        None => !(field == CLIENT_ID && slot.is_some_and(is_oauth)),
    }
}

/// The parameters of a call: those that its user has chosen, and what the manifest says for the rest, also where there
/// is no connection.
pub(super) fn with_defaults(
    manifest: &Manifest,
    mut parameters: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    for parameter in &manifest.parameters {
        if let (false, Some(default)) =
            (parameters.contains_key(&parameter.key), &parameter.default)
        {
            parameters.insert(parameter.key.clone(), default.clone());
        }
    }
    parameters
}

fn is_oauth(slot: &Slot) -> bool {
    matches!(
        slot.kind,
        AuthKind::Oauth2 | AuthKind::Oauth2ClientCredentials
    )
}

/// Parameters without those that hold a secret, which an older version may have kept.
pub(super) fn without_secrets(
    parameters: &BTreeMap<String, String>,
    scrubber: &Scrubber,
) -> BTreeMap<String, String> {
    parameters
        .iter()
        .filter(|(_, value)| !scrubber.finds(value.as_bytes()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

pub(super) fn injection(
    slot: &Slot,
    parameters: &BTreeMap<String, String>,
    manifest: &Manifest,
    settings: &BTreeMap<String, String>,
    credential: OpenCredential,
    generation: u64,
) -> Injection {
    Injection {
        slot: slot.slot.clone(),
        generation,
        placements: slot.placement.clone(),
        values: credential.values,
        audience: audience(slot, parameters, manifest, settings),
    }
}

/// Origins that may receive a slot's credential: those that the manifest names, parameters and the
/// operator's settings filled in. A setting that the audience does not name adds nothing.
pub(super) fn audience(
    slot: &Slot,
    parameters: &BTreeMap<String, String>,
    manifest: &Manifest,
    settings: &BTreeMap<String, String>,
) -> Vec<String> {
    let declared = slot
        .audience
        .iter()
        .filter(|entry| entry.starts_with("https://"))
        .filter_map(|entry| fill_parameters(entry, parameters).ok());
    declared
        .chain(named_addresses(slot, manifest, settings))
        .collect()
}

/// Whether a slot's credential may be sent to `origin`.
pub(super) fn may_receive(
    origin: &str,
    slot: &Slot,
    parameters: &BTreeMap<String, String>,
    manifest: &Manifest,
    settings: &BTreeMap<String, String>,
) -> bool {
    let audience = audience(slot, parameters, manifest, settings);
    Origin::parse(origin).is_ok_and(|origin| origin.is_in(&audience))
}

/// The addresses that the operator wrote into settings that the slot's audience names.
pub(super) fn named_addresses<'a>(
    slot: &'a Slot,
    manifest: &'a Manifest,
    settings: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = String> + 'a {
    slot.audience
        .iter()
        .filter_map(|entry| entry.strip_prefix('{')?.strip_suffix('}'))
        .filter(|name| {
            let declared = manifest.config.iter().find(|key| key.key == *name);
            declared.is_some_and(|key| key.adds_host)
        })
        .filter_map(|name| serde_json::from_str::<String>(settings.get(name)?).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        serde_json::from_value(serde_json::json!({
            "manifest": 1, "service": "desk", "title": "Desk", "version": "1.0.0", "description": "d",
            "hosts": ["{subdomain}.desk.test", "*.files.test"],
            "config": [{"key": "api_base", "title": "Address", "schema": {"type": "string"}, "adds_host": true}],
            "parameters": [{"key": "subdomain", "title": "Subdomain", "pattern": "^[a-z]+$"}],
            "auth": [{
                "slot": "user", "title": "User", "type": "basic",
                "fields": [{"key": "email", "title": "Mail", "secret": false}, {"key": "key", "title": "Key"}],
                "placement": {"basic": {"username": "{email}", "password": "{key}"}},
                "audience": ["https://{subdomain}.desk.test", "https://*.files.test", "{api_base}"]
            }],
            "tools": []
        }))
        .unwrap()
    }

    #[test]
    fn the_audience_is_filled_and_holds_what_the_operator_named() {
        let manifest = manifest();
        let slot = &manifest.auth[0];
        let settings =
            BTreeMap::from([("api_base".to_owned(), "\"http://127.0.0.1:9/x\"".to_owned())]);
        for (subdomain, expected) in [
            (
                Some("acme"),
                vec![
                    "https://acme.desk.test",
                    "https://*.files.test",
                    "http://127.0.0.1:9/x",
                ],
            ),
            (
                Some("evil.test/"),
                vec!["https://*.files.test", "http://127.0.0.1:9/x"],
            ),
            (None, vec!["https://*.files.test", "http://127.0.0.1:9/x"]),
        ] {
            let parameters = subdomain
                .map(|text| ("subdomain".to_owned(), text.to_owned()))
                .into_iter()
                .collect();
            assert_eq!(audience(slot, &parameters, &manifest, &settings), expected);
        }
        let acme = BTreeMap::from([("subdomain".to_owned(), "acme".to_owned())]);
        for (origin, may) in [
            ("https://acme.desk.test", true),
            ("https://eu.files.test", true),
            ("http://127.0.0.1:9", true),
            ("https://acme.desk.test:8443", false),
            ("http://acme.desk.test", false),
            ("https://other.desk.test", false),
            ("https://files.test.evil.test", false),
            ("acme.desk.test", false),
        ] {
            let receives = may_receive(origin, slot, &acme, &manifest, &settings);
            assert_eq!(receives, may, "{origin}");
        }
        let mut unnamed = slot.clone();
        unnamed.audience.retain(|entry| entry != "{api_base}");
        assert_eq!(
            audience(&unnamed, &BTreeMap::new(), &manifest, &settings),
            ["https://*.files.test"],
            "a setting alone opens nothing"
        );
    }

    #[test]
    fn a_field_is_secret_unless_the_manifest_says_otherwise() {
        let manifest = manifest();
        let slot = Some(&manifest.auth[0]);
        for (field, secret) in [
            ("email", false),
            ("key", true),
            ("other", true),
            ("username", true),
            ("access_key_id", true),
            ("client_id", true),
        ] {
            assert_eq!(is_secret(slot, field), secret, "{field}");
        }
        assert!(is_secret(None, "secret"));
        // Of the gateway's registration every browser sees the id; the secret stays one.
        let mut oauth = manifest.auth[0].clone();
        oauth.kind = AuthKind::Oauth2;
        assert!(!is_secret(Some(&oauth), "client_id"));
        assert!(is_secret(Some(&oauth), "client_secret"));
    }
}
