//! Reading events, answering and moving them.

use toolgate_sdk::prelude::*;

use crate::api::{Notify, api, next_page, shown};
use crate::moment::Moment;

/// A moment as a query takes it; a day is its beginning or its end in UTC.
pub fn bound(text: &Option<String>, field: &str, end: bool) -> Result<Option<String>, ToolError> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        let text =
            "expected a day `2026-03-31` or a moment with an offset `2026-03-31T14:00:00+02:00`";
        ToolError::invalid(format!("/{field}"), text)
    };
    let moment = Moment::parse(text).ok_or_else(wrong)?;
    Ok(Some(match (moment.minute, moment.offset) {
        (None, _) => format!("{}T00:00:00Z", moment.plus_days(i64::from(end))),
        (Some(_), Some(_)) => moment.to_string(),
        (Some(_), None) => return Err(wrong()),
    }))
}

#[derive(Args)]
pub struct ListEvents {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Only events that end after this: a day (in UTC), or a moment with an offset; now unless given.
    #[arg(examples = ["2026-03-31", "2026-03-31T14:00:00+02:00"])]
    from: Option<String>,
    /// Only events that begin before this: a day (in UTC, included), or a moment with an offset.
    #[arg(examples = ["2026-04-07"])]
    to: Option<String>,
    /// Only events that are on now or begin within the next `lead_min` minutes; instead of `from` and `to`.
    #[arg(default = false)]
    starting_soon: bool,
    /// Minutes ahead that `starting_soon` looks.
    #[arg(min = 1, max = 1440, default = 15)]
    lead_min: u32,
    /// Words in title, description, place or guests.
    query: Option<String>,
    /// IANA time zone in which times are answered; the calendar's own unless given.
    time_zone: Option<String>,
    /// Events on a page.
    #[arg(min = 1, max = 250, default = 50)]
    limit: u32,
}

/// Lists events in the order they begin, repeated ones each time, from now on or between two days.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["agenda", "appointments", "meetings", "today", "schedule", "what is on"],
       example = { "from": "2026-03-31", "to": "2026-03-31", "time_zone": "Europe/Berlin" },
       trigger = { name: "event_starting", title: "Event about to start",
                   description: "An event of the calendar begins within `lead_min` minutes, or was moved there.",
                   arguments: { starting_soon: true, limit: 250 }, items: "", id: ["/id", "/start"],
                   interval_s: 60 })]
pub fn list_events(args: ListEvents, cx: &Context) -> Result<Output, ToolError> {
    if args.starting_soon && (args.from.is_some() || args.to.is_some()) {
        let text = "starting_soon looks from now on; leave out `from` and `to`, or starting_soon";
        return Err(ToolError::invalid("/starting_soon", text));
    }
    // All pages of a list begin at the same moment, so the cursor carries it.
    let (from, token) = match (
        cx.cursor().and_then(|cursor| cursor.split_once(' ')),
        &args.from,
    ) {
        (Some((from, token)), _) => (from.to_owned(), Some(token)),
        (None, Some(_)) => (bound(&args.from, "from", false)?.unwrap_or_default(), None),
        (None, None) => (
            Moment::at((cx.now_ms() / 60_000) as i64, 0).to_string(),
            None,
        ),
    };
    let to = match args.starting_soon {
        true => {
            Moment::parse(&from).map(|now| now.plus_minutes(i64::from(args.lead_min)).to_string())
        }
        false => bound(&args.to, "to", true)?,
    };
    let answer = api(cx)
        .get(path!("/calendars/{}/events", args.calendar))
        .query("timeMin", &from)
        .query("timeMax", to)
        .query("q", args.query)
        .query("timeZone", args.time_zone)
        .query("singleEvents", true)
        .query("orderBy", "startTime")
        .query("maxResults", args.limit)
        .query("pageToken", token)
        .fetch()?;
    let events = answer["items"].as_array().into_iter().flatten();
    let events: Vec<Value> = events.map(shown).collect();
    let next = next_page(&answer).map(|token| format!("{from} {token}"));
    Output::page(events, next)
}

#[derive(Args)]
pub struct OneEvent {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event, as google_calendar_list_events shows it.
    event: String,
}

/// Reads one event with guests and their answers, place, description and repetition.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["details", "guests", "who comes"], example = { "event": "abc123def456" })]
pub fn get_event(args: OneEvent, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/calendars/{}/events/{}", args.calendar, args.event);
    Ok(shown(&api(cx).get(address).fetch()?))
}

#[derive(Args)]
pub struct ListInstances {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the repeated event: the `series` of one of its times.
    event: String,
    /// Only those that end after this: a day, or a moment with an offset.
    from: Option<String>,
    /// Only those that begin before this: a day (included), or a moment with an offset.
    to: Option<String>,
    /// Times on a page.
    #[arg(min = 1, max = 250, default = 50)]
    limit: u32,
}

/// Lists the single times of a repeated event, each with an id of its own.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["recurring", "series", "occurrences"], example = { "event": "abc123def456" })]
pub fn list_event_instances(args: ListInstances, cx: &Context) -> Result<Output, ToolError> {
    let address = path!(
        "/calendars/{}/events/{}/instances",
        args.calendar,
        args.event
    );
    let answer = api(cx)
        .get(address)
        .query("timeMin", bound(&args.from, "from", false)?)
        .query("timeMax", bound(&args.to, "to", true)?)
        .query("maxResults", args.limit)
        .query("pageToken", cx.cursor())
        .fetch()?;
    let events = answer["items"].as_array().into_iter().flatten();
    let events: Vec<Value> = events.map(shown).collect();
    Output::page(events, next_page(&answer))
}

#[derive(Args)]
pub enum Answer {
    Accepted,
    Declined,
    Tentative,
}

#[derive(Args)]
pub struct RespondToEvent {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event to which the account is invited.
    event: String,
    /// The answer.
    answer: Answer,
    /// A note to the organizer.
    comment: Option<String>,
}

/// Accepts or declines an invitation for the connected account.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["rsvp", "accept", "decline", "maybe"], example = { "event": "abc123def456", "answer": "declined" })]
pub fn respond_to_event(args: RespondToEvent, cx: &Context) -> Result<Value, ToolError> {
    let address = || path!("/calendars/{}/events/{}", args.calendar, args.event);
    let event = api(cx).get(address()).fetch()?;
    let mut guests = event["attendees"].clone();
    let own = guests
        .as_array_mut()
        .and_then(|all| all.iter_mut().find(|guest| guest["self"] == true));
    let Some(own) = own else {
        let text = "the account is not among the guests of this event";
        return Err(ToolError::invalid("/event", text));
    };
    own["responseStatus"] = json!(args.answer);
    if let Some(comment) = args.comment {
        own["comment"] = json!(comment);
    }
    let request = api(cx).patch(address()).query("sendUpdates", "all");
    Ok(shown(
        &request.json(&json!({ "attendees": guests })).fetch()?,
    ))
}

#[derive(Args)]
pub struct MoveEvent {
    /// Id of the calendar that it is in.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event.
    event: String,
    /// Id of the calendar to move it to.
    destination: String,
    /// Who gets mail about it.
    #[arg(default = "none")]
    notify: Notify,
}

/// Moves an event to another calendar, which becomes its organizer.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["transfer", "organizer"], example = { "event": "abc123def456", "destination": "team@group.calendar.google.com" })]
pub fn move_event(args: MoveEvent, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/calendars/{}/events/{}/move", args.calendar, args.event);
    let request = api(cx).post(address).query("destination", args.destination);
    Ok(shown(
        &request.query("sendUpdates", args.notify.option()).fetch()?,
    ))
}

#[derive(Args)]
pub struct DeleteEvent {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event; of a repeated one all of it, or one of its times.
    event: String,
    /// Who gets mail about it.
    #[arg(default = "all")]
    notify: Notify,
}

/// Deletes an event and tells its guests.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["cancel", "remove", "appointment", "meeting"], example = { "event": "abc123def456" })]
pub fn delete_event(args: DeleteEvent, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/calendars/{}/events/{}", args.calendar, args.event);
    let request = api(cx).delete(address);
    request.query("sendUpdates", args.notify.option()).send()?;
    Ok(json!({ "deleted": args.event }))
}
