//! Attacks: each test is one, and says what stops it.

mod approvals;
mod audience;
mod collisions;
mod compilation;
mod connect_links;
mod dry_run;
mod effects;
mod generated;
mod headers;
mod hooks;
mod impersonation;
mod invisible_text;
mod labels;
mod mcp_sessions;
mod oidc_invites;
mod payloads;
mod probation;
mod proxies;
mod receipts;
mod reflection;
mod sign_in;
mod slow_clients;
mod spy;
mod tenants;
mod token_parameters;
mod upgrades;
