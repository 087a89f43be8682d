//! toolgate: a tool gateway for software agents.
//!
//! Read in this order:
//!
//! - [`gateway`] is what the product does: search, describe and execute tools, and everything a
//!   workspace owns. Start with [`gateway::tools`].
//! - [`catalog`] knows which tools exist: manifests, their lint, the search index. Pure.
//! - [`runtime`] runs a plugin: engine, compiled-code cache, the folder that is watched, one
//!   sandboxed instance per call.
//! - [`egress`] is the only way out: policy, dialling, credential injection, scrubbing.
//! - [`model`] talks to a language model, where one is configured.
//! - [`meaning`], a package of its own, turns texts into vectors: the semantic half of search.
//! - [`oauth`] talks to authorization servers; [`vault`] seals secrets.
//! - [`store`] holds all SQL, on SQLite or PostgreSQL.
//! - [`openapi`] makes plugins of OpenAPI descriptions.
//! - [`trial`] tries a plugin without a gateway: examples replayed, requests planned.
//! - [`rest`] and [`mcp`] are the public edges, [`connect`] the pages behind connect links,
//!   [`internal`] the dashboard and its routes; [`cli`] is the command line; [`inbound`] admits
//!   connections and ends slow ones, [`lanes`] are the threads that answer them.
//!
//! Arrows point one way: edges -> gateway -> catalog | runtime | egress | oauth | vault | store.

pub mod client_address;
pub mod clock;
pub mod config;
pub mod ids;
pub mod json;
pub mod memory;
pub mod metrics;
pub mod text;
pub mod visible;

pub mod cli;
pub mod connect;
pub mod inbound;
pub mod internal;
pub mod lanes;
pub mod mcp;
pub mod rest;

pub mod gateway;

pub mod model;
pub mod openapi;
pub mod trial;

pub use toolgate_meaning as meaning;

pub mod catalog;
pub mod egress;
pub mod oauth;
pub mod runtime;
pub mod store;
pub mod vault;
