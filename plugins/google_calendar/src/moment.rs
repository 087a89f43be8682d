//! Days and times as people write them: `2026-03-31`, `2026-03-31T14:30`, with an offset or without.
//!
//! A time without an offset is local to a time zone that is named elsewhere; counting with it keeps
//! it local. Days by the proleptic Gregorian calendar.

use std::fmt;

const DAY_MINUTES: i64 = 24 * 60;

/// A day, or a minute of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Days since 1970-01-01.
    pub day: i64,
    /// Minutes since midnight; none for a whole day.
    pub minute: Option<i64>,
    /// Minutes east of UTC.
    pub offset: Option<i64>,
}

impl Moment {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut parts = date.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || year.len() != 4 {
            return None;
        }
        let (year, month, day) = (number(year)?, number(month)?, number(day)?);
        let days = days_of(year, month, day)?;
        let Some(time) = time else {
            return Some(Self {
                day: days,
                minute: None,
                offset: None,
            });
        };
        let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
            Some(at) => (&time[..at], Some(offset_of(&time[at..])?)),
            None => (time, None),
        };
        Some(Self {
            day: days,
            minute: Some(minute_of(clock)?),
            offset,
        })
    }

    /// The whole day that it is in.
    pub fn date(self) -> Self {
        Self {
            minute: None,
            offset: None,
            ..self
        }
    }

    pub fn plus_days(self, days: i64) -> Self {
        Self {
            day: self.day + days,
            ..self
        }
    }

    pub fn plus_minutes(self, minutes: i64) -> Self {
        let all = self.day * DAY_MINUTES + self.minute.unwrap_or(0) + minutes;
        Self {
            day: all.div_euclid(DAY_MINUTES),
            minute: Some(all.rem_euclid(DAY_MINUTES)),
            ..self
        }
    }

    /// Minutes since 1970-01-01 UTC; none without an offset.
    pub fn utc_minutes(self) -> Option<i64> {
        Some(self.day * DAY_MINUTES + self.minute? - self.offset?)
    }

    /// The same counted from UTC, as it reads at an offset.
    pub fn at(utc_minutes: i64, offset: i64) -> Self {
        let local = utc_minutes + offset;
        Self {
            day: local.div_euclid(DAY_MINUTES),
            minute: Some(local.rem_euclid(DAY_MINUTES)),
            offset: Some(offset),
        }
    }

    /// Minutes from `earlier` to this, both local or both with an offset.
    pub fn since(self, earlier: Self) -> Option<i64> {
        match (self.offset, earlier.offset) {
            (Some(_), Some(_)) => Some(self.utc_minutes()? - earlier.utc_minutes()?),
            (None, None) => {
                let minutes = |one: Self| one.day * DAY_MINUTES + one.minute.unwrap_or(0);
                Some(minutes(self) - minutes(earlier))
            }
            _ => None,
        }
    }

    /// 0 is Monday.
    pub fn weekday(self) -> i64 {
        (self.day + 3).rem_euclid(7)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.day);
        write!(f, "{year:04}-{month:02}-{day:02}")?;
        if let Some(minute) = self.minute {
            write!(f, "T{:02}:{:02}:00", minute / 60, minute % 60)?;
        }
        match self.offset {
            None => Ok(()),
            Some(0) => f.write_str("Z"),
            Some(offset) => {
                let sign = if offset < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60)
            }
        }
    }
}

fn number(digits: &str) -> Option<i64> {
    let plain = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

/// `14:30`, also with seconds, as minutes.
pub fn minute_of(clock: &str) -> Option<i64> {
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
    let seconds = parts.next().unwrap_or("0").split('.').next()?;
    let fits = hour < 24 && minute < 60 && number(seconds)? < 61 && parts.next().is_none();
    fits.then_some(hour * 60 + minute)
}

fn offset_of(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text[1..].split_once(':')?;
    let minutes = number(hours)? * 60 + number(minutes)?;
    (minutes <= 15 * 60).then_some(sign * minutes)
}

/// Days since 1970-01-01, none for a day that does not exist.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    // Years that begin in March, so that the leap day is the last.
    let shifted = if month < 3 { year - 1 } else { year };
    let month_index = (month + 9) % 12;
    let day_of_year = (153 * month_index + 2) / 5 + day - 1;
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    (date_of(days) == (year, month, day)).then_some(days)
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 {
        month_index + 3
    } else {
        month_index - 9
    };
    let year = year_of_era + era * 400 + i64::from(month < 3);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written() {
        for (text, written) in [
            ("1970-01-01", "1970-01-01"),
            ("2024-02-29", "2024-02-29"),
            ("2026-12-31 23:59", "2026-12-31T23:59:00"),
            ("2026-03-31T14:30", "2026-03-31T14:30:00"),
            ("2026-03-31T14:30:15.5Z", "2026-03-31T14:30:00Z"),
            ("2026-03-31T14:30+02:00", "2026-03-31T14:30:00+02:00"),
            ("2026-03-31T14:30:00-03:30", "2026-03-31T14:30:00-03:30"),
        ] {
            assert_eq!(
                Moment::parse(text).map(|one| one.to_string()).as_deref(),
                Some(written)
            );
        }
        for text in [
            "",
            "tomorrow",
            "2026-02-29",
            "2026-13-01",
            "31.3.2026",
            "2026-03-31T25:00",
            "2026-03-31T14",
            "26-03-31",
            "2026-03-31T14:30+2",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_counted() {
        let moment = |text| Moment::parse(text).expect("a moment");
        assert_eq!(moment("2024-02-28").plus_days(2), moment("2024-03-01"));
        assert_eq!(
            moment("2026-03-31T23:30").plus_minutes(45),
            moment("2026-04-01T00:15")
        );
        assert_eq!(moment("2026-03-31").weekday(), 1);
        assert_eq!(moment("2026-04-05").weekday(), 6);
        let (berlin, utc) = (
            moment("2026-03-31T14:30+02:00"),
            moment("2026-03-31T12:30Z"),
        );
        assert_eq!(berlin.utc_minutes(), utc.utc_minutes());
        assert_eq!(Moment::at(utc.utc_minutes().unwrap_or(0), 120), berlin);
        assert_eq!(moment("2026-03-31T13:30Z").since(berlin), Some(60));
        assert_eq!(moment("2026-03-31T13:30").since(berlin), None);
    }
}
