//! The log of events as callers read it: in pages, or followed as it grows.
//!
//! [`wanted`] is the pure rule of which events a caller sees and asked for; [`reader`] reads them and waits for more. A
//! log is written from its first read on, until nobody has read it for a week (`store/src/event_log.rs`), so that a
//! workspace without readers pays nothing for it.

pub mod reader;
mod wanted;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use toolgate_core::ids::UserId;
use toolgate_store::{LogRetention, Store, StoreError};

/// Events of one page.
pub const LIST_LIMIT_MAX: usize = 100;
/// Longest wait of one request, in seconds.
pub const WAIT_S_MAX: usize = 60;
/// How long an event can be read.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// Events that one log holds; older ones are deleted before their time.
pub const KEPT_MAX: i64 = 100_000;
/// A log that nobody has read for so long is switched off.
pub const UNREAD_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// Events that one transaction deletes.
const PURGED_AT_ONCE: i64 = 1_000;

/// Which events; what is absent lets all pass that the caller sees.
#[derive(Clone, Debug, Default)]
pub struct EventQuery {
    /// Types, groups (`tool.*`) or `*`; empty: all.
    pub types: Vec<String>,
    pub user_id: Option<UserId>,
    pub service: Option<String>,
    pub tool_name: Option<String>,
    /// Only events about these tools.
    pub tools: Option<EventTools>,
}

/// Tools, and the services that they are of. An event that names no tool is about them if it names a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventTools {
    pub names: BTreeSet<String>,
    pub services: BTreeSet<String>,
}

/// Where reading begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EventsFrom {
    /// With the next event.
    #[default]
    Now,
    /// With the oldest one that is kept.
    Oldest,
    /// After the place that an earlier answer named.
    Cursor(String),
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct EventRecord {
    /// The same as in the header `webhook-id` of its deliveries.
    #[schema(example = "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub event_id: String,
    #[serde(rename = "type")]
    #[schema(example = "tool.executed")]
    pub kind: String,
    #[schema(format = DateTime)]
    pub timestamp: String,
    #[schema(value_type = Object)]
    pub data: Value,
    /// Where to go on after this event.
    pub cursor: String,
}

/// `GET /v1/events`, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct EventPage {
    pub events: Vec<EventRecord>,
    /// Where to go on, also when there was no event.
    pub cursor: String,
    /// Whether more is there already.
    pub has_more: bool,
    /// Whether events between the cursor that was sent and the first of these are no longer kept.
    pub truncated: bool,
}

/// Deletes what is past its time, and switches off logs that nobody reads.
pub(crate) async fn purge(store: &Store, now_ms: i64) -> Result<(), StoreError> {
    let retention = LogRetention {
        before_ms: now_ms - KEPT_MS,
        unread_ms: now_ms - UNREAD_MS,
        events_max: KEPT_MAX,
        limit: PURGED_AT_ONCE,
    };
    for workspace_id in store.list_event_logs().await? {
        while !store.purge_logged_events(&workspace_id, retention).await? {}
    }
    Ok(())
}
