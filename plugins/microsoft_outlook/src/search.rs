//! Outlook's search, written from plain arguments.

use toolgate_sdk::prelude::*;

use crate::api::{graph, next_page, page};
use crate::mail::{OVERVIEW, overview};

#[derive(Args)]
pub struct SearchMessages {
    /// Words that stand in subject, text or attachments.
    #[arg(max_length = 500)]
    query: Option<String>,
    /// Name or mail address of the sender.
    from: Option<String>,
    /// Name or mail address of somebody who got it.
    to: Option<String>,
    /// Words in the subject.
    subject: Option<String>,
    /// Received on this day or later.
    #[arg(format = "date")]
    after: Option<String>,
    /// Received before this day.
    #[arg(format = "date")]
    before: Option<String>,
    /// Only messages with attachments, or only those without.
    has_attachments: Option<bool>,
    /// Messages on a page.
    #[arg(min = 1, max = 100, default = 20)]
    limit: u32,
}

/// A value that cannot leave its place in the search: quotes and brackets go.
fn plain(text: &str) -> String {
    let kept = text
        .chars()
        .map(|c| if "\"()\\".contains(c) { ' ' } else { c });
    let kept: String = kept.collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The search in Keyword Query Language.
fn kql(args: &SearchMessages) -> Result<String, ToolError> {
    let mut all = Vec::new();
    if let Some(words) = args
        .query
        .as_deref()
        .map(plain)
        .filter(|text| !text.is_empty())
    {
        all.push(words);
    }
    for (name, value) in [
        ("from", &args.from),
        ("to", &args.to),
        ("subject", &args.subject),
    ] {
        if let Some(text) = value.as_deref().map(plain).filter(|text| !text.is_empty()) {
            let text = if text.contains(' ') {
                format!("({text})")
            } else {
                text
            };
            all.push(format!("{name}:{text}"));
        }
    }
    for (sign, day) in [(">=", &args.after), ("<", &args.before)] {
        if let Some(day) = day {
            all.push(format!("received{sign}{}", plain(day)));
        }
    }
    if let Some(has) = args.has_attachments {
        all.push(format!("hasattachments:{}", if has { "yes" } else { "no" }));
    }
    if all.is_empty() {
        return Err(ToolError::invalid("/query", "say what to look for"));
    }
    Ok(all.join(" AND "))
}

/// Finds messages by words, sender, recipient, subject, days or attachments, best match first.
#[tool(effect = "read", paginated, scopes = ["Mail.Read"], keywords = ["find", "look for", "email", "inbox"],
       example = { "query": "invoice", "from": "anna@example.com", "after": "2026-03-01" })]
pub fn search_messages(args: SearchMessages, cx: &Context) -> Result<Output, ToolError> {
    let answer = match cx.cursor() {
        Some(cursor) => graph(cx).get(page(cursor)?).fetch()?,
        None => graph(cx)
            .get("/messages")
            .query("$search", format!("\"{}\"", kql(&args)?))
            .query("$select", OVERVIEW)
            .query("$top", args.limit)
            .fetch()?,
    };
    let found = answer["value"].as_array().into_iter().flatten();
    let found: Vec<Value> = found.map(overview).collect();
    Output::page(found, next_page(&answer))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn words_cannot_leave_their_place() {
        assert_eq!(plain(" net \"total\") OR from:(x "), "net total OR from: x");
    }
}
