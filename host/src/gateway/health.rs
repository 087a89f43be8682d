//! Whether the gateway works, and what the caller's key is good for.

use serde::Serialize;

use super::{Caller, Error, Gateway};
use crate::store::PluginState;

/// `GET /v1/health`, `svc_health_check`.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Health {
    /// `ok`, or `degraded` while the database does not answer.
    pub status: &'static str,
    pub version: &'static str,
    /// `sqlite` or `postgres`.
    pub database: &'static str,
    pub plugins: PluginCounts,
    /// Tools in the serving catalog.
    pub tools: usize,
    /// How instances get their memory: `pooling` or `on_demand`.
    pub runtime: &'static str,
    /// How search ranks: `lexical`.
    pub search: &'static str,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PluginCounts {
    pub active: usize,
    pub quarantined: usize,
    pub pending_approval: usize,
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
}

impl Gateway {
    /// Health in full; asks the database once.
    pub async fn health(&self) -> Health {
        let snapshot = self.snapshot();
        let files = self.store.list_plugin_files().await;
        let count = |state: PluginState| {
            files.as_ref().map_or(0, |files| {
                files.iter().filter(|file| file.state == state).count()
            })
        };
        Health {
            status: if files.is_ok() { "ok" } else { "degraded" },
            version: env!("CARGO_PKG_VERSION"),
            database: self.store.kind().as_str(),
            plugins: PluginCounts {
                active: snapshot.serving.len(),
                quarantined: count(PluginState::Quarantined),
                pending_approval: count(PluginState::PendingApproval),
            },
            tools: snapshot.catalog.tools().len(),
            runtime: self.runtime.allocation().as_str(),
            search: "lexical",
        }
    }

    /// Whether requests can be answered: the database answers and no shutdown has begun.
    pub async fn ready(&self) -> bool {
        !self.stop.is_cancelled() && self.store.ping().await.is_ok()
    }

    /// What the caller's key is good for.
    pub async fn status(&self, caller: &Caller) -> Result<Status, Error> {
        Ok(Status {
            status: "ok",
            workspace: caller.workspace_name.clone(),
            key: KeyStatus {
                name: caller.key_name.clone(),
                prefix: caller.key_prefix.clone(),
                scopes: caller
                    .scopes
                    .iter()
                    .map(|scope| scope.as_str().to_owned())
                    .collect(),
                user_id: caller.default_user.to_string(),
            },
            limits: Limits {
                request_bytes_max: 1 << 20,
                execution_timeout_ms: crate::runtime::limits::CALL_TIMEOUT.as_millis() as u64,
                result_bytes_max: crate::runtime::limits::RESULT_BYTES_MAX,
            },
        })
    }
}
