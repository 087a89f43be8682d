//! What the first pages show: an overview, and whether the gateway works.

pub(crate) mod data_folder;
pub mod first_steps;
pub(crate) mod health;
pub mod overview;
pub(crate) mod readiness;
