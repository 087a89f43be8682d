//! Triggers: a reading tool of a user is called from time to time, and each new item of the list in its result becomes
//! an event `trigger.<service>.<event>` for the workspace's webhooks.
//!
//! A poll is an ordinary call of the tool: the user's permissions and connection, the limits and a receipt. Which
//! items are new is decided by the ids that were seen ([`items`], [`reading`]); a page of the provider's list is
//! stored in one transaction with its events, so that each item becomes one event whichever process dies
//! (`store/src/trigger_polls.rs`). [`schedule`] is the pure rule of when a trigger is polled again, [`poller`] the loop
//! of each process, [`admin`] what callers do with triggers, [`offered`] which ones they can make, [`preview`] the poll
//! that stores nothing.

pub mod admin;
mod call;
mod declared;
mod items;
pub mod offered;
pub(crate) mod poller;
pub mod preview;
mod reading;
mod schedule;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::tools::Connect;
use toolgate_core::ids::UserId;
use toolgate_core::states::TriggerState;

/// Triggers of one workspace.
pub const TRIGGERS_MAX: i64 = 200;
/// Triggers of one user.
pub const TRIGGERS_PER_USER_MAX: i64 = 50;
/// The arguments that a user chooses, as compact JSON.
pub const CONFIG_BYTES_MAX: usize = 16 << 10;
/// How far back `since` may be.
pub const SINCE_DAYS_MAX: i64 = 30;
pub const LIST_LIMIT_MAX: usize = 100;
/// Items that a test answers.
pub const TEST_ITEMS_MAX: usize = 20;
/// Pages that a test reads, each by a call of the tool.
pub const TEST_PAGES_MAX: usize = 5;

/// Wakes the poller of this process when a trigger is due that was not before.
#[derive(Debug, Default)]
pub(crate) struct TriggerWake(Notify);

impl TriggerWake {
    pub(crate) fn wake(&self) {
        self.0.notify_one();
    }

    pub(crate) async fn woken(&self) {
        self.0.notified().await;
    }
}

/// One trigger. `GET /v1/triggers/{trigger_id}`.
#[derive(Clone, Debug, PartialEq, Serialize, serde::Deserialize, utoipa::ToSchema)]
pub struct Trigger {
    /// `trg_<ULID>`.
    #[schema(example = "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub trigger_id: String,
    /// With whose permissions and connection the tool is called.
    pub user_id: String,
    pub service: String,
    /// The trigger's name in the service's plugin.
    #[schema(example = "new_issue")]
    pub trigger: String,
    /// The type of its events.
    #[schema(example = "trigger.github.new_issue")]
    pub event: String,
    /// The connection that was chosen; absent where each poll chooses as a call does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// The arguments that were chosen. Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub config: Option<Value>,
    /// Seconds between two polls.
    pub interval_s: u64,
    pub state: TriggerState,
    /// Polls that failed since the last good one.
    pub failures: i64,
    /// Why the last poll failed, or what the trigger waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Since when new items are told of; absent until what was there before has been read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub watching_since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_poll_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub last_item_at: Option<String>,
    /// Items that were told of.
    pub items_found: i64,
    /// Absent while the trigger is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub next_poll_at: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    #[schema(format = DateTime)]
    pub updated_at: String,
}

/// `GET /v1/triggers`, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct TriggerList {
    pub triggers: Vec<Trigger>,
    /// `null` on the last page.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct DeletedTrigger {
    pub trigger_id: String,
    /// Always `true`.
    #[schema(example = true)]
    pub deleted: bool,
}

/// `POST /v1/triggers`.
#[derive(Clone, Debug)]
pub struct CreateTrigger {
    pub service: String,
    pub trigger: String,
    pub config: Value,
    pub user_id: Option<UserId>,
    pub connection_id: Option<String>,
    pub interval_s: Option<u64>,
    /// RFC 3339.
    pub since: Option<String>,
}

/// `PATCH /v1/triggers/{trigger_id}`; what is absent stays.
#[derive(Clone, Debug, Default)]
pub struct UpdateTrigger {
    pub trigger_id: String,
    pub config: Option<Value>,
    pub interval_s: Option<u64>,
    pub paused: Option<bool>,
}

/// `GET /v1/triggers`.
#[derive(Clone, Debug)]
pub struct ListTriggers {
    pub user_id: Option<UserId>,
    /// 1 to 100.
    pub limit: usize,
    pub cursor: Option<String>,
}

/// What polls would have found of late. `POST /v1/triggers/{trigger_id}/test`.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct TriggerTest {
    /// `found`, or why nothing was read.
    pub status: TriggerTestStatus,
    /// The receipt of the call, of the last one where there were several; absent where nothing was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// Why nothing was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the user has to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect: Option<Connect>,
    /// Items that were read.
    pub listed: usize,
    /// The time from which on items are answered: the one that was asked for, or a day ago. Absent where the service gives
    /// no times of them; then the first page is answered as it is listed now.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub since: Option<String>,
    /// Of the items that were read, those from then on; absent like it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<usize>,
    /// Whether there are no more of them: behind five pages nothing is read.
    pub complete: bool,
    /// The first 20 of them, as their events would have them.
    pub items: Vec<TestedItem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriggerTestStatus {
    Found,
    AuthRequired,
    Error,
}

/// One item of a test.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct TestedItem {
    /// The id that its event would have.
    #[schema(example = "evt_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")]
    pub event_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// The provider's content; `null` where it is too large.
    #[schema(required)]
    pub event: Option<Value>,
}
