//! The machine's clock, compared with the monotonic clock.
//!
//! A clock that is wrong for a moment (a bad time server, a hand that slipped, a machine that was moved)
//! would expire keys, delete what is past its time and put pauses off until tomorrow. So a step of more
//! than [`STEP_MS_MIN`] counts only once it has lasted for [`HELD_FOR_MS`]; until then time goes on as the
//! monotonic clock measures it. A machine that slept takes such a step too.

use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A smaller step of the clock, as time servers make them, counts at once.
pub const STEP_MS_MIN: i64 = 60_000;
/// How long a step has to last before it counts.
pub const HELD_FOR_MS: i64 = 60_000;
/// After a step that counts, nothing is deleted for being old for this long: the clock may still be wrong.
pub const UNSETTLED_FOR_MS: i64 = 60 * 60 * 1_000;
/// Steps that wait to be reported.
const STEPS_MAX: usize = 16;

/// How the clock stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockStep {
    /// Forward, or backward where negative.
    pub by_ms: i64,
    pub state: StepState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    /// It does not count yet.
    Held,
    /// It has lasted, and counts from now on.
    Taken,
    /// The clock went back before that.
    Undone,
}

#[derive(Debug)]
pub(super) struct SteadyClock {
    began: Instant,
    reading: Mutex<ClockReading>,
}

#[derive(Debug, Default)]
struct ClockReading {
    /// How far the wall clock is ahead of the monotonic one, as it counts; absent before the first reading.
    ahead_ms: Option<i64>,
    /// A step that does not count yet.
    pending: Option<PendingStep>,
    /// When a step counted last, on the monotonic clock.
    taken_at_ms: Option<i64>,
    /// Steps that are not reported yet.
    steps: Vec<ClockStep>,
}

#[derive(Clone, Copy, Debug)]
struct PendingStep {
    ahead_ms: i64,
    since_ms: i64,
}

impl SteadyClock {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            reading: Mutex::default(),
        }
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.look(|reading, wall_ms, elapsed_ms| reading.now_ms(wall_ms, elapsed_ms))
    }

    pub(super) fn take_steps(&self) -> Vec<ClockStep> {
        self.look(|reading, wall_ms, elapsed_ms| {
            reading.now_ms(wall_ms, elapsed_ms);
            std::mem::take(&mut reading.steps)
        })
    }

    pub(super) fn is_settled(&self) -> bool {
        self.look(|reading, wall_ms, elapsed_ms| {
            reading.now_ms(wall_ms, elapsed_ms);
            reading.is_settled(elapsed_ms)
        })
    }

    fn look<T>(&self, look: impl FnOnce(&mut ClockReading, i64, i64) -> T) -> T {
        // Both clocks are read under the lock: a thread that was delayed between them would see a step.
        let mut reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed_ms = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        #[expect(clippy::disallowed_methods, reason = "the clock reads the machine's")]
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        let wall_ms = wall.map_or(0, |since| {
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        });
        look(&mut reading, wall_ms, elapsed_ms)
    }
}

impl ClockReading {
    fn now_ms(&mut self, wall_ms: i64, elapsed_ms: i64) -> i64 {
        let seen_ms = wall_ms - elapsed_ms;
        let counts_ms = *self.ahead_ms.get_or_insert(seen_ms);
        let by_ms = seen_ms - counts_ms;
        if by_ms.abs() < STEP_MS_MIN {
            if let Some(pending) = self.pending.take() {
                self.step(pending.ahead_ms - counts_ms, StepState::Undone);
            }
            self.ahead_ms = Some(seen_ms);
            return wall_ms;
        }
        let pending = self
            .pending
            .filter(|pending| (pending.ahead_ms - seen_ms).abs() < STEP_MS_MIN);
        let Some(pending) = pending else {
            self.pending = Some(PendingStep {
                ahead_ms: seen_ms,
                since_ms: elapsed_ms,
            });
            self.step(by_ms, StepState::Held);
            return counts_ms + elapsed_ms;
        };
        if elapsed_ms - pending.since_ms < HELD_FOR_MS {
            return counts_ms + elapsed_ms;
        }
        self.pending = None;
        self.ahead_ms = Some(seen_ms);
        self.taken_at_ms = Some(elapsed_ms);
        self.step(by_ms, StepState::Taken);
        wall_ms
    }

    fn step(&mut self, by_ms: i64, state: StepState) {
        if self.steps.len() < STEPS_MAX {
            self.steps.push(ClockStep { by_ms, state });
        }
    }

    fn is_settled(&self, elapsed_ms: i64) -> bool {
        let recent = self
            .taken_at_ms
            .is_some_and(|at_ms| elapsed_ms - at_ms < UNSETTLED_FOR_MS);
        self.pending.is_none() && !recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_800_000_000_000;
    const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

    #[test]
    fn a_clock_that_is_off_for_a_moment_changes_nothing() {
        for off_ms in [DAY_MS, -DAY_MS, 365 * DAY_MS, STEP_MS_MIN] {
            let mut reading = ClockReading::default();
            assert_eq!(reading.now_ms(NOW_MS, 0), NOW_MS);
            for elapsed_ms in [1_000, 2_000, HELD_FOR_MS] {
                let now_ms = reading.now_ms(NOW_MS + off_ms + elapsed_ms, elapsed_ms);
                assert_eq!(now_ms, NOW_MS + elapsed_ms, "{off_ms}");
                assert!(!reading.is_settled(elapsed_ms));
            }
            let back_ms = HELD_FOR_MS + 500;
            assert_eq!(reading.now_ms(NOW_MS + back_ms, back_ms), NOW_MS + back_ms);
            assert!(reading.is_settled(back_ms));
            let states: Vec<_> = reading.steps.iter().map(|step| step.state).collect();
            assert_eq!(states, [StepState::Held, StepState::Undone]);
            assert!(reading.steps.iter().all(|step| step.by_ms == off_ms));
        }
    }

    #[test]
    fn a_step_that_lasts_counts_and_old_rows_stay_for_a_while() {
        let mut reading = ClockReading::default();
        reading.now_ms(NOW_MS, 0);
        assert_eq!(reading.now_ms(NOW_MS + DAY_MS + 5, 5), NOW_MS + 5);
        let lasted_ms = 5 + HELD_FOR_MS;
        let now_ms = NOW_MS + DAY_MS + lasted_ms;
        assert_eq!(reading.now_ms(now_ms, lasted_ms), now_ms);
        let last = reading.steps.last().expect("steps");
        assert_eq!(last.state, StepState::Taken);
        assert!(!reading.is_settled(lasted_ms));
        assert!(reading.is_settled(lasted_ms + UNSETTLED_FOR_MS));
        // Back again: the same, the other way.
        let back_ms = lasted_ms + 1;
        assert_eq!(reading.now_ms(NOW_MS + back_ms, back_ms), now_ms + 1);
    }

    #[test]
    fn small_corrections_count_at_once() {
        let mut reading = ClockReading::default();
        reading.now_ms(NOW_MS, 0);
        for (elapsed_ms, off_ms) in [(10, 59_000), (20, 0), (30, -59_000), (40, 0)] {
            let wall_ms = NOW_MS + elapsed_ms + off_ms;
            assert_eq!(reading.now_ms(wall_ms, elapsed_ms), wall_ms);
        }
        assert!(reading.steps.is_empty() && reading.is_settled(40));
    }

    #[test]
    fn another_step_begins_its_time_anew() {
        let mut reading = ClockReading::default();
        reading.now_ms(NOW_MS, 0);
        reading.now_ms(NOW_MS + DAY_MS, 1);
        let later_ms = HELD_FOR_MS - 1;
        reading.now_ms(NOW_MS + later_ms + 2 * DAY_MS, later_ms);
        let last_ms = HELD_FOR_MS + 10;
        let now_ms = reading.now_ms(NOW_MS + last_ms + 2 * DAY_MS, last_ms);
        assert_eq!(now_ms, NOW_MS + last_ms);
    }

    #[test]
    fn the_clock_of_this_machine_is_read() {
        let clock = SteadyClock::new();
        let before = clock.now_ms();
        assert!(before > 1_700_000_000_000 && clock.now_ms() >= before);
        assert!(clock.is_settled() && clock.take_steps().is_empty());
    }
}
