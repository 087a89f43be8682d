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
mod start;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arguments::FittedArguments;
pub(crate) use arguments::checked_session_id;
use permit::Permit;
use receipt::{failure_text, receipt_of};
use settle::{after_the_run, outcome_unknown};

use crate::access::permissions::Permissions;
use crate::connections::{CallConnection, ConnectRequest};
use crate::detached::detach;
use crate::executions::ExecutionStatus;
use crate::plugins::ServingPlugin;
use crate::plugins::dev_log::CallTrace;
use crate::tools::files::call::HeldFiles;
use crate::tools::idempotency::ClaimedKey;
use crate::tools::outcome::{outcome, provider_error, status_of, unclear_write};
use crate::tools::repeats::{AwaitedRun, RepeatKey, writes};
use crate::tools::results::Budget;
use crate::tools::{Execute, Execution, FailureReason, Outcome};
use crate::{Caller, Error, Gateway, Scope};
use toolgate_catalog::Tool;
use toolgate_catalog::manifest::Effect;
use toolgate_core::ids::{self, UserId};
use toolgate_core::text::Text;
use toolgate_egress as egress;
use toolgate_runtime::{CallEnd, CallListener, Requester};

/// One run, checked and ready to start.
struct PreparedRun {
    tool: Arc<Tool>,
    serving: Arc<ServingPlugin>,
    /// The JSON text that the plugin is given, each number as it was written.
    arguments: String,
    /// The files that the arguments name.
    files: HeldFiles,
    /// Places of texts in the arguments that were taken as another kind of value.
    coerced: Vec<String>,
    /// Page to continue from: the argument `cursor` of a paginated tool.
    cursor: Option<String>,
    user: UserId,
    session_id: Text,
    /// The caller has named the session.
    session_named: bool,
    /// The caller's choice among the user's connections, or the one that an approval is bound to.
    connection_id: Option<String>,
    execution_id: Text,
    /// The run of a script that calls.
    parent_execution_id: Option<Text>,
    permit: Permit,
    budget: Budget,
    claim: Option<ClaimedKey>,
    /// Of a write that must not be repeated blindly.
    repeat: Option<RepeatKey>,
    started_at_ms: i64,
    /// Where its author follows it.
    trace: Option<Arc<CallTrace>>,
    /// Who waits for it.
    listener: CallListener,
}

/// A run whose plugin has ended, or that was decided without it.
struct EndedRun {
    connection: Arc<CallConnection>,
    scope: Arc<egress::CallScope>,
    end: RunEnd,
    /// Whether the plugin has kept values in the session.
    wrote: Arc<AtomicBool>,
}

/// A run with what its requester gets.
struct SettledRun {
    outcome: Result<Outcome, Error>,
    status: (ExecutionStatus, Option<FailureReason>),
    requests: Vec<egress::RequestRecord>,
    connection: Arc<CallConnection>,
    scope: Arc<egress::CallScope>,
    /// Whether the plugin has kept values in the session.
    wrote: bool,
    /// Whether the plugin's code crashed.
    trapped: bool,
}

enum RunEnd {
    /// The connection said what the call comes to.
    Decided(Outcome),
    Ended(CallEnd),
}

impl Gateway {
    /// Runs one tool for a user. Everything after the checks is an [`Execution`] with a receipt,
    /// whatever its outcome.
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
        let awaited = AwaitedRun::begin(
            &self.repeats,
            run.repeat.clone(),
            run.execution_id.clone(),
            run.started_at_ms,
        );
        let (gateway, caller) = (self.clone(), caller.clone());
        let run = Box::pin(async move {
            spans::ready(&mut span, &run);
            let ended = span.scope(gateway.run(&caller, run)).await;
            spans::ended(&mut span, &ended);
            ended
        });
        let ended = detach(&self.running, &self.workers, run).await;
        awaited.answered();
        ended
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
        if let Some(key) = &run.repeat {
            self.repeats.check(key, run.started_at_ms)?;
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
        mut request: Execute,
    ) -> Result<PreparedRun, Error> {
        request.budget.check()?;
        let snapshot = self.snapshot();
        let Some(tool) = snapshot.catalog.get(&request.tool_name).cloned() else {
            return Err(self.no_tool(&request.tool_name, permissions).await);
        };
        permissions.check(&user, &tool)?;
        let serving = snapshot
            .serving
            .get(tool.service())
            .cloned()
            .ok_or_else(|| self.tool_not_found(&tool.name, permissions))?;
        let arguments = std::mem::take(&mut request.arguments);
        let FittedArguments {
            mut value,
            exact,
            coerced,
        } = self.fit(caller, &tool, arguments).await?;
        let files = self.call_files(caller, &user, &value).await?;
        let repeat = RepeatKey::of(caller, &user, &tool, &request, (&value, &exact));
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
            cursor: tool.take_cursor(&mut value),
            arguments: exact.write(&value),
            files,
            coerced,
            user,
            session_id,
            session_named,
            connection_id: request.connection_id,
            budget: request.budget,
            claim: request.claim,
            repeat,
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
            parent_execution_id: request.parent_execution_id,
            tool,
            serving,
        })
    }

    async fn run(self: &Arc<Self>, caller: &Caller, run: PreparedRun) -> Result<Execution, Error> {
        let _running = self.metrics.execution_started();
        let began = Instant::now();
        let ended = match self.start(caller, &run).await {
            Ok(ended) => ended,
            Err(error) => {
                self.give_back(caller, &run).await;
                return Err(error);
            }
        };
        let settled = self.settle(caller, &run, ended).await;
        self.finish(caller, &run, settled, began.elapsed()).await
    }

    /// What the call comes to for its requester.
    async fn settle(
        self: &Arc<Self>,
        caller: &Caller,
        run: &PreparedRun,
        ended: EndedRun,
    ) -> SettledRun {
        let EndedRun {
            connection,
            scope,
            end,
            wrote,
        } = ended;
        let files = self.keep_returned(caller, run, &end).await;
        let trapped = matches!(&end, RunEnd::Ended(CallEnd::Crashed(crash)) if crash.trapped);
        let (mut outcome, failure) = match end {
            RunEnd::Decided(outcome) => (outcome, None),
            RunEnd::Ended(CallEnd::Refused(refusal)) => {
                self.note_unknown_tool(&run.serving, &refusal);
                let asking = ConnectRequest {
                    caller,
                    user: &run.user,
                    tool: &run.tool,
                    serving: &run.serving,
                    of: None,
                };
                match self.after_refusal(asking, &connection, &refusal).await {
                    Ok(Some(outcome)) => (outcome, None),
                    Ok(None) => (provider_error(refusal), None),
                    Err(failure) => (provider_error(refusal), Some(failure)),
                }
            }
            RunEnd::Ended(ended) => (outcome(&scope, ended, files), None),
        };
        let requests = scope.records();
        if run.tool.effect() != Effect::Read && !run.tool.idempotent() {
            unclear_write(&mut outcome, &requests);
        }
        let own = status_of(&outcome);
        let outcome = match failure {
            Some(failure) => Err(failure),
            None => self.settle_outcome(caller, run, &scope, outcome).await,
        };
        SettledRun {
            // A failure of the gateway does not change what the plugin did.
            status: outcome.as_ref().map_or(own, status_of),
            outcome,
            requests,
            connection,
            scope,
            wrote: wrote.load(Ordering::Relaxed),
            trapped,
        }
    }

    /// Why no tool of this name can be executed.
    async fn no_tool(&self, name: &str, permissions: &Permissions) -> Error {
        let missing = self.tool_not_found(name, permissions);
        if !matches!(missing, Error::ToolNotFound { .. }) {
            return missing;
        }
        let service = match self.withdrawn_by(name).await {
            Ok(service) => service,
            Err(cause) => return cause,
        };
        let snapshot = self.snapshot();
        let shown = |service: &String| {
            let mut tools = snapshot.catalog.tools().iter();
            tools.any(|tool| tool.service() == service && permissions.shows(tool))
        };
        match service.filter(shown) {
            Some(service) => Error::ToolWithdrawn {
                tool_name: name.to_owned(),
                service,
            },
            None => missing,
        }
    }

    /// Counts the call, keeps its receipt and answers.
    async fn finish(
        self: &Arc<Self>,
        caller: &Caller,
        run: &PreparedRun,
        settled: SettledRun,
        took: Duration,
    ) -> Result<Execution, Error> {
        let (status, reason) = settled.status;
        self.count_end(caller, run, &settled, took);
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if let Some(trace) = &run.trace {
            let reason = reason.map(|reason| reason.into_str());
            trace.ended(status.into_str(), reason, duration_ms, &settled.requests);
        }
        let requests = settled.requests;
        let wrote = settled.wrote;
        let mut receipt = receipt_of(caller, run, status, reason, duration_ms, &requests, wrote);
        receipt.0.connection_id = settled.connection.connection_id().map(Text::from);
        receipt.0.result = settled.outcome.as_ref().ok().and_then(failure_text);
        if let Some(seals) = self.seals(caller, run) {
            receipt.0.payloads = seals.rows(&settled.scope.payloads());
        }
        let execution = settled.outcome.map(|outcome| Execution {
            outcome,
            execution_id: run.execution_id.clone(),
            tool_name: run.tool.name.clone(),
            service: run.serving.service.clone(),
            session_id: run.session_id.clone(),
            duration_ms,
            coerced: run.coerced.clone(),
        });
        let answer = self.answer_beside_receipt(caller, run, &execution, &requests);
        self.keep_receipt(receipt, answer, !requests.is_empty())
            .await;
        let may_write = run.tool.effect() != Effect::Read;
        execution.map_err(|error| match may_write && requests.iter().any(writes) {
            true => outcome_unknown(error, &run.execution_id),
            false => after_the_run(error),
        })
    }

    fn count_end(
        self: &Arc<Self>,
        caller: &Caller,
        run: &PreparedRun,
        settled: &SettledRun,
        took: Duration,
    ) {
        let (status, reason) = settled.status;
        self.note_end(run, settled.outcome.as_ref(), &settled.requests);
        if !run.permit.is_dry() {
            if status == ExecutionStatus::Success {
                let now_ms = self.clock.now_ms();
                self.learning
                    .executed(caller, &run.user, &run.tool.name, now_ms);
            }
            self.on_probation(&run.serving, &caller.workspace_id, settled.trapped);
        }
        self.metrics.executed(
            run.tool.service(),
            &run.tool.name,
            status.into_str(),
            reason.map_or("", |reason| reason.into_str()),
            took,
        );
    }
}

/// Against whom a call of the caller counts.
pub(crate) fn requester(caller: &Caller) -> Requester {
    Requester {
        workspace: caller.workspace_id.shared(),
        key: caller.key_id.shared(),
    }
}
