//! Executions: reading the receipts of calls. [`super::execution_writes`] writes them.
//!
//! Ids of executions begin with the time of the call, so that lists and spans of time are ranges of the
//! primary key.

use super::page::one_more;
use super::shared_text::read_rows;
use super::{
    Cursor, DatabaseKind, Page, PayloadRow, SESSION_IDLE_MS, SessionRow, Store, StoreError,
    portable,
};
use serde::{Deserialize, Serialize};
use toolgate_core::clock::utc_day;
use toolgate_core::ids;
use toolgate_core::text::Text;

/// Receipts of calls.
pub(super) const TOOL_KIND: &str = "tool";
/// A receipt is begun within this time after its id was made.
const ID_AGE_MS: i64 = 60_000;
/// Sorts after every id.
const AFTER_ALL: &str = "~";

/// One receipt.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct ExecutionRow {
    pub workspace_id: Text,
    /// `exe_<ULID>`.
    pub id: Text,
    /// `tool`: a call; `connection`: what the gateway sent for a connection.
    pub kind: Text,
    /// For a connection what was done, such as `host:token_refresh`.
    pub tool_name: Text,
    pub service: Text,
    pub user_id: Text,
    /// The key that asked, and how people recognise it.
    pub key_id: Text,
    pub key_name: Text,
    pub key_prefix: Text,
    /// `None`: the call named none, and left nothing in the one of its id
    /// ([`ids::session_of_execution`]).
    pub session_id: Option<Text>,
    pub connection_id: Option<Text>,
    /// The run of a script whose call this was. Left out of the log where there is none, as by earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_execution_id: Option<Text>,
    /// As in the public answer: `success`, `error`, `auth_required`, ...
    pub status: Text,
    pub reason: Option<Text>,
    pub started_at_ms: i64,
    pub duration_ms: i64,
    pub plugin_version: Text,
    pub plugin_sha256: Text,
    /// JSON array of what left the process.
    pub requests: Text,
    /// Absent in receipts of this version.
    pub arguments: Option<Text>,
    /// JSON: what a failed call was answered; always absent in lists.
    pub result: Option<Text>,
    /// Bodies to be written with it; never read with it.
    #[serde(skip)]
    pub payloads: Vec<PayloadRow>,
}

read_rows!(ExecutionRow {
    texts: workspace_id, id, kind, tool_name, service, user_id, key_id, key_name, key_prefix,
        status, plugin_version, plugin_sha256, requests;
    optional: session_id, connection_id, parent_execution_id, reason, arguments, result;
    others: started_at_ms, duration_ms;
    absent: payloads,
});

/// Which receipts to list; `None` does not filter.
#[derive(Clone, Debug, Default)]
pub struct ExecutionFilter<'a> {
    pub kind: Option<&'a str>,
    pub user_id: Option<&'a str>,
    pub tool_name: Option<&'a str>,
    /// A part of the tool's name.
    pub tool_name_part: Option<&'a str>,
    pub service: Option<&'a str>,
    pub key_prefix: Option<&'a str>,
    pub status: Option<&'a str>,
    pub reason: Option<&'a str>,
    /// Calls of this run of a script. An index finds them, so that a page searches no others.
    pub parent: Option<&'a str>,
    /// Began at this moment or later.
    pub from_ms: Option<i64>,
    /// Began before this moment.
    pub before_ms: Option<i64>,
}

impl ExecutionFilter<'_> {
    /// Whether many receipts that do not match may lie between those that do: indexes serve the order of time, the
    /// user and the run of a script alone, and one run makes few calls.
    fn skips(&self) -> bool {
        if self.parent.is_some() {
            return false;
        }
        let texts = [
            self.kind.filter(|kind| *kind != TOOL_KIND),
            self.tool_name,
            self.tool_name_part,
            self.service,
            self.key_prefix,
            self.status,
            self.reason,
        ];
        texts.iter().any(Option::is_some)
    }
}

/// Receipts that one page of a filtered list looks at. A page may hold fewer than it could, and its cursor
/// leads on.
pub const RECEIPTS_SEARCHED_MAX: usize = 20_000;

/// Any text that has `part` in it, for `LIKE ... ESCAPE '!'`.
fn containing(part: &str) -> String {
    let escaped: String = part
        .chars()
        .flat_map(|c| match c {
            '%' | '_' | '!' => vec!['!', c],
            other => vec![other],
        })
        .collect();
    format!("%{escaped}%")
}

/// What a list reads of the receipts and of what they share. Its order is that of the ids.
macro_rules! list_of {
    ($index:literal, $user:literal) => {
        concat!(
            "SELECT e.workspace_id, e.id, e.kind, c.tool_name, c.service, e.user_id, c.key_id, c.key_name, c.key_prefix, \
             e.session_id, e.connection_id, e.parent_execution_id, e.status, e.reason, e.started_at_ms, e.duration_ms, \
             c.plugin_version, c.plugin_sha256, e.requests, CAST(NULL AS TEXT) AS arguments, CAST(NULL AS TEXT) AS result \
             FROM executions AS e",
            $index,
            " JOIN execution_contexts AS c ON c.workspace_id = e.workspace_id AND c.id = e.context \
             WHERE e.workspace_id = $1 AND e.id < $2 AND e.id >= $3 AND e.started_at_ms >= $5 AND e.started_at_ms < $6 \
             AND ($8 IS NULL OR c.tool_name = $8) AND ($9 IS NULL OR c.tool_name LIKE $9 ESCAPE '!') \
             AND ($10 IS NULL OR c.service = $10) AND ($11 IS NULL OR c.key_prefix = $11) \
             AND ($12 IS NULL OR e.status = $12) AND ($13 IS NULL OR e.reason = $13) \
             AND ($14 IS NULL OR e.kind = $14)",
            $user,
            " ORDER BY e.id DESC LIMIT $4"
        )
    };
}

/// The receipt that is so many after another.
macro_rules! last_searched_of {
    ($index:literal, $user:literal) => {
        concat!(
            "SELECT started_at_ms, id FROM executions WHERE workspace_id = $1 AND id = (SELECT id FROM executions",
            $index,
            " WHERE workspace_id = $1 AND id < $2",
            $user,
            " ORDER BY id DESC LIMIT 1 OFFSET $3)"
        )
    };
}

// Without statistics SQLite takes the primary key for the receipts of one user or run, and reads those of all.
impl ExecutionFilter<'_> {
    /// The statement that lists with this filter; a test asks both databases how they would run it.
    pub fn statement(&self, database: DatabaseKind) -> &'static str {
        if self.parent.is_some() {
            return match database {
                DatabaseKind::Postgres => list_of!(
                    "",
                    " AND ($7 IS NULL OR e.user_id = $7) AND e.parent_execution_id = $15"
                ),
                DatabaseKind::Sqlite => list_of!(
                    " INDEXED BY executions_of_parent",
                    " AND ($7 IS NULL OR e.user_id = $7) AND e.parent_execution_id = $15"
                ),
            };
        }
        match (self.user_id, database) {
            (None, _) => list_of!("", " AND ($7 IS NULL OR e.user_id = $7)"),
            (Some(_), DatabaseKind::Postgres) => list_of!("", " AND e.user_id = $7"),
            (Some(_), DatabaseKind::Sqlite) => {
                list_of!(" INDEXED BY executions_of_user", " AND e.user_id = $7")
            }
        }
    }

    /// The statement that finds where a search with this filter ends.
    pub fn last_searched(&self, database: DatabaseKind) -> &'static str {
        match (self.user_id, database) {
            (None, _) => last_searched_of!("", " AND ($4 IS NULL OR user_id = $4)"),
            (Some(_), DatabaseKind::Postgres) => last_searched_of!("", " AND user_id = $4"),
            (Some(_), DatabaseKind::Sqlite) => {
                last_searched_of!(" INDEXED BY executions_of_user", " AND user_id = $4")
            }
        }
    }
}

/// The least id of a receipt that began at `at_ms` or later.
pub(super) fn least_id(at_ms: i64) -> String {
    ids::ulid_floor("exe", at_ms.saturating_sub(ID_AGE_MS))
}

impl Store {
    pub async fn find_execution(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<ExecutionRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(
                "SELECT e.workspace_id, e.id, e.kind, c.tool_name, c.service, e.user_id, c.key_id, c.key_name, \
                 c.key_prefix, e.session_id, e.connection_id, e.parent_execution_id, e.status, e.reason, e.started_at_ms, \
                 e.duration_ms, c.plugin_version, c.plugin_sha256, e.requests, e.arguments, e.result \
                 FROM executions AS e JOIN execution_contexts AS c ON c.workspace_id = e.workspace_id AND c.id = e.context \
                 WHERE e.workspace_id = $1 AND e.id = $2",
            )
                .bind(workspace_id)
                .bind(id)
                .fetch_optional(db)
                .await?
        }))
    }

    /// Newest first, without arguments and results.
    pub async fn list_executions(
        &self,
        workspace_id: &str,
        filter: &ExecutionFilter<'_>,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page<ExecutionRow>, StoreError> {
        let statement = filter.statement(self.kind());
        let mut before = after.map_or(AFTER_ALL, |cursor| cursor.id.as_str());
        let begun_before = filter.before_ms.map(|at_ms| ids::ulid_floor("exe", at_ms));
        if let Some(begun_before) = &begun_before {
            before = before.min(begun_before);
        }
        let last = match filter.skips() {
            true => self.last_searched(workspace_id, filter, before).await?,
            false => None,
        };
        let mut least = last.as_ref().map_or("", |last| last.id.as_str());
        let begun_from = filter.from_ms.map_or_else(String::new, least_id);
        least = least.max(&begun_from);
        let part = filter.tool_name_part.map(containing);
        let rows = portable!(read self, db => {
            let mut query = sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(before)
                .bind(least)
                .bind(one_more(limit))
                .bind(filter.from_ms.unwrap_or(i64::MIN))
                .bind(filter.before_ms.unwrap_or(i64::MAX))
                .bind(filter.user_id)
                .bind(filter.tool_name)
                .bind(&part)
                .bind(filter.service)
                .bind(filter.key_prefix)
                .bind(filter.status)
                .bind(filter.reason)
                .bind(filter.kind);
            if let Some(parent) = filter.parent {
                query = query.bind(parent);
            }
            query.fetch_all(db).await?
        });
        let mut page = Page::cut(rows, limit, |row: &ExecutionRow| {
            (row.started_at_ms, &row.id)
        });
        if page.next.is_none() {
            page.next = last.filter(|last| last.id >= begun_from);
        }
        Ok(page)
    }

    /// The last receipt that a search from here may look at; `None` where there are fewer.
    async fn last_searched(
        &self,
        workspace_id: &str,
        filter: &ExecutionFilter<'_>,
        before: &str,
    ) -> Result<Option<Cursor>, StoreError> {
        let statement = filter.last_searched(self.kind());
        let found: Option<(i64, String)> = portable!(read self, db => {
            sqlx::query_as(statement)
                .bind(workspace_id)
                .bind(before)
                .bind(i64::try_from(RECEIPTS_SEARCHED_MAX - 1).unwrap_or(i64::MAX))
                .bind(filter.user_id)
                .fetch_optional(db)
                .await?
        });
        Ok(found.map(|(at_ms, id)| Cursor { at_ms, id }))
    }

    /// Marks receipts of calls that began before `before_ms` and have not ended.
    pub async fn interrupt_executions(&self, before_ms: i64) -> Result<u64, StoreError> {
        let waiting: Option<i64> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT CAST(1 AS BIGINT) FROM executions WHERE status = 'running' AND started_at_ms < $1 LIMIT 1",
            )
            .bind(before_ms)
            .fetch_optional(db)
            .await?
        });
        if waiting.is_none() {
            return Ok(0);
        }
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "UPDATE executions SET status = 'interrupted' WHERE status = 'running' AND started_at_ms < $1",
            )
            .bind(before_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }

    /// Deletes a workspace's receipts that began before `before_ms`, at most `limit` so that no
    /// writer waits long; call again while it answers `limit`.
    pub async fn prune_executions(
        &self,
        workspace_id: &str,
        before_ms: i64,
        limit: usize,
    ) -> Result<u64, StoreError> {
        let before = ids::ulid_floor("exe", before_ms);
        let most = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(portable!(write unnoticed self, tx => {
            let pruned = sqlx::query(
                "DELETE FROM executions WHERE workspace_id = $1 AND id IN (SELECT id FROM executions \
                 WHERE workspace_id = $1 AND id < $2 ORDER BY id LIMIT $3)",
            )
            .bind(workspace_id)
            .bind(&before)
            .bind(most)
            .execute(&mut *tx)
            .await?
            .rows_affected();
            if pruned < most.unsigned_abs() {
                // Receipts of the day itself may be left.
                sqlx::query("DELETE FROM execution_contexts WHERE workspace_id = $1 AND day < $2")
                    .bind(workspace_id)
                    .bind(utc_day(before_ms.saturating_sub(ID_AGE_MS)))
                    .execute(&mut *tx)
                    .await?;
            }
            pruned
        }))
    }

    /// The session that a call began without naming one, while nothing is in it and it is not idle for
    /// too long.
    pub async fn session_of_execution(
        &self,
        workspace_id: &str,
        session_id: &str,
        now_ms: i64,
    ) -> Result<Option<SessionRow>, StoreError> {
        let Some(execution_id) = ids::execution_of_session(session_id) else {
            return Ok(None);
        };
        let found: Option<(String, i64)> = portable!(read self, db => {
            sqlx::query_as(
                "SELECT user_id, started_at_ms FROM executions WHERE workspace_id = $1 AND id = $2 \
                 AND kind = 'tool' AND session_id IS NULL AND started_at_ms > $3",
            )
            .bind(workspace_id)
            .bind(&execution_id)
            .bind(now_ms - SESSION_IDLE_MS)
            .fetch_optional(db)
            .await?
        });
        Ok(found.map(|(user_id, started_at_ms)| SessionRow {
            workspace_id: workspace_id.into(),
            id: session_id.into(),
            user_id: user_id.as_str().into(),
            prompt: None,
            created_at_ms: started_at_ms,
            last_active_at_ms: started_at_ms,
        }))
    }
}
