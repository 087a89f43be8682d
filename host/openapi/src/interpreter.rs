//! The interpreter component, embedded when the host was built after it.

/// Empty where `plugins/build-interpreter.sh` had not run before the build.
pub(crate) static WASM: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/openapi-interpreter.wasm"));
