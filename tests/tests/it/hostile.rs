//! Attacks: each test is one, and says what stops it.

mod approvals;
mod collisions;
mod compilation;
mod connect_links;
mod dry_run;
mod generated;
mod impersonation;
mod probation;
mod receipts;
mod sign_in;
