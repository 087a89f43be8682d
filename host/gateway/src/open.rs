//! How a gateway is opened: its database, vault and engine first, then the plugins, then what runs beside the requests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

use crate::config::GatewayConfig;
use crate::executions::receipt_log::ReceiptLog;
use crate::executions::writer::Receipts;
use crate::metrics::Metrics;
use crate::plugins::{Intake, Snapshot};
use crate::row_seals::RowSeals;
use crate::{
    Gateway, access, audit, body_memory, connections, dashboard, jobs, knowledge, plugins, scripts,
    sessions, tools, toolsets, triggers, waiters, webhooks,
};
use toolgate_core::clock::Clock;
use toolgate_core::memory::MemoryBudget;
use toolgate_egress::{DialError, Egress, EgressConfig};
use toolgate_identity::{Identity, IdentityParts};
use toolgate_runtime::Runtime;
use toolgate_store::{Store, StoreError};
use toolgate_vault::Vault;

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
    body_memory: Arc<MemoryBudget>,
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
            scripts: scripts::Scripts::default(),
            hook_refusals: webhooks::inbound::refusals::Refusals::default(),
            triggers: triggers::TriggerWake::default(),
            waiters: waiters::Waiters::default(),
            file_places: waiters::Waiters::new(
                tools::files::FILES_HELD_MAX,
                tools::files::FILES_HELD_PER_WORKSPACE_MAX,
            ),
            body_memory: self.body_memory,
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
    let connections = config.database_connections;
    Store::open_when_there(&config.database_url, connections, DATABASE_WITHIN, waits)
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
    if let Some(bytes) = config.guest_memory_bytes {
        runtime.limit_guest_memory(bytes);
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
        let body_memory = body_memory::budget(runtime.guest_memory()().max_bytes);
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
            body_memory,
            snapshot,
        };
        let mut intake = parts.intake()?;
        intake.scan(plugins::ScanScope::Remembered).await?;
        connections::labels::clean(&parts.store, &parts.vault, &parts.snapshot)
            .await
            .context("the names of connected accounts cannot be cleaned")?;
        let receipts = open_receipts(config, &parts.store, &parts.vault).await?;
        watch_database(&parts.metrics, &parts.store, &receipts);
        watch_memory(&parts.metrics, &parts.runtime, &parts.body_memory);
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
        tokio::spawn(triggers::poller::run(self.clone()));
        tokio::spawn(toolsets::watch::run(self.clone()));
        if let Some(every) = config.refresh_servers {
            tokio::spawn(plugins::mcp_servers::run(self.clone(), every));
        }
    }
}

/// The data folder holds secrets: only its owner may enter.
pub fn make_private_dir(dir: &Path) -> anyhow::Result<()> {
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

fn watch_memory(metrics: &Arc<Metrics>, runtime: &Runtime, bodies: &Arc<MemoryBudget>) {
    let (guests, bodies) = (runtime.guest_memory(), bodies.clone());
    metrics.sample(move |metrics| {
        metrics.set_guest_memory(guests());
        metrics.set_body_memory(bodies.now());
    });
}

/// The writer of receipts, which first writes what earlier processes left in their logs. With a database on a server
/// there is no log: a file of this machine would be lost with the machine.
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
