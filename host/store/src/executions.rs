//! Executions: the receipt of each call, written in batches.

use super::batch::{Statement, statements};
use super::events::emit;
use super::page::one_more;
use super::payloads::insert_payloads;
use super::sessions::{tell_new_sessions, upsert_sessions};
use super::shared_text::{SqlText, read_rows};
use super::{Cursor, Event, EventType, Page, PayloadRow, SessionRow, Store, StoreError, portable};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::clock::rfc3339;
use toolgate_core::text::Text;

static UPSERT: Statement = Statement::new(
    "INSERT INTO executions (workspace_id, id, kind, tool_name, service, user_id, key_id, key_name, key_prefix, \
     session_id, connection_id, status, reason, started_at_ms, duration_ms, plugin_version, plugin_sha256, \
     requests, arguments, result) VALUES ",
    20,
    " ON CONFLICT (workspace_id, id) DO UPDATE SET status = excluded.status, reason = excluded.reason, \
     duration_ms = excluded.duration_ms, requests = excluded.requests, \
     connection_id = excluded.connection_id, result = excluded.result",
);

/// Receipts of calls.
const TOOL_KIND: &str = "tool";

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
    pub session_id: Text,
    pub connection_id: Option<Text>,
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
        session_id, status, plugin_version, plugin_sha256, requests;
    optional: connection_id, reason, arguments, result;
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
    /// Began at this moment or later.
    pub from_ms: Option<i64>,
    /// Began before this moment.
    pub before_ms: Option<i64>,
}

impl ExecutionFilter<'_> {
    /// Whether receipts that do not match may lie between those that do: their order is by time alone.
    fn skips(&self) -> bool {
        let texts = [
            self.kind.filter(|kind| *kind != TOOL_KIND),
            self.user_id,
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

/// What subscribers are told of a call that ran, without arguments and results.
fn told(row: &ExecutionRow) -> Option<Event> {
    if row.kind != TOOL_KIND {
        return None;
    }
    let kind = match row.status.as_str() {
        "success" => EventType::ToolExecuted,
        "error" => EventType::ToolFailed,
        _ => return None,
    };
    let data = json!({
        "execution_id": row.id,
        "tool_name": row.tool_name,
        "service": row.service,
        "user_id": row.user_id,
        "key": { "name": row.key_name, "prefix": row.key_prefix },
        "session_id": row.session_id,
        "connection_id": row.connection_id,
        "status": row.status,
        "reason": row.reason,
        "started_at": rfc3339(row.started_at_ms),
        "duration_ms": row.duration_ms,
    });
    let ended_ms = row.started_at_ms.saturating_add(row.duration_ms);
    Some(Event::new(kind, &row.workspace_id, ended_ms, data))
}

impl Store {
    /// Writes receipts, and the sessions they used, in one transaction. A receipt that is there
    /// already is replaced: a call may leave one when it begins and the whole one when it ends.
    /// Neither list may name a row twice.
    pub async fn record_executions(
        &self,
        executions: &[ExecutionRow],
        sessions: &[SessionRow],
    ) -> Result<(), StoreError> {
        portable!(write unnoticed self, tx => {
            // Most installations have nobody to tell.
            let somebody: Option<i64> =
                sqlx::query_scalar("SELECT CAST(1 AS BIGINT) FROM webhooks WHERE enabled LIMIT 1")
                    .fetch_optional(&mut *tx)
                    .await?;
            for sessions in statements(sessions) {
                if somebody.is_some() {
                    tell_new_sessions!(tx, self, sessions);
                }
                upsert_sessions!(tx, sessions);
            }
            for rows in statements(executions) {
                let mut insert = sqlx::query(UPSERT.text_for(&tx, rows.len()));
                for row in rows {
                    insert = insert
                        .bind(SqlText::from(&row.workspace_id))
                        .bind(SqlText::from(&row.id))
                        .bind(SqlText::from(&row.kind))
                        .bind(SqlText::from(&row.tool_name))
                        .bind(SqlText::from(&row.service))
                        .bind(SqlText::from(&row.user_id))
                        .bind(SqlText::from(&row.key_id))
                        .bind(SqlText::from(&row.key_name))
                        .bind(SqlText::from(&row.key_prefix))
                        .bind(SqlText::from(&row.session_id))
                        .bind(row.connection_id.as_ref().map(SqlText::from))
                        .bind(SqlText::from(&row.status))
                        .bind(row.reason.as_ref().map(SqlText::from))
                        .bind(row.started_at_ms)
                        .bind(row.duration_ms)
                        .bind(SqlText::from(&row.plugin_version))
                        .bind(SqlText::from(&row.plugin_sha256))
                        .bind(SqlText::from(&row.requests))
                        .bind(row.arguments.as_ref().map(SqlText::from))
                        .bind(row.result.as_ref().map(SqlText::from));
                }
                insert.execute(&mut *tx).await?;
            }
            insert_payloads!(tx, executions.iter().flat_map(|row| &row.payloads));
            if somebody.is_some() {
                let events: Vec<Event> = executions.iter().filter_map(told).collect();
                emit!(tx, self, &events);
            }
        });
        Ok(())
    }

    pub async fn find_execution(
        &self,
        workspace_id: &str,
        id: &str,
    ) -> Result<Option<ExecutionRow>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as("SELECT * FROM executions WHERE workspace_id = $1 AND id = $2")
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
        let (mut at_ms, mut id) = Cursor::bound(after);
        if let Some(before_ms) = filter.before_ms.filter(|before_ms| *before_ms <= at_ms) {
            (at_ms, id) = (before_ms, String::new());
        }
        let last = match filter.skips() {
            true => self.last_searched(workspace_id, (at_ms, &id)).await?,
            false => None,
        };
        let (last_ms, last_id) = last
            .as_ref()
            .map_or((i64::MIN, ""), |last| (last.at_ms, last.id.as_str()));
        let from_ms = filter.from_ms.unwrap_or(i64::MIN);
        let part = filter.tool_name_part.map(containing);
        let rows = portable!(read self, db => {
            sqlx::query_as(
                "SELECT workspace_id, id, kind, tool_name, service, user_id, key_id, key_name, key_prefix, session_id, connection_id, \
                 status, reason, started_at_ms, duration_ms, plugin_version, plugin_sha256, requests, \
                 CAST(NULL AS TEXT) AS arguments, CAST(NULL AS TEXT) AS result \
                 FROM executions WHERE workspace_id = $1 AND ($2 IS NULL OR user_id = $2) \
                 AND ($3 IS NULL OR tool_name = $3) AND ($4 IS NULL OR status = $4) \
                 AND (started_at_ms < $5 OR (started_at_ms = $5 AND id < $6)) \
                 AND ($8 IS NULL OR kind = $8) AND ($9 IS NULL OR service = $9) \
                 AND ($10 IS NULL OR key_prefix = $10) AND ($11 IS NULL OR reason = $11) \
                 AND ($12 IS NULL OR tool_name LIKE $12 ESCAPE '!') AND started_at_ms >= $13 \
                 AND started_at_ms >= $14 AND (started_at_ms > $14 OR id >= $15) \
                 ORDER BY started_at_ms DESC, id DESC LIMIT $7",
            )
            .bind(workspace_id)
            .bind(filter.user_id)
            .bind(filter.tool_name)
            .bind(filter.status)
            .bind(at_ms)
            .bind(&id)
            .bind(one_more(limit))
            .bind(filter.kind)
            .bind(filter.service)
            .bind(filter.key_prefix)
            .bind(filter.reason)
            .bind(&part)
            .bind(from_ms)
            .bind(last_ms)
            .bind(last_id)
            .fetch_all(db)
            .await?
        });
        let mut page = Page::cut(rows, limit, |row: &ExecutionRow| {
            (row.started_at_ms, &row.id)
        });
        if page.next.is_none() {
            page.next = last.filter(|last| last.at_ms >= from_ms);
        }
        Ok(page)
    }

    /// The last receipt that a search from here may look at; `None` where there are fewer.
    async fn last_searched(
        &self,
        workspace_id: &str,
        (at_ms, id): (i64, &str),
    ) -> Result<Option<Cursor>, StoreError> {
        let found: Option<(i64, String)> = portable!(read self, db => {
            sqlx::query_as(
                "SELECT started_at_ms, id FROM executions WHERE workspace_id = $1 \
                 AND (started_at_ms < $2 OR (started_at_ms = $2 AND id < $3)) \
                 ORDER BY started_at_ms DESC, id DESC LIMIT 1 OFFSET $4",
            )
            .bind(workspace_id)
            .bind(at_ms)
            .bind(id)
            .bind(i64::try_from(RECEIPTS_SEARCHED_MAX - 1).unwrap_or(i64::MAX))
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
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM executions WHERE workspace_id = $1 AND id IN (SELECT id FROM executions \
                 WHERE workspace_id = $1 AND started_at_ms < $2 ORDER BY started_at_ms, id LIMIT $3)",
            )
            .bind(workspace_id)
            .bind(before_ms)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await?
            .rows_affected()
        }))
    }
}
