//! The interpreter component, embedded when the host was built after it.

/// Empty where `host/guests/build.sh` had not run before the build.
pub(crate) static WASM: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/openapi-interpreter.wasm"));
