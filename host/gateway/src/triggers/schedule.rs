//! When a trigger is polled again. Pure.

use toolgate_core::states::TriggerState;

/// The first wait after a failure, doubled by each further one.
const FIRST_WAIT_MS: i64 = 60_000;
/// The longest wait, unless the interval is longer.
const LONGEST_WAIT_MS: i64 = 60 * 60 * 1_000;
/// The longest wait that a provider may ask for.
const ASKED_WAIT_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// A reading that one poll does not finish goes on after this.
const GO_ON_MS: i64 = 60_000;
/// How often is looked whether the user has connected.
const CONNECTED_EVERY_MS: i64 = 30_000;

/// How a poll ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PollEnd {
    /// The list has been read.
    Read,
    /// There is more than one poll reads.
    More,
    /// The user has no connection that works; nothing was sent.
    NotConnected,
    /// The provider refused the connection.
    Refused,
    Failed(PollFailure),
    /// The gateway has no room, or the workspace's limit of requests is met.
    Later {
        wait_ms: i64,
    },
}

/// What made a poll fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PollFailure {
    /// A sentence without anything that a provider or a user wrote.
    pub error: String,
    /// The wait that the provider asks for.
    pub retry_after_ms: Option<i64>,
    /// The page to go on at may be the reason: the list is read anew.
    pub begins_anew: bool,
}

/// What follows from the end of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NextPoll {
    pub state: TriggerState,
    pub failures: i64,
    pub error: Option<String>,
    pub at_ms: i64,
    pub begins_anew: bool,
}

/// A trigger as it was before the poll.
#[derive(Clone, Copy, Debug)]
pub(super) struct PriorPolls {
    pub state: TriggerState,
    pub failures: i64,
    pub interval_ms: i64,
}

/// `random` in 0..1 spreads triggers that failed together over half of their wait.
pub(super) fn next(prior: PriorPolls, end: PollEnd, now_ms: i64, random: f64) -> NextPoll {
    let good = |wait_ms: i64| NextPoll {
        state: TriggerState::Active,
        failures: 0,
        error: None,
        at_ms: now_ms.saturating_add(wait_ms),
        begins_anew: false,
    };
    let failures = prior.failures.saturating_add(1);
    let wait_ms = wait_ms(failures, prior.interval_ms, random);
    match end {
        PollEnd::Read => good(prior.interval_ms),
        PollEnd::More => good(GO_ON_MS.min(prior.interval_ms)),
        PollEnd::NotConnected => NextPoll {
            state: TriggerState::WaitingForConnection,
            ..good(CONNECTED_EVERY_MS)
        },
        PollEnd::Refused => NextPoll {
            state: TriggerState::WaitingForConnection,
            failures,
            error: Some("the provider refused the connection".to_owned()),
            ..good(wait_ms)
        },
        PollEnd::Failed(failure) => {
            let asked_ms = failure.retry_after_ms.unwrap_or_default();
            NextPoll {
                state: TriggerState::Failing,
                failures,
                error: Some(failure.error),
                begins_anew: failure.begins_anew,
                ..good(wait_ms.max(asked_ms.min(ASKED_WAIT_MS_MAX)))
            }
        }
        PollEnd::Later { wait_ms } => NextPoll {
            state: prior.state,
            failures: prior.failures,
            ..good(wait_ms)
        },
    }
}

fn wait_ms(failures: i64, interval_ms: i64, random: f64) -> i64 {
    let doublings = failures.clamp(1, 32) - 1;
    let wait = FIRST_WAIT_MS.saturating_mul(1_i64 << doublings);
    let wait = wait.min(LONGEST_WAIT_MS).max(interval_ms);
    let half = wait / 2;
    half + (half as f64 * random.clamp(0.0, 1.0)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: PriorPolls = PriorPolls {
        state: TriggerState::Active,
        failures: 0,
        interval_ms: 300_000,
    };

    fn failed(retry_after_ms: Option<i64>) -> PollEnd {
        PollEnd::Failed(PollFailure {
            error: "the provider answered with status 500".to_owned(),
            retry_after_ms,
            begins_anew: false,
        })
    }

    #[test]
    fn a_good_poll_forgets_what_failed() {
        let prior = PriorPolls {
            state: TriggerState::Failing,
            failures: 7,
            ..PRIOR
        };
        let after = next(prior, PollEnd::Read, 1_000, 0.5);
        assert_eq!((after.state, after.failures), (TriggerState::Active, 0));
        assert_eq!((after.at_ms, after.error), (301_000, None));
        assert_eq!(next(prior, PollEnd::More, 1_000, 0.5).at_ms, 61_000);
    }

    #[test]
    fn waits_double_up_to_an_hour_and_are_no_shorter_than_half_of_the_interval() {
        let minute = PriorPolls {
            interval_ms: 60_000,
            ..PRIOR
        };
        for (failures, least_ms, most_ms) in [
            (0, 30_000, 60_000),
            (1, 60_000, 120_000),
            (3, 240_000, 480_000),
            (50, 1_800_000, 3_600_000),
        ] {
            let prior = PriorPolls { failures, ..minute };
            assert_eq!(next(prior, failed(None), 0, 0.0).at_ms, least_ms);
            assert_eq!(next(prior, failed(None), 0, 1.0).at_ms, most_ms);
        }
        assert_eq!(next(PRIOR, failed(None), 0, 0.0).at_ms, 150_000);
    }

    #[test]
    fn the_wait_that_a_provider_asks_for_is_kept_up_to_a_day() {
        let asked = |ms| next(PRIOR, failed(Some(ms)), 0, 1.0);
        assert_eq!(asked(1_000).at_ms, 300_000);
        assert_eq!(asked(7_200_000).at_ms, 7_200_000);
        assert_eq!(asked(i64::MAX).at_ms, ASKED_WAIT_MS_MAX);
        assert_eq!(asked(1_000).state, TriggerState::Failing);
    }

    #[test]
    fn a_trigger_without_a_connection_waits_and_is_looked_at_again() {
        let after = next(PRIOR, PollEnd::NotConnected, 0, 0.5);
        assert_eq!(after.state, TriggerState::WaitingForConnection);
        assert_eq!((after.at_ms, after.failures), (CONNECTED_EVERY_MS, 0));
        let after = next(PRIOR, PollEnd::Refused, 0, 1.0);
        assert_eq!(after.state, TriggerState::WaitingForConnection);
        assert_eq!((after.at_ms, after.failures), (300_000, 1));
        let failing = PriorPolls {
            state: TriggerState::Failing,
            failures: 2,
            ..PRIOR
        };
        let after = next(failing, PollEnd::Later { wait_ms: 5_000 }, 0, 0.5);
        assert_eq!((after.state, after.failures), (TriggerState::Failing, 2));
    }
}
