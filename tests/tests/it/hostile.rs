//! Attacks: each test is one, and says what stops it.

mod collisions;
mod compilation;
mod generated;
mod hooks;
mod mcp_sessions;
mod probation;
mod proxies;
mod receipts;
mod slow_clients;
mod tenants;
