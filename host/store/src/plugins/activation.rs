//! A version of a plugin starts to serve.

use serde_json::json;

use super::{PLUGIN_VERSIONS_MAX, PluginRow, PluginState};
use crate::changes::bump;
use crate::columns::select;
use crate::events::emit;
use crate::{Event, EventType, StoreError, Topic, Writer, portable};

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

/// Claims the names of the tools; answers the name that another service has, and that service.
macro_rules! claim_tool_names {
    ($tx:expr, $plugin:expr) => {{
        // In order, so that two processes never wait for one another.
        let mut names: Vec<&String> = $plugin.tool_names.iter().collect();
        names.sort();
        let mut taken = None;
        for name in names {
            let claimed = sqlx::query(
                "INSERT INTO tool_names (name, service, claimed_at_ms) VALUES ($1, $2, $3) \
                 ON CONFLICT (name) DO NOTHING",
            )
            .bind(name)
            .bind($plugin.service)
            .bind($plugin.now_ms)
            .execute(&mut *$tx)
            .await?;
            if claimed.rows_affected() == 1 {
                continue;
            }
            let owner: Option<String> =
                sqlx::query_scalar("SELECT service FROM tool_names WHERE name = $1")
                    .bind(name)
                    .fetch_optional(&mut *$tx)
                    .await?;
            if let Some(owner) = owner.filter(|owner| owner != $plugin.service) {
                taken = Some((name.clone(), owner));
                break;
            }
        }
        taken
    }};
}

/// Writes what serves.
macro_rules! write_serving {
    ($tx:expr, $plugin:expr) => {
        sqlx::query(
            "INSERT INTO plugins (service, state, file_name, active_sha256, active_version, approved, updated_at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (service) DO UPDATE SET \
             state = excluded.state, reason = NULL, file_name = excluded.file_name, \
             active_sha256 = excluded.active_sha256, active_version = excluded.active_version, \
             approved = excluded.approved, updated_at_ms = excluded.updated_at_ms",
        )
        .bind($plugin.service)
        .bind(PluginState::Active.into_str())
        .bind($plugin.file_name)
        .bind($plugin.sha256)
        .bind($plugin.version)
        .bind($plugin.approved)
        .bind($plugin.now_ms)
        .execute(&mut *$tx)
        .await?
    };
}

/// Settles what waited for this file: its approval, and itself where it was pending.
macro_rules! settle_pending {
    ($tx:expr, $plugin:expr) => {{
        sqlx::query(
            "UPDATE plugins SET pending_sha256 = NULL, pending_version = NULL, pending_difference = NULL \
             WHERE service = $1 AND pending_sha256 = $2",
        )
        .bind($plugin.service)
        .bind($plugin.sha256)
        .execute(&mut *$tx)
        .await?;
        sqlx::query(
            "UPDATE plugins SET approve_sha256 = NULL, approve_requested_at_ms = NULL \
             WHERE service = $1 AND approve_sha256 = $2",
        )
        .bind($plugin.service)
        .bind($plugin.sha256)
        .execute(&mut *$tx)
        .await?
    }};
}

/// Remembers the version as a good one, and forgets those beyond the bound.
macro_rules! remember_version {
    ($tx:expr, $plugin:expr) => {{
        sqlx::query(
            "INSERT INTO plugin_versions (service, sha256, version, activated_at_ms) VALUES ($1, $2, $3, $4) \
             ON CONFLICT (service, sha256) DO UPDATE SET activated_at_ms = excluded.activated_at_ms",
        )
        .bind($plugin.service)
        .bind($plugin.sha256)
        .bind($plugin.version)
        .bind($plugin.now_ms)
        .execute(&mut *$tx)
        .await?;
        sqlx::query(
            "DELETE FROM plugin_versions WHERE service = $1 AND sha256 NOT IN (SELECT sha256 FROM plugin_versions \
             WHERE service = $1 ORDER BY activated_at_ms DESC, sha256 = $3 DESC, sha256 LIMIT $2)",
        )
        .bind($plugin.service)
        .bind(PLUGIN_VERSIONS_MAX)
        .bind($plugin.sha256)
        .execute(&mut *$tx)
        .await?
    }};
}

/// What is reported: that the version serves, and that it is a rollback where it served before the
/// version that it replaces. `served` are the hashes of the versions that are remembered.
fn activation_events(
    plugin: &ActivatePlugin<'_>,
    before: Option<PluginRow>,
    served: &[String],
) -> Vec<Event> {
    let before = before.map(|before| (before.active_sha256, before.active_version));
    let (before, version_before) = before.unwrap_or_default();
    if before.as_deref() == Some(plugin.sha256) {
        return Vec::new();
    }
    let mut data = json!({
        "service": plugin.service,
        "version": plugin.version,
        "sha256": plugin.sha256,
    });
    let mut events = vec![Event::for_all(
        EventType::PluginActivated,
        plugin.now_ms,
        data.clone(),
    )];
    if let Some(before) = before
        && served.iter().any(|sha256| sha256 == plugin.sha256)
    {
        // A version that kept crashing was forgotten first.
        data["automatic"] = json!(!served.contains(&before));
        data["from"] = json!({ "version": version_before, "sha256": before });
        events.push(Event::for_all(
            EventType::PluginRolledBack,
            plugin.now_ms,
            data,
        ));
    }
    events
}

impl Writer {
    /// Lets a version serve with the given rights, and remembers it as good. What was pending is
    /// settled if it was this file; an approval of another file stays. A version that served
    /// before, in place of another one, is a rollback, however its file came back.
    ///
    /// The names of its tools belong to the service from then on, until
    /// [`release_tool_names`](crate::Store::release_tool_names).
    pub async fn activate_plugin(
        &self,
        plugin: &ActivatePlugin<'_>,
    ) -> Result<Activated, StoreError> {
        Ok(portable!(write self, tx => {
            if let Some((tool_name, service)) = claim_tool_names!(tx, plugin) {
                return Ok(Activated::NameTaken { tool_name, service });
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
            let served: Vec<String> = sqlx::query_scalar("SELECT sha256 FROM plugin_versions WHERE service = $1")
                .bind(plugin.service)
                .fetch_all(&mut *tx)
                .await?;
            write_serving!(tx, plugin);
            settle_pending!(tx, plugin);
            remember_version!(tx, plugin);
            bump!(tx, Topic::Plugins);
            let events = activation_events(plugin, before, &served);
            if !events.is_empty() {
                emit!(tx, self, &events);
            }
            Activated::Done
        }))
    }
}
