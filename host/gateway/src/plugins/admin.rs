//! Plugins from the dashboard: judged before anything is kept, put into the folder, approved, rolled
//! back, taken out. The folder stays the operator's word: what is done here is done to its files, and
//! the watcher takes it from there.
//!
//! A change of the folder goes on when its caller hangs up: its entry in the audit log is committed before the files
//! are changed, and the two have to agree. An approval is one transaction with its entry.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;

use super::hastened::Hastened;
use super::rollback::roll_back;
use super::staged::{PluginFolders, plain};
use super::{INSPECTOR, ListedFile, ListedPlugin, ServingPlugin, listing, removal};
use crate::audit::AuditAction;
use crate::detached::detach;
use crate::{Caller, Error, Gateway};
use toolgate_catalog::Manifest;
use toolgate_catalog::rights::{self, Difference, Rights, Upgrades};
use toolgate_core::clock::rfc3339;
use toolgate_runtime::inspect::Inspected;
use toolgate_store::{PluginRow, PluginState, Role};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// A removed file ends its service with the next scan of the folder.
const SERVING_ENDS_WITHIN: Duration = Duration::from_secs(10);
const SERVING_LOOK: Duration = Duration::from_millis(50);

/// Where plugin files are. Judging one takes a compiler's memory, so one is judged at a time.
pub(crate) struct PluginAdmin {
    folder: PathBuf,
    pub(super) captured: PathBuf,
    judging: Arc<tokio::sync::Mutex<()>>,
    upgrades: Upgrades,
    /// An operator asks an address, one at a time.
    asking: Arc<tokio::sync::Mutex<()>>,
    /// An MCP server is to be asked for its tools before it is due.
    pub(super) server_is_due: Arc<tokio::sync::Notify>,
    pub(super) hastened: Hastened,
}

impl PluginAdmin {
    pub(crate) fn new(folder: &Path, data_dir: &Path, upgrades: Upgrades) -> Self {
        Self {
            upgrades,
            folder: folder.to_owned(),
            captured: data_dir.join("plugins"),
            judging: Arc::default(),
            asking: Arc::default(),
            server_is_due: Arc::default(),
            hastened: Hastened::default(),
        }
    }

    pub(super) fn asking_address(&self) -> Arc<tokio::sync::Mutex<()>> {
        self.asking.clone()
    }

    /// Which changes go in without approval.
    pub(super) fn upgrades(&self) -> Upgrades {
        self.upgrades
    }
}

/// A plugin with its versions, rights and use.
#[derive(Clone, Debug, Serialize)]
pub struct PluginInfo {
    #[serde(flatten)]
    pub listed: ListedPlugin,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Newest first; those whose file is still there can be rolled back to.
    pub versions: Vec<VersionInfo>,
    /// What the serving version was granted; told of one plugin at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<Rights>,
    pub r#use: PluginUse,
}

#[derive(Clone, Debug, Serialize)]
pub struct VersionInfo {
    pub version: String,
    pub sha256: String,
    pub activated_at: String,
    pub active: bool,
    /// What going back to it would change about the version that serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// What a plugin costs: calls of the caller's workspace, and the size of its file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PluginUse {
    pub calls_24h: i64,
    pub errors_24h: i64,
    pub mean_ms_24h: Option<i64>,
    pub wasm_bytes: Option<i64>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PluginOverview {
    pub plugins: Vec<PluginInfo>,
    pub files: Vec<ListedFile>,
    pub folder_writable: bool,
    pub file_bytes_max: u64,
}

/// What a file is and asks for.
#[derive(Clone, Debug, Serialize)]
pub struct FileAssessment {
    pub service: String,
    pub title: String,
    pub version: String,
    pub sha256: String,
    pub tools: usize,
    pub rights: Rights,
    /// The version that serves now.
    pub replaces: Option<ReplacedFile>,
    /// What it changes about the version that was approved.
    pub difference: Option<Difference>,
    /// Whether the difference waits for approval.
    pub waits: bool,
    pub warnings: Vec<String>,
    /// Its name in the folder, once it is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReplacedFile {
    pub version: Option<String>,
    pub sha256: Option<String>,
}

impl Gateway {
    /// Every plugin, without the rights of each, and for members of the workspace that runs the installation every file
    /// of the folder.
    pub async fn plugin_overview(&self, caller: &Caller) -> Result<PluginOverview, Error> {
        self.overview_with_rights(caller, None).await
    }

    /// The same, with rights and differences of one service: of all of them they are megabytes.
    async fn overview_with_rights(
        &self,
        caller: &Caller,
        whole: Option<&str>,
    ) -> Result<PluginOverview, Error> {
        caller.need_role(Role::Member)?;
        let list = listing::list(&self.store).await?;
        let since_ms = self.clock.now_ms() - DAY_MS;
        let _ = self.receipts.flush().await;
        let usage = self
            .store
            .usage_by_service(&caller.workspace_id, None, since_ms)
            .await?;
        let manifests = self.store.list_manifests(INSPECTOR).await?;
        let snapshot = self.snapshot();
        let mut plugins = Vec::with_capacity(list.plugins.len());
        for mut listed in list.plugins {
            if !caller.operator {
                // A reason may name a file, and a failure a private address.
                listed.reason = None;
                if let Some(server) = &mut listed.server {
                    server.failure = None;
                }
            }
            let cached = listed
                .sha256
                .as_ref()
                .and_then(|sha256| manifests.iter().find(|cached| cached.sha256 == *sha256));
            let serving = snapshot.serving.get(&listed.service);
            // The database has a new version before this process serves it.
            let serves = serving.map(|serving| &*serving.sha256);
            let serves = serves.or(listed.sha256.as_deref());
            let used = usage.iter().find(|used| used.service == listed.service);
            let versions = self.store.plugin_versions(&listed.service).await?;
            let manifest = cached
                .filter(|_| whole == Some(listed.service.as_str()))
                .and_then(|cached| Manifest::recall(&cached.manifest).ok());
            let differs = |sha256: &str| {
                let now = rights::normal(manifest.as_ref()?);
                let cached = manifests.iter().find(|cached| cached.sha256 == sha256)?;
                let then = rights::normal_text(&cached.manifest);
                Some(Difference::between(&now, &then, self.plugins.upgrades))
            };
            plugins.push(PluginInfo {
                title: serving.map(|serving| serving.manifest.title.clone()),
                versions: versions
                    .into_iter()
                    .map(|version| VersionInfo {
                        active: serves == Some(version.sha256.as_str()),
                        difference: differs(&version.sha256).filter(|found| !found.is_empty()),
                        version: version.version,
                        sha256: version.sha256,
                        activated_at: rfc3339(version.activated_at_ms),
                    })
                    .collect(),
                rights: manifest.as_ref().map(Rights::from_manifest),
                r#use: PluginUse {
                    calls_24h: used.map_or(0, |used| used.calls),
                    errors_24h: used.map_or(0, |used| used.errors),
                    mean_ms_24h: used.map(|used| used.total_ms / used.calls.max(1)),
                    wasm_bytes: cached.map(|cached| cached.wasm_bytes),
                },
                listed,
            });
        }
        Ok(PluginOverview {
            plugins,
            // How the operator names files is nobody else's business.
            files: match caller.operator {
                true => list.files,
                false => Vec::new(),
            },
            folder_writable: !self.store.is_file() || writable(&self.plugins.folder),
            file_bytes_max: self.runtime.component_bytes_max(),
        })
    }

    /// One plugin.
    pub async fn plugin(&self, caller: &Caller, service: &str) -> Result<PluginInfo, Error> {
        let overview = self.overview_with_rights(caller, Some(service)).await?;
        overview
            .plugins
            .into_iter()
            .find(|plugin| plugin.listed.service == service)
            .ok_or_else(|| unknown(service))
    }

    /// Judges a file as the folder's watcher would, and keeps nothing of it.
    ///
    /// # Errors
    /// `invalid_request` with the reason for a file that is not a plugin.
    pub async fn check_plugin(
        &self,
        caller: &Caller,
        file: Bytes,
    ) -> Result<FileAssessment, Error> {
        caller.need_operator()?;
        self.judged(file).await
    }

    /// Puts a file into the folder, in the place of the one that provides its service. A first file
    /// is thereby granted what it asks for; an upgrade that asks for more waits for approval.
    ///
    /// # Errors
    /// `invalid_request` as [`Gateway::check_plugin`]; `conflict` when the file that has its place
    /// is another service's.
    pub async fn add_plugin(
        self: &Arc<Self>,
        caller: &Caller,
        file: Bytes,
    ) -> Result<FileAssessment, Error> {
        caller.need_operator()?;
        let judged = self.judged(file.clone()).await?;
        let adding = Box::pin(self.clone().add_judged(caller.clone(), judged, file));
        self.finish_change(adding).await
    }

    async fn add_judged(
        self: Arc<Self>,
        caller: Caller,
        mut judged: FileAssessment,
        file: Bytes,
    ) -> Result<FileAssessment, Error> {
        let row = self.store.find_plugin(&judged.service).await?;
        let name = row
            .and_then(|row| row.file_name)
            .unwrap_or_else(|| format!("{}.wasm", judged.service));
        if let Some(owner) = self.other_owner(&name, &judged.service).await? {
            return Err(Error::Conflict(format!(
                "the file {name} of the plugins folder is the one of {owner}; move it away first"
            )));
        }
        let folders = self.plugin_folders();
        let staged = folders
            .stage(&self.store, &name, file, self.clock.now_ms())
            .await?;
        let details = json!({
            "version": judged.version,
            "sha256": judged.sha256,
            "file": name,
            "difference": judged.difference,
        });
        self.record_act(
            &caller,
            AuditAction::PluginsUpload,
            &judged.service,
            details,
        )
        .await?;
        staged.put(self.clock.now_ms()).await?;
        judged.file = Some(name);
        Ok(judged)
    }

    /// Lets in the version that waits and was shown, and no other.
    ///
    /// # Errors
    /// `conflict` when nothing waits, or another file does by now.
    pub async fn approve_plugin(
        &self,
        caller: &Caller,
        service: &str,
        sha256: &str,
    ) -> Result<PluginInfo, Error> {
        caller.need_operator()?;
        let now_ms = self.clock.now_ms();
        listing::approve(&self.store, caller, service, Some(sha256), now_ms).await?;
        self.plugin(caller, service).await
    }

    /// Puts an earlier version that served well back into the folder.
    pub async fn roll_back_plugin(
        self: &Arc<Self>,
        caller: &Caller,
        service: &str,
        sha256: &str,
    ) -> Result<PluginInfo, Error> {
        let (gateway, operator) = (self.clone(), caller.clone());
        let (of, wanted) = (service.to_owned(), sha256.to_owned());
        let going_back = Box::pin(async move {
            let (folders, now_ms) = (gateway.plugin_folders(), gateway.clock.now_ms());
            let wanted = Some(wanted.as_str());
            roll_back(&gateway.store, &operator, folders, &of, wanted, now_ms).await
        });
        self.finish_change(going_back).await?;
        self.plugin(caller, service).await
    }

    /// Takes a plugin's file out of the folder: its tools go with it, and their names are free.
    pub async fn remove_plugin(
        self: &Arc<Self>,
        caller: &Caller,
        service: &str,
    ) -> Result<(), Error> {
        caller.need_operator()?;
        let row = self.plugin_row(service).await?;
        let removing = Box::pin(self.clone().remove_row(caller.clone(), row));
        self.finish_change(removing).await
    }

    async fn remove_row(self: Arc<Self>, caller: Caller, row: PluginRow) -> Result<(), Error> {
        let (service, now_ms) = (row.service.as_str(), self.clock.now_ms());
        removal::take_file(&self.store, &caller, &self.plugins.folder, service, now_ms).await?;
        // Names are free once nothing serves under them any more.
        let ended = async {
            let of_file =
                |now: &Arc<ServingPlugin>| Some(&*now.sha256) == row.active_sha256.as_deref();
            while self.snapshot().serving.get(service).is_some_and(of_file) {
                tokio::time::sleep(SERVING_LOOK).await;
            }
        };
        if tokio::time::timeout(SERVING_ENDS_WITHIN, ended)
            .await
            .is_err()
        {
            return Err(Error::Conflict(format!(
                "the file of {service} is deleted, but the service has not ended yet; try again in a few seconds"
            )));
        }
        // Another file of the folder may have taken its place.
        if !self.snapshot().serving.contains_key(service) {
            removal::settle(&self.store, service, now_ms).await?;
        }
        Ok(())
    }

    /// Takes a change of the folder to its end also when the caller hangs up.
    pub(super) async fn finish_change<T, F>(&self, change: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        detach(&self.running, &self.workers, change)
            .await
            .map_err(|cause| {
                Error::Internal(anyhow::Error::from(cause).context("the change of a plugin"))
            })?
    }

    async fn judged(&self, file: Bytes) -> Result<FileAssessment, Error> {
        let _one = self
            .plugins
            .judging
            .clone()
            .try_lock_owned()
            .map_err(|_| Error::Overloaded { retry_after_s: 5 })?;
        let inspected = self.runtime.inspect(file.to_vec()).await;
        let Inspected {
            sha256,
            manifest,
            warnings,
            ..
        } = inspected.map_err(|rejected| Error::InvalidRequest(rejected.reason()))?;
        let row = self.store.find_plugin(&manifest.service).await?;
        let served = row.as_ref().and_then(|row| row.active_sha256.as_deref());
        let difference = match served.filter(|served| *served != sha256) {
            Some(_) => {
                let earlier = super::recall::earlier(&self.store, row.as_ref()).await;
                let asked = rights::normal(&manifest);
                let earlier = earlier.map_err(Error::Internal)?;
                Some(earlier.difference(&asked, self.plugins.upgrades))
            }
            None => None,
        };
        Ok(FileAssessment {
            rights: Rights::from_manifest(&manifest),
            waits: difference.as_ref().is_some_and(Difference::waits),
            tools: manifest.tools.len(),
            service: manifest.service,
            title: manifest.title,
            version: manifest.version,
            sha256,
            replaces: row.map(|row| ReplacedFile {
                version: row.active_version,
                sha256: row.active_sha256,
            }),
            difference,
            warnings,
            file: None,
        })
    }

    /// The service, not `service`, whose file has this name in the folder.
    async fn other_owner(&self, name: &str, service: &str) -> Result<Option<String>, Error> {
        let there = match self.store.is_file() {
            true => {
                let path = self.plugins.folder.join(plain(name)?);
                tokio::fs::try_exists(&path).await.unwrap_or(true)
            }
            false => {
                let sources = self.store.list_plugin_sources().await?;
                sources.iter().any(|source| source.file_name == name)
            }
        };
        if !there {
            return Ok(None);
        }
        let files = self.store.list_plugin_files().await?.into_iter();
        let provided = files
            .filter(|file| file.file_name == name)
            .find_map(|file| file.service);
        let plugins = self.store.list_plugins().await?.into_iter();
        // A file that was spoilt is still the one of the service that goes on serving from it.
        let held = plugins
            .filter(|plugin| plugin.state != PluginState::Removed)
            .filter(|plugin| plugin.file_name.as_deref() == Some(name))
            .map(|plugin| plugin.service);
        Ok(held.chain(provided).find(|owner| owner != service))
    }

    async fn plugin_row(&self, service: &str) -> Result<PluginRow, Error> {
        let row = self.store.find_plugin(service).await?;
        row.ok_or_else(|| unknown(service))
    }

    pub(super) fn plugin_folders(&self) -> PluginFolders<'_> {
        PluginFolders {
            plugins: &self.plugins.folder,
            captured: &self.plugins.captured,
        }
    }
}

fn writable(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|folder| folder.is_dir() && !folder.permissions().readonly())
}

fn unknown(service: &str) -> Error {
    Error::ServiceNotFound(toolgate_core::visible::shown_name(service))
}
