//! Events: what happened in a workspace, written for those who want to know it in the transaction
//! that makes it happen.
//!
//! A method that changes something calls [`emit!`] before it commits. Where no enabled webhook
//! wants the event and the workspace's log is off, nothing is written; else the event is kept with
//! one delivery for each webhook (`deliveries.rs`), and once in the log (`event_log.rs`), under one
//! id. So an event is there if and only if its change is.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::text::Json;
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;

/// What the events of providers begin with: `trigger.<service>.<event>`.
pub const TRIGGER_PREFIX: &str = "trigger.";

/// What the gateway itself tells of. Events of providers are named `trigger.<service>.<event>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(const_into_str)]
pub enum EventType {
    #[strum(serialize = "tool.executed")]
    ToolExecuted,
    #[strum(serialize = "tool.failed")]
    ToolFailed,
    #[strum(serialize = "approval.requested")]
    ApprovalRequested,
    #[strum(serialize = "approval.resolved")]
    ApprovalResolved,
    #[strum(serialize = "connection.created")]
    ConnectionCreated,
    #[strum(serialize = "connection.expiring")]
    ConnectionExpiring,
    #[strum(serialize = "connection.expired")]
    ConnectionExpired,
    #[strum(serialize = "connection.recovered")]
    ConnectionRecovered,
    #[strum(serialize = "connection.revoked")]
    ConnectionRevoked,
    #[strum(serialize = "skill.created")]
    SkillCreated,
    #[strum(serialize = "skill.updated")]
    SkillUpdated,
    #[strum(serialize = "skill.deleted")]
    SkillDeleted,
    #[strum(serialize = "permission.changed")]
    PermissionChanged,
    #[strum(serialize = "api_key.created")]
    ApiKeyCreated,
    #[strum(serialize = "api_key.revoked")]
    ApiKeyRevoked,
    #[strum(serialize = "plugin.activated")]
    PluginActivated,
    #[strum(serialize = "plugin.quarantined")]
    PluginQuarantined,
    #[strum(serialize = "plugin.pending_approval")]
    PluginPendingApproval,
    #[strum(serialize = "plugin.rolled_back")]
    PluginRolledBack,
    #[strum(serialize = "session.created")]
    SessionCreated,
    #[strum(serialize = "message.created")]
    MessageCreated,
    #[strum(serialize = "webhook.disabled")]
    WebhookDisabled,
    #[strum(serialize = "webhook.test")]
    WebhookTest,
}

impl EventType {
    pub const ALL: &[Self] = Self::VARIANTS;
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// `None`: it gets a new one when it is written.
    id: Option<String>,
    /// `None`: it concerns every workspace.
    workspace_id: Option<String>,
    kind: String,
    at_ms: i64,
    /// A JSON object without secrets. `user_id`, `service` and `tool_name` in it are what filters
    /// look at.
    data: Value,
}

impl Event {
    pub fn new(kind: EventType, workspace_id: &str, at_ms: i64, data: Value) -> Self {
        Self {
            id: None,
            workspace_id: Some(workspace_id.to_owned()),
            kind: kind.to_string(),
            at_ms,
            data,
        }
    }

    /// Of the installation, for all workspaces.
    pub fn for_all(kind: EventType, at_ms: i64, data: Value) -> Self {
        Self {
            id: None,
            workspace_id: None,
            kind: kind.to_string(),
            at_ms,
            data,
        }
    }

    /// Of a provider; `name` as its plugin calls it.
    pub fn trigger(service: &str, name: &str, workspace_id: &str, at_ms: i64, data: Value) -> Self {
        Self {
            id: None,
            workspace_id: Some(workspace_id.to_owned()),
            kind: format!("{TRIGGER_PREFIX}{service}.{name}"),
            at_ms,
            data,
        }
    }

    /// The same event under an id of its own, `evt_<ULID>`: no two are written with one id.
    pub fn with_id(self, id: String) -> Self {
        Self {
            id: Some(id),
            ..self
        }
    }

    /// The body of its deliveries, as Standard Webhooks shapes it.
    fn payload(&self) -> String {
        json!({ "type": self.kind, "timestamp": rfc3339(self.at_ms), "data": self.data })
            .to_string()
    }
}

/// Which events of the wanted types pass; an absent list lets every value pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventFilters {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_ids: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_names: Option<Vec<String>>,
}

impl From<Json<EventFilters>> for EventFilters {
    fn from(json: Json<Self>) -> Self {
        json.0
    }
}

impl EventFilters {
    fn pass(&self, data: &Value) -> bool {
        let passes = |list: &Option<Vec<String>>, key: &str| match list {
            None => true,
            Some(list) => data
                .get(key)
                .and_then(Value::as_str)
                .is_some_and(|value| list.iter().any(|one| one == value)),
        };
        passes(&self.user_ids, "user_id")
            && passes(&self.services, "service")
            && passes(&self.tool_names, "tool_name")
    }
}

/// Whether `pattern` (a type, `group.*` or `*`) names events of the type `kind`.
pub fn pattern_matches(pattern: &str, kind: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(group) => kind.starts_with(group),
        None => pattern == kind,
    }
}

/// An enabled webhook, or the log of a workspace, as far as writing events needs it.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Subscriber {
    pub workspace_id: String,
    /// Of the webhook; `None`: it is the log.
    pub id: Option<String>,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub events: Vec<String>,
    #[sqlx(try_from = "Json<EventFilters>")]
    pub filters: EventFilters,
}

impl Subscriber {
    fn wants(&self, event: &Event) -> bool {
        event
            .workspace_id
            .as_ref()
            .is_none_or(|id| *id == self.workspace_id)
            && self
                .events
                .iter()
                .any(|pattern| pattern_matches(pattern, &event.kind))
            && self.filters.pass(&event.data)
    }
}

/// An event as its row keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EventRow {
    pub id: String,
    pub workspace_id: String,
    pub kind: String,
    /// The user whom it is about, where there is one.
    pub user_id: Option<String>,
    /// The execution that it tells of, where there is one.
    pub execution_id: Option<String>,
    pub payload: String,
    pub created_at_ms: i64,
}

impl EventRow {
    pub(crate) fn from_event(event: &Event, workspace_id: &str) -> Self {
        let text = |key: &str| {
            event
                .data
                .get(key)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        Self {
            id: event.id.clone().unwrap_or_else(|| ids::ulid("evt")),
            workspace_id: workspace_id.to_owned(),
            kind: event.kind.clone(),
            user_id: text("user_id"),
            execution_id: text("execution_id"),
            payload: event.payload(),
            created_at_ms: event.at_ms,
        }
    }
}

/// One endpoint's part in an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeliveryRow {
    pub id: String,
    pub workspace_id: String,
    pub webhook_id: String,
    pub event_id: String,
    pub kind: String,
    pub created_at_ms: i64,
    /// It does not wait until the webhook has rested.
    pub at_once: bool,
    pub execution_id: Option<String>,
}

impl DeliveryRow {
    pub(crate) fn for_webhook(event: &EventRow, webhook_id: &str) -> Self {
        Self {
            id: ids::ulid("dlv"),
            workspace_id: event.workspace_id.clone(),
            webhook_id: webhook_id.to_owned(),
            event_id: event.id.clone(),
            kind: event.kind.clone(),
            created_at_ms: event.created_at_ms,
            at_once: false,
            execution_id: event.execution_id.clone(),
        }
    }
}

/// The workspaces that these events concern; `None` once one concerns all.
pub(super) fn workspaces(events: &[Event]) -> Vec<Option<&str>> {
    let of_each: Option<BTreeSet<&str>> = events
        .iter()
        .map(|event| event.workspace_id.as_deref())
        .collect();
    match of_each {
        Some(ids) => ids.into_iter().map(Some).collect(),
        None => vec![None],
    }
}

/// The rows that events become, each kind in the order of the events.
#[derive(Debug, Default)]
pub(super) struct FanOut {
    /// Those that webhooks want.
    pub rows: Vec<EventRow>,
    pub deliveries: Vec<DeliveryRow>,
    /// Those of workspaces whose log is on.
    pub logged: Vec<EventRow>,
}

impl FanOut {
    pub(crate) fn new(events: &[Event], subscribers: &[Subscriber]) -> Self {
        let mut out = Self::default();
        for event in events {
            let mut wanting: Vec<&Subscriber> =
                subscribers.iter().filter(|s| s.wants(event)).collect();
            wanting.sort_by(|a, b| a.workspace_id.cmp(&b.workspace_id));
            for of_workspace in wanting.chunk_by(|a, b| a.workspace_id == b.workspace_id) {
                let row = EventRow::from_event(event, &of_workspace[0].workspace_id);
                out.add(row, of_workspace);
            }
        }
        out
    }

    /// Adds an event of one workspace.
    fn add(&mut self, row: EventRow, wanting: &[&Subscriber]) {
        if wanting.iter().any(|subscriber| subscriber.id.is_none()) {
            self.logged.push(row.clone());
        }
        let webhooks = wanting
            .iter()
            .filter_map(|subscriber| subscriber.id.as_deref());
        let before = self.deliveries.len();
        let deliveries = webhooks.map(|id| DeliveryRow::for_webhook(&row, id));
        self.deliveries.extend(deliveries);
        if self.deliveries.len() > before {
            self.rows.push(row);
        }
    }
}

/// Rows of one statement; nine binds each at most, within the bounds of both databases.
pub(super) const ROWS_MAX: usize = 200;

/// Writes event rows and delivery rows inside the open transaction.
macro_rules! write_events {
    ($tx:ident, $store:expr, $rows:expr, $deliveries:expr) => {
        for rows in $rows.chunks($crate::events::ROWS_MAX) {
            let mut insert = sqlx::QueryBuilder::new(
                "INSERT INTO webhook_events (id, workspace_id, type, payload, created_at_ms) ",
            );
            insert.push_values(rows, |mut values, row| {
                values
                    .push_bind(&row.id)
                    .push_bind(&row.workspace_id)
                    .push_bind(&row.kind)
                    .push_bind(&row.payload)
                    .push_bind(row.created_at_ms);
            });
            insert.build().execute(&mut *$tx).await?;
        }
        for rows in $deliveries.chunks($crate::events::ROWS_MAX) {
            let mut insert = sqlx::QueryBuilder::new(
                "INSERT INTO webhook_deliveries (id, workspace_id, webhook_id, event_id, type, state, attempts, \
                 next_attempt_at_ms, created_at_ms, at_once, execution_id) ",
            );
            insert.push_values(rows, |mut values, row| {
                values
                    .push_bind(&row.id)
                    .push_bind(&row.workspace_id)
                    .push_bind(&row.webhook_id)
                    .push_bind(&row.event_id)
                    .push_bind(&row.kind)
                    .push("'pending', 0")
                    .push_bind(row.created_at_ms)
                    .push_bind(row.created_at_ms)
                    .push_bind(row.at_once)
                    .push_bind(&row.execution_id);
            });
            insert.build().execute(&mut *$tx).await?;
        }
        if !$deliveries.is_empty() {
            $store.watch.outbox_grew();
        }
    };
}
pub(super) use write_events;

/// Writes rows of the log inside the open transaction. They have no number yet: a reader gives it to them
/// (`event_log.rs`).
macro_rules! log_events {
    ($tx:ident, $store:expr, $rows:expr) => {
        for rows in $rows.chunks($crate::events::ROWS_MAX) {
            let mut insert = sqlx::QueryBuilder::new(
                "INSERT INTO logged_events (workspace_id, id, type, user_id, payload, created_at_ms) ",
            );
            insert.push_values(rows, |mut values, row| {
                values
                    .push_bind(&row.workspace_id)
                    .push_bind(&row.id)
                    .push_bind(&row.kind)
                    .push_bind(&row.user_id)
                    .push_bind(&row.payload)
                    .push_bind(row.created_at_ms);
            });
            insert.build().execute(&mut *$tx).await?;
        }
        if !$rows.is_empty() {
            $store.watch.log_grew();
        }
    };
}
pub(super) use log_events;

pub(super) const SUBSCRIBERS: &str = "SELECT workspace_id, id, events, filters FROM webhooks WHERE enabled \
     UNION ALL SELECT workspace_id, NULL, '[\"*\"]', '{}' FROM event_logs WHERE enabled ORDER BY id";
pub(super) const SUBSCRIBERS_OF_WORKSPACE: &str = "SELECT workspace_id, id, events, filters FROM webhooks \
     WHERE enabled AND workspace_id = $1 \
     UNION ALL SELECT workspace_id, NULL, '[\"*\"]', '{}' FROM event_logs WHERE enabled AND workspace_id = $1 \
     ORDER BY id";

/// Writes what enabled webhooks and the log want of `events` (a slice) inside the open transaction.
macro_rules! emit {
    ($tx:ident, $store:expr, $events:expr) => {{
        let events: &[$crate::Event] = $events;
        for workspace_id in $crate::events::workspaces(events) {
            let mut query = sqlx::query_as(match workspace_id {
                None => $crate::events::SUBSCRIBERS,
                Some(_) => $crate::events::SUBSCRIBERS_OF_WORKSPACE,
            });
            if let Some(workspace_id) = workspace_id {
                query = query.bind(workspace_id);
            }
            let subscribers: Vec<$crate::events::Subscriber> = query.fetch_all(&mut *$tx).await?;
            if subscribers.is_empty() {
                continue;
            }
            let out = $crate::events::FanOut::new(events, &subscribers);
            $crate::events::write_events!($tx, $store, out.rows, out.deliveries);
            $crate::events::log_events!($tx, $store, out.logged);
        }
    }};
}
pub(super) use emit;

#[cfg(test)]
mod tests;
