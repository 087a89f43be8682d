//! One binary for all behaviours; a module is a behaviour.

#![allow(clippy::unwrap_used, reason = "a test that fails should stop there")]
#![allow(unreachable_pub, reason = "modules of one program")]
#![expect(
    clippy::disallowed_methods,
    reason = "files and providers have the machine's time"
)]

mod approvals;
mod apps;
mod as_written;
mod attack_range;
mod audit;
mod author_loop;
mod authors;
mod backup;
mod bad_files;
mod bad_guests;
mod catalog;
mod circles;
mod command_line;
mod components;
mod connect;
mod corpus;
mod crash;
mod dashboard;
mod declared_effects;
mod demo;
mod deploy;
mod described;
mod dialects;
mod doctor;
mod events;
mod examples;
mod few_connections;
mod files;
mod full_disk;
mod fuzz;
mod graphql;
mod guest_memory;
mod guide;
mod hostile;
mod hostile_input;
mod hot_add;
mod house;
mod idempotency;
mod judge;
mod jupyterhub;
mod kept_connections;
mod knowledge;
mod large;
mod learning;
mod limits;
mod limits_document;
mod linked;
mod mcp;
mod mcp_upstreams;
mod messages;
mod mistakes;
mod newcomers;
mod parity;
mod progress;
mod provider_answers;
mod readiness;
mod real_servers;
mod receipts;
mod recipes;
mod refusals;
mod refused_starts;
mod repeated_writes;
mod replicas;
mod rest;
mod results;
mod round_trips;
mod schemathesis;
mod sdk;
mod search;
mod second_door;
mod semantic_search;
mod serving;
mod sessions;
mod sigkill;
mod silent_database;
mod snippets;
mod spec;
mod started;
mod stopped_log_reader;
mod store;
mod telemetry;
mod terminal;
mod tls;
mod tools;
mod triggers;
mod upgrades;
mod vendor;
mod webhooks;
mod writes;
