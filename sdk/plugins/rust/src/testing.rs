//! Testing a plugin natively: its tools run against a [`MockHost`] that answers from a script.
//!
//! [`replay_folder`] runs every example exchange of a folder; [`MockHost`] serves tests that are
//! written by hand. The mock compares what the plugin sends with the script; an exchange that
//! is not used is a failure too.

pub mod examples;
pub(crate) mod host;
mod mock;

pub use examples::replay_folder;
pub use mock::{Exchange, MockHost};
