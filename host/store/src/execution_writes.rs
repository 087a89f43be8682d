//! Writing receipts in batches, with the sessions that they used and the events that they are.

use super::batch::{Statement, statements};
use super::events::emit;
use super::execution_contexts::{contexts, insert_contexts};
use super::executions::TOOL_KIND;
use super::idempotency::answer_request;
use super::operation::RunningOperation;
use super::payloads::insert_payloads;
use super::sessions::{session_created, tell_new_sessions, upsert_sessions};
use super::shared_text::SqlText;
use super::time_limits::OPERATION_WITHIN;
use super::{
    DatabaseKind, Db, Event, EventType, ExecutionRow, RequestAnswer, SessionRow, Store, StoreError,
    StoreStep, portable,
};
use serde_json::json;
use toolgate_core::clock::rfc3339;
use toolgate_core::ids;

static UPSERT: Statement = Statement::new(
    "INSERT INTO executions (workspace_id, id, kind, context, user_id, session_id, connection_id, status, reason, \
     started_at_ms, duration_ms, requests, arguments, result, parent_execution_id) VALUES ",
    15,
    " ON CONFLICT (workspace_id, id) DO UPDATE SET status = excluded.status, reason = excluded.reason, \
     duration_ms = excluded.duration_ms, requests = excluded.requests, session_id = excluded.session_id, \
     connection_id = excluded.connection_id, result = excluded.result",
);

/// A row where somebody may want the events of calls: an enabled webhook, or a log that is on.
const SOMEBODY: &str = "SELECT CAST(1 AS BIGINT) FROM webhooks WHERE enabled \
     UNION ALL SELECT CAST(1 AS BIGINT) FROM event_logs WHERE enabled LIMIT 1";

/// A receipt that was written before its call ended.
const RUNNING: &str = "running";

/// The event of a call that ran, without arguments and results.
fn execution_event(row: &ExecutionRow) -> Option<Event> {
    if row.kind != TOOL_KIND {
        return None;
    }
    let kind = match row.status.as_str() {
        "success" => EventType::ToolExecuted,
        "error" => EventType::ToolFailed,
        _ => return None,
    };
    let session_id = match &row.session_id {
        Some(named) => Some(named.to_string()),
        None => ids::session_of_execution(&row.id),
    };
    let data = json!({
        "execution_id": row.id,
        "tool_name": row.tool_name,
        "service": row.service,
        "user_id": row.user_id,
        "key": { "name": row.key_name, "prefix": row.key_prefix },
        "session_id": session_id,
        "connection_id": row.connection_id,
        "status": row.status,
        "reason": row.reason,
        "started_at": rfc3339(row.started_at_ms),
        "duration_ms": row.duration_ms,
    });
    let ended_ms = row.started_at_ms.saturating_add(row.duration_ms);
    Some(Event::new(kind, &row.workspace_id, ended_ms, data))
}

/// The event of the session that a call began by itself.
fn session_begun(row: &ExecutionRow) -> Option<Event> {
    if row.kind != TOOL_KIND || row.status == RUNNING || row.session_id.is_some() {
        return None;
    }
    let session_id = ids::session_of_execution(&row.id)?;
    Some(session_created(
        &row.workspace_id,
        &session_id,
        &row.user_id,
        row.started_at_ms,
    ))
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
        self.record_answered(executions, sessions, &[]).await
    }

    /// As [`Store::record_executions`], with the answers of requests that named a key.
    pub async fn record_answered(
        &self,
        executions: &[ExecutionRow],
        sessions: &[SessionRow],
        answers: &[RequestAnswer],
    ) -> Result<(), StoreError> {
        if let Db::Postgres(pool) = &self.db
            && executions.iter().all(|row| row.payloads.is_empty())
        {
            let recorded = super::execution_arrays::record(pool, executions, sessions, answers);
            let running =
                RunningOperation::begin(DatabaseKind::Postgres, StoreStep::Write, module_path!());
            let recorded = self.late.within(OPERATION_WITHIN, recorded).await;
            if running.end(&self.observers, recorded)? {
                return Ok(());
            }
        }
        let (context_ids, contexts) = contexts(executions);
        portable!(write unnoticed self, tx => {
            // Most installations have nobody to tell.
            let somebody: Option<i64> =
                sqlx::query_scalar(SOMEBODY).fetch_optional(&mut *tx).await?;
            for sessions in statements(sessions) {
                if somebody.is_some() {
                    tell_new_sessions!(tx, self, sessions);
                }
                upsert_sessions!(tx, sessions);
            }
            for contexts in statements(&contexts) {
                insert_contexts!(tx, contexts);
            }
            let mut context_ids = context_ids.iter();
            for rows in statements(executions) {
                let mut insert = sqlx::query(UPSERT.text_for(&tx, rows.len()));
                for (row, context) in rows.iter().zip(&mut context_ids) {
                    insert = insert
                        .bind(SqlText::from(&row.workspace_id))
                        .bind(SqlText::from(&row.id))
                        .bind(SqlText::from(&row.kind))
                        .bind(context.to_vec())
                        .bind(SqlText::from(&row.user_id))
                        .bind(row.session_id.as_ref().map(SqlText::from))
                        .bind(row.connection_id.as_ref().map(SqlText::from))
                        .bind(SqlText::from(&row.status))
                        .bind(row.reason.as_ref().map(SqlText::from))
                        .bind(row.started_at_ms)
                        .bind(row.duration_ms)
                        .bind(SqlText::from(&row.requests))
                        .bind(row.arguments.as_ref().map(SqlText::from))
                        .bind(row.result.as_ref().map(SqlText::from))
                        .bind(row.parent_execution_id.as_ref().map(SqlText::from));
                }
                insert.execute(&mut *tx).await?;
            }
            insert_payloads!(tx, executions.iter().flat_map(|row| &row.payloads));
            for answer in answers {
                answer_request!(&mut *tx, answer);
            }
            if somebody.is_some() {
                let begun = executions.iter().filter_map(session_begun);
                let events: Vec<Event> = begun.chain(executions.iter().filter_map(execution_event)).collect();
                emit!(tx, self, &events);
            }
        });
        Ok(())
    }
}
