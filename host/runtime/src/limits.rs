//! What one call of an ordinary plugin may use, and the counter that holds it to that. Where large
//! plugins differ is in [`super::size`].

use std::time::Duration;

use wasmtime::ResourceLimiter;

use super::size::{Size, SizeBounds};

/// Guest memory of one call, summed over all its linear memories.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;
/// Elements of one guest table.
pub const TABLE_ELEMENTS_MAX: usize = 20_000;
/// Tables, memories and core instances of one component.
pub const TABLES_MAX: usize = 8;
pub const MEMORIES_MAX: usize = 2;
pub const INSTANCES_MAX: usize = 32;
/// Bytes a guest may hand to the host at once: a result at its bound, and what stands beside it.
pub const HOSTCALL_BYTES_MAX: usize = RESULT_BYTES_MAX + (1 << 20);
/// Resources (blobs, streams, header maps) alive at one time.
pub const RESOURCES_MAX: usize = 256;
/// Result of one call as JSON.
pub const RESULT_BYTES_MAX: usize = 8 << 20;
/// Levels of nesting of a result. Parsers stop at 128, and every answer wraps it in some more.
pub const RESULT_DEPTH_MAX: usize = 100;
/// A result's `next_cursor`.
pub const CURSOR_BYTES_MAX: usize = 64 << 10;
/// All blobs of one call, with their media types and names.
pub const BLOB_BYTES_MAX: usize = 32 << 20;
/// Media type of a blob, and its name.
pub const BLOB_WORD_BYTES_MAX: usize = 1 << 10;
/// One read of a blob.
pub const BLOB_READ_BYTES_MAX: usize = 1 << 20;
/// One log line; longer ones are cut.
pub const LOG_LINE_BYTES_MAX: usize = 4 << 10;
/// Log lines of one call; the rest is counted and dropped.
pub const LOG_LINES_MAX: u32 = 200;
/// What a guest may write to standard output and error.
pub const STDIO_BYTES_MAX: usize = 16 << 10;
/// Random bytes of one request.
pub const RANDOM_BYTES_MAX: u32 = 64 << 10;
/// Body of one request of the wasi:http door.
pub const DOOR_BODY_BYTES_MAX: usize = 8 << 20;
/// All bodies that the host holds for the door at one time in one call.
pub const DOOR_BODIES_BYTES_MAX: usize = 32 << 20;
/// What a guest may write into such a body before the host takes it.
pub const DOOR_CHUNK_BYTES_MAX: usize = 64 << 10;
/// Method of such a request, and its authority.
pub const DOOR_WORD_BYTES_MAX: usize = 1 << 10;
/// Wall clock of one call.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time on the processor of one call.
pub const CPU_MAX: Duration = Duration::from_secs(10);
/// The runtime looks at a running guest this often.
pub const EPOCH_TICK: Duration = Duration::from_millis(10);
/// Component file.
pub const COMPONENT_BYTES_MAX: u64 = 16 << 20;
/// Calls of one key running at one time; one more is answered `overloaded`.
pub const CALLS_MAX: usize = 128;
/// Calls running at one time, of all workspaces: twice what one key can have.
pub const PLACES_MAX: usize = 2 * CALLS_MAX;

/// A guest's bound was met. Travels through wasmtime as the cause of the trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitExceeded {
    #[error("the plugin used more than {0} MiB of memory")]
    Memory(usize),
    #[error("the plugin grew a table beyond {0} elements")]
    Table(usize),
    #[error("the plugin used more than {0} s of processor time")]
    Cpu(u64),
    #[error("the plugin's result is larger than {0} MiB")]
    Result(usize),
    #[error("the plugin handed the gateway more than {0} MiB at once")]
    Handed(usize),
    #[error("the plugin's cursor for the next page is larger than {0} KiB")]
    Cursor(usize),
    #[error("the plugin held more than {0} MiB of files")]
    Blobs(usize),
}

/// Sums a store's memories, so that many small ones weigh as much as one large one.
#[derive(Debug)]
pub struct Meter {
    memory_bytes: usize,
    memory_bytes_max: usize,
    bounds: &'static SizeBounds,
    /// The first bound that was met, kept because a guest may swallow a failed growth and die of it later.
    pub exceeded: Option<LimitExceeded>,
}

impl Meter {
    /// At most `memory_bytes_max`, and never more than a plugin of this size gets.
    pub fn new(size: Size, memory_bytes_max: usize) -> Self {
        let bounds = size.bounds();
        Self {
            memory_bytes: 0,
            memory_bytes_max: memory_bytes_max.min(bounds.memory_bytes_max),
            bounds,
            exceeded: None,
        }
    }
}

impl Meter {
    /// Refuses what the guest's whole memory could not take.
    pub fn fits(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        if bytes <= self.memory_bytes_max {
            return Ok(());
        }
        let exceeded = LimitExceeded::Memory(self.memory_bytes_max >> 20);
        Err(*self.exceeded.get_or_insert(exceeded))
    }

    /// Guest memory by now: it never shrinks.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }
}

impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self
            .memory_bytes
            .saturating_add(desired.saturating_sub(current));
        if total > self.memory_bytes_max {
            self.exceeded
                .get_or_insert(LimitExceeded::Memory(self.memory_bytes_max >> 20));
            return Ok(false);
        }
        self.memory_bytes = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let most = self.bounds.table_elements_max;
        if desired > most {
            self.exceeded.get_or_insert(LimitExceeded::Table(most));
            return Ok(false);
        }
        Ok(true)
    }

    fn instances(&self) -> usize {
        self.bounds.instances_max
    }

    fn tables(&self) -> usize {
        self.bounds.tables_max
    }

    fn memories(&self) -> usize {
        self.bounds.memories_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_of_one_store_are_summed() {
        let mut meter = Meter::new(Size::Ordinary, 100);
        assert!(meter.memory_growing(0, 60, None).expect("no error"));
        assert!(
            meter.memory_growing(0, 40, None).expect("no error"),
            "exactly at the bound"
        );
        assert!(
            !meter.memory_growing(40, 41, None).expect("no error"),
            "one byte beyond"
        );
        assert_eq!(meter.exceeded, Some(LimitExceeded::Memory(0)));
    }

    #[test]
    fn a_table_ends_at_its_bound() {
        let mut meter = Meter::new(Size::Ordinary, 1);
        assert!(
            meter
                .table_growing(0, TABLE_ELEMENTS_MAX, None)
                .expect("no error")
        );
        assert!(
            !meter
                .table_growing(0, TABLE_ELEMENTS_MAX + 1, None)
                .expect("no error")
        );
    }
}
