//! Addresses and ids that come with a token, and with each that replaces it.
//!
//! Pure. The same closed list holds for the first token and for every refresh: an account that its provider has moved
//! is asked at its new place.

use std::collections::BTreeMap;

use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_catalog::token_parameters::{admitted, check_pointer};

/// The parameters that a slot reads, and where.
pub(super) struct TokenParameters<'a> {
    keys: Vec<&'a str>,
    pub(super) pointers: Vec<&'a str>,
}

impl<'a> TokenParameters<'a> {
    pub(super) fn of(slot: &'a Slot) -> Self {
        let (keys, pointers) = slot
            .token_parameters
            .iter()
            // A manifest that was accepted by an older version may name other places.
            .filter(|(_, pointer)| check_pointer(pointer).is_ok())
            .map(|(key, pointer)| (key.as_str(), pointer.as_str()))
            .unzip();
        Self { keys, pointers }
    }

    /// `parameters` with what the answer says. `read`: its values at the pointers, in their order.
    pub(super) fn taken(
        &self,
        manifest: &Manifest,
        read: &[Option<String>],
        mut parameters: BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        for (key, value) in self.keys.iter().zip(read) {
            let value = value.as_deref();
            if let Some(value) = value.and_then(|value| admitted(key, value, &manifest.hosts)) {
                parameters.insert((*key).to_owned(), value);
            }
        }
        parameters
    }
}
