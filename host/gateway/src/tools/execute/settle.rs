//! What the caller gets of an outcome.

use super::PreparedRun;
use crate::tools::Outcome;
use crate::{Caller, Error, Gateway};
use toolgate_egress::CallScope;

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
}
