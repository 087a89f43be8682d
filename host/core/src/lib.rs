//! What every crate of the host uses: identifiers, the clock, states, JSON checks, texts, addresses of
//! clients, budgets of memory.

#![forbid(unsafe_code)]

pub mod client_address;
pub mod clock;
pub mod exact;
pub mod file_name;
pub mod ids;
pub mod json;
pub mod memory;
pub mod states;
pub mod text;
pub mod trace;
pub mod visible;
