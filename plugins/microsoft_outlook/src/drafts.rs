//! Drafts of answers, and drafts that are changed before they are sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgate_sdk::Blob;
use toolgate_sdk::prelude::*;

use crate::api::graph;
use crate::mail::{body, overview, recipients};

/// Largest file that one request adds to a draft (docs: add attachment).
const FILE_BYTES_MAX: u64 = 3 * 1024 * 1024;

#[derive(Args)]
pub struct CreateReplyDraft {
    /// Id of the message to answer.
    #[arg(min_length = 1)]
    message: String,
    /// The answer as plain text; the old message is quoted below.
    text: String,
    /// Answer everybody who got the message, not only its sender.
    #[arg(default = false)]
    all: bool,
}

/// Writes a draft that answers a message, to be looked at and sent later with microsoft_outlook_send_draft.
#[tool(effect = "write", scopes = ["Mail.ReadWrite"], keywords = ["prepare answer", "draft response", "email"],
       example = { "message": "AAMkAGI1", "text": "Yes, gladly." })]
pub fn create_reply_draft(args: CreateReplyDraft, cx: &Context) -> Result<Value, ToolError> {
    let action = if args.all {
        "createReplyAll"
    } else {
        "createReply"
    };
    let request = graph(cx).post(path!("/messages/{}/{}", args.message, action));
    let made = request.json(&json!({ "comment": args.text })).fetch()?;
    Ok(overview(&made))
}

#[derive(Args)]
pub struct CreateForwardDraft {
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

/// Writes a draft that forwards a message with its attachments, to be sent later with microsoft_outlook_send_draft.
#[tool(effect = "write", scopes = ["Mail.ReadWrite"], keywords = ["prepare forward", "pass on"],
       example = { "message": "AAMkAGI1", "to": ["anna@example.com"], "text": "For you." })]
pub fn create_forward_draft(args: CreateForwardDraft, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "comment": args.text, "toRecipients": recipients(&args.to, "to")? });
    let request = graph(cx).post(path!("/messages/{}/createForward", args.message));
    Ok(overview(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct UpdateDraft {
    /// Id of the draft.
    #[arg(min_length = 1)]
    message: String,
    /// All who shall get it, `a@b.example` or `Name <a@b.example>`.
    #[arg(max_items = 200)]
    to: Option<Vec<String>>,
    /// All who get a copy.
    #[arg(max_items = 200)]
    cc: Option<Vec<String>>,
    /// All who get a copy that nobody else sees.
    #[arg(max_items = 200)]
    bcc: Option<Vec<String>>,
    /// New subject line.
    #[arg(max_length = 255)]
    subject: Option<String>,
    /// New text.
    text: Option<String>,
    /// New text as HTML, in place of the text.
    html: Option<String>,
}

/// Changes recipients, subject or text of a draft; fields left out stay as they are.
#[tool(effect = "write", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["edit draft", "rewrite", "email"],
       example = { "message": "AAMkAGI1", "subject": "Offer, corrected" })]
pub fn update_draft(args: UpdateDraft, cx: &Context) -> Result<Value, ToolError> {
    let mut change = json!({});
    for (key, list, field) in [
        ("toRecipients", &args.to, "to"),
        ("ccRecipients", &args.cc, "cc"),
        ("bccRecipients", &args.bcc, "bcc"),
    ] {
        if let Some(list) = list {
            change[key] = json!(recipients(list, field)?);
        }
    }
    if let Some(subject) = &args.subject {
        change["subject"] = json!(subject);
    }
    if args.text.is_some() || args.html.is_some() {
        let text = args.text.as_deref().unwrap_or_default();
        change["body"] = body(text, args.html.as_deref());
    }
    if change == json!({}) {
        return Err(ToolError::invalid("", "say what shall change"));
    }
    let request = graph(cx).patch(path!("/messages/{}", args.message));
    Ok(overview(&request.json(&change).fetch()?))
}

#[derive(Args)]
pub struct AddAttachment {
    /// Id of the draft.
    #[arg(min_length = 1)]
    message: String,
    /// The file, 3 MB at most: its handle (`file_...`), or a data URL.
    content: String,
    /// Name with its ending; the file's own unless given.
    #[arg(min_length = 1, max_length = 255)]
    name: Option<String>,
}

/// Adds a file to a draft.
#[tool(effect = "write", scopes = ["Mail.ReadWrite"], keywords = ["attach file", "upload", "enclose"],
       example = { "message": "AAMkAGI1", "content": "data:text/plain;name=hello.txt;base64,aGVsbG8=" })]
pub fn add_attachment(args: AddAttachment, cx: &Context) -> Result<Value, ToolError> {
    let file = Blob::open(&args.content)?;
    let bytes = file.read_all(FILE_BYTES_MAX)?;
    let name = args.name.or_else(|| file.name());
    let attachment = json!({
        "@odata.type": "#microsoft.graph.fileAttachment",
        "name": name.unwrap_or_else(|| "attachment".to_owned()),
        "contentType": file.media_type(),
        "contentBytes": STANDARD.encode(bytes),
    });
    let request = graph(cx).post(path!("/messages/{}/attachments", args.message));
    let made = request.json(&attachment).fetch()?;
    Ok(pick(
        &made,
        &["id", "name", "media_type=contentType", "bytes=size"],
    ))
}
