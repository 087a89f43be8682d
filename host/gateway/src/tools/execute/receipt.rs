//! The receipt of a run, as it is queued for the writer.

use super::PreparedRun;
use crate::executions::journal::requests_text;
use crate::executions::payloads::PayloadSeals;
use crate::executions::writer::{QueuedReceipt, ReceiptPending};
use crate::executions::{ExecutionStatus, FAILURE_CHARS_MAX, ReceiptFailure, ReceiptKind};
use crate::tools::{Execution, FailureReason, Outcome};
use crate::{Caller, Error, Gateway};
use toolgate_core::ids;
use toolgate_core::text::Text;
use toolgate_core::trace::{SpanKind, TraceSpan};
use toolgate_egress::RequestRecord;
use toolgate_store::{ExecutionRow, RequestAnswer, SessionRow};

impl Gateway {
    /// Present where the workspace keeps bodies.
    pub(super) fn seals(&self, caller: &Caller, run: &PreparedRun) -> Option<PayloadSeals> {
        caller.keep_payloads.then(|| {
            let workspace_id = caller.workspace_id.clone();
            PayloadSeals::new(&self.vault, workspace_id, run.execution_id.clone())
        })
    }

    /// What answers a repetition of the run's request, where the receipt is waited for as a row: one
    /// transaction writes both.
    pub(super) fn answer_beside_receipt(
        &self,
        caller: &Caller,
        run: &PreparedRun,
        execution: &Result<Execution, Error>,
        requests: &[RequestRecord],
    ) -> Option<RequestAnswer> {
        let (Some(claim), Ok(execution)) = (&run.claim, execution) else {
            return None;
        };
        if requests.is_empty() || !self.receipts.are_rows_at_once() {
            return None;
        }
        claim.answer_with_receipt(&caller.workspace_id, execution)
    }

    /// With `durable`, or with an answer, returns when it is on disk, or was tried in vain once.
    pub(super) async fn keep_receipt(
        &self,
        receipt: QueuedReceipt,
        answer: Option<RequestAnswer>,
        durable: bool,
    ) {
        let execution_id = receipt.0.id.clone();
        let _waiting = (durable || answer.is_some())
            .then(|| TraceSpan::begin(SpanKind::Internal, || "receipt"));
        let kept = match answer {
            Some(answer) => self.receipts.keep_answered(receipt, answer).await,
            None => self.receipts.keep(receipt, durable).await,
        };
        if kept == Err(ReceiptPending) {
            // What was sent was sent: the caller learns the outcome all the same.
            tracing::warn!(%execution_id, "receipts.late");
        }
    }
}

/// What a failed run says, as its receipt keeps it: the words that the caller was answered, scrubbed of
/// credentials. The rest of a provider's answer is not part of a receipt.
pub(super) fn failure_text(outcome: &Outcome) -> Option<Text> {
    let Outcome::Error { error, .. } = outcome else {
        return None;
    };
    let failure = ReceiptFailure {
        code: error.code.clone(),
        message: error.message.chars().take(FAILURE_CHARS_MAX).collect(),
        suggested_fix: error.suggested_fix.clone(),
        provider_status: error.provider_status,
    };
    let text = serde_json::to_string(&failure).expect("texts have a JSON text");
    Some(text.into())
}

/// The receipt as it is kept, and the session that the run belongs to. A session that nobody has named
/// and that no plugin has written to (`wrote`) is not a row: its call is what there is of it.
pub(super) fn receipt_of(
    caller: &Caller,
    run: &PreparedRun,
    status: ExecutionStatus,
    reason: Option<FailureReason>,
    duration_ms: u64,
    requests: &[RequestRecord],
    wrote: bool,
) -> QueuedReceipt {
    let of_its_own = ids::session_of_execution(&run.execution_id);
    let keeps_session = wrote || of_its_own.as_deref() != Some(&*run.session_id);
    let row = ExecutionRow {
        workspace_id: caller.workspace_id.clone(),
        id: run.execution_id.clone(),
        kind: ReceiptKind::Tool.into_str().into(),
        tool_name: run.tool.name.clone(),
        service: run.serving.service.clone(),
        user_id: run.user.text(),
        key_id: caller.key_id.clone(),
        key_name: caller.key_name.clone(),
        key_prefix: caller.key_prefix.clone(),
        session_id: keeps_session.then(|| run.session_id.clone()),
        connection_id: None,
        parent_execution_id: run.parent_execution_id.clone(),
        status: status.into_str().into(),
        reason: reason.map(|reason| reason.into_str().into()),
        started_at_ms: run.started_at_ms,
        duration_ms: i64::try_from(duration_ms).unwrap_or(i64::MAX),
        plugin_version: run.serving.version.clone(),
        plugin_sha256: run.serving.sha256.clone(),
        requests: requests_text(requests),
        arguments: None,
        result: None,
        payloads: Vec::new(),
    };
    let session = keeps_session.then(|| SessionRow {
        workspace_id: caller.workspace_id.clone(),
        id: run.session_id.clone(),
        user_id: run.user.text(),
        prompt: None,
        created_at_ms: run.started_at_ms,
        last_active_at_ms: run.started_at_ms,
    });
    Box::new((row, session))
}
