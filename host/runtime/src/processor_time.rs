//! The processor time of a guest, counted where the runtime looks at it.
//!
//! Counted by the wall clock, a guest would pay for the time in which other programs had the processor: on a loaded
//! machine an honest call then ends with `limit_exceeded`.

use std::cell::Cell;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::limits;

thread_local! {
    /// The processor time of this thread at the last look at a guest on it.
    static LAST_LOOK: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The processor time of one guest.
#[derive(Debug)]
pub(super) struct ProcessorTime {
    used: Duration,
    max: Duration,
}

impl Default for ProcessorTime {
    /// Of one call.
    fn default() -> Self {
        Self::at_most(limits::CPU_MAX)
    }
}

impl ProcessorTime {
    pub(super) fn at_most(max: Duration) -> Self {
        Self {
            used: Duration::ZERO,
            max,
        }
    }

    /// A guest begins to compute on this thread: what the thread has computed before is not charged to it.
    pub(super) fn begin() {
        LAST_LOOK.set(thread_time());
    }

    /// Charges the guest that runs on this thread for what the thread has computed since the last look at a guest
    /// on it. That can include other work of the thread, so that it is never more than the time between two looks.
    pub(super) fn charge(&mut self) {
        let now = thread_time();
        let since = now.saturating_sub(LAST_LOOK.replace(now));
        self.used += since.min(limits::EPOCH_TICK);
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.used > self.max
    }

    pub(super) fn used(&self) -> Duration {
        self.used
    }

    pub(super) fn max(&self) -> Duration {
        self.max
    }
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    );
    Duration::new(seconds, nanoseconds)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn compute(time: Duration) {
        let began = thread_time();
        while thread_time() - began < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn waiting_for_the_processor_costs_nothing() {
        let mut guest = ProcessorTime::default();
        guest.charge();
        let before = guest.used;
        thread::sleep(5 * limits::EPOCH_TICK);
        guest.charge();
        assert!(guest.used - before < limits::EPOCH_TICK / 2, "{guest:?}");
    }

    #[test]
    fn computing_costs_its_time_and_no_more_than_the_time_between_two_looks() {
        let mut guest = ProcessorTime::default();
        guest.charge();
        for spent in [limits::EPOCH_TICK / 2, 3 * limits::EPOCH_TICK] {
            let before = guest.used;
            compute(spent);
            guest.charge();
            let charged = guest.used - before;
            let expected = spent.min(limits::EPOCH_TICK);
            assert!(charged >= expected, "{charged:?} of {spent:?}");
            assert!(charged <= limits::EPOCH_TICK, "{charged:?}");
        }
    }

    #[test]
    fn what_the_thread_has_computed_before_a_guest_begins_is_not_charged() {
        let mut guest = ProcessorTime::at_most(limits::EPOCH_TICK / 4);
        compute(limits::EPOCH_TICK);
        ProcessorTime::begin();
        guest.charge();
        assert!(!guest.is_exceeded(), "{guest:?}");
        compute(limits::EPOCH_TICK / 2);
        guest.charge();
        assert!(guest.is_exceeded(), "{guest:?}");
    }

    #[test]
    fn a_guest_that_never_ends_exceeds_its_time() {
        let mut guest = ProcessorTime {
            used: limits::CPU_MAX - limits::EPOCH_TICK / 2,
            max: limits::CPU_MAX,
        };
        assert!(!guest.is_exceeded());
        compute(limits::EPOCH_TICK);
        guest.charge();
        compute(limits::EPOCH_TICK);
        guest.charge();
        assert!(guest.is_exceeded(), "{guest:?}");
    }
}
