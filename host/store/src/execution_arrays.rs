//! Receipts in one round trip to PostgreSQL: one statement whose values are arrays.

use sqlx::PgPool;

use super::execution_contexts::contexts;
use super::{ExecutionRow, RequestAnswer, SessionRow, StoreError};
use toolgate_core::clock::utc_day;
use toolgate_core::text::Text;

/// Where a webhook is enabled or a log of events is on, nothing is written: its events need a transaction. Each part lists its
/// values in the order of its columns.
const RECORD: &str = "\
    WITH quiet AS MATERIALIZED (SELECT NOT EXISTS (SELECT 1 FROM webhooks WHERE enabled) \
    AND NOT EXISTS (SELECT 1 FROM event_logs WHERE enabled) AS so), \
    contexts AS (INSERT INTO execution_contexts \
    (workspace_id, id, day, tool_name, service, key_id, key_name, key_prefix, plugin_version, plugin_sha256) \
    SELECT given.* FROM UNNEST($1::TEXT[], $2::BYTEA[], $3::BIGINT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], \
    $7::TEXT[], $8::TEXT[], $9::TEXT[], $10::TEXT[]) AS given, quiet WHERE quiet.so \
    ON CONFLICT (workspace_id, id) DO NOTHING), \
    used AS (INSERT INTO sessions (workspace_id, id, user_id, prompt, created_at_ms, last_active_at_ms) \
    SELECT given.* FROM UNNEST($11::TEXT[], $12::TEXT[], $13::TEXT[], $14::TEXT[], $15::BIGINT[], $16::BIGINT[]) \
    AS given, quiet WHERE quiet.so \
    ON CONFLICT (workspace_id, id) DO UPDATE SET \
    last_active_at_ms = GREATEST(excluded.last_active_at_ms, sessions.last_active_at_ms)), \
    kept AS (INSERT INTO executions (workspace_id, id, kind, context, user_id, session_id, connection_id, status, \
    reason, started_at_ms, duration_ms, requests, arguments, result, parent_execution_id) \
    SELECT given.* FROM UNNEST($17::TEXT[], $18::TEXT[], $19::TEXT[], $20::BYTEA[], $21::TEXT[], $22::TEXT[], \
    $23::TEXT[], $24::TEXT[], $25::TEXT[], $26::BIGINT[], $27::BIGINT[], $28::TEXT[], $29::TEXT[], $30::TEXT[], \
    $31::TEXT[]) \
    AS given, quiet WHERE quiet.so \
    ON CONFLICT (workspace_id, id) DO UPDATE SET status = excluded.status, reason = excluded.reason, \
    duration_ms = excluded.duration_ms, requests = excluded.requests, session_id = excluded.session_id, \
    connection_id = excluded.connection_id, result = excluded.result), \
    answered AS (UPDATE idempotency AS asked SET answer = given.answer \
    FROM UNNEST($32::TEXT[], $33::TEXT[], $34::TEXT[], $35::TEXT[]) AS given (workspace_id, key, execution_id, answer), \
    quiet WHERE quiet.so AND asked.workspace_id = given.workspace_id AND asked.key = given.key \
    AND asked.execution_id = given.execution_id AND asked.answer IS NULL) \
    SELECT so FROM quiet";

/// One column of a batch.
fn column<'a, R, T>(rows: &'a [R], value: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

fn texts<'a, R>(rows: &'a [R], value: impl Fn(&'a R) -> &'a Text) -> Vec<&'a str> {
    column(rows, |row| value(row).as_str())
}

fn optional<'a, R>(
    rows: &'a [R],
    value: impl Fn(&'a R) -> &'a Option<Text>,
) -> Vec<Option<&'a str>> {
    column(rows, |row| value(row).as_ref().map(Text::as_str))
}

/// `false`: somebody has to be told, and nothing was written.
pub(super) async fn record(
    pool: &PgPool,
    rows: &[ExecutionRow],
    sessions: &[SessionRow],
    answers: &[RequestAnswer],
) -> Result<bool, StoreError> {
    let (context_ids, contexts) = contexts(rows);
    let recorded = sqlx::query_scalar(RECORD)
        .bind(column(&contexts, |one| one.receipt.workspace_id.as_str()))
        .bind(column(&contexts, |one| &one.id[..]))
        .bind(column(&contexts, |one| utc_day(one.receipt.started_at_ms)))
        .bind(column(&contexts, |one| one.receipt.tool_name.as_str()))
        .bind(column(&contexts, |one| one.receipt.service.as_str()))
        .bind(column(&contexts, |one| one.receipt.key_id.as_str()))
        .bind(column(&contexts, |one| one.receipt.key_name.as_str()))
        .bind(column(&contexts, |one| one.receipt.key_prefix.as_str()))
        .bind(column(&contexts, |one| one.receipt.plugin_version.as_str()))
        .bind(column(&contexts, |one| one.receipt.plugin_sha256.as_str()))
        .bind(texts(sessions, |one| &one.workspace_id))
        .bind(texts(sessions, |one| &one.id))
        .bind(texts(sessions, |one| &one.user_id))
        .bind(column(sessions, |one| one.prompt.as_deref()))
        .bind(column(sessions, |one| one.created_at_ms))
        .bind(column(sessions, |one| one.last_active_at_ms))
        .bind(texts(rows, |row| &row.workspace_id))
        .bind(texts(rows, |row| &row.id))
        .bind(texts(rows, |row| &row.kind))
        .bind(column(&context_ids, |id| &id[..]))
        .bind(texts(rows, |row| &row.user_id))
        .bind(optional(rows, |row| &row.session_id))
        .bind(optional(rows, |row| &row.connection_id))
        .bind(texts(rows, |row| &row.status))
        .bind(optional(rows, |row| &row.reason))
        .bind(column(rows, |row| row.started_at_ms))
        .bind(column(rows, |row| row.duration_ms))
        .bind(texts(rows, |row| &row.requests))
        .bind(optional(rows, |row| &row.arguments))
        .bind(optional(rows, |row| &row.result))
        .bind(optional(rows, |row| &row.parent_execution_id))
        .bind(texts(answers, |one| &one.workspace_id))
        .bind(column(answers, |one| one.key.as_str()))
        .bind(column(answers, |one| one.execution_id.as_str()))
        .bind(column(answers, |one| one.answer.as_str()))
        .fetch_one(pool);
    Ok(Box::pin(recorded).await?)
}
