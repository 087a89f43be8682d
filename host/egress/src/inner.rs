//! What all clones of an [`Egress`](super::Egress) share: connections, the operator's mappings, the meter.

use std::sync::Arc;

use http::header::HeaderMap;
use url::Url;

use super::config::HostObserver;
use super::dial::Dialler;
use super::policy::Target;
use super::upstream::AllowUpstream;
use super::wire::{Departure, DestinationClass, WireMeter, WireRequest};
use super::{EgressFailure, Origin};
use toolgate_core::clock::Clock;

pub(super) struct EgressInner {
    pub(super) dialler: Dialler,
    pub(super) allow_upstreams: Vec<AllowUpstream>,
    pub(super) only_upstreams: Option<HostObserver>,
    pub(super) trace_origins: Vec<Origin>,
    pub(super) meter: Option<Arc<dyn WireMeter>>,
    pub(super) clock: Clock,
}

impl EgressInner {
    pub(super) fn depart(
        &self,
        departure: &Departure<'_>,
        headers: &mut HeaderMap,
    ) -> WireRequest<'_> {
        WireRequest::depart(
            self.meter.as_deref(),
            &self.trace_origins,
            departure,
            headers,
        )
    }

    /// Counts a request that was not let out.
    pub(super) fn refused(&self, class: DestinationClass, failure: &EgressFailure) {
        if let Some(meter) = &self.meter
            && failure.kind.is_refusal()
            && !failure.sent
        {
            meter.refused(class, failure.kind);
        }
    }

    /// Refuses what has no allowed upstream, where only those are asked.
    pub(super) fn elsewhere(&self, target: &Target) -> Result<(), EgressFailure> {
        let Some(report) = &self.only_upstreams else {
            return Ok(());
        };
        report(&target.origin.host);
        Err(EgressFailure::denied(format!(
            "`{}` is not an allowed upstream, and requests to other hosts are refused here",
            target.origin.host
        )))
    }

    /// The URL that a request to `target` is sent to, without a credential.
    pub(super) fn dialled(&self, target: &Target) -> Url {
        match self.mapping(target) {
            Some(mapping) => mapping.rewrite(&target.url),
            None => target.url.clone(),
        }
    }

    pub(super) fn mapping(&self, target: &Target) -> Option<&AllowUpstream> {
        self.allow_upstreams
            .iter()
            .find(|mapping| mapping.is_for(&target.origin))
    }
}
