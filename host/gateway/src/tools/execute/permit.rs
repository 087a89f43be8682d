//! What a run is permitted with: an approval of this very call, a call of a rule that has a number
//! of them. Both are taken in the database before the plugin begins, so that no two runs share one,
//! and given back only where nothing can have left.

use super::PreparedRun;
use crate::access::approvals::question::{ApprovalBinding, PlanSeed, Question, UsedApproval};
use crate::access::permissions::{self, Permission, Permissions};
use crate::tools::{FailureReason, Outcome, ToolError};
use crate::{Caller, Error, Gateway};
use toolgate_egress as egress;
use toolgate_store::{Approvers, PermissionRule};

/// What a run was permitted with.
#[derive(Default)]
pub(super) struct Permit {
    /// A person has to be asked, or was: what the question is bound to.
    pub bound: Option<ApprovalBinding>,
    /// The call waits for a person: it runs dry, and its requests are kept with the question.
    pub parks: Option<PlanSeed>,
    /// The approval that the run uses up.
    pub approved: Option<UsedApproval>,
    /// The rule with a number of calls that the run was counted against.
    pub counted: Option<PermissionRule>,
    /// A live call would have asked or been counted: a dry run of it answers its plan alone.
    pub plan_alone: bool,
}

impl Permit {
    /// The clock and the random bytes that the plugin has to be given.
    pub(super) fn rehearsal(&self) -> Option<PlanSeed> {
        let approved = self.approved.as_ref().map(|approved| approved.rehearsal);
        approved.or(self.parks)
    }
}

impl PreparedRun {
    fn question<'a>(&'a self, bound: &'a ApprovalBinding) -> Question<'a> {
        Question {
            user: &self.user,
            tool: &self.tool,
            arguments: &self.arguments,
            cursor: self.cursor.as_deref(),
            session_id: &self.session_id,
            plugin_sha256: &self.serving.sha256,
            bound,
        }
    }
}

impl Gateway {
    /// Takes what the run needs, or parks it: then it runs dry, and a person is asked.
    pub(super) async fn permit(
        &self,
        caller: &Caller,
        permissions: &Permissions,
        mut run: PreparedRun,
    ) -> Result<PreparedRun, Error> {
        let decided = permissions.decide(&run.tool);
        if run.dry_run {
            run.permit.plan_alone = decided.permission == Permission::Ask
                || decided.rule.is_some_and(|rule| rule.max_calls.is_some());
            return Ok(run);
        }
        if decided.permission == Permission::Ask {
            let approvers = permissions.approvers(&decided);
            self.take_or_park(caller, approvers, &mut run).await?;
        }
        if run.permit.parks.is_none() {
            let counted = self.count_call(caller, &run.user, &run.tool, permissions);
            let decided = match counted.await {
                Ok((Permission::Deny, _)) => Err(permissions::denied(&run.user, &run.tool.name)),
                Ok((permission, rule)) => {
                    run.permit.counted = rule;
                    // A rule that allowed was used up meanwhile.
                    if permission == Permission::Ask && run.permit.bound.is_none() {
                        self.take_or_park(caller, Approvers::Admins, &mut run).await
                    } else {
                        Ok(())
                    }
                }
                Err(error) => Err(error),
            };
            if let Err(error) = decided {
                self.give_back(caller, &run).await;
                return Err(error);
            }
        }
        run.dry_run = run.permit.parks.is_some();
        Ok(run)
    }

    async fn take_or_park(
        &self,
        caller: &Caller,
        approvers: Approvers,
        run: &mut PreparedRun,
    ) -> Result<(), Error> {
        let wanted = run.connection_id.as_deref();
        let connection = self
            .connection_to_use(caller, &run.user, &run.tool, wanted)
            .await?;
        let bound = ApprovalBinding {
            approvers,
            connection: connection.map(Into::into),
        };
        let question = run.question(&bound);
        let approved = self
            .take_approval(caller, &question, &run.execution_id)
            .await?;
        match approved {
            Some(approved) => {
                // The plan saw what the plugin keeps in that session.
                if let Some(planned_in) = &approved.session_id
                    && !run.session_named
                {
                    run.session_id = planned_in.as_str().into();
                }
                run.permit.approved = Some(approved);
            }
            None => run.permit.parks = Some(PlanSeed::new(run.started_at_ms)),
        }
        if let Some(connection) = &bound.connection {
            run.connection_id = Some(connection.id.clone());
        }
        run.permit.bound = Some(bound);
        Ok(())
    }

    /// The plugin did not begin: what the run had taken is there for its repetition. The error that
    /// ended it is the one to tell, so one more is only logged.
    pub(super) async fn give_back(&self, caller: &Caller, run: &PreparedRun) {
        let told = |given: Result<(), Error>| {
            if let Err(cause) = given {
                tracing::error!(execution_id = %run.execution_id, error = %cause, "executions.not_given_back");
            }
        };
        if let Some(approved) = &run.permit.approved {
            told(
                self.return_approval(caller, &approved.id, &run.execution_id)
                    .await,
            );
        }
        if let Some(rule) = &run.permit.counted {
            told(self.uncount_call(rule).await);
        }
        if let Some(claim) = &run.claim {
            told(self.free(caller, claim, true).await.map(|_| ()));
        }
    }

    /// Asks a person about a parked call; gives back the approval of one from which nothing left.
    pub(super) async fn settle_approval(
        &self,
        caller: &Caller,
        run: &PreparedRun,
        scope: &egress::CallScope,
        outcome: Outcome,
    ) -> Result<Outcome, Error> {
        let permit = &run.permit;
        if let (Some(rehearsal), Some(bound)) = (permit.parks, &permit.bound) {
            let whole = match outcome {
                Outcome::DryRun { .. } => false,
                // A tool that sends nothing has its answer already; it is not for the caller yet.
                Outcome::Success { .. } => true,
                other => return Ok(other),
            };
            let question = run.question(bound);
            let needed = self
                .ask_approval(caller, &question, rehearsal, scope, whole)
                .await?;
            return Ok(Outcome::ApprovalRequired(needed));
        }
        if permit.plan_alone && matches!(outcome, Outcome::Success { .. }) {
            let requests = scope.planned();
            return Ok(Outcome::DryRun { requests });
        }
        let Some(approved) = &permit.approved else {
            return Ok(outcome);
        };
        if scope.strayed() {
            return Ok(strayed());
        }
        // Whatever a provider says once something has left, the approval is used.
        let to_connect = matches!(outcome, Outcome::AuthRequired(_) | Outcome::AuthExpired(_));
        if to_connect && scope.requests_sent() == 0 {
            self.return_approval(caller, &approved.id, &run.execution_id)
                .await?;
        }
        Ok(outcome)
    }
}

fn strayed() -> Outcome {
    Outcome::Error {
        reason: FailureReason::ProviderError,
        error: ToolError {
            code: "approval_mismatch".to_owned(),
            message: "The tool was about to send another request than the one that was approved, so that one was not sent. The approval is used up.".to_owned(),
            can_retry: true,
            retry_after_ms: None,
            suggested_fix: Some(
                "Read the receipt, then call again: a person is asked about the requests as they are now."
                    .to_owned(),
            ),
            provider_status: None,
            provider_body: None,
        },
    }
}
