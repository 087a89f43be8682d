//! What the plugin behind a call declares of its requests and answers.
//!
//! A plugin without a credential slot has nothing that an answer could hand back, so its headers and
//! media types are its own affair. For every other one the lists of [`toolgate_catalog::wire`] hold, and
//! what its manifest adds to them. Where no manifest is at hand, nothing is added.

use std::sync::Arc;

use super::target::Target;
use super::{EgressFailure, fill_parameters};
use toolgate_catalog::manifest::Manifest;

/// The declarations of one plugin.
#[derive(Clone, Debug, Default)]
pub struct Declarations(Option<Arc<Manifest>>);

impl Declarations {
    pub fn new(manifest: Arc<Manifest>) -> Self {
        Self(Some(manifest))
    }

    /// Whether the plugin has no slot, so that no list holds.
    pub fn is_open(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|manifest| manifest.auth.is_empty())
    }

    pub fn manifest(&self) -> Option<&Manifest> {
        self.0.as_deref()
    }

    /// Whether a slot's credential may be sent there, connected or not. An address that the operator enters may be of
    /// the audience.
    pub(super) fn is_audience(
        &self,
        target: &Target,
        parameters: &std::collections::BTreeMap<String, String>,
    ) -> bool {
        let slots = self.0.iter().flat_map(|manifest| &manifest.auth);
        let audience: Vec<String> = slots
            .flat_map(|slot| &slot.audience)
            .filter_map(|entry| fill_parameters(entry, parameters).ok())
            .collect();
        target.named || target.origin.is_in(&audience)
    }

    /// Refuses the addresses at which a slot's tokens are made and ended: only the gateway speaks there,
    /// and what is answered there is tokens.
    pub(super) fn refuse_token_endpoints(
        &self,
        target: &Target,
        parameters: &std::collections::BTreeMap<String, String>,
    ) -> Result<(), EgressFailure> {
        let slots = self.0.iter().flat_map(|manifest| &manifest.auth);
        for endpoint in slots
            .flat_map(|slot| [&slot.token_url, &slot.refresh_url, &slot.revoke_url])
            .flatten()
        {
            let Ok(filled) = fill_parameters(endpoint, parameters) else {
                continue;
            };
            let Ok(endpoint) = url::Url::parse(&filled) else {
                continue;
            };
            let (path, asked) = (plain(endpoint.path()), plain(target.url.path()));
            // An operator who names an address of a server's own moves its token endpoint there too, below any path.
            let moved = target.named && !path.is_empty() && ends_with(&asked, &path);
            let same = endpoint.origin() == target.url.origin()
                && asked.len() == path.len()
                && ends_with(&asked, &path);
            if same || moved {
                return Err(EgressFailure::denied(
                    "only the gateway itself speaks to a token endpoint",
                ));
            }
        }
        Ok(())
    }
}

/// Whether a path ends with another one, in which `{tenant}` is any segment.
fn ends_with(path: &[String], end: &[String]) -> bool {
    let Some(from) = path.len().checked_sub(end.len()) else {
        return false;
    };
    let mut pairs = path[from..].iter().zip(end);
    pairs.all(|(one, other)| one == other || other == "{tenant}")
}

/// The segments of a path as lenient servers compare them.
fn plain(path: &str) -> Vec<String> {
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
    // Java servers ignore what follows `;` in a segment.
    decoded
        .split('/')
        .map(|segment| segment.split(';').next().unwrap_or_default())
        .filter(|segment| !segment.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_endpoint_is_closed_with_any_tenant_and_its_neighbours_are_not() {
        let ends = |path: &str| {
            let endpoint = plain("/{tenant}/oauth2/v2.0/token");
            ends_with(&plain(path), &endpoint)
        };
        for closed in [
            "/common/oauth2/v2.0/token",
            "/acme.example/OAuth2/v2.0/token;x",
            "/9188040d/oauth2//v2%2e0/token/",
            "/below/acme/oauth2/v2.0/token",
        ] {
            assert!(ends(closed), "{closed}");
        }
        for open in [
            "/oauth2/v2.0/token",
            "/common/oauth2/v2.0/authorize",
            "/common/oauth2/v2.0/token/info",
            "/",
        ] {
            assert!(!ends(open), "{open}");
        }
    }
}
