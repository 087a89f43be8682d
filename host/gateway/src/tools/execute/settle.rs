//! What the caller gets of an outcome.

use super::{PreparedRun, RunEnd};
use crate::tools::Outcome;
use crate::tools::files::StoredFile;
use crate::tools::repeats::{is_unclear, writes};
use crate::{Caller, Error, Gateway};
use toolgate_core::text::Text;
use toolgate_egress::{CallScope, RequestRecord};
use toolgate_runtime::CallEnd;

impl Gateway {
    /// A question to a person, or as much of the result as fits.
    pub(super) async fn settle_outcome(
        &self,
        caller: &Caller,
        run: &PreparedRun,
        scope: &CallScope,
        outcome: Outcome,
    ) -> Result<Outcome, Error> {
        let outcome = self.settle_approval(caller, run, scope, outcome).await?;
        self.within_budget(caller, run, outcome).await
    }

    async fn within_budget(
        &self,
        caller: &Caller,
        run: &PreparedRun,
        outcome: Outcome,
    ) -> Result<Outcome, Error> {
        let Outcome::Success {
            result,
            files,
            summary,
            next_cursor,
            ..
        } = outcome
        else {
            return Ok(outcome);
        };
        let (result, truncated) = self
            .fit_result(caller, &run.user, &run.execution_id, result, &run.budget)
            .await?;
        Ok(Outcome::Success {
            result,
            truncated,
            files,
            summary,
            next_cursor,
        })
    }

    /// Keeps the files of a result. A dry run keeps nothing.
    pub(super) async fn keep_returned(
        &self,
        caller: &Caller,
        run: &PreparedRun,
        end: &RunEnd,
    ) -> Vec<Option<StoredFile>> {
        match end {
            RunEnd::Ended(CallEnd::Returned(output)) if !run.permit.is_dry() => {
                self.keep_result_files(caller, &run.user, &run.execution_id, &output.files)
                    .await
            }
            _ => Vec::new(),
        }
    }

    /// Remembers a write whose outcome is unknown, so that its repetition is held back once.
    pub(super) fn note_end(
        &self,
        run: &PreparedRun,
        outcome: Result<&Outcome, &Error>,
        sent: &[RequestRecord],
    ) {
        let Some(key) = &run.repeat else {
            return;
        };
        if is_unclear(outcome, sent) {
            self.repeats
                .unclear(key, &run.execution_id, self.clock.now_ms());
        } else if !sent.iter().any(writes) {
            self.repeats.clear(key, &run.execution_id);
        }
    }
}

/// The error of the gateway itself once a write had left: a caller must not take it for a call that failed.
pub(super) fn outcome_unknown(error: Error, execution_id: &Text) -> Error {
    let cause = anyhow::Error::from(after_the_run(error));
    tracing::error!(%execution_id, error = format!("{cause:#}"), "execution.unsettled");
    Error::OutcomeUnknown {
        execution_id: execution_id.to_string(),
        receipt: None,
    }
}

/// A failure of the gateway after the plugin had run, as an error that says that the call happened.
pub(super) fn after_the_run(error: Error) -> Error {
    match error {
        Error::Internal(_) => error,
        // Without the promise that repeating it is all right: it has run.
        Error::DatabaseUnavailable(Some(cause)) => Error::Internal(cause),
        other => Error::Internal(anyhow::anyhow!("after the run: {other}")),
    }
}
