//! Deliveries: what is to be sent to which webhook, and its outcome.
//!
//! A sender takes the lease of a webhook, so that its deliveries go out one after the other,
//! across all processes that share the database. Each outcome is stored with the lease renewed; a
//! process that dies leaves at most the one delivery of each lease unsettled, and it is sent again.

use super::events::{Event, emit};
use super::page::one_more;
use super::{Cursor, DatabaseKind, Page, Store, StoreError, WebhookRow, portable};
use crate::columns::{columns, returning, select};
use toolgate_core::states::DeliveryStatus;

/// A delivery that failed this often lets later ones pass.
pub const BLOCKING_ATTEMPTS_MAX: i64 = 3;

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct DeliveryRecord {
    /// The order in which a webhook's deliveries were written.
    pub seq: i64,
    /// `dlv_<ULID>`.
    pub id: String,
    pub workspace_id: String,
    pub webhook_id: String,
    /// `evt_<ULID>`; the same for every endpoint and every attempt.
    pub event_id: String,
    #[sqlx(rename = "type")]
    pub kind: String,
    #[sqlx(try_from = "&'a str")]
    pub state: DeliveryStatus,
    pub attempts: i64,
    pub next_attempt_at_ms: i64,
    pub last_attempt_at_ms: Option<i64>,
    /// HTTP status of the last answer.
    pub response_status: Option<i64>,
    pub duration_ms: Option<i64>,
    pub last_error: Option<String>,
    pub created_at_ms: i64,
    /// Its first attempt does not wait until the webhook has rested: a person asked for it.
    pub at_once: bool,
    /// The execution that the event tells of.
    pub execution_id: Option<String>,
}

/// A delivery that is to be sent now.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct DueDelivery {
    pub seq: i64,
    pub event_id: String,
    pub attempts: i64,
    pub created_at_ms: i64,
    pub payload: String,
}

/// One attempt, as it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    pub at_ms: i64,
    pub duration_ms: i64,
    pub response_status: Option<i64>,
    pub error: Option<String>,
}

/// What follows from an attempt that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptFailed {
    /// When the delivery and its webhook are tried again. `None`: the delivery is given up.
    pub again_at_ms: Option<i64>,
    /// Until when the webhook rests.
    pub rest_until_ms: i64,
    /// Switches the webhook off for this reason, and tells of it.
    pub disable: Option<(&'static str, Event)>,
}

/// Whose lease, and until when.
#[derive(Clone, Copy, Debug)]
pub struct Lease<'a> {
    pub owner: &'a str,
    pub now_ms: i64,
    pub until_ms: i64,
}

/// A count of what waits stops here.
const PENDING_COUNTED_MAX: i64 = 100_000;

/// A delivery `d` whose time has come at `$now`. One that was tried last, or written, later than now has a
/// time of a clock that was ahead, which nobody waits for; a minute is what clocks of processes differ.
macro_rules! due {
    ($now:literal) => {
        concat!(
            "(d.next_attempt_at_ms <= ",
            $now,
            " OR COALESCE(d.last_attempt_at_ms, d.created_at_ms) - 60000 > ",
            $now,
            ")"
        )
    };
}

/// Whether a webhook `w` rests no more at `$now`. A rest that began later than now is of a clock that was ahead.
macro_rules! rested {
    ($now:literal) => {
        concat!(
            "(w.retry_at_ms IS NULL OR w.retry_at_ms <= ",
            $now,
            " OR w.rested_at_ms - 60000 > ",
            $now,
            ")"
        )
    };
}

/// What can be sent: an enabled webhook that is leased to nobody, and rests no more and has something to send, or has
/// something that does not wait for that. A lease that is longer than one can be is of a clock that was ahead.
macro_rules! ready {
    ($tail:literal) => {
        concat!(
            "SELECT w.id FROM webhooks w WHERE w.enabled \
             AND (w.lease_until_ms IS NULL OR w.lease_until_ms <= $1 OR w.lease_until_ms - 60000 > $1) \
             AND (EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.at_once \
             AND d.state = 'pending') OR (",
            rested!("$1"),
            " AND EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = w.id AND d.state = 'pending' AND ",
            due!("$1"),
            ")))",
            $tail
        )
    };
}

/// Of these, those that are within the share of their workspace: with what it has leased already, at most `$2`.
macro_rules! shared {
    () => {
        concat!(
            "SELECT c.id FROM (SELECT r.id, ROW_NUMBER() OVER (PARTITION BY r.workspace_id ORDER BY r.id) AS place, \
             (SELECT COUNT(*) FROM webhooks l WHERE l.workspace_id = r.workspace_id AND l.lease_owner = $3 \
             AND l.lease_until_ms > $1) AS leased FROM webhooks r WHERE r.id IN (",
            ready!(""),
            ")) c WHERE c.place + c.leased <= $2 ORDER BY c.leased, c.place, c.id LIMIT $4"
        )
    };
}

impl Store {
    /// Returns once this process has written something to deliver since the last call. Others do
    /// so unheard: look from time to time.
    pub async fn outbox_written(&self) {
        self.watch.outbox.notified().await;
    }

    /// How many deliveries wait in all workspaces, 100,000 at most.
    pub async fn count_pending_deliveries(&self) -> Result<usize, StoreError> {
        let pending: i64 = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT COUNT(*) FROM (SELECT 1 FROM webhook_deliveries WHERE state = 'pending' LIMIT $1) waiting",
            )
            .bind(PENDING_COUNTED_MAX)
            .fetch_one(db)
            .await?
        });
        Ok(usize::try_from(pending).unwrap_or_default())
    }

    /// Leases at most `limit` webhooks that have something to send and that nobody else serves; of one workspace so many
    /// that its owner serves at most `share` of it.
    pub async fn lease_webhooks(
        &self,
        lease: Lease<'_>,
        limit: usize,
        share: usize,
    ) -> Result<Vec<WebhookRow>, StoreError> {
        let share = i64::try_from(share).unwrap_or(i64::MAX);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // Looking first spares SQLite a write for nothing.
        let ready: Vec<String> = portable!(read self, db => {
            sqlx::query_scalar(shared!())
                .bind(lease.now_ms)
                .bind(share)
                .bind(lease.owner)
                .bind(limit)
                .fetch_all(db)
                .await?
        });
        let mut leased = Vec::with_capacity(ready.len());
        for id in ready {
            leased.extend(self.lease_webhook(&id, lease).await?);
        }
        Ok(leased)
    }

    /// Leases one webhook, if it is still ready.
    async fn lease_webhook(
        &self,
        id: &str,
        lease: Lease<'_>,
    ) -> Result<Option<WebhookRow>, StoreError> {
        let statement = match self.kind() {
            DatabaseKind::Sqlite => concat!(
                "UPDATE webhooks SET lease_owner = $3, lease_until_ms = $4 WHERE id IN (",
                ready!(" AND w.id = $2"),
                ") RETURNING ",
                columns!(webhooks)
            ),
            // Looked for once: a plan that looks again would lock more than it was asked for.
            DatabaseKind::Postgres => concat!(
                "WITH ready (ready_id) AS MATERIALIZED (",
                ready!(" AND w.id = $2 FOR UPDATE SKIP LOCKED"),
                ") UPDATE webhooks SET lease_owner = $3, lease_until_ms = $4 FROM ready \
                 WHERE webhooks.id = ready_id RETURNING ",
                columns!(webhooks)
            ),
        };
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query_as(statement)
                .bind(lease.now_ms)
                .bind(id)
                .bind(lease.owner)
                .bind(lease.until_ms)
                .fetch_optional(&mut *tx)
                .await?
        }))
    }

    /// Holds a lease on. `None`: the webhook is not this owner's any more, switched off or gone.
    pub async fn renew_webhook_lease(
        &self,
        id: &str,
        lease: Lease<'_>,
    ) -> Result<Option<WebhookRow>, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query_as(
                returning!(
                    webhooks,
                    "UPDATE webhooks SET lease_until_ms = $3 WHERE id = $1 AND lease_owner = $2 AND enabled"
                ),
            )
            .bind(id)
            .bind(lease.owner)
            .bind(lease.until_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }

    /// Gives a lease back.
    pub async fn release_webhook(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE webhooks SET lease_owner = NULL, lease_until_ms = NULL WHERE id = $1 AND lease_owner = $2",
            )
            .bind(id)
            .bind(owner)
            .execute(&mut *tx)
            .await?;
        });
        Ok(())
    }

    /// What a webhook is to be sent next, in order: first what waits for nothing, then, unless the webhook rests, what has
    /// not failed often, then the others.
    pub async fn due_deliveries(
        &self,
        webhook_id: &str,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<DueDelivery>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(portable!(read self, db => {
            let at_once: Vec<DueDelivery> = sqlx::query_as(
                "SELECT d.seq, d.event_id, d.attempts, d.created_at_ms, e.payload FROM webhook_deliveries d \
                 JOIN webhook_events e ON e.id = d.event_id WHERE d.webhook_id = $1 AND d.at_once \
                 AND d.state = 'pending' ORDER BY d.seq LIMIT $2",
            )
            .bind(webhook_id)
            .bind(limit)
            .fetch_all(db)
            .await?;
            if !at_once.is_empty() {
                return Ok(at_once);
            }
            let rested: Option<i64> = sqlx::query_scalar(concat!(
                "SELECT CAST(1 AS BIGINT) FROM webhooks w WHERE w.id = $1 AND ",
                rested!("$2")
            ))
            .bind(webhook_id)
            .bind(now_ms)
            .fetch_optional(db)
            .await?;
            if rested.is_none() {
                return Ok(Vec::new());
            }
            let fresh: Vec<DueDelivery> = sqlx::query_as(
                "SELECT d.seq, d.event_id, d.attempts, d.created_at_ms, e.payload FROM webhook_deliveries d \
                 JOIN webhook_events e ON e.id = d.event_id WHERE d.webhook_id = $1 AND d.state = 'pending' \
                 AND d.attempts < $2 ORDER BY d.seq LIMIT $3",
            )
            .bind(webhook_id)
            .bind(BLOCKING_ATTEMPTS_MAX)
            .bind(limit)
            .fetch_all(db)
            .await?;
            if !fresh.is_empty() {
                return Ok(fresh);
            }
            sqlx::query_as(concat!(
                "SELECT d.seq, d.event_id, d.attempts, d.created_at_ms, e.payload FROM webhook_deliveries d \
                 JOIN webhook_events e ON e.id = d.event_id WHERE d.webhook_id = $1 AND d.state = 'pending' AND ",
                due!("$2"),
                " ORDER BY d.seq LIMIT $3"
            ))
            .bind(webhook_id)
            .bind(now_ms)
            .bind(limit)
            .fetch_all(db)
            .await?
        }))
    }

    /// Settles a delivery that arrived and holds the lease on. `false`: the webhook is not this
    /// owner's any more, switched off or gone, and nothing more is to be sent.
    pub async fn delivery_arrived(
        &self,
        webhook_id: &str,
        seq: i64,
        attempt: &DeliveryAttempt,
        lease: Lease<'_>,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE webhook_deliveries SET state = 'delivered', attempts = attempts + 1, last_attempt_at_ms = $2, \
                 duration_ms = $3, response_status = $4, last_error = NULL, at_once = FALSE WHERE seq = $1",
            )
            .bind(seq)
            .bind(attempt.at_ms)
            .bind(attempt.duration_ms)
            .bind(attempt.response_status)
            .execute(&mut *tx)
            .await?;
            sqlx::query(
                "UPDATE webhooks SET lease_until_ms = $3, failures = 0, failing_since_ms = NULL, retry_at_ms = NULL \
                 WHERE id = $1 AND lease_owner = $2 AND enabled",
            )
            .bind(webhook_id)
            .bind(lease.owner)
            .bind(lease.until_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Notes an attempt that failed with what follows from it, and gives the lease back. A rest that has begun is neither
    /// longer nor shorter by a delivery that did not wait for its end.
    pub async fn delivery_failed(
        &self,
        webhook_id: &str,
        seq: i64,
        attempt: &DeliveryAttempt,
        failed: &AttemptFailed,
        owner: &str,
    ) -> Result<(), StoreError> {
        let state = match failed.again_at_ms {
            Some(_) => DeliveryStatus::Pending,
            None => DeliveryStatus::Failed,
        };
        let (reason, event) = match &failed.disable {
            Some((reason, event)) => (Some(*reason), std::slice::from_ref(event)),
            None => (None, &[][..]),
        };
        portable!(write unnoticed self, tx => {
            // One that is settled meanwhile does not go out at once either.
            sqlx::query("UPDATE webhook_deliveries SET at_once = FALSE WHERE seq = $1 AND at_once")
                .bind(seq)
                .execute(&mut *tx)
                .await?;
            sqlx::query(
                "UPDATE webhook_deliveries SET state = $2, attempts = attempts + 1, \
                 next_attempt_at_ms = COALESCE($3, next_attempt_at_ms), last_attempt_at_ms = $4, duration_ms = $5, \
                 response_status = $6, last_error = $7 WHERE seq = $1 AND state = 'pending'",
            )
            .bind(seq)
            .bind(state.into_str())
            .bind(failed.again_at_ms)
            .bind(attempt.at_ms)
            .bind(attempt.duration_ms)
            .bind(attempt.response_status)
            .bind(&attempt.error)
            .execute(&mut *tx)
            .await?;
            let disabled = sqlx::query(concat!(
                "UPDATE webhooks AS w SET failures = CASE WHEN ",
                rested!("$3"),
                " THEN failures + 1 ELSE failures END, retry_at_ms = CASE WHEN ",
                rested!("$3"),
                " THEN $4 ELSE retry_at_ms END, rested_at_ms = CASE WHEN ",
                rested!("$3"),
                " THEN $3 ELSE rested_at_ms END, failing_since_ms = COALESCE(failing_since_ms, $3), \
                 lease_owner = NULL, lease_until_ms = NULL, \
                 enabled = CASE WHEN $5 IS NULL THEN enabled ELSE $6 END, \
                 disabled_reason = COALESCE($5, disabled_reason), \
                 disabled_at_ms = CASE WHEN $5 IS NULL THEN disabled_at_ms ELSE $3 END \
                 WHERE id = $1 AND lease_owner = $2 AND enabled"
            ))
            .bind(webhook_id)
            .bind(owner)
            .bind(attempt.at_ms)
            .bind(failed.rest_until_ms)
            .bind(reason)
            .bind(false)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1;
            if disabled && reason.is_some() {
                emit!(tx, self, event);
            }
        });
        Ok(())
    }

    /// Newest first, in one state or in all.
    pub async fn list_deliveries(
        &self,
        workspace_id: &str,
        webhook_id: &str,
        state: Option<DeliveryStatus>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<DeliveryRecord>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let rows = portable!(read self, db => {
            sqlx::query_as(
                select!(
                    webhook_deliveries,
                    "WHERE workspace_id = $1 AND webhook_id = $2 \
                     AND ($3 IS NULL OR state = $3) AND (created_at_ms < $4 OR (created_at_ms = $4 AND id < $5)) \
                     ORDER BY created_at_ms DESC, id DESC LIMIT $6"
                ),
            )
            .bind(workspace_id)
            .bind(webhook_id)
            .bind(state.map(|state| state.into_str()))
            .bind(at_ms)
            .bind(&id)
            .bind(one_more(limit))
            .fetch_all(db)
            .await?
        });
        Ok(Page::cut(rows, limit, |row: &DeliveryRecord| {
            (row.created_at_ms, &row.id)
        }))
    }

    /// Forgets settled deliveries from before `settled_ms` and waiting ones from before
    /// `waiting_ms`, at most `limit` of each, and events that nobody waits for.
    pub async fn purge_deliveries(
        &self,
        settled_ms: i64,
        waiting_ms: i64,
        limit: usize,
    ) -> Result<u64, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(portable!(write unnoticed self, tx => {
            let gone = sqlx::query(
                "DELETE FROM webhook_deliveries WHERE seq IN (SELECT seq FROM webhook_deliveries \
                 WHERE created_at_ms < $1 AND (state <> 'pending' OR created_at_ms < $2) \
                 ORDER BY created_at_ms LIMIT $3)",
            )
            .bind(settled_ms)
            .bind(waiting_ms)
            .bind(limit)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            sqlx::query(
                "DELETE FROM webhook_events WHERE id IN (SELECT e.id FROM webhook_events e WHERE e.created_at_ms < $1 \
                 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = e.id) \
                 ORDER BY e.created_at_ms LIMIT $2)",
            )
            .bind(settled_ms)
            .bind(limit)
            .execute(&mut *tx)
            .await?;
            gone
        }))
    }
}
