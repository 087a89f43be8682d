//! Triggers: which reading tools are polled for new items, and how each of them fares. What a poll writes is in
//! `trigger_polls.rs`.

use super::page::one_more;
use super::toolsets::lock_workspace;
use super::{Cursor, Page, Store, StoreError, Writer, portable};
use crate::columns::{returning, select};
use toolgate_core::states::TriggerState;

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct TriggerRow {
    pub workspace_id: String,
    /// `trg_<ULID>`.
    pub id: String,
    pub user_id: String,
    pub service: String,
    /// The name of the trigger in the service's manifest.
    pub event: String,
    /// `None`: the connection that a call would choose.
    pub connection_id: Option<String>,
    /// The arguments that the user chose, as sealed JSON.
    pub config: String,
    pub interval_ms: i64,
    /// Items from this time on become events although they were there before.
    pub since_ms: Option<i64>,
    #[sqlx(try_from = "&'a str")]
    pub state: TriggerState,
    /// Polls that failed since the last good one.
    pub failures: i64,
    pub last_error: Option<String>,
    pub last_poll_at_ms: Option<i64>,
    pub last_item_at_ms: Option<i64>,
    /// Items that became events.
    pub items_found: i64,
    /// Since when new items become events. `None`: what is there has not been read to its end yet.
    pub watching_since_ms: Option<i64>,
    /// Items of this time and older were there before.
    pub floor_ms: Option<i64>,
    /// The page at which the next poll goes on, sealed.
    pub cursor: Option<String>,
    /// Pages of this reading of the list so far.
    pub pages_read: i64,
    /// This reading goes on behind a page without a new item.
    pub reads_all: bool,
    pub next_poll_at_ms: i64,
    pub lease_owner: Option<String>,
    pub lease_until_ms: Option<i64>,
    pub created_at_ms: i64,
    pub updated_at_ms: i64,
}

/// How many triggers there may be.
#[derive(Clone, Copy, Debug)]
pub struct TriggersMax {
    pub of_workspace: i64,
    pub of_user: i64,
}

/// The outcome of a new trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertedTrigger {
    Done,
    /// Not kept: the workspace has as many as it may.
    WorkspaceFull,
    /// Not kept: the user has as many as one may.
    UserFull,
}

/// What to change; `None` keeps.
#[derive(Clone, Debug, Default)]
pub struct TriggerChange<'a> {
    /// Sealed. Items that are there under another config are read anew and become no events.
    pub config: Option<&'a str>,
    pub interval_ms: Option<i64>,
    pub paused: Option<bool>,
}

/// A page of triggers behind `$2` and `$3`.
macro_rules! page_of {
    ($filter:literal) => {
        concat!(
            select!(
                triggers,
                "WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3)"
            ),
            $filter,
            " ORDER BY created_at_ms DESC, id DESC LIMIT $4"
        )
    };
}

impl Store {
    pub async fn find_trigger(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<TriggerRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(triggers, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first, of one user or of all.
    pub async fn list_triggers(
        &self,
        workspace_id: &str,
        user_id: Option<&str>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<TriggerRow>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let statement = match user_id {
            None => page_of!(""),
            Some(_) => page_of!(" AND user_id = $5"),
        };
        let rows = portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(at_ms)
                .bind(&id)
                .bind(one_more(limit));
            if let Some(user_id) = user_id {
                query = query.bind(user_id);
            }
            query.fetch_all(db).await?
        });
        Ok(Page::cut(rows, limit, |row: &TriggerRow| {
            (row.created_at_ms, &row.id)
        }))
    }
}

impl Writer {
    /// Keeps a new trigger, which is due at its `next_poll_at_ms`, unless there are as many as there may be.
    pub async fn insert_trigger(
        &self,
        trigger: &TriggerRow,
        most: TriggersMax,
    ) -> Result<InsertedTrigger, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            // So that two writers count in turn.
            lock_workspace!(tx, &trigger.workspace_id);
            let of_workspace: i64 =
                sqlx::query_scalar("SELECT COUNT(*) FROM triggers WHERE workspace_id = $1")
                    .bind(&trigger.workspace_id)
                    .fetch_one(&mut *tx)
                    .await?;
            if of_workspace >= most.of_workspace {
                return Ok(InsertedTrigger::WorkspaceFull);
            }
            let of_user: i64 = sqlx::query_scalar(
                "SELECT COUNT(*) FROM triggers WHERE workspace_id = $1 AND user_id = $2",
            )
            .bind(&trigger.workspace_id)
            .bind(&trigger.user_id)
            .fetch_one(&mut *tx)
            .await?;
            if of_user >= most.of_user {
                return Ok(InsertedTrigger::UserFull);
            }
            sqlx::query(
                "INSERT INTO triggers (workspace_id, id, user_id, service, event, connection_id, config, interval_ms, \
                 since_ms, state, failures, items_found, pages_read, reads_all, next_poll_at_ms, created_at_ms, \
                 updated_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, 0, FALSE, $11, $12, $12)",
            )
            .bind(&trigger.workspace_id)
            .bind(&trigger.id)
            .bind(&trigger.user_id)
            .bind(&trigger.service)
            .bind(&trigger.event)
            .bind(&trigger.connection_id)
            .bind(&trigger.config)
            .bind(trigger.interval_ms)
            .bind(trigger.since_ms)
            .bind(trigger.state.into_str())
            .bind(trigger.next_poll_at_ms)
            .bind(trigger.created_at_ms)
            .execute(&mut *tx)
            .await?;
            InsertedTrigger::Done
        }))
    }

    /// Changes what is given. A poll that is under way stores nothing more, and the trigger is due at once unless it
    /// is paused. Another config begins anew: items that are there become no events.
    pub async fn update_trigger(
        &self,
        workspace_id: &str,
        id: &str,
        change: &TriggerChange<'_>,
        now_ms: i64,
    ) -> Result<Option<TriggerRow>, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query_as(
                returning!(
                    triggers,
                    "UPDATE triggers SET config = COALESCE($3, config), interval_ms = COALESCE($4, interval_ms), \
                     state = CASE WHEN $5 THEN 'paused' WHEN $5 IS NULL AND state = 'paused' THEN state \
                     ELSE 'active' END, \
                     failures = 0, last_error = NULL, \
                     watching_since_ms = CASE WHEN $3 IS NULL THEN watching_since_ms ELSE NULL END, \
                     floor_ms = CASE WHEN $3 IS NULL THEN floor_ms ELSE NULL END, \
                     since_ms = CASE WHEN $3 IS NULL THEN since_ms ELSE NULL END, \
                     cursor = CASE WHEN $3 IS NULL THEN cursor ELSE NULL END, \
                     pages_read = CASE WHEN $3 IS NULL THEN pages_read ELSE 0 END, \
                     next_poll_at_ms = $6, lease_owner = NULL, lease_until_ms = NULL, updated_at_ms = $6 \
                     WHERE workspace_id = $1 AND id = $2"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(change.config)
            .bind(change.interval_ms)
            .bind(change.paused)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Deletes a trigger with what it remembers. `false`: it does not exist.
    pub async fn delete_trigger(&self, workspace_id: &str, id: &str) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM triggers WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .execute(&mut *tx)
                .await?
                .rows_affected() == 1
        }))
    }
}
