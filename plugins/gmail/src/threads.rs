//! Conversations.

use toolgate_sdk::html;
use toolgate_sdk::prelude::*;

use crate::api::{gmail, next_page};
use crate::decode::{header, whole};
use crate::labels::label_ids;

#[derive(Args)]
pub struct SearchThreads {
    /// Gmail's search, for example `subject:invoice label:important`; all mail unless given.
    #[arg(max_length = 1000)]
    query: Option<String>,
    /// Only conversations with all of these label ids.
    #[arg(max_items = 10)]
    label_ids: Option<Vec<String>>,
    /// Conversations on a page.
    #[arg(min = 1, max = 100, default = 20)]
    limit: u32,
}

/// Finds conversations, newest first, with the beginning of their newest message.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["find", "conversations", "mail", "email"],
       example = { "query": "subject:invoice" })]
pub fn search_threads(args: SearchThreads, cx: &Context) -> Result<Output, ToolError> {
    let answer = gmail(cx)
        .get("/threads")
        .query("q", args.query)
        .query("labelIds", args.label_ids)
        .query("maxResults", args.limit)
        .query("pageToken", cx.cursor())
        .fetch()?;
    let threads = answer["threads"].as_array().into_iter().flatten();
    let threads: Vec<Value> = threads
        .map(|thread| {
            let snippet = html::to_text(thread["snippet"].as_str().unwrap_or_default());
            json!({ "thread_id": thread["id"], "snippet": snippet })
        })
        .collect();
    Output::page(threads, next_page(&answer))
}

#[derive(Args)]
pub struct GetThread {
    /// Id of the conversation.
    thread_id: String,
}

/// Reads a conversation: every message with addresses and text, oldest first.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["conversation", "mail", "email", "history"],
       example = { "thread_id": "18c0" })]
pub fn get_thread(args: GetThread, cx: &Context) -> Result<Value, ToolError> {
    let request = gmail(cx).get(path!("/threads/{}", args.thread_id));
    let thread = request.query("format", "full").fetch()?;
    let messages = thread["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let subject = messages
        .first()
        .and_then(|first| header(&first["payload"], "Subject"));
    let messages: Vec<Value> = messages.iter().map(whole).collect();
    Ok(json!({ "thread_id": thread["id"], "subject": subject, "messages": messages }))
}

#[derive(Args)]
pub struct ModifyThreadLabels {
    /// Id of the conversation, as gmail_search_threads shows it.
    thread_id: String,
    /// Labels to add, by name or id, for example `STARRED` or `Work/Travel`.
    #[arg(max_items = 100)]
    add: Option<Vec<String>>,
    /// Labels to remove, by name or id: `UNREAD` marks it as read, `INBOX` archives it.
    #[arg(max_items = 100)]
    remove: Option<Vec<String>>,
}

/// Adds and removes labels of all messages of a conversation: archive it, mark it as read, star it, file it.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.modify"], keywords = ["archive conversation", "mark thread as read", "move"],
       example = { "thread_id": "18c0", "remove": ["INBOX", "UNREAD"] })]
pub fn modify_thread_labels(args: ModifyThreadLabels, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({
        "addLabelIds": label_ids(cx, &args.add.unwrap_or_default(), "add")?,
        "removeLabelIds": label_ids(cx, &args.remove.unwrap_or_default(), "remove")?,
    });
    let request = gmail(cx).post(path!("/threads/{}/modify", args.thread_id));
    let thread = request.json(&body).fetch()?;
    Ok(pick(&thread, &["thread_id=id", "messages=messages/*/id"]))
}

#[derive(Args)]
pub struct TrashThread {
    /// Id of the conversation.
    thread_id: String,
    /// Take it out of the trash instead.
    #[arg(default = false)]
    restore: bool,
}

/// Moves a conversation to the trash, or takes it out again. Gmail empties the trash after 30 days.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.modify"], keywords = ["delete conversation", "restore"], example = { "thread_id": "18c0" })]
pub fn trash_thread(args: TrashThread, cx: &Context) -> Result<Value, ToolError> {
    let address = if args.restore {
        path!("/threads/{}/untrash", args.thread_id)
    } else {
        path!("/threads/{}/trash", args.thread_id)
    };
    gmail(cx).post(address).send()?;
    Ok(json!({ "thread_id": args.thread_id, "in_trash": !args.restore }))
}

/// Deletes a conversation for good, without the trash. Prefer gmail_trash_thread.
#[tool(effect = "destructive", idempotent, scopes = ["https://mail.google.com/"], keywords = ["erase conversation", "permanently"], example = { "thread_id": "18c0" })]
pub fn delete_thread(args: GetThread, cx: &Context) -> Result<Value, ToolError> {
    gmail(cx)
        .delete(path!("/threads/{}", args.thread_id))
        .send()?;
    Ok(json!({ "thread_id": args.thread_id, "deleted": true }))
}
