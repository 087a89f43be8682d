//! Attacks: each test is one, and says what stops it.

mod collisions;
mod compilation;
mod generated;
mod probation;
mod receipts;
