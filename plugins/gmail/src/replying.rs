//! Answering and forwarding mail.

use toolgate_sdk::prelude::*;

use crate::api::gmail;
use crate::compose::{Attachment, Mail, raw};
use crate::decode::{bytes_of, header, whole};
use crate::drafts::drafted;
use crate::sending::{ATTACHMENTS_BYTES_MAX, attachments, boundary, sent};

#[derive(Args)]
pub struct ReplyToMessage {
    /// Id of the message to answer.
    message_id: String,
    /// The answer as plain text.
    #[arg(min_length = 1)]
    text: String,
    /// The same answer as HTML.
    html: Option<String>,
    /// Also to everybody else who got the message.
    #[arg(default = false)]
    reply_all: bool,
    /// Files: their handles (`file_...`), or data URLs.
    #[arg(max_items = 20)]
    attachments: Option<Vec<String>>,
}

/// Answers a mail in its conversation: recipient, subject and references are taken from it.
#[tool(effect = "write",
       scopes = ["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.send"],
       keywords = ["answer", "respond", "mail", "email"],
       example = { "message_id": "18c2f0a1b2c3d4e5", "text": "Yes, gladly." })]
pub fn reply_to_message(args: ReplyToMessage, cx: &Context) -> Result<Value, ToolError> {
    let body = answer_to(args, cx)?;
    sent(&gmail(cx).post("/messages/send").json(&body).fetch()?)
}

/// The answer as the Gmail API takes it, with the conversation that it belongs to.
fn answer_to(args: ReplyToMessage, cx: &Context) -> Result<Value, ToolError> {
    let request = gmail(cx)
        .get(path!("/messages/{}", args.message_id))
        .query("format", "metadata");
    let names = [
        "From",
        "Reply-To",
        "To",
        "Cc",
        "Subject",
        "Message-ID",
        "References",
    ];
    let request = names.iter().fold(request, |request, name| {
        request.query("metadataHeaders", *name)
    });
    let original = request.fetch()?;
    let of = |name: &str| header(&original["payload"], name);

    let own = if args.reply_all {
        own_address(cx)?
    } else {
        String::new()
    };
    let to = of("Reply-To").or_else(|| of("From")).unwrap_or_default();
    let mut mail = Mail {
        to: addresses(&to),
        subject: answered(&of("Subject").unwrap_or_default()),
        text: args.text,
        html: args.html,
        in_reply_to: of("Message-ID"),
        references: references(of("References"), of("Message-ID")),
        attachments: attachments(args.attachments.unwrap_or_default())?,
        ..Mail::default()
    };
    if args.reply_all {
        let others = [of("To"), of("Cc")]
            .into_iter()
            .flatten()
            .flat_map(|all| addresses(&all));
        let known = mail.to.clone();
        mail.cc = others
            .filter(|one| one.contains('@') && !known.contains(one))
            .filter(|one| !one.to_lowercase().contains(&own))
            .collect();
    }
    Ok(json!({ "raw": raw(&mail, &boundary(cx))?, "threadId": original["threadId"] }))
}

/// Writes an answer as a draft in its conversation, to be looked at and sent later.
#[tool(effect = "write",
       scopes = ["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.compose"],
       keywords = ["prepare answer", "draft response"],
       example = { "message_id": "18c2f0a1b2c3d4e5", "text": "Yes, gladly." })]
pub fn create_reply_draft(args: ReplyToMessage, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "message": answer_to(args, cx)? });
    Ok(drafted(&gmail(cx).post("/drafts").json(&body).fetch()?))
}

#[derive(Args)]
pub struct ForwardMessage {
    /// Id of the message to forward.
    message_id: String,
    /// Recipients, each `a@b.example` or `Name <a@b.example>`.
    #[arg(min_items = 1, max_items = 100)]
    to: Vec<String>,
    /// What to say above the forwarded message, as plain text.
    #[arg(default = "")]
    text: String,
    /// Also send its attachments, together at most 10 MiB.
    #[arg(default = true)]
    attachments: bool,
}

/// Forwards a mail with its text and attachments to other people. Cannot be taken back.
#[tool(effect = "write",
       scopes = ["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.send"],
       keywords = ["send on", "pass on", "fwd", "share mail"],
       example = { "message_id": "18c2f0a1b2c3d4e5", "to": ["anna@example.com"], "text": "For your information." })]
pub fn forward_message(args: ForwardMessage, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/messages/{}", args.message_id);
    let request = gmail(cx).get(address).query("format", "full");
    let original = whole(&request.fetch()?);
    let of = |key: &str| original[key].as_str().unwrap_or_default();
    let mut files = Vec::new();
    let mut left = ATTACHMENTS_BYTES_MAX;
    let listed = original["attachments"].as_array().into_iter().flatten();
    for one in listed.filter(|_| args.attachments) {
        let id = one["attachment_id"].as_str().unwrap_or_default();
        let address = path!("/messages/{}/attachments/{}", args.message_id, id);
        let answer = gmail(cx).get(address).fetch()?;
        let bytes = answer["data"].as_str().and_then(bytes_of);
        let bytes = bytes.ok_or_else(|| ToolError::upstream("an attachment cannot be decoded"))?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            let text = "the attachments are larger than 10 MiB; forward without them";
            ToolError::new(ErrorKind::TooLarge, text)
        })?;
        files.push(Attachment {
            name: one["name"].as_str().unwrap_or("attachment").to_owned(),
            media_type: one["media_type"]
                .as_str()
                .unwrap_or("application/octet-stream")
                .to_owned(),
            bytes,
        });
    }
    let subject = of("subject")
        .split(['\r', '\n'])
        .collect::<Vec<_>>()
        .join(" ");
    let subject = if subject.to_lowercase().starts_with("fwd:") {
        subject
    } else {
        format!("Fwd: {subject}")
    };
    let mail = Mail {
        to: args.to,
        subject,
        text: format!(
            "{}\n\n---------- Forwarded message ---------\nFrom: {}\nDate: {}\nSubject: {}\nTo: {}\n\n{}",
            args.text,
            of("from"),
            of("date"),
            of("subject"),
            of("to"),
            of("text"),
        ),
        attachments: files,
        ..Mail::default()
    };
    let body = json!({ "raw": raw(&mail, &boundary(cx))? });
    sent(&gmail(cx).post("/messages/send").json(&body).fetch()?)
}

fn own_address(cx: &Context) -> Result<String, ToolError> {
    let profile = gmail(cx).get("/profile").fetch()?;
    Ok(profile["emailAddress"]
        .as_str()
        .unwrap_or_default()
        .to_lowercase())
}

fn answered(subject: &str) -> String {
    let subject = subject.split(['\r', '\n']).collect::<Vec<_>>().join(" ");
    if subject.to_lowercase().starts_with("re:") {
        subject
    } else {
        format!("Re: {subject}")
    }
}

fn references(before: Option<String>, last: Option<String>) -> Option<String> {
    let all: Vec<String> = [before, last].into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// The addresses of a header; a comma within quotes does not separate.
fn addresses(header: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut quoted = false;
    for c in header.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = all.last_mut() {
            last.push(if c == '\r' || c == '\n' { ' ' } else { c });
        }
    }
    all.into_iter()
        .map(|one| one.trim().to_owned())
        .filter(|one| !one.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_apart() {
        for (header, expected) in [
            ("a@example.com", &["a@example.com"][..]),
            (
                "\"Smith, J.\" <j@example.com>, b@example.com",
                &["\"Smith, J.\" <j@example.com>", "b@example.com"],
            ),
            ("", &[]),
        ] {
            assert_eq!(addresses(header), expected, "{header}");
        }
    }

    #[test]
    fn a_subject_is_answered_once() {
        assert_eq!(answered("Hello"), "Re: Hello");
        assert_eq!(answered("RE: Hello"), "RE: Hello");
    }
}
