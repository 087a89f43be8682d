//! Single messages: finding, reading, filing, deleting.

use toolgate_sdk::http::send_all;
use toolgate_sdk::prelude::*;

use crate::api::{gmail, next_page};
use crate::decode::{OVERVIEW_HEADERS, bytes_of, header, overview, whole};
use crate::labels::label_ids;

/// Largest attachment that is fetched, in bytes.
const ATTACHMENT_BYTES_MAX: u64 = 10 * 1024 * 1024;

#[derive(Args)]
pub struct SearchMessages {
    /// Gmail's search, for example `from:mona@example.com is:unread newer_than:7d has:attachment`;
    /// all mail unless given.
    #[arg(max_length = 1000)]
    query: Option<String>,
    /// Only messages that have all of these label ids, for example `["INBOX", "UNREAD"]`.
    #[arg(max_items = 10)]
    label_ids: Option<Vec<String>>,
    /// Also spam and trash.
    #[arg(default = false)]
    include_spam_trash: bool,
    /// Messages on a page.
    #[arg(min = 1, max = 40, default = 15)]
    limit: u32,
}

/// Finds messages and answers who, what and when of each, newest first.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/gmail.readonly"],
       keywords = ["find", "list", "inbox", "unread", "mail", "email"], example = { "query": "is:unread newer_than:2d" },
       trigger = { name: "new_mail", title: "New mail",
                   description: "A mail has arrived in the inbox; a query such as `newer_than:7d` keeps the list short.",
                   arguments: { label_ids: ["INBOX"], limit: 40 }, items: "", id: ["/id"], time: "/received_ms",
                   order: "newest_first" },
       trigger = { name: "labelled_mail", title: "Mail in a label",
                   description: "A mail of the last seven days has all labels of `label_ids`, which are ids of gmail_list_labels.",
                   arguments: { query: "newer_than:7d", limit: 40 }, items: "", id: ["/id"], interval_s: 600 })]
pub fn search_messages(args: SearchMessages, cx: &Context) -> Result<Output, ToolError> {
    let answer = gmail(cx)
        .get("/messages")
        .query("q", args.query)
        .query("labelIds", args.label_ids)
        .query("includeSpamTrash", args.include_spam_trash.then_some(true))
        .query("maxResults", args.limit)
        .query("pageToken", cx.cursor())
        .fetch()?;
    let ids = answer["messages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let requests = ids
        .iter()
        .filter_map(|message| message["id"].as_str())
        .map(|id| {
            let request = gmail(cx)
                .get(path!("/messages/{}", id))
                .query("format", "metadata");
            OVERVIEW_HEADERS.iter().fold(request, |request, name| {
                request.query("metadataHeaders", *name)
            })
        });
    let mut messages = Vec::new();
    for answer in send_all(requests.collect()) {
        messages.push(overview(&answer?.json()?));
    }
    Output::page(messages, next_page(&answer))
}

#[derive(Args)]
pub struct GetMessage {
    /// Id of the message, as gmail_search_messages shows it.
    message_id: String,
}

/// Reads a message: addresses, subject, text and a list of its attachments.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["open", "mail", "email", "body"],
       example = { "message_id": "18c1" })]
pub fn get_message(args: GetMessage, cx: &Context) -> Result<Value, ToolError> {
    let request = gmail(cx).get(path!("/messages/{}", args.message_id));
    Ok(whole(&request.query("format", "full").fetch()?))
}

#[derive(Args)]
pub struct GetAttachment {
    /// Id of the message.
    message_id: String,
    /// Id of the attachment, as gmail_get_message shows it.
    attachment_id: String,
    /// Name for the file.
    #[arg(default = "attachment")]
    name: String,
    /// Media type of the file, as gmail_get_message shows it.
    #[arg(
        default = "application/octet-stream",
        pattern = "^[a-z]+/[A-Za-z0-9.+-]+$"
    )]
    media_type: String,
}

/// Fetches an attachment as a file, at most 10 MiB.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["download", "file", "save attachment of mail"],
       example = { "message_id": "18c1", "attachment_id": "ANGjdJ8w", "name": "offer.pdf", "media_type": "application/pdf" })]
pub fn get_attachment(args: GetAttachment, cx: &Context) -> Result<Output, ToolError> {
    let address = path!(
        "/messages/{}/attachments/{}",
        args.message_id,
        args.attachment_id
    );
    let answer = gmail(cx).get(address).fetch()?;
    let bytes = answer["data"].as_str().and_then(bytes_of);
    let bytes = bytes.ok_or_else(|| ToolError::upstream("the attachment cannot be decoded"))?;
    if bytes.len() as u64 > ATTACHMENT_BYTES_MAX {
        return Err(ToolError::new(
            ErrorKind::TooLarge,
            "the attachment is larger than 10 MiB",
        ));
    }
    let file = toolgate_sdk::Blob::create(&args.media_type, Some(&args.name), &bytes)?;
    let shown = json!({ "name": args.name, "media_type": args.media_type, "bytes": bytes.len() });
    Ok(Output::new(shown)?.file(file))
}

#[derive(Args)]
pub struct ModifyLabels {
    /// Id of the message.
    message_id: String,
    /// Labels to add, by name or id, for example `STARRED`, `UNREAD`, `INBOX` or `Work/Travel`.
    #[arg(max_items = 100)]
    add: Option<Vec<String>>,
    /// Labels to remove, by name or id: `UNREAD` marks it as read, `INBOX` archives it.
    #[arg(max_items = 100)]
    remove: Option<Vec<String>>,
}

/// Adds and removes labels of a message: mark as read or unread, star, archive, file.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.modify"],
       keywords = ["read", "unread", "star", "archive", "move", "label"],
       example = { "message_id": "18c2f0a1b2c3d4e5", "remove": ["UNREAD"] })]
pub fn modify_labels(args: ModifyLabels, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({
        "addLabelIds": label_ids(cx, &args.add.unwrap_or_default(), "add")?,
        "removeLabelIds": label_ids(cx, &args.remove.unwrap_or_default(), "remove")?,
    });
    let message = gmail(cx)
        .post(path!("/messages/{}/modify", args.message_id))
        .json(&body)
        .fetch()?;
    Ok(pick(
        &message,
        &["id", "thread_id=threadId", "labels=labelIds"],
    ))
}

#[derive(Args)]
pub struct TrashMessage {
    /// Id of the message.
    message_id: String,
    /// Take it out of the trash instead.
    #[arg(default = false)]
    restore: bool,
}

/// Moves a message to the trash, or takes it out again. Gmail empties the trash after 30 days.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.modify"], keywords = ["delete", "remove", "restore"],
       example = { "message_id": "18c1" })]
pub fn trash_message(args: TrashMessage, cx: &Context) -> Result<Value, ToolError> {
    let address = if args.restore {
        path!("/messages/{}/untrash", args.message_id)
    } else {
        path!("/messages/{}/trash", args.message_id)
    };
    let message = gmail(cx).post(address).fetch()?;
    Ok(pick(
        &message,
        &["id", "thread_id=threadId", "labels=labelIds"],
    ))
}

#[derive(Args)]
pub struct DeleteMessage {
    /// Id of the message.
    message_id: String,
}

/// Deletes a message for good, without the trash. Prefer gmail_trash_message.
#[tool(effect = "destructive", idempotent, scopes = ["https://mail.google.com/"], keywords = ["erase", "permanently"],
       example = { "message_id": "18c1" })]
pub fn delete_message(args: DeleteMessage, cx: &Context) -> Result<Value, ToolError> {
    gmail(cx)
        .delete(path!("/messages/{}", args.message_id))
        .send()?;
    Ok(json!({ "id": args.message_id, "deleted": true }))
}

#[derive(Args)]
pub struct ModifyMessages {
    /// Ids of the messages, as gmail_search_messages shows them.
    #[arg(min_items = 1, max_items = 1000)]
    message_ids: Vec<String>,
    /// Labels to add, by name or id, for example `STARRED` or `Work/Travel`.
    #[arg(max_items = 100)]
    add: Option<Vec<String>>,
    /// Labels to remove, by name or id: `UNREAD` marks them as read, `INBOX` archives them.
    #[arg(max_items = 100)]
    remove: Option<Vec<String>>,
}

/// Adds and removes labels of up to 1,000 messages at once: archive, mark as read, file.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.modify"], keywords = ["bulk", "many mails", "clean up inbox", "batch archive"],
       example = { "message_ids": ["18c1", "18c2"], "remove": ["UNREAD"] })]
pub fn modify_messages(args: ModifyMessages, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({
        "ids": args.message_ids,
        "addLabelIds": label_ids(cx, &args.add.unwrap_or_default(), "add")?,
        "removeLabelIds": label_ids(cx, &args.remove.unwrap_or_default(), "remove")?,
    });
    gmail(cx).post("/messages/batchModify").json(&body).send()?;
    Ok(json!({ "modified": args.message_ids.len() }))
}

/// Fetches a whole message as a file (.eml) with all headers and attachments, at most 10 MiB.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["eml", "original", "headers", "export mail", "download message"],
       example = { "message_id": "18c1" })]
pub fn get_raw_message(args: GetMessage, cx: &Context) -> Result<Output, ToolError> {
    let request = gmail(cx).get(path!("/messages/{}", args.message_id));
    let message = request.query("format", "raw").fetch()?;
    let bytes = message["raw"].as_str().and_then(bytes_of);
    let bytes = bytes.ok_or_else(|| ToolError::upstream("the message cannot be decoded"))?;
    if bytes.len() as u64 > ATTACHMENT_BYTES_MAX {
        let text = "the message is larger than 10 MiB";
        return Err(ToolError::new(ErrorKind::TooLarge, text));
    }
    let name = format!("{}.eml", args.message_id);
    let file = toolgate_sdk::Blob::create("message/rfc822", Some(&name), &bytes)?;
    Ok(Output::new(json!({ "name": name, "bytes": bytes.len() }))?.file(file))
}

/// Tells how to unsubscribe from the list that sent a mail: addresses to open or to write to. It does not unsubscribe.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["newsletter", "opt out"], example = { "message_id": "18c1" })]
pub fn get_unsubscribe_options(args: GetMessage, cx: &Context) -> Result<Value, ToolError> {
    let request = gmail(cx).get(path!("/messages/{}", args.message_id));
    let request = request.query("format", "metadata");
    let names = [
        "From",
        "Subject",
        "List-Unsubscribe",
        "List-Unsubscribe-Post",
    ];
    let request = names.iter().fold(request, |request, name| {
        request.query("metadataHeaders", *name)
    });
    let message = request.fetch()?;
    let of = |name: &str| header(&message["payload"], name);
    let listed = of("List-Unsubscribe").unwrap_or_default();
    // RFC 2369: addresses in angle brackets, separated by commas.
    let options = listed
        .split('<')
        .skip(1)
        .filter_map(|part| part.split('>').next());
    let options: Vec<&str> = options.map(str::trim).collect();
    let one_click = of("List-Unsubscribe-Post").is_some_and(|text| text.contains("One-Click"));
    Ok(json!({
        "from": of("From"), "subject": of("Subject"), "options": options, "one_click": one_click,
    }))
}
