//! Gives the component more stack: the parser of the interpreter needs up to 16 KiB for each bracket.

/// Stack in the memory of the component, in bytes.
const STACK_BYTES: usize = 2 * 1024 * 1024;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
