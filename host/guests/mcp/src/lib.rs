//! The component behind every plugin of a remote MCP server.
//!
//! It has no tools of its own: the builder in the host runs its `init` once with a manifest and a table and freezes the
//! memory that this leaves ([`toolgate_mcp_wire::table`] is the table's form). A call then finds its tool, begins a
//! session where the server's protocol has them, posts `tools/call`, and reads one result ([`content`]) or the reason
//! why there is no result ([`fault`]). All modules but `component` are plain Rust with
//! native tests.

pub mod content;
pub mod elicitation;
pub mod fault;
mod no_result;

#[cfg(target_family = "wasm")]
mod component;
