//! What runs beside requests: work that outlives its asker, upkeep, retention, key rotation.

pub(crate) mod detached;
pub(crate) mod housekeeping;
pub(crate) mod retention;
pub mod rotation;
