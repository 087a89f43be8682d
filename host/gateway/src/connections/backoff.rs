//! When a refresh that failed is tried again, and when it is given up.
//!
//! Pure. A connection whose provider does not answer is tried at most [`FAILURES_MAX`] times in a
//! row, ever more seldom; then only the user can repair it.

/// Refreshes that fail in a row before a connection is given up.
pub(super) const FAILURES_MAX: i64 = 24;
/// The first wait, doubled by each failure.
const FIRST_MS: i64 = 1_000;
/// The longest wait.
const LONGEST_MS: i64 = 60 * 60 * 1_000;

/// How long to wait after `failures` (1 and more) in a row; `random` in 0..1 spreads connections
/// that failed together over half of the wait.
pub(super) fn wait_ms(failures: i64, random: f64) -> i64 {
    let doublings = failures.clamp(1, 32) - 1;
    let wait = FIRST_MS.saturating_mul(1_i64 << doublings).min(LONGEST_MS);
    let half = wait / 2;
    half + (half as f64 * random.clamp(0.0, 1.0)) as i64
}

/// Whether there is to be no further try.
pub(super) fn given_up(failures: i64) -> bool {
    failures >= FAILURES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour_and_are_spread() {
        for (failures, least, most) in [
            (0, 500, 1_000),
            (1, 500, 1_000),
            (2, 1_000, 2_000),
            (5, 8_000, 16_000),
            (13, 1_800_000, 3_600_000),
            (1_000, 1_800_000, 3_600_000),
        ] {
            assert_eq!(wait_ms(failures, 0.0), least, "{failures}");
            assert_eq!(wait_ms(failures, 1.0), most, "{failures}");
        }
    }

    #[test]
    fn a_dead_connection_is_tried_a_bounded_number_of_times() {
        assert!(!given_up(FAILURES_MAX - 1));
        assert!(given_up(FAILURES_MAX));
        let shortest: i64 = (1..FAILURES_MAX)
            .map(|failures| wait_ms(failures, 0.0))
            .sum();
        // A provider that is away for half a working day costs nobody a connect link.
        assert!(shortest > 5 * 60 * 60 * 1_000);
    }
}
