//! Sending, answering, drafts.

use toolgate_sdk::Blob;
use toolgate_sdk::prelude::*;

use crate::api::{gmail, next_page};
use crate::compose::{Attachment, Mail, raw};
use crate::decode::{header, overview};

/// Largest sum of attachments, in bytes; Gmail takes messages of 25 MB, a third of it encoding.
const ATTACHMENTS_BYTES_MAX: u64 = 10 * 1024 * 1024;

#[derive(Args)]
pub struct SendMessage {
    /// Recipients, each `a@b.example` or `Name <a@b.example>`.
    #[arg(min_items = 1, max_items = 100)]
    to: Vec<String>,
    /// Recipients of a copy.
    #[arg(max_items = 100)]
    cc: Option<Vec<String>>,
    /// Recipients of a copy that the others do not see.
    #[arg(max_items = 100)]
    bcc: Option<Vec<String>>,
    /// Subject.
    #[arg(max_length = 900)]
    subject: String,
    /// The message as plain text.
    text: String,
    /// The same message as HTML, for recipients that show it.
    html: Option<String>,
    /// References to files, as other tools answer them.
    #[arg(max_items = 20)]
    attachments: Option<Vec<String>>,
}

/// Sends a mail. Cannot be taken back.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/gmail.send"], keywords = ["mail", "email", "write", "compose"],
       example = { "to": ["mona@example.com"], "subject": "Hello", "text": "How are you?" })]
pub fn send_message(args: SendMessage, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "raw": raw(&mail_of(args)?, &boundary(cx))? });
    sent(&gmail(cx).post("/messages/send").json(&body).fetch()?)
}

fn sent(message: &Value) -> Result<Value, ToolError> {
    Ok(pick(
        message,
        &["id", "thread_id=threadId", "labels=labelIds"],
    ))
}

fn mail_of(args: SendMessage) -> Result<Mail, ToolError> {
    Ok(Mail {
        to: args.to,
        cc: args.cc.unwrap_or_default(),
        bcc: args.bcc.unwrap_or_default(),
        subject: args.subject,
        text: args.text,
        html: args.html,
        attachments: attachments(args.attachments.unwrap_or_default())?,
        ..Mail::default()
    })
}

fn attachments(references: Vec<String>) -> Result<Vec<Attachment>, ToolError> {
    let mut left = ATTACHMENTS_BYTES_MAX;
    let mut all = Vec::new();
    for reference in references {
        let file = Blob::open(&reference)?;
        let bytes = file.read_all(left)?;
        left -= bytes.len() as u64;
        let name = file.name().unwrap_or_else(|| "attachment".to_owned());
        all.push(Attachment {
            name,
            media_type: file.media_type(),
            bytes,
        });
    }
    Ok(all)
}

fn boundary(cx: &Context) -> String {
    let hex: String = cx
        .random_bytes(12)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("=_{hex}")
}

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
    /// References to files, as other tools answer them.
    #[arg(max_items = 20)]
    attachments: Option<Vec<String>>,
}

/// Answers a mail in its conversation: recipient, subject and references are taken from it.
#[tool(effect = "write",
       scopes = ["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.send"],
       keywords = ["answer", "respond", "mail", "email"],
       example = { "message_id": "18c2f0a1b2c3d4e5", "text": "Yes, gladly." })]
pub fn reply_to_message(args: ReplyToMessage, cx: &Context) -> Result<Value, ToolError> {
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
    let body = json!({ "raw": raw(&mail, &boundary(cx))?, "threadId": original["threadId"] });
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

/// Writes a draft, to be looked at and sent later.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/gmail.compose"], keywords = ["mail", "email", "prepare"],
       example = { "to": ["mona@example.com"], "subject": "Offer", "text": "Dear Mona, ..." })]
pub fn create_draft(args: SendMessage, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "message": { "raw": raw(&mail_of(args)?, &boundary(cx))? } });
    let draft = gmail(cx).post("/drafts").json(&body).fetch()?;
    Ok(pick(
        &draft,
        &[
            "draft_id=id",
            "message_id=message/id",
            "thread_id=message/threadId",
        ],
    ))
}

#[derive(Args)]
pub struct ListDrafts {
    /// Gmail's search within drafts.
    #[arg(max_length = 1000)]
    query: Option<String>,
    /// Drafts on a page.
    #[arg(min = 1, max = 40, default = 15)]
    limit: u32,
}

/// Lists drafts with recipient, subject and beginning.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["unsent", "mail"],
       example = {})]
pub fn list_drafts(args: ListDrafts, cx: &Context) -> Result<Output, ToolError> {
    let request = gmail(cx)
        .get("/drafts")
        .query("q", args.query)
        .query("maxResults", args.limit);
    let answer = request.query("pageToken", cx.cursor()).fetch()?;
    let ids = answer["drafts"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let requests = ids
        .iter()
        .filter_map(|draft| draft["id"].as_str())
        .map(|id| {
            gmail(cx)
                .get(path!("/drafts/{}", id))
                .query("format", "metadata")
        });
    let mut drafts = Vec::new();
    for answer in toolgate_sdk::http::send_all(requests.collect()) {
        let draft = answer?.json()?;
        let mut shown = overview(&draft["message"]);
        shown["draft_id"] = draft["id"].clone();
        drafts.push(shown);
    }
    Output::page(drafts, next_page(&answer))
}

#[derive(Args)]
pub struct SendDraft {
    /// Id of the draft, as gmail_list_drafts and gmail_create_draft show it.
    draft_id: String,
}

/// Sends a draft as it is. Cannot be taken back.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/gmail.compose"], keywords = ["mail", "email"],
       example = { "draft_id": "r1" })]
pub fn send_draft(args: SendDraft, cx: &Context) -> Result<Value, ToolError> {
    sent(
        &gmail(cx)
            .post("/drafts/send")
            .json(&json!({ "id": args.draft_id }))
            .fetch()?,
    )
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
