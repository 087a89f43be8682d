//! Calendars changed and deleted, those of others shown or hidden, and access taken away.

use toolgate_sdk::prelude::*;

use crate::api::api;

const ENTRY: &[&str] = &[
    "id",
    "name=summary",
    "name=summaryOverride",
    "role=accessRole",
    "color=backgroundColor",
    "hidden",
    "time_zone=timeZone",
];

#[derive(Args)]
pub struct UpdateCalendar {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// The new name, for everyone who sees it.
    #[arg(min_length = 1, max_length = 254)]
    name: Option<String>,
    /// The new description.
    description: Option<String>,
    /// Its IANA time zone, for example `Europe/Berlin`.
    time_zone: Option<String>,
    /// Where it belongs to, for example a city.
    location: Option<String>,
}

/// Changes the name, description, time zone or place of a calendar for everyone who sees it.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["rename calendar", "time zone"], example = { "calendar": "team@group.calendar.google.com", "name": "Releases 2026" })]
pub fn update_calendar(args: UpdateCalendar, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({});
    for (key, value) in [
        ("summary", args.name),
        ("description", args.description),
        ("timeZone", args.time_zone),
        ("location", args.location),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/name", "say what shall change"));
    }
    let request = api(cx).patch(path!("/calendars/{}", args.calendar));
    let changed = request.json(&body).fetch()?;
    let fields = [
        "id",
        "name=summary",
        "description",
        "location",
        "time_zone=timeZone",
    ];
    Ok(pick(&changed, &fields))
}

#[derive(Args)]
pub struct RemoveCalendar {
    /// Id of the calendar. The account's own calendar cannot be deleted.
    #[arg(min_length = 1)]
    calendar: String,
}

/// Removes a whole calendar with everything in it for everyone. For the own list only, use google_calendar_unsubscribe_calendar.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["drop calendar"], example = { "calendar": "team@group.calendar.google.com" })]
pub fn remove_calendar(args: RemoveCalendar, cx: &Context) -> Result<Value, ToolError> {
    api(cx)
        .delete(path!("/calendars/{}", args.calendar))
        .send()?;
    Ok(json!({ "deleted": args.calendar }))
}

#[derive(Args)]
pub struct SubscribeCalendar {
    /// Id of the calendar: for a person's own calendar their mail address.
    #[arg(min_length = 1)]
    calendar: String,
}

/// Adds an existing calendar, for example a colleague's or of public holidays, to the account's list.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["add calendar", "holidays", "colleague", "follow"], example = { "calendar": "en.german#holiday@group.v.calendar.google.com" })]
pub fn subscribe_calendar(args: SubscribeCalendar, cx: &Context) -> Result<Value, ToolError> {
    let request = api(cx).post("/users/me/calendarList");
    Ok(pick(
        &request.json(&json!({ "id": args.calendar })).fetch()?,
        ENTRY,
    ))
}

/// Removes a calendar from the account's list. The calendar itself stays.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["unfollow", "leave calendar"], example = { "calendar": "anna@example.com" })]
pub fn unsubscribe_calendar(args: SubscribeCalendar, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/users/me/calendarList/{}", args.calendar);
    api(cx).delete(address).send()?;
    Ok(json!({ "unsubscribed": args.calendar }))
}

#[derive(Args)]
pub struct UpdateCalendarDisplay {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// What the account calls it; empty for its own name.
    #[arg(max_length = 254)]
    name: Option<String>,
    /// Its colour.
    #[arg(pattern = "^#[0-9a-fA-F]{6}$", examples = ["#0b8043"])]
    color: Option<String>,
    /// Leave it out of the list.
    hidden: Option<bool>,
    /// Show its events in the calendar.
    shown: Option<bool>,
    /// Minutes before events at which to remind; an empty list turns reminders off.
    #[arg(max_items = 5)]
    remind_minutes: Option<Vec<u32>>,
}

/// Changes how the account itself sees a calendar: name, colour, hidden or shown, reminders. Others do not notice.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["calendar color", "default reminders", "hide calendar"], example = { "calendar": "anna@example.com", "color": "#0b8043" })]
pub fn update_calendar_display(
    args: UpdateCalendarDisplay,
    cx: &Context,
) -> Result<Value, ToolError> {
    let mut body = json!({});
    for (key, value) in [
        ("summaryOverride", args.name.map(Value::from)),
        ("hidden", args.hidden.map(Value::from)),
        ("selected", args.shown.map(Value::from)),
    ] {
        if let Some(value) = value {
            body[key] = value;
        }
    }
    if let Some(color) = &args.color {
        body["backgroundColor"] = json!(color);
        // Google wants the colour of the text as well.
        body["foregroundColor"] = json!(if dark(color) { "#ffffff" } else { "#000000" });
    }
    if let Some(minutes) = args.remind_minutes {
        let all = minutes
            .iter()
            .map(|one| json!({ "method": "popup", "minutes": one }));
        body["defaultReminders"] = all.collect();
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/name", "say what shall change"));
    }
    let request = api(cx).patch(path!("/users/me/calendarList/{}", args.calendar));
    let request = request.query("colorRgbFormat", args.color.is_some().then_some(true));
    Ok(pick(&request.json(&body).fetch()?, ENTRY))
}

/// Whether white text is easier to read on this colour than black.
fn dark(hex: &str) -> bool {
    let part = |from: usize| {
        u32::from_str_radix(hex.get(from..from + 2).unwrap_or("ff"), 16).unwrap_or(255)
    };
    299 * part(1) + 587 * part(3) + 114 * part(5) < 128_000
}

#[derive(Args)]
pub struct RemoveCalendarAccess {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Mail address of a person or group, a domain, or `everyone`.
    #[arg(min_length = 3)]
    who: String,
}

/// Takes away somebody's access to a calendar.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["unshare calendar", "revoke", "make private"], example = { "who": "anna@example.com" })]
pub fn remove_calendar_access(
    args: RemoveCalendarAccess,
    cx: &Context,
) -> Result<Value, ToolError> {
    let kind = match args.who.as_str() {
        "everyone" => "default".to_owned(),
        mail if mail.contains('@') => format!("user:{mail}"),
        domain => format!("domain:{domain}"),
    };
    let address = path!("/calendars/{}/acl/{}", args.calendar, kind);
    match api(cx).delete(address).send() {
        // What was given to a group has another id.
        Err(error) if error.kind == ErrorKind::NotFound && args.who.contains('@') => {
            let group = format!("group:{}", args.who);
            api(cx)
                .delete(path!("/calendars/{}/acl/{}", args.calendar, group))
                .send()?
        }
        other => other?,
    };
    Ok(json!({ "calendar": args.calendar, "removed": args.who }))
}

#[cfg(test)]
mod tests {
    use super::dark;

    #[test]
    fn text_stands_out_from_its_colour() {
        for (color, is) in [
            ("#000000", true),
            ("#0b8043", true),
            ("#ffffff", false),
            ("#f6bf26", false),
        ] {
            assert_eq!(dark(color), is, "{color}");
        }
    }
}
