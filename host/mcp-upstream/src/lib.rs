//! From a remote MCP server to a plugin.
//!
//! [`listing`] asks the server what it offers, over [`client`]; [`compose`] makes a manifest and a table of that, pure:
//! names ([`tools`]), schemas ([`schema`]), where the server is ([`address`]) and whose account is needed ([`account`]).
//! [`bake`](bake()) freezes both into the interpreter component. A plugin is made again from its [`source`], where the
//! approved manifest has the same address ([`declared`]). The server is a stranger: what it says is bounded, linted
//! like any manifest, and left out tool by tool where it cannot be used.

#![forbid(unsafe_code)]

pub mod account;
pub mod address;
pub mod client;
pub mod compose;
pub mod declared;
pub mod listing;
pub mod notes;
pub mod schema;
pub mod source;
pub mod tools;

use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use source::{SOURCE_BYTES_MAX, SOURCE_SECTION};
use toolgate_runtime::inspect;
use toolgate_runtime::preinitialize::Preinitializer;

pub use compose::{ComposedServer, ServerChoices};
pub use declared::UndeclaredAddress;
pub use notes::ServerNote;
pub use source::{SavedList, ServerSource};

/// The interpreter component, empty where `host/guests/build.sh` had not run before the build.
static INTERPRETER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/mcp-interpreter.wasm"));

/// The component file of a composed plugin, with what it was made of. The same input gives the same bytes.
pub async fn bake(composed: &ComposedServer, source: &ServerSource) -> anyhow::Result<Vec<u8>> {
    let table = serde_json::to_string(&composed.table).context("the table cannot be written")?;
    let mut wasm =
        toolgate_openapi::bake::freeze(interpreter()?, &composed.manifest_json, &table).await?;
    let source = serde_json::to_string(source).context("the source cannot be written")?;
    toolgate_openapi::bake::add_section(&mut wasm, SOURCE_SECTION, source.as_bytes());
    Ok(wasm)
}

/// [`bake`](bake()) on a thread of its own, because it computes.
pub async fn bake_beside(
    composed: ComposedServer,
    source: ServerSource,
) -> anyhow::Result<Vec<u8>> {
    let handle = tokio::runtime::Handle::current();
    let baking = tokio::task::spawn_blocking(move || handle.block_on(bake(&composed, &source)));
    baking.await?
}

/// What a component file was made of; `None`: it is no plugin of an MCP server.
pub fn source_of(wasm: &[u8]) -> Option<ServerSource> {
    let text = inspect::custom_section(wasm, SOURCE_SECTION)?;
    let fits = text.len() <= SOURCE_BYTES_MAX;
    serde_json::from_slice(text).ok().filter(|_| fits)
}

/// Compiled once a process.
fn interpreter() -> anyhow::Result<&'static Preinitializer> {
    static COMPILED: OnceLock<Result<Preinitializer, String>> = OnceLock::new();
    if INTERPRETER.is_empty() {
        bail!(
            "this toolgate was built without the interpreter of MCP servers; run host/guests/build.sh and build it again"
        );
    }
    let made = COMPILED
        .get_or_init(|| Preinitializer::new(INTERPRETER).map_err(|error| format!("{error:#}")));
    made.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
}
