//! Making and changing events.

use toolgate_sdk::prelude::*;

use crate::api::{Notify, api, shown};
use crate::moment::Moment;
use crate::repeat::{Repeat, rule};

/// How long an event takes when nobody says.
const MINUTES: i64 = 60;

pub fn moment(text: &str, field: &str) -> Result<Moment, ToolError> {
    Moment::parse(text).ok_or_else(|| {
        let text = "expected a day `2026-03-31`, or a time `2026-03-31T14:00`, with an offset where no time zone is given";
        ToolError::invalid(format!("/{field}"), text)
    })
}

/// Start and end of an event, from what was said of them.
pub fn times(
    start: Moment,
    end: Option<&str>,
    minutes: Option<u32>,
) -> Result<(Moment, Moment), ToolError> {
    let end = match (end, minutes) {
        (Some(_), Some(_)) => {
            let text = "give either end or duration_minutes";
            return Err(ToolError::invalid("/end", text));
        }
        (Some(end), None) => moment(end, "end")?,
        (None, Some(minutes)) => start.plus_minutes(i64::from(minutes)),
        (None, None) if start.minute.is_none() => start,
        (None, None) => start.plus_minutes(MINUTES),
    };
    if start.minute.is_none() != end.minute.is_none() {
        let text = "start and end are both days or both times";
        return Err(ToolError::invalid("/end", text));
    }
    let length = end.since(start);
    let backwards =
        length.is_some_and(|length| length < 0 || (length == 0 && start.minute.is_some()));
    if backwards {
        return Err(ToolError::invalid("/end", "the end is not after the start"));
    }
    Ok((start, end))
}

/// A moment as the service takes it; the end of whole days is the day after.
pub fn placed(at: Moment, end: bool, zone: Option<&str>) -> Value {
    if at.minute.is_none() {
        let day = at.plus_days(i64::from(end));
        return json!({ "date": day.to_string(), "dateTime": null, "timeZone": null });
    }
    let mut out = json!({ "dateTime": at.to_string(), "date": null });
    if let Some(zone) = zone {
        out["timeZone"] = json!(zone);
    }
    out
}

/// The zone in which local times are meant: as said, else that of the calendar where it matters.
pub fn zone_of(
    cx: &Context,
    calendar: &str,
    said: Option<String>,
    times: &[Moment],
    repeats: bool,
) -> Result<Option<String>, ToolError> {
    let local = times
        .iter()
        .any(|at| at.minute.is_some() && at.offset.is_none());
    let needed = local || (repeats && times.iter().any(|at| at.minute.is_some()));
    if said.is_some() || !needed {
        return Ok(said);
    }
    let found = api(cx).get(path!("/calendars/{}", calendar)).fetch()?;
    Ok(found["timeZone"].as_str().map(str::to_owned))
}

fn guests(mails: &[String], field: &str) -> Result<Vec<Value>, ToolError> {
    let mails = mails.iter().enumerate().map(|(index, mail)| {
        if !mail.contains('@') || mail.contains(char::is_whitespace) {
            let text = format!("`{mail}` is no mail address");
            return Err(ToolError::invalid(format!("/{field}/{index}"), text));
        }
        Ok(json!({ "email": mail }))
    });
    mails.collect()
}

#[derive(Args)]
pub struct CreateEvent {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// What it is, in a line.
    #[arg(min_length = 1, max_length = 1000)]
    title: String,
    /// When it begins: a day `2026-03-31` for whole days, a time `2026-03-31T14:00`, or one with an
    /// offset `2026-03-31T14:00+02:00`.
    start: String,
    /// When it ends, written like start; for whole days the last one, included.
    end: Option<String>,
    /// How long it takes; 60 where neither this nor an end is given.
    #[arg(min = 1, max = 20160)]
    duration_minutes: Option<u32>,
    /// IANA time zone of times without an offset, for example `Europe/Berlin`; the calendar's own
    /// unless given.
    time_zone: Option<String>,
    /// More about it; HTML is shown.
    description: Option<String>,
    /// Where it is.
    location: Option<String>,
    /// Mail addresses of those invited.
    #[arg(max_items = 200)]
    guests: Option<Vec<String>>,
    /// How it repeats.
    repeat: Option<Repeat>,
    /// Add a Google Meet link.
    #[arg(default = false)]
    meeting: bool,
    /// Minutes before the start at which to remind, in place of the calendar's own.
    #[arg(max_items = 5)]
    remind_minutes: Option<Vec<u32>>,
    /// Whether the time counts as taken.
    #[arg(default = true)]
    busy: bool,
    /// Who gets an invitation by mail.
    #[arg(default = "all")]
    notify: Notify,
}

/// Creates an event: whole days or times, with guests, repetition, reminders and a Meet link.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["schedule", "appointment", "meeting", "invite", "book", "recurring"],
       example = { "title": "Standup", "start": "2026-03-30T09:00", "duration_minutes": 15, "time_zone": "Europe/Berlin",
                   "repeat": { "every": "week", "on": ["monday", "thursday"], "until": "2026-06-30" } })]
pub fn create_event(args: CreateEvent, cx: &Context) -> Result<Value, ToolError> {
    let start = moment(&args.start, "start")?;
    let (start, end) = times(start, args.end.as_deref(), args.duration_minutes)?;
    let rules = args.repeat.as_ref().map(|repeat| rule(repeat, start));
    let rules = rules.transpose()?;
    let invited = guests(args.guests.as_deref().unwrap_or_default(), "guests")?;
    let repeats = rules.is_some();
    let zone = zone_of(cx, &args.calendar, args.time_zone, &[start, end], repeats)?;
    let mut body = json!({
        "summary": args.title,
        "start": placed(start, false, zone.as_deref()),
        "end": placed(end, true, zone.as_deref()),
    });
    for (key, value) in [
        ("description", args.description),
        ("location", args.location),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    if !invited.is_empty() {
        body["attendees"] = json!(invited);
    }
    if let Some(rule) = rules {
        body["recurrence"] = json!([rule]);
    }
    if let Some(minutes) = args.remind_minutes {
        let all = minutes
            .iter()
            .map(|one| json!({ "method": "popup", "minutes": one }));
        body["reminders"] =
            json!({ "useDefault": false, "overrides": all.collect::<Vec<Value>>() });
    }
    if !args.busy {
        body["transparency"] = json!("transparent");
    }
    if args.meeting {
        let id: String = cx
            .random_bytes(8)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        body["conferenceData"] = json!({ "createRequest": {
            "requestId": id, "conferenceSolutionKey": { "type": "hangoutsMeet" },
        } });
    }
    let request = api(cx).post(path!("/calendars/{}/events", args.calendar));
    let made = request
        .query("conferenceDataVersion", args.meeting.then_some(1u32))
        .query("sendUpdates", args.notify.option())
        .json(&body)
        .fetch()?;
    Ok(shown(&made))
}

#[derive(Args)]
pub struct QuickAddEvent {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// A sentence with what and when, in English, for example `Lunch with Anna Friday 12:30`.
    #[arg(min_length = 1, max_length = 500)]
    text: String,
    /// Who gets mail about it.
    #[arg(default = "none")]
    notify: Notify,
}

/// Creates an event from a sentence; Google works out the time. To be exact use google_calendar_create_event.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["natural language", "remind me", "appointment"], example = { "text": "Lunch with Anna Friday 12:30" })]
pub fn quick_add_event(args: QuickAddEvent, cx: &Context) -> Result<Value, ToolError> {
    let request = api(cx).post(path!("/calendars/{}/events/quickAdd", args.calendar));
    let request = request.query("text", args.text);
    Ok(shown(
        &request.query("sendUpdates", args.notify.option()).fetch()?,
    ))
}

#[derive(Args)]
pub struct UpdateEvent {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event; of a repeated one all of it, or one of its times.
    event: String,
    /// The new title.
    #[arg(min_length = 1, max_length = 1000)]
    title: Option<String>,
    /// When it begins now, as in google_calendar_create_event; it stays as long as it was unless an
    /// end or duration is given.
    start: Option<String>,
    /// When it ends now; for whole days the last one, included.
    end: Option<String>,
    /// How long it takes now.
    #[arg(min = 1, max = 20160)]
    duration_minutes: Option<u32>,
    /// IANA time zone of times without an offset; the event's or calendar's own unless given.
    time_zone: Option<String>,
    /// The new description.
    description: Option<String>,
    /// The new place.
    location: Option<String>,
    /// Mail addresses to invite as well.
    #[arg(max_items = 200)]
    add_guests: Option<Vec<String>>,
    /// Mail addresses to take off the list.
    #[arg(max_items = 200)]
    remove_guests: Option<Vec<String>>,
    /// How it repeats from now on.
    repeat: Option<Repeat>,
    /// Who gets mail about the change.
    #[arg(default = "all")]
    notify: Notify,
}

/// Changes an event: moves it in time keeping its length, retitles it, adds or removes guests. What is not given stays.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["reschedule", "postpone", "move", "edit", "invite"],
       example = { "event": "abc123def456", "start": "2026-04-02T10:00", "add_guests": ["anna@example.com"] })]
pub fn update_event(args: UpdateEvent, cx: &Context) -> Result<Value, ToolError> {
    let address = || path!("/calendars/{}/events/{}", args.calendar, args.event);
    let event = api(cx).get(address()).fetch()?;
    let mut body = json!({});
    for (key, value) in [
        ("summary", &args.title),
        ("description", &args.description),
        ("location", &args.location),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    let before = |key: &str| {
        let at = &event[key];
        let text = at["dateTime"].as_str().or(at["date"].as_str());
        Moment::parse(text.unwrap_or_default())
            .ok_or_else(|| ToolError::upstream("the event has no time that can be read"))
    };
    let timed = args.start.is_some() || args.end.is_some() || args.duration_minutes.is_some();
    let mut start = before("start")?;
    if timed {
        let (old_start, mut old_end) = (start, before("end")?);
        if old_end.minute.is_none() {
            old_end = old_end.plus_days(-1);
        }
        if let Some(text) = &args.start {
            start = moment(text, "start")?;
        }
        let kept = (args.end.is_none() && args.duration_minutes.is_none())
            .then(|| old_end.since(old_start))
            .flatten();
        let (start, end) = match kept {
            Some(minutes) if start.minute.is_none() == old_start.minute.is_none() => {
                let end = match start.minute {
                    None => start.plus_days(minutes / (24 * 60)),
                    Some(_) => start.plus_minutes(minutes),
                };
                (start, end)
            }
            _ => times(start, args.end.as_deref(), args.duration_minutes)?,
        };
        let known = args.time_zone.clone().or_else(|| {
            let zone = event["start"]["timeZone"].as_str();
            zone.map(str::to_owned)
        });
        let repeats = args.repeat.is_some() || event["recurrence"].is_array();
        let zone = zone_of(cx, &args.calendar, known, &[start, end], repeats)?;
        body["start"] = placed(start, false, zone.as_deref());
        body["end"] = placed(end, true, zone.as_deref());
    }
    if let Some(repeat) = &args.repeat {
        body["recurrence"] = json!([rule(repeat, start)?]);
    }
    if args.add_guests.is_some() || args.remove_guests.is_some() {
        let mut all = event["attendees"].as_array().cloned().unwrap_or_default();
        let same = |guest: &Value, mail: &str| {
            let known = guest["email"].as_str();
            known.is_some_and(|known| known.eq_ignore_ascii_case(mail))
        };
        for mail in args.remove_guests.iter().flatten() {
            all.retain(|guest| !same(guest, mail));
        }
        let more = args.add_guests.as_deref().unwrap_or_default();
        for guest in guests(more, "add_guests")? {
            let mail = guest["email"].as_str().unwrap_or_default();
            if !all.iter().any(|known| same(known, mail)) {
                all.push(guest);
            }
        }
        body["attendees"] = json!(all);
    }
    if body == json!({}) {
        return Err(ToolError::invalid("", "say what shall change"));
    }
    let request = api(cx).patch(address());
    let request = request.query("sendUpdates", args.notify.option());
    Ok(shown(&request.json(&body).fetch()?))
}
