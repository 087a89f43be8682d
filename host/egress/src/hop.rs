//! One request on its way, decided and cleaned, before a credential is written into it.

use bytes::Bytes;
use http::Method;
use http::header::{HeaderMap, HeaderValue};

use super::Injection;
use super::target::Target;
use toolgate_catalog::manifest::Placement;

/// A request on its way: what the plugin asked for, decided and cleaned, without any credential.
pub(super) struct Hop {
    pub(super) target: Target,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The plugin wants the start of the answer only.
    pub(super) range: Option<HeaderValue>,
}

impl Hop {
    /// What goes out as `Range`: the start of a file, where the request carries a signature and no
    /// secret that a part of the answer could hold.
    pub(super) fn range_for(&self, injection: Option<&Injection>) -> Option<&HeaderValue> {
        let signed = |placement: &Placement| matches!(placement, Placement::AwsSigv4 { .. });
        let range = self.range.as_ref()?;
        injection
            .filter(|injection| injection.placements.iter().all(signed))
            .map(|_| range)
    }
}
