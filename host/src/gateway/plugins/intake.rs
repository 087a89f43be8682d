//! The way of a file: seen, stable, captured, inspected, decided, serving.
//!
//! One constructor serves start-up and the running gateway: [`Intake::scan`] looks at the folder
//! once and brings everything as far as it can go. Nothing here is reachable with an API key.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use arc_swap::ArcSwap;
use tokio::time::Instant;

use super::decide::{Decision, decide};
use super::folder::{self, Fingerprint, NotCaptured};
use super::judged::{Judged, log_state};
use super::recall::{self, Captured};
use super::{INSPECTOR, Serving, Snapshot};
use crate::catalog::manifest::Manifest;
use crate::catalog::rights::Rights;
use crate::clock::Clock;
use crate::egress::Grant;
use crate::metrics::Metrics;
use crate::runtime::{Plugin, Rejected, Runtime, Size};
use crate::store::{ActivatePlugin, CachedManifest, ParkPlugin, PluginState, Store, StoreError};

/// A file is taken once it has not changed for this long.
const STABLE: Duration = Duration::from_millis(500);
/// At start, a file that was last written this long ago counts as stable at once.
const OLD_MS: i64 = 2_000;
/// While many files are inspected, what is ready is put into service this often.
const PUBLISH_EVERY: Duration = Duration::from_secs(1);
/// Files that are copied and looked up together.
const CAPTURED_AT_ONCE: usize = 64;
/// Files taken together that still get a line each in the log.
const TOLD_ONE_BY_ONE: usize = 4;

/// The folder's memory and the hand that swaps the snapshot.
pub struct Intake {
    folder: PathBuf,
    captured: PathBuf,
    store: Store,
    runtime: Runtime,
    clock: Clock,
    metrics: Arc<Metrics>,
    snapshot: Arc<ArcSwap<Snapshot>>,
    files: BTreeMap<String, Tracked>,
    serving: BTreeMap<String, Arc<Serving>>,
    changed: bool,
    published: Instant,
    /// What became of files since the last publication: told once it is true.
    untold: Vec<(String, Judged)>,
}

struct Tracked {
    fingerprint: Fingerprint,
    since: Instant,
    at_start: bool,
    judged: Option<Judged>,
}

/// How far a scan may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
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
        Ok(Self {
            folder: folder.to_owned(),
            captured,
            store,
            runtime,
            clock,
            metrics,
            snapshot,
            files: BTreeMap::new(),
            serving: BTreeMap::new(),
            changed: true,
            published: Instant::now(),
            untold: Vec::new(),
        })
    }

    /// Looks at the folder once. Answers whether something is still on its way, so that the caller
    /// looks again soon.
    pub async fn scan(&mut self, reach: Reach) -> anyhow::Result<bool> {
        let folder = self.folder.clone();
        let present = tokio::task::spawn_blocking(move || folder::files(&folder))
            .await?
            .with_context(|| {
                format!(
                    "the plugins folder {} cannot be read",
                    self.folder.display()
                )
            })?;
        self.drop_missing(&present).await?;
        self.notice(&present, reach).await?;
        let ready: Vec<String> = self
            .files
            .iter()
            .filter(|(_, file)| self.is_ready(file))
            .map(|(name, _)| name.clone())
            .collect();
        for names in self.holders_first(ready).await?.chunks(CAPTURED_AT_ONCE) {
            for (name, captured) in self.capture(names).await? {
                // One file's trouble is not the next one's: it is looked at again in the next scan.
                if let Err(cause) = self.take(&name, captured, reach).await {
                    tracing::error!(plugin.file = %name, error = format!("{cause:#}"), "plugins.take_failed");
                }
                if self.published.elapsed() > PUBLISH_EVERY {
                    self.publish().await?;
                }
            }
        }
        self.publish().await?;
        Ok(self.files.values().any(|file| file.judged.is_none()))
    }

    /// The operator has approved something: what is parked is decided again.
    pub async fn approvals_changed(&mut self) -> anyhow::Result<()> {
        for file in self.files.values_mut() {
            if file
                .judged
                .as_ref()
                .is_some_and(|judged| judged.state == PluginState::PendingApproval)
            {
                file.judged = None;
                file.at_start = true;
            }
        }
        self.scan(Reach::Everything).await.map(|_| ())
    }

    fn is_ready(&self, file: &Tracked) -> bool {
        let old = file.at_start && self.clock.now_ms() - file.fingerprint.modified_ms() > OLD_MS;
        file.judged.is_none() && (old || file.since.elapsed() >= STABLE)
    }

    /// Files that served their service before come first, so that a copy cannot take its place.
    async fn holders_first(&self, mut names: Vec<String>) -> Result<Vec<String>, StoreError> {
        if names.len() > 1 {
            let holders: Vec<String> = self
                .store
                .list_plugins()
                .await?
                .into_iter()
                .filter(|plugin| plugin.state == PluginState::Active)
                .filter_map(|plugin| plugin.file_name)
                .collect();
            names.sort_by_key(|name| (!holders.contains(name), name.clone()));
        }
        Ok(names)
    }

    async fn drop_missing(&mut self, present: &[(String, Fingerprint)]) -> Result<(), StoreError> {
        let gone: Vec<String> = self
            .files
            .keys()
            .filter(|name| !present.iter().any(|(there, _)| there == *name))
            .cloned()
            .collect();
        for name in gone {
            let Some(file) = self.files.remove(&name) else {
                continue;
            };
            self.store.delete_plugin_file(&name).await?;
            let held = match file
                .judged
                .as_ref()
                .and_then(|judged| judged.service.clone())
            {
                Some(service) => Some(service),
                None => self.service_served_from(&name).await?,
            };
            let was_conflict = file
                .judged
                .is_some_and(|judged| judged.state == PluginState::Conflict);
            if let Some(service) = held.filter(|_| !was_conflict) {
                self.deactivate(&service, &name).await?;
            }
        }
        Ok(())
    }

    async fn service_served_from(&self, name: &str) -> Result<Option<String>, StoreError> {
        let plugins = self.store.list_plugins().await?;
        Ok(plugins
            .into_iter()
            .find(|plugin| plugin.file_name.as_deref() == Some(name))
            .map(|plugin| plugin.service))
    }

    async fn deactivate(&mut self, service: &str, name: &str) -> Result<(), StoreError> {
        let reason = format!("the file {name} was removed from the plugins folder");
        self.store
            .set_plugin_state(
                service,
                PluginState::Removed,
                Some(&reason),
                self.clock.now_ms(),
            )
            .await?;
        if self.serving.remove(service).is_some() {
            self.changed = true;
        }
        log_state(name, Some(service), PluginState::Removed, Some(&reason));
        // A file that stood back for this one may have its turn now.
        for other in self.files.values_mut() {
            let waits = other.judged.as_ref().is_some_and(|judged| {
                judged.state == PluginState::Conflict && judged.service.as_deref() == Some(service)
            });
            if waits {
                other.judged = None;
            }
        }
        Ok(())
    }

    async fn notice(
        &mut self,
        present: &[(String, Fingerprint)],
        reach: Reach,
    ) -> Result<(), StoreError> {
        let mut seen = Vec::new();
        for (name, fingerprint) in present {
            match self.files.get_mut(name) {
                Some(file) if file.fingerprint == *fingerprint => {}
                Some(file) => {
                    file.fingerprint = *fingerprint;
                    file.since = Instant::now();
                    file.at_start = false;
                    file.judged = None;
                    seen.push(name);
                }
                None => {
                    let tracked = Tracked {
                        fingerprint: *fingerprint,
                        since: Instant::now(),
                        at_start: reach == Reach::Remembered,
                        judged: None,
                    };
                    self.files.insert(name.clone(), tracked);
                    if reach == Reach::Everything {
                        seen.push(name);
                    }
                }
            }
        }
        let seen = seen.into_iter().map(|name| {
            let judged = Judged {
                sha256: None,
                service: None,
                state: PluginState::Seen,
                reason: None,
            };
            (name.clone(), judged)
        });
        self.note(&seen.collect::<Vec<_>>()).await
    }

    /// Copies stable files by hash, and finds out what is remembered of them.
    async fn capture(&self, names: &[String]) -> anyhow::Result<Vec<(String, Captured)>> {
        let files = names.iter().filter_map(|name| {
            let file = self.files.get(name)?;
            Some((name.clone(), self.folder.join(name), file.fingerprint))
        });
        let bytes_max = self.runtime.component_bytes_max();
        recall::capture(&self.store, &self.captured, bytes_max, files.collect()).await
    }

    /// Brings one stable file to its end: serving, parked, in conflict or quarantined.
    async fn take(&mut self, name: &str, captured: Captured, reach: Reach) -> anyhow::Result<()> {
        let (sha256, remembered) = match captured {
            Ok(captured) => captured,
            Err(NotCaptured::Moving) => {
                if let Some(file) = self.files.get_mut(name) {
                    file.since = Instant::now();
                    file.at_start = false;
                }
                return Ok(());
            }
            Err(NotCaptured::TooLarge(bytes)) => {
                let rejected = Rejected::by_file_size(bytes);
                return self
                    .settle(name, Judged::quarantined(rejected.reason()))
                    .await;
            }
            Err(NotCaptured::Io(cause)) => {
                return self
                    .settle(
                        name,
                        Judged::quarantined(format!("the file cannot be read: {cause}")),
                    )
                    .await;
            }
        };
        let inspected = match self.inspect(&sha256, remembered, reach).await? {
            None => return Ok(()),
            Some(Ok(manifest)) => manifest,
            Some(Err(rejected)) => {
                let judged = Judged {
                    sha256: Some(sha256),
                    ..Judged::quarantined(rejected.reason())
                };
                return self.settle(name, judged).await;
            }
        };
        let judged = self.admit(name, &sha256, inspected).await?;
        self.settle(name, judged).await
    }

    /// The manifest of a captured file: remembered, or found by judging the file now. `None`: this
    /// scan may not do that.
    async fn inspect(
        &self,
        sha256: &str,
        remembered: Option<Arc<Manifest>>,
        reach: Reach,
    ) -> anyhow::Result<Option<Result<Arc<Manifest>, Rejected>>> {
        if let Some(manifest) = remembered {
            // What an operator allowed once may be switched off by now.
            let allowed = self.runtime.allows(Size::of(&manifest));
            let judged = allowed.then_some(manifest);
            return Ok(Some(judged.ok_or(Rejected::LargeNotAllowed)));
        }
        if reach == Reach::Remembered {
            return Ok(None);
        }
        let bytes = tokio::fs::read(folder::captured(&self.captured, sha256)).await?;
        let inspected = match self.runtime.inspect(bytes).await {
            Ok(inspected) => inspected,
            Err(rejected) => return Ok(Some(Err(rejected))),
        };
        for warning in &inspected.warnings {
            tracing::debug!(plugin.service = %inspected.manifest.service, "plugins.lint: {warning}");
        }
        self.store
            .put_manifest(&CachedManifest {
                sha256: inspected.sha256,
                service: inspected.manifest.service.clone(),
                manifest: inspected.manifest_json,
                imports: serde_json::to_string(&inspected.imports)?,
                wasm_bytes: i64::try_from(inspected.size_bytes)?,
                inspector: INSPECTOR.to_owned(),
                inspected_at_ms: self.clock.now_ms(),
            })
            .await?;
        Ok(Some(Ok(Arc::new(inspected.manifest))))
    }

    async fn admit(
        &mut self,
        name: &str,
        sha256: &str,
        manifest: Arc<Manifest>,
    ) -> anyhow::Result<Judged> {
        let service = manifest.service.clone();
        let row = self.store.find_plugin(&service).await?;
        let holder = self.holder(&service, name);
        if let Err(cause) = Grant::new(&manifest.hosts, &[]) {
            return Ok(Judged {
                sha256: Some(sha256.to_owned()),
                ..Judged::quarantined(format!("its hosts cannot be granted: {cause}"))
            });
        }
        if let Some((tool, owner)) = self.snapshot.load().catalog.claimed(&manifest) {
            let reason = format!(
                "its tool {tool} would take the name of a tool of {owner}; rename one of them"
            );
            return Ok(Judged {
                sha256: Some(sha256.to_owned()),
                ..Judged::quarantined(reason)
            });
        }
        let asks = Rights::of(&manifest);
        let (state, reason) = match decide(sha256, &asks, row.as_ref(), holder.as_deref()) {
            Decision::Conflict { with } => (
                PluginState::Conflict,
                Some(format!(
                    "{with} already provides {service}; remove one of the two files"
                )),
            ),
            Decision::Park(difference) => {
                self.store
                    .park_plugin(&ParkPlugin {
                        service: &service,
                        file_name: name,
                        sha256,
                        version: &manifest.version,
                        difference: &serde_json::to_string(&difference)?,
                        now_ms: self.clock.now_ms(),
                    })
                    .await?;
                self.keep_serving(&service).await?;
                (
                    PluginState::PendingApproval,
                    Some(format!(
                        "asks for more: {difference}; allow it with `toolgate plugin approve {service}`"
                    )),
                )
            }
            Decision::Activate => {
                let unchanged = row.as_ref().is_some_and(|row| {
                    row.state == PluginState::Active
                        && row.active_sha256.as_deref() == Some(sha256)
                        && row.pending_sha256.is_none()
                        && row.file_name.as_deref() == Some(name)
                });
                if !unchanged {
                    self.store
                        .activate_plugin(&ActivatePlugin {
                            service: &service,
                            file_name: name,
                            sha256,
                            version: &manifest.version,
                            approved: &serde_json::to_string(&asks)?,
                            now_ms: self.clock.now_ms(),
                        })
                        .await?;
                }
                self.serve(sha256, manifest)?;
                (PluginState::Active, None)
            }
        };
        Ok(Judged {
            sha256: Some(sha256.to_owned()),
            service: Some(service),
            state,
            reason,
        })
    }

    /// The other file of the folder that provides `service`.
    fn holder(&self, service: &str, but: &str) -> Option<String> {
        self.files
            .iter()
            .find(|(name, file)| {
                name.as_str() != but
                    && file.judged.as_ref().is_some_and(|judged| {
                        judged.service.as_deref() == Some(service)
                            && matches!(
                                judged.state,
                                PluginState::Active | PluginState::PendingApproval
                            )
                    })
            })
            .map(|(name, _)| name.clone())
    }

    /// Puts the last good version of a service back into place where the folder's file may not
    /// serve: it was parked or damaged while the gateway was away.
    async fn keep_serving(&mut self, service: &str) -> anyhow::Result<()> {
        if self.serving.contains_key(service) {
            return Ok(());
        }
        let Some(row) = self.store.find_plugin(service).await? else {
            return Ok(());
        };
        let Some(sha256) = row
            .active_sha256
            .filter(|_| row.state == PluginState::Active)
        else {
            return Ok(());
        };
        let there = folder::captured(&self.captured, &sha256).exists();
        let remembered = recall::manifest(&self.store, &sha256).await?;
        let may_serve = |manifest: &Manifest| there && self.runtime.allows(Size::of(manifest));
        if let Some(manifest) = remembered.filter(may_serve) {
            self.serve(&sha256, Arc::new(manifest))?;
        }
        Ok(())
    }

    fn serve(&mut self, sha256: &str, manifest: Arc<Manifest>) -> anyhow::Result<()> {
        let service = manifest.service.clone();
        if self
            .serving
            .get(&service)
            .is_some_and(|now| now.code.sha256() == sha256)
        {
            return Ok(());
        }
        let file = folder::captured(&self.captured, sha256);
        let code = Plugin::new(&service, sha256, Size::of(&manifest), &file);
        let grant = Arc::new(Grant::new(&manifest.hosts, &[])?);
        self.serving.insert(
            service,
            Arc::new(Serving {
                code,
                manifest,
                grant,
            }),
        );
        self.changed = true;
        Ok(())
    }

    async fn settle(&mut self, name: &str, judged: Judged) -> anyhow::Result<()> {
        if judged.state == PluginState::Quarantined
            && let Some(service) = self.service_served_from(name).await?
        {
            self.keep_serving(&service).await?;
            if !self.serving.contains_key(&service) {
                let (state, reason) = (PluginState::Quarantined, judged.reason.as_deref());
                let now_ms = self.clock.now_ms();
                self.store
                    .set_plugin_state(&service, state, reason, now_ms)
                    .await?;
            }
        }
        self.untold.push((name.to_owned(), judged.clone()));
        if let Some(file) = self.files.get_mut(name) {
            file.judged = Some(judged);
        }
        Ok(())
    }

    async fn note(&self, files: &[(String, Judged)]) -> Result<(), StoreError> {
        let now_ms = self.clock.now_ms();
        let many = files.len() > TOLD_ONE_BY_ONE;
        let rows = files.iter().map(|(name, judged)| {
            judged.log(name, many);
            judged.of_file(name, now_ms)
        });
        self.store.put_plugin_files(&rows.collect::<Vec<_>>()).await
    }

    /// Swaps the snapshot if it changed, and only then says what became of the files.
    async fn publish(&mut self) -> Result<(), StoreError> {
        self.published = Instant::now();
        if self.changed {
            let snapshot = Snapshot::of(self.serving.clone());
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
        self.count();
        let untold = std::mem::take(&mut self.untold);
        self.note(&untold).await
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
            *states.entry(state.as_str()).or_default() += 1;
        }
        self.metrics.set_plugins(states);
    }
}
