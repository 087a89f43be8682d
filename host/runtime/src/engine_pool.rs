//! Everything that plugins of one size share: an engine with its clock, a linker, compiled code on
//! disk, places for running calls.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sha2::Digest as _;
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

use super::bindings::PluginPre;
use super::compile::Compiler;
use super::fair::CallClaim;
use super::fair::places::{CallSlot, CallSlots, NoFreeSlot};
use super::guest::Guest;
use super::outcome::{LoadError, StartError};
use super::size::Size;
use super::{cache, engine, link};

pub(super) struct EnginePool {
    pub size: Size,
    pub engine: Engine,
    pub allocation: engine::Allocation,
    linker: Linker<Guest>,
    cache: cache::CodeCache,
    places: Arc<CallSlots>,
    pub compiler: Compiler,
    /// Most guest memory that a call has had.
    memory_peak_bytes: AtomicUsize,
    /// Hashes of components of the gateway itself, whose compiled code is kept though no plugin uses it.
    own: Mutex<HashSet<String>>,
}

impl EnginePool {
    /// `program`: what compiles, see [`Compiler`].
    pub(crate) fn open(
        size: Size,
        cache_dir: &Path,
        cache_key: [u8; 32],
        program: Arc<OnceLock<PathBuf>>,
    ) -> anyhow::Result<Self> {
        let (engine, allocation) = engine::open(size)?;
        engine::tick(&engine)?;
        let linker = link::serving(&engine)?;
        let bounds = size.bounds();
        let cache = cache::CodeCache::open(cache_dir, cache_key, &engine, bounds.code_bytes_max)?;
        let compiler = Compiler::open(&engine, size, &cache_dir.join("jobs"), program)?;
        Ok(Self {
            size,
            engine,
            compiler,
            allocation,
            linker,
            cache,
            places: Arc::new(CallSlots::new(bounds.places_max)),
            memory_peak_bytes: AtomicUsize::new(0),
            own: Mutex::default(),
        })
    }

    /// Calls running now.
    pub(crate) fn running(&self) -> usize {
        self.places.running()
    }

    /// A place for one call, until it is dropped.
    pub(crate) async fn admit(&self, claim: &CallClaim) -> Result<CallSlot, StartError> {
        let place = self.places.take(claim).await;
        place.map_err(|NoFreeSlot| StartError::Overloaded(self.places.running()))
    }

    /// A call ended that had this much memory.
    pub(crate) fn note_memory(&self, bytes: usize) {
        // Read first, because a write makes other processors wait.
        if bytes > self.memory_peak_bytes() {
            self.memory_peak_bytes.fetch_max(bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn memory_peak_bytes(&self) -> usize {
        self.memory_peak_bytes.load(Ordering::Relaxed)
    }

    /// The hashes of plugins of which there is compiled code.
    pub(crate) fn compiled(&self) -> io::Result<Vec<String>> {
        let mut hashes = self.cache.hashes()?;
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        hashes.retain(|sha256| !own.contains(sha256));
        Ok(hashes)
    }

    pub(crate) fn forget(&self, sha256: &str) {
        self.cache.remove(sha256);
    }

    pub(crate) async fn map(
        self: &Arc<Self>,
        sha256: &str,
        file: &Path,
    ) -> Result<PluginPre<Guest>, LoadError> {
        let component = self.component(sha256, tokio::fs::read(file)).await?;
        self.link(&component).map_err(LoadError::Compile)
    }

    /// The same for a component of the gateway itself, which may import nothing.
    pub(crate) async fn map_own(
        self: &Arc<Self>,
        sha256: &str,
        bytes: impl Future<Output = io::Result<Vec<u8>>> + Send,
    ) -> Result<InstancePre<Guest>, LoadError> {
        self.own
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(sha256.to_owned());
        let component = self.component(sha256, bytes).await?;
        link::without_imports(&self.engine, &component).map_err(LoadError::Compile)
    }

    /// Mapped where it is stored, else compiled; `bytes` is awaited only then.
    async fn component(
        self: &Arc<Self>,
        sha256: &str,
        bytes: impl Future<Output = io::Result<Vec<u8>>> + Send,
    ) -> Result<Component, LoadError> {
        if let Some(component) = self.cached(sha256).await {
            return Ok(component);
        }
        let bytes = bytes.await.map_err(LoadError::Read)?;
        if hex::encode(sha2::Sha256::digest(&bytes)) != sha256 {
            return Err(LoadError::Changed);
        }
        let job = self.compiler.job(bytes).await.map_err(LoadError::Read)?;
        let compiled = self.compiler.compile(job).await;
        let component = compiled.map_err(LoadError::Compile)?;
        self.keep(sha256, &component).await;
        Ok(component)
    }

    pub(crate) fn link(&self, component: &Component) -> wasmtime::Result<PluginPre<Guest>> {
        if self.size == Size::Large {
            let linker = link::without_sockets(&self.linker, &self.engine, component)?;
            return PluginPre::new(linker.instantiate_pre(component)?);
        }
        PluginPre::new(self.linker.instantiate_pre(component)?)
    }

    pub(crate) async fn cached(self: &Arc<Self>, sha256: &str) -> Option<Component> {
        let (pool, sha256) = (self.clone(), sha256.to_owned());
        tokio::task::spawn_blocking(move || pool.cache.load(&pool.engine, &sha256))
            .await
            .ok()
            .flatten()
    }

    /// A failure, such as a full disk, only makes the next start slower.
    pub(crate) async fn keep(self: &Arc<Self>, sha256: &str, component: &Component) {
        let (pool, owned, component) = (self.clone(), sha256.to_owned(), component.clone());
        let kept = tokio::task::spawn_blocking(move || pool.cache.store(&owned, &component)).await;
        if let Ok(Err(cause)) = kept {
            tracing::warn!(plugin.sha256 = sha256, error = %cause, "runtime.cache_write_failed");
        }
    }
}
