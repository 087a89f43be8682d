//! Real parts that tests start and stop. Nothing here is a mock, and nothing is skipped when a
//! part is missing: the test fails and says which package brings it.

#![expect(
    clippy::disallowed_methods,
    reason = "the provider of a test has the machine's time"
)]

pub mod balancer;
pub mod bytes;
pub mod client_scenario;
pub mod collector;
pub mod component;
pub mod events;
pub mod gate;
pub mod gateway;
pub mod graphql;
pub mod holding;
pub mod issuer;
pub mod jupyterhub;
pub mod log_pipe;
pub mod mcp;
pub mod mcp_upstream;
pub mod model;
pub mod mutants;
pub mod network;
pub mod notes;
pub mod oidc;
pub mod patroni;
pub mod pdf;
pub mod person;
pub mod pooler;
pub mod ports;
pub mod postgres;
pub mod process;
pub mod provider;
pub mod range;
pub mod receiver;
pub mod search;
pub mod settings;
pub mod synapse;
pub mod tools;
pub mod upstream;
