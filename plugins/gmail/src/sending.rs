//! Sending mail.

use toolgate_sdk::Blob;
use toolgate_sdk::prelude::*;

use crate::api::gmail;
use crate::compose::{Attachment, Mail, raw};

/// Largest sum of attachments, in bytes; Gmail takes messages of 25 MB, a third of it encoding.
pub const ATTACHMENTS_BYTES_MAX: u64 = 10 * 1024 * 1024;

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
    /// Files: their handles (`file_...`), or data URLs.
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

pub fn sent(message: &Value) -> Result<Value, ToolError> {
    Ok(pick(
        message,
        &["id", "thread_id=threadId", "labels=labelIds"],
    ))
}

pub fn mail_of(args: SendMessage) -> Result<Mail, ToolError> {
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

pub fn attachments(references: Vec<String>) -> Result<Vec<Attachment>, ToolError> {
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

pub fn boundary(cx: &Context) -> String {
    let hex: String = cx
        .random_bytes(12)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("=_{hex}")
}
