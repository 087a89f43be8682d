//! The log of events that readers follow, in an order without gaps.
//!
//! A writer adds its events without a number ([`super::events`]), so that it waits for no other writer. A reader first
//! numbers what has been committed since, while it holds the row of the workspace's log. An event that is committed
//! later gets a later number, so no reader that has passed a number misses one below it.
//!
//! A log is off until it is read, and again when nobody has read it for a time. What was not written meanwhile counts as
//! dropped: a reader whose place is before that learns so.

use super::audit::ChangeOutcome;
use super::{Store, StoreError, portable};

/// Events that one transaction numbers.
const NUMBERED_AT_ONCE: i64 = 1_000;
/// How exactly the last read is kept: one write an hour.
const READ_NOTED_EVERY_MS: i64 = 60 * 60 * 1_000;

/// What a log holds: the numbers after `dropped_seq` up to `last_seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct LogBounds {
    pub last_seq: i64,
    pub dropped_seq: i64,
}

/// An event of the log.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct LoggedEvent {
    pub seq: i64,
    /// `evt_<ULID>`, as in deliveries.
    pub id: String,
    #[sqlx(rename = "type")]
    pub kind: String,
    pub user_id: Option<String>,
    /// The body of a delivery: `type`, `timestamp`, `data`.
    pub payload: String,
}

/// Which events of a log.
#[derive(Clone, Copy, Debug)]
pub struct LogRange<'a> {
    pub workspace_id: &'a str,
    /// Only those about this user.
    pub user_id: Option<&'a str>,
    pub after_seq: i64,
    pub until_seq: i64,
}

/// How long and how many events are kept.
#[derive(Clone, Copy, Debug)]
pub struct LogRetention {
    /// Older events are deleted.
    pub before_ms: i64,
    /// A log that was last read before this is switched off.
    pub unread_ms: i64,
    /// Events of one log.
    pub events_max: i64,
    /// Events that one call deletes.
    pub limit: i64,
}

#[derive(Clone, Copy, Debug, sqlx::FromRow)]
struct LogState {
    enabled: bool,
    last_seq: i64,
    dropped_seq: i64,
    read_at_ms: i64,
    /// Some event that has no number.
    waiting: Option<i64>,
}

/// Numbers events of a workspace whose log's row is locked, and answers how many.
macro_rules! number_events {
    ($tx:ident, $workspace_id:expr, $last_seq:expr) => {{
        let numbered = sqlx::query(
            "UPDATE logged_events SET seq = $2 + numbered.place FROM (SELECT written AS at_row, \
             ROW_NUMBER() OVER (ORDER BY written) AS place FROM logged_events \
             WHERE workspace_id = $1 AND seq IS NULL ORDER BY written LIMIT $3) AS numbered \
             WHERE logged_events.written = numbered.at_row",
        )
        .bind($workspace_id)
        .bind($last_seq)
        .bind(NUMBERED_AT_ONCE)
        .execute(&mut *$tx)
        .await?
        .rows_affected();
        let numbered = i64::try_from(numbered).unwrap_or(NUMBERED_AT_ONCE);
        if numbered > 0 {
            sqlx::query("UPDATE event_logs SET last_seq = last_seq + $2 WHERE workspace_id = $1")
                .bind($workspace_id)
                .bind(numbered)
                .execute(&mut *$tx)
                .await?;
        }
        numbered
    }};
}

/// What one transaction has numbered.
struct NumberedEvents {
    bounds: LogBounds,
    count: i64,
}

impl ChangeOutcome for NumberedEvents {
    fn is_change(&self) -> bool {
        self.count > 0
    }
}

impl Store {
    /// Changes after each commit of this process that logged events. Other processes log them unheard: look from time to
    /// time.
    pub fn logged_events(&self) -> tokio::sync::watch::Receiver<u64> {
        self.watch.logged.subscribe()
    }

    /// Switches the log on where it is off, numbers what has been committed by now, and says what there is.
    pub async fn open_event_log(
        &self,
        workspace_id: &str,
        now_ms: i64,
    ) -> Result<LogBounds, StoreError> {
        let state: Option<LogState> = portable!(read self, db => {
            sqlx::query_as(
                "SELECT enabled, last_seq, dropped_seq, read_at_ms, (SELECT written FROM logged_events \
                 WHERE workspace_id = $1 AND seq IS NULL LIMIT 1) AS waiting FROM event_logs WHERE workspace_id = $1",
            )
            .bind(workspace_id)
            .fetch_optional(db)
            .await?
        });
        if let Some(state) = state
            && state.enabled
            && state.waiting.is_none()
            && now_ms - state.read_at_ms < READ_NOTED_EVERY_MS
        {
            return Ok(LogBounds {
                last_seq: state.last_seq,
                dropped_seq: state.dropped_seq,
            });
        }
        loop {
            let numbered = self.number_logged_events(workspace_id, now_ms).await?;
            if numbered.count < NUMBERED_AT_ONCE {
                return Ok(numbered.bounds);
            }
        }
    }

    async fn number_logged_events(
        &self,
        workspace_id: &str,
        now_ms: i64,
    ) -> Result<NumberedEvents, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let mut bounds: LogBounds = sqlx::query_as(
                "INSERT INTO event_logs (workspace_id, enabled, last_seq, dropped_seq, read_at_ms) \
                 VALUES ($1, TRUE, 0, 0, $2) ON CONFLICT (workspace_id) \
                 DO UPDATE SET enabled = TRUE, read_at_ms = excluded.read_at_ms \
                 RETURNING last_seq, dropped_seq",
            )
            .bind(workspace_id)
            .bind(now_ms)
            .fetch_one(&mut *tx)
            .await?;
            let count = number_events!(tx, workspace_id, bounds.last_seq);
            bounds.last_seq += count;
            NumberedEvents { bounds, count }
        }))
    }

    /// Whether events of the workspace are logged: somebody reads them.
    pub async fn is_event_log_on(&self, workspace_id: &str) -> Result<bool, StoreError> {
        let enabled: Option<bool> = portable!(read self, db => {
            sqlx::query_scalar("SELECT enabled FROM event_logs WHERE workspace_id = $1")
                .bind(workspace_id)
                .fetch_optional(db)
                .await?
        });
        Ok(enabled.unwrap_or_default())
    }

    /// At most `limit` events of the range in the order of their numbers, and what of the log was deleted by then.
    pub async fn read_logged_events(
        &self,
        range: LogRange<'_>,
        limit: usize,
    ) -> Result<(Vec<LoggedEvent>, i64), StoreError> {
        // With two comparisons in place of BETWEEN, SQLite reads the events of all users.
        let statement = match range.user_id {
            None => {
                "SELECT seq, id, type, user_id, payload FROM logged_events \
                 WHERE workspace_id = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq LIMIT $4"
            }
            Some(_) => {
                "SELECT seq, id, type, user_id, payload FROM logged_events \
                 WHERE workspace_id = $1 AND user_id = $5 AND seq BETWEEN $2 AND $3 ORDER BY seq LIMIT $4"
            }
        };
        Ok(portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(range.workspace_id)
                .bind(range.after_seq.saturating_add(1))
                .bind(range.until_seq)
                .bind(i64::try_from(limit).unwrap_or(i64::MAX));
            if let Some(user_id) = range.user_id {
                query = query.bind(user_id);
            }
            let rows: Vec<LoggedEvent> = query.fetch_all(db).await?;
            // Asked afterwards: what was deleted between two statements is not taken for an event that was not there.
            let dropped: Option<i64> =
                sqlx::query_scalar("SELECT dropped_seq FROM event_logs WHERE workspace_id = $1")
                    .bind(range.workspace_id)
                    .fetch_optional(db)
                    .await?;
            (rows, dropped.unwrap_or_default())
        }))
    }

    /// The workspaces that have or had a log, in their order.
    pub async fn list_event_logs(&self) -> Result<Vec<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar("SELECT workspace_id FROM event_logs ORDER BY workspace_id")
                .fetch_all(db)
                .await?
        }))
    }

    /// Deletes events of one log that are past their time or too many, and switches off a log that nobody reads.
    /// `false`: call again, there is more to do.
    pub async fn purge_logged_events(
        &self,
        workspace_id: &str,
        retention: LogRetention,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            // A reader that numbers events meanwhile waits.
            let bounds: Option<LogBounds> = sqlx::query_as(
                "UPDATE event_logs SET last_seq = last_seq WHERE workspace_id = $1 RETURNING last_seq, dropped_seq",
            )
            .bind(workspace_id)
            .fetch_optional(&mut *tx)
            .await?;
            let Some(mut bounds) = bounds else { return Ok(true) };
            // What nobody has numbered grows old too.
            let numbered = number_events!(tx, workspace_id, bounds.last_seq);
            bounds.last_seq += numbered;
            if numbered < NUMBERED_AT_ONCE {
                // After everything has a number, so that nothing of it is left behind what was dropped.
                let off: Option<LogBounds> = sqlx::query_as(
                    "UPDATE event_logs SET enabled = FALSE, last_seq = last_seq + 1, dropped_seq = last_seq + 1 \
                     WHERE workspace_id = $1 AND enabled AND read_at_ms < $2 RETURNING last_seq, dropped_seq",
                )
                .bind(workspace_id)
                .bind(retention.unread_ms)
                .fetch_optional(&mut *tx)
                .await?;
                bounds = off.unwrap_or(bounds);
            }
            // Only a beginning of the log is deleted, so that what is left has no gap: from the first event on that is
            // young enough, all are kept.
            let first_kept: Option<i64> = sqlx::query_scalar(
                "SELECT seq FROM logged_events WHERE workspace_id = $1 AND seq > $2 AND created_at_ms >= $3 \
                 ORDER BY seq LIMIT 1",
            )
            .bind(workspace_id)
            .bind(bounds.dropped_seq)
            .bind(retention.before_ms)
            .fetch_optional(&mut *tx)
            .await?;
            let old_seq = first_kept.map_or(bounds.last_seq, |seq| seq - 1);
            let dropped_seq = old_seq
                .max(bounds.last_seq - retention.events_max)
                .max(bounds.dropped_seq);
            sqlx::query("UPDATE event_logs SET dropped_seq = $2 WHERE workspace_id = $1")
                .bind(workspace_id)
                .bind(dropped_seq)
                .execute(&mut *tx)
                .await?;
            let deleted = sqlx::query(
                "DELETE FROM logged_events WHERE written IN (SELECT written FROM logged_events \
                 WHERE workspace_id = $1 AND seq <= $2 ORDER BY seq LIMIT $3)",
            )
            .bind(workspace_id)
            .bind(dropped_seq)
            .bind(retention.limit)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            numbered < NUMBERED_AT_ONCE && i64::try_from(deleted).unwrap_or(i64::MAX) < retention.limit
        }))
    }
}
