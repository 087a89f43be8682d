//! Writing mail: sending, answering, forwarding, drafts.

use toolgate_sdk::prelude::*;

use crate::api::graph;
use crate::mail::{attachments, body, overview, recipients};

#[derive(Args)]
pub struct Mail {
    /// Mail addresses, `a@b.example` or `Name <a@b.example>`.
    #[arg(min_items = 1, max_items = 200)]
    to: Vec<String>,
    /// Those who get a copy.
    #[arg(max_items = 200)]
    cc: Option<Vec<String>>,
    /// Those who get a copy that nobody else sees.
    #[arg(max_items = 200)]
    bcc: Option<Vec<String>>,
    /// Subject line.
    #[arg(max_length = 255)]
    subject: String,
    /// The message as plain text.
    text: String,
    /// The same message as HTML, in place of the text.
    html: Option<String>,
    /// Files, 3 MB in all: their handles (`file_...`), or data URLs.
    #[arg(max_items = 20)]
    attachments: Option<Vec<String>>,
    /// How important it is shown.
    importance: Option<Importance>,
    /// Moment at which it is sent, in UTC; at once unless given.
    #[arg(format = "date-time", pattern = "^[0-9TtZz:.+-]+$")]
    send_at: Option<String>,
}

/// How important a message is shown.
#[derive(Args)]
pub enum Importance {
    Low,
    Normal,
    High,
}

/// The property of Exchange that holds a message back until a moment (PidTagDeferredSendTime, MS-OXOMSG 2.2.3.6).
const DEFERRED_SEND_TIME: &str = "SystemTime 0x3FEF";

fn message(mail: &Mail) -> Result<Value, ToolError> {
    let mut out = json!({
        "subject": mail.subject, "body": body(&mail.text, mail.html.as_deref()),
        "toRecipients": recipients(&mail.to, "to")?,
    });
    for (key, list, field) in [
        ("ccRecipients", &mail.cc, "cc"),
        ("bccRecipients", &mail.bcc, "bcc"),
    ] {
        if let Some(list) = list {
            out[key] = json!(recipients(list, field)?);
        }
    }
    let files = attachments(mail.attachments.as_deref().unwrap_or_default())?;
    if !files.is_empty() {
        out["attachments"] = json!(files);
    }
    if let Some(importance) = &mail.importance {
        out["importance"] = json!(importance);
    }
    if let Some(moment) = &mail.send_at {
        out["singleValueExtendedProperties"] =
            json!([{ "id": DEFERRED_SEND_TIME, "value": moment }]);
    }
    Ok(out)
}

/// Sends a mail, as text or HTML, with files, at once or at a set moment. Cannot be taken back.
#[tool(effect = "write", scopes = ["Mail.Send"], keywords = ["email", "write", "compose", "message", "schedule send", "send later"],
       example = { "to": ["anna@example.com"], "subject": "Offer", "text": "Dear Anna, ..." })]
pub fn send_mail(args: Mail, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "message": message(&args)?, "saveToSentItems": true });
    graph(cx).post("/sendMail").json(&body).send()?;
    Ok(json!({ "sent": true, "to": args.to, "subject": args.subject }))
}

/// Writes a draft, to be looked at and sent later.
#[tool(effect = "write", scopes = ["Mail.ReadWrite"], keywords = ["prepare mail", "compose", "email"],
       example = { "to": ["anna@example.com"], "subject": "Offer", "text": "Dear Anna, ..." })]
pub fn create_draft(args: Mail, cx: &Context) -> Result<Value, ToolError> {
    let made = graph(cx).post("/messages").json(&message(&args)?).fetch()?;
    Ok(overview(&made))
}

#[derive(Args)]
pub struct SendDraft {
    /// Id of the draft.
    #[arg(min_length = 1)]
    message: String,
}

/// Sends a draft as it is. Cannot be taken back.
#[tool(effect = "write", scopes = ["Mail.Send"], keywords = ["email"], example = { "message": "AAMkAGI1" })]
pub fn send_draft(args: SendDraft, cx: &Context) -> Result<Value, ToolError> {
    graph(cx)
        .post(path!("/messages/{}/send", args.message))
        .send()?;
    Ok(json!({ "sent": true, "message": args.message }))
}

#[derive(Args)]
pub struct Reply {
    /// Id of the message to answer.
    #[arg(min_length = 1)]
    message: String,
    /// The answer as plain text; the old message is quoted below.
    #[arg(min_length = 1)]
    text: String,
    /// Files, 3 MB in all: their handles (`file_...`), or data URLs.
    #[arg(max_items = 20)]
    attachments: Option<Vec<String>>,
}

fn answer(args: &Reply, action: &str, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({ "comment": args.text });
    let files = attachments(args.attachments.as_deref().unwrap_or_default())?;
    if !files.is_empty() {
        body["message"] = json!({ "attachments": files });
    }
    let request = graph(cx).post(path!("/messages/{}/{}", args.message, action));
    request.json(&body).send()?;
    Ok(json!({ "sent": true, "answered": args.message }))
}

/// Answers the sender of a message, in its conversation.
#[tool(effect = "write", scopes = ["Mail.Send"], keywords = ["respond", "answer email"], example = { "message": "AAMkAGI1", "text": "Yes, gladly." })]
pub fn reply(args: Reply, cx: &Context) -> Result<Value, ToolError> {
    answer(&args, "reply", cx)
}

/// Answers the sender and everybody else who got a message.
#[tool(effect = "write", scopes = ["Mail.Send"], keywords = ["respond", "answer everyone"], example = { "message": "AAMkAGI1", "text": "Agreed." })]
pub fn reply_all(args: Reply, cx: &Context) -> Result<Value, ToolError> {
    answer(&args, "replyAll", cx)
}

#[derive(Args)]
pub struct Forward {
    /// Id of the message.
    #[arg(min_length = 1)]
    message: String,
    /// Mail addresses of those who shall get it.
    #[arg(min_items = 1, max_items = 200)]
    to: Vec<String>,
    /// What stands above it.
    #[arg(default = "")]
    text: String,
}

/// Forwards a message with its attachments.
#[tool(effect = "write", scopes = ["Mail.Send"], keywords = ["pass on", "send on"], example = { "message": "AAMkAGI1", "to": ["anna@example.com"], "text": "For you." })]
pub fn forward_message(args: Forward, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "comment": args.text, "toRecipients": recipients(&args.to, "to")? });
    let request = graph(cx).post(path!("/messages/{}/forward", args.message));
    request.json(&body).send()?;
    Ok(json!({ "sent": true, "forwarded": args.message, "to": args.to }))
}
