//! Makes the components that the host embeds available to `include_bytes!`, and has the dashboard
//! embedded anew when it was built anew (`make dashboard` writes `dashboard/dist`).
//!
//! `plugins/build-interpreter.sh` writes them to `plugins/dist-base`, which has to happen before the
//! host is built. A checkout in which it has not happened still compiles, with empty components
//! that say so when they are wanted.

use std::path::PathBuf;

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for (name, embedded) in [
        ("openapi.wasm", "openapi-interpreter.wasm"),
        ("reader.wasm", "knowledge-reader.wasm"),
    ] {
        let built = here.join("../plugins/dist-base").join(name);
        println!("cargo::rerun-if-changed={}", built.display());
        let bytes = std::fs::read(&built).unwrap_or_default();
        std::fs::write(out.join(embedded), bytes).expect("the build's own folder can be written");
    }
    // A folder that is not there could not be watched. Empty, it means: built without dashboard.
    let dashboard = here.join("dashboard/dist");
    let _ = std::fs::create_dir_all(&dashboard);
    println!("cargo::rerun-if-changed={}", dashboard.display());
}
