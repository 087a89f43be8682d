//! Settings of the mailbox: automatic answers, categories, time zone.

use toolgate_sdk::html::to_text;
use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::graph;

/// Reads name, mail address and language of the connected user, with time zone and working hours of the mailbox.
#[tool(effect = "read", scopes = ["User.Read", "MailboxSettings.Read"], keywords = ["who am i", "time zone", "working hours", "account"],
       example = {})]
pub fn get_profile(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    let fields = "id,displayName,mail,userPrincipalName,jobTitle";
    let user = graph(cx).get("").query("$select", fields).fetch()?;
    let settings = graph(cx).get("/mailboxSettings").fetch()?;
    let mut out = pick(
        &user,
        &[
            "id",
            "name=displayName",
            "mail",
            "login=userPrincipalName",
            "job_title=jobTitle",
        ],
    );
    let of_mailbox = [
        ("time_zone", &settings["timeZone"]),
        ("language", &settings["language"]["locale"]),
        ("working_days", &settings["workingHours"]["daysOfWeek"]),
        ("work_starts", &settings["workingHours"]["startTime"]),
        ("work_ends", &settings["workingHours"]["endTime"]),
    ];
    for (name, value) in of_mailbox {
        if !value.is_null() {
            out[name] = value.clone();
        }
    }
    Ok(out)
}

fn shown(setting: &Value) -> Value {
    let mut out = pick(
        setting,
        &[
            "status",
            "audience=externalAudience",
            "from=scheduledStartDateTime",
            "until=scheduledEndDateTime",
        ],
    );
    for (name, key) in [
        ("text", "internalReplyMessage"),
        ("external_text", "externalReplyMessage"),
    ] {
        out[name] = json!(to_text(setting[key].as_str().unwrap_or_default()).trim_end());
    }
    out
}

/// Reads whether mail is answered automatically, with what text and until when.
#[tool(effect = "read", scopes = ["MailboxSettings.Read"], keywords = ["out of office", "vacation", "auto reply"],
       example = {})]
pub fn get_automatic_replies(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    let request = graph(cx).get("/mailboxSettings");
    let answer = request
        .query("$select", "automaticRepliesSetting")
        .fetch()?;
    Ok(shown(&answer["automaticRepliesSetting"]))
}

#[derive(Args)]
pub enum Audience {
    None,
    ContactsOnly,
    All,
}

#[derive(Args)]
pub struct SetAutomaticReplies {
    /// Answer mail automatically, or stop it.
    enabled: bool,
    /// What people of the own organization get.
    #[arg(max_length = 8000)]
    text: Option<String>,
    /// What others get; the same text unless given.
    #[arg(max_length = 8000)]
    external_text: Option<String>,
    /// Which others are answered.
    #[arg(default = "all")]
    audience: Audience,
    /// First moment, in UTC; at once unless given. Needs `until`.
    #[arg(format = "date-time")]
    from: Option<String>,
    /// Last moment, in UTC; until it is stopped unless given.
    #[arg(format = "date-time")]
    until: Option<String>,
}

/// A moment as the service takes it: without the offset that its zone says again.
fn in_utc(field: &str, moment: &str) -> Result<Value, ToolError> {
    let local = moment
        .strip_suffix(['Z', 'z'])
        .or_else(|| moment.strip_suffix("+00:00"))
        .ok_or_else(|| ToolError::invalid(field, "write the moment in UTC, with `Z` at its end"))?;
    Ok(json!({ "dateTime": local, "timeZone": "UTC" }))
}

/// Answers mail automatically from now on or within a span, or stops it.
#[tool(effect = "write", idempotent, scopes = ["MailboxSettings.ReadWrite"], keywords = ["out of office", "vacation responder", "auto reply"],
       example = { "enabled": true, "text": "I am back on 7 April.", "from": "2026-03-31T00:00:00Z", "until": "2026-04-06T23:59:00Z" })]
pub fn set_automatic_replies(args: SetAutomaticReplies, cx: &Context) -> Result<Value, ToolError> {
    let mut setting = json!({ "status": "disabled" });
    if args.enabled {
        let audience = match args.audience {
            Audience::None => "none",
            Audience::ContactsOnly => "contactsOnly",
            Audience::All => "all",
        };
        setting = json!({ "status": "alwaysEnabled", "externalAudience": audience });
        if let Some(text) = &args.text {
            setting["internalReplyMessage"] = json!(text);
        }
        if let Some(text) = args.external_text.as_ref().or(args.text.as_ref()) {
            setting["externalReplyMessage"] = json!(text);
        }
        match (&args.from, &args.until) {
            (Some(from), Some(until)) => {
                setting["status"] = json!("scheduled");
                setting["scheduledStartDateTime"] = in_utc("/from", from)?;
                setting["scheduledEndDateTime"] = in_utc("/until", until)?;
            }
            (None, None) => {}
            (Some(_), None) => {
                let text = "a span has two ends: give until too";
                return Err(ToolError::invalid("/until", text));
            }
            (None, Some(_)) => {
                let text = "a span has two ends: give from too";
                return Err(ToolError::invalid("/from", text));
            }
        }
    }
    let request = graph(cx).patch("/mailboxSettings");
    let body = json!({ "automaticRepliesSetting": setting });
    let answer = request.json(&body).fetch()?;
    Ok(shown(&answer["automaticRepliesSetting"]))
}

/// Lists the categories (coloured labels) that messages can have.
#[tool(effect = "read", scopes = ["MailboxSettings.Read"], keywords = ["labels", "tags", "colours"], example = {})]
pub fn list_categories(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    let answer = graph(cx).get("/outlook/masterCategories").fetch()?;
    Ok(pick_each(
        &answer["value"],
        &["id", "name=displayName", "color"],
    ))
}

#[derive(Args)]
pub struct CreateCategory {
    /// Name of the category.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// Colour from `preset0` (red) to `preset24`, or `none`.
    #[arg(default = "none", pattern = "^(none|preset([0-9]|1[0-9]|2[0-4]))$")]
    color: String,
}

/// Adds a category (a coloured label) that messages can have.
#[tool(effect = "write", scopes = ["MailboxSettings.ReadWrite"], keywords = ["new label", "tag"],
       example = { "name": "Invoices", "color": "preset3" })]
pub fn create_category(args: CreateCategory, cx: &Context) -> Result<Value, ToolError> {
    let request = graph(cx).post("/outlook/masterCategories");
    let body = json!({ "displayName": args.name, "color": args.color });
    let made = request.json(&body).fetch()?;
    Ok(pick(&made, &["id", "name=displayName", "color"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_that_is_not_that_of_the_zone_is_refused() {
        let utc = json!({ "dateTime": "2026-03-29T02:30:00", "timeZone": "UTC" });
        for moment in ["2026-03-29T02:30:00Z", "2026-03-29T02:30:00+00:00"] {
            assert_eq!(in_utc("/from", moment).unwrap(), utc);
        }
        let refused = in_utc("/from", "2026-03-29T02:30:00+02:00").unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("/from"));
    }
}
