//! Attacks: each test is one, and says what stops it.

mod collisions;
mod compilation;
mod effects;
mod generated;
mod invisible_text;
mod probation;
mod receipts;
mod upgrades;
