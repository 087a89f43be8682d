//! What concerns all calendars of the account: a search in all of them, changes, settings.

use toolgate_sdk::http::send_all;
use toolgate_sdk::prelude::*;

use crate::api::{api, next_page, shown};
use crate::events::bound;
use crate::moment::Moment;

/// Most calendars that one search asks.
const CALENDARS_MAX: usize = 30;
/// Days of changes that are listed unless the caller says since when. The service forgets after 28.
const CHANGED_DAYS: i64 = 7;

#[derive(Args)]
pub struct FindEvents {
    /// Words in title, description, place or guests.
    #[arg(min_length = 1, max_length = 200)]
    query: String,
    /// Only events that end after this: a day (in UTC), or a moment with an offset; now unless given.
    #[arg(examples = ["2026-03-31", "2026-03-31T14:00:00+02:00"])]
    from: Option<String>,
    /// Only events that begin before this: a day (in UTC, included), or a moment with an offset.
    #[arg(examples = ["2026-04-07"])]
    to: Option<String>,
    /// Most events of each calendar.
    #[arg(min = 1, max = 50, default = 10)]
    limit: u32,
}

/// Searches the events of all calendars of the account for words, in the order they begin. Asks up to 30 calendars.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["when is", "search appointments", "find meeting", "all calendars"],
       example = { "query": "dentist" })]
pub fn find_events(args: FindEvents, cx: &Context) -> Result<Value, ToolError> {
    let from = match &args.from {
        Some(_) => bound(&args.from, "from", false)?,
        None => Some(Moment::at((cx.now_ms() / 60_000) as i64, 0).to_string()),
    };
    let to = bound(&args.to, "to", true)?;
    let request = api(cx)
        .get("/users/me/calendarList")
        .query("minAccessRole", "reader");
    let answer = request.query("maxResults", 250u32).fetch()?;
    let calendars = answer["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let asked = &calendars[..calendars.len().min(CALENDARS_MAX)];
    let requests = asked.iter().map(|calendar| {
        api(cx)
            .get(path!(
                "/calendars/{}/events",
                calendar["id"].as_str().unwrap_or_default()
            ))
            .query("q", &args.query)
            .query("timeMin", &from)
            .query("timeMax", &to)
            .query("singleEvents", true)
            .query("orderBy", "startTime")
            .query("maxResults", args.limit)
    });
    let mut found = Vec::new();
    let mut not_read = Vec::new();
    for (calendar, answer) in asked.iter().zip(send_all(requests.collect())) {
        let Ok(answer) = answer.and_then(|answer| answer.json()) else {
            not_read.push(calendar["id"].clone());
            continue;
        };
        for event in answer["items"].as_array().into_iter().flatten() {
            let mut event = shown(event);
            event["calendar"] = calendar["id"].clone();
            found.push(event);
        }
    }
    found.sort_by_key(|event| event["start"].as_str().unwrap_or_default().to_owned());
    let mut out = json!({ "events": found });
    if !not_read.is_empty() {
        out["calendars_not_read"] = json!(not_read);
    }
    if calendars.len() > CALENDARS_MAX {
        out["truncated"] = json!(true);
    }
    Ok(out)
}

#[derive(Args)]
pub struct ListEventChanges {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Changes after this moment, at most 28 days ago; the last seven days unless given.
    #[arg(format = "date-time", examples = ["2026-03-31T14:00:00Z"])]
    since: Option<String>,
    /// Only events that were made after that moment, and not those that were only changed.
    #[arg(default = false)]
    only_new: bool,
    /// Events on a page.
    #[arg(min = 1, max = 250, default = 100)]
    limit: u32,
}

/// Lists events that were made, changed or cancelled since a moment; cancelled ones have the status `cancelled`.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["sync", "new events", "what changed", "cancelled"],
       example = { "since": "2026-03-31T14:00:00Z" },
       trigger = { name: "new_event", title: "New event", description: "An event was made in the calendar.",
                   arguments: { only_new: true, limit: 250 }, items: "", id: ["/id"], time: "/created" },
       trigger = { name: "changed_event", title: "New, changed or cancelled event",
                   description: "An event of the calendar was made, changed or cancelled.",
                   arguments: { only_new: false, limit: 250 }, items: "", id: ["/id", "/updated"], time: "/updated" })]
pub fn list_event_changes(args: ListEventChanges, cx: &Context) -> Result<Output, ToolError> {
    // All pages of a list begin at the same moment, so the cursor carries one that was not given.
    let carried = cx.cursor().and_then(|cursor| cursor.split_once(' '));
    let (since, token) = match (&args.since, carried) {
        (Some(since), _) => (since.clone(), cx.cursor()),
        (None, Some((since, token))) => (since.to_owned(), Some(token)),
        (None, None) => {
            let now = Moment::at((cx.now_ms() / 60_000) as i64, 0);
            (now.plus_days(-CHANGED_DAYS).to_string(), None)
        }
    };
    let answer = api(cx)
        .get(path!("/calendars/{}/events", args.calendar))
        .query("updatedMin", &since)
        .query("showDeleted", true)
        .query("orderBy", "updated")
        .query("maxResults", args.limit)
        .query("pageToken", token)
        .fetch()?;
    let events = answer["items"].as_array().into_iter().flatten();
    let events = events.filter(|event| !args.only_new || is_made_since(event, &since));
    let events: Vec<Value> = events.map(shown).collect();
    let next = next_page(&answer).map(|token| match args.since {
        Some(_) => token,
        None => format!("{since} {token}"),
    });
    Output::page(events, next)
}

/// By the minute. A cancelled event of which nothing else is left was not made.
fn is_made_since(event: &Value, since: &str) -> bool {
    let minutes = |text: &str| Moment::parse(text).and_then(Moment::utc_minutes);
    let created = event["created"].as_str().and_then(minutes);
    created.is_some_and(|created| minutes(since).is_none_or(|since| created >= since))
}

/// Reads the account's calendar settings: time zone, week start, language, length of events and others.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["my time zone", "preferences", "locale"], example = {})]
pub fn get_settings(cx: &Context) -> Result<Value, ToolError> {
    let request = api(cx).get("/users/me/settings");
    let answer = request.query("maxResults", 250u32).fetch()?;
    let mut out = Map::new();
    for setting in answer["items"].as_array().into_iter().flatten() {
        if let Some(name) = setting["id"].as_str() {
            out.insert(name.to_owned(), setting["value"].clone());
        }
    }
    Ok(Value::Object(out))
}
