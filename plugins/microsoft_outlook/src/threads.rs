//! Conversations, whole messages as files, and several messages at once.

use toolgate_sdk::http::send_all;
use toolgate_sdk::prelude::*;

use crate::api::{folder_id, graph, quoted};
use crate::mail::{OVERVIEW, overview, whole};
use crate::messages::OneMessage;

#[derive(Args)]
pub struct GetThread {
    /// The conversation: `thread` of a message.
    #[arg(min_length = 1)]
    thread: String,
    /// Most messages, the newest ones.
    #[arg(min = 1, max = 50, default = 20)]
    limit: u32,
}

/// Reads a conversation as text, oldest message first, over all folders.
#[tool(effect = "read", scopes = ["Mail.Read"], keywords = ["conversation", "whole discussion", "email chain"],
       example = { "thread": "AAQkAGI1" })]
pub fn get_thread(args: GetThread, cx: &Context) -> Result<Value, ToolError> {
    // Graph sorts nothing that is filtered by a conversation, so the order is made here.
    let answer = graph(cx)
        .get("/messages")
        .query(
            "$filter",
            format!("conversationId eq {}", quoted(&args.thread)),
        )
        .query("$select", format!("{OVERVIEW},ccRecipients,body"))
        .query("$top", 50)
        .fetch()?;
    let mut messages: Vec<Value> = answer["value"].as_array().cloned().unwrap_or_default();
    messages.sort_by_key(|message| {
        message["receivedDateTime"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    });
    let skipped = messages.len().saturating_sub(args.limit as usize);
    Ok(messages[skipped..].iter().map(whole).collect())
}

/// Downloads a message as a file (.eml) with all its headers and attachments.
#[tool(effect = "read", scopes = ["Mail.Read"], keywords = ["save email", "eml", "export", "headers", "mime"],
       example = { "message": "AAMkAGI1" })]
pub fn download_message(args: OneMessage, cx: &Context) -> Result<Output, ToolError> {
    let known = graph(cx)
        .get(path!("/messages/{}", args.message))
        .query("$select", OVERVIEW)
        .fetch()?;
    let content = graph(cx)
        .get(path!("/messages/{}/$value", args.message))
        .download()?;
    let mut told = overview(&known);
    told["bytes"] = json!(content.size());
    Ok(Output::new(told)?.file(content))
}

#[derive(Args)]
pub struct CopyMessage {
    /// Id of the message.
    #[arg(min_length = 1)]
    message: String,
    /// Folder: `archive`, `inbox`, the name of one at the top, or an id.
    #[arg(min_length = 1)]
    folder: String,
}

/// Copies a message into another folder, by the folder's name.
#[tool(effect = "write", scopes = ["Mail.ReadWrite"], keywords = ["duplicate email", "file"],
       example = { "message": "AAMkAGI1", "folder": "Projects" })]
pub fn copy_message(args: CopyMessage, cx: &Context) -> Result<Value, ToolError> {
    let folder = folder_id(cx, &args.folder, "folder")?;
    let request = graph(cx).post(path!("/messages/{}/copy", args.message));
    Ok(overview(
        &request.json(&json!({ "destinationId": folder })).fetch()?,
    ))
}

/// What became of each message: the ids that went through, and why others did not.
fn outcomes(messages: &[String], answers: Vec<Result<Response, ToolError>>) -> Value {
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for (message, answer) in messages.iter().zip(answers) {
        match answer {
            Ok(_) => done.push(json!(message)),
            Err(error) => failed.push(json!({ "message": message, "why": error.message })),
        }
    }
    json!({ "done": done, "failed": failed })
}

#[derive(Args)]
pub struct MoveMessages {
    /// Ids of the messages.
    #[arg(min_items = 1, max_items = 20)]
    messages: Vec<String>,
    /// Folder: `archive`, `deleted`, `junk`, `inbox`, the name of one at the top, or an id.
    #[arg(min_length = 1)]
    folder: String,
}

/// Moves several messages to a folder, for example all newsletters to the archive.
#[tool(effect = "write", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["bulk archive", "clean up inbox", "file emails"],
       example = { "messages": ["AAMkAGI1", "AAMkAGI2"], "folder": "archive" })]
pub fn move_messages(args: MoveMessages, cx: &Context) -> Result<Value, ToolError> {
    let folder = folder_id(cx, &args.folder, "folder")?;
    let target = json!({ "destinationId": folder });
    let client = graph(cx);
    let moves = args.messages.iter().map(|id| {
        client
            .post(path!("/messages/{}/move", id.clone()))
            .json(&target)
    });
    Ok(outcomes(&args.messages, send_all(moves.collect())))
}

#[derive(Args)]
pub struct MarkMessages {
    /// Ids of the messages.
    #[arg(min_items = 1, max_items = 20)]
    messages: Vec<String>,
    /// As read, or as unread.
    #[arg(default = true)]
    read: bool,
}

/// Marks several messages as read or unread.
#[tool(effect = "write", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["bulk mark as read", "clear unread"],
       example = { "messages": ["AAMkAGI1", "AAMkAGI2"], "read": true })]
pub fn mark_messages(args: MarkMessages, cx: &Context) -> Result<Value, ToolError> {
    let change = json!({ "isRead": args.read });
    let client = graph(cx);
    let marks = args.messages.iter().map(|id| {
        client
            .patch(path!("/messages/{}", id.clone()))
            .json(&change)
    });
    Ok(outcomes(&args.messages, send_all(marks.collect())))
}
