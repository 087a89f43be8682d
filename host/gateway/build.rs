//! Embeds the components that the gateway runs itself: the reader of documents and the engine of scripts.
//!
//! `host/guests/build.sh` writes them to `host/guests/dist`, which has to happen before the
//! host is built. A checkout in which it has not happened still compiles, with empty components
//! that say so when they are wanted.

use std::path::PathBuf;

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    for (file, name) in [
        ("reader.wasm", "knowledge-reader.wasm"),
        ("script.wasm", "script-engine.wasm"),
    ] {
        let built = here.join("../guests/dist").join(file);
        println!("cargo::rerun-if-changed={}", built.display());
        let bytes = std::fs::read(&built).unwrap_or_default();
        std::fs::write(out.join(name), bytes).expect("the build's own folder can be written");
    }
}
