//! What follows from an attempt.
//!
//! Pure. A webhook that does not answer well rests, ever longer, and its deliveries wait in their
//! order; one delivery that fails three times lets the others pass and is tried on a schedule of
//! its own. A delivery is given up after three days, a webhook switched off after five days in which
//! nothing arrived, or at once when it answers 410.

use std::time::Duration;

/// The first rest, doubled by each failure.
const FIRST_MS: i64 = 5_000;
/// The longest rest.
const LONGEST_MS: i64 = 4 * 60 * 60 * 1_000;
/// What `Retry-After` may ask for.
const RETRY_AFTER_MAX_MS: i64 = DAY_MS;
/// A delivery is tried for this long.
pub const TRIED_FOR_MS: i64 = 3 * DAY_MS;
/// A webhook at which nothing arrives for this long is switched off.
pub const FAILING_FOR_MS: i64 = 5 * DAY_MS;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// The endpoint says that it is gone for good (RFC 9110, section 15.5.11).
const GONE: u16 = 410;

/// How it stood before the attempt.
#[derive(Clone, Copy, Debug)]
pub struct PriorState {
    /// Failures in a row of the webhook, and since when.
    pub failures: i64,
    pub failing_since_ms: Option<i64>,
    /// Attempts of the delivery, and when it was written.
    pub attempts: i64,
    pub created_at_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptVerdict {
    Arrived,
    Failed {
        /// `None`: the delivery is given up.
        again_at_ms: Option<i64>,
        rest_until_ms: i64,
        disable: Option<&'static str>,
    },
}

/// `status`: of the answer, if there was one. `random` in 0..1.
pub fn judge(
    standing: PriorState,
    status: Option<u16>,
    retry_after: Option<Duration>,
    now_ms: i64,
    random: f64,
) -> AttemptVerdict {
    if status.is_some_and(|status| (200..300).contains(&status)) {
        return AttemptVerdict::Arrived;
    }
    let asked_ms = retry_after
        .map_or(0, |wait| {
            i64::try_from(wait.as_millis()).unwrap_or(i64::MAX)
        })
        .min(RETRY_AFTER_MAX_MS);
    let rest_until_ms = now_ms + rest_ms(standing.failures + 1, random).max(asked_ms);
    let again_at_ms = rest_until_ms.max(now_ms + rest_ms(standing.attempts + 1, random));
    let gone = status == Some(GONE);
    let failing = standing
        .failing_since_ms
        .is_some_and(|since_ms| now_ms - since_ms >= FAILING_FOR_MS);
    let tried_enough = again_at_ms - standing.created_at_ms > TRIED_FOR_MS;
    AttemptVerdict::Failed {
        again_at_ms: (!gone && !tried_enough).then_some(again_at_ms),
        rest_until_ms,
        disable: match (gone, failing) {
            (true, _) => Some("gone"),
            (false, true) => Some("failing"),
            (false, false) => None,
        },
    }
}

/// Until when a webhook rests: nothing is sent before but what a person asks for. `None`: it does not rest.
pub(crate) fn paused_until_ms(enabled: bool, retry_at_ms: Option<i64>, now_ms: i64) -> Option<i64> {
    retry_at_ms.filter(|retry_at_ms| enabled && *retry_at_ms > now_ms)
}

/// How long to rest after `failures` (1 and more) in a row, spread over half of it.
fn rest_ms(failures: i64, random: f64) -> i64 {
    let doublings = failures.clamp(1, 32) - 1;
    let rest = FIRST_MS.saturating_mul(1_i64 << doublings).min(LONGEST_MS);
    let half = rest / 2;
    half + (half as f64 * random.clamp(0.0, 1.0)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: PriorState = PriorState {
        failures: 0,
        failing_since_ms: None,
        attempts: 0,
        created_at_ms: 0,
    };

    fn failed(
        again_at_ms: Option<i64>,
        rest_until_ms: i64,
        disable: Option<&'static str>,
    ) -> AttemptVerdict {
        AttemptVerdict::Failed {
            again_at_ms,
            rest_until_ms,
            disable,
        }
    }

    #[test]
    fn only_an_answer_of_the_two_hundreds_counts_as_arrived() {
        for status in [200, 202, 204, 299] {
            assert_eq!(
                judge(NEW, Some(status), None, 0, 1.0),
                AttemptVerdict::Arrived
            );
        }
        for status in [None, Some(100), Some(301), Some(400), Some(429), Some(500)] {
            let verdict = judge(NEW, status, None, 0, 1.0);
            assert_eq!(verdict, failed(Some(5_000), 5_000, None), "{status:?}");
        }
    }

    #[test]
    fn a_webhook_rests_while_it_is_on_and_its_next_try_is_in_the_future() {
        assert_eq!(paused_until_ms(true, Some(2), 1), Some(2));
        for (enabled, retry_at_ms) in [(true, Some(1)), (true, None), (false, Some(2))] {
            assert_eq!(paused_until_ms(enabled, retry_at_ms, 1), None);
        }
    }

    #[test]
    fn rests_double_up_to_four_hours_and_are_spread() {
        for (failures, least, most) in [
            (1, 2_500, 5_000),
            (2, 5_000, 10_000),
            (5, 40_000, 80_000),
            (13, 7_200_000, 14_400_000),
            (1_000, 7_200_000, 14_400_000),
        ] {
            assert_eq!(rest_ms(failures, 0.0), least, "{failures}");
            assert_eq!(rest_ms(failures, 1.0), most, "{failures}");
        }
    }

    #[test]
    fn retry_after_is_honoured_up_to_a_day() {
        let hour = Duration::from_secs(3_600);
        let verdict = judge(NEW, Some(429), Some(hour), 0, 1.0);
        assert_eq!(verdict, failed(Some(3_600_000), 3_600_000, None));
        let short = Some(Duration::from_secs(1));
        let verdict = judge(NEW, Some(503), short, 0, 1.0);
        assert_eq!(verdict, failed(Some(5_000), 5_000, None));
        let year = Some(hour * 24 * 365);
        let verdict = judge(NEW, Some(503), year, 0, 1.0);
        assert_eq!(verdict, failed(Some(DAY_MS), DAY_MS, None));
    }

    #[test]
    fn a_delivery_that_fails_alone_waits_longer_than_its_webhook() {
        let standing = PriorState { attempts: 4, ..NEW };
        let verdict = judge(standing, Some(500), None, 0, 1.0);
        assert_eq!(verdict, failed(Some(80_000), 5_000, None));
    }

    #[test]
    fn a_delivery_is_given_up_after_three_days() {
        let standing = PriorState {
            attempts: 30,
            failures: 30,
            ..NEW
        };
        let last_ms = TRIED_FOR_MS - LONGEST_MS;
        let verdict = judge(standing, None, None, last_ms, 1.0);
        assert_eq!(verdict, failed(Some(TRIED_FOR_MS), TRIED_FOR_MS, None));
        let verdict = judge(standing, None, None, last_ms + 1, 1.0);
        assert_eq!(verdict, failed(None, TRIED_FOR_MS + 1, None));
    }

    #[test]
    fn a_webhook_is_switched_off_when_it_is_gone_or_fails_for_five_days() {
        let verdict = judge(NEW, Some(410), None, 0, 1.0);
        assert_eq!(verdict, failed(None, 5_000, Some("gone")));
        let standing = PriorState {
            failing_since_ms: Some(0),
            created_at_ms: FAILING_FOR_MS,
            ..NEW
        };
        let at = |now_ms| match judge(standing, Some(500), None, now_ms, 1.0) {
            AttemptVerdict::Failed { disable, .. } => disable,
            AttemptVerdict::Arrived => None,
        };
        assert_eq!(at(FAILING_FOR_MS - 1), None);
        assert_eq!(at(FAILING_FOR_MS), Some("failing"));
    }
}
