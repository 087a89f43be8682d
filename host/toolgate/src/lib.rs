//! The program: command line, settings, and the threads that answer connections.
//!
//! This page is also the front page of the workspace's documentation. A call goes from an edge to the gateway and
//! from there to the crates below it; ARCHITECTURE.md follows one through them.
//!
//! # The product and its edges
//!
//! - [`gateway`]: what the product does: the operations that every edge calls
//! - [`http`]: REST, the pages behind connect links, the sign-in of MCP clients, the dashboard and its routes
//! - [`mcp`]: MCP over HTTP and over standard input and output
//! - [`http-kit`]: what the HTTP edges share: body limits, strict decoding, the request layer, the error envelope
//! - [`guide`]: the documentation as a site of pages
//!
//! # What the gateway is built on
//!
//! - [`identity`]: who calls: members, OpenID Connect, our authorization server, keys, sessions of MCP clients
//! - [`operation`]: what every operation takes and answers: caller, error, limits, audit entry, receipt
//! - [`catalog`]: which tools exist: manifest, lint, rights, schemas
//! - [`search`]: finds tools by words and by meaning
//! - [`runtime`]: runs plugins: engine, cache of compiled code, inspection, one sandboxed instance per call
//! - [`egress`]: the only way out: policy, dialling, credential injection, scrubbing of answers
//! - [`oauth`]: talks to authorization servers; stores nothing
//! - [`model`]: talks to a language model, where one is configured
//! - [`vault`]: seals and opens secrets; the only crate that sees key material
//! - [`store`]: all SQL, on SQLite and PostgreSQL
//! - [`core`]: identifiers, the clock, states and their words, JSON checks, shared texts, client addresses
//!
//! # For authors of plugins
//!
//! - [`openapi`]: builds plugins from OpenAPI descriptions
//! - [`mcp-upstream`]: builds plugins from remote MCP servers
//! - [`plugin-test`]: tests a plugin without a gateway: replays examples, plans requests
//!
//! Plugins in Rust are written with [`toolgate-sdk`]. `examples/embed-rust` is a program of one's own around the gateway.
//!
//! [`gateway`]: ../toolgate_gateway/index.html
//! [`http`]: ../toolgate_http/index.html
//! [`mcp`]: ../toolgate_mcp/index.html
//! [`http-kit`]: ../toolgate_http_kit/index.html
//! [`guide`]: ../toolgate_guide/index.html
//! [`identity`]: ../toolgate_identity/index.html
//! [`operation`]: ../toolgate_operation/index.html
//! [`catalog`]: ../toolgate_catalog/index.html
//! [`search`]: ../toolgate_search/index.html
//! [`runtime`]: ../toolgate_runtime/index.html
//! [`egress`]: ../toolgate_egress/index.html
//! [`oauth`]: ../toolgate_oauth/index.html
//! [`model`]: ../toolgate_model/index.html
//! [`vault`]: ../toolgate_vault/index.html
//! [`store`]: ../toolgate_store/index.html
//! [`core`]: ../toolgate_core/index.html
//! [`openapi`]: ../toolgate_openapi/index.html
//! [`mcp-upstream`]: ../toolgate_mcp_upstream/index.html
//! [`plugin-test`]: ../toolgate_plugin_test/index.html
//! [`toolgate-sdk`]: ../toolgate_sdk/index.html

#![forbid(unsafe_code)]

mod archive;
pub mod cli;
pub mod config;
pub mod core_workers;
mod doctor;
pub mod inbound;
mod log;
pub mod memory;
mod signals;
mod telemetry;
