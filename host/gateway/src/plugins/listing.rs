//! What the operator asks about plugins: the list with every state, and the approval of an upgrade.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use super::INSPECTOR;
use crate::audit::AuditAction;
use crate::{Caller, Error};
use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::rights::Difference;
use toolgate_core::clock::rfc3339;
use toolgate_core::visible::shown_name;
use toolgate_store::{ApproveRequest, McpServerRow, PluginRow, PluginState, ServerOutcome, Store};

/// `toolgate plugin list`.
#[derive(Clone, Debug, Serialize)]
pub struct PluginList {
    pub plugins: Vec<ListedPlugin>,
    pub files: Vec<ListedFile>,
}

/// One service.
#[derive(Clone, Debug, Serialize)]
pub struct ListedPlugin {
    pub service: String,
    pub state: PluginState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub version: Option<String>,
    pub sha256: Option<String>,
    pub tools: usize,
    pub categories: Vec<String>,
    /// The version that waits for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingVersion>,
    /// Of a plugin that was made of an MCP server which the gateway asks for its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ListedServer>,
}

/// What is known of the MCP server of a plugin. The plugin keeps its tools while the server gives none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedServer {
    /// Of the last time that it was asked for its tools.
    pub outcome: ServerOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<String>,
    pub asked_next_at: String,
    /// The last failure, which stays when the server answers again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at: Option<String>,
}

impl From<McpServerRow> for ListedServer {
    fn from(row: McpServerRow) -> Self {
        Self {
            outcome: row.outcome,
            asked_at: row.asked_at_ms.map(rfc3339),
            asked_next_at: rfc3339(row.due_at_ms),
            failure: row.failure,
            failed_at: row.failed_at_ms.map(rfc3339),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct PendingVersion {
    pub version: Option<String>,
    pub sha256: String,
    /// What it changes about the version that was approved.
    pub difference: Difference,
}

/// One file of the folder.
#[derive(Clone, Debug, Serialize)]
pub struct ListedFile {
    pub file: String,
    pub state: PluginState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An upgrade was let in.
#[derive(Clone, Debug, Serialize)]
pub struct Approved {
    pub service: String,
    pub sha256: String,
}

/// Everything known about plugins, from the database: works beside a running gateway and without one.
pub async fn list(store: &Store) -> Result<PluginList, Error> {
    let manifests = store.list_manifests(INSPECTOR).await?;
    let mut servers: BTreeMap<String, McpServerRow> = store
        .list_mcp_servers()
        .await?
        .into_iter()
        .map(|row| (row.service.clone(), row))
        .collect();
    let plugins = store
        .list_plugins()
        .await?
        .into_iter()
        .map(|row| {
            let manifest = row
                .active_sha256
                .as_ref()
                .and_then(|sha256| manifests.iter().find(|cached| cached.sha256 == *sha256))
                .and_then(|cached| serde_json::from_str::<Manifest>(&cached.manifest).ok());
            let pending = pending(&row);
            let server = servers.remove(&row.service).map(ListedServer::from);
            ListedPlugin {
                service: row.service,
                state: row.state,
                reason: row.reason,
                version: row.active_version,
                sha256: row.active_sha256,
                tools: manifest.as_ref().map_or(0, |manifest| manifest.tools.len()),
                categories: manifest
                    .map(|manifest| manifest.categories)
                    .unwrap_or_default(),
                pending,
                server,
            }
        })
        .collect();
    let files = store
        .list_plugin_files()
        .await?
        .into_iter()
        .map(|row| ListedFile {
            file: row.file_name,
            state: row.state,
            reason: row.reason,
            service: row.service,
            sha256: row.sha256,
        })
        .collect();
    Ok(PluginList { plugins, files })
}

/// The version of `service` that waits, and what it changes.
pub async fn waiting(store: &Store, service: &str) -> Result<PendingVersion, Error> {
    let row = store.find_plugin(service).await?;
    let row = row.ok_or_else(|| Error::ServiceNotFound(shown_name(service)))?;
    pending(&row).ok_or_else(|| nothing_waits(service))
}

fn pending(row: &PluginRow) -> Option<PendingVersion> {
    let difference = row.pending_difference.as_deref();
    Some(PendingVersion {
        sha256: row.pending_sha256.clone()?,
        version: row.pending_version.clone(),
        difference: difference
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default(),
    })
}

fn nothing_waits(service: &str) -> Error {
    Error::Conflict(format!("no version of {service} waits for approval"))
}

/// Lets in exactly the file that is pending now; a running gateway takes it up within seconds.
/// `shown`: the hash of the only file that is meant.
pub async fn approve(
    store: &Store,
    caller: &Caller,
    service: &str,
    shown: Option<&str>,
    now_ms: i64,
) -> Result<Approved, Error> {
    caller.need_operator()?;
    let row = store.find_plugin(service).await?;
    let waits = row.as_ref().and_then(pending);
    let details = json!({
        "sha256": waits.as_ref().map(|waits| &waits.sha256),
        "version": waits.as_ref().and_then(|waits| waits.version.as_deref()),
        "difference": waits.as_ref().map(|waits| &waits.difference),
    });
    // Exactly what the entry is about: another file may wait by now.
    let shown = shown.or(waits.as_ref().map(|waits| &*waits.sha256));
    let audited = caller.audited(store, now_ms, AuditAction::PluginsApprove, service, details);
    match audited.approve_plugin(service, shown, now_ms).await? {
        ApproveRequest::Recorded { sha256 } => Ok(Approved {
            service: service.to_owned(),
            sha256,
        }),
        ApproveRequest::NothingPending => Err(nothing_waits(service)),
        ApproveRequest::Another => Err(Error::Conflict(format!(
            "this version of {service} does not wait for approval any more; look again"
        ))),
        ApproveRequest::NotFound => Err(Error::ServiceNotFound(shown_name(service))),
    }
}

/// The manifest of the version of `service` that serves.
pub async fn manifest(store: &Store, service: &str) -> Result<Manifest, Error> {
    let found = match store
        .find_plugin(service)
        .await?
        .and_then(|row| row.active_sha256)
    {
        Some(sha256) => store.find_manifest(&sha256, INSPECTOR).await?,
        None => None,
    };
    found
        .and_then(|cached| Manifest::parse(&cached.manifest).ok())
        .ok_or_else(|| Error::ServiceNotFound(service.to_owned()))
}

/// The manifests of all versions that serve, by service.
pub async fn manifests(store: &Store) -> Result<Vec<Manifest>, Error> {
    let cached = store.list_manifests(INSPECTOR).await?;
    let serving = store
        .list_plugins()
        .await?
        .into_iter()
        .filter(|row| row.state == PluginState::Active);
    Ok(serving
        .filter_map(|row| {
            let sha256 = row.active_sha256?;
            let found = cached.iter().find(|cached| cached.sha256 == sha256)?;
            Manifest::parse(&found.manifest).ok()
        })
        .collect())
}
