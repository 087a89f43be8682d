//! A wasmtime engine: how code is compiled, where instances get their memory, and its clock.

use std::thread;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
};

use super::functions::Functions;
use super::limits;
use super::size::Size;

/// Where instances get their memory from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Slots reserved at start; an instance costs microseconds.
    Pooling,
    /// Mapped for each instance: where the kernel or an address-space limit refuses the pool.
    OnDemand,
}

impl Allocation {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pooling => "pooling",
            Self::OnDemand => "on_demand",
        }
    }
}

/// Builds the engine for plugins of one size: with the pool where this machine allows one. Large
/// plugins are few and their memory is mapped for each instance, copied on write from the
/// compiled file.
pub fn open(size: Size) -> wasmtime::Result<(Engine, Allocation)> {
    if size == Size::Large {
        return Ok((Engine::new(&config(size, None)?)?, Allocation::OnDemand));
    }
    let pooled = config(size, Some(pool(Enabled::Auto)))
        .and_then(|config| Engine::new(&config))
        .and_then(|engine| probe(&engine).map(|()| engine));
    match pooled {
        Ok(engine) => Ok((engine, Allocation::Pooling)),
        Err(cause) => {
            tracing::warn!(error = %cause, "runtime.pool_refused: instances are allocated on demand");
            Ok((Engine::new(&config(size, None)?)?, Allocation::OnDemand))
        }
    }
}

/// The same engine for a process that only compiles: the pool does not change what comes out.
pub fn for_compiling(size: Size) -> wasmtime::Result<Engine> {
    Engine::new(&config(size, None)?)
}

fn config(size: Size, pool: Option<PoolingAllocationConfig>) -> wasmtime::Result<Config> {
    let mut config = Config::new();
    // An interpreter's functions would fill this memory for the sake of a few plugins.
    if size == Size::Ordinary {
        config.enable_incremental_compilation(Functions::shared())?;
    }
    let stack_bytes_max = size.bounds().stack_bytes_max;
    config
        .cranelift_opt_level(OptLevel::Speed)
        .epoch_interruption(true)
        .consume_fuel(false)
        // A panic goes through a dozen frames of the library.
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(24))
        // Frames are named without these, and they are a third of a compiled plugin.
        .generate_address_map(false)
        .native_unwind_info(false)
        .memory_init_cow(true)
        .max_wasm_stack(stack_bytes_max)
        .async_stack_size(stack_bytes_max * 2)
        .wasm_component_model(true)
        .wasm_memory64(false)
        .wasm_multi_memory(true)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(true);
    if let Some(pool) = pool {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    Ok(config)
}

/// Both `keep_resident` and the page-map scan: either alone makes a second thread slower, not faster.
fn pool(pagemap_scan: Enabled) -> PoolingAllocationConfig {
    let calls = limits::PLACES_MAX + limits::SCRIPTS_MAX + 16;
    let calls = u32::try_from(calls).expect("a small constant");
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(calls * 6)
        .total_memories(calls * 2)
        .total_tables(calls * 6)
        .total_stacks(calls)
        .max_component_instance_size(1 << 20)
        .max_core_instance_size(1 << 20)
        .max_core_instances_per_component(limits::INSTANCES_MAX as u32)
        .max_memories_per_component(limits::MEMORIES_MAX as u32)
        .max_tables_per_component(limits::TABLES_MAX as u32)
        .max_memory_size(limits::MEMORY_BYTES_MAX)
        .table_elements(limits::TABLE_ELEMENTS_MAX)
        .linear_memory_keep_resident(1 << 20)
        .table_keep_resident(64 << 10)
        .pagemap_scan(pagemap_scan);
    pool
}

/// One instance for real: an address-space limit shows here and not at the first call.
fn probe(engine: &Engine) -> wasmtime::Result<()> {
    // (module (memory 1)), written as bytes.
    const MODULE: &[u8] = b"\0asm\x01\0\0\0\x05\x03\x01\0\x01";
    let module = wasmtime::Module::new(engine, MODULE)?;
    let mut store = wasmtime::Store::new(engine, ());
    store.set_epoch_deadline(1_000_000);
    wasmtime::Instance::new(&mut store, &module, &[]).map(|_| ())
}

/// Moves the engine's epoch every [`limits::EPOCH_TICK`] on a thread of its own, so that a busy
/// async worker cannot stop the clock. Ends when the engine's last user is gone.
pub fn tick(engine: &Engine) -> std::io::Result<()> {
    let engine = engine.weak();
    thread::Builder::new()
        .name("epoch".to_owned())
        .spawn(move || {
            while let Some(engine) = engine.upgrade() {
                engine.increment_epoch();
                drop(engine);
                thread::sleep(limits::EPOCH_TICK);
            }
        })?;
    Ok(())
}
