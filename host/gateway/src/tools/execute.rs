//! Running one tool: check, permit, connect, invoke, keep a receipt.
//!
//! Whatever ends a run before the plugin begins gives back what the run was permitted with; whatever
//! comes after it, there is a receipt.
//!
//! The run outlives its caller: one who hangs up leaves neither half a write nor an execution
//! without a receipt, and a panic in it ends nothing else.

mod arguments;
mod permit;
mod receipt;
mod settle;
mod spans;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) use arguments::checked_session_id;
use arguments::parse_arguments;
use permit::Permit;
use receipt::{failure_text, receipt_of};

use crate::access::permissions::Permissions;
use crate::connections::services;
use crate::connections::{CallConnection, ConnectRequest, PreparedConnection};
use crate::executions::ExecutionStatus;
use crate::executions::journal::RunJournal;
use crate::jobs::detached::detach;
use crate::plugins::ServingPlugin;
use crate::plugins::dev_log::CallTrace;
use crate::sessions::state::{DryRunState, SessionState};
use crate::tools::idempotency::{self, ClaimedKey};
use crate::tools::outcome::{outcome, provider_error, status_of, unclear_write};
use crate::tools::results::Budget;
use crate::tools::{Execute, Execution, Outcome};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::manifest::Effect;
use toolgate_catalog::{Tool, write_integers};
use toolgate_core::ids::{self, UserId};
use toolgate_core::text::Text;
use toolgate_egress::{self as egress, CallLimits, Mode};
use toolgate_runtime::{
    Call, CallEnd, CallListener, CallLog, KeyValue, Random, Requester, StartError, limits, size,
};
use toolgate_store::KvScope;

/// One run, checked and ready to start.
struct PreparedRun {
    tool: Arc<Tool>,
    serving: Arc<ServingPlugin>,
    arguments: String,
    /// Page to continue from: the argument `cursor` of a paginated tool.
    cursor: Option<String>,
    user: UserId,
    session_id: Text,
    /// The caller has named the session.
    session_named: bool,
    /// The caller's choice among the user's connections, or the one that an approval is bound to.
    connection_id: Option<String>,
    execution_id: Text,
    permit: Permit,
    budget: Budget,
    claim: Option<ClaimedKey>,
    started_at_ms: i64,
    /// Where its author follows it.
    trace: Option<Arc<CallTrace>>,
    /// Who waits for it.
    listener: CallListener,
}

/// A run whose plugin has ended, or that was decided without it.
struct EndedRun {
    held: Arc<CallConnection>,
    scope: Arc<egress::CallScope>,
    end: RunEnd,
    /// Whether the plugin has kept values in the session.
    wrote: Arc<AtomicBool>,
}

enum RunEnd {
    /// The connection said what the call comes to.
    Decided(Outcome),
    Ended(CallEnd),
}

impl Gateway {
    /// Runs one tool for a user. Everything after the checks is an [`Execution`] with a receipt,
    /// whatever became of it.
    pub async fn execute(
        self: &Arc<Self>,
        caller: &Caller,
        request: Execute,
    ) -> Result<Execution, Error> {
        let mut span = spans::begin(self, &request);
        let prepared = span.scope(self.prepare(caller, request)).await;
        let run = match prepared {
            Ok(run) => run,
            Err(error) => {
                spans::refused(&mut span, &error);
                return Err(error);
            }
        };
        let (gateway, caller) = (self.clone(), caller.clone());
        let run = Box::pin(async move {
            spans::ready(&mut span, &run);
            let ended = span.scope(gateway.run(&caller, run)).await;
            spans::ended(&mut span, &ended);
            ended
        });
        detach(&self.running, &self.workers, run)
            .await
            .map_err(|cause| Error::Internal(anyhow::Error::from(cause).context("the execution")))?
    }

    /// Everything before the run: what is asked for, whether it may be, and what it is permitted with.
    async fn prepare(
        self: &Arc<Self>,
        caller: &Caller,
        request: Execute,
    ) -> Result<PreparedRun, Error> {
        caller.need(Scope::ToolsExecute)?;
        let user = caller.user(request.user_id.as_ref())?;
        let permissions = self.permissions_of(caller, &user).await?;
        self.check_session(caller, &user, request.session_id.as_deref())
            .await?;
        let run = self.check(caller, user, &permissions, request).await?;
        if self.stop.is_cancelled() {
            return Err(Error::Stopping);
        }
        // Nothing leaves while receipts cannot be written.
        if self.receipts.behind() {
            return Err(Error::DatabaseUnavailable(None));
        }
        self.permit(caller, &permissions, run).await
    }

    async fn check(
        &self,
        caller: &Caller,
        user: UserId,
        permissions: &Permissions,
        request: Execute,
    ) -> Result<PreparedRun, Error> {
        request.budget.check()?;
        let snapshot = self.snapshot();
        let tool = snapshot
            .catalog
            .get(&request.tool_name)
            .cloned()
            .ok_or_else(|| self.tool_not_found(&request.tool_name, permissions))?;
        permissions.check(&user, &tool)?;
        let serving = snapshot
            .serving
            .get(tool.service())
            .cloned()
            .ok_or_else(|| self.tool_not_found(&tool.name, permissions))?;
        let mut arguments = parse_arguments(request.arguments)?;
        let violations = self.violations(caller, &tool, &mut arguments).await?;
        if !violations.is_empty() {
            return Err(Error::InvalidArguments {
                tool_name: tool.name.to_string(),
                violations,
            });
        }
        write_integers(&mut arguments);
        let started_at_ms = self.clock.now_ms();
        let execution_id = match &request.claim {
            Some(claim) => claim.execution_id.clone(),
            None => ids::ulid_at("exe", started_at_ms),
        };
        let session_named = request.session_id.is_some();
        let session_id = match request.session_id {
            Some(id) => checked_session_id(id)?,
            None => ids::session_of_execution(&execution_id)
                .ok_or_else(|| Error::Internal(anyhow::anyhow!("{execution_id} is not a ULID")))?,
        }
        .into();
        Ok(PreparedRun {
            cursor: tool.take_cursor(&mut arguments),
            arguments: arguments.to_string(),
            user,
            session_id,
            session_named,
            connection_id: request.connection_id,
            budget: request.budget,
            claim: request.claim,
            permit: Permit::wanted(request.dry_run),
            listener: request.listener,
            started_at_ms,
            trace: self.dev_logs.open_trace(
                tool.service(),
                tool.action(),
                &execution_id,
                started_at_ms,
            ),
            execution_id: execution_id.into(),
            tool,
            serving,
        })
    }

    async fn run(self: &Arc<Self>, caller: &Caller, run: PreparedRun) -> Result<Execution, Error> {
        let _running = self.metrics.execution_started();
        let began = Instant::now();
        let EndedRun {
            held,
            scope,
            end,
            wrote,
        } = match self.start(caller, &run).await {
            Ok(ran) => ran,
            Err(error) => {
                self.give_back(caller, &run).await;
                return Err(error);
            }
        };
        let trapped = matches!(&end, RunEnd::Ended(CallEnd::Crashed(crash)) if crash.trapped);
        let (mut outcome, trouble) = match end {
            RunEnd::Decided(outcome) => (outcome, None),
            RunEnd::Ended(CallEnd::Refused(refusal)) => {
                let asking = ConnectRequest {
                    caller,
                    user: &run.user,
                    tool: &run.tool,
                    serving: &run.serving,
                    of: None,
                };
                match self.after_refusal(asking, &held, &refusal).await {
                    Ok(Some(outcome)) => (outcome, None),
                    Ok(None) => (provider_error(refusal), None),
                    Err(trouble) => (provider_error(refusal), Some(trouble)),
                }
            }
            RunEnd::Ended(ended) => (outcome(&scope, ended), None),
        };
        let requests = scope.records();
        if run.tool.effect() != Effect::Read && !run.tool.idempotent() {
            unclear_write(&mut outcome, &requests);
        }
        let came_to = status_of(&outcome);
        let outcome = match trouble {
            Some(trouble) => Err(trouble),
            None => self.settle_outcome(caller, &run, &scope, outcome).await,
        };
        // What the plugin did stands, whatever trouble the gateway has with it.
        let (status, reason) = outcome.as_ref().map_or(came_to, status_of);
        let took = began.elapsed();
        if status == ExecutionStatus::Success && !run.permit.is_dry() {
            let now_ms = self.clock.now_ms();
            self.learning
                .executed(caller, &run.user, &run.tool.name, now_ms);
        }
        if !run.permit.is_dry() {
            self.on_probation(&run.serving, &caller.workspace_id, trapped);
        }
        self.metrics.executed(
            run.tool.service(),
            &run.tool.name,
            status.into_str(),
            reason.map_or("", |reason| reason.into_str()),
            took,
        );
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if let Some(trace) = &run.trace {
            let reason = reason.map(|reason| reason.into_str());
            trace.ended(status.into_str(), reason, duration_ms, &requests);
        }
        let mut receipt = receipt_of(
            caller,
            &run,
            status,
            reason,
            duration_ms,
            &requests,
            wrote.load(Ordering::Relaxed),
        );
        receipt.0.connection_id = held.connection_id().map(Text::from);
        receipt.0.result = outcome.as_ref().ok().and_then(failure_text);
        if let Some(seals) = self.seals(caller, &run) {
            receipt.0.payloads = seals.rows(&scope.payloads());
        }
        let execution = outcome.map(|outcome| Execution {
            outcome,
            execution_id: run.execution_id.clone(),
            tool_name: run.tool.name.clone(),
            service: run.serving.service.clone(),
            session_id: run.session_id.clone(),
            duration_ms,
        });
        let answer = self.answer_beside_receipt(caller, &run, &execution, &requests);
        self.keep_receipt(receipt, answer, !requests.is_empty())
            .await;
        let may_write = run.tool.effect() != Effect::Read;
        execution.map_err(|error| match may_write && requests.iter().any(writes) {
            true => outcome_unknown(error, &run.execution_id),
            false => after_the_run(error),
        })
    }

    /// Everything up to the plugin's end. An error: the plugin did not begin.
    async fn start(
        self: &Arc<Self>,
        caller: &Caller,
        run: &PreparedRun,
    ) -> Result<EndedRun, Error> {
        let settings = self.services.get(&caller.workspace_id, run.tool.service());
        let grant = services::grant(&run.serving, &settings)?;
        let wanted = &run.serving.manifest.limits;
        let timeout = wanted
            .timeout_ms
            .map_or(limits::CALL_TIMEOUT, Duration::from_millis);
        let call_limits = CallLimits {
            timeout: timeout.min(limits::CALL_TIMEOUT),
            ..CallLimits::default()
        };
        let PreparedConnection { held, ends } = self
            .connection_for_call(
                caller,
                &run.user,
                &run.tool,
                &run.serving,
                run.connection_id.as_deref(),
                run.permit.purpose(),
            )
            .await?;
        if let Some(bound) = run.permit.bound() {
            held.check_bound(bound)?;
        }
        let mut scope = egress::CallScope::new(
            grant,
            held.parameters(),
            held.clone(),
            call_limits,
            if run.permit.is_dry() {
                Mode::DryRun
            } else {
                Mode::Live
            },
        )
        .with_declarations(egress::Declarations::new(run.serving.manifest.clone()))
        .knowing(held.secrets().scrubber());
        if let Some(request) = &run.tool.spec().request {
            scope = scope.sending(egress::DescribedSend::new(request, &held.config()));
        }
        if run.tool.effect() == Effect::Read {
            let queries = &run.tool.spec().queries;
            scope = scope.reading(egress::AllowedQueries::new(queries, &held.config()));
            // A tool that may write is never cut off between two requests: it stops where it asks.
            if let Some(cancelled) = &run.listener.cancelled {
                scope = scope.cancelled_by(cancelled.clone());
            }
        }
        if ends.is_none() && !run.permit.is_dry() {
            self.mark_claim(caller, run).await?;
        }
        // A plugin without capabilities sends nothing.
        if ends.is_none() && !run.permit.is_dry() && !run.serving.manifest.capabilities.is_empty() {
            let mut receipt =
                receipt_of(caller, run, ExecutionStatus::Running, None, 0, &[], false);
            receipt.0.connection_id = held.connection_id().map(Text::from);
            let may_write = run.tool.effect() != Effect::Read;
            let seals = self.seals(caller, run);
            if seals.is_some() {
                scope = scope.with_payload_capture();
            }
            let journal = RunJournal::new(self.receipts.clone(), *receipt, seals, may_write);
            scope = scope.with_journal(Arc::new(journal));
        }
        if let Some(approved) = run.permit.approved() {
            scope = scope.with_required_plan(approved.requests.clone(), approved.whole);
        }
        let scope = Arc::new(scope);
        let wrote = Arc::new(AtomicBool::new(false));
        if let Some(outcome) = ends {
            let end = RunEnd::Decided(outcome);
            return Ok(EndedRun {
                held,
                scope,
                end,
                wrote,
            });
        }
        let state = SessionState {
            gateway: self.clone(),
            wrote: wrote.clone(),
            scope: KvScope {
                workspace_id: caller.workspace_id.clone(),
                session_id: run.session_id.clone(),
                service: run.serving.service.clone(),
                connection_id: held.connection_id().map(Text::from),
            },
        };
        let kv: Arc<dyn KeyValue> = if run.permit.is_dry() {
            Arc::new(DryRunState::over(state))
        } else {
            Arc::new(state)
        };
        let rehearsal = run.permit.rehearsal();
        let call = Call {
            requester: requester(caller),
            tool: run.tool.action().to_owned(),
            arguments: run.arguments.clone(),
            session: Some(run.session_id.to_string()),
            cursor: run.cursor.clone(),
            meta: "{}".to_owned(),
            scope: scope.clone(),
            kv,
            config: held.config(),
            timeout: call_limits.timeout,
            memory_bytes_max: size::memory_bytes_max(wanted),
            response_bytes_max: wanted
                .response_mib
                .map_or(call_limits.response_bytes_max, |mib| (mib as usize) << 20)
                .min(call_limits.response_bytes_max),
            now_ms: rehearsal.map_or(run.started_at_ms, |one| one.now_ms),
            random: rehearsal.map_or(Random::System, |one| Random::Seeded(one.seed)),
            log: CallLog {
                execution_id: Some(run.execution_id.clone()),
                observer: run.trace.clone().map(CallTrace::observer),
            },
            listener: run.listener.clone(),
        };
        match self.runtime.invoke(&run.serving.code, call).await {
            Ok(ended) => Ok(EndedRun {
                held,
                scope,
                end: RunEnd::Ended(ended),
                wrote,
            }),
            Err(StartError::Overloaded(_)) => Err(Error::Overloaded { retry_after_s: 1 }),
            Err(StartError::Load(cause)) => {
                self.damaged_copies.note(run.serving.code.sha256(), &cause);
                Err(Error::Internal(cause.into()))
            }
        }
    }

    /// With an `Idempotency-Key`: from here on the provider may see a write that must not be repeated.
    async fn mark_claim(&self, caller: &Caller, run: &PreparedRun) -> Result<(), Error> {
        let Some(claim) = &run.claim else {
            return Ok(());
        };
        if run.tool.effect() == Effect::Read || run.tool.idempotent() {
            return Ok(());
        }
        match self.mark_sent(caller, claim).await? {
            true => Ok(()),
            false => Err(idempotency::in_progress()),
        }
    }
}

/// Against whom a call of the caller counts.
pub(crate) fn requester(caller: &Caller) -> Requester {
    Requester {
        workspace: caller.workspace_id.shared(),
        key: caller.key_id.shared(),
    }
}

fn writes(request: &egress::RequestRecord) -> bool {
    !matches!(request.method.as_str(), "GET" | "HEAD")
}

/// The error of the gateway itself once a write had left: a caller must not take it for a call that failed.
fn outcome_unknown(error: Error, execution_id: &Text) -> Error {
    let cause = anyhow::Error::from(after_the_run(error));
    tracing::error!(%execution_id, error = format!("{cause:#}"), "execution.unsettled");
    Error::OutcomeUnknown {
        execution_id: execution_id.to_string(),
        receipt: None,
    }
}

/// Trouble that the gateway had once the plugin had run: never one that a caller takes for a call
/// that did not happen.
fn after_the_run(error: Error) -> Error {
    match error {
        Error::Internal(_) => error,
        // Without the promise that repeating it is all right: it has run.
        Error::DatabaseUnavailable(Some(cause)) => Error::Internal(cause),
        other => Error::Internal(anyhow::anyhow!("after the run: {other}")),
    }
}
