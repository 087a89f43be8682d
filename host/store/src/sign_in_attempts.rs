//! How often somebody has tried a password in vain, and until when they have to wait.

use super::{Store, StoreError, portable};

/// Whether an attempt may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptDecision {
    /// It is counted as failed until it is forgiven.
    Counted,
    Blocked {
        until_ms: i64,
    },
}

/// How the wait grows: none for the first ten failures, then twice as long each time, to a quarter
/// of an hour.
macro_rules! wait_after {
    ($failures:literal) => {
        concat!(
            "CASE WHEN ",
            $failures,
            " < 10 THEN 0 WHEN ",
            $failures,
            " = 10 THEN 2000 WHEN ",
            $failures,
            " = 11 THEN 4000 WHEN ",
            $failures,
            " = 12 THEN 8000 WHEN ",
            $failures,
            " = 13 THEN 16000 WHEN ",
            $failures,
            " = 14 THEN 32000 WHEN ",
            $failures,
            " = 15 THEN 64000 WHEN ",
            $failures,
            " = 16 THEN 128000 WHEN ",
            $failures,
            " = 17 THEN 256000 WHEN ",
            $failures,
            " = 18 THEN 512000 ELSE 900000 END"
        )
    };
}

impl Store {
    /// Counts an attempt before it is looked at, so that attempts side by side do not slip through.
    /// Failures before `forgotten_ms` count no more.
    pub async fn count_sign_in_attempt(
        &self,
        subject: &str,
        now_ms: i64,
        forgotten_ms: i64,
    ) -> Result<AttemptDecision, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let counted: Option<i64> = sqlx::query_scalar(concat!(
                "INSERT INTO sign_in_attempts (subject, failures, blocked_until_ms, last_at_ms) \
                 VALUES ($1, 1, 0, $2) ON CONFLICT (subject) DO UPDATE SET \
                 blocked_until_ms = CASE WHEN sign_in_attempts.last_at_ms <= $3 THEN 0 ELSE $2 + ",
                wait_after!("sign_in_attempts.failures + 1"),
                " END, failures = CASE WHEN sign_in_attempts.last_at_ms <= $3 THEN 1 \
                 ELSE sign_in_attempts.failures + 1 END, last_at_ms = $2 \
                 WHERE sign_in_attempts.blocked_until_ms <= $2 RETURNING failures",
            ))
            .bind(subject)
            .bind(now_ms)
            .bind(forgotten_ms)
            .fetch_optional(&mut *tx)
            .await?;
            // A `return` here would leave without the commit.
            if counted.is_some() {
                AttemptDecision::Counted
            } else {
                let until_ms: Option<i64> = sqlx::query_scalar(
                    "SELECT blocked_until_ms FROM sign_in_attempts WHERE subject = $1",
                )
                .bind(subject)
                .fetch_optional(&mut *tx)
                .await?;
                AttemptDecision::Blocked { until_ms: until_ms.unwrap_or(now_ms) }
            }
        }))
    }

    /// Forgets the failures of who has signed in.
    pub async fn forgive_sign_in_attempts(&self, subject: &str) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM sign_in_attempts WHERE subject = $1")
                .bind(subject)
                .execute(&mut *tx)
                .await?;
        });
        Ok(())
    }

    /// Deletes what counts no more.
    pub async fn purge_sign_in_attempts(&self, forgotten_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query("DELETE FROM sign_in_attempts WHERE last_at_ms <= $1")
                .bind(forgotten_ms)
                .execute(&mut *tx)
                .await?
                .rows_affected()
        }))
    }
}
