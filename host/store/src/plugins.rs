//! Plugins as the operator sees them: which version of a service serves with which approved
//! rights, which one waits for approval.

mod activation;

use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::changes::bump;
use super::events::emit;
use super::{Event, EventType, Store, StoreError, Topic, Writer, portable};
use crate::columns::select;
pub use activation::{ActivatePlugin, Activated};

/// Good versions of one service that are remembered for a rollback.
pub const PLUGIN_VERSIONS_MAX: i64 = 3;
/// The longest difference that an event carries, in bytes of JSON.
const EVENT_DIFFERENCE_BYTES_MAX: usize = 32 * 1024;

/// How far a plugin or its file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum PluginState {
    Seen,
    Captured,
    Verified,
    Inspected,
    Compiled,
    Probed,
    Approved,
    Active,
    Quarantined,
    PendingApproval,
    Conflict,
    Removed,
}

/// One service.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PluginRow {
    pub service: String,
    #[sqlx(try_from = "&'a str")]
    pub state: PluginState,
    /// Why it is in this state, for a person.
    pub reason: Option<String>,
    pub file_name: Option<String>,
    /// The version that serves.
    pub active_sha256: Option<String>,
    pub active_version: Option<String>,
    /// The file whose manifest was approved, as JSON (`{"sha256": ...}`): the one that serves.
    pub approved: Option<String>,
    /// The version that waits for approval, and what it changes, as JSON.
    pub pending_sha256: Option<String>,
    pub pending_version: Option<String>,
    pub pending_difference: Option<String>,
    /// The file that the operator has approved and the running gateway has not taken up yet.
    pub approve_sha256: Option<String>,
    pub approve_requested_at_ms: Option<i64>,
    pub updated_at_ms: i64,
}

/// A version that served once.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PluginVersionRow {
    pub service: String,
    pub sha256: String,
    pub version: String,
    pub activated_at_ms: i64,
}

/// A version that asks for something that was not approved.
#[derive(Clone, Debug)]
pub struct HoldPlugin<'a> {
    pub service: &'a str,
    pub file_name: &'a str,
    pub sha256: &'a str,
    pub version: &'a str,
    /// What it changes about the version that was approved, as JSON.
    pub difference: &'a str,
    pub now_ms: i64,
}

/// A difference as an event carries it: whole, or its size where that is more than a receiver takes.
fn difference_json(difference: &str) -> serde_json::Value {
    if difference.len() > EVENT_DIFFERENCE_BYTES_MAX {
        return json!({ "omitted_bytes": difference.len() });
    }
    serde_json::from_str(difference).unwrap_or(json!(null))
}

/// The outcome of the operator's approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApproveRequest {
    /// Exactly this file is approved; a running gateway takes it up.
    Recorded {
        sha256: String,
    },
    NothingPending,
    /// Another file waits than the one that was meant.
    Another,
    NotFound,
}

impl Store {
    pub async fn find_plugin(&self, service: &str) -> Result<Option<PluginRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(plugins, "WHERE service = $1")).bind(service).fetch_optional(db).await?
        }))
    }

    /// By service.
    pub async fn list_plugins(&self) -> Result<Vec<PluginRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(plugins, "ORDER BY service")).fetch_all(db).await?
        }))
    }

    /// Puts a version aside until the operator approves it. A serving version keeps serving.
    pub async fn hold_plugin(&self, plugin: &HoldPlugin<'_>) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let before: Option<(Option<String>,)> =
                sqlx::query_as("SELECT pending_sha256 FROM plugins WHERE service = $1")
                    .bind(plugin.service)
                    .fetch_optional(&mut *tx)
                    .await?;
            sqlx::query(
                "INSERT INTO plugins (service, state, file_name, pending_sha256, pending_version, \
                 pending_difference, updated_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7) \
                 ON CONFLICT (service) DO UPDATE SET \
                 state = CASE WHEN plugins.state = 'active' THEN plugins.state ELSE excluded.state END, \
                 file_name = excluded.file_name, pending_sha256 = excluded.pending_sha256, \
                 pending_version = excluded.pending_version, pending_difference = excluded.pending_difference, \
                 updated_at_ms = excluded.updated_at_ms",
            )
            .bind(plugin.service)
            .bind(PluginState::PendingApproval.into_str())
            .bind(plugin.file_name)
            .bind(plugin.sha256)
            .bind(plugin.version)
            .bind(plugin.difference)
            .bind(plugin.now_ms)
            .execute(&mut *tx)
            .await?;
            bump!(tx, Topic::Plugins);
            if before.and_then(|(sha256,)| sha256).as_deref() != Some(plugin.sha256) {
                let data = json!({
                    "service": plugin.service,
                    "version": plugin.version,
                    "sha256": plugin.sha256,
                    "difference": difference_json(plugin.difference),
                });
                emit!(tx, self, &[Event::for_all(EventType::PluginPendingApproval, plugin.now_ms, data)]);
            }
        });
        Ok(())
    }

    /// Sets state and reason of a service that has a row. `removed` and `quarantined` end serving
    /// but keep the approved rights, so that the same file may come back. `false`: no such service.
    pub async fn set_plugin_state(
        &self,
        service: &str,
        state: PluginState,
        reason: Option<&str>,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query("UPDATE plugins SET state = $2, reason = $3, updated_at_ms = $4 WHERE service = $1")
                .bind(service)
                .bind(state.into_str())
                .bind(reason)
                .bind(now_ms)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Plugins);
            done.rows_affected() == 1
        }))
    }

    /// The last good versions, newest first, at most [`PLUGIN_VERSIONS_MAX`].
    pub async fn plugin_versions(
        &self,
        service: &str,
    ) -> Result<Vec<PluginVersionRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(plugin_versions, "WHERE service = $1 ORDER BY activated_at_ms DESC, sha256"))
                .bind(service)
                .fetch_all(db)
                .await?
        }))
    }
}

impl Writer {
    /// Approves what is pending now, bound to that very file, for a running gateway to take up.
    /// `shown`: the only file that is meant; whatever is pending where absent.
    pub async fn approve_plugin(
        &self,
        service: &str,
        shown: Option<&str>,
        now_ms: i64,
    ) -> Result<ApproveRequest, StoreError> {
        Ok(portable!(write self, tx => {
            let pending: Option<(Option<String>,)> =
                sqlx::query_as("SELECT pending_sha256 FROM plugins WHERE service = $1")
                    .bind(service)
                    .fetch_optional(&mut *tx)
                    .await?;
            let sha256 = match pending {
                None => return Ok(ApproveRequest::NotFound),
                Some((None,)) => return Ok(ApproveRequest::NothingPending),
                Some((Some(sha256),)) if shown.is_some_and(|shown| shown != sha256) => {
                    return Ok(ApproveRequest::Another);
                }
                Some((Some(sha256),)) => sha256,
            };
            let done = sqlx::query(
                "UPDATE plugins SET approve_sha256 = $2, approve_requested_at_ms = $3 \
                 WHERE service = $1 AND pending_sha256 = $2",
            )
            .bind(service)
            .bind(&sha256)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 0 {
                return Ok(ApproveRequest::Another);
            }
            bump!(tx, Topic::Plugins);
            ApproveRequest::Recorded { sha256 }
        }))
    }

    /// Approves a version that served before, for the file that is put back. `false`: it is not one.
    pub async fn approve_plugin_version(
        &self,
        service: &str,
        sha256: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "UPDATE plugins SET approve_sha256 = $2, approve_requested_at_ms = $3 WHERE service = $1 \
                 AND EXISTS (SELECT 1 FROM plugin_versions WHERE service = $1 AND sha256 = $2)",
            )
            .bind(service)
            .bind(sha256)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
            done.rows_affected() == 1
        }))
    }

    /// Says that a service is removed. `gone`: because this file is. `false`: another process has said so, or
    /// the file is back in the shared folder.
    pub async fn drop_plugin(
        &self,
        service: &str,
        gone: Option<&str>,
        reason: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "UPDATE plugins SET state = 'removed', reason = $3, updated_at_ms = $4 WHERE service = $1 \
                 AND state <> 'removed' AND NOT EXISTS (SELECT 1 FROM plugin_sources \
                     WHERE file_name = $2 AND replaced_at_ms IS NULL)",
            )
            .bind(service)
            .bind(gone.unwrap_or_default())
            .bind(reason)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
            let dropped = done.rows_affected() == 1;
            if dropped {
                bump!(tx, Topic::Plugins);
            }
            dropped
        }))
    }

    /// Drops a version that turned out bad before the one before it is put back, so that no rollback
    /// returns to it. `false`: it is not known.
    pub async fn forget_plugin_version(
        &self,
        service: &str,
        sha256: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query("DELETE FROM plugin_versions WHERE service = $1 AND sha256 = $2")
                .bind(service)
                .bind(sha256)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
