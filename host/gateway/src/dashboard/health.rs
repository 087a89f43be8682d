//! Whether the gateway works, and what the caller's key is good for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::tools::embeddings::{ModelState, Ranking};
use crate::{Caller, Error, Gateway};
use toolgate_store::{McpServerRow, PluginState, ServerOutcome};

/// How long the counts of plugin files, and of MCP servers, may take.
const FILES_WITHIN: Duration = Duration::from_secs(2);

/// `GET /v1/health`, `svc_health_check`.
#[derive(Clone, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Health {
    pub status: HealthStatus,
    pub version: String,
    /// `sqlite` or `postgres`.
    pub database: String,
    pub plugins: PluginCounts,
    /// Tools in the serving catalog.
    pub tools: usize,
    /// How instances get their memory: `pooling` or `on_demand`.
    pub runtime: String,
    /// How search ranks: `hybrid` once the sentence model is `ready`, else `lexical`.
    pub search: Ranking,
    /// What the model for searching by meaning is doing.
    pub search_model: ModelState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthStatus {
    Ok,
    /// The database does not answer or takes no writes.
    Degraded,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PluginCounts {
    pub active: usize,
    /// Files of the folder that are still being compiled and looked at; their tools follow.
    pub loading: usize,
    pub quarantined: usize,
    pub pending_approval: usize,
    /// Remote MCP servers that gave no usable list when they were last asked. Their plugins keep their tools.
    #[serde(default)]
    pub servers_failing: usize,
}

/// How far the plugins of a start are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginLoading {
    /// Services of the catalog that serves now.
    pub services: usize,
    /// Tools of that catalog.
    pub tools: usize,
    /// Files of the folder that are neither loaded nor refused yet.
    pub loading: usize,
    /// Whether every file that was there at the start is loaded or refused.
    pub all_judged: bool,
}

/// `GET /v1/status`.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Status {
    /// `ok`: the key is valid.
    pub status: &'static str,
    /// Name of the key's workspace.
    pub workspace: String,
    pub key: KeyStatus,
    pub limits: Limits,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct KeyStatus {
    pub name: String,
    pub prefix: String,
    pub scopes: Vec<String>,
    /// The user that tools run for when a request names none.
    pub user_id: String,
}

/// Bounds that a caller can meet.
#[derive(Clone, Copy, Debug, Serialize, utoipa::ToSchema)]
pub struct Limits {
    pub request_bytes_max: usize,
    pub execution_timeout_ms: u64,
    pub result_bytes_max: usize,
    /// Requests a minute with this key; `null`: no limit of its own.
    pub key_requests_per_minute: Option<i64>,
    /// Requests a day with this key; `null`: no limit of its own.
    pub key_requests_per_day: Option<i64>,
    /// Requests a minute with all keys of the workspace; `null`: no limit.
    pub workspace_requests_per_minute: Option<i64>,
}

impl Gateway {
    /// How far the plugins are, from memory alone.
    pub fn plugin_loading(&self) -> PluginLoading {
        let snapshot = self.snapshot();
        PluginLoading {
            services: snapshot.serving.len(),
            tools: snapshot.catalog.tools().len(),
            loading: self.plugins_loading(),
            all_judged: self.scanned.load(Ordering::Relaxed),
        }
    }

    /// Health in full; answers within a few seconds whatever the database does.
    pub async fn health(&self) -> Health {
        let snapshot = self.snapshot();
        let takes_writes = self.takes_writes().await;
        let (files, servers) = tokio::join!(
            timeout(FILES_WITHIN, self.store.list_plugin_files()),
            timeout(FILES_WITHIN, self.store.list_mcp_servers()),
        );
        let files = files.ok().and_then(Result::ok);
        let servers = servers.ok().and_then(Result::ok).unwrap_or_default();
        let fails = |row: &&McpServerRow| {
            !matches!(
                row.outcome,
                ServerOutcome::NotAsked | ServerOutcome::Answered
            )
        };
        let count = |state: PluginState| {
            files.as_ref().map_or(0, |files| {
                files.iter().filter(|file| file.state == state).count()
            })
        };
        let works = takes_writes && files.is_some();
        Health {
            status: if works {
                HealthStatus::Ok
            } else {
                HealthStatus::Degraded
            },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            database: self.store.kind().as_str().to_owned(),
            plugins: PluginCounts {
                active: snapshot.serving.len(),
                loading: self.plugins_loading(),
                quarantined: count(PluginState::Quarantined),
                pending_approval: count(PluginState::PendingApproval),
                servers_failing: servers.iter().filter(fails).count(),
            },
            tools: snapshot.catalog.tools().len(),
            runtime: self.runtime.allocation().as_str().to_owned(),
            search: match self.embeddings.model() {
                ModelState::Ready => Ranking::Hybrid,
                _ => Ranking::Lexical,
            },
            search_model: self.embeddings.model(),
        }
    }

    /// What the caller's key is good for.
    pub async fn status(&self, caller: &Caller) -> Result<Status, Error> {
        // A signed-in member has no key, and only the workspace's limit.
        let key = self.store.find_key(&caller.key_id).await?;
        let key = key.map(|found| found.key);
        let workspace = self.store.find_workspace(&caller.workspace_id).await?;
        let workspace = workspace.ok_or(Error::InvalidApiKey)?;
        Ok(Status {
            status: "ok",
            workspace: caller.workspace_name.to_string(),
            key: KeyStatus {
                name: caller.key_name.to_string(),
                prefix: caller.key_prefix.to_string(),
                scopes: caller
                    .scopes
                    .iter()
                    .map(|scope| scope.into_str().to_owned())
                    .collect(),
                user_id: caller.default_user.to_string(),
            },
            limits: Limits {
                request_bytes_max: 1 << 20,
                execution_timeout_ms: toolgate_runtime::limits::CALL_TIMEOUT.as_millis() as u64,
                result_bytes_max: toolgate_runtime::limits::RESULT_BYTES_MAX,
                key_requests_per_minute: key.as_ref().and_then(|key| key.rpm),
                key_requests_per_day: key.as_ref().and_then(|key| key.rpd),
                workspace_requests_per_minute: crate::limits::workspace_rpm(&workspace),
            },
        })
    }
}
