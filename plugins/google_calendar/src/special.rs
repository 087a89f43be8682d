//! Events that tell about a person rather than a meeting: absence, focus time, place of work. Only accounts of an
//! organization have them.

use toolgate_sdk::prelude::*;

use crate::api::{api, shown};
use crate::planning::{moment, placed, times, zone_of};

#[derive(Args)]
pub enum Decline {
    None,
    All,
    OnlyNew,
}

impl Decline {
    fn word(&self) -> &'static str {
        match self {
            Self::None => "declineNone",
            Self::All => "declineAllConflictingInvitations",
            Self::OnlyNew => "declineOnlyNewConflictingInvitations",
        }
    }
}

/// A timed event of the own calendar, to which its kind is added.
fn event(
    cx: &Context,
    title: String,
    start: &str,
    end: &str,
    time_zone: Option<String>,
) -> Result<Value, ToolError> {
    let (start, end) = times(moment(start, "start")?, Some(end), None)?;
    if start.minute.is_none() {
        let text = "expected times such as `2026-03-31T14:00`; Google takes no whole days here";
        return Err(ToolError::invalid("/start", text));
    }
    let zone = zone_of(cx, "primary", time_zone, &[start, end], false)?;
    Ok(json!({
        "summary": title,
        "start": placed(start, false, zone.as_deref()),
        "end": placed(end, true, zone.as_deref()),
    }))
}

fn insert(cx: &Context, body: &Value) -> Result<Value, ToolError> {
    let request = api(cx).post(path!("/calendars/{}/events", "primary"));
    Ok(shown(&request.json(body).fetch()?))
}

#[derive(Args)]
pub struct CreateOutOfOffice {
    /// What others see.
    #[arg(default = "Out of office", min_length = 1, max_length = 200)]
    title: String,
    /// When it begins: `2026-03-31T09:00`, or with an offset `2026-03-31T09:00+02:00`.
    start: String,
    /// When it ends, written like start.
    end: String,
    /// IANA time zone of times without an offset; the calendar's own unless given.
    time_zone: Option<String>,
    /// Which invitations of that time are declined.
    #[arg(default = "only_new")]
    decline: Decline,
    /// What is said with it.
    #[arg(max_length = 1000)]
    message: Option<String>,
}

/// Enters an absence into the account's own calendar and declines invitations of that time.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["away", "holiday", "absence", "sick"],
       example = { "start": "2026-07-01T00:00+02:00", "end": "2026-07-15T00:00+02:00", "message": "I am on holiday." })]
pub fn create_out_of_office(args: CreateOutOfOffice, cx: &Context) -> Result<Value, ToolError> {
    let mut body = event(cx, args.title, &args.start, &args.end, args.time_zone)?;
    body["eventType"] = json!("outOfOffice");
    body["outOfOfficeProperties"] = json!({ "autoDeclineMode": args.decline.word() });
    if let Some(message) = args.message {
        body["outOfOfficeProperties"]["declineMessage"] = json!(message);
    }
    insert(cx, &body)
}

#[derive(Args)]
pub struct CreateFocusTime {
    /// What others see.
    #[arg(default = "Focus time", min_length = 1, max_length = 200)]
    title: String,
    /// When it begins: `2026-03-31T09:00`, or with an offset `2026-03-31T09:00+02:00`.
    start: String,
    /// When it ends, written like start.
    end: String,
    /// IANA time zone of times without an offset; the calendar's own unless given.
    time_zone: Option<String>,
    /// Which invitations of that time are declined.
    #[arg(default = "none")]
    decline: Decline,
    /// Do not notify about chats during that time.
    #[arg(default = true)]
    do_not_disturb: bool,
}

/// Blocks time to work undisturbed in the account's own calendar.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["block time", "deep work", "do not disturb"],
       example = { "start": "2026-03-31T09:00+02:00", "end": "2026-03-31T11:00+02:00" })]
pub fn create_focus_time(args: CreateFocusTime, cx: &Context) -> Result<Value, ToolError> {
    let mut body = event(cx, args.title, &args.start, &args.end, args.time_zone)?;
    let chat = if args.do_not_disturb {
        "doNotDisturb"
    } else {
        "available"
    };
    body["eventType"] = json!("focusTime");
    body["focusTimeProperties"] = json!({
        "autoDeclineMode": args.decline.word(), "chatStatus": chat,
    });
    insert(cx, &body)
}

#[derive(Args)]
pub enum Workplace {
    Home,
    Office,
    Other,
}

#[derive(Args)]
pub struct SetWorkingLocation {
    /// The day.
    #[arg(format = "date")]
    day: String,
    /// Where the account works on it.
    place: Workplace,
    /// Name of the office or other place.
    #[arg(max_length = 200)]
    name: Option<String>,
}

/// Enters where the account works on a day: at home, at the company or elsewhere.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/calendar"], keywords = ["work from home", "remote work"],
       example = { "day": "2026-03-31", "place": "home" })]
pub fn set_working_location(args: SetWorkingLocation, cx: &Context) -> Result<Value, ToolError> {
    let day = moment(&args.day, "day")?;
    let (kind, title, more) = match (&args.place, &args.name) {
        (Workplace::Home, _) => ("homeOffice", "Home", json!({ "homeOffice": {} })),
        (Workplace::Office, name) => {
            let label = name.as_deref().unwrap_or("Office");
            (
                "officeLocation",
                label,
                json!({ "officeLocation": { "label": label } }),
            )
        }
        (Workplace::Other, Some(name)) => (
            "customLocation",
            name.as_str(),
            json!({ "customLocation": { "label": name } }),
        ),
        (Workplace::Other, None) => {
            return Err(ToolError::invalid("/name", "another place needs a name"));
        }
    };
    let mut place = more;
    place["type"] = json!(kind);
    let body = json!({
        "summary": title, "eventType": "workingLocation", "visibility": "public",
        "transparency": "transparent", "workingLocationProperties": place,
        "start": placed(day, false, None), "end": placed(day, true, None),
    });
    insert(cx, &body)
}
