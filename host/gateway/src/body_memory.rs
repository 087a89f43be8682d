//! The memory of bodies, answers of providers, files and documents: one budget beside that of running plugins.
//!
//! What is in memory anyway and small is not counted ([`FREE_BYTES`]).

use std::sync::Arc;

use crate::{Caller, Error, Gateway};
use toolgate_core::memory::buffer::FREE_BYTES;
use toolgate_core::memory::{HeldMemory, MemoryAccount, MemoryBudget, NoFreeMemory};

/// The budget is one such part of that of running plugins: where nobody sets it, an eighth of what this process may have.
const PART_OF_GUESTS: u64 = 4;
/// The smallest budget: the largest file, and room for others.
const BODY_MEMORY_BYTES_MIN: u64 = 64 << 20;
/// When a request that found no memory may come again.
const RETRY_AFTER_S: u64 = 1;

/// The budget beside `guest_bytes_max` for running plugins.
pub(crate) fn budget(guest_bytes_max: u64) -> Arc<MemoryBudget> {
    let bytes_max = (guest_bytes_max / PART_OF_GUESTS).max(BODY_MEMORY_BYTES_MIN);
    Arc::new(MemoryBudget::new(bytes_max))
}

/// The answer to a request for which there is no memory and which has done nothing yet.
pub fn overloaded(_: NoFreeMemory) -> Error {
    Error::Overloaded {
        retry_after_s: RETRY_AFTER_S,
    }
}

impl Gateway {
    /// The memory of bodies, answers, files and documents.
    pub fn body_memory(&self) -> &Arc<MemoryBudget> {
        &self.body_memory
    }

    /// Where a caller's bodies, answers and files take their memory.
    pub(crate) fn memory_of(&self, caller: &Caller) -> MemoryAccount {
        self.body_memory.account(caller.workspace_id.shared())
    }

    /// Takes memory for something of a known size; none for a small one.
    ///
    /// # Errors
    /// `overloaded` where the budget has no memory left.
    pub(crate) async fn take_memory(
        &self,
        caller: &Caller,
        bytes: usize,
    ) -> Result<Option<HeldMemory>, Error> {
        if bytes <= FREE_BYTES {
            return Ok(None);
        }
        let mut held = self.memory_of(caller).hold();
        held.grow(bytes).await.map_err(overloaded)?;
        Ok(Some(held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_a_quarter_of_what_plugins_have_and_a_least() {
        for (guests, bodies) in [
            (1 << 30, 256 << 20),
            (256 << 20, 64 << 20),
            (1 << 20, 64 << 20),
        ] {
            assert_eq!(budget(guests).now().max_bytes, bodies, "{guests}");
        }
    }
}
