//! The program: command line, settings, and the threads that answer connections.
//!
//! What the product does is in [`toolgate_gateway`]; `host/README.md` tells the crates apart.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod archive;
pub mod cli;
pub mod config;
pub mod core_workers;
mod doctor;
pub mod inbound;
pub mod memory;
mod signals;
