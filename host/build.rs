//! Makes the OpenAPI interpreter component available to `include_bytes!`, and has the dashboard
//! embedded anew when it was built anew (`make dashboard` writes `dashboard/dist`).
//!
//! `plugins/build-interpreter.sh` writes it to `plugins/dist-base/openapi.wasm`, which has to happen
//! before the host is built. A checkout in which it has not happened still compiles, with an empty
//! interpreter that says so when a description is to be built.

use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let built = here.join("../plugins/dist-base/openapi.wasm");
    println!("cargo::rerun-if-changed={}", built.display());
    let bytes = std::fs::read(&built).unwrap_or_default();
    let target: &Path = &out.join("openapi-interpreter.wasm");
    std::fs::write(target, bytes).expect("the build's own folder can be written");
    // A folder that is not there could not be watched. Empty, it means: built without dashboard.
    let dashboard = here.join("dashboard/dist");
    let _ = std::fs::create_dir_all(&dashboard);
    println!("cargo::rerun-if-changed={}", dashboard.display());
}
