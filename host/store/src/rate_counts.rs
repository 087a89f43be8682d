//! Counts of requests that processes share, so that a limit holds across all of them. A process
//! counts in memory and adds up here from time to time, not once a request.

use super::{Store, StoreError, portable};

/// Requests of one subject (`key:<id>`, `workspace:<id>`) in one window.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct RateCount {
    pub subject: String,
    /// Length of the window: a minute or a day.
    pub span_ms: i64,
    pub starts_at_ms: i64,
    pub used: i64,
}

impl Store {
    /// Adds each `used`, and answers the sums of all processes in the same order.
    pub async fn add_rate_counts(&self, added: &[RateCount]) -> Result<Vec<RateCount>, StoreError> {
        // Always in one order, or two processes with the same rows wait for each other.
        let mut order: Vec<usize> = (0..added.len()).collect();
        order.sort_by_key(|&at| {
            (
                &added[at].subject,
                added[at].span_ms,
                added[at].starts_at_ms,
            )
        });
        let mut sums = added.to_vec();
        portable!(write unnoticed self, tx => {
            for &at in &order {
                let count = &added[at];
                sums[at].used = sqlx::query_scalar(
                    "INSERT INTO rate_counts (subject, span_ms, starts_at_ms, used) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (subject, span_ms, starts_at_ms) \
                     DO UPDATE SET used = rate_counts.used + excluded.used RETURNING used",
                )
                .bind(&count.subject)
                .bind(count.span_ms)
                .bind(count.starts_at_ms)
                .bind(count.used)
                .fetch_one(&mut *tx)
                .await?;
            }
        });
        Ok(sums)
    }

    /// Deletes windows that are over.
    pub async fn purge_rate_counts(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM rate_counts WHERE starts_at_ms + span_ms <= $1")
                .bind(now_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}
