//! What the product does, one folder per subject.
//!
//! An operation is an `async fn` on [`Gateway`]: the caller first, one typed request, one typed
//! result or an [`Error`]. This module knows neither axum nor rmcp, neither status codes nor
//! JSON-RPC codes: both edges call the same operations and only render differently.
//!
//! Start with [`tools`] (the shapes), then [`tools::find`] and [`tools::execute`] (the operations). Keys, members and
//! connected apps have an object of their own, [`Gateway::identity`].

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod access;
pub mod audit;
mod authenticate;
pub mod change_feed;
pub mod config;
pub mod connections;
pub mod dashboard;
mod detached;
pub mod executions;
pub mod jobs;
pub mod knowledge;
pub mod metrics;
pub mod plugins;
mod row_seals;
pub mod sessions;
pub mod skills;
mod stored_quota;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod tools;
pub mod toolsets;
mod waiters;
pub mod webhooks;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

pub use access::permissions::{DecidedBy, Permission};
pub use dashboard::health::{Health, KeyStatus, Limits, PluginCounts, PluginLoading, Status};
pub use toolgate_identity as identity;
pub use toolgate_operation::{Caller, Error, RateLimited, Scope, Violation, limits};

use crate::access::permissions::Permissions;
use crate::config::GatewayConfig;
use crate::executions::receipt_log::ReceiptLog;
use crate::executions::writer::Receipts;
use crate::metrics::Metrics;
use crate::row_seals::RowSeals;
use plugins::{Intake, Snapshot};
use toolgate_core::clock::Clock;
use toolgate_egress::{DialError, Egress, EgressConfig};
use toolgate_identity::{Identity, IdentityParts};
use toolgate_runtime::Runtime;
use toolgate_store::{Store, StoreError};
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
    hook_refusals: webhooks::inbound::refusals::Refusals,
    /// How many wait for a user to connect.
    waiters: waiters::Waiters,
    /// Whose files are in memory.
    file_places: waiters::Waiters,
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
/// How long a start waits for a PostgreSQL that is not there yet.
const DATABASE_WITHIN: Duration = Duration::from_secs(60);

/// What a gateway is made of, opened.
struct GatewayParts<'c> {
    config: &'c GatewayConfig,
    clock: Clock,
    metrics: Arc<Metrics>,
    egress: Egress,
    store: Store,
    vault: Vault,
    runtime: Runtime,
    snapshot: Arc<ArcSwap<Snapshot>>,
}

impl GatewayParts<'_> {
    fn intake(&self) -> anyhow::Result<Intake> {
        let intake = Intake::new(
            &self.config.plugins_dir,
            &self.config.data_dir,
            self.store.clone(),
            self.runtime.clone(),
            self.clock.clone(),
            self.metrics.clone(),
            self.snapshot.clone(),
        )?;
        Ok(intake.with_upgrades(self.config.upgrades))
    }

    fn identity(&self, running: &TaskTracker) -> Identity {
        Identity::new(IdentityParts {
            store: self.store.clone(),
            egress: self.egress.clone(),
            vault: self.vault.clone(),
            clock: self.clock.clone(),
            public_url: self.config.public_url.clone(),
            oidc: self.config.oidc.clone(),
            app_clients: self.config.app_clients.clone(),
            running: running.clone(),
        })
    }

    fn connections(
        &self,
        running: &TaskTracker,
        receipts: &Receipts,
    ) -> Arc<connections::ConnectionManager> {
        connections::ConnectionManager::new(connections::ConnectionManagerParts {
            store: self.store.clone(),
            vault: self.vault.clone(),
            egress: self.egress.clone(),
            clock: self.clock.clone(),
            public_url: self.config.public_url.clone(),
            snapshot: self.snapshot.clone(),
            running: running.clone(),
            receipts: receipts.clone(),
            metrics: self.metrics.clone(),
            renewals_dir: self.config.data_dir.join("renewals"),
        })
    }

    fn assemble(self, intake: &Intake, receipts: Receipts) -> anyhow::Result<Gateway> {
        let config = self.config;
        let turn_settings =
            sessions::messages::TurnSettings::open(config.model.as_ref(), &self.egress)
                .context("the model cannot be used")?;
        let running = TaskTracker::new();
        Ok(Gateway {
            connections: self.connections(&running, &receipts),
            identity: self.identity(&running),
            turn_settings,
            search_cache: tools::search_cache::SearchCache::default(),
            embeddings: tools::embeddings::Embeddings::new(config),
            learning: tools::learning::SearchLearning::new(config.learn_from_use),
            repeats: tools::repeats::RepeatGuard::new(config.hold_back_repeats),
            services: connections::services::Services::default(),
            known_rules: access::permissions::KnownRules::default(),
            known_toolsets: toolsets::listing::KnownToolsets::default(),
            list_signal: toolsets::watch::ListSignal::default(),
            kept_quotas: tools::kept_quota::KeptQuotas::default(),
            stored_quotas: Arc::default(),
            readings: audit::readings::Readings::default(),
            hook_refusals: webhooks::inbound::refusals::Refusals::default(),
            waiters: waiters::Waiters::default(),
            file_places: waiters::Waiters::new(
                tools::files::FILES_HELD_MAX,
                tools::files::FILES_HELD_PER_WORKSPACE_MAX,
            ),
            watchers: Arc::default(),
            write_probe: dashboard::readiness::WriteProbe::default(),
            data_folder: dashboard::data_folder::DataFolder::open(&config.data_dir)?,
            loading: intake.loading(),
            scanned: intake.scanned(),
            stop_announced: AtomicBool::new(false),
            damaged_copies: intake.damaged(),
            plugins: plugins::PluginAdmin::new(
                &config.plugins_dir,
                &config.data_dir,
                config.upgrades,
            ),
            dev_logs: plugins::dev_log::DevLogs::new(&config.data_dir),
            knowledge: knowledge::Knowledge {
                reader: knowledge::read::DocumentReader::open(&config.data_dir)?,
                indexes: knowledge::index::Indexes::default(),
            },
            public_url: config.public_url.clone(),
            loopback_pages: config.loopback_pages,
            receipts,
            state_key: Zeroizing::new(self.vault.derive("mcp request state")?),
            store: self.store,
            egress: self.egress,
            vault: self.vault,
            runtime: self.runtime,
            clock: self.clock,
            metrics: self.metrics,
            snapshot: self.snapshot,
            running,
            workers: Handle::current(),
            stop: CancellationToken::new(),
        })
    }
}

fn begin_egress(
    config: &GatewayConfig,
    metrics: &Arc<Metrics>,
    clock: &Clock,
) -> JoinHandle<Result<Egress, DialError>> {
    let settings = EgressConfig {
        allow_upstreams: config.allow_upstreams.clone(),
        trace_origins: config.trace_origins.clone(),
        meter: Some(metrics.clone()),
        clock: clock.clone(),
        ..EgressConfig::default()
    };
    tokio::task::spawn_blocking(move || Egress::new(settings))
}

async fn open_store(config: &GatewayConfig) -> anyhow::Result<Store> {
    let waits = |cause: &StoreError| {
        let source = std::error::Error::source(cause).map(ToString::to_string);
        tracing::warn!(
            error = %cause,
            cause = source,
            "database.not_there: trying again for {} s after the start",
            DATABASE_WITHIN.as_secs()
        );
    };
    Store::open_when_there(&config.database_url, DATABASE_WITHIN, waits)
        .await
        .context("the database cannot be opened")
}

fn open_runtime(config: &GatewayConfig, egress: &Egress) -> anyhow::Result<Runtime> {
    let cache_key = toolgate_vault::keyfile::load_or_create(&config.data_dir.join("cache.key"))?;
    let runtime = Runtime::open(&config.data_dir.join("code"), *cache_key, egress.clone())
        .context("the WebAssembly engine cannot be opened")?;
    if let Some(program) = &config.compiler {
        runtime.compile_with(program.clone());
    }
    if config.allow_large_plugins {
        runtime
            .allow_large_plugins()
            .context("the engine of large plugins cannot be opened")?;
    }
    Ok(runtime)
}

impl Gateway {
    /// Opens store, engine and plugins. Plugins whose inspection is remembered serve when this
    /// returns; the others follow while the gateway already answers.
    pub async fn open(config: &GatewayConfig, clock: Clock) -> anyhow::Result<Arc<Self>> {
        make_private_dir(&config.data_dir)?;
        let metrics = Metrics::new();
        // The certificates of this machine are read while the database is opened.
        let egress = begin_egress(config, &metrics, &clock);
        let store = open_store(config).await?;
        let egress = egress.await??;
        let vault = jobs::master_key::open_vault(&store, &config.master_key_file).await?;
        let runtime = open_runtime(config, &egress)?;
        let snapshot = Arc::new(ArcSwap::from_pointee(Snapshot::from_serving(
            BTreeMap::new(),
        )));
        let parts = GatewayParts {
            config,
            clock,
            metrics,
            egress,
            store,
            vault,
            runtime,
            snapshot,
        };
        let mut intake = parts.intake()?;
        intake.scan(plugins::ScanScope::Remembered).await?;
        connections::labels::clean(&parts.store, &parts.vault, &parts.snapshot)
            .await
            .context("the names of connected accounts cannot be cleaned")?;
        let receipts = open_receipts(config, &parts.store, &parts.vault).await?;
        watch_database(&parts.metrics, &parts.store, &receipts);
        let gateway = Arc::new(parts.assemble(&intake, receipts)?);
        gateway.start_tasks(config, intake);
        Ok(gateway)
    }

    /// What runs beside the requests until the gateway stops.
    fn start_tasks(self: &Arc<Self>, config: &GatewayConfig, intake: Intake) {
        let (folder, store) = (PathBuf::from(&config.plugins_dir), self.store.clone());
        let stop = self.stop.clone();
        tokio::spawn(async move { plugins::watch(intake, &folder, store, stop).await });
        tokio::spawn(jobs::housekeeping::run(self.clone()));
        tokio::spawn(jobs::retention::run(self.clone(), config.keep));
        tokio::spawn(tools::embeddings::keep(self.clone()));
        tokio::spawn(connections::ahead::run(
            self.connections.clone(),
            self.stop.clone(),
        ));
        tokio::spawn(webhooks::dispatcher::run(self.clone()));
        tokio::spawn(toolsets::watch::run(self.clone()));
    }

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

/// The data folder holds secrets: only its owner may enter.
pub fn make_private_dir(dir: &std::path::Path) -> anyhow::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    let shown = dir.display();
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("the data folder {shown} cannot be made"))?;
    let about = std::fs::metadata(dir);
    let owner = about
        .with_context(|| format!("the data folder {shown} cannot be read"))?
        .uid();
    let user = rustix::process::geteuid().as_raw();
    // Volumes of containers belong to root and are open to the group of their user.
    if owner != user && owner != 0 {
        anyhow::bail!(
            "the data folder {shown} belongs to another user ({owner}, this is {user}), who could not use what \
             is written here: run this as that user, or give the folder to this one (chown -R)"
        );
    }
    Ok(())
}

/// Has the metrics count what the database does.
fn watch_database(metrics: &Arc<Metrics>, store: &Store, receipts: &Receipts) {
    let counted = metrics.clone();
    store.observe(Box::new(move |step, took| counted.database(step, took)));
    let (store, receipts) = (store.clone(), receipts.clone());
    metrics.sample(move |metrics| {
        metrics.set_pools(store.pools());
        metrics.set_receipts(receipts.queued(), receipts.behind());
    });
}

/// The writer of receipts, which first writes what earlier processes left in their logs. A database that
/// other machines share is the only place that outlives this one: there receipts have no log.
async fn open_receipts(
    config: &GatewayConfig,
    store: &Store,
    vault: &Vault,
) -> anyhow::Result<Receipts> {
    let seals = RowSeals::new(vault);
    if !store.is_file() {
        return Ok(Receipts::start(store.clone(), None, seals));
    }
    let folder = config.data_dir.join("receipts");
    let opened = tokio::task::spawn_blocking(move || ReceiptLog::open(&folder));
    let (log, left) = opened
        .await?
        .context("the log of receipts cannot be opened")?;
    let receipts = Receipts::start(store.clone(), Some(Arc::new(log)), seals);
    receipts.write_left(left, store).await;
    Ok(receipts)
}
