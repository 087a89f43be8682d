//! One stable file, to its end: inspected, decided, serving or not.

use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;

use super::inspections::InspectionProgress;
use super::{FileOutcome, Intake, ScanScope};
use crate::audit::{self, AuditAction};
use crate::plugins::decide::{InspectedFile, PluginDecision, approved_json, decide};
use crate::plugins::folder::{self, CaptureError};
use crate::plugins::names::{TakenName, tool_names};
use crate::plugins::recall::{self, CapturedFile};
use crate::plugins::report::FileReport;
use crate::plugins::{INSPECTOR, Probation, ServingPlugin, shared_folder};
use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::{Difference, rights};
use toolgate_egress::Grant;
use toolgate_runtime::{Plugin, Rejected, Size};
use toolgate_store::{
    ActivatePlugin, Activated, CachedManifest, HoldPlugin, PluginRow as Row, PluginState,
};

/// A file that was inspected, and what the database knows of its service.
struct AdmittedFile<'a> {
    name: &'a str,
    sha256: &'a str,
    manifest: Arc<Manifest>,
    row: Option<&'a Row>,
}

fn log_changes(manifest: &Manifest, difference: &Difference) {
    for change in &difference.changes {
        tracing::info!(
            plugin.service = manifest.service,
            plugin.version = manifest.version,
            plugin.place = change.path,
            "plugins.changed: {}",
            change.says
        );
    }
}

impl Intake {
    /// Brings one stable file to its end: serving, parked, in conflict or quarantined.
    pub(super) async fn take(
        &mut self,
        name: &str,
        captured: CapturedFile,
        reach: ScanScope,
    ) -> anyhow::Result<()> {
        let (sha256, remembered) = match captured {
            Ok(captured) => captured,
            Err(CaptureError::Moving) => {
                if let Some(file) = self.files.get_mut(name) {
                    file.since = Instant::now();
                    file.at_start = false;
                }
                return Ok(());
            }
            Err(CaptureError::TooLarge(bytes)) => {
                let rejected = Rejected::by_file_size(bytes);
                return self
                    .settle(name, FileReport::quarantined(&rejected.reason()))
                    .await;
            }
            Err(CaptureError::Io(cause)) => {
                let why = format!("the file cannot be read or copied: {cause}");
                return self.settle(name, FileReport::not_taken(&why)).await;
            }
        };
        let inspected = match self.inspect(name, &sha256, remembered, reach).await? {
            None => return Ok(()),
            Some(Ok(manifest)) => manifest,
            Some(Err(rejected)) => {
                let report = match rejected.is_passing() {
                    true => FileReport::not_taken(&rejected.reason()),
                    false => FileReport::quarantined(&rejected.reason()),
                };
                let judged = FileReport {
                    sha256: Some(sha256),
                    ..report
                };
                return self.settle(name, judged).await;
            }
        };
        self.drop_replaced(name, &inspected.service);
        let judged = self.admit(name, &sha256, inspected).await?;
        self.settle(name, judged).await
    }

    /// The manifest of a captured file: remembered, or found by judging the file. `None`: this scan may
    /// not do that, or it goes on beside the scans to come.
    async fn inspect(
        &mut self,
        name: &str,
        sha256: &str,
        remembered: Option<Arc<Manifest>>,
        reach: ScanScope,
    ) -> anyhow::Result<Option<Result<Arc<Manifest>, Rejected>>> {
        if let Some(manifest) = remembered {
            // What an operator allowed once may be switched off by now.
            let allowed = self.runtime.allows(Size::for_manifest(&manifest));
            let judged = allowed.then_some(manifest);
            return Ok(Some(judged.ok_or(Rejected::LargeNotAllowed)));
        }
        if reach == ScanScope::Remembered {
            return Ok(None);
        }
        let shared = self.shared.as_ref();
        if shared.is_some_and(|shared| !shared.may_inspect(name, sha256)) {
            return Ok(None);
        }
        let copy = folder::captured(&self.captured, sha256);
        let ended = self.judging.ask(&self.runtime, sha256, copy);
        if let Some(file) = self.files.get_mut(name) {
            let running = matches!(ended, InspectionProgress::Running);
            file.captured = running.then(|| sha256.to_owned());
        }
        let inspected = match ended {
            InspectionProgress::Running => return Ok(None),
            InspectionProgress::Ended(inspected) => match (*inspected)? {
                Ok(inspected) => inspected,
                Err(rejected) => return Ok(Some(Err(rejected))),
            },
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
    ) -> anyhow::Result<FileReport> {
        let service = manifest.service.clone();
        let row = match self.rows.remove(&service) {
            Some(row) => Some(row),
            None => self.store.find_plugin(&service).await?,
        };
        let holder = row.as_ref().and_then(|row| self.holder(row, name));
        if let Err(cause) = Grant::new(&manifest.hosts, &[]) {
            return Ok(FileReport {
                sha256: Some(sha256.to_owned()),
                ..FileReport::quarantined(&format!("its hosts cannot be granted: {cause}"))
            });
        }
        if let Some(taken) = self.owners.taken(&manifest) {
            return Ok(name_taken(sha256, &service, &taken));
        }
        let file = AdmittedFile {
            name,
            sha256,
            manifest,
            row: row.as_ref(),
        };
        let (state, reason) = match self.decide(&file, holder.as_deref()).await? {
            PluginDecision::Conflict { with } => (
                PluginState::Conflict,
                Some(format!(
                    "{with} already provides {service}; remove one of the two files"
                )),
            ),
            PluginDecision::Park(difference) => {
                self.park(&file, &difference).await?;
                let asked = difference.summary();
                (
                    PluginState::PendingApproval,
                    Some(format!(
                        "asks to {asked}; look at all of it and allow it with `toolgate plugin approve {service}`"
                    )),
                )
            }
            PluginDecision::Activate(difference) => {
                if let Some(taken) = self.activate(&file).await? {
                    return Ok(name_taken(sha256, &service, &taken));
                }
                log_changes(&file.manifest, &difference);
                self.owners.claim(&file.manifest);
                self.serve(name, sha256, file.manifest)?;
                (PluginState::Active, None)
            }
        };
        Ok(FileReport {
            sha256: Some(sha256.to_owned()),
            service: Some(service),
            state,
            reason,
            passing: false,
        })
    }

    async fn decide(
        &self,
        file: &AdmittedFile<'_>,
        holder: Option<&str>,
    ) -> anyhow::Result<PluginDecision> {
        let asked = rights::normal(&file.manifest);
        let asks = InspectedFile {
            sha256: file.sha256,
            manifest: &asked,
        };
        let served = file.row.and_then(|row| row.active_sha256.as_deref());
        let earlier = match served.filter(|served| *served != file.sha256) {
            Some(_) => recall::earlier(&self.store, file.row).await?,
            None => recall::Earlier::default(),
        };
        Ok(decide(
            &asks,
            file.row,
            earlier.manifests(),
            holder,
            self.upgrades,
        ))
    }

    /// Keeps a version that waits for approval, while the one before it serves.
    async fn park(
        &mut self,
        file: &AdmittedFile<'_>,
        difference: &Difference,
    ) -> anyhow::Result<()> {
        let service = &file.manifest.service;
        let asks_for = serde_json::to_string(difference)?;
        // What waits already is not announced again: each announcement has everything decided anew.
        let unchanged = file.row.is_some_and(|row| {
            row.pending_sha256.as_deref() == Some(file.sha256)
                && row.pending_difference.as_deref() == Some(&asks_for)
                && row.file_name.as_deref() == Some(file.name)
                && matches!(
                    row.state,
                    PluginState::Active | PluginState::PendingApproval
                )
        });
        if !unchanged {
            self.store
                .hold_plugin(&HoldPlugin {
                    service,
                    file_name: file.name,
                    sha256: file.sha256,
                    version: &file.manifest.version,
                    difference: &asks_for,
                    now_ms: self.clock.now_ms(),
                })
                .await?;
        }
        self.keep_serving(service, file.name).await
    }

    /// Makes the file the active version of its service. A name that another process has claimed meanwhile is answered.
    async fn activate(&self, file: &AdmittedFile<'_>) -> anyhow::Result<Option<TakenName>> {
        let serves_already = file.row.is_some_and(|row| {
            row.state == PluginState::Active && row.active_sha256.as_deref() == Some(file.sha256)
        });
        let unchanged = file.row.is_some_and(|row| {
            serves_already
                && row.pending_sha256.is_none()
                && row.file_name.as_deref() == Some(file.name)
        });
        if unchanged {
            return Ok(None);
        }
        let (service, version) = (&file.manifest.service, &file.manifest.version);
        let store = match serves_already {
            true => self.store.audited_where(None),
            false => {
                let details =
                    json!({ "file": file.name, "version": version, "sha256": file.sha256 });
                let (action, now_ms) = (AuditAction::PluginsActivate, self.clock.now_ms());
                audit::installation(&self.store, now_ms, action, service, details).await?
            }
        };
        let activated = store
            .activate_plugin(&ActivatePlugin {
                service,
                file_name: file.name,
                sha256: file.sha256,
                version,
                approved: &approved_json(file.sha256, file.row).to_string(),
                tool_names: &tool_names(&file.manifest).collect::<Vec<_>>(),
                now_ms: self.clock.now_ms(),
            })
            .await?;
        Ok(match activated {
            Activated::NameTaken { tool_name, service } => Some(TakenName {
                tool_name,
                owner: service,
            }),
            _ => None,
        })
    }

    /// The other file of the folder that the service of `row` comes from, by the database's word: also
    /// one that is damaged, waits or was not looked at yet keeps its service.
    fn holder(&self, row: &Row, but: &str) -> Option<String> {
        let holder = row.file_name.as_deref().filter(|holder| *holder != but)?;
        let file = self.files.get(holder)?;
        let holds_another = file
            .judged
            .as_ref()
            .and_then(|judged| judged.service.as_deref())
            .is_some_and(|service| service != row.service);
        (row.state != PluginState::Removed && !holds_another).then(|| holder.to_owned())
    }

    /// Puts the last good version of a service back into place where the folder's file may not
    /// serve: it was parked or damaged while the gateway was away.
    async fn keep_serving(&mut self, service: &str, name: &str) -> anyhow::Result<()> {
        self.sources.insert(service.to_owned(), name.to_owned());
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
        let there = shared_folder::fetch(&self.store, &self.captured, &sha256).await?;
        let remembered = recall::manifest(&self.store, &sha256).await?;
        let may_serve =
            |manifest: &Manifest| there && self.runtime.allows(Size::for_manifest(manifest));
        if let Some(manifest) = remembered.filter(may_serve)
            && self.owners.taken(&manifest).is_none()
        {
            self.serve(name, &sha256, Arc::new(manifest))?;
        }
        Ok(())
    }

    fn serve(&mut self, name: &str, sha256: &str, manifest: Arc<Manifest>) -> anyhow::Result<()> {
        let service = manifest.service.clone();
        self.sources.insert(service.clone(), name.to_owned());
        if self
            .serving
            .get(&service)
            .is_some_and(|now| now.code.sha256() == sha256)
        {
            return Ok(());
        }
        let file = folder::captured(&self.captured, sha256);
        let code = Plugin::new(&service, sha256, Size::for_manifest(&manifest), &file);
        let grant = Arc::new(Grant::new(&manifest.hosts, &[])?);
        self.serving.insert(
            service,
            Arc::new(ServingPlugin {
                service: (&manifest.service).into(),
                version: (&manifest.version).into(),
                sha256: code.sha256().into(),
                code,
                manifest,
                grant,
                probation: Probation::default(),
            }),
        );
        self.changed = true;
        Ok(())
    }

    async fn settle(&mut self, name: &str, judged: FileReport) -> anyhow::Result<()> {
        if judged.state == PluginState::Quarantined
            && let Some(service) = self.service_served_from(name).await?
        {
            self.keep_serving(&service, name).await?;
            let row = self.store.find_plugin(&service).await?;
            let told = row.is_some_and(|row| {
                row.state == PluginState::Quarantined && row.reason == judged.reason
            });
            if !self.serving.contains_key(&service) && !told {
                let (state, reason) = (PluginState::Quarantined, judged.reason.as_deref());
                let now_ms = self.clock.now_ms();
                self.store
                    .set_plugin_state(&service, state, reason, now_ms)
                    .await?;
            }
        }
        let file = self.files.get_mut(name);
        // Of a shared file each machine sees another one.
        let seen = file
            .as_ref()
            .map(|file| file.fingerprint)
            .filter(|_| self.shared.is_none());
        let mut is_new = true;
        if let Some(file) = file {
            is_new = file.refused(&judged);
            file.judged = Some(judged.clone());
        }
        if is_new {
            self.unreported.push(FileOutcome {
                file: name.to_owned(),
                seen,
                judged,
            });
        }
        Ok(())
    }
}

fn name_taken(sha256: &str, service: &str, taken: &TakenName) -> FileReport {
    FileReport {
        sha256: Some(sha256.to_owned()),
        service: Some(service.to_owned()),
        ..FileReport::quarantined(&taken.to_string())
    }
}
