//! Write an integration: plain functions in, a sandboxed component out.
//!
//! ```
//! use toolgate_sdk::prelude::*;
//!
//! toolgate_sdk::plugin! {
//!     service: "example",
//!     title: "Example",
//!     description: "Notes kept at example.com.",
//!     hosts: ["api.example.com"],
//!     capabilities: ["egress"],
//!     auth: [{ slot: "user", title: "API key", type: "bearer",
//!              placement: { header: "authorization", template: "Bearer {secret}" },
//!              audience: ["https://api.example.com"] }],
//!     tools: [get_note],
//! }
//!
//! #[derive(Args)]
//! struct GetNote {
//!     /// Number of the note.
//!     #[arg(path, min = 1)]
//!     id: u64,
//! }
//!
//! /// Reads one note.
//! #[tool(effect = "read")]
//! fn get_note(args: GetNote, cx: &Context) -> Result<Value, ToolError> {
//!     cx.client("https://api.example.com").get(path!("/notes/{}", args.id)).fetch()
//! }
//! ```
//!
//! Read in this order: [`context`] (what a tool can use during a call), [`http`] (requests),
//! [`error`] and [`output`] (how it ends), [`schema`] (how argument types become schemas),
//! [`testing`] (how a plugin is tested without a sandbox), [`webhook`] (events that the provider
//! sends). `blob`, `kv`, `html` and `markdown` are for the plugins that need them; the others do not
//! import them. `host` and `guest` are the interface to the host, `memory` the allocator of a
//! component.

// The macros name this crate, also in its own tests.
extern crate self as toolgate_sdk;

pub mod context;
pub mod error;
pub mod html;
pub mod http;
pub mod markdown;
pub mod output;
pub mod pick;
pub mod schema;

pub mod blob;
pub mod kv;
pub mod webhook;

#[doc(hidden)]
pub mod fields;
mod host;
mod log_level;
pub mod plugin;

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, clippy::all, reason = "made by wit-bindgen")]
#[doc(hidden)]
pub mod bindings;
#[cfg(target_family = "wasm")]
mod guest;
#[cfg(any(all(target_family = "wasm", feature = "allocator"), test))]
#[allow(unsafe_code, reason = "an allocator is unsafe to implement")]
mod memory;

#[cfg(not(target_family = "wasm"))]
pub mod testing;

pub use blob::Blob;
pub use context::Context;
pub use error::{ErrorKind, ToolError};
pub use output::{IntoOutput, Output};
pub use plugin::{NoArgs, Plugin};
pub use serde_json::{Map, Value, json};

/// Makes a type usable in a tool's arguments: serde and a JSON Schema from one derive.
///
/// A struct's fields are the properties: the doc comment is the description, an `Option` or a
/// `default` makes one optional. `#[arg(...)]` on a field takes `min`, `max`, `exclusive_min`,
/// `exclusive_max`, `multiple_of`, `min_length`, `max_length`, `min_items`, `max_items`,
/// `min_properties`, `unique_items`, `pattern`, `format`, `examples`, `default`, `rename`, and `path` for a value
/// that goes into the address and is left out when the struct is sent as a query or a body.
/// An enum of plain variants is a string in snake case (`rename` on a variant says otherwise).
pub use toolgate_sdk_macros::Args;

/// Makes the crate a plugin: the manifest and the list of its tools.
///
/// Keys are those of the manifest; `version` is the package's unless given. `normalize: path` next to
/// a `webhook` without `event` names the function that reads deliveries ([`webhook`]). Defines
/// `MANIFEST` and `PLUGIN`.
pub use toolgate_sdk_macros::plugin;

/// Makes a function a tool: `#[tool(effect = "read" | "write" | "destructive", ...)]`.
///
/// Also takes `title`, `idempotent`, `paginated` (adds the `cursor` argument), `auth = ["slot"]`
/// (all slots of the plugin unless given), `auth_optional`, `scopes = [...]`, `keywords = [...]`,
/// `requests = ["what do I have to pay this month"]` (what people say when they want the tool, at most eight, for the search),
/// `queries = ["POST https://api.example.com/search"]` (what a reading tool sends besides GET and
/// HEAD; `GRAPHQL https://...` for a POST of a GraphQL query), `trigger = { ... }` (an event that the gateway finds by
/// calling the tool from time to time; repeatable), `example = { ... }` (repeatable) and `deprecated = "..."`. The doc comment is the description.
pub use toolgate_sdk_macros::tool;

/// What nearly every plugin uses.
pub mod prelude {
    pub use crate::blob::Blob;
    pub use crate::context::{Context, LogLevel};
    pub use crate::error::{ErrorKind, ToolError};
    pub use crate::http::{Address, Client, Method, Response};
    pub use crate::output::Output;
    pub use crate::pick::{pick, pick_each};
    pub use crate::{Args, Map, Value, json, path, tool};
}

/// For the code that the macros write; not a part of the public interface.
#[doc(hidden)]
pub mod __private {
    #[cfg(target_family = "wasm")]
    pub use crate::bindings;
    #[cfg(target_family = "wasm")]
    pub use crate::bindings::export_plugin;
    #[cfg(target_family = "wasm")]
    pub use crate::bindings::exports::toolgate::plugin::integration::{
        Guest, Invocation, Output as GuestOutput, ToolError as GuestError,
    };
    #[cfg(target_family = "wasm")]
    pub use crate::bindings::webhook::export_webhook;
    #[cfg(target_family = "wasm")]
    pub use crate::bindings::webhook::exports::toolgate::plugin::webhook::{
        Delivery as GuestDelivery, Event as GuestEvent, Guest as WebhookGuest,
    };
    pub use crate::fields;
    #[cfg(target_family = "wasm")]
    pub use crate::guest::{invoke, log_panics, normalize};
    pub use crate::plugin::{
        Tool, arguments, bytes_of, entry, has_slots, takes, unknown_word, word,
    };
    pub use serde;
    #[cfg(target_family = "wasm")]
    pub use wit_bindgen;
}
