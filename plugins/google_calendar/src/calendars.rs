//! Calendars and who may see them.

use toolgate_sdk::prelude::*;

use crate::api::{Notify, api, next_page};

#[derive(Args)]
pub struct ListCalendars {
    /// Only calendars on which the account may write.
    #[arg(default = false)]
    writable: bool,
    /// Calendars on a page.
    #[arg(min = 1, max = 250, default = 100)]
    limit: u32,
}

/// Lists the calendars of the account with id, name, time zone and what it may do there.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["my calendars", "shared calendars"],
       example = { "writable": true })]
pub fn list_calendars(args: ListCalendars, cx: &Context) -> Result<Output, ToolError> {
    let role = args.writable.then_some("writer");
    let request = api(cx).get("/users/me/calendarList");
    let answer = request
        .query("minAccessRole", role)
        .query("maxResults", args.limit)
        .query("pageToken", cx.cursor())
        .fetch()?;
    let fields = [
        "id",
        "name=summary",
        "name=summaryOverride",
        "description",
        "time_zone=timeZone",
        "role=accessRole",
        "primary",
    ];
    Output::page(pick_each(&answer["items"], &fields), next_page(&answer))
}

#[derive(Args)]
pub struct OneCalendar {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
}

/// Reads the name, description and time zone of a calendar.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/calendar.readonly"], keywords = ["time zone", "details"],
       example = {})]
pub fn get_calendar(args: OneCalendar, cx: &Context) -> Result<Value, ToolError> {
    let found = api(cx).get(path!("/calendars/{}", args.calendar)).fetch()?;
    let fields = [
        "id",
        "name=summary",
        "description",
        "location",
        "time_zone=timeZone",
    ];
    Ok(pick(&found, &fields))
}

#[derive(Args)]
pub struct CreateCalendar {
    /// Name of the calendar.
    #[arg(min_length = 1, max_length = 254)]
    name: String,
    /// What it is for.
    description: Option<String>,
    /// IANA time zone, for example `Europe/Berlin`.
    time_zone: Option<String>,
}

/// Creates a calendar beside the account's own.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["new calendar", "team calendar"], example = { "name": "Releases", "time_zone": "Europe/Berlin" })]
pub fn create_calendar(args: CreateCalendar, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({ "summary": args.name });
    for (key, value) in [
        ("description", args.description),
        ("timeZone", args.time_zone),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    let made = api(cx).post("/calendars").json(&body).fetch()?;
    Ok(pick(&made, &["id", "name=summary", "time_zone=timeZone"]))
}

#[derive(Args)]
pub struct ListAcl {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Entries on a page.
    #[arg(min = 1, max = 250, default = 100)]
    limit: u32,
}

/// Lists who may see or change a calendar.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/calendar.acls.readonly"], keywords = ["permissions", "shared with", "access"],
       example = { "calendar": "r@group.calendar.google.com" })]
pub fn list_acl(args: ListAcl, cx: &Context) -> Result<Output, ToolError> {
    let request = api(cx).get(path!("/calendars/{}/acl", args.calendar));
    let request = request.query("maxResults", args.limit);
    let answer = request.query("pageToken", cx.cursor()).fetch()?;
    let rules = pick_each(
        &answer["items"],
        &["id", "role", "kind=scope/type", "who=scope/value"],
    );
    Output::page(rules, next_page(&answer))
}

/// What somebody may do.
#[derive(Args)]
pub enum Role {
    /// See when it is busy, nothing else.
    FreeBusyReader,
    Reader,
    Writer,
    Owner,
}

impl Role {
    fn word(&self) -> &'static str {
        match self {
            Self::FreeBusyReader => "freeBusyReader",
            Self::Reader => "reader",
            Self::Writer => "writer",
            Self::Owner => "owner",
        }
    }
}

#[derive(Args)]
pub struct ShareCalendar {
    /// Id of the calendar, `primary` for the account's own.
    #[arg(default = "primary", min_length = 1)]
    calendar: String,
    /// Mail address of a person or group, a domain, or `everyone`.
    #[arg(min_length = 3)]
    with: String,
    /// What they may do.
    #[arg(default = "reader")]
    role: Role,
    /// Who gets mail about it.
    #[arg(default = "all")]
    notify: Notify,
}

/// Shares a calendar with a person, a domain or everyone.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["give access", "invite", "permission"], example = { "with": "mona@example.com", "role": "writer" })]
pub fn share_calendar(args: ShareCalendar, cx: &Context) -> Result<Value, ToolError> {
    let scope = match args.with.as_str() {
        "everyone" => json!({ "type": "default" }),
        mail if mail.contains('@') => json!({ "type": "user", "value": mail }),
        domain => json!({ "type": "domain", "value": domain }),
    };
    let told = !matches!(args.notify, Notify::None);
    let request = api(cx).post(path!("/calendars/{}/acl", args.calendar));
    let made = request
        .query("sendNotifications", told)
        .json(&json!({ "role": args.role.word(), "scope": scope }))
        .fetch()?;
    Ok(pick(
        &made,
        &["id", "role", "kind=scope/type", "who=scope/value"],
    ))
}
