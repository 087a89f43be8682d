//! One binary for all behaviours; a module is a behaviour.

#![allow(clippy::unwrap_used, reason = "a test that fails should stop there")]

mod rest;
mod store;
