//! Runs one script of an agent inside the sandbox.
//!
//! The component has no import: what a script learns comes through `start` and `resume` of
//! `wit/engine.wit`. A script asks for steps (calls of tools, searches, pauses); the host performs them and
//! hands back their outcomes one at a time. Given the same start and the same outcomes in the same order, the
//! engine asks for the same steps: time and random numbers come from the input, and nothing else can differ.
//!
//! [`GuestScript`] is the engine; all modules but `component` are plain Rust with native tests.

mod bindings;
#[cfg(target_family = "wasm")]
mod component;
mod failure;
mod from_json;
mod hooks;
pub mod limits;
mod place;
mod script;
mod services;
mod source;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod to_json;
mod turn;
mod types;

pub use script::GuestScript;
