//! Baking a manifest and a table into the interpreter component.
//!
//! The interpreter is instantiated once, its `init` is called with both texts, and the memory that
//! leaves is written back as data segments (pre-initialisation by `wasmtime-wizer`). The result
//! still exports `init`, which refuses a second run, because the pre-initialiser can only remove
//! an export whose core name differs; no host calls it. The manifest is also added as the custom
//! section that a loader reads without running code. Nothing can be called out to while `init`
//! runs: every import traps.

use std::borrow::Cow;
use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use wasm_encoder::{ComponentSection as _, CustomSection};
use wasmtime::component::{Component, Linker, Val};
use wasmtime::{Config, Engine, Store};
use wasmtime_wizer::{WasmtimeWizerComponent, Wizer};

use super::{Described, interpreter};
use toolgate_catalog::manifest::SECTION;

const INIT: &str = "init";

/// The interpreter compiled once a process, for all plugins built by it.
struct CompiledInterpreter {
    engine: Engine,
    component: Component,
    wizer: Wizer,
}

fn compiled_interpreter() -> anyhow::Result<&'static CompiledInterpreter> {
    static COMPILED: OnceLock<Result<CompiledInterpreter, String>> = OnceLock::new();
    let made = COMPILED.get_or_init(|| compile().map_err(|error| format!("{error:#}")));
    made.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
}

fn compile() -> anyhow::Result<CompiledInterpreter> {
    if interpreter::WASM.is_empty() {
        bail!(
            "this toolgate was built without the OpenAPI interpreter; run plugins/build-interpreter.sh and build it again"
        );
    }
    let wizer = Wizer::new();
    let (_, instrumented) = wizer.instrument_component(interpreter::WASM)?;
    // Small reservations: a build may run under a bound on address space.
    let mut config = Config::new();
    config
        .memory_reservation(64 << 20)
        .memory_guard_size(1 << 16);
    let engine = Engine::new(&config)?;
    let component = Component::new(&engine, &instrumented)?;
    Ok(CompiledInterpreter {
        engine,
        component,
        wizer,
    })
}

/// The component file of a described plugin.
pub async fn bake(described: &Described) -> anyhow::Result<Vec<u8>> {
    let table = serde_json::to_string(&described.table).context("the table cannot be written")?;
    let mut wasm = freeze(&described.manifest_json, &table).await?;
    let section = CustomSection {
        name: Cow::Borrowed(SECTION),
        data: Cow::Borrowed(described.manifest_json.as_bytes()),
    };
    section.append_to_component(&mut wasm);
    Ok(wasm)
}

async fn freeze(manifest: &str, table: &str) -> anyhow::Result<Vec<u8>> {
    let compiled = compiled_interpreter()?;
    // Parsed again for the snapshot, which refers to the original's sections.
    let (context, _) = compiled.wizer.instrument_component(interpreter::WASM)?;
    let mut store = Store::new(&compiled.engine, ());
    let mut linker: Linker<()> = Linker::new(&compiled.engine);
    linker.define_unknown_imports_as_traps(&compiled.component)?;
    let instance = linker
        .instantiate_async(&mut store, &compiled.component)
        .await?;
    let init = instance
        .get_func(&mut store, INIT)
        .context("the interpreter has no init")?;
    let arguments = [Val::String(manifest.into()), Val::String(table.into())];
    init.call_async(&mut store, &arguments, &mut [])
        .await
        .map_err(|error| anyhow::Error::from(error).context("the interpreter refused the table"))?;
    let mut state = WasmtimeWizerComponent {
        store: &mut store,
        instance,
    };
    Ok(compiled
        .wizer
        .snapshot_component(&context, &mut state)
        .await?)
}
