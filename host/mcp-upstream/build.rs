//! Embeds the interpreter that every plugin of a remote MCP server is made of.
//!
//! `host/guests/build.sh` writes it to `host/guests/dist`, which has to happen before the
//! host is built. A checkout in which it has not happened still compiles, with an empty component
//! that says so when it is wanted.

use std::path::PathBuf;

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let built = here.join("../guests/dist/mcp.wasm");
    println!("cargo::rerun-if-changed={}", built.display());
    let bytes = std::fs::read(&built).unwrap_or_default();
    std::fs::write(out.join("mcp-interpreter.wasm"), bytes)
        .expect("the build's own folder can be written");
}
