//! The time as a parameter: the process uses [`Clock::system`], tests move a manual clock.
//!
//! All stored and public times are milliseconds since the Unix epoch.

mod steady;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

use steady::SteadyClock;
pub use steady::{ClockStep, HELD_FOR_MS, STEP_MS_MIN, StepState, UNSETTLED_FOR_MS};

/// A source of the current time; cheap to clone.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System(Arc<SteadyClock>),
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock; a large step of it counts once it has lasted ([`HELD_FOR_MS`]).
    pub fn system() -> Self {
        Self(Source::System(Arc::new(SteadyClock::new())))
    }

    /// A clock that stays at `now_ms` until [`Clock::advance_ms`] moves it.
    pub fn manual(now_ms: i64) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(now_ms))))
    }

    /// Milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System(steady) => steady.now_ms(),
            Source::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// The same moment for libraries that take the standard one.
    pub fn now(&self) -> SystemTime {
        let since = Duration::from_millis(self.now_ms().max(0).unsigned_abs());
        UNIX_EPOCH + since
    }

    /// How the machine's clock has stepped since the last call.
    pub fn take_steps(&self) -> Vec<ClockStep> {
        match &self.0 {
            Source::System(steady) => steady.take_steps(),
            Source::Manual(_) => Vec::new(),
        }
    }

    /// Whether the clock has not stepped for [`UNSETTLED_FOR_MS`]: only then is something deleted for its age.
    pub fn is_settled(&self) -> bool {
        match &self.0 {
            Source::System(steady) => steady.is_settled(),
            Source::Manual(_) => true,
        }
    }

    /// Moves a manual clock forward; the machine's clock stays as it is.
    pub fn advance_ms(&self, by_ms: i64) {
        if let Source::Manual(now) = &self.0 {
            now.fetch_add(by_ms, Ordering::SeqCst);
        }
    }
}

/// Whole days from 1970, in UTC.
pub fn utc_day(ms: i64) -> i64 {
    ms.div_euclid(24 * 60 * 60 * 1_000)
}

/// `ms` as RFC 3339 in UTC with milliseconds, the form of every time in a public answer.
pub fn rfc3339(ms: i64) -> String {
    let time = Timestamp::from_millisecond(ms).unwrap_or(if ms < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    });
    format!("{time:.3}")
}

/// The time of an RFC 3339 text with any offset; parts of a millisecond are cut off.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.as_millisecond())
}

/// The same time in UTC with every digit that it has; `None` for a text that is no RFC 3339 time.
pub fn in_utc(text: &str) -> Option<String> {
    let time: Timestamp = text.parse().ok()?;
    Some(time.to_string())
}

/// `#[serde(with = "...")]` for a field in milliseconds that is RFC 3339 in public.
pub mod as_rfc3339 {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(ms: &i64, to: S) -> Result<S::Ok, S::Error> {
        super::rfc3339(*ms).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        let text = String::deserialize(from)?;
        super::parse_rfc3339(&text).ok_or_else(|| D::Error::custom("not an RFC 3339 time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_as_rfc3339() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_225_599_999, "2025-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(ms), text);
            assert_eq!(parse_rfc3339(text), Some(ms));
        }
    }

    #[test]
    fn the_forms_that_other_languages_print_are_read() {
        for text in [
            "2026-01-01T12:00:00Z",
            "2026-01-01T12:00:00.000Z",
            "2026-01-01T12:00:00.000999+00:00",
            "2026-01-01T13:30:00+01:30",
            "2026-01-01T07:00:00-05:00",
        ] {
            assert_eq!(parse_rfc3339(text), Some(1_767_268_800_000), "{text}");
        }
    }

    #[test]
    fn a_time_with_an_offset_is_the_same_in_utc_to_the_last_digit() {
        for (text, expected) in [
            ("2026-01-01T12:00:00Z", Some("2026-01-01T12:00:00Z")),
            ("2026-01-01T13:30:00.0+01:30", Some("2026-01-01T12:00:00Z")),
            (
                "2026-01-01T07:00:00.000100200-05:00",
                Some("2026-01-01T12:00:00.0001002Z"),
            ),
            ("2026-01-01", None),
            ("7", None),
        ] {
            assert_eq!(in_utc(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_a_time_is_refused() {
        for text in [
            "",
            "2026-01-01",
            "2026-01-01T12:00:00",
            "2026-02-29T00:00:00.000Z",
            "2026-01-01T24:00:00.000Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T00:00:00.000Z ",
            "+026-01-01T00:00:00.000Z",
            "2026-0ä-01T00:00:00.000Z",
            "99999-01-01T00:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn times_beyond_the_calendar_print_as_its_ends() {
        assert_eq!(rfc3339(i64::MAX), "9999-12-30T22:00:00.999Z");
        assert_eq!(rfc3339(i64::MIN), "-009999-01-02T01:59:59.000Z");
    }

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let clock = Clock::manual(5);
        let same = clock.clone();
        clock.advance_ms(10);
        assert_eq!(same.now_ms(), 15);
    }
}
