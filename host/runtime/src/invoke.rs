//! One call: a fresh store, one instance, one invocation, one ending.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::ResourceTable;

use super::bindings::integration;
use super::blob::CallFile;
use super::engine_pool::EnginePool;
use super::fair::slices::slices;
use super::fair::{CallClaim, Requester};
use super::guest::{Guest, KeyValue, cut};
use super::limits::{self, LimitExceeded};
use super::listener::{CallListener, EventCounts};
use super::log::{CallLog, LineLevel};
use super::meter::{BudgetedMeter, Meter};
use super::outcome::{CallEnd, Crash, DryRunEnded, StartError};
use super::processor_time::ProcessorTime;
use super::random::Random;
use super::returned::{MESSAGE_BYTES_MAX, collect, refusal, scrub_output};
use super::{Plugin, Runtime};
use toolgate_core::memory::NoFreeMemory;
use toolgate_core::trace::{Attribute, SpanKind, TraceSpan};
use toolgate_egress::CallScope;

/// The input of one call; the arguments are already valid against the tool's schema.
pub struct Call {
    /// Whose limits it counts against.
    pub requester: Requester,
    /// Action name without the service prefix.
    pub tool: String,
    pub arguments: String,
    /// The files that the arguments name by their handles.
    pub files: Arc<[CallFile]>,
    pub session: Option<String>,
    pub cursor: Option<String>,
    /// One JSON object.
    pub meta: String,
    pub scope: Arc<CallScope>,
    pub kv: Arc<dyn KeyValue>,
    /// Operator settings and connection parameters as JSON values.
    pub config: Arc<BTreeMap<String, String>>,
    pub timeout: Duration,
    pub memory_bytes_max: usize,
    pub response_bytes_max: usize,
    pub now_ms: i64,
    pub random: Random,
    pub log: CallLog,
    pub listener: CallListener,
}

/// Longest name of a function in a report of a crash.
const FUNCTION_BYTES_MAX: usize = 256;

impl Runtime {
    /// Runs one call of `plugin`. It does not start where its requester has used its share of the places.
    pub async fn invoke(&self, plugin: &Plugin, call: Call) -> Result<CallEnd, StartError> {
        let (code, pool) = plugin.code(self).await?;
        let claim = CallClaim::new(call.requester.clone(), &plugin.service);
        let waiting = TraceSpan::begin(SpanKind::Internal, || "sandbox wait");
        let _place = pool.admit(&claim).await?;
        drop(waiting);
        let mut span =
            TraceSpan::begin(SpanKind::Internal, || format!("sandbox {}", plugin.service));
        let timeout = call.timeout.min(limits::CALL_TIMEOUT);
        let scope = call.scope.clone();
        let (mut store, invocation) = self.prepare(pool, &plugin.service, call, timeout);
        let deadline = store.data().deadline;
        let code = code.clone();
        // One future, which continues on another thread where the guest computes for a long time.
        let run = span.scope(async move {
            let run = async {
                let bindings = code.instantiate_async(&mut store).await?;
                let returned = bindings
                    .toolgate_plugin_integration()
                    .call_invoke(&mut store, &invocation)
                    .await?;
                collect(&mut store, returned)
            };
            // Epochs do not end a guest that waits in the host: the whole call has a wall clock too.
            let ended = tokio::time::timeout_at(deadline, run).await;
            (store, ended)
        });
        let (mut store, ended) = slices(&self.inner.compute, claim, run).await;
        let memory_bytes = store.data().limiter.meter.memory_bytes();
        pool.note_memory(memory_bytes);
        store.data_mut().flush_stdio();
        store.data_mut().end_requests().await;
        // A guest sees a failed `wasi:http` request and may continue; what it does then is not what it
        // would have done.
        if scope.is_dry_run() && !scope.planned().is_empty() {
            return Ok(CallEnd::DryRun);
        }
        let end = match ended {
            Err(_elapsed) => CallEnd::TimedOut,
            // A guest sees a failed request; what it makes of it says nothing of what its provider has done.
            Ok(_) if scope.ran_out_of_memory() => CallEnd::NoMemory,
            Ok(Ok(Ok(output))) => scrub_output(&scope, output),
            Ok(Ok(Err(error))) => CallEnd::Refused(refusal(&scope, error)),
            Ok(Err(cause)) => broken(&scope, store.data(), &cause),
        };
        span.note(|span| {
            span.set(Attribute::Service, plugin.service.to_string().into());
            let memory_bytes = i64::try_from(memory_bytes).unwrap_or(i64::MAX);
            span.set(Attribute::SandboxMemory, memory_bytes.into());
            span.set(Attribute::SandboxEnd, end.as_str().into());
            if end.is_failure() {
                span.fail(end.as_str().into());
            }
        });
        Ok(end)
    }

    pub(super) fn prepare(
        &self,
        pool: &EnginePool,
        service: &Arc<str>,
        call: Call,
        timeout: Duration,
    ) -> (Store<Guest>, integration::Invocation) {
        let guest = Guest {
            service: service.clone(),
            egress: self.inner.egress.clone(),
            scope: call.scope,
            kv: call.kv,
            config: call.config,
            deadline: Instant::now() + timeout,
            now_ms: call.now_ms,
            random: call.random,
            seeded: call.random.generator(),
            response_bytes_max: call.response_bytes_max,
            table: {
                let mut table = ResourceTable::new();
                table.set_max_capacity(limits::RESOURCES_MAX);
                table
            },
            limiter: BudgetedMeter::new(
                Meter::new(pool.size, call.memory_bytes_max),
                self.inner.memory.account(call.requester.workspace).hold(),
            ),
            blob_bytes: 0,
            files: call.files,
            processor_time: ProcessorTime::default(),
            tool: call.tool.clone(),
            log: call.log,
            log_lines: 0,
            listener: call.listener,
            event_counts: EventCounts::default(),
            panic: None,
            wasi: None,
        };
        let mut store = Store::new(&pool.engine, guest);
        store.limiter_async(|guest| &mut guest.limiter);
        store.set_hostcall_fuel(limits::HOSTCALL_BYTES_MAX);
        store.set_max_component_handles(limits::RESOURCES_MAX);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| {
            let guest = store.data_mut();
            guest.processor_time.charge();
            if guest.processor_time.is_exceeded() {
                return Err(LimitExceeded::Cpu(guest.processor_time.max().as_secs()).into());
            }
            Ok(UpdateDeadline::Yield(1))
        });
        let invocation = integration::Invocation {
            tool: call.tool,
            arguments: call.arguments,
            session: call.session,
            cursor: call.cursor,
            meta: call.meta,
        };
        (store, invocation)
    }
}

/// The guest did not return: a limit, the end of a dry run, or a crash.
fn broken(scope: &CallScope, guest: &Guest, cause: &wasmtime::Error) -> CallEnd {
    if cause.downcast_ref::<DryRunEnded>().is_some() {
        return CallEnd::DryRun;
    }
    if let Some(exceeded) = cause.downcast_ref::<LimitExceeded>() {
        return CallEnd::LimitExceeded(exceeded.to_string());
    }
    if cause.downcast_ref::<NoFreeMemory>().is_some() {
        return CallEnd::NoMemory;
    }
    if let Some(exceeded) = &guest.limiter.meter.exceeded {
        return CallEnd::LimitExceeded(exceeded.to_string());
    }
    if handed_too_much(cause) {
        let exceeded = LimitExceeded::Handed(limits::HOSTCALL_BYTES_MAX >> 20);
        return CallEnd::LimitExceeded(exceeded.to_string());
    }
    let trap = cause.downcast_ref::<Trap>();
    let why = match trap {
        Some(Trap::StackOverflow) => "the plugin's call stack overflowed".to_owned(),
        Some(Trap::UnreachableCodeReached) => "the plugin panicked".to_owned(),
        Some(trap) => format!("the plugin trapped: {trap}"),
        None => format!("the plugin broke its contract: {}", cause.root_cause()),
    };
    let function = crashed_in(cause);
    tracing::warn!(
        plugin.service = &*guest.service,
        plugin.tool = guest.tool,
        plugin.function = function.as_deref().unwrap_or("-"),
        execution_id = guest.log.execution_id.as_deref().unwrap_or("-"),
        error = %cut(&scope.scrub(&format!("{cause:#}")), 1024),
        "runtime.plugin_crashed: {}",
        guest.panic.as_deref().unwrap_or(&why)
    );
    if let (Some(observer), Some(function)) = (&guest.log.observer, &function) {
        observer(LineLevel::Error, &format!("crashed in {function}"));
    }
    CallEnd::Crashed(Crash {
        message: cut(&scope.scrub(&why), MESSAGE_BYTES_MAX),
        trapped: trap.is_some_and(|trap| !is_bound(*trap)),
        panic: guest.panic.clone(),
        function,
    })
}

/// The innermost function of the plugin itself: functions of the language's library, which a panic
/// passes through, are left out. `None` where the file has no names.
pub(super) fn crashed_in(cause: &wasmtime::Error) -> Option<String> {
    const LIBRARIES: [&str; 10] = [
        "std::",
        "<std::",
        "core::",
        "<core::",
        "alloc::",
        "<alloc::",
        "__rust",
        "rust_",
        "toolgate_sdk::",
        "cabi_",
    ];
    let trace = cause.downcast_ref::<wasmtime::WasmBacktrace>()?;
    let names = trace.frames().iter().filter_map(|frame| frame.func_name());
    // Names of Rust without the hash at their end; those of other languages as they are.
    let mut names = names.map(|name| format!("{:#}", rustc_demangle::demangle(name)));
    let name = names.find(|name| {
        let own = LIBRARIES.iter().all(|library| !name.starts_with(library));
        own && !matches!(name.as_str(), "abort" | "__cxa_throw")
    })?;
    Some(cut(&name, FUNCTION_BYTES_MAX))
}

/// Traps after which a resource is exhausted: the size of the arguments or of a response may be the cause.
fn is_bound(trap: Trap) -> bool {
    matches!(
        trap,
        Trap::StackOverflow | Trap::Interrupt | Trap::OutOfFuel | Trap::AllocationTooLarge
    )
}

/// Whether the runtime stopped copying from the guest. Its error for that has no type that could be
/// asked for; a result beyond its bound by little is refused by [`collect`].
pub(super) fn handed_too_much(cause: &wasmtime::Error) -> bool {
    let said = cause.root_cause().to_string();
    said.starts_with("too much data is being copied between the host and the guest")
}
