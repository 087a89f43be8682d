//! What runs beside requests: work that outlives its asker, upkeep, retention, the master key.

pub(crate) mod detached;
pub(crate) mod housekeeping;
pub mod master_key;
pub(crate) mod retention;
pub mod rotation;
