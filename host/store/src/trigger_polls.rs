//! Polls of triggers: which are due, who polls one, and what a page of the provider's list brings.
//!
//! One process polls a trigger at a time: it holds the row's lease. A page is one transaction: its items are
//! remembered, those that nobody has seen become events, and the place at which the reading goes on is noted. So a
//! process that dies repeats at most a page, of which nothing is new any more.

use std::collections::HashSet;

use super::events::emit;
use super::{Event, Lease, Store, StoreError, TriggerRow, portable};
use crate::columns::returning;
use toolgate_core::states::TriggerState;

/// Rows of one statement; three binds each, within the bounds of both databases.
const ROWS_MAX: usize = 200;
/// What is seen again is noted once in this time.
const SEEN_AGAIN_MS: i64 = 24 * 60 * 60 * 1_000;

/// A trigger whose time has come.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct DueTrigger {
    pub workspace_id: String,
    pub id: String,
}

/// One item of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundItem {
    /// The id of its event, the same whenever it is found.
    pub id: String,
    /// `None`: it was there before, and is only remembered.
    pub event: Option<Event>,
}

/// Where the reading of a list is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriggerProgress {
    /// The next page, sealed. `None`: the list has been read.
    pub cursor: Option<String>,
    pub pages_read: i64,
    pub reads_all: bool,
    pub watching_since_ms: Option<i64>,
    pub floor_ms: Option<i64>,
}

/// A page of the provider's list.
#[derive(Clone, Copy, Debug)]
pub struct TriggerPage<'a> {
    /// Each once, in the order in which their events are written.
    pub items: &'a [FoundItem],
    /// Where the reading is if some items of the page are new.
    pub progress: &'a TriggerProgress,
    /// The same if all of them are.
    pub all_new: &'a TriggerProgress,
    /// The same if none is.
    pub without_new: &'a TriggerProgress,
    /// Items that a trigger remembers, the last seen.
    pub remembered_max: i64,
}

impl<'a> TriggerPage<'a> {
    /// Where the reading is after the page, if so many of its items are new.
    pub fn progress_after(&self, new: usize) -> &'a TriggerProgress {
        match new {
            0 => self.without_new,
            all if all == self.items.len() => self.all_new,
            _ => self.progress,
        }
    }
}

/// How a poll ended.
#[derive(Clone, Copy, Debug)]
pub struct TriggerPollEnd<'a> {
    pub state: TriggerState,
    pub failures: i64,
    pub last_error: Option<&'a str>,
    pub next_poll_at_ms: i64,
    /// Forgets the page to go on at, and reads the whole list the next time.
    pub begins_anew: bool,
}

/// Remembers items, and answers those that were not known.
macro_rules! remember {
    ($tx:ident, $trigger:expr, $items:expr, $now_ms:expr) => {{
        let mut new: Vec<String> = Vec::new();
        for items in $items.chunks(ROWS_MAX) {
            let mut insert = sqlx::QueryBuilder::new(
                "INSERT INTO trigger_items (workspace_id, trigger_id, item, seen_at_ms) ",
            );
            insert.push_values(items, |mut values, item| {
                values
                    .push_bind(&$trigger.workspace_id)
                    .push_bind(&$trigger.id)
                    .push_bind(&item.id)
                    .push_bind($now_ms);
            });
            insert.push(" ON CONFLICT (workspace_id, trigger_id, item) DO NOTHING RETURNING item");
            let inserted: Vec<String> = insert.build_query_scalar().fetch_all(&mut *$tx).await?;
            new.extend(inserted);
            let mut again = sqlx::QueryBuilder::new("UPDATE trigger_items SET seen_at_ms = ");
            again
                .push_bind($now_ms)
                .push(" WHERE workspace_id = ")
                .push_bind(&$trigger.workspace_id)
                .push(" AND trigger_id = ")
                .push_bind(&$trigger.id)
                .push(" AND seen_at_ms < ")
                .push_bind($now_ms.saturating_sub(SEEN_AGAIN_MS))
                .push(" AND item IN (");
            let mut listed = again.separated(", ");
            for item in items {
                listed.push_bind(&item.id);
            }
            again.push(")");
            again.build().execute(&mut *$tx).await?;
        }
        new
    }};
}

/// Of these ids, those under which an event is stored: it was emitted before its item was forgotten.
macro_rules! told {
    ($tx:ident, $ids:expr) => {{
        let mut told: Vec<String> = Vec::new();
        for ids in $ids.chunks(ROWS_MAX) {
            let mut select = sqlx::QueryBuilder::new("SELECT id FROM webhook_events WHERE id IN (");
            let mut listed = select.separated(", ");
            for id in ids {
                listed.push_bind(id);
            }
            select.push(")");
            let found: Vec<String> = select.build_query_scalar().fetch_all(&mut *$tx).await?;
            told.extend(found);
        }
        told
    }};
}

impl Store {
    /// Triggers whose time has come and that nobody polls, the longest due first. A lease that is longer than one can
    /// be is of a clock that was ahead.
    pub async fn due_triggers(
        &self,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<DueTrigger>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT workspace_id, id FROM triggers WHERE state <> 'paused' AND next_poll_at_ms <= $1 \
                 AND (lease_until_ms IS NULL OR lease_until_ms <= $1 OR lease_until_ms - 3600000 > $1) \
                 ORDER BY next_poll_at_ms LIMIT $2",
            )
            .bind(now_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(db)
            .await?
        }))
    }

    /// Leases a trigger, if it is still due.
    pub async fn lease_trigger(
        &self,
        due: &DueTrigger,
        lease: Lease<'_>,
    ) -> Result<Option<TriggerRow>, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query_as(
                returning!(
                    triggers,
                    "UPDATE triggers SET lease_owner = $3, lease_until_ms = $5 WHERE workspace_id = $1 AND id = $2 \
                     AND state <> 'paused' AND next_poll_at_ms <= $4 \
                     AND (lease_until_ms IS NULL OR lease_until_ms <= $4 OR lease_until_ms - 3600000 > $4)"
                ),
            )
            .bind(&due.workspace_id)
            .bind(&due.id)
            .bind(lease.owner)
            .bind(lease.now_ms)
            .bind(lease.until_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Stores a page with its events and holds the lease on. Answers how many of its items were new. `None`: the
    /// trigger is not this owner's any more, paused, changed or gone, and nothing was stored.
    pub async fn store_trigger_page(
        &self,
        trigger: &TriggerRow,
        page: TriggerPage<'_>,
        lease: Lease<'_>,
    ) -> Result<Option<usize>, StoreError> {
        let now_ms = lease.now_ms;
        Ok(portable!(write unnoticed self, tx => {
            // Locks the row first: who deletes or pauses it waits, or this finds that they have.
            let held = sqlx::query(
                "UPDATE triggers SET lease_until_ms = $4, last_poll_at_ms = $5 WHERE workspace_id = $1 AND id = $2 \
                 AND lease_owner = $3 AND state <> 'paused'",
            )
            .bind(&trigger.workspace_id)
            .bind(&trigger.id)
            .bind(lease.owner)
            .bind(lease.until_ms)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1;
            if !held {
                return Ok(None);
            }
            let new = remember!(tx, trigger, page.items, now_ms);
            let told = told!(tx, new);
            let events = events_of(page.items, &new, &told);
            if !events.is_empty() {
                emit!(tx, self, &events[..]);
            }
            if !new.is_empty() {
                sqlx::query(
                    "DELETE FROM trigger_items WHERE workspace_id = $1 AND trigger_id = $2 AND item IN \
                     (SELECT item FROM trigger_items WHERE workspace_id = $1 AND trigger_id = $2 \
                     ORDER BY seen_at_ms DESC, item DESC LIMIT $3 OFFSET $4)",
                )
                .bind(&trigger.workspace_id)
                .bind(&trigger.id)
                .bind(page.remembered_max)
                .bind(page.remembered_max)
                .execute(&mut *tx)
                .await?;
            }
            let progress = page.progress_after(new.len());
            sqlx::query(
                "UPDATE triggers SET cursor = $3, pages_read = $4, reads_all = $5, watching_since_ms = $6, \
                 floor_ms = $7, items_found = items_found + $8, \
                 last_item_at_ms = CASE WHEN $8 > 0 THEN $9 ELSE last_item_at_ms END \
                 WHERE workspace_id = $1 AND id = $2",
            )
            .bind(&trigger.workspace_id)
            .bind(&trigger.id)
            .bind(&progress.cursor)
            .bind(progress.pages_read)
            .bind(progress.reads_all)
            .bind(progress.watching_since_ms)
            .bind(progress.floor_ms)
            .bind(i64::try_from(events.len()).unwrap_or(i64::MAX))
            .bind(now_ms)
            .execute(&mut *tx)
            .await?;
            Some(new.len())
        }))
    }

    /// Notes how a poll ended, and gives the lease back. `false`: the trigger is not this owner's any more.
    pub async fn end_trigger_poll(
        &self,
        trigger: &TriggerRow,
        end: TriggerPollEnd<'_>,
        owner: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE triggers SET state = $4, failures = $5, last_error = $6, next_poll_at_ms = $7, \
                 last_poll_at_ms = $8, cursor = CASE WHEN $9 THEN NULL ELSE cursor END, \
                 pages_read = CASE WHEN $9 THEN 0 ELSE pages_read END, reads_all = (reads_all OR $9), \
                 lease_owner = NULL, lease_until_ms = NULL \
                 WHERE workspace_id = $1 AND id = $2 AND lease_owner = $3 AND state <> 'paused'",
            )
            .bind(&trigger.workspace_id)
            .bind(&trigger.id)
            .bind(owner)
            .bind(end.state.into_str())
            .bind(end.failures)
            .bind(end.last_error)
            .bind(end.next_poll_at_ms)
            .bind(now_ms)
            .bind(end.begins_anew)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }
}

/// The events of the items that are new and have none yet, in their order.
fn events_of(items: &[FoundItem], new: &[String], told: &[String]) -> Vec<Event> {
    let new: HashSet<&String> = new.iter().collect();
    let told: HashSet<&String> = told.iter().collect();
    let unheard = |item: &&FoundItem| new.contains(&item.id) && !told.contains(&item.id);
    let events = items.iter().filter(unheard);
    events.filter_map(|item| item.event.clone()).collect()
}
