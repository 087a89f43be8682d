//! Repetition in plain words, as rules of RFC 5545.

use toolgate_sdk::prelude::*;

use crate::moment::Moment;

#[derive(Args)]
pub enum Unit {
    Day,
    Week,
    Month,
    Year,
}

#[derive(Args)]
pub enum Day {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Day {
    fn word(&self) -> &'static str {
        match self {
            Self::Monday => "MO",
            Self::Tuesday => "TU",
            Self::Wednesday => "WE",
            Self::Thursday => "TH",
            Self::Friday => "FR",
            Self::Saturday => "SA",
            Self::Sunday => "SU",
        }
    }
}

#[derive(Args)]
pub struct Repeat {
    /// What it repeats by.
    every: Unit,
    /// Every how many of them; 2 with `week` is every second week.
    #[arg(min = 1, max = 99, default = 1)]
    interval: u32,
    /// On which days of the week; the day of the start unless given.
    #[arg(max_items = 7)]
    on: Option<Vec<Day>>,
    /// With `month` and `on`: which of those days in the month, -1 for the last.
    #[arg(min = -1, max = 5)]
    nth: Option<i32>,
    /// How often in all.
    #[arg(min = 1, max = 999)]
    count: Option<u32>,
    /// Day on which it is the last time; in place of count.
    #[arg(format = "date")]
    until: Option<String>,
}

/// The rule, for an event that starts at `start`.
pub fn rule(repeat: &Repeat, start: Moment) -> Result<String, ToolError> {
    let unit = match repeat.every {
        Unit::Day => "DAILY",
        Unit::Week => "WEEKLY",
        Unit::Month => "MONTHLY",
        Unit::Year => "YEARLY",
    };
    let mut rule = format!("RRULE:FREQ={unit}");
    if repeat.interval > 1 {
        rule.push_str(&format!(";INTERVAL={}", repeat.interval));
    }
    let days: Vec<&str> = repeat.on.iter().flatten().map(Day::word).collect();
    match (repeat.nth, days.is_empty(), &repeat.every) {
        (None | Some(0), true, _) => {}
        (None | Some(0), false, Unit::Day | Unit::Week) => {
            rule.push_str(&format!(";BYDAY={}", days.join(",")));
        }
        (Some(nth), false, Unit::Month) if nth != 0 => {
            let days: Vec<String> = days.iter().map(|day| format!("{nth}{day}")).collect();
            rule.push_str(&format!(";BYDAY={}", days.join(",")));
        }
        _ => {
            let text = "`on` goes with day or week, and with month where `nth` says which of them";
            return Err(ToolError::invalid("/repeat/on", text));
        }
    }
    match (repeat.count, &repeat.until) {
        (Some(_), Some(_)) => {
            let text = "give either count or until";
            return Err(ToolError::invalid("/repeat/until", text));
        }
        (Some(count), None) => rule.push_str(&format!(";COUNT={count}")),
        (None, Some(until)) => rule.push_str(&format!(";UNTIL={}", end(until, start)?)),
        (None, None) => {}
    }
    Ok(rule)
}

/// The last moment of a day: a day for whole-day events, else a moment in UTC (RFC 5545, section 3.3.10).
fn end(until: &str, start: Moment) -> Result<String, ToolError> {
    let day = Moment::parse(until).filter(|day| day.minute.is_none());
    let day = day.filter(|day| day.day >= start.day).ok_or_else(|| {
        let text = "expected a day, `2026-12-31`, not before the start";
        ToolError::invalid("/repeat/until", text)
    })?;
    let plain = day.to_string().replace('-', "");
    if start.minute.is_none() {
        return Ok(plain);
    }
    // Without an offset the zone is not known here; the end of the day in UTC is within hours of it.
    let Some(offset) = start.offset else {
        return Ok(format!("{plain}T235959Z"));
    };
    let last = day.plus_minutes(24 * 60 - 1 - offset);
    let text = last.date().to_string().replace('-', "");
    let minute = last.minute.unwrap_or(0);
    Ok(format!("{text}T{:02}{:02}59Z", minute / 60, minute % 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(repeat: Repeat, start: &str) -> Result<String, ToolError> {
        rule(&repeat, Moment::parse(start).expect("a moment"))
    }

    fn every(every: Unit) -> Repeat {
        Repeat {
            every,
            interval: 1,
            on: None,
            nth: None,
            count: None,
            until: None,
        }
    }

    #[test]
    fn plain_words_become_rules() {
        let until = |text: &str| Some(text.to_owned());
        for (repeat, start, expected) in [
            (every(Unit::Day), "2026-03-31", "RRULE:FREQ=DAILY"),
            (
                Repeat {
                    interval: 2,
                    on: Some(vec![Day::Monday, Day::Friday]),
                    count: Some(10),
                    ..every(Unit::Week)
                },
                "2026-03-30T09:00",
                "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;COUNT=10",
            ),
            (
                Repeat {
                    on: Some(vec![Day::Tuesday]),
                    nth: Some(-1),
                    ..every(Unit::Month)
                },
                "2026-03-31T09:00",
                "RRULE:FREQ=MONTHLY;BYDAY=-1TU",
            ),
            (
                Repeat {
                    until: until("2026-12-31"),
                    ..every(Unit::Year)
                },
                "2026-03-31",
                "RRULE:FREQ=YEARLY;UNTIL=20261231",
            ),
            (
                Repeat {
                    until: until("2026-04-30"),
                    ..every(Unit::Day)
                },
                "2026-03-31T09:00+02:00",
                "RRULE:FREQ=DAILY;UNTIL=20260430T215959Z",
            ),
            (
                Repeat {
                    until: until("2026-04-30"),
                    ..every(Unit::Day)
                },
                "2026-03-31T09:00",
                "RRULE:FREQ=DAILY;UNTIL=20260430T235959Z",
            ),
        ] {
            assert_eq!(written(repeat, start).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for repeat in [
            Repeat {
                count: Some(2),
                until: Some("2026-12-31".to_owned()),
                ..every(Unit::Day)
            },
            Repeat {
                until: Some("2026-01-01".to_owned()),
                ..every(Unit::Day)
            },
            Repeat {
                until: Some("soon".to_owned()),
                ..every(Unit::Day)
            },
            Repeat {
                on: Some(vec![Day::Monday]),
                ..every(Unit::Year)
            },
            Repeat {
                on: Some(vec![Day::Monday]),
                ..every(Unit::Month)
            },
            Repeat {
                nth: Some(2),
                ..every(Unit::Month)
            },
        ] {
            assert!(written(repeat, "2026-03-31T09:00").is_err());
        }
    }
}
