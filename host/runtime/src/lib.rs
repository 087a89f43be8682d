//! Running a plugin: one engine for each size, compiled code on disk, a new instance for every call.
//!
//! Owns: [`inspect`] (may this file become a plugin), the compiled-code [`cache`], and
//! [`Runtime::invoke`] (one call under [`limits`]; callers share memory and processor time fairly). Large plugins,
//! which bring an interpreter, have an engine and limits of their own ([`size`]). A plugin that is built from a
//! description is a component whose memory is already filled ([`preinitialize`]). A script of an agent runs in an
//! instance that lives over several turns and imports nothing ([`script`]). Imports outside the
//! plugin world are refused. All network access goes through [`toolgate_egress`]. Start reading at [`invoke`].

mod bindings;
mod blob;
mod blobs;
mod cache;
pub mod compile;
pub mod engine;
mod engine_pool;
mod fair;
mod functions;
mod guest;
pub mod inspect;
mod invoke;
mod kv;
pub mod limits;
mod link;
mod listener;
mod log;
pub mod machine;
mod meter;
mod no_state;
mod normalize;
mod out;
mod outcome;
pub mod preinitialize;
mod processor_time;
mod random;
mod returned;
mod script;
pub mod size;
mod wasi;
mod wasi_http;
mod wasi_views;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use zeroize::Zeroizing;

pub use blob::{Blob, CallFile};
pub use fair::Requester;
pub use guest::{KeyValue, KeyValueError, StoredValue};
pub use inspect::{Inspected, Rejected};
pub use invoke::Call;
pub use listener::{CallEvent, CallEventObserver, CallListener};
pub use log::{CallLog, LineLevel, LogObserver};
pub use no_state::NoState;
pub use normalize::{NormalizeError, ProviderEvent, VerifiedDelivery};
pub use outcome::{CallEnd, CallOutput, Crash, LoadError, PluginError, RefusalKind, StartError};
pub use random::Random;
pub use script::{RunningScript, ScriptEngine, ScriptFailure, ScriptLimits};
pub use size::Size;

use bindings::PluginPre;
use engine_pool::EnginePool;
use fair::CallClaim;
use fair::compute::Compute;
use fair::places::CallSlots;
use guest::Guest;
use toolgate_core::memory::{MemoryBudget, MemoryUse};
use toolgate_egress::Egress;

/// Files that are read and parsed at one time.
const READ_AT_ONCE: usize = 4;

/// The engines and what every call shares; cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<RuntimeInner>,
}

struct RuntimeInner {
    ordinary: Arc<EnginePool>,
    /// Opened once the operator allows large plugins.
    large: OnceLock<Arc<EnginePool>>,
    cache_dir: PathBuf,
    cache_key: Zeroizing<[u8; 32]>,
    /// See [`Runtime::compile_with`].
    compiler: Arc<OnceLock<PathBuf>>,
    /// Files that are read and parsed at one time.
    reading: Semaphore,
    egress: Egress,
    compute: Arc<Compute>,
    /// Scripts that live, whether a turn of them runs or not.
    scripts: Arc<CallSlots>,
    memory: Arc<MemoryBudget>,
}

/// One version of an integration's code. Mapped or compiled at its first call.
pub struct Plugin {
    service: Arc<str>,
    sha256: String,
    size: Size,
    /// Where the captured copy of the component file is.
    file: PathBuf,
    code: OnceCell<PluginPre<Guest>>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin")
            .field("service", &self.service)
            .field("sha256", &self.sha256)
            .finish()
    }
}

impl Plugin {
    pub fn new(service: &str, sha256: &str, size: Size, file: &Path) -> Self {
        Self {
            service: service.into(),
            sha256: sha256.to_owned(),
            size,
            file: file.to_owned(),
            code: OnceCell::new(),
        }
    }

    pub fn service(&self) -> &str {
        &self.service
    }

    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The code and the engine pool that it runs in.
    async fn code<'a>(
        &'a self,
        runtime: &'a Runtime,
    ) -> Result<(&'a PluginPre<Guest>, &'a Arc<EnginePool>), LoadError> {
        let pool = runtime.pool(self.size).ok_or(LoadError::LargeNotAllowed)?;
        let code = self
            .code
            .get_or_try_init(|| pool.map(&self.sha256, &self.file))
            .await?;
        Ok((code, pool))
    }
}

impl Runtime {
    /// Opens the engine; `cache_dir` holds compiled code under MACs of `cache_key`. Large plugins are
    /// refused until [`Self::allow_large_plugins`].
    pub fn open(cache_dir: &Path, cache_key: [u8; 32], egress: Egress) -> anyhow::Result<Self> {
        let compiler = Arc::new(OnceLock::new());
        let ordinary = EnginePool::open(Size::Ordinary, cache_dir, cache_key, compiler.clone())?;
        Ok(Self {
            inner: Arc::new(RuntimeInner {
                ordinary: Arc::new(ordinary),
                large: OnceLock::new(),
                cache_dir: cache_dir.to_owned(),
                cache_key: Zeroizing::new(cache_key),
                compiler,
                reading: Semaphore::new(READ_AT_ONCE),
                egress,
                compute: Arc::default(),
                scripts: Arc::new(CallSlots::new(limits::SCRIPTS_MAX)),
                memory: Arc::new(MemoryBudget::new(machine::guest_memory_bytes())),
            }),
        })
    }

    /// From here on the guests may have this much memory together; before, half of what this process may have.
    pub fn limit_guest_memory(&self, bytes_max: u64) {
        self.inner.memory.set_max(bytes_max);
    }

    /// Reads the memory of all guests. Keeps no engine alive, so a metric may hold it.
    pub fn guest_memory(&self) -> impl Fn() -> MemoryUse + Send + Sync + use<> {
        let memory = self.inner.memory.clone();
        move || memory.now()
    }

    /// Opens the engine of large plugins: from here on they may serve.
    pub fn allow_large_plugins(&self) -> anyhow::Result<()> {
        if self.inner.large.get().is_none() {
            let dir = self.inner.cache_dir.join("large");
            let (key, compiler) = (*self.inner.cache_key, self.inner.compiler.clone());
            let pool = EnginePool::open(Size::Large, &dir, key, compiler)?;
            // Another thread was faster; its engine is used.
            let _ = self.inner.large.set(Arc::new(pool));
        }
        Ok(())
    }

    /// From here on files are compiled by processes of `program`, this program itself, whose
    /// subcommand `__compile` is [`compile::child::run`]; before, in this process and without bounds.
    pub fn compile_with(&self, program: PathBuf) {
        let _ = self.inner.compiler.set(program);
    }

    /// Whether plugins of this size may serve.
    pub fn allows(&self, size: Size) -> bool {
        self.pool(size).is_some()
    }

    /// The largest component file that may become a plugin here.
    pub fn component_bytes_max(&self) -> u64 {
        let large = self.pool(Size::Large).map(|pool| pool.size);
        large.unwrap_or(Size::Ordinary).bounds().component_bytes_max
    }

    /// How instances of ordinary plugins get their memory on this machine.
    pub fn allocation(&self) -> engine::Allocation {
        self.inner.ordinary.allocation
    }

    /// Runs work that may compute for a long time in the fair shares, like the guests that do: on threads of lower
    /// priority, in the order of the time that claimants have used. Must be called in a tokio runtime.
    ///
    /// # Errors
    /// `Overloaded` past the requester's share of the places for running calls.
    pub async fn compute<T: Send + 'static>(
        &self,
        requester: Requester,
        service: &Arc<str>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, StartError> {
        let claim = CallClaim::new(requester, service);
        let _place = self.inner.ordinary.admit(&claim).await?;
        self.inner.compute.begins(&claim);
        Ok(self.inner.compute.run(claim, async move { work() }).await)
    }

    /// Calls running now.
    pub fn running(&self) -> usize {
        let large = self.pool(Size::Large).map_or(0, |pool| pool.running());
        self.inner.ordinary.running() + large
    }

    /// Scripts alive now, also between their turns.
    pub fn scripts(&self) -> usize {
        self.inner.scripts.running()
    }

    /// Most guest memory that a call of a plugin of this size has had.
    pub fn memory_peak_bytes(&self, size: Size) -> usize {
        self.pool(size).map_or(0, |pool| pool.memory_peak_bytes())
    }

    pub fn egress(&self) -> &Egress {
        &self.inner.egress
    }

    /// As [`Runtime::inspect`], of a file that is read when its turn has come.
    pub async fn inspect_file(&self, file: &Path) -> std::io::Result<Result<Inspected, Rejected>> {
        let Ok(turn) = self.inner.reading.acquire().await else {
            return Err(std::io::Error::other("the runtime is gone"));
        };
        let bytes = tokio::fs::read(file).await?;
        Ok(self.judge(bytes, Some(turn)).await)
    }

    /// Judges a component file from beginning to end and keeps its compiled code.
    pub async fn inspect(&self, bytes: Vec<u8>) -> Result<Inspected, Rejected> {
        self.judge(bytes, None).await
    }

    /// `reading` is released once the bytes of the file are no longer in memory.
    async fn judge(
        &self,
        bytes: Vec<u8>,
        reading: Option<SemaphorePermit<'_>>,
    ) -> Result<Inspected, Rejected> {
        let (mut inspected, bytes) = tokio::task::spawn_blocking(move || {
            inspect::read(&bytes).map(|inspected| (inspected, bytes))
        })
        .await
        .map_err(|cause| Rejected::Damaged(format!("the reader stopped: {cause}")))??;
        let size = Size::for_manifest(&inspected.manifest);
        let pool = self.pool(size).ok_or(Rejected::LargeNotAllowed)?;
        let component = match pool.cached(&inspected.sha256).await {
            Some(component) => component,
            None => {
                let job = pool.compiler.job(bytes).await;
                drop(reading);
                let job = job.map_err(|cause| Rejected::NotCompiledNow(cause.to_string()))?;
                pool.compiler
                    .compile(job)
                    .await
                    .map_err(|cause| Rejected::not_compiled(&cause))?
            }
        };
        inspected.imports = inspect::check_imports(&pool.engine, &component, &inspected.manifest)?;
        let described = inspect::describe(&pool.engine, size, &component).await?;
        if described != inspected.manifest_json {
            return Err(Rejected::ManifestDiffers);
        }
        pool.link(&component)
            .map_err(|cause| inspect::not_linked(&inspected.imports, &cause))?;
        pool.keep(&inspected.sha256, &component).await;
        Ok(inspected)
    }

    /// The hashes of plugin files of which there is compiled code.
    pub fn compiled(&self) -> std::io::Result<Vec<String>> {
        let mut found = self.inner.ordinary.compiled()?;
        if let Some(large) = self.pool(Size::Large) {
            found.extend(large.compiled()?);
        }
        Ok(found)
    }

    /// Forgets compiled code that no plugin uses any more.
    pub fn forget(&self, sha256: &str) {
        self.inner.ordinary.forget(sha256);
        if let Some(large) = self.pool(Size::Large) {
            large.forget(sha256);
        }
    }

    fn pool(&self, size: Size) -> Option<&Arc<EnginePool>> {
        match size {
            Size::Ordinary => Some(&self.inner.ordinary),
            Size::Large => self.inner.large.get(),
        }
    }
}
