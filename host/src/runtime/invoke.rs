//! One call: a fresh store, one instance, one invocation, one ending.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::ResourceTable;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi_http::WasiHttpCtx;

use super::bindings::{integration, types};
use super::blobs::Blob;
use super::guest::{Guest, KeyValue, Random, cut};
use super::lane::Lane;
use super::limits::{self, LimitExceeded, Meter};
use super::wasi_http::Door;
use super::{LoadError, Plugin, Runtime};
use crate::egress::Scope;

/// Text of a plugin's error that reaches an agent.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
const DETAILS_BYTES_MAX: usize = 32 << 10;
/// Header maps of the wasi:http door.
const HTTP_FIELDS_BYTES_MAX: usize = 32 << 10;

/// Everything one call needs; arguments are already valid against the tool's schema.
pub struct Call {
    /// Action name without the service prefix.
    pub tool: String,
    pub arguments: String,
    pub session: Option<String>,
    pub cursor: Option<String>,
    /// One JSON object.
    pub meta: String,
    pub scope: Arc<Scope>,
    pub kv: Arc<dyn KeyValue>,
    /// Operator settings and connection parameters as JSON values.
    pub config: Arc<BTreeMap<String, String>>,
    pub timeout: Duration,
    pub memory_bytes_max: usize,
    pub response_bytes_max: usize,
    pub now_ms: i64,
    pub random: Random,
}

/// How a call ended. Texts are scrubbed and cut.
#[derive(Debug)]
pub enum Ended {
    Returned(Output),
    /// The plugin or its provider said no.
    Refused(Refusal),
    TimedOut,
    LimitExceeded(String),
    Crashed(String),
    /// The dry run reached the first answer that it would have needed.
    DryRun,
}

#[derive(Debug)]
pub struct Output {
    pub data: Box<RawValue>,
    pub files: Vec<Blob>,
    pub next_cursor: Option<String>,
    pub summary: Option<String>,
}

/// A plugin's error, as the contract's `tool-error` carries it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub kind: RefusalKind,
    pub code: Option<String>,
    pub message: String,
    pub retry_after_ms: Option<u64>,
    pub http_status: Option<u16>,
    pub field: Option<String>,
    pub details: Option<Value>,
}

/// The contract's closed list `error-kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    InvalidArguments,
    AuthRequired,
    AuthExpired,
    PermissionDenied,
    NotFound,
    Conflict,
    RateLimited,
    Upstream,
    Unavailable,
    TooLarge,
    Cancelled,
    Internal,
}

/// Cause of the trap that ends a dry run.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("dry run")]
pub(super) struct DryRunEnded;

/// Why a call did not start.
#[derive(Debug, thiserror::Error)]
pub enum NotStarted {
    #[error("{0} calls are running")]
    Overloaded(usize),
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl Runtime {
    /// Runs one call of `plugin`. Past its size's `calls_max` running calls it does not start.
    pub async fn invoke(&self, plugin: &Plugin, call: Call) -> Result<Ended, NotStarted> {
        let (code, lane) = plugin.code(self).await?;
        let _permit = lane.admit()?;
        let timeout = call.timeout.min(limits::CALL_TIMEOUT);
        let scope = call.scope.clone();
        let (mut store, invocation) = self.prepare(lane, plugin, call, timeout);
        let run = async {
            let bindings = code.instantiate_async(&mut store).await?;
            let returned = bindings
                .toolgate_plugin_integration()
                .call_invoke(&mut store, &invocation)
                .await?;
            collect(&mut store, returned)
        };
        // Epochs do not end a guest that waits in the host: the whole call has a wall clock too.
        let ended = tokio::time::timeout(timeout, run).await;
        lane.note_memory(store.data().meter.memory_bytes());
        store.data_mut().flush_stdio();
        // Behind the wasi:http door a guest learns of a failed request and may go on; the rest is not
        // what it would have done.
        if scope.is_dry_run() && !scope.planned().is_empty() {
            return Ok(Ended::DryRun);
        }
        Ok(match ended {
            Err(_elapsed) => Ended::TimedOut,
            Ok(Ok(Ok(output))) => scrub_output(&scope, output),
            Ok(Ok(Err(error))) => Ended::Refused(refusal(&scope, error)),
            Ok(Err(cause)) => broken(&scope, store.data(), &cause),
        })
    }

    pub(super) fn prepare(
        &self,
        lane: &Lane,
        plugin: &Plugin,
        call: Call,
        timeout: Duration,
    ) -> (Store<Guest>, integration::Invocation) {
        let deadline = Instant::now() + timeout;
        let guest = Guest {
            service: plugin.service.clone(),
            egress: self.inner.egress.clone(),
            scope: call.scope.clone(),
            kv: call.kv,
            config: call.config,
            deadline,
            now_ms: call.now_ms,
            random: call.random,
            response_bytes_max: call.response_bytes_max,
            table: {
                let mut table = ResourceTable::new();
                table.set_max_capacity(limits::RESOURCES_MAX);
                table
            },
            meter: Meter::new(lane.size, call.memory_bytes_max),
            blob_bytes: 0,
            cpu_ticks: 0,
            log_lines: 0,
            wasi: None,
            stdio: MemoryOutputPipe::new(limits::STDIO_BYTES_MAX),
            http: {
                let mut http = WasiHttpCtx::new();
                http.set_field_size_limit(HTTP_FIELDS_BYTES_MAX);
                http
            },
            door: Door {
                egress: self.inner.egress.clone(),
                scope: call.scope,
                deadline,
                response_bytes_max: call.response_bytes_max,
            },
        };
        let mut store = Store::new(&lane.engine, guest);
        store.limiter(|guest| &mut guest.meter);
        store.set_hostcall_fuel(limits::HOSTCALL_BYTES_MAX);
        store.set_max_component_handles(limits::RESOURCES_MAX);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| {
            let guest = store.data_mut();
            guest.cpu_ticks += 1;
            let ticks_max = limits::CPU_MAX.as_millis() / limits::EPOCH_TICK.as_millis();
            if u128::from(guest.cpu_ticks) > ticks_max {
                return Err(LimitExceeded::Cpu(limits::CPU_MAX.as_secs()).into());
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

type Returned = Result<integration::Output, types::ToolError>;

/// Takes the result out of the store while its blobs still exist.
fn collect(
    store: &mut Store<Guest>,
    returned: Returned,
) -> wasmtime::Result<Result<(integration::Output, Vec<Blob>), types::ToolError>> {
    let mut output = match returned {
        Ok(output) => output,
        Err(error) => return Ok(Err(error)),
    };
    if output.data.len() > limits::RESULT_BYTES_MAX {
        return Err(LimitExceeded::Result(limits::RESULT_BYTES_MAX >> 20).into());
    }
    let mut files = Vec::with_capacity(output.files.len());
    for handle in std::mem::take(&mut output.files) {
        files.push(store.data_mut().table.delete(handle)?);
    }
    Ok(Ok((output, files)))
}

fn scrub_output(scope: &Scope, (output, files): (integration::Output, Vec<Blob>)) -> Ended {
    let text = scope.scrub(&output.data);
    let data = match RawValue::from_string(text) {
        Ok(data) => data,
        Err(_) => return Ended::Crashed("the plugin's result is not JSON".to_owned()),
    };
    Ended::Returned(Output {
        data,
        files,
        next_cursor: output.next_cursor,
        summary: output
            .summary
            .map(|line| cut(&scope.scrub(&line), MESSAGE_BYTES_MAX)),
    })
}

fn refusal(scope: &Scope, error: types::ToolError) -> Refusal {
    let details = error
        .details
        .filter(|details| details.len() <= DETAILS_BYTES_MAX)
        .and_then(|details| serde_json::from_str(&scope.scrub(&details)).ok());
    Refusal {
        kind: match error.kind {
            types::ErrorKind::InvalidArguments => RefusalKind::InvalidArguments,
            types::ErrorKind::AuthRequired => RefusalKind::AuthRequired,
            types::ErrorKind::AuthExpired => RefusalKind::AuthExpired,
            types::ErrorKind::PermissionDenied => RefusalKind::PermissionDenied,
            types::ErrorKind::NotFound => RefusalKind::NotFound,
            types::ErrorKind::Conflict => RefusalKind::Conflict,
            types::ErrorKind::RateLimited => RefusalKind::RateLimited,
            types::ErrorKind::Upstream => RefusalKind::Upstream,
            types::ErrorKind::Unavailable => RefusalKind::Unavailable,
            types::ErrorKind::TooLarge => RefusalKind::TooLarge,
            types::ErrorKind::Cancelled => RefusalKind::Cancelled,
            types::ErrorKind::Internal => RefusalKind::Internal,
        },
        code: error.code.map(|code| cut(&scope.scrub(&code), 128)),
        message: cut(&scope.scrub(&error.message), MESSAGE_BYTES_MAX),
        retry_after_ms: error.retry_after_ms,
        http_status: error.http_status,
        field: error.field.map(|field| cut(&scope.scrub(&field), 256)),
        details,
    }
}

/// The guest did not return: a limit, the end of a dry run, or a crash.
fn broken(scope: &Scope, guest: &Guest, cause: &wasmtime::Error) -> Ended {
    if cause.downcast_ref::<DryRunEnded>().is_some() {
        return Ended::DryRun;
    }
    if let Some(exceeded) = cause.downcast_ref::<LimitExceeded>() {
        return Ended::LimitExceeded(exceeded.to_string());
    }
    if let Some(exceeded) = &guest.meter.exceeded {
        return Ended::LimitExceeded(exceeded.to_string());
    }
    let why = match cause.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => "the plugin's call stack overflowed".to_owned(),
        Some(Trap::UnreachableCodeReached) => "the plugin panicked".to_owned(),
        Some(trap) => format!("the plugin trapped: {trap}"),
        None => format!("the plugin broke its contract: {}", cause.root_cause()),
    };
    tracing::warn!(plugin.service = &*guest.service, error = %cut(&scope.scrub(&format!("{cause:#}")), 1024), "runtime.plugin_crashed");
    Ended::Crashed(cut(&scope.scrub(&why), MESSAGE_BYTES_MAX))
}
