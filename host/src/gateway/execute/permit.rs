//! What a run is permitted with: an approval of this very call, a call of a rule that has a number
//! of them. Both are given back when the plugin did not begin.

use super::Run;
use crate::gateway::permissions::{self, Permission, Permissions};
use crate::gateway::tools::Outcome;
use crate::gateway::{Caller, Error, Gateway};

impl Gateway {
    /// Takes what the run needs, or parks it: then it runs dry, and a person is asked.
    pub(super) async fn permit(
        &self,
        caller: &Caller,
        permissions: &Permissions,
        mut run: Run,
    ) -> Result<Run, Error> {
        if run.dry_run {
            return Ok(run);
        }
        if permissions.of(&run.tool).permission == Permission::Ask {
            run.approval_id = self.take_approval(caller, &run.question()).await?;
            run.parks = run.approval_id.is_none();
        }
        if !run.parks {
            let counted = self.count_call(caller, &run.user, &run.tool, permissions);
            let decided = match counted.await {
                Ok((Permission::Deny, _)) => Err(permissions::denied(&run.user, &run.tool.name)),
                decided => decided,
            };
            match decided {
                Ok((permission, rule)) => {
                    run.counted = rule;
                    run.parks = permission == Permission::Ask && run.approval_id.is_none();
                }
                Err(error) => {
                    self.give_back(caller, &run).await;
                    return Err(error);
                }
            }
        }
        run.dry_run = run.parks;
        Ok(run)
    }

    /// The plugin did not begin: what the run had taken is there for its repetition. The error that
    /// ended it is the one to tell, so one more is only logged.
    pub(super) async fn give_back(&self, caller: &Caller, run: &Run) {
        let told = |given: Result<(), Error>| {
            if let Err(cause) = given {
                tracing::error!(execution_id = %run.execution_id, error = %cause, "executions.not_given_back");
            }
        };
        if let Some(approval_id) = &run.approval_id {
            told(self.return_approval(caller, approval_id).await);
        }
        if let Some(rule) = &run.counted {
            told(self.uncount_call(rule).await);
        }
        if let Some(claim) = &run.claim {
            told(self.free(caller, claim, true).await.map(|_| ()));
        }
    }

    /// Parks a call that waits for a person; gives back the approval of one that came to nothing.
    pub(super) async fn settle_approval(
        &self,
        caller: &Caller,
        run: &Run,
        outcome: Outcome,
    ) -> Result<Outcome, Error> {
        if run.parks {
            let requests = match outcome {
                Outcome::DryRun { requests } => requests,
                // A tool that sends nothing has its answer already; it is not for the caller yet.
                Outcome::Success { .. } => Vec::new(),
                other => return Ok(other),
            };
            let question = run.question();
            let needed = self.ask_approval(caller, &question, &requests).await?;
            return Ok(Outcome::ApprovalRequired(needed));
        }
        if let Some(approval_id) = &run.approval_id
            && matches!(outcome, Outcome::AuthRequired(_) | Outcome::AuthExpired(_))
        {
            self.return_approval(caller, approval_id).await?;
        }
        Ok(outcome)
    }
}
