//! The MCP edge: Streamable HTTP at `/mcp`, a handful of tools, answers in Markdown.
//!
//! Both generations of the protocol are served at the one address: 2026-07-28, where every request
//! is independent, and the session protocols from 2025-03-26 to 2025-11-25. The protocol itself is
//! rmcp's; this module decides who may speak ([`endpoint`]), what is offered ([`tools`]) and how the
//! gateway's answers read ([`render`]).
//!
//! A toolset is a server of its own, with its tools under their own names ([`toolset`]).
//!
//! The same tools are served on standard input and output for clients that start programs: then
//! [`remote`] replaces the gateway ([`operations`]).
//!
//! Refuses to hold business rules: a tool decodes its parameters, calls one operation of
//! [`toolgate_gateway::Gateway`] and renders what comes back. Results are text; a tool of a
//! toolset that has an output schema answers structured content beside it.
//!
//! Read next: [`tools`] (one file a tool), [`server`] (the handler), [`credentials`] (keys and access tokens), [`endpoint`] (hosts, sessions),
//! [`sessions`] (what of them is in memory), [`connect`] (the link as an elicitation), [`cards`] (MCP Apps),
//! [`skills`] (Skills as files), [`events`] (what happened).

#![forbid(unsafe_code)]

mod accept;
mod batch;
mod cards;
pub mod connect;
mod conversation;
mod cors;
pub mod credentials;
mod digits;
pub mod endpoint;
mod events;
mod message;
mod observe;
pub mod operations;
mod progress;
pub mod remote;
pub mod render;
pub mod server;
mod sessions;
pub mod skills;
pub mod stdio;
pub mod tools;
pub mod toolset;
mod unfit;

pub use credentials::{KEY_PATH, McpAuth, PATH};
pub use endpoint::{McpOptions, router};
