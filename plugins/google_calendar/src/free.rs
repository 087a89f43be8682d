//! When people are busy, and the gaps that all of them have.

use toolgate_sdk::prelude::*;

use crate::api::api;
use crate::moment::{Moment, minute_of};

/// Longest stretch that one question covers, in days; the service allows about three months.
const DAYS_MAX: i64 = 62;

fn bound(text: &str, field: &str) -> Result<(Moment, i64), ToolError> {
    let moment = Moment::parse(text);
    moment
        .and_then(|moment| Some((moment, moment.utc_minutes()?)))
        .ok_or_else(|| {
            let text = "expected a moment with an offset, `2026-03-31T09:00+02:00`";
            ToolError::invalid(format!("/{field}"), text)
        })
}

/// What the service says of several calendars between two moments.
fn ask(cx: &Context, calendars: &[String], from: Moment, to: Moment) -> Result<Value, ToolError> {
    let items = calendars.iter().map(|id| json!({ "id": id }));
    let body = json!({
        "timeMin": from.to_string(), "timeMax": to.to_string(),
        "items": items.collect::<Vec<Value>>(),
    });
    let mut answer = api(cx).post("/freeBusy").json(&body).fetch()?;
    Ok(answer["calendars"].take())
}

fn range(from: &str, to: &str) -> Result<(Moment, Moment), ToolError> {
    let (from, start) = bound(from, "from")?;
    let (to, end) = bound(to, "to")?;
    if end <= start || end - start > DAYS_MAX * 24 * 60 {
        let text = format!("the end is after the start, at most {DAYS_MAX} days");
        return Err(ToolError::invalid("/to", text));
    }
    Ok((from, to))
}

#[derive(Args)]
pub struct QueryFreeBusy {
    /// Mail addresses of people, or ids of calendars; the account's own unless given.
    #[arg(default = ["primary"], min_items = 1, max_items = 50)]
    calendars: Vec<String>,
    /// From when on, with an offset.
    #[arg(examples = ["2026-03-31T00:00:00+02:00"])]
    from: String,
    /// Until when, with an offset.
    #[arg(examples = ["2026-04-01T00:00:00+02:00"])]
    to: String,
}

/// Tells when people or calendars are busy between two moments, without what they do.
#[tool(effect = "read",
    queries = ["POST https://www.googleapis.com/calendar/v3/freeBusy"], scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["availability", "occupied", "free or busy"],
       example = { "calendars": ["anna@example.com"], "from": "2026-03-31T09:00:00+02:00", "to": "2026-03-31T18:00:00+02:00" })]
pub fn query_free_busy(args: QueryFreeBusy, cx: &Context) -> Result<Value, ToolError> {
    let (from, to) = range(&args.from, &args.to)?;
    let offset = from.offset.unwrap_or(0);
    let found = ask(cx, &args.calendars, from, to)?;
    let all = args.calendars.iter().map(|id| {
        let one = &found[id.as_str()];
        let mut out = json!({ "calendar": id });
        if let Some(reason) = one["errors"][0]["reason"].as_str() {
            out["not_seen"] = json!(reason);
        } else {
            let busy = merged(spans(one)).into_iter();
            out["busy"] = busy.map(|span| shown(span, offset)).collect();
        }
        out
    });
    Ok(all.collect())
}

fn shown((from, to): (i64, i64), offset: i64) -> Value {
    let text = |minutes| Moment::at(minutes, offset).to_string();
    json!({ "start": text(from), "end": text(to) })
}

/// The busy times of a calendar, in minutes.
fn spans(calendar: &Value) -> Vec<(i64, i64)> {
    let busy = calendar["busy"].as_array().into_iter().flatten();
    let minutes = |text: &Value| Moment::parse(text.as_str()?)?.utc_minutes();
    busy.filter_map(|one| Some((minutes(&one["start"])?, minutes(&one["end"])?)))
        .collect()
}

/// The same times without overlaps, in order.
fn merged(mut spans: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    spans.sort_unstable();
    let mut out: Vec<(i64, i64)> = Vec::new();
    for (from, to) in spans {
        match out.last_mut() {
            Some((_, end)) if from <= *end => *end = to.max(*end),
            _ => out.push((from, to)),
        }
    }
    out
}

#[derive(Args)]
pub struct FindFreeSlots {
    /// Mail addresses of those who shall have time, or ids of calendars; the account's own unless given.
    #[arg(default = ["primary"], min_items = 1, max_items = 50)]
    calendars: Vec<String>,
    /// From when on, with the offset in which the working day is meant.
    #[arg(examples = ["2026-03-31T00:00:00+02:00"])]
    from: String,
    /// Until when, with an offset.
    #[arg(examples = ["2026-04-04T00:00:00+02:00"])]
    to: String,
    /// How long the slot has to be.
    #[arg(min = 5, max = 1440, default = 30)]
    duration_minutes: u32,
    /// When the working day begins.
    #[arg(default = "09:00", pattern = "^[0-2][0-9]:[0-5][0-9]$")]
    day_start: String,
    /// When the working day ends.
    #[arg(default = "17:00", pattern = "^[0-2][0-9]:[0-5][0-9]$")]
    day_end: String,
    /// Leave out Saturdays and Sundays.
    #[arg(default = true)]
    weekdays_only: bool,
    /// Free minutes to keep before and after what is there.
    #[arg(min = 0, max = 240, default = 0)]
    buffer_minutes: u32,
    /// Most slots to answer.
    #[arg(min = 1, max = 100, default = 20)]
    limit: u32,
}

/// Finds when all of several people or calendars are free for a meeting, within working hours.
///
/// Answers the free stretches in order, and names calendars that could not be seen. Days are counted in
/// the offset of from, also over a change of daylight saving time.
#[tool(effect = "read",
    queries = ["POST https://www.googleapis.com/calendar/v3/freeBusy"], scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["availability", "find a time", "meeting slot", "when is everyone free", "schedule"],
       example = { "calendars": ["primary", "anna@example.com"], "from": "2026-03-31T00:00:00+02:00", "to": "2026-04-04T00:00:00+02:00", "duration_minutes": 45 })]
pub fn find_free_slots(args: FindFreeSlots, cx: &Context) -> Result<Value, ToolError> {
    let (from, to) = range(&args.from, &args.to)?;
    let clock = |text: &str, field: &str| {
        minute_of(text)
            .ok_or_else(|| ToolError::invalid(format!("/{field}"), "expected a time, `09:00`"))
    };
    let day = Day {
        start: clock(&args.day_start, "day_start")?,
        end: clock(&args.day_end, "day_end")?,
        weekdays_only: args.weekdays_only,
    };
    if day.end <= day.start {
        return Err(ToolError::invalid(
            "/day_end",
            "the day ends after it begins",
        ));
    }
    let found = ask(cx, &args.calendars, from, to)?;
    let buffer = i64::from(args.buffer_minutes);
    let mut busy = Vec::new();
    let mut not_seen = Vec::new();
    for id in &args.calendars {
        let one = &found[id.as_str()];
        if one["errors"][0].is_object() || !one["busy"].is_array() {
            not_seen.push(json!({ "calendar": id, "reason": one["errors"][0]["reason"] }));
        }
        let padded = spans(one).into_iter();
        busy.extend(padded.map(|(from, to)| (from - buffer, to + buffer)));
    }
    let offset = from.offset.unwrap_or(0);
    let slots = free(
        &merged(busy),
        from,
        to,
        &day,
        i64::from(args.duration_minutes),
    );
    let slots: Vec<Value> = slots
        .into_iter()
        .take(args.limit as usize)
        .map(|slot| shown(slot, offset))
        .collect();
    Ok(json!({ "free": slots, "not_seen": not_seen }))
}

struct Day {
    start: i64,
    end: i64,
    weekdays_only: bool,
}

/// The stretches of working days that nothing takes and that are long enough.
fn free(busy: &[(i64, i64)], from: Moment, to: Moment, day: &Day, least: i64) -> Vec<(i64, i64)> {
    let offset = from.offset.unwrap_or(0);
    let (first, last) = (
        from.utc_minutes().unwrap_or(0),
        to.utc_minutes().unwrap_or(0),
    );
    let last_day = Moment::at(last, offset).day;
    let mut out = Vec::new();
    let mut today = from.date();
    while today.day <= last_day {
        if !(day.weekdays_only && today.weekday() >= 5) {
            let midnight = today.day * 24 * 60 - offset;
            let end = (midnight + day.end).min(last);
            let mut at = (midnight + day.start).max(first);
            let within = busy.iter().filter(|(from, to)| *to > at && *from < end);
            for (taken, until) in within.collect::<Vec<_>>() {
                if taken - at >= least {
                    out.push((at, *taken));
                }
                at = at.max(*until);
            }
            if end - at >= least {
                out.push((at, end));
            }
        }
        today = today.plus_days(1);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(text: &str) -> i64 {
        Moment::parse(text)
            .and_then(Moment::utc_minutes)
            .expect("a moment")
    }

    fn slots(busy: &[(&str, &str)], from: &str, to: &str, least: i64) -> Vec<String> {
        let busy = busy.iter().map(|(from, to)| (minutes(from), minutes(to)));
        let day = Day {
            start: 9 * 60,
            end: 17 * 60,
            weekdays_only: true,
        };
        let moment = |text| Moment::parse(text).expect("a moment");
        let found = free(
            &merged(busy.collect()),
            moment(from),
            moment(to),
            &day,
            least,
        );
        let text = |at| Moment::at(at, 120).to_string()[..16].to_owned();
        found
            .iter()
            .map(|(from, to)| format!("{}/{}", text(*from), text(*to)))
            .collect()
    }

    #[test]
    fn gaps_are_found_within_working_hours() {
        let day = ("2026-03-31T00:00+02:00", "2026-04-01T00:00+02:00");
        for (busy, expected) in [
            (&[][..], &["2026-03-31T09:00/2026-03-31T17:00"][..]),
            (
                &[
                    ("2026-03-31T08:00Z", "2026-03-31T09:00Z"),
                    ("2026-03-31T08:30Z", "2026-03-31T10:00Z"),
                ],
                &[
                    "2026-03-31T09:00/2026-03-31T10:00",
                    "2026-03-31T12:00/2026-03-31T17:00",
                ],
            ),
            (&[("2026-03-31T06:00Z", "2026-03-31T14:45Z")], &[]),
            (&[("2026-03-30T06:00Z", "2026-04-02T14:00Z")], &[]),
            (
                &[("2026-03-31T20:00Z", "2026-03-31T21:00Z")],
                &["2026-03-31T09:00/2026-03-31T17:00"],
            ),
        ] {
            assert_eq!(slots(busy, day.0, day.1, 30), expected, "{busy:?}");
        }
    }

    #[test]
    fn the_stretch_cuts_the_days_and_weekends_are_left_out() {
        assert_eq!(
            slots(&[], "2026-04-03T16:00+02:00", "2026-04-06T09:45+02:00", 30),
            [
                "2026-04-03T16:00/2026-04-03T17:00",
                "2026-04-06T09:00/2026-04-06T09:45"
            ]
        );
    }
}
