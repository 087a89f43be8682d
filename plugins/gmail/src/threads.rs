//! Conversations.

use toolgate_sdk::html;
use toolgate_sdk::prelude::*;

use crate::api::{gmail, next_page};
use crate::decode::{header, whole};

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
