//! Scripts: one engine component, and an instance of it that lives over several turns of one script.
//!
//! The component imports nothing: what a script learns comes as the input of a turn, and what it asks for leaves as the
//! answer. A turn takes a place among the running calls and computes in the fair shares, as a call of a plugin does; in
//! between the place is free and the instance keeps its memory, which counts in the budget of all guests.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;
use wasmtime::component::{InstancePre, TypedFunc};
use wasmtime::{Store, Trap};

use super::Runtime;
use super::engine_pool::EnginePool;
use super::fair::compute::Compute;
use super::fair::places::{CallSlot, NoFreeSlot};
use super::fair::slices::slices;
use super::fair::{CallClaim, Requester};
use super::guest::{Guest, cut};
use super::invoke::{crashed_in, handed_too_much};
use super::limits::{self, LimitExceeded};
use super::normalize::nothing;
use super::outcome::LoadError;
use super::processor_time::ProcessorTime;
use super::returned::MESSAGE_BYTES_MAX;
use toolgate_core::memory::NoFreeMemory;
use toolgate_core::trace::{Attribute, SpanKind, TraceSpan};

/// The name of scripts in the fair shares, where a plugin has that of its service.
const SERVICE: &str = "script";

/// The exports `start` and `resume` of the engine.
type ScriptFunction = TypedFunc<(String,), (String,)>;

/// The engine of scripts: one component of the gateway itself. Mapped or compiled at its first script.
pub struct ScriptEngine {
    service: Arc<str>,
    sha256: String,
    source: EngineSource,
    code: OnceCell<InstancePre<Guest>>,
}

/// Where the component's bytes are.
enum EngineSource {
    File(PathBuf),
    Embedded(&'static [u8]),
}

impl std::fmt::Debug for ScriptEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptEngine")
            .field("sha256", &self.sha256)
            .finish_non_exhaustive()
    }
}

impl ScriptEngine {
    /// `sha256`: that of the file, hexadecimal. A file with another one is not loaded.
    pub fn new(sha256: &str, file: &Path) -> Self {
        Self::from_source(sha256.to_owned(), EngineSource::File(file.to_owned()))
    }

    /// A component that the program carries.
    pub fn embedded(wasm: &'static [u8]) -> Self {
        let sha256 = hex::encode(Sha256::digest(wasm));
        Self::from_source(sha256, EngineSource::Embedded(wasm))
    }

    fn from_source(sha256: String, source: EngineSource) -> Self {
        Self {
            service: SERVICE.into(),
            sha256,
            source,
            code: OnceCell::new(),
        }
    }

    /// SHA-256 of the component, hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    async fn code(&self, pool: &Arc<EnginePool>) -> Result<&InstancePre<Guest>, LoadError> {
        let bytes = async {
            match &self.source {
                EngineSource::File(file) => tokio::fs::read(file).await,
                EngineSource::Embedded(wasm) => Ok(wasm.to_vec()),
            }
        };
        self.code
            .get_or_try_init(|| pool.map_own(&self.sha256, bytes))
            .await
    }
}

/// What one script may use, over all its turns.
#[derive(Clone, Copy, Debug)]
pub struct ScriptLimits {
    /// Guest memory; never more than [`limits::MEMORY_BYTES_MAX`].
    pub memory_bytes_max: usize,
    pub processor_time_max: Duration,
}

/// Why a script ended without an answer, or did not start. Texts are cut.
#[derive(Debug, thiserror::Error)]
pub enum ScriptFailure {
    #[error(
        "the script computed for longer than {} s without a call",
        limits::SCRIPT_TURN_TIMEOUT.as_secs()
    )]
    TimedOut,
    #[error("{0}")]
    LimitExceeded(String),
    /// The budget of all guests has no memory left for this one.
    #[error("the gateway has no memory left")]
    NoMemory,
    #[error("{0}")]
    Crashed(String),
    /// There is no place for a running call, or for one more script.
    #[error("{0} calls or scripts are running")]
    Overloaded(usize),
    #[error("the engine of scripts cannot be loaded")]
    Load(#[from] LoadError),
}

impl ScriptFailure {
    /// Its value in spans.
    fn as_str(&self) -> &'static str {
        match self {
            Self::TimedOut => "timeout",
            Self::LimitExceeded(_) => "limit_exceeded",
            Self::NoMemory => "no_memory",
            Self::Crashed(_) => "crashed",
            Self::Overloaded(_) => "overloaded",
            Self::Load(_) => "not_loaded",
        }
    }
}

/// One running script: an instance that lives over several turns. Dropped, it ends the script.
pub struct RunningScript {
    pool: Arc<EnginePool>,
    compute: Arc<Compute>,
    claim: CallClaim,
    /// None while a turn runs, and once the script is over.
    instance: Option<ScriptInstance>,
    processor_time: Duration,
    /// Declared last: given back when the instance is dropped.
    _life: CallSlot,
}

struct ScriptInstance {
    store: Store<Guest>,
    resume: ScriptFunction,
}

/// The function that a turn calls.
enum ScriptEntry {
    Start(InstancePre<Guest>),
    Resume(ScriptFunction),
}

impl std::fmt::Debug for RunningScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningScript")
            .field("is_over", &self.instance.is_none())
            .field("processor_time", &self.processor_time)
            .finish_non_exhaustive()
    }
}

impl Runtime {
    /// Maps or compiles the engine, for which the first script waits otherwise.
    ///
    /// # Errors
    /// The component cannot be read or compiled, is another one than its hash says, or imports something.
    pub async fn load_script_engine(&self, engine: &ScriptEngine) -> Result<(), LoadError> {
        engine.code(&self.inner.ordinary).await.map(|_| ())
    }

    /// Starts a script and runs its first turn: `input` goes to the engine's `start`, whose answer comes back with the
    /// script. It does not start where its requester has used its share of the places.
    ///
    /// # Errors
    /// The script is over, or has not started.
    pub async fn start_script(
        &self,
        engine: &ScriptEngine,
        requester: Requester,
        limits: ScriptLimits,
        input: String,
    ) -> Result<(RunningScript, String), ScriptFailure> {
        let pool = &self.inner.ordinary;
        let code = engine.code(pool).await?.clone();
        let claim = CallClaim::new(requester.clone(), &engine.service);
        let scripts = &self.inner.scripts;
        let life = scripts.take(&claim).await;
        let life = life.map_err(|NoFreeSlot| ScriptFailure::Overloaded(scripts.running()))?;
        let mut script = RunningScript {
            pool: pool.clone(),
            compute: self.inner.compute.clone(),
            claim,
            instance: None,
            processor_time: Duration::ZERO,
            _life: life,
        };
        let _place = admit(pool, &script.claim).await?;
        // The engine imports nothing: it asks for no time, and what else a call holds is out of its reach.
        let call = nothing(requester, 0, limits.memory_bytes_max);
        let (mut store, _) = self.prepare(pool, &engine.service, call, limits::SCRIPT_TURN_TIMEOUT);
        store.data_mut().processor_time = ProcessorTime::at_most(limits.processor_time_max);
        let answer = script.turn(store, ScriptEntry::Start(code), input).await?;
        Ok((script, answer))
    }
}

impl RunningScript {
    /// Runs one more turn: `input` goes to the engine's `resume`. Dropped before its end, it ends the script.
    ///
    /// # Errors
    /// The script is over, except after `Overloaded`: then the turn has not begun and may be repeated.
    pub async fn resume(&mut self, input: String) -> Result<String, ScriptFailure> {
        let _place = admit(&self.pool, &self.claim).await?;
        let Some(ScriptInstance { store, resume }) = self.instance.take() else {
            return Err(ScriptFailure::Crashed("the script is over".to_owned()));
        };
        self.turn(store, ScriptEntry::Resume(resume), input).await
    }

    /// Used so far, over all turns.
    pub fn processor_time(&self) -> Duration {
        self.processor_time
    }

    /// Keeps the instance where the turn ends with an answer.
    async fn turn(
        &mut self,
        mut store: Store<Guest>,
        entry: ScriptEntry,
        input: String,
    ) -> Result<String, ScriptFailure> {
        let mut span = TraceSpan::begin(SpanKind::Internal, || "sandbox script");
        // One future, which continues on another thread where the guest computes for a long time.
        let run = span.scope(async move {
            store.set_epoch_deadline(1);
            ProcessorTime::begin();
            let entered = enter(&mut store, entry, input);
            let ended = tokio::time::timeout(limits::SCRIPT_TURN_TIMEOUT, entered).await;
            // A turn that ends before the first tick is charged here alone.
            store.data_mut().processor_time.charge();
            (store, ended)
        });
        let (store, ended) = slices(&self.compute, self.claim.clone(), run).await;
        let guest = store.data();
        let memory_bytes = guest.limiter.meter.memory_bytes();
        self.pool.note_memory(memory_bytes);
        self.processor_time = guest.processor_time.used();
        let answered = match ended {
            Err(_elapsed) => Err(ScriptFailure::TimedOut),
            Ok(Err(cause)) => Err(broken_script(guest, &cause)),
            Ok(Ok(_)) if guest.processor_time.is_exceeded() => Err(exceeded_time(guest)),
            Ok(Ok((_, answer))) if answer.len() > limits::SCRIPT_ANSWER_BYTES_MAX => {
                Err(answered_too_much())
            }
            Ok(Ok((resume, answer))) => {
                self.instance = Some(ScriptInstance { store, resume });
                Ok(answer)
            }
        };
        span.note(|span| {
            let memory_bytes = i64::try_from(memory_bytes).unwrap_or(i64::MAX);
            span.set(Attribute::Service, SERVICE.into());
            span.set(Attribute::SandboxMemory, memory_bytes.into());
            let end = answered
                .as_ref()
                .map_or_else(ScriptFailure::as_str, |_| "returned");
            span.set(Attribute::SandboxEnd, end.into());
            if answered.is_err() {
                span.fail(end.into());
            }
        });
        answered
    }
}

/// A place for one turn. Takes no whole script, which one thread at a time may look at.
async fn admit(pool: &EnginePool, claim: &CallClaim) -> Result<CallSlot, ScriptFailure> {
    let waiting = TraceSpan::begin(SpanKind::Internal, || "sandbox wait");
    let place = pool.admit(claim).await;
    drop(waiting);
    place.map_err(|_| ScriptFailure::Overloaded(pool.running()))
}

/// Calls the function, of a new instance or of the one in the store. Answers `resume` of that instance too.
async fn enter(
    store: &mut Store<Guest>,
    entry: ScriptEntry,
    input: String,
) -> wasmtime::Result<(ScriptFunction, String)> {
    let (called, resume) = match entry {
        ScriptEntry::Start(code) => {
            let instance = code.instantiate_async(&mut *store).await?;
            let start: ScriptFunction = instance.get_typed_func(&mut *store, "start")?;
            let resume: ScriptFunction = instance.get_typed_func(&mut *store, "resume")?;
            (start, resume)
        }
        ScriptEntry::Resume(resume) => (resume, resume),
    };
    let (answer,) = called.call_async(&mut *store, (input,)).await?;
    Ok((resume, answer))
}

/// The engine did not return: a limit, or a crash.
fn broken_script(guest: &Guest, cause: &wasmtime::Error) -> ScriptFailure {
    if cause.downcast_ref::<NoFreeMemory>().is_some() {
        return ScriptFailure::NoMemory;
    }
    let exceeded = cause.downcast_ref::<LimitExceeded>().copied();
    // A script engine may ignore a failed growth and crash because of it later.
    match exceeded.or(guest.limiter.meter.exceeded) {
        Some(LimitExceeded::Cpu(_)) => return exceeded_time(guest),
        Some(LimitExceeded::Memory(mib)) => {
            return ScriptFailure::LimitExceeded(format!(
                "the script used more than {mib} MiB of memory"
            ));
        }
        Some(LimitExceeded::Result(_) | LimitExceeded::Handed(_)) => return answered_too_much(),
        Some(
            other @ (LimitExceeded::Table(_) | LimitExceeded::Cursor(_) | LimitExceeded::Blobs(_)),
        ) => return ScriptFailure::LimitExceeded(other.to_string()),
        None => {}
    }
    if handed_too_much(cause) {
        return answered_too_much();
    }
    let why = match cause.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => "the script's call stack overflowed".to_owned(),
        Some(Trap::UnreachableCodeReached) => "the engine of scripts panicked".to_owned(),
        Some(trap) => format!("the engine of scripts trapped: {trap}"),
        None => format!(
            "the engine of scripts broke its contract: {}",
            cause.root_cause()
        ),
    };
    let function = crashed_in(cause);
    tracing::warn!(
        plugin.function = function.as_deref().unwrap_or("-"),
        "runtime.script_crashed: {why}"
    );
    ScriptFailure::Crashed(cut(&why, MESSAGE_BYTES_MAX))
}

fn exceeded_time(guest: &Guest) -> ScriptFailure {
    let seconds = guest.processor_time.max().as_secs_f32();
    ScriptFailure::LimitExceeded(format!(
        "the script used more than {seconds} s of processor time"
    ))
}

fn answered_too_much() -> ScriptFailure {
    ScriptFailure::LimitExceeded(format!(
        "the script's calls, log lines and result of one turn have more than {} MiB",
        limits::SCRIPT_ANSWER_BYTES_MAX >> 20
    ))
}
