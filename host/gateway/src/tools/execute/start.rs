//! From a checked run to the plugin's end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use super::receipt::receipt_of;
use super::{EndedRun, PreparedRun, RunEnd, requester};
use crate::connections::{CallConnection, PreparedConnection, services};
use crate::executions::ExecutionStatus;
use crate::executions::journal::RunJournal;
use crate::plugins::dev_log::CallTrace;
use crate::tools::idempotency;
use crate::tools::session_state::{DryRunState, SessionState};
use crate::{Caller, Error, Gateway};
use toolgate_catalog::manifest::Effect;
use toolgate_core::text::Text;
use toolgate_egress::{self as egress, CallLimits, Mode};
use toolgate_runtime::{Call, CallEnd, CallLog, KeyValue, Random, StartError, limits, size};
use toolgate_store::KvScope;

impl Gateway {
    /// Everything up to the plugin's end. An error: the plugin did not begin.
    pub(super) async fn start(
        self: &Arc<Self>,
        caller: &Caller,
        run: &PreparedRun,
    ) -> Result<EndedRun, Error> {
        let settings = self.services.get(&caller.workspace_id, run.tool.service());
        let grant = services::grant(&run.serving, &settings)?;
        let call_limits = CallLimits {
            timeout: timeout_of(run),
            ..CallLimits::default()
        };
        let PreparedConnection {
            connection,
            decided,
        } = self
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
            connection.check_bound(bound)?;
        }
        let sends = decided.is_none() && !run.permit.is_dry();
        if sends {
            self.mark_claim(caller, run).await?;
        }
        let scope = egress::CallScope::new(
            grant,
            connection.parameters(),
            connection.clone(),
            call_limits,
            if run.permit.is_dry() {
                Mode::DryRun
            } else {
                Mode::Live
            },
        );
        let scope = scope.with_memory(self.memory_of(caller));
        let mut scope = within_rights(scope, run, &connection);
        // A plugin without capabilities sends nothing.
        if sends && !run.serving.manifest.capabilities.is_empty() {
            scope = self.journaled(caller, run, &connection, scope);
        }
        if let Some(approved) = run.permit.approved() {
            scope = scope.with_required_plan(approved.requests.clone(), approved.whole);
        }
        let scope = Arc::new(scope);
        let wrote = Arc::new(AtomicBool::new(false));
        if let Some(outcome) = decided {
            let end = RunEnd::Decided(outcome);
            return Ok(EndedRun {
                connection,
                scope,
                end,
                wrote,
            });
        }
        let call = self.call_of(caller, run, &connection, &scope, &wrote);
        let ended = self.runtime.invoke(&run.serving.code, call).await;
        let untouched = matches!(ended, Ok(CallEnd::NoMemory))
            && scope.records().is_empty()
            && !wrote.load(Ordering::Relaxed);
        Ok(EndedRun {
            end: self.plugin_end(run, ended, untouched)?,
            connection,
            scope,
            wrote,
        })
    }

    /// `untouched`: nothing was sent and nothing stored. Without memory such a call has not begun for its requester, and
    /// may be made again.
    fn plugin_end(
        &self,
        run: &PreparedRun,
        ended: Result<CallEnd, StartError>,
        untouched: bool,
    ) -> Result<RunEnd, Error> {
        match ended {
            Ok(CallEnd::NoMemory) if untouched => Err(Error::Overloaded { retry_after_s: 1 }),
            Ok(ended) => Ok(RunEnd::Ended(ended)),
            Err(StartError::Overloaded(_)) => Err(Error::Overloaded { retry_after_s: 1 }),
            Err(StartError::Load(cause)) => {
                self.damaged_copies.note(run.serving.code.sha256(), &cause);
                Err(Error::Internal(cause.into()))
            }
        }
    }

    /// Notes what is sent while it is sent, on disk before a write.
    fn journaled(
        &self,
        caller: &Caller,
        run: &PreparedRun,
        connection: &CallConnection,
        mut scope: egress::CallScope,
    ) -> egress::CallScope {
        let mut receipt = receipt_of(caller, run, ExecutionStatus::Running, None, 0, &[], false);
        receipt.0.connection_id = connection.connection_id().map(Text::from);
        let may_write = run.tool.effect() != Effect::Read;
        let seals = self.seals(caller, run);
        if seals.is_some() {
            scope = scope.with_payload_capture();
        }
        let journal = RunJournal::new(self.receipts.clone(), *receipt, seals, may_write);
        scope.with_journal(Arc::new(journal))
    }

    /// What the runtime is given. `wrote`: set where the plugin keeps values in the session.
    fn call_of(
        self: &Arc<Self>,
        caller: &Caller,
        run: &PreparedRun,
        connection: &CallConnection,
        scope: &Arc<egress::CallScope>,
        wrote: &Arc<AtomicBool>,
    ) -> Call {
        let wanted = &run.serving.manifest.limits;
        let response_bytes_max = CallLimits::default().response_bytes_max;
        let state = SessionState {
            gateway: self.clone(),
            wrote: wrote.clone(),
            scope: KvScope {
                workspace_id: caller.workspace_id.clone(),
                session_id: run.session_id.clone(),
                service: run.serving.service.clone(),
                connection_id: connection.connection_id().map(Text::from),
            },
        };
        let kv: Arc<dyn KeyValue> = if run.permit.is_dry() {
            Arc::new(DryRunState::over(state))
        } else {
            Arc::new(state)
        };
        let rehearsal = run.permit.rehearsal();
        Call {
            requester: requester(caller),
            tool: run.tool.action().to_owned(),
            arguments: run.arguments.clone(),
            files: run.files.files.clone(),
            session: Some(run.session_id.to_string()),
            cursor: run.cursor.clone(),
            // A plugin keeps a session of its provider only where a later call can come back to it.
            meta: json!({"session_named": run.session_named}).to_string(),
            scope: scope.clone(),
            kv,
            config: connection.config(),
            timeout: timeout_of(run),
            memory_bytes_max: size::memory_bytes_max(wanted),
            response_bytes_max: wanted
                .response_mib
                .map_or(response_bytes_max, |mib| (mib as usize) << 20)
                .min(response_bytes_max),
            now_ms: rehearsal.map_or(run.started_at_ms, |one| one.now_ms),
            random: rehearsal.map_or(Random::System, |one| Random::Seeded(one.seed)),
            log: CallLog {
                execution_id: Some(run.execution_id.clone()),
                observer: run.trace.clone().map(CallTrace::observer),
            },
            listener: run.listener.clone(),
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

fn timeout_of(run: &PreparedRun) -> Duration {
    let wanted = run.serving.manifest.limits.timeout_ms;
    let wanted = wanted.map_or(limits::CALL_TIMEOUT, Duration::from_millis);
    wanted.min(limits::CALL_TIMEOUT)
}

/// What the tool may send, by its manifest.
fn within_rights(
    scope: egress::CallScope,
    run: &PreparedRun,
    connection: &CallConnection,
) -> egress::CallScope {
    let declarations = egress::Declarations::new(run.serving.manifest.clone());
    let mut scope = scope
        .with_declarations(declarations)
        .knowing(connection.secrets().scrubber());
    if let Some(request) = &run.tool.spec().request {
        scope = scope.sending(egress::DescribedSend::new(
            request,
            &connection.config(),
            &run.arguments,
        ));
    }
    if run.tool.effect() == Effect::Read {
        let queries = &run.tool.spec().queries;
        scope = scope.reading(egress::AllowedQueries::new(queries, &connection.config()));
        if let Some(cancelled) = &run.listener.cancelled {
            scope = scope.cancelled_by(cancelled.clone());
        }
    } else if let Some(cancelled) = run
        .listener
        .cancelled
        .as_ref()
        .filter(|_| run.claim.is_none())
    {
        // A tool that may write is never cut off between two requests: it stops where it asks, or where its server does.
        // A requester with a key comes back for the outcome.
        scope = scope.passing_on(cancelled.clone());
    }
    scope
}
