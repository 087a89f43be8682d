//! Baking a manifest and a table into the interpreter component.
//!
//! The interpreter is instantiated once, its `init` is called with both texts, and the memory that
//! leaves is written back into it ([`toolgate_runtime::preinitialize`]). The result still exports
//! `init`, which refuses a second run. The manifest is also added as the custom section that a
//! loader reads without running code.

use std::borrow::Cow;
use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use toolgate_catalog::manifest::SECTION;
use toolgate_runtime::preinitialize::Preinitializer;
use wasm_encoder::{ComponentSection as _, CustomSection};

use super::{Described, interpreter};

const INIT: &str = "init";

/// The interpreter compiled once a process, for all plugins built by it.
fn compiled_interpreter() -> anyhow::Result<&'static Preinitializer> {
    static COMPILED: OnceLock<Result<Preinitializer, String>> = OnceLock::new();
    let made = COMPILED.get_or_init(|| compile().map_err(|error| format!("{error:#}")));
    made.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
}

fn compile() -> anyhow::Result<Preinitializer> {
    if interpreter::WASM.is_empty() {
        bail!(
            "this toolgate was built without the OpenAPI interpreter; run host/guests/build.sh and build it again"
        );
    }
    Preinitializer::new(interpreter::WASM)
}

/// The component file of a described plugin.
pub async fn bake(described: &Described) -> anyhow::Result<Vec<u8>> {
    let table = serde_json::to_string(&described.table).context("the table cannot be written")?;
    freeze(compiled_interpreter()?, &described.manifest_json, &table).await
}

/// An interpreter after its `init` has run with a manifest and a table, with the manifest as its custom section.
pub async fn freeze(
    interpreter: &Preinitializer,
    manifest_json: &str,
    table: &str,
) -> anyhow::Result<Vec<u8>> {
    let mut wasm = interpreter
        .run(INIT, &[manifest_json, table])
        .await
        .context("the interpreter cannot be prepared with this table")?;
    add_section(&mut wasm, SECTION, manifest_json.as_bytes());
    Ok(wasm)
}

/// Adds a custom section to a component.
pub fn add_section(wasm: &mut Vec<u8>, name: &str, data: &[u8]) {
    let section = CustomSection {
        name: Cow::Borrowed(name),
        data: Cow::Borrowed(data),
    };
    section.append_to_component(wasm);
}
