//! The time, as something handed in: the process uses [`Clock::system`], tests move a manual one.
//!
//! All stored and public times are milliseconds since the Unix epoch.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A source of the current time; cheap to clone.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still at `now_ms` until [`Clock::advance_ms`] moves it.
    pub fn manual(now_ms: i64) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(now_ms))))
    }

    /// Milliseconds since the Unix epoch.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            Source::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Moves a manual clock forward; the machine's clock stays as it is.
    pub fn advance_ms(&self, by_ms: i64) {
        if let Source::Manual(now) = &self.0 {
            now.fetch_add(by_ms, Ordering::SeqCst);
        }
    }
}

/// `ms` as RFC 3339 in UTC with milliseconds, the form of every time in a public answer.
pub fn rfc3339(ms: i64) -> String {
    let days = ms.div_euclid(86_400_000);
    let of_day = ms.rem_euclid(86_400_000);
    // Civil date from a day count, after Howard Hinnant's "chrono-compatible low-level date algorithms".
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
    let (second, milli) = (of_day / 1_000 % 60, of_day % 1_000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
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
        }
    }

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let clock = Clock::manual(5);
        let same = clock.clone();
        clock.advance_ms(10);
        assert_eq!(same.now_ms(), 15);
    }
}
