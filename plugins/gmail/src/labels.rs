//! Labels, filters, the mailbox itself and what happened in it.

use toolgate_sdk::prelude::*;

use crate::api::{gmail, next_page};

/// Lists the labels of the mailbox with their ids: Gmail's own and the user's.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["folders", "categories"],
       example = {})]
pub fn list_labels(cx: &Context) -> Result<Value, ToolError> {
    let answer = gmail(cx).get("/labels").fetch()?;
    Ok(pick_each(&answer["labels"], &["id", "name", "type"]))
}

#[derive(Args)]
pub struct CreateLabel {
    /// Name; `Work/Travel` nests it under Work.
    #[arg(min_length = 1, max_length = 225)]
    name: String,
    /// Leave it out of the list of labels.
    #[arg(default = false)]
    hidden: bool,
}

/// Creates a label.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/gmail.labels"], keywords = ["folder", "new"],
       example = { "name": "Work/Travel" })]
pub fn create_label(args: CreateLabel, cx: &Context) -> Result<Value, ToolError> {
    let list = if args.hidden {
        "labelHide"
    } else {
        "labelShow"
    };
    let body = json!({
        "name": args.name, "labelListVisibility": list, "messageListVisibility": "show",
    });
    Ok(pick(
        &gmail(cx).post("/labels").json(&body).fetch()?,
        &["id", "name", "type"],
    ))
}

#[derive(Args)]
pub struct CreateFilter {
    /// Mail from this address or name.
    from: Option<String>,
    /// Mail to this address or name.
    to: Option<String>,
    /// Mail with these words in the subject.
    subject: Option<String>,
    /// Mail that this search of Gmail finds.
    query: Option<String>,
    /// Only mail with attachments.
    has_attachment: Option<bool>,
    /// Label ids to add.
    #[arg(max_items = 20)]
    add_labels: Option<Vec<String>>,
    /// Label ids to remove: `INBOX` archives, `UNREAD` marks as read.
    #[arg(max_items = 20)]
    remove_labels: Option<Vec<String>>,
}

/// Creates a filter that files new mail by itself.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/gmail.settings.basic"], keywords = ["rule", "automatic", "sort"],
       example = { "from": "news@example.com", "remove_labels": ["INBOX"] })]
pub fn create_filter(args: CreateFilter, cx: &Context) -> Result<Value, ToolError> {
    let criteria = json!({
        "from": args.from, "to": args.to, "subject": args.subject, "query": args.query,
        "hasAttachment": args.has_attachment,
    });
    let criteria = pick(
        &criteria,
        &["from", "to", "subject", "query", "hasAttachment"],
    );
    let action = json!({ "addLabelIds": args.add_labels, "removeLabelIds": args.remove_labels });
    let action = pick(&action, &["addLabelIds", "removeLabelIds"]);
    let empty = |value: &Value| value.as_object().is_none_or(Map::is_empty);
    if empty(&criteria) || empty(&action) {
        return Err(ToolError::invalid(
            "",
            "a filter needs something to look for and labels to add or remove",
        ));
    }
    let body = json!({ "criteria": criteria, "action": action });
    Ok(pick(
        &gmail(cx).post("/settings/filters").json(&body).fetch()?,
        &["id", "criteria", "action"],
    ))
}

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
