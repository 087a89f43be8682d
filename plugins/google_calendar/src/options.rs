//! What else an event has: colour, visibility, reminders, files, a meeting link; and copies of events.

use toolgate_sdk::prelude::*;

use crate::api::{Notify, api, shown};
use crate::moment::Moment;
use crate::planning::{moment, placed, times, zone_of};

#[derive(Args)]
pub enum Color {
    Lavender,
    Sage,
    Grape,
    Flamingo,
    Banana,
    Tangerine,
    Peacock,
    Graphite,
    Blueberry,
    Basil,
    Tomato,
    None,
}

impl Color {
    /// The number by which Google knows it; the order is Google's.
    fn number(&self) -> Value {
        let all = [
            "lavender",
            "sage",
            "grape",
            "flamingo",
            "banana",
            "tangerine",
            "peacock",
            "graphite",
            "blueberry",
            "basil",
            "tomato",
        ];
        let at = all.iter().position(|name| *name == self.as_str());
        at.map_or(Value::Null, |at| json!((at + 1).to_string()))
    }
}

#[derive(Args)]
pub enum Visibility {
    Default,
    Public,
    Private,
}

#[derive(Args)]
pub struct UpdateEventOptions {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event; of a repeated one all of it, or one of its times.
    event: String,
    /// Its colour; `none` for that of the calendar.
    color: Option<Color>,
    /// Who may see what it is; `default` is as set for the calendar.
    visibility: Option<Visibility>,
    /// Whether the time counts as taken.
    busy: Option<bool>,
    /// Minutes before the start at which to remind; an empty list turns reminders off.
    #[arg(max_items = 5)]
    remind_minutes: Option<Vec<u32>>,
    /// Whether guests may change it.
    guests_can_modify: Option<bool>,
    /// Whether guests may invite others.
    guests_can_invite: Option<bool>,
    /// Whether guests see who else is invited.
    guests_see_guests: Option<bool>,
}

/// Changes colour, visibility, reminders, free or busy, and what guests may do with an event. Nobody gets mail about it.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["color", "private event", "reminder", "free or busy", "guest permissions"],
       example = { "event": "abc123def456", "color": "tomato", "remind_minutes": [10, 60] })]
pub fn update_event_options(args: UpdateEventOptions, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({});
    for (key, value) in [
        ("colorId", args.color.map(|color| color.number())),
        ("visibility", args.visibility.map(|word| json!(word))),
        (
            "transparency",
            args.busy
                .map(|busy| json!(if busy { "opaque" } else { "transparent" })),
        ),
        (
            "reminders",
            args.remind_minutes.map(|minutes| {
                let all = minutes
                    .iter()
                    .map(|one| json!({ "method": "popup", "minutes": one }));
                json!({ "useDefault": false, "overrides": all.collect::<Vec<Value>>() })
            }),
        ),
        ("guestsCanModify", args.guests_can_modify.map(Value::from)),
        (
            "guestsCanInviteOthers",
            args.guests_can_invite.map(Value::from),
        ),
        (
            "guestsCanSeeOtherGuests",
            args.guests_see_guests.map(Value::from),
        ),
    ] {
        if let Some(value) = value {
            body[key] = value;
        }
    }
    if body == json!({}) {
        return Err(ToolError::invalid("", "say what shall change"));
    }
    let request = api(cx).patch(path!("/calendars/{}/events/{}", args.calendar, args.event));
    let request = request.query("sendUpdates", "none");
    Ok(shown(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct AddMeetingLink {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event.
    event: String,
    /// Who gets mail about the change.
    #[arg(default = "all")]
    notify: Notify,
}

/// Adds a Google Meet link to an event, unless it has one.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["video call", "google meet", "conference", "online meeting"], example = { "event": "abc123def456" })]
pub fn add_meeting_link(args: AddMeetingLink, cx: &Context) -> Result<Value, ToolError> {
    let address = || path!("/calendars/{}/events/{}", args.calendar, args.event);
    let event = api(cx).get(address()).fetch()?;
    if event["hangoutLink"].is_string() {
        return Ok(shown(&event));
    }
    // Google makes one link for each number; the event's id gives a repeated call the same link.
    let number: String = args
        .event
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(60)
        .collect();
    let body = json!({ "conferenceData": { "createRequest": {
        "requestId": number, "conferenceSolutionKey": { "type": "hangoutsMeet" },
    } } });
    let request = api(cx)
        .patch(address())
        .query("conferenceDataVersion", 1u32);
    let request = request.query("sendUpdates", args.notify.option());
    Ok(shown(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct AttachFile {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event.
    event: String,
    /// Address of the file, as google_drive_get_file and google_drive_search_files show it.
    #[arg(format = "uri", pattern = "^https://")]
    url: String,
    /// What the attachment is called.
    #[arg(min_length = 1, max_length = 200)]
    title: String,
}

/// Attaches a file of Google Drive to an event, for example an agenda. An event has at most 25 files.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["attachment", "agenda", "notes"],
       example = { "event": "abc123def456", "url": "https://docs.google.com/document/d/1a2B3cD4eF/edit", "title": "Agenda" })]
pub fn attach_file(args: AttachFile, cx: &Context) -> Result<Value, ToolError> {
    let address = || path!("/calendars/{}/events/{}", args.calendar, args.event);
    let event = api(cx).get(address()).fetch()?;
    let mut files = event["attachments"].as_array().cloned().unwrap_or_default();
    if files
        .iter()
        .all(|file| file["fileUrl"] != args.url.as_str())
    {
        files.push(json!({ "fileUrl": args.url, "title": args.title }));
    }
    let request = api(cx).patch(address()).query("supportsAttachments", true);
    let changed = request.json(&json!({ "attachments": files })).fetch()?;
    let mut out = shown(&changed);
    out["files"] = pick_each(&changed["attachments"], &["title", "url=fileUrl"]);
    Ok(out)
}

#[derive(Args)]
pub struct CopyEvent {
    /// Id of the calendar that it is in, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Id of the event.
    event: String,
    /// Id of the calendar for the copy; the same one unless given.
    destination: Option<String>,
    /// When the copy begins, as in google_calendar_create_event; like the original unless given. It is as long as the original.
    start: Option<String>,
    /// Invite the same guests.
    #[arg(default = false)]
    guests: bool,
    /// Who gets mail about it.
    #[arg(default = "none")]
    notify: Notify,
}

/// Copies an event to another time or calendar with its title, description, place and length.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["duplicate", "repeat once"], example = { "event": "abc123def456", "start": "2026-04-07T10:00+02:00" })]
pub fn copy_event(args: CopyEvent, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/calendars/{}/events/{}", args.calendar, args.event);
    let event = api(cx).get(address).fetch()?;
    let mut body = pick(
        &event,
        &[
            "summary",
            "description",
            "location",
            "start",
            "end",
            "colorId",
            "transparency",
        ],
    );
    let calendar = args.destination.as_ref().unwrap_or(&args.calendar);
    if let Some(start) = &args.start {
        let before = |key: &str| {
            let at = &event[key];
            let text = at["dateTime"].as_str().or(at["date"].as_str());
            Moment::parse(text.unwrap_or_default())
                .ok_or_else(|| ToolError::upstream("the event has no time that can be read"))
        };
        let length = before("end")?.since(before("start")?).unwrap_or(60);
        let start = moment(start, "start")?;
        let (start, end) = match start.minute {
            // Google's end of whole days is the day after the last one.
            None => (start, start.plus_days(length / (24 * 60) - 1)),
            Some(_) => times(start, None, Some(length.clamp(1, 20_160) as u32))?,
        };
        let zone = event["start"]["timeZone"].as_str().map(str::to_owned);
        let zone = zone_of(cx, calendar, zone, &[start, end], false)?;
        body["start"] = placed(start, false, zone.as_deref());
        body["end"] = placed(end, true, zone.as_deref());
    }
    if args.guests {
        body["attendees"] = pick_each(&event["attendees"], &["email", "displayName", "optional"]);
    }
    let request = api(cx).post(path!("/calendars/{}/events", calendar));
    let request = request.query("sendUpdates", args.notify.option());
    Ok(shown(&request.json(&body).fetch()?))
}
