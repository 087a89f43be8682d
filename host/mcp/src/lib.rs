//! The MCP edge: Streamable HTTP at `/mcp`, a handful of tools, answers in Markdown.
//!
//! Both generations of the protocol are served at the one address: 2026-07-28, where every request
//! stands alone, and the session protocols from 2025-03-26 to 2025-11-25. The protocol itself is
//! rmcp's; this module decides who may speak ([`endpoint`]), what is offered ([`tools`]) and how the
//! gateway's answers read ([`render`]).
//!
//! The same tools are served on standard input and output for clients that start programs: then
//! [`remote`] stands for the gateway ([`operations`]).
//!
//! Refuses to hold business rules: a tool decodes its parameters, calls one operation of
//! [`toolgate_gateway::Gateway`] and renders what comes back. Results are text, never structured
//! content.
//!
//! Read next: [`tools`] (one file a tool), [`server`] (the handler), [`credentials`] (keys and access tokens), [`endpoint`] (hosts, sessions),
//! [`sessions`] (what of them is in memory), [`connect`] (the link as an elicitation), [`skills`] (Skills as files).

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod connect;
mod cors;
pub mod credentials;
pub mod endpoint;
mod observe;
pub mod operations;
pub mod remote;
pub mod render;
pub mod server;
mod sessions;
pub mod skills;
pub mod stdio;
pub mod tools;
mod unfit;

pub use credentials::{KEY_PATH, McpAuth, PATH};
pub use endpoint::{McpOptions, router};
