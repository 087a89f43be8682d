//! Running a plugin: one engine, compiled code kept on disk, a fresh instance for every call.
//!
//! Owns: [`inspect`] (may this file become a plugin), the compiled-code [`cache`], and
//! [`Runtime::invoke`] (one call under [`limits`]). Refuses: any import beyond the plugin world.
//! Network goes through [`crate::egress`] and nowhere else. Read [`invoke`] next.

mod bindings;
mod blobs;
mod cache;
pub mod engine;
mod functions;
mod guest;
pub mod inspect;
mod invoke;
mod kv;
pub mod limits;
mod link;
mod normalize;
mod out;
mod wasi_http;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::{OnceCell, Semaphore};
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

pub use blobs::Blob;
pub use guest::{Entry, KeyValue, KeyValueError, Random};
pub use inspect::{Inspected, Rejected};
pub use invoke::{Call, Ended, NotStarted, Output, Refusal, RefusalKind};
pub use normalize::{Delivery, NormalizeError, ProviderEvent};

use crate::egress::Egress;
use bindings::PluginPre;
use guest::Guest;

/// The engine and what every call shares; cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    allocation: engine::Allocation,
    linker: Linker<Guest>,
    cache: cache::Cache,
    egress: Egress,
    admission: Semaphore,
    /// One compilation at a time; each uses half the cores.
    compiling: Semaphore,
}

/// One version of an integration's code. Mapped or compiled at its first call.
pub struct Plugin {
    service: Arc<str>,
    sha256: String,
    /// Where the captured copy of the component file is.
    file: std::path::PathBuf,
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

/// A plugin's code cannot be made ready.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the captured component file cannot be read")]
    Read(#[source] std::io::Error),
    #[error("the captured component file is no longer the one that was approved")]
    Changed,
    #[error("the component cannot be compiled or linked")]
    Compile(#[source] wasmtime::Error),
}

impl Plugin {
    pub fn new(service: &str, sha256: &str, file: &Path) -> Self {
        Self {
            service: service.into(),
            sha256: sha256.to_owned(),
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

    /// Whether the first call has mapped the code.
    pub fn is_mapped(&self) -> bool {
        self.code.initialized()
    }

    async fn code(&self, runtime: &Runtime) -> Result<&PluginPre<Guest>, LoadError> {
        self.code
            .get_or_try_init(|| runtime.map(&self.sha256, &self.file))
            .await
    }
}

impl Runtime {
    /// Opens the engine; `cache_dir` holds compiled code under MACs of `cache_key`.
    pub fn open(cache_dir: &Path, cache_key: [u8; 32], egress: Egress) -> anyhow::Result<Self> {
        let (engine, allocation) = engine::open()?;
        engine::tick(&engine)?;
        let linker = link::serving(&engine)?;
        let cache = cache::Cache::open(cache_dir, cache_key, &engine)?;
        Ok(Self {
            inner: Arc::new(Inner {
                engine,
                allocation,
                linker,
                cache,
                egress,
                admission: Semaphore::new(limits::CALLS_MAX),
                compiling: Semaphore::new(1),
            }),
        })
    }

    /// How instances get their memory on this machine.
    pub fn allocation(&self) -> engine::Allocation {
        self.inner.allocation
    }

    /// Calls running now.
    pub fn running(&self) -> usize {
        limits::CALLS_MAX - self.inner.admission.available_permits()
    }

    pub fn egress(&self) -> &Egress {
        &self.inner.egress
    }

    /// Judges a component file from beginning to end and keeps its compiled code.
    pub async fn inspect(&self, bytes: Vec<u8>) -> Result<Inspected, Rejected> {
        let (mut inspected, bytes) = tokio::task::spawn_blocking(move || {
            inspect::read(&bytes).map(|inspected| (inspected, bytes))
        })
        .await
        .map_err(|cause| Rejected::Damaged(format!("the reader stopped: {cause}")))??;
        let component = match self.cached(&inspected.sha256).await {
            Some(component) => component,
            None => self
                .compile(bytes)
                .await
                .map_err(|cause| Rejected::Damaged(cause.root_cause().to_string()))?,
        };
        inspected.imports =
            inspect::check_imports(&self.inner.engine, &component, &inspected.manifest)?;
        let described = inspect::describe(&self.inner.engine, &component).await?;
        if described != inspected.manifest_json {
            return Err(Rejected::ManifestDiffers);
        }
        self.link(&component)
            .map_err(|cause| Rejected::Damaged(cause.root_cause().to_string()))?;
        self.keep(&inspected.sha256, &component).await;
        Ok(inspected)
    }

    /// Forgets compiled code that no plugin uses any more.
    pub fn forget(&self, sha256: &str) {
        self.inner.cache.remove(sha256);
    }

    async fn map(&self, sha256: &str, file: &Path) -> Result<PluginPre<Guest>, LoadError> {
        if let Some(component) = self.cached(sha256).await {
            return self.link(&component).map_err(LoadError::Compile);
        }
        let bytes = tokio::fs::read(file).await.map_err(LoadError::Read)?;
        if inspect::hex(&<sha2::Sha256 as sha2::Digest>::digest(&bytes)) != sha256 {
            return Err(LoadError::Changed);
        }
        let component = self.compile(bytes).await.map_err(LoadError::Compile)?;
        self.keep(sha256, &component).await;
        self.link(&component).map_err(LoadError::Compile)
    }

    fn link(&self, component: &Component) -> wasmtime::Result<PluginPre<Guest>> {
        PluginPre::new(self.inner.linker.instantiate_pre(component)?)
    }

    async fn cached(&self, sha256: &str) -> Option<Component> {
        let (inner, sha256) = (self.inner.clone(), sha256.to_owned());
        tokio::task::spawn_blocking(move || inner.cache.load(&inner.engine, &sha256))
            .await
            .ok()
            .flatten()
    }

    async fn compile(&self, bytes: Vec<u8>) -> wasmtime::Result<Component> {
        let _turn = self.inner.compiling.acquire().await;
        let engine = self.inner.engine.clone();
        match tokio::task::spawn_blocking(move || Component::from_binary(&engine, &bytes)).await {
            Ok(compiled) => compiled,
            Err(cause) => Err(wasmtime::Error::msg(format!(
                "the compiler stopped: {cause}"
            ))),
        }
    }

    /// A full disk costs the next start some seconds and this call nothing.
    async fn keep(&self, sha256: &str, component: &Component) {
        let (inner, owned, component) = (self.inner.clone(), sha256.to_owned(), component.clone());
        let kept = tokio::task::spawn_blocking(move || inner.cache.store(&owned, &component)).await;
        if let Ok(Err(cause)) = kept {
            tracing::warn!(plugin.sha256 = sha256, error = %cause, "runtime.cache_write_failed");
        }
    }
}
