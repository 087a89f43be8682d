//! Approvals: calls that a person has to allow first. One approval lets one call run once.

use serde_json::json;

use super::events::emit;
use super::page::one_more;
use super::text::words;
use super::{Cursor, Event, EventType, Page, Store, StoreError, portable};
use crate::clock::rfc3339;

words! {
    pub enum ApprovalState {
        Pending = "pending",
        Approved = "approved",
        Denied = "denied",
        /// The approved call has run.
        Used = "used",
        Expired = "expired",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Approval {
    pub workspace_id: String,
    pub id: String,
    pub user_id: String,
    pub tool_name: String,
    /// SHA-256 of the canonical arguments.
    pub arguments_hash: String,
    /// What the call would send, as a dry run shows it: a JSON array.
    pub requests: String,
    pub session_id: Option<String>,
    #[sqlx(try_from = "String")]
    pub state: ApprovalState,
    pub decided_by: Option<String>,
    pub decided_at_ms: Option<i64>,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
}

fn told(kind: EventType, approval: &Approval, at_ms: i64) -> Event {
    let data = json!({
        "approval_id": approval.id,
        "user_id": approval.user_id,
        "tool_name": approval.tool_name,
        "session_id": approval.session_id,
        "status": approval.state.as_str(),
        "decided_by": approval.decided_by,
        "expires_at": rfc3339(approval.expires_at_ms),
    });
    Event::new(kind, &approval.workspace_id, at_ms, data)
}

fn resolved(approvals: &[Approval], at_ms: i64) -> Vec<Event> {
    let told = |approval| told(EventType::ApprovalResolved, approval, at_ms);
    approvals.iter().map(told).collect()
}

impl Store {
    /// Asks for approval of a call, and answers the approval that now stands: the earlier one if
    /// the same call has asked before and it is still open.
    pub async fn open_approval(&self, asked: &Approval) -> Result<Approval, StoreError> {
        Ok(portable!(write self, tx => {
            let expired: Vec<Approval> = sqlx::query_as(
                "UPDATE approvals SET state = 'expired' WHERE workspace_id = $1 AND user_id = $2 AND tool_name = $3 \
                 AND arguments_hash = $4 AND state IN ('pending', 'approved') AND expires_at_ms <= $5 RETURNING *",
            )
            .bind(&asked.workspace_id)
            .bind(&asked.user_id)
            .bind(&asked.tool_name)
            .bind(&asked.arguments_hash)
            .bind(asked.created_at_ms)
            .fetch_all(&mut *tx)
            .await?;
            if !expired.is_empty() {
                emit!(tx, self, &resolved(&expired, asked.created_at_ms));
            }
            let done = sqlx::query(
                "INSERT INTO approvals (workspace_id, id, user_id, tool_name, arguments_hash, requests, session_id, \
                 state, created_at_ms, expires_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9) \
                 ON CONFLICT DO NOTHING",
            )
            .bind(&asked.workspace_id)
            .bind(&asked.id)
            .bind(&asked.user_id)
            .bind(&asked.tool_name)
            .bind(&asked.arguments_hash)
            .bind(&asked.requests)
            .bind(&asked.session_id)
            .bind(asked.created_at_ms)
            .bind(asked.expires_at_ms)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 1 {
                emit!(tx, self, &[told(EventType::ApprovalRequested, asked, asked.created_at_ms)]);
            }
            sqlx::query_as(
                "SELECT * FROM approvals WHERE workspace_id = $1 AND user_id = $2 AND tool_name = $3 \
                 AND arguments_hash = $4 AND state IN ('pending', 'approved')",
            )
            .bind(&asked.workspace_id)
            .bind(&asked.user_id)
            .bind(&asked.tool_name)
            .bind(&asked.arguments_hash)
            .fetch_one(&mut *tx)
            .await?
        }))
    }

    pub async fn find_approval(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<Approval>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as("SELECT * FROM approvals WHERE workspace_id = $1 AND id = $2")
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first, in one state or in all.
    pub async fn list_approvals(
        &self,
        workspace_id: &str,
        state: Option<ApprovalState>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<Approval>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let rows = portable!(read self, db => {
            sqlx::query_as(
                "SELECT * FROM approvals WHERE workspace_id = $1 AND ($2 IS NULL OR state = $2) \
                 AND (created_at_ms < $3 OR (created_at_ms = $3 AND id < $4)) \
                 ORDER BY created_at_ms DESC, id DESC LIMIT $5",
            )
            .bind(workspace_id)
            .bind(state.map(ApprovalState::as_str))
            .bind(at_ms)
            .bind(&id)
            .bind(one_more(limit))
            .fetch_all(db)
            .await?
        });
        Ok(Page::cut(rows, limit, |row: &Approval| {
            (row.created_at_ms, &row.id)
        }))
    }

    /// Decides a pending approval, once. `None`: it is not pending, has expired or is not there.
    pub async fn decide_approval(
        &self,
        workspace_id: &str,
        id: &str,
        approve: bool,
        decided_by: &str,
        now_ms: i64,
    ) -> Result<Option<Approval>, StoreError> {
        let state = if approve {
            ApprovalState::Approved
        } else {
            ApprovalState::Denied
        };
        Ok(portable!(write self, tx => {
            let decided: Option<Approval> = sqlx::query_as(
                "UPDATE approvals SET state = $3, decided_by = $4, decided_at_ms = $5 WHERE workspace_id = $1 \
                 AND id = $2 AND state = 'pending' AND expires_at_ms > $5 RETURNING *",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(state.as_str())
            .bind(decided_by)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            if let Some(approval) = &decided {
                emit!(tx, self, &[told(EventType::ApprovalResolved, approval, now_ms)]);
            }
            decided
        }))
    }

    /// Whether this very call has been denied and the question has not expired since.
    pub async fn is_denied(
        &self,
        workspace_id: &str,
        user_id: &str,
        tool_name: &str,
        arguments_hash: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let found: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT CAST(1 AS BIGINT) FROM approvals WHERE workspace_id = $1 AND user_id = $2 AND tool_name = $3 \
                 AND arguments_hash = $4 AND state = 'denied' AND expires_at_ms > $5 LIMIT 1",
            )
            .bind(workspace_id)
            .bind(user_id)
            .bind(tool_name)
            .bind(arguments_hash)
            .bind(now_ms)
            .fetch_optional(db)
            .await?
        });
        Ok(found.is_some())
    }

    /// Marks open approvals whose time is over, of one workspace or of all.
    pub async fn expire_approvals(
        &self,
        workspace_id: Option<&str>,
        now_ms: i64,
    ) -> Result<usize, StoreError> {
        Ok(portable!(write self, tx => {
            let expired: Vec<Approval> = sqlx::query_as(
                "UPDATE approvals SET state = 'expired' WHERE ($1 IS NULL OR workspace_id = $1) \
                 AND state IN ('pending', 'approved') AND expires_at_ms <= $2 RETURNING *",
            )
            .bind(workspace_id)
            .bind(now_ms)
            .fetch_all(&mut *tx)
            .await?;
            if !expired.is_empty() {
                emit!(tx, self, &resolved(&expired, now_ms));
            }
            expired.len()
        }))
    }

    /// Forgets a workspace's approvals that can no more be used and whose time was over before
    /// `before_ms`, at most `limit`; call again while it answers `limit`.
    pub async fn prune_approvals(
        &self,
        workspace_id: &str,
        before_ms: i64,
        limit: usize,
    ) -> Result<u64, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            // None ends before it was made, so the list's index finds the old ones. Said twice of
            // the state: one that is given back meanwhile stays.
            sqlx::query(
                "DELETE FROM approvals WHERE workspace_id = $1 AND state NOT IN ('pending', 'approved') \
                 AND id IN (SELECT id FROM approvals WHERE workspace_id = $1 AND created_at_ms < $2 \
                 AND expires_at_ms < $2 AND state NOT IN ('pending', 'approved') \
                 ORDER BY created_at_ms, id LIMIT $3)",
            )
            .bind(workspace_id)
            .bind(before_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }

    /// Gives back a run that was taken, unless the same call has been asked about anew meanwhile.
    pub async fn return_approval(&self, workspace_id: &str, id: &str) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE approvals SET state = 'approved' WHERE workspace_id = $1 AND id = $2 AND state = 'used' \
                 AND NOT EXISTS (SELECT 1 FROM approvals o WHERE o.workspace_id = approvals.workspace_id \
                 AND o.user_id = approvals.user_id AND o.tool_name = approvals.tool_name \
                 AND o.arguments_hash = approvals.arguments_hash AND o.state IN ('pending', 'approved'))",
            )
            .bind(workspace_id)
            .bind(id)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Takes an approved call's one run. `None`: no such approval stands.
    pub async fn use_approval(
        &self,
        workspace_id: &str,
        user_id: &str,
        tool_name: &str,
        arguments_hash: &str,
        now_ms: i64,
    ) -> Result<Option<Approval>, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query_as(
                "UPDATE approvals SET state = 'used' WHERE workspace_id = $1 AND user_id = $2 AND tool_name = $3 \
                 AND arguments_hash = $4 AND state = 'approved' AND expires_at_ms > $5 RETURNING *",
            )
            .bind(workspace_id)
            .bind(user_id)
            .bind(tool_name)
            .bind(arguments_hash)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }
}
