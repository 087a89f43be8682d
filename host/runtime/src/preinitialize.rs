//! Pre-initialisation: a component runs one of its functions, and the memory that this leaves is written back into
//! it as data segments.
//!
//! The function cannot call the host: every import traps. The function stays exported, because the
//! pre-initialiser can only remove an export whose core name differs; no host calls it.

use anyhow::Context as _;
use wasmtime::component::{Component, Linker, Val};
use wasmtime::{Config, Engine, Store};
use wasmtime_wizer::{WasmtimeWizerComponent, Wizer};

/// A trusted component, compiled once for all files that are made from it. It runs without the limits of a plugin.
pub struct Preinitializer {
    wasm: &'static [u8],
    engine: Engine,
    component: Component,
    wizer: Wizer,
}

impl Preinitializer {
    pub fn new(wasm: &'static [u8]) -> anyhow::Result<Self> {
        let wizer = Wizer::new();
        let (_, instrumented) = wizer.instrument_component(wasm)?;
        // Small reservations: a build may run under a bound on address space.
        let mut config = Config::new();
        config
            .memory_reservation(64 << 20)
            .memory_guard_size(1 << 16);
        let engine = Engine::new(&config)?;
        let component = Component::new(&engine, &instrumented)?;
        Ok(Self {
            wasm,
            engine,
            component,
            wizer,
        })
    }

    /// The component as it is after `function` has run with `arguments`.
    pub async fn run(&self, function: &str, arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
        // Parsed again for the snapshot, which refers to the original's sections.
        let (context, _) = self.wizer.instrument_component(self.wasm)?;
        let mut store = Store::new(&self.engine, ());
        let mut linker: Linker<()> = Linker::new(&self.engine);
        linker.define_unknown_imports_as_traps(&self.component)?;
        let instance = linker
            .instantiate_async(&mut store, &self.component)
            .await?;
        let callee = instance
            .get_func(&mut store, function)
            .with_context(|| format!("the component has no function {function}"))?;
        let arguments: Vec<Val> = arguments
            .iter()
            .map(|text| Val::String((*text).into()))
            .collect();
        callee
            .call_async(&mut store, &arguments, &mut [])
            .await
            .map_err(|error| {
                anyhow::Error::from(error).context(format!("{function} refused its arguments"))
            })?;
        let mut state = WasmtimeWizerComponent {
            store: &mut store,
            instance,
        };
        Ok(self.wizer.snapshot_component(&context, &mut state).await?)
    }
}
