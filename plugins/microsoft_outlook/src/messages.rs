//! Reading and filing messages.

use toolgate_sdk::prelude::*;

use crate::api::{folder_id, graph, next_page, page, quoted};
use crate::mail::{OVERVIEW, overview, whole};

#[derive(Args)]
pub struct ListMessages {
    /// Folder: `inbox`, `sent`, `drafts`, `deleted`, `junk`, `archive`, the name of one at the top, or an
    /// id; the inbox unless given.
    #[arg(default = "inbox", min_length = 1)]
    folder: String,
    /// Only those that nobody has read yet, or only those that were read.
    unread: Option<bool>,
    /// Only those from this mail address.
    from: Option<String>,
    /// Only those of this conversation: the `thread` of a message.
    thread: Option<String>,
    /// Received at this moment or later.
    #[arg(format = "date-time", pattern = "^[0-9TtZz:.+-]+$")]
    since: Option<String>,
    /// Messages on a page.
    #[arg(min = 1, max = 200, default = 20)]
    limit: u32,
}

/// Lists the messages of a folder, newest first, with sender, subject and beginning. For words use microsoft_outlook_search_messages.
#[tool(effect = "read", paginated, scopes = ["Mail.Read"], keywords = ["inbox", "emails", "unread", "new mail"], example = { "folder": "inbox", "unread": true },
       trigger = { name: "new_mail", title: "New mail",
                   description: "A mail has arrived in a folder, the inbox unless another is chosen.",
                   arguments: { limit: 100 }, items: "", id: ["/id"], time: "/received", order: "newest_first" })]
pub fn list_messages(args: ListMessages, cx: &Context) -> Result<Output, ToolError> {
    if let Some(cursor) = cx.cursor() {
        return listed(&graph(cx).get(page(cursor)?).fetch()?);
    }
    let folder = folder_id(cx, &args.folder, "folder")?;
    // The field that is sorted by has to come first in the filter.
    let since = args.since.as_deref().unwrap_or("1900-01-01T00:00:00Z");
    let mut filter = vec![format!("receivedDateTime ge {since}")];
    if let Some(unread) = args.unread {
        filter.push(format!("isRead eq {}", !unread));
    }
    if let Some(from) = &args.from {
        filter.push(format!("from/emailAddress/address eq {}", quoted(from)));
    }
    if let Some(thread) = &args.thread {
        filter.push(format!("conversationId eq {}", quoted(thread)));
    }
    let request = graph(cx).get(path!("/mailFolders/{}/messages", folder));
    let answer = request
        .query("$filter", filter.join(" and "))
        .query("$orderby", "receivedDateTime desc")
        .query("$select", OVERVIEW)
        .query("$top", args.limit)
        .fetch()?;
    listed(&answer)
}

fn listed(answer: &Value) -> Result<Output, ToolError> {
    let messages = answer["value"].as_array().into_iter().flatten();
    let messages: Vec<Value> = messages.map(overview).collect();
    Output::page(messages, next_page(answer))
}

#[derive(Args)]
pub struct OneMessage {
    /// Id of the message.
    #[arg(min_length = 1)]
    pub(crate) message: String,
}

/// Reads a message as text, HTML undone, with its recipients and the names of its attachments.
#[tool(effect = "read", scopes = ["Mail.Read"], keywords = ["open", "show email", "what does it say"], example = { "message": "AAMkAGI1" })]
pub fn get_message(args: OneMessage, cx: &Context) -> Result<Value, ToolError> {
    let request = graph(cx).get(path!("/messages/{}", args.message));
    let message = request
        .query("$select", format!("{OVERVIEW},ccRecipients,replyTo,body"))
        .query("$expand", "attachments($select=id,name,contentType,size)")
        .fetch()?;
    let mut out = whole(&message);
    let attachments = &message["attachments"];
    if attachments.as_array().is_some_and(|all| !all.is_empty()) {
        out["attachments"] = pick_each(attachments, &ATTACHMENT);
    }
    Ok(out)
}

const ATTACHMENT: [&str; 4] = ["id", "name", "media_type=contentType", "bytes=size"];

/// Lists the attachments of a message with name, type and size.
#[tool(effect = "read", scopes = ["Mail.Read"], keywords = ["files", "enclosures"], example = { "message": "AAMkAGI1" })]
pub fn list_attachments(args: OneMessage, cx: &Context) -> Result<Value, ToolError> {
    let request = graph(cx).get(path!("/messages/{}/attachments", args.message));
    let answer = request
        .query("$select", "id,name,contentType,size")
        .fetch()?;
    Ok(pick_each(&answer["value"], &ATTACHMENT))
}

#[derive(Args)]
pub struct DownloadAttachment {
    /// Id of the message.
    #[arg(min_length = 1)]
    message: String,
    /// Id of the attachment, as microsoft_outlook_get_message shows it.
    #[arg(min_length = 1)]
    attachment: String,
}

/// Downloads an attachment of a message. Answers with the file.
#[tool(effect = "read", scopes = ["Mail.Read"], keywords = ["save file", "get attachment"], example = { "message": "AAMkAGI1", "attachment": "AAMkAGI1a" })]
pub fn download_attachment(args: DownloadAttachment, cx: &Context) -> Result<Output, ToolError> {
    let address = path!("/messages/{}/attachments/{}", args.message, args.attachment);
    let request = graph(cx).get(address);
    let known = request
        .query("$select", "id,name,contentType,size")
        .fetch()?;
    let address = path!(
        "/messages/{}/attachments/{}/$value",
        args.message,
        args.attachment
    );
    let content = graph(cx).get(address).download()?;
    let mut told = pick(&known, &ATTACHMENT);
    told["bytes"] = json!(content.size());
    Ok(Output::new(told)?.file(content))
}

/// What becomes of a flag.
#[derive(Args)]
pub enum Flag {
    Flagged,
    Complete,
    NotFlagged,
}

#[derive(Args)]
pub struct UpdateMessage {
    /// Id of the message.
    #[arg(min_length = 1)]
    message: String,
    /// Mark it as read, or as unread.
    read: Option<bool>,
    /// Flag it for later, as done, or take the flag off.
    flag: Option<Flag>,
    /// Names of all categories that it shall have.
    #[arg(max_items = 25)]
    categories: Option<Vec<String>>,
}

/// Marks a message as read or unread, flags it, or sets its categories.
#[tool(effect = "write", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["mark as read", "unread", "star", "label"], example = { "message": "AAMkAGI1", "read": true })]
pub fn update_message(args: UpdateMessage, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({});
    if let Some(read) = args.read {
        body["isRead"] = json!(read);
    }
    if let Some(flag) = args.flag {
        let status = match flag {
            Flag::Flagged => "flagged",
            Flag::Complete => "complete",
            Flag::NotFlagged => "notFlagged",
        };
        body["flag"] = json!({ "flagStatus": status });
    }
    if let Some(categories) = args.categories {
        body["categories"] = json!(categories);
    }
    if body == json!({}) {
        return Err(ToolError::invalid("", "say what shall change"));
    }
    let request = graph(cx).patch(path!("/messages/{}", args.message));
    Ok(overview(&request.json(&body).fetch()?))
}

#[derive(Args)]
pub struct MoveMessage {
    /// Id of the message.
    #[arg(min_length = 1)]
    message: String,
    /// Folder: `archive`, `inbox`, `junk`, the name of one at the top, or an id.
    #[arg(min_length = 1)]
    folder: String,
}

/// Moves a message to another folder, by the folder's name.
#[tool(effect = "write", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["file", "archive", "sort"], example = { "message": "AAMkAGI1", "folder": "archive" })]
pub fn move_message(args: MoveMessage, cx: &Context) -> Result<Value, ToolError> {
    let folder = folder_id(cx, &args.folder, "folder")?;
    let request = graph(cx).post(path!("/messages/{}/move", args.message));
    let moved = request.json(&json!({ "destinationId": folder })).fetch()?;
    Ok(overview(&moved))
}

/// Deletes a message; it goes to the deleted items.
#[tool(effect = "destructive", idempotent, scopes = ["Mail.ReadWrite"], keywords = ["remove", "trash", "email"], example = { "message": "AAMkAGI1" })]
pub fn delete_message(args: OneMessage, cx: &Context) -> Result<Value, ToolError> {
    let folder = json!({ "destinationId": "deleteditems" });
    let request = graph(cx).post(path!("/messages/{}/move", args.message));
    let moved = request.json(&folder).fetch()?;
    Ok(json!({ "deleted": moved["id"] }))
}
