//! Plugins as the operator sees them: which version of a service serves with which approved
//! rights, which one waits for approval.

use serde::{Deserialize, Serialize};
use serde_json::json;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::changes::bump;
use super::events::emit;
use super::{Event, EventType, Store, StoreError, Topic, portable};
use crate::columns::select;

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

/// A version that starts to serve.
#[derive(Clone, Debug)]
pub struct ActivatePlugin<'a> {
    pub service: &'a str,
    pub file_name: &'a str,
    pub sha256: &'a str,
    pub version: &'a str,
    /// The file whose manifest is approved with it, as JSON.
    pub approved: &'a str,
    /// The full names of its tools.
    pub tool_names: &'a [String],
    pub now_ms: i64,
}

/// Whether a version serves now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activated {
    Done,
    /// Nothing was changed: another process has activated this very file.
    Already,
    /// Nothing was changed: another service has activated a tool of this name before.
    NameTaken {
        tool_name: String,
        service: String,
    },
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

impl PluginRow {
    /// Whether the file serves and nothing else waits.
    fn is_as_activated(&self, plugin: &ActivatePlugin<'_>) -> bool {
        self.state == PluginState::Active
            && self.active_sha256.as_deref() == Some(plugin.sha256)
            && self.file_name.as_deref() == Some(plugin.file_name)
            && self.pending_sha256.is_none()
            && self.approve_sha256.is_none()
            && self.reason.is_none()
    }
}

/// A difference as an event carries it: whole, or its size where that is more than a receiver takes.
fn difference_json(difference: &str) -> serde_json::Value {
    if difference.len() > EVENT_DIFFERENCE_BYTES_MAX {
        return json!({ "omitted_bytes": difference.len() });
    }
    serde_json::from_str(difference).unwrap_or(json!(null))
}

/// What became of the operator's approval.
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

    /// Lets a version serve with the given rights, and remembers it as good. What was pending is
    /// settled if it was this file; an approval of another file stays. A version that served
    /// before, in place of another one, is a rollback, whoever put its file back.
    ///
    /// The names of its tools belong to the service from then on, until [`Store::release_tool_names`].
    pub async fn activate_plugin(
        &self,
        plugin: &ActivatePlugin<'_>,
    ) -> Result<Activated, StoreError> {
        Ok(portable!(write self, tx => {
            // In order, so that two processes never wait for one another.
            let mut names: Vec<&String> = plugin.tool_names.iter().collect();
            names.sort();
            for name in names {
                let claimed = sqlx::query(
                    "INSERT INTO tool_names (name, service, claimed_at_ms) VALUES ($1, $2, $3) \
                     ON CONFLICT (name) DO NOTHING",
                )
                .bind(name)
                .bind(plugin.service)
                .bind(plugin.now_ms)
                .execute(&mut *tx)
                .await?;
                if claimed.rows_affected() == 1 {
                    continue;
                }
                let owner: Option<String> = sqlx::query_scalar("SELECT service FROM tool_names WHERE name = $1")
                    .bind(name)
                    .fetch_optional(&mut *tx)
                    .await?;
                if let Some(service) = owner.filter(|owner| owner != plugin.service) {
                    return Ok(Activated::NameTaken { tool_name: name.clone(), service });
                }
            }
            // Held to the end, so that of processes that activate it at once one does.
            sqlx::query("UPDATE plugins SET updated_at_ms = updated_at_ms WHERE service = $1")
                .bind(plugin.service)
                .execute(&mut *tx)
                .await?;
            let before: Option<PluginRow> =
                sqlx::query_as(select!(plugins, "WHERE service = $1 AND state = 'active'"))
                    .bind(plugin.service)
                    .fetch_optional(&mut *tx)
                    .await?;
            if before.as_ref().is_some_and(|before| before.is_as_activated(plugin)) {
                return Ok(Activated::Already);
            }
            let before = before.map(|before| (before.active_sha256, before.active_version));
            let served: Vec<String> = sqlx::query_scalar("SELECT sha256 FROM plugin_versions WHERE service = $1")
                .bind(plugin.service)
                .fetch_all(&mut *tx)
                .await?;
            sqlx::query(
                "INSERT INTO plugins (service, state, file_name, active_sha256, active_version, approved, updated_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (service) DO UPDATE SET \
                 state = excluded.state, reason = NULL, file_name = excluded.file_name, \
                 active_sha256 = excluded.active_sha256, active_version = excluded.active_version, \
                 approved = excluded.approved, updated_at_ms = excluded.updated_at_ms",
            )
            .bind(plugin.service)
            .bind(PluginState::Active.into_str())
            .bind(plugin.file_name)
            .bind(plugin.sha256)
            .bind(plugin.version)
            .bind(plugin.approved)
            .bind(plugin.now_ms)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "UPDATE plugins SET pending_sha256 = NULL, pending_version = NULL, pending_difference = NULL \
                 WHERE service = $1 AND pending_sha256 = $2",
            )
            .bind(plugin.service)
            .bind(plugin.sha256)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "UPDATE plugins SET approve_sha256 = NULL, approve_requested_at_ms = NULL \
                 WHERE service = $1 AND approve_sha256 = $2",
            )
            .bind(plugin.service)
            .bind(plugin.sha256)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "INSERT INTO plugin_versions (service, sha256, version, activated_at_ms) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (service, sha256) DO UPDATE SET activated_at_ms = excluded.activated_at_ms",
            )
            .bind(plugin.service)
            .bind(plugin.sha256)
            .bind(plugin.version)
            .bind(plugin.now_ms)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "DELETE FROM plugin_versions WHERE service = $1 AND sha256 NOT IN (SELECT sha256 FROM plugin_versions \
                 WHERE service = $1 ORDER BY activated_at_ms DESC, sha256 = $3 DESC, sha256 LIMIT $2)",
            )
            .bind(plugin.service)
            .bind(PLUGIN_VERSIONS_MAX)
            .bind(plugin.sha256)
            .execute(&mut *tx)
            .await?;
            bump!(tx, Topic::Plugins);
            let (before, version_before) = before.unwrap_or_default();
            if before.as_deref() != Some(plugin.sha256) {
                let data = json!({
                    "service": plugin.service,
                    "version": plugin.version,
                    "sha256": plugin.sha256,
                });
                let mut events = vec![Event::for_all(EventType::PluginActivated, plugin.now_ms, data.clone())];
                if let Some(before) = before
                    && served.iter().any(|sha256| sha256 == plugin.sha256)
                {
                    let mut data = data;
                    // A version that kept crashing was forgotten first.
                    data["automatic"] = json!(!served.contains(&before));
                    data["from"] = json!({ "version": version_before, "sha256": before });
                    events.push(Event::for_all(EventType::PluginRolledBack, plugin.now_ms, data));
                }
                emit!(tx, self, &events);
            }
            Activated::Done
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
