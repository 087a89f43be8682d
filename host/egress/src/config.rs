//! What the way out is opened with.

use std::sync::Arc;

use super::Origin;
use super::dial::{Lookup, system_lookup};
use super::upstream::AllowUpstream;
use super::wire::WireMeter;
use toolgate_core::clock::Clock;

/// What the process decides once about its way out.
#[derive(Clone)]
pub struct EgressConfig {
    pub allow_upstreams: Vec<AllowUpstream>,
    /// Sent where a plugin sets none.
    pub user_agent: String,
    /// Certificate authorities trusted beside the system's, as PEM.
    pub extra_roots_pem: Vec<Vec<u8>>,
    /// How host names become addresses.
    pub lookup: Lookup,
    /// Where present, nothing but `allow_upstreams` is asked, and this is called with every other host
    /// that a request was meant for.
    pub only_upstreams: Option<HostObserver>,
    /// Origins that learn which trace a request belongs to. No other does.
    pub trace_origins: Vec<Origin>,
    /// Counts every request.
    pub meter: Option<Arc<dyn WireMeter>>,
    /// What signatures and waits are computed by.
    pub clock: Clock,
}

/// Hears of a host.
pub type HostObserver = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow_upstreams: Vec::new(),
            user_agent: concat!("toolgate/", env!("CARGO_PKG_VERSION")).to_owned(),
            extra_roots_pem: Vec::new(),
            lookup: system_lookup(),
            only_upstreams: None,
            trace_origins: Vec::new(),
            meter: None,
            clock: Clock::system(),
        }
    }
}
