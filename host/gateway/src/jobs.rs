//! What runs beside requests: upkeep, retention, the master key.

pub(crate) mod housekeeping;
pub mod master_key;
pub(crate) mod retention;
pub mod rotation;
