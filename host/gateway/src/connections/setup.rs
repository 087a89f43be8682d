//! What the operator has to set before a service can be asked at all.

use std::collections::BTreeMap;

use super::unusable::not_configured;
use crate::tools::Outcome;
use toolgate_catalog::manifest::{ConfigKey, Manifest};

/// Settings without a default that the service's address depends on and that nobody has set.
fn missing_settings<'a>(
    manifest: &'a Manifest,
    is_set: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a ConfigKey> {
    manifest.config.iter().filter(move |key| {
        key.adds_host && key.schema.get("default").is_none() && !is_set(&key.key)
    })
}

/// The setting without which the service has no address.
pub fn needed_first<'a>(
    manifest: &'a Manifest,
    is_set: impl Fn(&str) -> bool + 'a,
) -> Option<&'a ConfigKey> {
    let missing = missing_settings(manifest, is_set).next();
    missing.filter(|_| manifest.hosts.is_empty())
}

/// Why a call of the service cannot be sent: it has no host beside those that a missing setting would name.
pub(crate) fn unset(manifest: &Manifest, settings: &BTreeMap<String, String>) -> Option<Outcome> {
    let missing = needed_first(manifest, |key| settings.contains_key(key))?;
    let (title, service) = (&manifest.title, &manifest.service);
    Some(not_configured(title, service, &missing.key))
}
