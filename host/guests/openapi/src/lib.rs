//! The component behind every OpenAPI plugin.
//!
//! It has no tools of its own: the builder in the host runs its `init` once with a manifest and an
//! operation table and freezes the memory that this leaves ([`toolgate_openapi_table`] is the
//! table's form). A call then finds its operation, builds one request ([`request`]), and reads one
//! answer ([`answer`]). All modules but `component` are plain Rust with native
//! tests.

pub mod answer;
pub mod body;
#[cfg(target_family = "wasm")]
mod component;
pub mod encode;
pub mod failure;
pub mod local_time;
pub mod names;
pub mod page;
pub mod pages;
pub mod partial;
pub mod pointer;
pub mod request;
