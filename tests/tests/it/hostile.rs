//! Attacks: each test is one, and says what stops it.

mod audience;
mod collisions;
mod compilation;
mod effects;
mod generated;
mod headers;
mod hooks;
mod labels;
mod mcp_sessions;
mod invisible_text;
mod probation;
mod proxies;
mod receipts;
mod reflection;
mod slow_clients;
mod spy;
mod tenants;
mod token_parameters;
mod upgrades;
