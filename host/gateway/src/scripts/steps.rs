//! One step of a run: the operation that the caller could have asked for itself, with its rights, for the run's user.
//!
//! What is refused is an outcome too, which the script may catch. Only what keeps the gateway itself from going on ends
//! the run.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::limits::{RETRY_AFTER_S, SLEEP_MS_MAX};
use super::pause::{key_of, pause_of};
use super::plan::{CallPlan, planned};
use super::results::{AgainExecution, tool_value};
use super::wire::{EngineStep, EngineStepKind, StepFailure, StepValue, step_value};
use super::{PlannedScriptCall, ScriptPause};
use crate::skills::ListSkills;
use crate::tools::idempotency::{IdempotentAnswer, KeyedRequest};
use crate::tools::results::Budget;
use crate::tools::{
    Arguments, CallListener, Execute, Execution, FailureReason, Outcome, SearchTools,
};
use crate::{Caller, Error, Gateway};
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Effect;
use toolgate_catalog::script_names::script_function;
use toolgate_core::ids::UserId;
use toolgate_core::text::Text;

/// Tools that a search answers where the script does not say.
const FOUND_TOOLS: usize = 10;
/// Services that one search names.
const SEARCHED_SERVICES_MAX: usize = 5;
/// Violations that the message of a failure holds.
const VIOLATIONS_SHOWN: usize = 5;

/// What is the same for all steps of a run.
#[derive(Clone, Debug)]
pub(super) struct RunFacts {
    pub run_id: String,
    pub user: UserId,
    pub session_id: Option<String>,
    pub dry_run: bool,
    /// The receipt of the run.
    pub execution_id: Text,
    /// Of the script, hexadecimal.
    pub script_sha256: String,
    pub created_at_ms: i64,
}

/// What a step works with.
pub(super) struct StepContext {
    pub gateway: Arc<Gateway>,
    pub caller: Caller,
    /// When the caller was last looked at.
    pub looked_ms: AtomicI64,
    pub facts: RunFacts,
    /// Cancelled once no step begins any more: what only waits ends.
    pub stopping: CancellationToken,
    /// Cancelled once no outcome is wanted any more. A call that may write goes on.
    pub cancelled: CancellationToken,
}

/// A step that has begun.
pub(super) struct BegunStep {
    pub step: EngineStep,
    /// Of a step that calls one that exists.
    pub tool: Option<Arc<Tool>>,
    /// The tool that an earlier process began.
    pub begun_as: Option<String>,
    /// When it first began: in an earlier process, where the run was resumed.
    pub began_at_ms: i64,
    /// How often it had to wait for a person.
    pub waited: u32,
}

/// How a step ended.
pub(super) enum StepEnd {
    Settled {
        value: StepValue,
        execution_id: Option<String>,
    },
    /// A person has to do something, and then it is done again.
    Waits(ScriptPause),
    /// A dry run held it back.
    Planned(PlannedScriptCall),
    /// It has no outcome because none is wanted any more.
    Left,
    /// The gateway cannot go on with the run at the moment, or not for this caller.
    Stopped(Error),
}

impl StepEnd {
    fn value(value: StepValue) -> Self {
        Self::Settled {
            value,
            execution_id: None,
        }
    }
}

/// Runs one step to its end.
pub(super) async fn run_step(of: &StepContext, asked: &BegunStep) -> StepEnd {
    let looked = of.gateway.caller_of_step(&of.caller, &of.looked_ms);
    let caller = match looked.await {
        Ok(caller) => caller,
        Err(error) => return StepEnd::Stopped(error),
    };
    // It counts as the request that it would be outside of a run.
    if let Err(error) = of.gateway.identity.count_request(&caller).await {
        return refused(error);
    }
    let value = match asked.step.kind {
        EngineStepKind::Tool => return call_tool(of, &caller, asked).await,
        EngineStepKind::Search => search(of, &caller, &asked.step).await,
        EngineStepKind::Describe => describe(of, &caller, &asked.step).await,
        EngineStepKind::Skill => skill(of, &caller, &asked.step).await,
        EngineStepKind::Sleep => return sleep(of, asked).await,
    };
    match value {
        Ok(value) => StepEnd::value(step_value(&value)),
        Err(error) => refused(error),
    }
}

/// Waits; after a resume for what is left of the time.
async fn sleep(of: &StepContext, asked: &BegunStep) -> StepEnd {
    let wanted = asked.step.arguments()["ms"].as_f64();
    let wanted = wanted.filter(|ms| (0.0..=SLEEP_MS_MAX as f64).contains(ms));
    let Some(wanted) = wanted else {
        let message = format!("sleep takes 0 to {SLEEP_MS_MAX} milliseconds");
        return StepEnd::value(Err(StepFailure::new("invalid_request", message)));
    };
    let slept_ms = (of.gateway.clock.now_ms() - asked.began_at_ms).max(0);
    let rest = Duration::from_secs_f64(wanted / 1_000.0)
        .saturating_sub(Duration::from_millis(slept_ms.unsigned_abs()));
    tokio::select! {
        () = tokio::time::sleep(rest) => StepEnd::value(Ok(RawValue::NULL.to_owned())),
        () = of.stopping.cancelled() => StepEnd::Left,
    }
}

async fn call_tool(of: &StepContext, caller: &Caller, asked: &BegunStep) -> StepEnd {
    if let Some(begun) = begun_as_another(of, asked) {
        return gone_tool(of, caller, begun).await;
    }
    let Some(tool) = &asked.tool else {
        return unknown_tool(of, caller, &asked.step).await;
    };
    let plan = CallPlan::new(tool.effect(), of.facts.dry_run);
    let attempt = match plan.has_key.then(|| keyed(of, asked, tool)).transpose() {
        Ok(attempt) => attempt,
        Err(error) => return refused(error),
    };
    let request = Execute {
        tool_name: tool.name.to_string(),
        arguments: Arguments::Text(asked.step.arguments_text().to_owned()),
        session_id: of.facts.session_id.clone(),
        user_id: Some(of.facts.user.clone()),
        connection_id: None,
        dry_run: plan.is_held_back,
        budget: Budget::default(),
        claim: None,
        listener: CallListener {
            events: None,
            cancelled: Some(of.cancelled.clone()),
        },
        parent_execution_id: Some(of.facts.execution_id.clone()),
    };
    let ran = loop {
        let call = of
            .gateway
            .execute_once(caller, attempt.clone(), request.clone());
        match Box::pin(call).await {
            // An earlier process may still be in it, or has died in it: its key says which, after a while.
            Err(Error::InProgress { retry_after_s }) => {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(retry_after_s)) => {}
                    () = of.stopping.cancelled() => return StepEnd::Left,
                }
            }
            ran => break ran,
        }
    };
    match ran {
        Ok(IdempotentAnswer::New(ran)) => end_of_call(of, &asked.step, tool, plan, ran),
        Ok(IdempotentAnswer::Again(kept)) => match AgainExecution::read(&kept) {
            Ok(kept) => StepEnd::Settled {
                execution_id: Some(kept.execution_id.clone()),
                value: kept.value(tool),
            },
            Err(cause) => refused(Error::Internal(cause.into())),
        },
        Err(error) => refused(error),
    }
}

/// The key of a write: of the run, the step and the try.
fn keyed(of: &StepContext, asked: &BegunStep, tool: &Tool) -> Result<KeyedRequest, Error> {
    let key = key_of(&of.facts.run_id, asked.step.step, asked.waited);
    let body = json!({ "tool": tool.name.as_str(), "arguments": asked.step.arguments() });
    KeyedRequest::new(&key, "script step", body)
}

fn end_of_call(
    of: &StepContext,
    step: &EngineStep,
    tool: &Tool,
    plan: CallPlan,
    ran: Execution,
) -> StepEnd {
    if let Some(pause) = pause_of(step, &ran) {
        return StepEnd::Waits(pause);
    }
    let value = match ran.outcome {
        Outcome::DryRun { .. } => return StepEnd::Planned(planned(step, &tool.name)),
        // It returned without sending anything: what it would return after a write is not known.
        Outcome::Success { .. } if plan.is_held_back => {
            return StepEnd::Planned(planned(step, &tool.name));
        }
        Outcome::Success {
            result,
            files,
            next_cursor,
            ..
        } => tool_value(tool, &result, files, next_cursor.as_deref()),
        Outcome::Error {
            reason: FailureReason::Cancelled,
            ..
        } if of.cancelled.is_cancelled() => return StepEnd::Left,
        Outcome::Error { error, .. } => Err(error.into()),
        Outcome::AuthRequired(connect) | Outcome::AuthExpired(connect) => {
            Err(StepFailure::new(&connect.reason, connect.message))
        }
        Outcome::ApprovalRequired(needed) => Err(StepFailure::new(&needed.reason, needed.message)),
    };
    StepEnd::Settled {
        value,
        execution_id: Some(ran.execution_id.to_string()),
    }
}

/// The tool that an earlier process began and that may have written, where the name now means another tool or none.
fn begun_as_another<'a>(of: &StepContext, asked: &'a BegunStep) -> Option<&'a str> {
    let begun = asked.begun_as.as_deref()?;
    let is_same = asked.tool.as_ref().is_some_and(|tool| *tool.name == *begun);
    // A dry run has written nothing.
    if is_same || of.facts.dry_run {
        return None;
    }
    let snapshot = of.gateway.snapshot();
    let may_write = match snapshot.catalog.get(begun) {
        Some(tool) => tool.effect() != Effect::Read,
        None => true,
    };
    may_write.then_some(begun)
}

/// The outcome of a step whose tool has gone since it began: nobody can ask its key any more.
async fn gone_tool(of: &StepContext, caller: &Caller, begun: &str) -> StepEnd {
    let permissions = match of.gateway.permissions_of(caller, &of.facts.user).await {
        Ok(permissions) => permissions,
        Err(error) => return refused(error),
    };
    if let Error::ToolNotLoaded { .. } = of.gateway.tool_not_found(begun, &permissions) {
        return StepEnd::Stopped(Error::Overloaded {
            retry_after_s: RETRY_AFTER_S,
        });
    }
    let message = format!(
        "the call of {begun} had begun before the run was resumed, and there is no such tool any more: look whether it was done"
    );
    StepEnd::value(Err(StepFailure::new("outcome_unknown", message)))
}

/// A name that no tool has, with those that come nearest.
async fn unknown_tool(of: &StepContext, caller: &Caller, step: &EngineStep) -> StepEnd {
    match of.gateway.permissions_of(caller, &of.facts.user).await {
        Ok(permissions) => {
            let name = format!("{}_{}", step.service, step.function);
            match of.gateway.tool_not_found(&name, &permissions) {
                // It may be among those that are still being loaded: the run goes on later.
                Error::ToolNotLoaded { .. } => StepEnd::Stopped(Error::Overloaded {
                    retry_after_s: RETRY_AFTER_S,
                }),
                unknown => refused(unknown),
            }
        }
        Err(error) => refused(error),
    }
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    services: Option<Vec<String>>,
}

/// The tools that fit, best first, each with what the script calls it by.
async fn search(of: &StepContext, caller: &Caller, step: &EngineStep) -> Result<Value, Error> {
    let wanted: SearchArguments = read(step, "search takes a query, and limit and services")?;
    let limit = wanted.limit.unwrap_or(FOUND_TOOLS);
    let services: Vec<Option<String>> = match wanted.services {
        Some(services) if services.len() > SEARCHED_SERVICES_MAX => {
            return Err(Error::InvalidRequest(format!(
                "search takes at most {SEARCHED_SERVICES_MAX} services"
            )));
        }
        Some(services) if !services.is_empty() => services.into_iter().map(Some).collect(),
        _ => vec![None],
    };
    let mut found = Vec::new();
    for service in services {
        let request = SearchTools {
            query: wanted.query.clone(),
            service,
            limit,
            schema_limit: 0,
            user_id: Some(of.facts.user.clone()),
            schema_address: str::to_owned,
        };
        let search = of.gateway.search_tools(caller, request);
        found.extend(Box::pin(search).await?.tools);
    }
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(limit);
    let shown = found.iter().map(|tool| {
        json!({
            "name": tool.name,
            "service": tool.service,
            "function": script_function(&tool.service, &tool.name),
            "description": tool.description,
            "annotations": tool.annotations,
            "connection": tool.connection,
            "confidence": tool.confidence,
        })
    });
    Ok(shown.collect())
}

#[derive(Deserialize)]
struct DescribeArguments {
    tool: String,
}

async fn describe(of: &StepContext, caller: &Caller, step: &EngineStep) -> Result<Value, Error> {
    let wanted: DescribeArguments = read(step, "describe takes the name of a tool")?;
    let user = Some(of.facts.user.clone());
    let schema = of.gateway.tool_schema(caller, &wanted.tool, user).await?;
    let mut shown = written(&schema)?;
    shown["function"] = script_function(&schema.service, &schema.name).into();
    Ok(shown)
}

#[derive(Deserialize)]
struct SkillArguments {
    name: String,
}

/// The newest Skill of a name, or the one with this id.
async fn skill(of: &StepContext, caller: &Caller, step: &EngineStep) -> Result<Value, Error> {
    let SkillArguments { name } = read(step, "skills.get takes the name of a Skill")?;
    if toolgate_core::ids::is_uuid(&name) {
        return written(&of.gateway.skill(caller, &name).await?);
    }
    let listed = ListSkills {
        query: name.clone(),
        limit: crate::skills::LIST_LIMIT_MAX,
        offset: 0,
    };
    let listed = of.gateway.list_skills(caller, listed).await?;
    let found = listed.skills.into_iter().find(|skill| skill.name == name);
    let found =
        found.ok_or_else(|| Error::SkillNotFound(toolgate_core::visible::shown_name(&name)))?;
    written(&of.gateway.skill(caller, &found.skill_id).await?)
}

fn read<T: for<'de> Deserialize<'de>>(step: &EngineStep, takes: &str) -> Result<T, Error> {
    serde_json::from_str(step.arguments_text()).map_err(|_| Error::InvalidRequest(takes.to_owned()))
}

fn written(answer: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(|cause| Error::Internal(cause.into()))
}

/// What a refusal is to the run.
fn refused(error: Error) -> StepEnd {
    match error {
        Error::Stopping
        | Error::DatabaseUnavailable(_)
        | Error::InvalidApiKey
        | Error::InvalidAccessToken
        | Error::SignInRequired => StepEnd::Stopped(error),
        error => StepEnd::Settled {
            execution_id: match &error {
                Error::OutcomeUnknown { execution_id, .. } => Some(execution_id.clone()),
                _ => None,
            },
            value: Err(failure_of(&error)),
        },
    }
}

/// The refusal as the script catches it: with the next step, and with what is wrong in the arguments.
fn failure_of(error: &Error) -> StepFailure {
    if let Error::Internal(cause) = error {
        tracing::error!(error = format!("{cause:#}"), "scripts.step_failed");
    }
    let mut message = error.to_string();
    if let Error::InvalidArguments { violations, .. } = error {
        for violation in violations.iter().take(VIOLATIONS_SHOWN) {
            message.push_str(&format!("; {}: {}", violation.path, violation.message));
        }
    }
    if let Some(hint) = error.hint() {
        message.push_str(". ");
        message.push_str(&hint);
    }
    StepFailure {
        can_retry: error.retry_after_s().is_some(),
        ..StepFailure::new(error.code(), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_catalog::Violation;

    #[test]
    fn a_refusal_says_what_is_wrong_and_whether_to_try_again() {
        let violation = Violation {
            path: "/title".to_owned(),
            message: "is required".to_owned(),
        };
        let refused = failure_of(&Error::InvalidArguments {
            tool_name: "github_create_issue".to_owned(),
            violations: vec![violation; VIOLATIONS_SHOWN + 1],
        });
        assert_eq!(refused.code, "invalid_arguments");
        assert!(!refused.can_retry);
        let said = refused.message.matches("/title: is required").count();
        assert_eq!(said, VIOLATIONS_SHOWN, "{}", refused.message);
        let busy = failure_of(&Error::Overloaded { retry_after_s: 1 });
        assert!(busy.can_retry, "{busy:?}");
    }

    #[test]
    fn a_key_that_is_gone_stops_the_run_and_a_denied_tool_does_not() {
        assert!(matches!(
            refused(Error::InvalidApiKey),
            StepEnd::Stopped(Error::InvalidApiKey)
        ));
        let denied = Error::PermissionDenied {
            user_id: "ada".to_owned(),
            subject: "github_create_issue".to_owned(),
        };
        let StepEnd::Settled { value, .. } = refused(denied) else {
            panic!("the script may catch it");
        };
        assert_eq!(value.unwrap_err().code, "permission_denied");
    }
}
