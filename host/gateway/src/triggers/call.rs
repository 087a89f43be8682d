//! One call of a trigger's tool, and what its outcome means for the poll.

use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::declared::{DeclaredTrigger, check_permission};
use super::schedule::{PollEnd, PollFailure};
use crate::tools::results::Budget;
use crate::tools::{Arguments, CallListener, Execute, Execution, Outcome};
use crate::{Caller, Error, Gateway};
use toolgate_core::ids::UserId;
use toolgate_store::TriggerRow;

/// How long a poll waits that finds no room.
const BUSY_WAIT_MS: i64 = 10_000;

/// A page of the provider's list.
pub(super) struct AnsweredPage {
    pub result: Arc<RawValue>,
    pub next_cursor: Option<String>,
}

impl Gateway {
    /// The gateway as the caller of a trigger's polls. `None`: the workspace is gone.
    pub(super) async fn trigger_caller(
        &self,
        trigger: &TriggerRow,
    ) -> Result<Option<Caller>, Error> {
        let changes = self.store.changes().await?;
        self.services.refresh(&self.store, changes).await?;
        let workspace = self.store.find_workspace(&trigger.workspace_id).await?;
        let user =
            UserId::parse(&trigger.user_id).map_err(|cause| Error::Internal(cause.into()))?;
        Ok(workspace.map(|workspace| Caller::of_trigger(&workspace, user, &trigger.id, changes)))
    }

    /// What the trigger's plugin declares now, if the user may run its tool and has a connection that works.
    pub(super) async fn pollable(
        &self,
        caller: &Caller,
        trigger: &TriggerRow,
    ) -> Result<DeclaredTrigger, PollEnd> {
        let user = &caller.default_user;
        let permissions = self.permissions_of(caller, user).await.map_err(refused)?;
        let found = self.declared_trigger(&trigger.service, &trigger.event, &permissions);
        let declared = found.map_err(|error| match self.plugins_loading() {
            0 => refused(error),
            // It may be among those.
            _ => PollEnd::Later {
                wait_ms: BUSY_WAIT_MS,
            },
        })?;
        check_permission(&permissions, user, &declared.tool).map_err(refused)?;
        let spec = declared.tool.spec();
        if spec.auth.is_empty() {
            return Ok(declared);
        }
        let wanted = trigger.connection_id.as_deref();
        let connection = match self
            .connection_to_use(caller, user, &declared.tool, wanted)
            .await
        {
            Ok(connection) => connection,
            // The one that was chosen is gone.
            Err(Error::NotFound(_)) => return Err(PollEnd::NotConnected),
            Err(other) => return Err(refused(other)),
        };
        match connection {
            Some(row) if row.state.is_broken() => Err(PollEnd::NotConnected),
            None if !spec.auth_optional => Err(PollEnd::NotConnected),
            Some(_) | None => Ok(declared),
        }
    }

    /// Calls the tool of a trigger for one page.
    pub(super) async fn call_for_page(
        self: &Arc<Self>,
        caller: &Caller,
        user: &UserId,
        declared: &DeclaredTrigger,
        arguments: Map<String, Value>,
        connection_id: Option<&str>,
    ) -> Result<Execution, Error> {
        let request = Execute {
            tool_name: declared.tool.name.to_string(),
            arguments: Arguments::Object(Value::Object(arguments)),
            session_id: None,
            user_id: Some(user.clone()),
            connection_id: connection_id.map(str::to_owned),
            dry_run: false,
            budget: Budget::default(),
            claim: None,
            parent_execution_id: None,
            listener: CallListener::default(),
        };
        self.execute(caller, request).await
    }

    /// Reads one page of a poll, as a request that counts against the workspace.
    pub(super) async fn read_page(
        self: &Arc<Self>,
        caller: &Caller,
        declared: &DeclaredTrigger,
        arguments: Map<String, Value>,
        trigger: &TriggerRow,
    ) -> Result<AnsweredPage, PollEnd> {
        let counted = self.identity.count_request(caller).await;
        counted.map_err(refused)?;
        let user = &caller.default_user;
        let connection_id = trigger.connection_id.as_deref();
        let called = self.call_for_page(caller, user, declared, arguments, connection_id);
        let execution = called.await.map_err(refused)?;
        page_of(execution.outcome, trigger.cursor.is_some())
    }
}

/// `goes_on`: the call was for a page that an earlier one named.
fn page_of(outcome: Outcome, goes_on: bool) -> Result<AnsweredPage, PollEnd> {
    match outcome {
        Outcome::Success {
            result,
            next_cursor,
            ..
        } => Ok(AnsweredPage {
            result,
            next_cursor,
        }),
        Outcome::Error { reason, error } => {
            let status = error.provider_status;
            let status = status.map_or(String::new(), |status| format!(" with status {status}"));
            Err(PollEnd::Failed(PollFailure {
                error: format!("the call failed: {}{status}", reason.into_str()),
                retry_after_ms: error
                    .retry_after_ms
                    .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX)),
                // A page that may never come is not asked for again.
                begins_anew: goes_on && !error.can_retry,
            }))
        }
        Outcome::AuthRequired(_) | Outcome::AuthExpired(_) => Err(PollEnd::Refused),
        Outcome::ApprovalRequired(_) => Err(failed(
            "a person decides about each call of the tool".to_owned(),
        )),
        Outcome::DryRun { .. } => Err(failed("nothing was sent".to_owned())),
    }
}

pub(super) fn failed(error: String) -> PollEnd {
    PollEnd::Failed(PollFailure {
        error,
        retry_after_ms: None,
        begins_anew: false,
    })
}

/// What the gateway's own refusal means for a poll.
pub(super) fn refused(error: Error) -> PollEnd {
    if let Some(seconds) = error.retry_after_s() {
        let wait_ms = i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX);
        return PollEnd::Later {
            wait_ms: wait_ms.max(BUSY_WAIT_MS),
        };
    }
    if let Error::Internal(cause) = &error {
        tracing::error!(error = %format!("{cause:#}"), "triggers.poll_failed");
    }
    failed(format!("the call was refused: {}", error.code()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{FailureReason, ToolError};

    fn error(can_retry: bool, retry_after_ms: Option<u64>) -> Outcome {
        Outcome::Error {
            reason: FailureReason::ProviderError,
            error: ToolError {
                code: "secret words of the provider".to_owned(),
                message: "more of them".to_owned(),
                can_retry,
                retry_after_ms,
                suggested_fix: None,
                provider_status: Some(500),
                provider_body: None,
            },
        }
    }

    fn failure(outcome: Outcome, goes_on: bool) -> PollFailure {
        match page_of(outcome, goes_on) {
            Err(PollEnd::Failed(failure)) => failure,
            Err(other) => panic!("{other:?}"),
            Ok(page) => panic!("{}", page.result),
        }
    }

    #[test]
    fn a_failure_is_told_in_our_own_words_and_keeps_the_providers_wait() {
        let found = failure(error(true, Some(7_000)), true);
        assert_eq!(
            found.error,
            "the call failed: provider_error with status 500"
        );
        assert_eq!(found.retry_after_ms, Some(7_000));
        assert!(!found.begins_anew);
    }

    #[test]
    fn a_page_that_is_refused_for_good_is_not_asked_for_again() {
        assert!(failure(error(false, None), true).begins_anew);
        assert!(!failure(error(false, None), false).begins_anew);
    }

    #[test]
    fn a_busy_gateway_counts_no_failure() {
        let busy = refused(Error::Overloaded { retry_after_s: 1 });
        let expected = PollEnd::Later {
            wait_ms: BUSY_WAIT_MS,
        };
        assert_eq!(busy, expected);
        let denied = refused(Error::OwnQuestion);
        assert_eq!(
            denied,
            failed("the call was refused: permission_denied".to_owned())
        );
    }
}
