//! One binary for all behaviours; a module is a behaviour.

#![allow(clippy::unwrap_used, reason = "a test that fails should stop there")]

mod approvals;
mod audit;
mod authors;
mod bad_files;
mod bad_guests;
mod catalog;
mod command_line;
mod components;
mod connect;
mod corpus;
mod crash;
mod dashboard;
mod demo;
mod described;
mod examples;
mod hostile;
mod hostile_input;
mod hot_add;
mod house;
mod idempotency;
mod jupyterhub;
mod knowledge;
mod large;
mod limits;
mod mcp;
mod meaning;
mod messages;
mod parity;
mod receipts;
mod refusals;
mod rest;
mod results;
mod schemathesis;
mod sdk;
mod search;
mod second_door;
mod serving;
mod sessions;
mod spec;
mod store;
mod tools;
mod vendor;
mod webhooks;
mod writes;
