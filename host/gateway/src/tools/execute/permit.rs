//! What a run is permitted with: an approval of this very call, a call of a rule that has a number
//! of them. Both are taken in the database before the plugin begins, so that no two runs share one,
//! and given back only where nothing can have left.

use super::PreparedRun;
use crate::access::approvals::question::{
    ApprovalBinding, PlanSeed, Question, QuestionOutcome, UsedApproval,
};
use crate::access::permissions::{self, Permission, Permissions};
use crate::connections::CallPurpose;
use crate::tools::{FailureReason, Outcome, ToolError};
use crate::{Caller, Error, Gateway};
use toolgate_catalog::mcp_calls;
use toolgate_egress as egress;
use toolgate_store::{Approvers, PermissionRule};

/// How a run is permitted.
pub(super) enum Permit {
    /// It sends what it wants to send.
    Live {
        /// The approval that the run uses up.
        approval: Option<Box<TakenApproval>>,
        /// The rule with a number of calls that the run was counted against.
        counted: Option<PermissionRule>,
    },
    /// The caller wants the plan of the call. `alone`: a live call would have asked or been counted,
    /// so that its plan is all there is to see.
    DryRun { alone: bool },
    /// The call waits for a person: it runs dry, and its requests are kept with the question.
    Parked {
        bound: ApprovalBinding,
        rehearsal: PlanSeed,
    },
}

/// A person's approval of this very call.
pub(super) struct TakenApproval {
    /// What the question was bound to.
    pub bound: ApprovalBinding,
    pub used: UsedApproval,
}

impl Permit {
    /// Before anything is taken for the run.
    pub(super) fn wanted(dry_run: bool) -> Self {
        match dry_run {
            true => Self::DryRun { alone: false },
            false => Self::Live {
                approval: None,
                counted: None,
            },
        }
    }

    /// Whether nothing may leave.
    pub(super) fn is_dry(&self) -> bool {
        match self {
            Self::Live { .. } => false,
            Self::DryRun { .. } | Self::Parked { .. } => true,
        }
    }

    /// What the run needs a connection for.
    pub(super) fn purpose(&self) -> CallPurpose {
        match self {
            Self::Live { .. } => CallPurpose::Live,
            Self::DryRun { .. } => CallPurpose::Plan,
            Self::Parked { .. } => CallPurpose::Question,
        }
    }

    /// The approval that the run is held to.
    pub(super) fn approved(&self) -> Option<&UsedApproval> {
        match self {
            Self::Live { approval, .. } => approval.as_ref().map(|taken| &taken.used),
            Self::DryRun { .. } | Self::Parked { .. } => None,
        }
    }

    /// What a question about the call is bound to.
    pub(super) fn bound(&self) -> Option<&ApprovalBinding> {
        match self {
            Self::Live { approval, .. } => approval.as_ref().map(|taken| &taken.bound),
            Self::Parked { bound, .. } => Some(bound),
            Self::DryRun { .. } => None,
        }
    }

    /// The clock and the random bytes that the plugin has to be given.
    pub(super) fn rehearsal(&self) -> Option<PlanSeed> {
        match self {
            Self::Live { .. } => self.approved().map(|used| used.rehearsal),
            Self::Parked { rehearsal, .. } => Some(*rehearsal),
            Self::DryRun { .. } => None,
        }
    }
}

impl PreparedRun {
    /// The session that the caller named, for a tool of an MCP server: the server keeps what it likes in it.
    fn state_of(&self) -> Option<&str> {
        let request = self.tool.spec().request.as_ref()?;
        let keeps = self.session_named && mcp_calls::tool_of(request).is_some();
        keeps.then_some(&*self.session_id)
    }

    fn question<'a>(&'a self, bound: &'a ApprovalBinding) -> Question<'a> {
        Question {
            user: &self.user,
            tool: &self.tool,
            arguments: &self.arguments,
            cursor: self.cursor.as_deref(),
            session_id: &self.session_id,
            state_of: self.state_of(),
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
        if run.permit.is_dry() {
            let alone = decided.permission == Permission::Ask
                || decided.rule.is_some_and(|rule| rule.max_calls.is_some());
            run.permit = Permit::DryRun { alone };
            return Ok(run);
        }
        if decided.permission == Permission::Ask {
            let approvers = permissions.approvers(&decided);
            self.consume_or_request_approval(caller, approvers, &mut run)
                .await?;
        }
        if !run.permit.is_dry()
            && let Err(error) = self.count_live(caller, permissions, &mut run).await
        {
            self.give_back(caller, &run).await;
            return Err(error);
        }
        Ok(run)
    }

    /// Counts a live run against the rule that allows it so many times.
    async fn count_live(
        &self,
        caller: &Caller,
        permissions: &Permissions,
        run: &mut PreparedRun,
    ) -> Result<(), Error> {
        let (permission, rule) = self
            .count_call(caller, &run.user, &run.tool, permissions)
            .await?;
        if permission == Permission::Deny {
            return Err(permissions::denied(&run.user, &run.tool.name));
        }
        if let Permit::Live { counted, .. } = &mut run.permit {
            *counted = rule;
        }
        // A rule that allowed was used up meanwhile.
        if permission == Permission::Ask && run.permit.bound().is_none() {
            return self
                .consume_or_request_approval(caller, Approvers::Admins, run)
                .await;
        }
        Ok(())
    }

    async fn consume_or_request_approval(
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
        let used = self
            .take_approval(caller, &question, &run.execution_id)
            .await?;
        if let Some(connection) = &bound.connection {
            run.connection_id = Some(connection.id.clone());
        }
        let Some(used) = used else {
            let parked = Permit::Parked {
                bound,
                rehearsal: PlanSeed::new(run.started_at_ms),
            };
            // What waits for a person is not a call yet.
            if let Permit::Live {
                counted: Some(rule),
                ..
            } = std::mem::replace(&mut run.permit, parked)
            {
                self.uncount_call(&rule).await?;
            }
            return Ok(());
        };
        // The plan saw what the plugin keeps in that session.
        if let Some(planned_in) = &used.session_id
            && !run.session_named
        {
            run.session_id = planned_in.as_str().into();
        }
        if let Permit::Live { approval, .. } = &mut run.permit {
            *approval = Some(Box::new(TakenApproval { bound, used }));
        }
        Ok(())
    }

    /// The plugin did not begin: what the run had taken is there for its repetition. The error that
    /// ended it is the one to tell, so one more is only logged.
    pub(super) async fn give_back(&self, caller: &Caller, run: &PreparedRun) {
        let log_failure = |given: Result<(), Error>| {
            if let Err(cause) = given {
                tracing::error!(execution_id = %run.execution_id, error = %cause, "executions.not_given_back");
            }
        };
        if let Some(approved) = run.permit.approved() {
            log_failure(
                self.return_approval(caller, &approved.id, &run.execution_id)
                    .await,
            );
        }
        if let Permit::Live {
            counted: Some(rule),
            ..
        } = &run.permit
        {
            log_failure(self.uncount_call(rule).await);
        }
        if let Some(claim) = &run.claim {
            log_failure(self.free(caller, claim, true).await.map(|_| ()));
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
        match &run.permit {
            Permit::Parked { bound, rehearsal } => {
                let whole = match outcome {
                    Outcome::DryRun { .. } => false,
                    // A tool that sends nothing has its answer already; it is not for the caller yet.
                    Outcome::Success { .. } => true,
                    other => return Ok(other),
                };
                let question = run.question(bound);
                let needed = self
                    .ask_approval(caller, &question, *rehearsal, scope, whole)
                    .await?;
                Ok(match needed {
                    QuestionOutcome::Needed(needed) => Outcome::ApprovalRequired(needed),
                    QuestionOutcome::TooLarge => too_large(),
                    QuestionOutcome::Full => too_many(),
                    QuestionOutcome::HoldsSecret => holds_secret(),
                })
            }
            Permit::DryRun { alone: true } if matches!(outcome, Outcome::Success { .. }) => {
                let requests = scope.planned();
                Ok(Outcome::DryRun { requests })
            }
            Permit::DryRun { .. } | Permit::Live { approval: None, .. } => Ok(outcome),
            Permit::Live {
                approval: Some(taken),
                ..
            } => {
                self.settle_taken(caller, run, &taken.used, scope, outcome)
                    .await
            }
        }
    }

    async fn settle_taken(
        &self,
        caller: &Caller,
        run: &PreparedRun,
        approved: &UsedApproval,
        scope: &egress::CallScope,
        outcome: Outcome,
    ) -> Result<Outcome, Error> {
        if scope.deviated() {
            return Ok(deviated());
        }
        // Whatever a provider says once something has left, the approval is used.
        let to_connect = matches!(
            outcome,
            Outcome::AuthRequired(_)
                | Outcome::AuthExpired(_)
                | Outcome::Error {
                    reason: FailureReason::NotConfigured,
                    ..
                }
        );
        if to_connect && scope.requests_sent() == 0 {
            self.return_approval(caller, &approved.id, &run.execution_id)
                .await?;
        }
        Ok(outcome)
    }
}

fn too_large() -> Outcome {
    Outcome::Error {
        reason: FailureReason::LimitExceeded,
        error: ToolError {
            code: "too_large_for_approval".to_owned(),
            message: "The call needs a person's approval, and its arguments or the requests that it would send are too large for a person to read. Nothing was sent.".to_owned(),
            can_retry: false,
            retry_after_ms: None,
            suggested_fix: Some(
                "Call with less, in several calls, or ask an admin for a rule that allows the tool."
                    .to_owned(),
            ),
            provider_status: None,
            provider_body: None,
        },
    }
}

fn too_many() -> Outcome {
    Outcome::Error {
        reason: FailureReason::LimitExceeded,
        error: ToolError {
            code: "too_many_approvals".to_owned(),
            message: "The call needs a person's approval, and as many calls of the workspace wait for one as may. Nothing was sent.".to_owned(),
            can_retry: true,
            retry_after_ms: None,
            suggested_fix: Some("Have the calls that wait decided first.".to_owned()),
            provider_status: None,
            provider_body: None,
        },
    }
}

fn holds_secret() -> Outcome {
    Outcome::Error {
        reason: FailureReason::ProviderError,
        error: ToolError {
            code: "secret_in_arguments".to_owned(),
            message: "The call needs a person's approval, and its arguments or the requests that it would send contain a secret of the connection, which nobody is shown. Nothing was sent.".to_owned(),
            can_retry: false,
            retry_after_ms: None,
            suggested_fix: Some(
                "Leave the secret out: the gateway adds the credential to the request.".to_owned(),
            ),
            provider_status: None,
            provider_body: None,
        },
    }
}

fn deviated() -> Outcome {
    Outcome::Error {
        reason: FailureReason::ProviderError,
        error: ToolError {
            code: "approval_mismatch".to_owned(),
            message: "The tool was about to send a request that differs from the approved one, so it was not sent. The approval is used up.".to_owned(),
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
