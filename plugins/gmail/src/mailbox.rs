//! The mailbox itself and what happened in it.

use toolgate_sdk::prelude::*;

use crate::api::{gmail, next_page};

/// Tells which mailbox is connected: its address, the number of messages, the current history id.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["whoami", "account", "address"],
       example = {})]
pub fn get_profile(cx: &Context) -> Result<Value, ToolError> {
    let profile = gmail(cx).get("/profile").fetch()?;
    let fields = [
        "email=emailAddress",
        "messages=messagesTotal",
        "threads=threadsTotal",
        "history_id=historyId",
    ];
    Ok(pick(&profile, &fields))
}

#[derive(Args)]
pub enum HistoryKind {
    #[arg(rename = "messageAdded")]
    MessageAdded,
    #[arg(rename = "messageDeleted")]
    MessageDeleted,
    #[arg(rename = "labelAdded")]
    LabelAdded,
    #[arg(rename = "labelRemoved")]
    LabelRemoved,
}

#[derive(Args)]
pub struct ListHistory {
    /// Changes after this history id, as gmail_get_profile and this tool answer it.
    start_history_id: String,
    /// Only changes of these kinds.
    kinds: Option<Vec<HistoryKind>>,
    /// Only changes of messages with this label id.
    label_id: Option<String>,
    /// Changes on a page.
    #[arg(min = 1, max = 500, default = 100)]
    limit: u32,
}

/// Lists what changed in the mailbox since a history id: messages that came, went or were labelled.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["changes", "new mail", "sync", "since"],
       example = { "start_history_id": "9001", "kinds": ["messageAdded", "labelAdded"] })]
pub fn list_history(args: ListHistory, cx: &Context) -> Result<Output, ToolError> {
    let kinds = args.kinds.unwrap_or_default();
    let kinds: Vec<&str> = kinds.iter().map(HistoryKind::as_str).collect();
    let answer = gmail(cx)
        .get("/history")
        .query("startHistoryId", args.start_history_id)
        .query("historyTypes", kinds)
        .query("labelId", args.label_id)
        .query("maxResults", args.limit)
        .query("pageToken", cx.cursor())
        .fetch()?;
    let fields = [
        "id",
        "added=messagesAdded/*/message/id",
        "deleted=messagesDeleted/*/message/id",
        "labelled=labelsAdded/*/message/id",
        "unlabelled=labelsRemoved/*/message/id",
    ];
    let changes = pick_each(&answer["history"], &fields);
    let data = json!({ "history_id": answer["historyId"], "changes": changes });
    Output::page(data, next_page(&answer))
}
