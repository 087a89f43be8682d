//! The counters that limit the memory of a guest: its own, and its part of the memory of all guests.

use wasmtime::{ResourceLimiter, ResourceLimiterAsync};

use super::limits::LimitExceeded;
#[cfg(test)]
use super::limits::TABLE_ELEMENTS_MAX;
use super::size::{Size, SizeBounds};
use toolgate_core::memory::HeldMemory;

/// Sums a store's memories, so that many small ones weigh as much as one large one.
#[derive(Debug)]
pub(crate) struct Meter {
    memory_bytes: usize,
    memory_bytes_max: usize,
    bounds: &'static SizeBounds,
    /// The first limit that was reached: a guest may ignore a failed growth and crash because of it later.
    pub(crate) exceeded: Option<LimitExceeded>,
}

impl Meter {
    /// At most `memory_bytes_max`, and never more than a plugin of this size gets.
    pub(crate) fn new(size: Size, memory_bytes_max: usize) -> Self {
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
    /// Refuses what would not fit into the guest's whole memory.
    pub(crate) fn fits(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        if bytes <= self.memory_bytes_max {
            return Ok(());
        }
        let exceeded = LimitExceeded::Memory(self.memory_bytes_max >> 20);
        Err(*self.exceeded.get_or_insert(exceeded))
    }

    /// Guest memory so far: it never shrinks.
    pub(crate) fn memory_bytes(&self) -> usize {
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

/// The meter of a call: what its guest takes is taken from the budget of all guests too.
#[derive(Debug)]
pub(crate) struct BudgetedMeter {
    pub(crate) meter: Meter,
    memory: HeldMemory,
}

impl BudgetedMeter {
    pub(crate) fn new(meter: Meter, memory: HeldMemory) -> Self {
        Self { meter, memory }
    }
}

#[async_trait::async_trait]
impl ResourceLimiterAsync for BudgetedMeter {
    /// Where the budget has nothing left, the guest ends: a `memory.grow` that fails would be a crash of the plugin.
    async fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let before = self.meter.memory_bytes();
        if !self.meter.memory_growing(current, desired, maximum)? {
            return Ok(false);
        }
        self.memory.grow(self.meter.memory_bytes() - before).await?;
        Ok(true)
    }

    async fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        self.meter.table_growing(current, desired, maximum)
    }

    fn instances(&self) -> usize {
        self.meter.instances()
    }

    fn tables(&self) -> usize {
        self.meter.tables()
    }

    fn memories(&self) -> usize {
        self.meter.memories()
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
