//! Idempotency records: the outcome of a request that named an `Idempotency-Key`.
//!
//! A record is made before the work, marked before anything leaves the process, and answered after
//! it. One that is neither answered nor within its deadline belongs to a process that died: if
//! nothing had left, the request may simply run; else its outcome is unknown.

use super::{Store, StoreError, portable};
use toolgate_core::text::Text;

/// What answers a repetition of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestAnswer {
    pub workspace_id: Text,
    pub key: String,
    pub execution_id: String,
    /// JSON.
    pub answer: String,
}

/// Keeps an answer inside the open transaction.
macro_rules! answer_request {
    ($tx:expr, $answer:expr) => {
        sqlx::query(
            "UPDATE idempotency SET answer = $4 \
             WHERE workspace_id = $1 AND key = $2 AND execution_id = $3 AND answer IS NULL",
        )
        .bind($answer.workspace_id.as_str())
        .bind(&$answer.key)
        .bind(&$answer.execution_id)
        .bind(&$answer.answer)
        .execute($tx)
        .await?
    };
}
pub(super) use answer_request;

/// A request that is about to run.
#[derive(Clone, Debug)]
pub struct BeginRequest<'a> {
    pub workspace_id: &'a str,
    pub key: &'a str,
    /// SHA-256 over method, path and body.
    pub request_hash: &'a str,
    pub execution_id: &'a str,
    /// The longest that the request can take.
    pub deadline_ms: i64,
    pub expires_at_ms: i64,
    /// Run again even where the earlier outcome is unknown.
    pub retry_unknown: bool,
    pub now_ms: i64,
}

/// Whether the request may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeginOutcome {
    Run,
    /// The stored answer of the same request.
    Answered {
        execution_id: String,
        answer: String,
    },
    /// The key was used for another request.
    OtherRequest,
    Running {
        execution_id: String,
        deadline_ms: i64,
    },
    Unknown {
        execution_id: String,
    },
}

#[derive(sqlx::FromRow)]
struct IdempotencyRow {
    request_hash: String,
    execution_id: String,
    sent: bool,
    deadline_ms: i64,
    answer: Option<String>,
}

impl Store {
    /// Claims a key for a request, or says what prevents it.
    pub async fn begin_request(
        &self,
        request: &BeginRequest<'_>,
    ) -> Result<BeginOutcome, StoreError> {
        // A key that was never used, or whose time is over: one statement.
        let claimed = portable!(one self, db => {
            sqlx::query(
                "INSERT INTO idempotency (workspace_id, key, request_hash, execution_id, sent, deadline_ms, \
                 expires_at_ms) VALUES ($1, $2, $3, $4, FALSE, $5, $6) ON CONFLICT (workspace_id, key) DO UPDATE SET \
                 request_hash = excluded.request_hash, execution_id = excluded.execution_id, sent = FALSE, \
                 deadline_ms = excluded.deadline_ms, expires_at_ms = excluded.expires_at_ms, answer = NULL \
                 WHERE idempotency.expires_at_ms <= $7",
            )
            .bind(request.workspace_id)
            .bind(request.key)
            .bind(request.request_hash)
            .bind(request.execution_id)
            .bind(request.deadline_ms)
            .bind(request.expires_at_ms)
            .bind(request.now_ms)
            .execute(db)
            .await?
            .rows_affected() == 1
        });
        if claimed {
            return Ok(BeginOutcome::Run);
        }
        self.take_over(request).await
    }

    /// Claims a key that an earlier request has, if that one can no longer be answered.
    async fn take_over(&self, request: &BeginRequest<'_>) -> Result<BeginOutcome, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            let row: Option<IdempotencyRow> = sqlx::query_as(
                "SELECT request_hash, execution_id, sent, deadline_ms, answer FROM idempotency \
                 WHERE workspace_id = $1 AND key = $2",
            )
            .bind(request.workspace_id)
            .bind(request.key)
            .fetch_optional(&mut *tx)
            .await?;
            let Some(row) = row else {
                // Forgotten between the two statements: the caller tries again.
                let execution_id = request.execution_id.to_owned();
                return Ok(BeginOutcome::Running { execution_id, deadline_ms: request.now_ms });
            };
            if let Some(refusal) = standing_in_the_way(&row, request) {
                return Ok(refusal);
            }
            // Of two requests that take over a dead one, the second finds another id. One that is not dead
            // after all may have sent something, or have given up, since the row was read.
            let taken = sqlx::query(
                "UPDATE idempotency SET execution_id = $3, sent = FALSE, deadline_ms = $4 \
                 WHERE workspace_id = $1 AND key = $2 AND execution_id = $5 AND answer IS NULL AND sent = $6 \
                 AND deadline_ms = $7",
            )
            .bind(request.workspace_id)
            .bind(request.key)
            .bind(request.execution_id)
            .bind(request.deadline_ms)
            .bind(&row.execution_id)
            .bind(row.sent)
            .bind(row.deadline_ms)
            .execute(&mut *tx)
            .await?;
            if taken.rows_affected() == 0 {
                let IdempotencyRow { execution_id, deadline_ms, .. } = row;
                return Ok(BeginOutcome::Running { execution_id, deadline_ms });
            }
            BeginOutcome::Run
        }))
    }

    /// Notes, before the first write leaves, that from now on the outcome may be unknown. `false`:
    /// somebody else has taken the request over, and nothing may be sent.
    pub async fn mark_request_sent(
        &self,
        workspace_id: &str,
        key: &str,
        execution_id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(one self, db => {
            sqlx::query(
                "UPDATE idempotency SET sent = TRUE \
                 WHERE workspace_id = $1 AND key = $2 AND execution_id = $3 AND answer IS NULL",
            )
            .bind(workspace_id)
            .bind(key)
            .bind(execution_id)
            .execute(db)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Keeps the answer for a repetition of the request.
    pub async fn answer_request(&self, answer: &RequestAnswer) -> Result<bool, StoreError> {
        Ok(portable!(one self, db => answer_request!(db, answer).rows_affected() == 1))
    }

    /// Frees a key whose request did nothing (it was refused before it ran); one that was marked
    /// only with `even_if_sent`.
    pub async fn forget_request(
        &self,
        workspace_id: &str,
        key: &str,
        execution_id: &str,
        even_if_sent: bool,
    ) -> Result<bool, StoreError> {
        Ok(portable!(one self, db => {
            sqlx::query(
                "DELETE FROM idempotency WHERE workspace_id = $1 AND key = $2 AND execution_id = $3 \
                 AND answer IS NULL AND (NOT sent OR $4)",
            )
            .bind(workspace_id)
            .bind(key)
            .bind(execution_id)
            .bind(even_if_sent)
            .execute(db)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Ends the time of a marked request that will never be answered: from now on its outcome is
    /// unknown, not pending.
    pub async fn give_up_request(
        &self,
        workspace_id: &str,
        key: &str,
        execution_id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(one self, db => {
            sqlx::query(
                "UPDATE idempotency SET deadline_ms = 0 WHERE workspace_id = $1 AND key = $2 \
                 AND execution_id = $3 AND answer IS NULL AND sent",
            )
            .bind(workspace_id)
            .bind(key)
            .bind(execution_id)
            .execute(db)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Forgets a workspace's oldest answers until the rest is at most `bytes_max`; the newest one stays. Their requests
    /// stay claimed: their outcome is unknown from then on, so that no repetition does them again unasked. Answers
    /// how many requests of the workspace are known.
    pub async fn trim_answers(
        &self,
        workspace_id: &str,
        bytes_max: i64,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE idempotency SET answer = NULL, sent = TRUE, deadline_ms = 0 WHERE workspace_id = $1 \
                 AND key IN (SELECT key FROM (SELECT key, SUM(octet_length(answer)) OVER newest AS bytes, \
                 ROW_NUMBER() OVER newest AS place FROM idempotency WHERE workspace_id = $1 AND answer IS NOT NULL \
                 WINDOW newest AS (ORDER BY expires_at_ms DESC, key DESC)) ranked WHERE place > 1 AND bytes > $2)",
            )
            .bind(workspace_id)
            .bind(bytes_max)
            .execute(&mut *tx)
            .await?;
            let known: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM idempotency WHERE workspace_id = $1")
                .bind(workspace_id)
                .fetch_one(&mut *tx)
                .await?;
            known.unsigned_abs()
        }))
    }

    /// Deletes what is past its time.
    pub async fn purge_requests(&self, now_ms: i64) -> Result<u64, StoreError> {
        Ok(portable!(one self, db => {
            sqlx::query("DELETE FROM idempotency WHERE expires_at_ms <= $1")
                .bind(now_ms)
                .execute(db)
                .await?
                .rows_affected()
        }))
    }
}

/// Why a request must not run over an earlier one with its key; `None` where it may.
fn standing_in_the_way(row: &IdempotencyRow, request: &BeginRequest<'_>) -> Option<BeginOutcome> {
    if row.request_hash != request.request_hash {
        return Some(BeginOutcome::OtherRequest);
    }
    if let Some(answer) = &row.answer {
        return Some(BeginOutcome::Answered {
            execution_id: row.execution_id.clone(),
            answer: answer.clone(),
        });
    }
    let execution_id = row.execution_id.clone();
    if row.deadline_ms > request.now_ms {
        return Some(BeginOutcome::Running {
            execution_id,
            deadline_ms: row.deadline_ms,
        });
    }
    (row.sent && !request.retry_unknown).then_some(BeginOutcome::Unknown { execution_id })
}
