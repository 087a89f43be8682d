//! The way of a file: seen, stable, captured, inspected, decided, serving.
//!
//! One constructor serves start-up and the running gateway: [`Intake::scan`] looks at the folder
//! once and brings everything as far as it can go; [`admit`] is what becomes of one file, [`leave`]
//! of one that was taken out. Nothing here is reachable with an API key.

mod admit;
pub(crate) mod damaged;
mod inspections;
mod leave;
mod refusal;
mod unused;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use tokio::time::Instant;

use super::folder::{self, CaptureError, Fingerprint};
use super::names::NameOwners;
use super::recall::{self, CapturedFile};
use super::report::FileReport;
use super::shared_folder::SharedFolder;
use super::{ServingPlugin, Snapshot};
use crate::metrics::Metrics;
use damaged::DamagedCopies;
use inspections::Inspections;
use leave::RemovedFile;
use refusal::FileRefusal;
use toolgate_catalog::rights::Upgrades;
use toolgate_core::clock::Clock;
use toolgate_runtime::Runtime;
use toolgate_store::{PluginRow, PluginState, Store, StoreError};
use unused::UnusedCopies;

/// A file is taken once it has not changed for this long.
const STABLE: Duration = Duration::from_millis(500);
/// At start, a file that was last written this long ago counts as stable at once.
const OLD_MS: i64 = 2_000;
/// While many files are inspected, what is ready is put into service this often.
const PUBLISH_EVERY: Duration = Duration::from_secs(1);
/// Files that are copied and looked up together.
const CAPTURED_AT_ONCE: usize = 64;
/// Files taken together that still get a line each in the log.
const LOGGED_INDIVIDUALLY_MAX: usize = 4;

/// The folder's memory and the hand that swaps the snapshot.
pub struct Intake {
    /// What is looked at: the operator's folder, or the mirror of the shared one.
    folder: PathBuf,
    shared: Option<SharedFolder>,
    captured: PathBuf,
    store: Store,
    runtime: Runtime,
    clock: Clock,
    metrics: Arc<Metrics>,
    snapshot: Arc<ArcSwap<Snapshot>>,
    files: BTreeMap<String, TrackedFile>,
    /// Files that were taken out and that the database does not know to be gone.
    gone: Vec<RemovedFile>,
    serving: BTreeMap<String, Arc<ServingPlugin>>,
    /// The file that each service comes from.
    sources: BTreeMap<String, String>,
    changed: bool,
    published: Instant,
    /// Files of the folder whose tools, if they have any, do not serve yet.
    loading: Arc<AtomicUsize>,
    /// Whether all files that were there at the start have been judged, and what serves is published.
    scanned: Arc<AtomicBool>,
    damaged: DamagedCopies,
    /// The outcomes of files since the last publication, logged after the next one.
    unreported: Vec<FileOutcome>,
    /// What the database knows of services, each for the first file of it in the scan of a start.
    rows: HashMap<String, PluginRow>,
    /// Whose the names of tools are, read anew for each scan that takes files.
    owners: NameOwners,
    judging: Inspections,
    unused: UnusedCopies,
    /// Which changes go in without the operator.
    upgrades: Upgrades,
}

/// The outcome of a file.
struct FileOutcome {
    file: String,
    /// The file as it was captured.
    seen: Option<Fingerprint>,
    judged: FileReport,
}

struct TrackedFile {
    fingerprint: Fingerprint,
    since: Instant,
    at_start: bool,
    /// Another file provided its service when it was judged last: it has its turn after all others, so
    /// that a file that was renamed comes first.
    deferred: bool,
    /// Its hash, while it is inspected.
    captured: Option<String>,
    judged: Option<FileReport>,
    /// Present once the file was quarantined for what it is or for what its taking met.
    refusal: Option<FileRefusal>,
}

/// How far a scan may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanScope {
    /// Only files whose inspection is remembered: a start with a warm cache compiles nothing.
    Remembered,
    Everything,
}

impl Intake {
    pub fn new(
        folder: &Path,
        data_dir: &Path,
        store: Store,
        runtime: Runtime,
        clock: Clock,
        metrics: Arc<Metrics>,
        snapshot: Arc<ArcSwap<Snapshot>>,
    ) -> io::Result<Self> {
        let captured = data_dir.join("plugins");
        std::fs::create_dir_all(&captured)?;
        // Machines that share a database share their files in it.
        let shared = match store.is_file() {
            true => None,
            false => Some(SharedFolder::open(store.clone(), folder, data_dir)?),
        };
        let folder = shared.as_ref().map_or(folder, SharedFolder::mirror);
        Ok(Self {
            folder: folder.to_owned(),
            shared,
            captured,
            store,
            runtime,
            clock,
            metrics,
            snapshot,
            files: BTreeMap::new(),
            gone: Vec::new(),
            serving: BTreeMap::new(),
            sources: BTreeMap::new(),
            changed: true,
            published: Instant::now(),
            loading: Arc::default(),
            scanned: Arc::default(),
            damaged: DamagedCopies::default(),
            unreported: Vec::new(),
            rows: HashMap::new(),
            owners: NameOwners::default(),
            judging: Inspections::default(),
            unused: UnusedCopies::default(),
            upgrades: Upgrades::default(),
        })
    }

    /// The same, with the operator's word on which changes go in by themselves.
    pub fn with_upgrades(mut self, upgrades: Upgrades) -> Self {
        self.upgrades = upgrades;
        self
    }

    /// How many files of the folder are still on their way, as it changes.
    pub fn loading(&self) -> Arc<AtomicUsize> {
        self.loading.clone()
    }

    /// Whether the files that were there at the start have been judged, as it changes.
    pub fn scanned(&self) -> Arc<AtomicBool> {
        self.scanned.clone()
    }

    /// Where calls say which copies cannot be loaded.
    pub(crate) fn damaged(&self) -> DamagedCopies {
        self.damaged.clone()
    }

    /// Looks at the folder once. Answers whether something is still on its way, so that the caller
    /// looks again soon.
    pub async fn scan(&mut self, reach: ScanScope) -> anyhow::Result<bool> {
        let (bytes_max, now_ms) = (self.runtime.component_bytes_max(), self.clock.now_ms());
        let starting = reach == ScanScope::Remembered;
        let arriving = match &mut self.shared {
            Some(shared) => shared.sync(bytes_max, now_ms, starting).await?,
            None => false,
        };
        let folder = self.folder.clone();
        let present = tokio::task::spawn_blocking(move || folder::files(&folder))
            .await?
            .with_context(|| {
                format!(
                    "the plugins folder {} cannot be read",
                    self.folder.display()
                )
            })?;
        self.drop_missing(&present);
        self.forget_gone().await?;
        self.notice(&present, reach).await?;
        self.drop_damaged().await;
        self.try_refused_again();
        let first = |file: &TrackedFile| file.judged.is_none() && !file.deferred;
        let others_come_first = self.files.values().any(first);
        let ready: Vec<String> = self
            .files
            .iter()
            .filter(|(_, file)| self.is_ready(file) && !(file.deferred && others_come_first))
            .map(|(name, _)| name.clone())
            .collect();
        let ready = self.holders_first(ready, reach).await?;
        let known = match ready.is_empty() {
            true => recall::KnownFiles::default(),
            false => {
                self.owners = NameOwners::new(self.store.tool_owners().await?);
                match &self.shared {
                    Some(shared) => shared.known(),
                    None => recall::known(&self.store).await,
                }
            }
        };
        for names in ready.chunks(CAPTURED_AT_ONCE) {
            for (name, captured) in self.capture(names, &known).await? {
                // A failure of one file is not one of the next: it is looked at again in the next scan.
                let taken = self.take(&name, captured, reach).await;
                if let Err(cause) = taken {
                    tracing::error!(plugin.file = %name, error = format!("{cause:#}"), "plugins.take_failed");
                }
                if self.published.elapsed() > PUBLISH_EVERY {
                    self.publish().await?;
                }
            }
        }
        self.rows.clear();
        // While many are inspected, each scan brings some of them.
        if self.judging.is_empty() || self.published.elapsed() > PUBLISH_EVERY {
            self.publish().await?;
        }
        self.forget_gone().await?;
        // A file that changes meanwhile is a new one: it does not hold up the start.
        let starting = |file: &TrackedFile| file.at_start && file.judged.is_none();
        if !self.changed && !self.files.values().any(starting) {
            self.scanned.store(true, Ordering::Relaxed);
        }
        let unsettled = arriving || self.files.values().any(|file| file.judged.is_none());
        if !unsettled && let Err(cause) = self.delete_unused(Instant::now()).await {
            tracing::error!(error = format!("{cause:#}"), "plugins.unused_not_deleted");
        }
        Ok(unsettled)
    }

    /// As [`Intake::scan`], after the operator may have approved or removed something: what is parked,
    /// and what another plugin keeps out, is decided again.
    pub async fn approvals_changed(&mut self) -> anyhow::Result<bool> {
        for file in self.files.values_mut() {
            let state = file.judged.as_ref().map(|judged| judged.state);
            let kept_out = file.judged.as_ref().is_some_and(FileReport::is_kept_out);
            if state == Some(PluginState::PendingApproval) || kept_out {
                file.deferred |= kept_out;
                file.judged = None;
                file.at_start = true;
            }
        }
        self.scan(ScanScope::Everything).await
    }

    fn is_ready(&self, file: &TrackedFile) -> bool {
        let captured = file.captured.as_deref();
        if captured.is_some_and(|sha256| self.judging.is_running(sha256)) {
            return false;
        }
        let old = file.at_start && self.clock.now_ms() - file.fingerprint.modified_ms() > OLD_MS;
        // A file of the mirror came there whole.
        let stable = old || self.shared.is_some() || file.since.elapsed() >= STABLE;
        file.judged.is_none() && stable
    }

    /// Files that served their service before come first, so that a copy cannot take its place.
    async fn holders_first(
        &mut self,
        mut names: Vec<String>,
        reach: ScanScope,
    ) -> Result<Vec<String>, StoreError> {
        if names.len() < 2 {
            return Ok(names);
        }
        let plugins = self.store.list_plugins().await?;
        let holders: HashSet<&str> = plugins
            .iter()
            .filter(|plugin| plugin.state != PluginState::Removed)
            .filter_map(|plugin| plugin.file_name.as_deref())
            .collect();
        names.sort_by_key(|name| (!holders.contains(name.as_str()), name.clone()));
        // Only the scan of a start is short enough that nobody changes them meanwhile.
        if reach == ScanScope::Remembered {
            let by_service = plugins.into_iter();
            self.rows = by_service.map(|row| (row.service.clone(), row)).collect();
        }
        Ok(names)
    }

    async fn notice(
        &mut self,
        present: &[(String, Fingerprint)],
        reach: ScanScope,
    ) -> Result<(), StoreError> {
        let mut seen = Vec::new();
        let in_conflict = match reach {
            ScanScope::Remembered => self.in_conflict().await?,
            ScanScope::Everything => HashSet::new(),
        };
        for (name, fingerprint) in present {
            match self.files.get_mut(name) {
                Some(file) if file.fingerprint == *fingerprint => {}
                Some(file) => {
                    file.fingerprint = *fingerprint;
                    file.since = Instant::now();
                    file.at_start = false;
                    file.deferred = false;
                    file.captured = None;
                    file.judged = None;
                    file.refusal = None;
                    if self.shared.is_none() {
                        seen.push(name);
                    }
                }
                None => {
                    let tracked = TrackedFile {
                        fingerprint: *fingerprint,
                        since: Instant::now(),
                        at_start: reach == ScanScope::Remembered,
                        deferred: in_conflict.contains(name),
                        captured: None,
                        judged: None,
                        refusal: None,
                    };
                    self.files.insert(name.clone(), tracked);
                    // Of a shared folder another process may have said more by now.
                    if reach == ScanScope::Everything && self.shared.is_none() {
                        seen.push(name);
                    }
                }
            }
        }
        let files = self.files.values();
        let wanted: HashSet<&str> = files.filter_map(|file| file.captured.as_deref()).collect();
        self.judging.keep(|sha256| wanted.contains(sha256));
        self.loading.store(self.waiting(), Ordering::Relaxed);
        let seen = seen.into_iter().map(|name| {
            let judged = FileReport {
                sha256: None,
                service: None,
                state: PluginState::Seen,
                reason: None,
                passing: false,
            };
            FileOutcome {
                file: name.clone(),
                seen: None,
                judged,
            }
        });
        self.note(&seen.collect::<Vec<_>>()).await
    }

    /// Files that stood back for another one when the gateway ran last.
    async fn in_conflict(&self) -> Result<HashSet<String>, StoreError> {
        let files = self.store.list_plugin_files().await?.into_iter();
        let in_conflict = files.filter(|file| file.state == PluginState::Conflict);
        Ok(in_conflict.map(|file| file.file_name).collect())
    }

    /// Copies stable files by hash, and finds out what is remembered of them.
    async fn capture(
        &mut self,
        names: &[String],
        known: &recall::KnownFiles,
    ) -> anyhow::Result<Vec<(String, CapturedFile)>> {
        let mut inspected = Vec::new();
        let mut files = Vec::new();
        for name in names {
            let Some(file) = self.files.get(name) else {
                continue;
            };
            match &file.captured {
                Some(sha256) => inspected.push((name.clone(), Ok((sha256.clone(), None)))),
                None => files.push((name.clone(), self.folder.join(name), file.fingerprint)),
            }
        }
        let bytes_max = self.runtime.component_bytes_max();
        let captured = recall::capture(&self.store, &self.captured, bytes_max, files, known);
        for (name, captured) in captured.await? {
            if let Ok((sha256, _)) = &captured
                && self.is_refused_still(&name, sha256)
            {
                continue;
            }
            let sound = match (&captured, &mut self.shared) {
                (Ok((sha256, _)), Some(shared)) => shared.is_sound(&name, sha256),
                _ => true,
            };
            let captured = match sound {
                true => captured,
                false => Err(CaptureError::Moving),
            };
            inspected.push((name, captured));
        }
        Ok(inspected)
    }

    async fn note(&self, files: &[FileOutcome]) -> Result<(), StoreError> {
        let now_ms = self.clock.now_ms();
        let rows = files
            .iter()
            .map(|told| told.judged.to_row(&told.file, told.seen, now_ms));
        self.store
            .put_plugin_files(&rows.collect::<Vec<_>>())
            .await?;
        let many = files.len() > LOGGED_INDIVIDUALLY_MAX;
        for told in files {
            told.judged.log(&told.file, many);
        }
        Ok(())
    }

    /// Swaps the snapshot if it changed, and only then says the outcome of the files.
    async fn publish(&mut self) -> Result<(), StoreError> {
        self.published = Instant::now();
        self.swap();
        self.loading.store(self.waiting(), Ordering::Relaxed);
        self.count();
        self.note(&self.unreported).await?;
        self.unreported.clear();
        Ok(())
    }

    /// Puts what serves now into service.
    fn swap(&mut self) {
        if !self.changed {
            return;
        }
        let snapshot = Snapshot::from_serving(self.serving.clone());
        let (services, tools) = (snapshot.serving.len(), snapshot.catalog.tools().len());
        self.metrics.set_catalog(services, tools);
        self.snapshot.store(Arc::new(snapshot));
        self.changed = false;
        tracing::info!(
            catalog.services = services,
            catalog.tools = tools,
            files.waiting = self.waiting(),
            "plugins.catalog_swapped"
        );
    }

    /// Files that nobody has judged yet.
    fn waiting(&self) -> usize {
        let unjudged = self.files.values().filter(|file| file.judged.is_none());
        unjudged.count()
    }

    fn count(&self) {
        let mut states: BTreeMap<&'static str, usize> = BTreeMap::new();
        for file in self.files.values() {
            let state = file
                .judged
                .as_ref()
                .map_or(PluginState::Seen, |judged| judged.state);
            *states.entry(state.into_str()).or_default() += 1;
        }
        self.metrics.set_plugins(states);
    }
}
