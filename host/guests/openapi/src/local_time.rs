//! Times whose zone is in another field: an offset in the time must agree with the zone.

use serde_json::{Map, Value};
use toolgate_openapi_table::{LocalTime, Operation};

use crate::failure::Fault;

/// Refuses a time with an offset that its zone does not have. Zones other than fixed ones are not looked up:
/// beside such a zone a time has no offset.
pub fn check(operation: &Operation, arguments: &Map<String, Value>) -> Result<(), Fault> {
    let arguments = Value::Object(arguments.clone());
    for LocalTime { time, zone } in &operation.local_times {
        for (place, text) in texts(&arguments, time) {
            let Some(offset) = offset_of(text) else {
                continue;
            };
            let beside = zone_beside(time, zone, &place);
            let zone_text = arguments
                .pointer(&beside)
                .and_then(Value::as_str)
                .map(str::trim)
                .filter(|text| !text.is_empty());
            let agrees = zone_text.is_some_and(|zone| fixed_offset(zone) == Some(offset));
            if !agrees {
                let written = zone_text.unwrap_or("nothing");
                let mut fault = Fault::argument(
                    "",
                    format!(
                        "has an offset, but its zone is what `{beside}` says ({written}): leave the offset out and write the local time there"
                    ),
                );
                fault.field = Some(place);
                return Err(fault);
            }
        }
    }
    Ok(())
}

/// The texts at a pointer in which `*` is each element of a list, each with its own pointer.
fn texts<'v>(value: &'v Value, pointer: &str) -> Vec<(String, &'v str)> {
    let mut found = vec![(String::new(), value)];
    for segment in pointer.split('/').skip(1) {
        let mut below = Vec::new();
        for (place, value) in found {
            match (segment, value) {
                ("*", Value::Array(items)) => {
                    let items = items.iter().enumerate();
                    below.extend(items.map(|(index, item)| (format!("{place}/{index}"), item)));
                }
                (segment, value) => {
                    if let Some(inner) = value.pointer(&format!("/{segment}")) {
                        below.push((format!("{place}/{segment}"), inner));
                    }
                }
            }
        }
        found = below;
    }
    let texts = found.into_iter();
    texts
        .filter_map(|(place, value)| Some((place, value.as_str()?)))
        .collect()
}

/// The zone's pointer with the list elements that the time is in.
fn zone_beside(time: &str, zone: &str, place: &str) -> String {
    let mut chosen = Vec::new();
    let real: Vec<&str> = place.split('/').collect();
    for (index, segment) in time.split('/').enumerate() {
        if segment == "*" {
            chosen.push(real.get(index).copied().unwrap_or("0"));
        }
    }
    let mut chosen = chosen.into_iter();
    let segments: Vec<&str> = zone
        .split('/')
        .map(|segment| match segment {
            "*" => chosen.next().unwrap_or("0"),
            other => other,
        })
        .collect();
    segments.join("/")
}

/// The offset of an RFC 3339 time in minutes east of UTC; `None` where it has none.
fn offset_of(time: &str) -> Option<i32> {
    let time = time.trim();
    let (_, clock) = time.split_once(['T', 't', ' '])?;
    if clock.ends_with(['Z', 'z']) {
        return Some(0);
    }
    let at = clock.rfind(['+', '-', '\u{2212}'])?;
    signed_minutes(&clock[at..])
}

/// `+02:00`, `-0530`, `+2` in minutes.
fn signed_minutes(text: &str) -> Option<i32> {
    let mut chars = text.chars();
    let sign = match chars.next()? {
        '+' => 1,
        '-' | '\u{2212}' => -1,
        _ => return None,
    };
    let digits: String = chars.filter(|c| *c != ':').collect();
    if digits.is_empty() || digits.len() > 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        0..=2 => (digits.as_str(), "0"),
        length => digits.split_at(length - 2),
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Minutes east of UTC of a zone that has one offset all year.
fn fixed_offset(zone: &str) -> Option<i32> {
    const ZERO: [&str; 15] = [
        "utc",
        "etc/utc",
        "gmt",
        "etc/gmt",
        "z",
        "zulu",
        "etc/zulu",
        "uct",
        "etc/uct",
        "universal",
        "etc/universal",
        "greenwich",
        "etc/greenwich",
        "coordinated universal time",
        "tzone://microsoft/utc",
    ];
    let zone = zone.to_ascii_lowercase();
    if ZERO.contains(&zone.as_str()) {
        return Some(0);
    }
    // `Etc/GMT-2` is two hours east (the tz database writes POSIX signs).
    if let Some(posix) = zone.strip_prefix("etc/gmt") {
        return signed_minutes(posix).map(|minutes| -minutes);
    }
    let plain = zone
        .strip_prefix("utc")
        .or_else(|| zone.strip_prefix("gmt"))
        .unwrap_or(&zone);
    signed_minutes(plain)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_openapi_table::Operation;

    use super::{check, fixed_offset, offset_of};

    fn operation() -> Operation {
        serde_json::from_value(json!({
            "method": "POST", "base": {"url": "https://h"}, "path": [],
            "local_times": [
                {"time": "/start/dateTime", "zone": "/start/timeZone"},
                {"time": "/slots/*/at", "zone": "/slots/*/zone"},
                {"time": "/from", "zone": "/zone"}
            ]
        }))
        .expect("an operation")
    }

    #[test]
    fn an_offset_that_the_zone_does_not_have_is_refused() {
        for (arguments, field) in [
            (
                json!({"start": {"dateTime": "2026-03-29T02:30:00+02:00", "timeZone": "UTC"}}),
                Some("/start/dateTime"),
            ),
            (
                json!({"start": {"dateTime": "2026-03-29T02:30:00Z", "timeZone": "Europe/Berlin"}}),
                Some("/start/dateTime"),
            ),
            (
                json!({"start": {"dateTime": "2026-03-29T02:30:00-05:00"}}),
                Some("/start/dateTime"),
            ),
            (
                json!({"slots": [{"at": "2026-03-29T02:30:00", "zone": "UTC"}, {"at": "2026-03-29T02:30+0100", "zone": "UTC"}]}),
                Some("/slots/1/at"),
            ),
            (
                json!({"from": "2026-03-29 02:30:00.0000000+02:00", "zone": "Pacific Standard Time"}),
                Some("/from"),
            ),
            (
                json!({"start": {"dateTime": "2026-03-29T02:30:00", "timeZone": "Europe/Berlin"}}),
                None,
            ),
            (
                json!({"start": {"dateTime": "2026-03-29T02:30:00Z", "timeZone": "UTC"}}),
                None,
            ),
            (
                json!({"start": {"dateTime": "2026-03-29T02:30:00+02:00", "timeZone": "Etc/GMT-2"}}),
                None,
            ),
            (json!({"from": "2026-03-29", "zone": "UTC"}), None),
            (json!({"start": 7}), None),
        ] {
            let Value::Object(given) = &arguments else {
                unreachable!("an object")
            };
            let refused = check(&operation(), given)
                .err()
                .and_then(|fault| fault.field);
            assert_eq!(refused.as_deref(), field, "{arguments}");
        }
    }

    #[test]
    fn offsets_and_fixed_zones_are_minutes() {
        for (time, minutes) in [
            ("2026-03-29T02:30:00+05:30", Some(330)),
            ("2026-03-29T02:30:00-0330", Some(-210)),
            ("2026-03-29T02:30:00z", Some(0)),
            ("2026-03-29T02:30:00", None),
            ("2026-03-29", None),
        ] {
            assert_eq!(offset_of(time), minutes, "{time}");
        }
        for (zone, minutes) in [
            ("GMT", Some(0)),
            ("UTC+02:00", Some(120)),
            ("+01:00", Some(60)),
            ("Etc/GMT+5", Some(-300)),
            ("Europe/London", None),
            ("", None),
        ] {
            assert_eq!(fixed_offset(zone), minutes, "{zone}");
        }
    }
}
