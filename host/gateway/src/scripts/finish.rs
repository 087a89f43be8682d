//! What is left of a run when its loop has ended: its row, its receipt, its answer.

use super::answer::{call_of, stored_run};
use super::ended::LoopEnd;
use super::journal::EndRecord;
use super::pause::{PauseRecord, without_link};
use super::run::EndedLoop;
use super::steps::RunFacts;
use super::{PauseReason, ScriptError, ScriptPause, ScriptRun, ScriptStatus};
use crate::executions::{
    ExecutionStatus, FAILURE_CHARS_MAX, FailureReason, ReceiptFailure, ReceiptKind,
};
use crate::stored_quota::{Stored, StoredPlace};
use crate::{Caller, Error, Gateway};
use toolgate_store::ExecutionRow;

/// What receipts name where those of calls name a plugin and its tool.
const SERVICE: &str = "script";
const TOOL: &str = "run_script";

/// The receipt of a run: its status, why it failed, and in which words.
struct RunReceipt<'a> {
    status: ExecutionStatus,
    reason: Option<FailureReason>,
    error: Option<&'a ScriptError>,
}

/// Writes down how the loop has ended, and answers. An error frees the idempotency key of the request, whose repetition is
/// a second run: once a step has begun, the answer is the run, and what went wrong is a warning in it.
pub(super) async fn finish(ended: EndedLoop) -> Result<ScriptRun, Error> {
    let run = ScriptRun {
        run_id: ended.journal.run_id.clone(),
        status: ScriptStatus::Running,
        result: None,
        error: None,
        pause: None,
        plan: ended.plan.clone(),
        logs: ended.report.logs.clone(),
        warnings: ended.report.warnings.clone(),
        calls: ended.records.iter().map(call_of).collect(),
        execution_id: ended.of.facts.execution_id.to_string(),
    };
    let begun = ended.has_begun.then(|| run.clone());
    match (written_down(ended, run).await, begun) {
        (Err(error), Some(run)) => Ok(interrupted_run(run, &error)),
        (answer, _) => answer,
    }
}

/// A run that has begun a step and with which this process could not go on.
fn interrupted_run(mut run: ScriptRun, error: &Error) -> ScriptRun {
    if let Error::Internal(cause) = error {
        tracing::error!(
            script.run = run.run_id,
            error = format!("{cause:#}"),
            "scripts.interrupted"
        );
    }
    let hint = error.hint().map(|hint| format!(". {hint}"));
    run.warnings.push(format!(
        "the run was interrupted ({error}{}): resume it, and no call that has an outcome is made again",
        hint.unwrap_or_default()
    ));
    run
}

async fn written_down(ended: EndedLoop, mut run: ScriptRun) -> Result<ScriptRun, Error> {
    match &ended.end {
        LoopEnd::Lost => return lost(&ended).await,
        LoopEnd::Interrupted(_) => return interrupted(ended, run).await,
        LoopEnd::Cancelled => {
            run.status = ScriptStatus::Cancelled;
            if !ended.journal.end(run.status, None, None).await? {
                return lost(&ended).await;
            }
        }
        LoopEnd::Paused(pause) => {
            run.status = ScriptStatus::Paused;
            run.pause = Some((**pause).clone());
            if !pause_run(&ended, &run, pause).await? {
                return lost(&ended).await;
            }
        }
        LoopEnd::Done(result) => {
            run.status = ScriptStatus::Done;
            run.result = Some(result.clone());
        }
        LoopEnd::Planned(result) => {
            run.status = ScriptStatus::Planned;
            run.result = result.clone();
        }
        LoopEnd::Failed(error) | LoopEnd::Thrown(error) => {
            run.status = ScriptStatus::Failed;
            run.error = Some(error.clone());
        }
    }
    let is_over = matches!(
        run.status,
        ScriptStatus::Done | ScriptStatus::Planned | ScriptStatus::Failed
    );
    if is_over && !end_run(&ended, &mut run).await? {
        return lost(&ended).await;
    }
    let receipt = receipt_of(&run, matches!(ended.end, LoopEnd::Failed(_)));
    let of = &ended.of;
    of.gateway
        .keep_script_receipt(&of.caller, &of.facts, receipt)
        .await;
    Ok(run)
}

/// Gives the run back as one that waits. `false`: it is no longer this process's.
async fn pause_run(ended: &EndedLoop, run: &ScriptRun, pause: &ScriptPause) -> Result<bool, Error> {
    let mut record = PauseRecord {
        pause: Some(without_link(pause)),
        logs: run.logs.clone(),
        plan: run.plan.clone(),
        waited: ended.waited.clone(),
    };
    let _place = match place_for(ended, &record).await? {
        Some(place) => Some(place),
        None => {
            // The next start of the script logs and plans the same.
            record.logs.clear();
            record.plan.clear();
            None
        }
    };
    ended
        .journal
        .end(ScriptStatus::Paused, Some(&record), None)
        .await
}

/// Ends the run. `false`: it is no longer this process's.
async fn end_run(ended: &EndedLoop, run: &mut ScriptRun) -> Result<bool, Error> {
    let mut record = EndRecord {
        status: run.status,
        result: run.result.clone(),
        error: run.error.clone(),
        plan: run.plan.clone(),
        logs: run.logs.clone(),
        warnings: run.warnings.clone(),
    };
    let place = place_for(ended, &record).await?;
    if place.is_none() {
        run.warnings.push(
            "the workspace has no room to keep the result and the logs: they are in this answer alone"
                .to_owned(),
        );
        let left_out = "the workspace had no room to keep the result and the logs".to_owned();
        record = EndRecord {
            result: None,
            plan: Vec::new(),
            logs: Vec::new(),
            warnings: vec![left_out],
            ..record
        };
    }
    ended.journal.end(run.status, None, Some(&record)).await
}

/// Room for a record. `None`: the workspace is full.
async fn place_for(
    ended: &EndedLoop,
    record: &impl serde::Serialize,
) -> Result<Option<StoredPlace>, Error> {
    let text = serde_json::to_vec(record).map_err(|cause| Error::Internal(cause.into()))?;
    let workspace_id = &ended.journal.workspace_id;
    let place = ended
        .of
        .gateway
        .take_stored(Stored::Scripts, workspace_id, text.len());
    match place.await {
        Ok(place) => Ok(Some(place)),
        Err(Error::Conflict(_)) => Ok(None),
        Err(other) => Err(other),
    }
}

/// The gateway cannot go on at the moment. A run that has begun a step is given back as one that can be resumed; one that
/// has begun none is over, and its requester runs it again.
async fn interrupted(ended: EndedLoop, run: ScriptRun) -> Result<ScriptRun, Error> {
    let EndedLoop {
        journal,
        waited,
        has_begun,
        ..
    } = &ended;
    let record = PauseRecord {
        waited: waited.clone(),
        ..PauseRecord::default()
    };
    let released = match has_begun {
        true => {
            journal
                .end(ScriptStatus::Running, Some(&record), None)
                .await
        }
        false => journal.end(ScriptStatus::Cancelled, None, None).await,
    };
    if let Err(cause) = released {
        // The lease ends by itself.
        tracing::warn!(script.run = journal.run_id, error = %cause, "scripts.not_released");
    }
    match ended.end {
        LoopEnd::Interrupted(error) => Err(error),
        _ => Ok(run),
    }
}

/// The run was cancelled, or another request goes on with it: it is answered as its rows are.
async fn lost(ended: &EndedLoop) -> Result<ScriptRun, Error> {
    let (gateway, journal) = (&ended.of.gateway, &ended.journal);
    let found = gateway
        .store
        .script_run(&journal.workspace_id, &journal.run_id)
        .await?;
    let Some(row) = found else {
        return Err(Error::Conflict(
            "the run was deleted while it was under way".to_owned(),
        ));
    };
    let is_cancelled = row.state == ScriptStatus::Cancelled.into_str();
    let steps = gateway.store.script_step_list(&row.id).await?;
    let mut run = stored_run(gateway, row, steps)?;
    if is_cancelled {
        run.logs = ended.report.logs.clone();
    } else {
        run.warnings
            .push("another request goes on with this run; read it to see how far it is".to_owned());
    }
    Ok(run)
}

/// `is_ours`: the gateway ended a run that has failed, not an error that the script threw.
fn receipt_of(run: &ScriptRun, is_ours: bool) -> RunReceipt<'_> {
    let receipt = |status| RunReceipt {
        status,
        reason: None,
        error: run.error.as_ref(),
    };
    match run.status {
        ScriptStatus::Done => receipt(ExecutionStatus::Success),
        ScriptStatus::Planned => receipt(ExecutionStatus::DryRun),
        ScriptStatus::Paused => receipt(match run.pause.as_ref().map(|pause| pause.reason) {
            Some(PauseReason::Connection) => ExecutionStatus::AuthRequired,
            Some(PauseReason::Approval) | None => ExecutionStatus::ApprovalRequired,
        }),
        ScriptStatus::Cancelled => RunReceipt {
            reason: Some(FailureReason::Cancelled),
            ..receipt(ExecutionStatus::Error)
        },
        ScriptStatus::Failed => RunReceipt {
            reason: run.error.as_ref().filter(|_| is_ours).and_then(reason_of),
            ..receipt(ExecutionStatus::Error)
        },
        ScriptStatus::Running => receipt(ExecutionStatus::Running),
    }
}

/// Why the gateway ended a run, by the code that it gave the error.
fn reason_of(error: &ScriptError) -> Option<FailureReason> {
    match error.code.as_deref()? {
        "timeout" => Some(FailureReason::Timeout),
        "limit_exceeded" | "workspace_full" => Some(FailureReason::LimitExceeded),
        "script_crashed" => Some(FailureReason::PluginCrashed),
        _ => None,
    }
}

impl Gateway {
    /// The receipt of a run that was cancelled while no process worked on it.
    pub(super) async fn keep_cancelled_receipt(&self, caller: &Caller, facts: &RunFacts) {
        let receipt = RunReceipt {
            status: ExecutionStatus::Error,
            reason: Some(FailureReason::Cancelled),
            error: None,
        };
        self.keep_script_receipt(caller, facts, receipt).await;
    }

    /// Writes the receipt of a run, or over the one of when it paused.
    async fn keep_script_receipt(
        &self,
        caller: &Caller,
        facts: &RunFacts,
        receipt: RunReceipt<'_>,
    ) {
        let RunReceipt {
            status,
            reason,
            error,
        } = receipt;
        let failure = error.map(|error| ReceiptFailure {
            code: error.code.clone().unwrap_or_else(|| error.name.clone()),
            message: error.message.chars().take(FAILURE_CHARS_MAX).collect(),
            suggested_fix: None,
            provider_status: None,
        });
        let result = failure.and_then(|failure| serde_json::to_string(&failure).ok());
        let row = ExecutionRow {
            workspace_id: caller.workspace_id.clone(),
            id: facts.execution_id.clone(),
            kind: ReceiptKind::Script.into_str().into(),
            tool_name: TOOL.into(),
            service: SERVICE.into(),
            user_id: facts.user.text(),
            key_id: caller.key_id.clone(),
            key_name: caller.key_name.clone(),
            key_prefix: caller.key_prefix.clone(),
            session_id: None,
            connection_id: None,
            parent_execution_id: None,
            status: status.into_str().into(),
            reason: reason.map(|reason| reason.into_str().into()),
            started_at_ms: facts.created_at_ms,
            duration_ms: (self.clock.now_ms() - facts.created_at_ms).max(0),
            plugin_version: env!("CARGO_PKG_VERSION").into(),
            // What ran: the text of the script.
            plugin_sha256: facts.script_sha256.as_str().into(),
            requests: "[]".into(),
            arguments: None,
            result: result.map(Into::into),
            payloads: Vec::new(),
        };
        let execution_id = row.id.clone();
        if self
            .receipts
            .keep(Box::new((row, None)), false)
            .await
            .is_err()
        {
            tracing::warn!(%execution_id, "receipts.late");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripts::wire::run_error;

    fn run(status: ScriptStatus, error: Option<ScriptError>) -> ScriptRun {
        ScriptRun {
            run_id: "run_1".to_owned(),
            status,
            result: None,
            error,
            pause: None,
            plan: Vec::new(),
            logs: Vec::new(),
            warnings: Vec::new(),
            calls: Vec::new(),
            execution_id: "exe_1".to_owned(),
        }
    }

    #[test]
    fn a_receipt_tells_the_limits_from_what_the_script_did() {
        let thrown = ScriptError {
            name: "TypeError".to_owned(),
            code: None,
            ..run_error("", "x is undefined")
        };
        for (error, reason) in [
            (run_error("timeout", "late"), Some(FailureReason::Timeout)),
            (
                run_error("limit_exceeded", "much"),
                Some(FailureReason::LimitExceeded),
            ),
            (run_error("not_found", "gone"), None),
            (thrown, None),
        ] {
            let failed = run(ScriptStatus::Failed, Some(error));
            let receipt = receipt_of(&failed, true);
            assert_eq!(receipt.status, ExecutionStatus::Error);
            assert_eq!(receipt.reason, reason, "{:?}", failed.error);
            // The script may throw an error that looks the same.
            assert_eq!(
                receipt_of(&failed, false).reason,
                None,
                "{:?}",
                failed.error
            );
        }
        let cancelled = run(ScriptStatus::Cancelled, None);
        assert_eq!(
            receipt_of(&cancelled, false).reason,
            Some(FailureReason::Cancelled)
        );
        let done = run(ScriptStatus::Done, None);
        assert_eq!(receipt_of(&done, false).status, ExecutionStatus::Success);
    }

    #[test]
    fn a_run_that_has_begun_is_answered_with_what_interrupted_it() {
        for error in [
            Error::SignInRequired,
            Error::Stopping,
            Error::Conflict("held by another".to_owned()),
        ] {
            let told = interrupted_run(run(ScriptStatus::Running, None), &error);
            assert_eq!(told.status, ScriptStatus::Running);
            assert_eq!(told.warnings.len(), 1);
            assert!(told.warnings[0].contains(&error.to_string()), "{told:?}");
        }
    }
}
