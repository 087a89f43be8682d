//! Drafts: mail that waits to be sent.

use toolgate_sdk::prelude::*;

use crate::api::{gmail, next_page};
use crate::compose::{Mail, raw};
use crate::decode::{overview, whole};
use crate::sending::{SendMessage, attachments, boundary, mail_of, sent};

/// Writes a draft, to be looked at and sent later.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/gmail.compose"], keywords = ["mail", "email", "prepare"],
       example = { "to": ["mona@example.com"], "subject": "Offer", "text": "Dear Mona, ..." })]
pub fn create_draft(args: SendMessage, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "message": { "raw": raw(&mail_of(args)?, &boundary(cx))? } });
    Ok(drafted(&gmail(cx).post("/drafts").json(&body).fetch()?))
}

/// A draft as tools return it after a change.
pub fn drafted(draft: &Value) -> Value {
    let fields = [
        "draft_id=id",
        "message_id=message/id",
        "thread_id=message/threadId",
    ];
    pick(draft, &fields)
}

#[derive(Args)]
pub struct OneDraft {
    /// Id of the draft, as gmail_list_drafts and gmail_create_draft show it.
    draft_id: String,
}

/// Reads a draft: recipients, subject, text and a list of its attachments.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["open draft", "unsent mail"], example = { "draft_id": "r1" })]
pub fn get_draft(args: OneDraft, cx: &Context) -> Result<Value, ToolError> {
    let request = gmail(cx).get(path!("/drafts/{}", args.draft_id));
    let draft = request.query("format", "full").fetch()?;
    let mut out = whole(&draft["message"]);
    out["draft_id"] = draft["id"].clone();
    Ok(out)
}

#[derive(Args)]
pub struct UpdateDraft {
    /// Id of the draft, as gmail_list_drafts and gmail_create_draft show it.
    draft_id: String,
    /// Recipients, each `a@b.example` or `Name <a@b.example>`.
    #[arg(min_items = 1, max_items = 100)]
    to: Vec<String>,
    /// Recipients of a copy.
    #[arg(max_items = 100)]
    cc: Option<Vec<String>>,
    /// Subject.
    #[arg(max_length = 900)]
    subject: String,
    /// The message as plain text.
    text: String,
    /// Files: their handles (`file_...`), or data URLs.
    #[arg(max_items = 20)]
    attachments: Option<Vec<String>>,
}

/// Replaces a draft: its recipients, subject, text and attachments. It stays in its conversation.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.readonly", "https://www.googleapis.com/auth/gmail.compose"], keywords = ["edit draft", "rewrite"],
       example = { "draft_id": "r1", "to": ["mona@example.com"], "subject": "Offer", "text": "Dear Mona, ..." })]
pub fn update_draft(args: UpdateDraft, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/drafts/{}", args.draft_id);
    let old = gmail(cx)
        .get(address.clone())
        .query("format", "minimal")
        .fetch()?;
    let mail = Mail {
        to: args.to,
        cc: args.cc.unwrap_or_default(),
        subject: args.subject,
        text: args.text,
        attachments: attachments(args.attachments.unwrap_or_default())?,
        ..Mail::default()
    };
    let raw = raw(&mail, &boundary(cx))?;
    let body = json!({ "message": { "raw": raw, "threadId": old["message"]["threadId"] } });
    Ok(drafted(&gmail(cx).put(address).json(&body).fetch()?))
}

/// Deletes a draft for good.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.compose"], keywords = ["discard draft", "remove"], example = { "draft_id": "r1" })]
pub fn delete_draft(args: OneDraft, cx: &Context) -> Result<Value, ToolError> {
    gmail(cx)
        .delete(path!("/drafts/{}", args.draft_id))
        .send()?;
    Ok(json!({ "draft_id": args.draft_id, "deleted": true }))
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

/// Sends a draft as it is. Cannot be taken back.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/gmail.compose"], keywords = ["mail", "email"],
       example = { "draft_id": "r1" })]
pub fn send_draft(args: OneDraft, cx: &Context) -> Result<Value, ToolError> {
    sent(
        &gmail(cx)
            .post("/drafts/send")
            .json(&json!({ "id": args.draft_id }))
            .fetch()?,
    )
}
