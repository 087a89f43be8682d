//! What the product does, one folder per subject.
//!
//! An operation is an `async fn` on [`Gateway`]: the caller first, one typed request, one typed
//! result or an [`Error`]. This module knows neither axum nor rmcp, neither status codes nor
//! JSON-RPC codes: both edges call the same operations and only render differently.
//!
//! Start with [`tools`] (the shapes), then [`tools::find`] and [`tools::execute`] (the operations). Keys, members and
//! connected apps have an object of their own, [`Gateway::identity`].

#![forbid(unsafe_code)]

pub mod access;
pub mod audit;
mod authenticate;
pub mod body_memory;
pub mod change_feed;
pub mod config;
pub mod connections;
pub mod dashboard;
mod detached;
pub mod events;
pub mod executions;
pub mod jobs;
pub mod knowledge;
pub mod metrics;
mod open;
pub mod plugins;
mod row_seals;
pub mod scripts;
pub mod sessions;
pub mod skills;
mod stored_quota;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tools;
pub mod toolsets;
pub mod triggers;
mod waiters;
pub mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

pub use access::permissions::{DecidedBy, Permission};
pub use dashboard::health::{
    Health, HealthStatus, KeyStatus, Limits, PluginCounts, PluginLoading, Status,
};
pub use open::make_private_dir;
pub use toolgate_identity as identity;
pub use toolgate_operation::{
    Caller, Error, RateLimited, RateWindow, RequiredRole, Scope, Violation, limits,
};

use crate::access::permissions::Permissions;
use crate::metrics::Metrics;
use plugins::Snapshot;
use toolgate_core::clock::Clock;
use toolgate_core::memory::MemoryBudget;
use toolgate_egress::Egress;
use toolgate_identity::Identity;
use toolgate_runtime::Runtime;
use toolgate_store::Store;
use toolgate_vault::Vault;

/// Everything the operations work on. One per process, behind an `Arc`.
pub struct Gateway {
    store: Store,
    identity: Identity,
    egress: Egress,
    vault: Vault,
    connections: Arc<connections::ConnectionManager>,
    turn_settings: sessions::messages::TurnSettings,
    embeddings: tools::embeddings::Embeddings,
    search_cache: tools::search_cache::SearchCache,
    learning: tools::learning::SearchLearning,
    repeats: tools::repeats::RepeatGuard,
    runtime: Runtime,
    clock: Clock,
    metrics: Arc<Metrics>,
    snapshot: Arc<ArcSwap<Snapshot>>,
    services: connections::services::Services,
    known_rules: access::permissions::KnownRules,
    known_toolsets: toolsets::listing::KnownToolsets,
    list_signal: toolsets::watch::ListSignal,
    kept_quotas: tools::kept_quota::KeptQuotas,
    stored_quotas: Arc<stored_quota::StoredQuotas>,
    readings: audit::readings::Readings,
    scripts: scripts::Scripts,
    hook_refusals: webhooks::inbound::refusals::Refusals,
    triggers: triggers::TriggerWake,
    /// How many wait for a user to connect.
    waiters: waiters::Waiters,
    /// Whose files are in memory.
    file_places: waiters::Waiters,
    /// Of bodies, answers of providers, files and documents.
    body_memory: Arc<MemoryBudget>,
    write_probe: dashboard::readiness::WriteProbe,
    data_folder: dashboard::data_folder::DataFolder,
    /// How many watch for live updates.
    watchers: Arc<AtomicUsize>,
    plugins: plugins::PluginAdmin,
    dev_logs: plugins::dev_log::DevLogs,
    /// Files of the plugins folder that are still on their way into service.
    loading: Arc<AtomicUsize>,
    /// Whether the files that were there at the start have been judged.
    scanned: Arc<AtomicBool>,
    stop_announced: AtomicBool,
    damaged_copies: plugins::DamagedCopies,
    knowledge: knowledge::Knowledge,
    /// Base of links for people, without a trailing slash.
    public_url: String,
    /// Whether connect links may lead to every page of the browser's own machine.
    loopback_pages: bool,
    receipts: executions::writer::Receipts,
    /// Seals what clients carry from one call to the next; the same in every process of the gateway.
    state_key: Zeroizing<[u8; 32]>,
    /// Executions that outlive the request that asked for them.
    running: TaskTracker,
    /// Where the gateway was opened: what does not end at once goes on there.
    workers: Handle,
    stop: CancellationToken,
}

/// How long a closing gateway tries to write its last receipts.
const RECEIPTS_WITHIN: Duration = Duration::from_secs(5);
/// How long it then tries to write what it has counted, and to close the database.
const COUNTS_WITHIN: Duration = Duration::from_secs(5);

impl Gateway {
    /// Takes no more work, and lets running executions end for at most `within`. Other requests that are being
    /// answered still find their database.
    pub async fn drain(&self, within: Duration) {
        self.stop.cancel();
        self.running.close();
        let ended = timeout(within, self.running.wait()).await;
        if ended.is_err() && !within.is_zero() {
            tracing::warn!(
                executions.running = self.running.len(),
                "gateway.drain_ended"
            );
        }
    }

    /// As [`Self::drain`], then writes what is queued and closes the database. A server first lets its connections
    /// end: a request that is being answered fails afterwards.
    pub async fn close(&self, within: Duration) {
        self.drain(within).await;
        if self.receipts.settle(RECEIPTS_WITHIN).await.is_err() {
            tracing::error!("receipts.lost: the database did not take them before the end");
        }
        let counts = async {
            self.identity.write_uses().await;
            jobs::housekeeping::add_up_counts(self).await;
            jobs::housekeeping::note_hook_refusals(self).await;
            jobs::housekeeping::note_search_uses(self).await;
            jobs::housekeeping::note_client_session_uses(self).await;
            self.store.close().await;
        };
        if timeout(COUNTS_WITHIN, counts).await.is_err() {
            tracing::error!("gateway.counts_lost: the database did not answer before the end");
        }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Keys, members, connected apps and sessions of MCP clients.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Seals what clients carry from one call to the next.
    pub fn state_key(&self) -> [u8; 32] {
        *self.state_key
    }

    /// Cancelled when the gateway begins to close.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// Base of links for people, without a trailing slash.
    pub fn public_url(&self) -> &str {
        &self.public_url
    }

    fn vault(&self) -> &toolgate_vault::Vault {
        &self.connections.vault
    }

    /// How many files of the plugins folder may still bring tools that the snapshot lacks.
    fn plugins_loading(&self) -> usize {
        self.loading.load(Ordering::Relaxed)
    }

    /// No tool has this name, as far as is known by now.
    fn tool_not_found(&self, name: &str, permissions: &Permissions) -> Error {
        let tool_name = toolgate_core::visible::shown_name(name);
        match self.plugins_loading() {
            0 => {
                let search = &self.snapshot().search;
                Error::ToolNotFound {
                    nearest: search.nearest_names(name, &|tool| permissions.shows(tool)),
                    tool_name,
                }
            }
            plugins_loading => Error::ToolNotLoaded {
                tool_name,
                plugins_loading,
            },
        }
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }
}
