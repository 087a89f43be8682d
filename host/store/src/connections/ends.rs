//! Refresh tokens that end.
//!
//! Most are replaced with each renewal, and then their end moves. One whose end stays where it is can only be renewed
//! by its user.

use super::{Connection, LEASE_MS_MAX, RETRY_MS_MAX, connection_event};
use crate::columns::{columns, select};
use crate::events::emit;
use crate::{Event, EventType, Store, StoreError, portable};

/// A refresh token that ends between `$1` and `$2`, was not told of, and whose renewal was tried or has been due since
/// `$3`.
macro_rules! ending {
    () => {
        "refreshable AND state = 'active' AND refresh_expires_at_ms > $1 AND refresh_expires_at_ms <= $2 \
         AND (refresh_due_at_ms IS NULL OR refresh_due_at_ms <= $3) \
         AND (refresh_expiry_told_ms IS NULL OR refresh_expiry_told_ms <> refresh_expires_at_ms)"
    };
}

impl Store {
    /// Connections of all workspaces that are to be renewed so that their refresh token does not end, and may be now.
    pub async fn refresh_tokens_due(
        &self,
        now_ms: i64,
        limit: usize,
    ) -> Result<Vec<Connection>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                select!(
                    connections,
                    "WHERE refreshable AND refresh_due_at_ms <= $1 AND state IN ('active', 'cooling_down') \
                     AND (next_retry_at_ms IS NULL OR next_retry_at_ms <= $1 OR next_retry_at_ms > $1 + $3) \
                     AND (lease_until_ms IS NULL OR lease_until_ms <= $1 OR lease_until_ms > $1 + $4) \
                     ORDER BY refresh_due_at_ms, id LIMIT $2"
                ),
            )
            .bind(now_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .bind(RETRY_MS_MAX)
            .bind(LEASE_MS_MAX)
            .fetch_all(db)
            .await?
        }))
    }

    /// Emits `connection.expiring` for refresh tokens that end within `ahead_ms`: once for each end that no renewal has
    /// moved, though one was tried or has been due for `tried_ms`. At most `limit`.
    pub async fn emit_refresh_end_events(
        &self,
        ahead_ms: i64,
        tried_ms: i64,
        limit: usize,
        now_ms: i64,
    ) -> Result<usize, StoreError> {
        Ok(portable!(write self, tx => {
            let ending: Vec<Connection> = sqlx::query_as(
                concat!(
                    "UPDATE connections SET refresh_expiry_told_ms = refresh_expires_at_ms WHERE ",
                    ending!(),
                    " AND (workspace_id, id) IN (SELECT workspace_id, id FROM connections WHERE ",
                    ending!(),
                    " ORDER BY refresh_expires_at_ms LIMIT $4) RETURNING ",
                    columns!(connections)
                ),
            )
            .bind(now_ms)
            .bind(now_ms.saturating_add(ahead_ms))
            .bind(now_ms.saturating_sub(tried_ms))
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *tx)
            .await?;
            let events: Vec<Event> = ending
                .iter()
                .map(|row| connection_event(EventType::ConnectionExpiring, row, now_ms))
                .collect();
            if !events.is_empty() {
                emit!(tx, self, &events);
            }
            events.len()
        }))
    }
}
