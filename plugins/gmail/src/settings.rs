//! Settings of the mailbox: absence notes, sender addresses, forwarding, delegates.

use toolgate_sdk::prelude::*;

use crate::api::gmail;

/// Milliseconds of a day.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Midnight (UTC) of `2026-07-01` in milliseconds since 1970.
fn midnight_ms(date: &str) -> Option<i64> {
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days from 1970 with years that begin in March, so that leap days are last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * DAY_MS)
}

/// The day of a moment in milliseconds, for people to read.
fn day_of(ms: &Value) -> Option<String> {
    let ms: i64 = ms.as_str()?.parse().ok()?;
    let days = ms.div_euclid(DAY_MS) + 719_468;
    let era = days.div_euclid(146_097);
    let rest = days.rem_euclid(146_097);
    let years = (rest - rest / 1460 + rest / 36_524 - rest / 146_096) / 365;
    let day_of_year = rest - (365 * years + years / 4 - years / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 {
        (years, month + 3)
    } else {
        (years + 1, month - 9)
    };
    Some(format!("{:04}-{month:02}-{day:02}", year + era * 400))
}

fn vacation(settings: &Value) -> Value {
    let fields = [
        "on=enableAutoReply",
        "subject=responseSubject",
        "text=responseBodyPlainText",
        "html=responseBodyHtml",
        "contacts_only=restrictToContacts",
        "organization_only=restrictToDomain",
    ];
    let mut out = pick(settings, &fields);
    if let Some(day) = day_of(&settings["startTime"]) {
        out["from"] = json!(day);
    }
    if let Some(day) = day_of(&settings["endTime"]) {
        out["until"] = json!(day);
    }
    out
}

/// Reads the automatic answer for times of absence: whether it is on, its text and its days.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["out of office", "vacation responder", "absence", "auto reply"], example = {})]
pub fn get_vacation_responder(cx: &Context) -> Result<Value, ToolError> {
    Ok(vacation(&gmail(cx).get("/settings/vacation").fetch()?))
}

#[derive(Args)]
pub struct UpdateVacationResponder {
    /// Whether mail is answered automatically.
    on: bool,
    /// Subject of the answer; that of the mail unless given.
    #[arg(max_length = 900)]
    subject: Option<String>,
    /// The answer as plain text; required to turn it on.
    #[arg(max_length = 20000)]
    text: Option<String>,
    /// First day (UTC) of the absence.
    #[arg(format = "date")]
    from: Option<String>,
    /// Last day (UTC) of the absence, included.
    #[arg(format = "date")]
    until: Option<String>,
    /// Answer only people who are among the contacts.
    #[arg(default = false)]
    contacts_only: bool,
    /// Answer only people of the same organization.
    #[arg(default = false)]
    organization_only: bool,
}

/// Turns the automatic answer for times of absence on or off and sets its text and days.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.settings.basic"], keywords = ["out of office", "vacation", "away message", "holiday", "auto reply"],
       example = { "on": true, "subject": "Away", "text": "I am back on July 15.", "from": "2026-07-01", "until": "2026-07-14" })]
pub fn update_vacation_responder(
    args: UpdateVacationResponder,
    cx: &Context,
) -> Result<Value, ToolError> {
    if args.on && args.text.as_deref().unwrap_or_default().trim().is_empty() {
        return Err(ToolError::invalid(
            "/text",
            "an automatic answer needs a text",
        ));
    }
    let mut body = json!({
        "enableAutoReply": args.on,
        "restrictToContacts": args.contacts_only,
        "restrictToDomain": args.organization_only,
    });
    for (key, value) in [
        ("responseSubject", args.subject),
        ("responseBodyPlainText", args.text),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    for (key, field, date, days_more) in [
        ("startTime", "/from", &args.from, 0),
        ("endTime", "/until", &args.until, 1),
    ] {
        if let Some(date) = date {
            let ms = midnight_ms(date);
            let ms = ms.ok_or_else(|| ToolError::invalid(field, "expected a day `2026-07-01`"))?;
            // The end is the beginning of the day after the last one.
            body[key] = json!((ms + days_more * DAY_MS).to_string());
        }
    }
    let mut out = vacation(&gmail(cx).put("/settings/vacation").json(&body).fetch()?);
    if let Some(last) = args.until {
        out["until"] = json!(last);
    }
    Ok(out)
}

const SENDER: &[&str] = &[
    "email=sendAsEmail",
    "name=displayName",
    "reply_to=replyToAddress",
    "signature",
    "default=isDefault",
    "status=verificationStatus",
];

/// Lists the addresses as which the account may send, each with name and signature (HTML).
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["aliases", "send as", "signature", "from address"], example = {})]
pub fn list_senders(cx: &Context) -> Result<Value, ToolError> {
    let answer = gmail(cx).get("/settings/sendAs").fetch()?;
    Ok(pick_each(&answer["sendAs"], SENDER))
}

#[derive(Args)]
pub struct UpdateSignature {
    /// The sender address, as gmail_list_senders shows it.
    #[arg(pattern = "^[^@ ]+@[^@ ]+$")]
    email: String,
    /// The signature as HTML; empty removes it.
    #[arg(max_length = 10000)]
    signature: String,
}

/// Sets the signature that Gmail adds to mail of one sender address.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.settings.basic"], keywords = ["mail footer", "sign off"],
       example = { "email": "mona@example.com", "signature": "Mona Lisa<br>Example GmbH" })]
pub fn update_signature(args: UpdateSignature, cx: &Context) -> Result<Value, ToolError> {
    let request = gmail(cx).patch(path!("/settings/sendAs/{}", args.email));
    let changed = request
        .json(&json!({ "signature": args.signature }))
        .fetch()?;
    Ok(pick(&changed, SENDER))
}

/// Lists the addresses to which mail may be forwarded, with their state of confirmation, and what is forwarded now.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["auto forward", "redirect"], example = {})]
pub fn list_forwarding_addresses(cx: &Context) -> Result<Value, ToolError> {
    let answer = gmail(cx).get("/settings/forwardingAddresses").fetch()?;
    let now = gmail(cx).get("/settings/autoForwarding").fetch()?;
    let fields = ["email=forwardingEmail", "status=verificationStatus"];
    Ok(json!({
        "addresses": pick_each(&answer["forwardingAddresses"], &fields),
        "forwarding": pick(&now, &["on=enabled", "to=emailAddress", "then=disposition"]),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_both_ways() {
        for (date, days) in [
            ("1970-01-01", 0),
            ("2000-03-01", 11_017),
            ("2024-02-29", 19_782),
        ] {
            let ms = days * DAY_MS;
            assert_eq!(midnight_ms(date), Some(ms));
            assert_eq!(day_of(&json!(ms.to_string())).as_deref(), Some(date));
        }
        for wrong in ["2026", "2026-13-01", "tomorrow", "2026-1-99"] {
            assert_eq!(midnight_ms(wrong), None, "{wrong}");
        }
    }
}
