//! A run as it is answered: by the process that has worked on it, or from its rows.

use super::journal::{EndRecord, end_record, pause_record};
use super::records::StepRecord;
use super::{ScriptCall, ScriptCallStatus, ScriptRun, ScriptRunSummary, ScriptStatus};
use crate::{Error, Gateway};
use serde_json::Value;
use toolgate_core::clock::rfc3339;
use toolgate_store::{ScriptRunRow, ScriptStepRow};

/// A step as the loop has left it.
pub(super) fn call_of(record: &StepRecord) -> ScriptCall {
    ScriptCall {
        step: record.step.step,
        tool: record.name().to_owned(),
        line: record.step.line,
        status: record.status,
        execution_id: record.execution_id.clone(),
        started_at_ms: record.began_at_ms,
        duration_ms: duration_ms(record.began_at_ms, record.ended_at_ms),
    }
}

/// A step as its row has it.
fn stored_call(row: ScriptStepRow) -> ScriptCall {
    ScriptCall {
        step: u32::try_from(row.step).unwrap_or(u32::MAX),
        status: match row.status.as_deref() {
            None => ScriptCallStatus::Open,
            Some("ok") => ScriptCallStatus::Ok,
            Some(_) => ScriptCallStatus::Error,
        },
        tool: match row.name.is_empty() {
            true => row.kind,
            false => row.name,
        },
        line: u32::try_from(row.line).ok().filter(|line| *line > 0),
        execution_id: row.execution_id,
        started_at_ms: Some(row.began_at_ms),
        duration_ms: duration_ms(Some(row.began_at_ms), row.ended_at_ms),
    }
}

fn duration_ms(began_at_ms: Option<i64>, ended_at_ms: Option<i64>) -> Option<u64> {
    // A clock that was set back makes no negative duration.
    Some((ended_at_ms? - began_at_ms?).max(0).unsigned_abs())
}

/// A run from its rows. The link of a pause is not kept.
pub(super) fn stored_run(
    gateway: &Gateway,
    row: ScriptRunRow,
    steps: Vec<ScriptStepRow>,
) -> Result<ScriptRun, Error> {
    let status = status_of(&row)?;
    let waited = match status {
        ScriptStatus::Paused => Some(pause_record(gateway, &row)?),
        _ => None,
    };
    let mut run = ScriptRun {
        status,
        result: None,
        error: None,
        pause: None,
        plan: Vec::new(),
        logs: Vec::new(),
        warnings: Vec::new(),
        calls: steps.into_iter().map(stored_call).collect(),
        execution_id: row.execution_id.clone(),
        run_id: row.id.clone(),
    };
    if let Some(waited) = waited {
        run.pause = waited.pause;
        run.logs = waited.logs;
        run.plan = waited.plan;
    }
    if let Some(end) = end_record(gateway, &row)? {
        let EndRecord {
            status,
            result,
            error,
            plan,
            logs,
            warnings,
        } = end;
        run.status = status;
        run.result = match status {
            // A script without a default export.
            ScriptStatus::Done => Some(result.unwrap_or(Value::Null)),
            _ => result,
        };
        run.error = error;
        run.plan = plan;
        run.logs = logs;
        run.warnings = warnings;
    }
    Ok(run)
}

pub(super) fn summary(row: &ScriptRunRow) -> Result<ScriptRunSummary, Error> {
    Ok(ScriptRunSummary {
        run_id: row.id.clone(),
        status: status_of(row)?,
        user_id: row.user_id.clone(),
        session_id: row.session_id.clone(),
        execution_id: row.execution_id.clone(),
        script_sha256: row.script_sha256.clone(),
        steps: u32::try_from(row.steps).unwrap_or(u32::MAX),
        dry_run: row.dry_run,
        created_at: rfc3339(row.created_at_ms),
        updated_at: rfc3339(row.updated_at_ms),
        expires_at: rfc3339(row.expires_at_ms),
    })
}

pub(super) fn status_of(row: &ScriptRunRow) -> Result<ScriptStatus, Error> {
    let status = row.state.parse();
    status.map_err(|_| Error::Internal(anyhow::anyhow!("a stored run has a bad state")))
}
