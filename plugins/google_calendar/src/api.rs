//! What all requests share: the address, Google's errors, and how an event is shown.

pub use toolgate_sdk::http::google::next_page;
use toolgate_sdk::http::google::problem_of;
use toolgate_sdk::prelude::*;

pub fn api(cx: &Context) -> Client<'_> {
    cx.client("https://www.googleapis.com/calendar/v3")
        .errors(problem_of)
}

/// Who gets mail about a change.
#[derive(Args)]
pub enum Notify {
    All,
    ExternalOnly,
    None,
}

impl Notify {
    pub fn option(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::ExternalOnly => "externalOnly",
            Self::None => "none",
        }
    }
}

/// An event as tools answer it.
pub fn shown(event: &Value) -> Value {
    let mut out = pick(
        event,
        &[
            "id",
            "title=summary",
            "status",
            "description",
            "location",
            "url=htmlLink",
            "meeting=hangoutLink",
            "organizer=organizer/email",
            "repeats=recurrence",
            "series=recurringEventId",
            "created",
            "updated",
        ],
    );
    for (key, end) in [("start", false), ("end", true)] {
        let at = &event[key];
        if let Some(moment) = at["dateTime"].as_str() {
            out[key] = json!(moment);
        } else if let Some(day) = at["date"].as_str() {
            // The service names the day after the last one.
            let last = crate::moment::Moment::parse(day).map(|day| day.plus_days(-1).to_string());
            out[key] = json!(if end {
                last.unwrap_or_default()
            } else {
                day.to_owned()
            });
            out["all_day"] = json!(true);
        }
    }
    if let Some(zone) = event["start"]["timeZone"].as_str() {
        out["time_zone"] = json!(zone);
    }
    let guests = event["attendees"].as_array();
    if let Some(guests) = guests.filter(|guests| !guests.is_empty()) {
        let guests = guests.iter().map(|guest| {
            pick(
                guest,
                &[
                    "email",
                    "name=displayName",
                    "answer=responseStatus",
                    "optional",
                ],
            )
        });
        out["guests"] = guests.collect();
    }
    out
}
