//! Approvals: calls that a person has to allow first. One approval lets one call run once.

use serde_json::json;

use super::events::emit;
use super::page::one_more;
use super::{Approvers, Cursor, Event, EventType, Page, Store, StoreError, Writer, portable};
use crate::columns::{columns, returning, select};
use toolgate_core::clock::rfc3339;
use toolgate_core::states::ApprovalStatus;

#[derive(Clone, Debug, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct ApprovalRow {
    pub workspace_id: String,
    pub id: String,
    pub user_id: String,
    pub tool_name: String,
    /// SHA-256 of everything that the question is bound to beside user and tool: asker, arguments,
    /// connection, plugin, approvers.
    pub arguments_hash: String,
    /// What the call would send, as a dry run shows it: a JSON array.
    pub requests: String,
    pub session_id: Option<String>,
    /// `key:<id>` or `member:<id>`.
    pub asker: String,
    pub asker_name: String,
    #[sqlx(try_from = "&'a str")]
    pub approvers: Approvers,
    /// What the call would run with.
    pub connection_id: Option<String>,
    pub account: Option<String>,
    pub plugin_version: String,
    pub plugin_sha256: String,
    /// The tool's title.
    pub title: String,
    /// For people, secrets hidden: a JSON value.
    pub arguments: String,
    /// What the run is held to: a JSON object of the gateway's.
    pub plan: String,
    /// The run that used it.
    pub execution_id: Option<String>,
    #[sqlx(try_from = "&'a str")]
    pub state: ApprovalStatus,
    pub decided_by: Option<String>,
    pub decided_at_ms: Option<i64>,
    pub created_at_ms: i64,
    pub expires_at_ms: i64,
}

/// What waits in one workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct PendingApprovals {
    pub count: i64,
    /// Of arguments and requests.
    pub bytes: i64,
}

/// Names a call: two with the same are one question.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalCall<'a> {
    pub workspace_id: &'a str,
    pub user_id: &'a str,
    pub tool_name: &'a str,
    pub hash: &'a str,
}

/// Which approvals a list holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct ApprovalFilter<'a> {
    pub state: Option<ApprovalStatus>,
    pub user_id: Option<&'a str>,
    /// Without those that admins alone decide.
    pub not_for_admins: bool,
}

/// A page behind `$2` and `$3`, without those of approvers `$4`.
macro_rules! page_of {
    ($filter:literal) => {
        concat!(
            select!(
                approvals,
                "WHERE workspace_id = $1 AND (created_at_ms, id) < ($2, $3) AND ($4 IS NULL OR approvers <> $4)"
            ),
            $filter,
            " ORDER BY created_at_ms DESC, id DESC LIMIT $5"
        )
    };
}

/// Marks what is open after `$1`.
macro_rules! expire {
    ($filter:literal) => {
        concat!(
            "UPDATE approvals SET state = 'expired' \
             WHERE state IN ('pending', 'approved') AND expires_at_ms <= $1",
            $filter,
            " RETURNING ",
            columns!(approvals)
        )
    };
}

fn approval_event(kind: EventType, approval: &ApprovalRow, at_ms: i64) -> Event {
    Event::new(kind, &approval.workspace_id, at_ms, about(approval))
}

/// `approval_url`: the page of the approval. It opens nothing by itself: its reader signs in.
fn requested(approval: &ApprovalRow, approval_url: &str, at_ms: i64) -> Event {
    let mut data = about(approval);
    data["approval_url"] = json!(approval_url);
    let kind = EventType::ApprovalRequested;
    Event::new(kind, &approval.workspace_id, at_ms, data)
}

fn about(approval: &ApprovalRow) -> serde_json::Value {
    json!({
        "approval_id": approval.id,
        "user_id": approval.user_id,
        "tool_name": approval.tool_name,
        "session_id": approval.session_id,
        "status": approval.state.into_str(),
        "decided_by": approval.decided_by,
        "expires_at": rfc3339(approval.expires_at_ms),
    })
}

fn resolved(approvals: &[ApprovalRow], at_ms: i64) -> Vec<Event> {
    let resolved = |approval| approval_event(EventType::ApprovalResolved, approval, at_ms);
    approvals.iter().map(resolved).collect()
}

impl Page<ApprovalRow> {
    /// The page up to the row with which its arguments and requests exceed `bytes_max`; never empty by that.
    pub fn within(mut self, bytes_max: usize) -> Self {
        let mut bytes = 0;
        let over = self.items.iter().position(|row| {
            bytes += row.arguments.len() + row.requests.len();
            bytes > bytes_max
        });
        if let Some(over) = over.filter(|over| over.max(&1) < &self.items.len()) {
            self.items.truncate(over.max(1));
            self.next = self.items.last().map(|last| Cursor {
                at_ms: last.created_at_ms,
                id: last.id.clone(),
            });
        }
        self
    }
}

impl Store {
    /// Asks for approval of a call, and answers the approval that is valid now: the earlier one if
    /// the same call has asked before and it is still open. `approval_url`: its page, for subscribers.
    pub async fn open_approval(
        &self,
        asked: &ApprovalRow,
        approval_url: &str,
    ) -> Result<ApprovalRow, StoreError> {
        Ok(portable!(write synced self, tx => {
            let expired: Vec<ApprovalRow> = sqlx::query_as(
                returning!(
                    approvals,
                    "UPDATE approvals SET state = 'expired' WHERE workspace_id = $1 AND user_id = $2 \
                     AND tool_name = $3 \
                     AND arguments_hash = $4 AND state IN ('pending', 'approved') AND expires_at_ms <= $5"
                ),
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
                 state, created_at_ms, expires_at_ms, asker, asker_name, approvers, connection_id, account, \
                 plugin_version, plugin_sha256, title, arguments, plan) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
                 $19) ON CONFLICT DO NOTHING",
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
            .bind(&asked.asker)
            .bind(&asked.asker_name)
            .bind(asked.approvers.into_str())
            .bind(&asked.connection_id)
            .bind(&asked.account)
            .bind(&asked.plugin_version)
            .bind(&asked.plugin_sha256)
            .bind(&asked.title)
            .bind(&asked.arguments)
            .bind(&asked.plan)
            .execute(&mut *tx)
            .await?;
            if done.rows_affected() == 1 {
                emit!(tx, self, &[requested(asked, approval_url, asked.created_at_ms)]);
            }
            sqlx::query_as(
                select!(
                    approvals,
                    "WHERE workspace_id = $1 AND user_id = $2 AND tool_name = $3 \
                     AND arguments_hash = $4 AND state IN ('pending', 'approved')"
                ),
            )
            .bind(&asked.workspace_id)
            .bind(&asked.user_id)
            .bind(&asked.tool_name)
            .bind(&asked.arguments_hash)
            .fetch_one(&mut *tx)
            .await?
        }))
    }

    /// How much waits for a decision.
    pub async fn pending_approvals(
        &self,
        workspace_id: &str,
    ) -> Result<PendingApprovals, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT COUNT(*) AS count, \
                 CAST(COALESCE(SUM(OCTET_LENGTH(arguments) + OCTET_LENGTH(requests)), 0) AS BIGINT) AS bytes \
                 FROM approvals WHERE workspace_id = $1 AND state = 'pending'",
            )
            .bind(workspace_id)
            .fetch_one(db)
            .await?
        }))
    }

    pub async fn find_approval(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(approvals, "WHERE workspace_id = $1 AND id = $2"))
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first.
    pub async fn list_approvals(
        &self,
        workspace_id: &str,
        filter: ApprovalFilter<'_>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<ApprovalRow>, StoreError> {
        let (at_ms, id) = Cursor::bound(after);
        let state = filter.state.map(|state| state.into_str());
        // Each index has the order of the list; a user has fewer rows than a state.
        let statement = match (filter.user_id, state) {
            (None, None) => page_of!(""),
            (None, Some(_)) => page_of!(" AND state = $6"),
            (Some(_), None) => page_of!(" AND user_id = $6"),
            (Some(_), Some(_)) => page_of!(" AND user_id = $6 AND COALESCE(state, '') = $7"),
        };
        let rows = portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(at_ms)
                .bind(&id)
                .bind(filter.not_for_admins.then_some(Approvers::Admins.into_str()))
                .bind(one_more(limit));
            for value in [filter.user_id, state].into_iter().flatten() {
                query = query.bind(value);
            }
            query.fetch_all(db).await?
        });
        Ok(Page::cut(rows, limit, |row: &ApprovalRow| {
            (row.created_at_ms, &row.id)
        }))
    }

    /// Whether this very call has been denied and the question has not expired since.
    pub async fn is_denied(&self, call: ApprovalCall<'_>, now_ms: i64) -> Result<bool, StoreError> {
        let found: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT CAST(1 AS BIGINT) FROM approvals WHERE workspace_id = $1 AND user_id = $2 AND tool_name = $3 \
                 AND arguments_hash = $4 AND state = 'denied' AND expires_at_ms > $5 LIMIT 1",
            )
            .bind(call.workspace_id)
            .bind(call.user_id)
            .bind(call.tool_name)
            .bind(call.hash)
            .bind(now_ms)
            .fetch_optional(db)
            .await?
        });
        Ok(found.is_some())
    }

    /// Whether an approval let this execution run.
    pub async fn was_run_with_approval(
        &self,
        workspace_id: &str,
        execution_id: &str,
    ) -> Result<bool, StoreError> {
        let found: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT CAST(1 AS BIGINT) FROM approvals WHERE workspace_id = $1 AND execution_id = $2 \
                 AND state = 'used' LIMIT 1",
            )
            .bind(workspace_id)
            .bind(execution_id)
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
        let statement = match workspace_id {
            None => expire!(""),
            Some(_) => expire!(" AND workspace_id = $2"),
        };
        Ok(portable!(write self, tx => {
            let mut query = sqlx::query_as(statement).bind(now_ms);
            if let Some(workspace_id) = workspace_id {
                query = query.bind(workspace_id);
            }
            let expired: Vec<ApprovalRow> = query.fetch_all(&mut *tx).await?;
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
            // the state: one that is given back meanwhile stays. Pairs: SQLite finds each by the
            // primary key, where it would read the workspace by the index of states.
            sqlx::query(
                "DELETE FROM approvals WHERE state NOT IN ('pending', 'approved') \
                 AND (workspace_id, id) IN (SELECT workspace_id, id FROM approvals WHERE workspace_id = $1 \
                 AND created_at_ms < $2 AND expires_at_ms < $2 AND state NOT IN ('pending', 'approved') \
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

    /// Gives back a run that was taken and from which nothing can have left, unless the same call has
    /// been asked about anew meanwhile.
    pub async fn return_approval(
        &self,
        workspace_id: &str,
        id: &str,
        execution_id: &str,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            sqlx::query(
                "UPDATE approvals SET state = 'approved', execution_id = NULL \
                 WHERE workspace_id = $1 AND id = $2 AND state = 'used' AND execution_id = $3 \
                 AND NOT EXISTS (SELECT 1 FROM approvals o WHERE o.workspace_id = approvals.workspace_id \
                 AND o.user_id = approvals.user_id AND o.tool_name = approvals.tool_name \
                 AND o.arguments_hash = approvals.arguments_hash AND o.state IN ('pending', 'approved'))",
            )
            .bind(workspace_id)
            .bind(id)
            .bind(execution_id)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Takes an approved call's one run for an execution. `None`: no such approval is valid.
    pub async fn use_approval(
        &self,
        call: ApprovalCall<'_>,
        execution_id: &str,
        now_ms: i64,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        Ok(portable!(write self, tx => {
            // Said twice of the state: SQLite takes the index of open approvals only where its own condition
            // is in the statement.
            sqlx::query_as(
                returning!(
                    approvals,
                    "UPDATE approvals SET state = 'used', execution_id = $6 WHERE workspace_id = $1 AND user_id = $2 \
                     AND tool_name = $3 AND arguments_hash = $4 AND state IN ('pending', 'approved') \
                     AND state = 'approved' AND expires_at_ms > $5"
                ),
            )
            .bind(call.workspace_id)
            .bind(call.user_id)
            .bind(call.tool_name)
            .bind(call.hash)
            .bind(now_ms)
            .bind(execution_id)
            .fetch_optional(&mut *tx)
            .await?
        }))
    }
}

impl Writer {
    /// Decides a pending approval, once. `None`: it is not pending, has expired or is not there.
    pub async fn decide_approval(
        &self,
        workspace_id: &str,
        id: &str,
        approve: bool,
        decided_by: &str,
        now_ms: i64,
    ) -> Result<Option<ApprovalRow>, StoreError> {
        let state = if approve {
            ApprovalStatus::Approved
        } else {
            ApprovalStatus::Denied
        };
        Ok(portable!(write self, tx => {
            let decided: Option<ApprovalRow> = sqlx::query_as(
                returning!(
                    approvals,
                    "UPDATE approvals SET state = $3, decided_by = $4, decided_at_ms = $5 WHERE workspace_id = $1 \
                     AND id = $2 AND state = 'pending' AND expires_at_ms > $5"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(state.into_str())
            .bind(decided_by)
            .bind(now_ms)
            .fetch_optional(&mut *tx)
            .await?;
            if let Some(approval) = &decided {
                emit!(tx, self, &[approval_event(EventType::ApprovalResolved, approval, now_ms)]);
            }
            decided
        }))
    }
}
