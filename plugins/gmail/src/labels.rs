//! Labels, which callers may give by name.

use toolgate_sdk::prelude::*;

use crate::api::gmail;

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

/// Creates a label for messages, on its own or nested under another one. Returns its id.
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

/// Labels of Gmail itself, whose id is their name.
const SYSTEM: [&str; 15] = [
    "INBOX",
    "UNREAD",
    "STARRED",
    "IMPORTANT",
    "SENT",
    "DRAFT",
    "SPAM",
    "TRASH",
    "CHAT",
    "CATEGORY_PERSONAL",
    "CATEGORY_SOCIAL",
    "CATEGORY_PROMOTIONS",
    "CATEGORY_UPDATES",
    "CATEGORY_FORUMS",
    "CATEGORY_PURCHASES",
];

/// Ids of labels given by id or by name. Asks Gmail only if one of them is a name.
pub fn label_ids(cx: &Context, given: &[String], field: &str) -> Result<Vec<String>, ToolError> {
    let plain = |label: &str| SYSTEM.contains(&label) || label.starts_with("Label_");
    if given.iter().all(|label| plain(label)) {
        return Ok(given.to_vec());
    }
    let answer = gmail(cx).get("/labels").fetch()?;
    let known = answer["labels"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let find = |(index, label): (usize, &String)| {
        let named = known.iter().find(|one| {
            let name = one["name"].as_str().unwrap_or_default();
            one["id"] == label.as_str() || name.eq_ignore_ascii_case(label)
        });
        let id = named.and_then(|one| one["id"].as_str()).map(str::to_owned);
        id.or_else(|| plain(label).then(|| label.clone()))
            .ok_or_else(|| {
                let text = format!("there is no label `{label}`; gmail_list_labels shows them");
                ToolError::invalid(format!("/{field}/{index}"), text)
            })
    };
    given.iter().enumerate().map(find).collect()
}

fn label_id(cx: &Context, label: &str) -> Result<String, ToolError> {
    let mut found = label_ids(cx, &[label.to_owned()], "label").map_err(|mut error| {
        error.field = Some("/label".to_owned());
        error
    })?;
    Ok(found.remove(0))
}

#[derive(Args)]
pub struct OneLabel {
    /// Name or id of the label, for example `Work/Travel` or `INBOX`.
    #[arg(min_length = 1, max_length = 225)]
    label: String,
}

/// Reads a label with the number of messages and conversations in it, all and unread.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["unread count", "how many mails", "folder size"], example = { "label": "INBOX" })]
pub fn get_label(args: OneLabel, cx: &Context) -> Result<Value, ToolError> {
    let id = label_id(cx, &args.label)?;
    let label = gmail(cx).get(path!("/labels/{}", id)).fetch()?;
    let fields = [
        "id",
        "name",
        "type",
        "messages=messagesTotal",
        "messages_unread=messagesUnread",
        "threads=threadsTotal",
        "threads_unread=threadsUnread",
        "color",
    ];
    Ok(pick(&label, &fields))
}

#[derive(Args)]
pub struct UpdateLabel {
    /// Name or id of the label now.
    #[arg(min_length = 1, max_length = 225)]
    label: String,
    /// The new name; `Work/Travel` nests it under Work.
    #[arg(min_length = 1, max_length = 225)]
    name: Option<String>,
    /// Leave it out of the list of labels, or show it there.
    hidden: Option<bool>,
}

/// Renames a label, hides it or shows it in the list of labels.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.labels"], keywords = ["rename folder", "nest", "hide"], example = { "label": "Work/Travel", "name": "Work/Trips" })]
pub fn update_label(args: UpdateLabel, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({});
    if let Some(name) = args.name {
        body["name"] = json!(name);
    }
    if let Some(hidden) = args.hidden {
        let list = if hidden { "labelHide" } else { "labelShow" };
        body["labelListVisibility"] = json!(list);
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/name", "give name or hidden"));
    }
    let id = label_id(cx, &args.label)?;
    let request = gmail(cx).patch(path!("/labels/{}", id));
    Ok(pick(&request.json(&body).fetch()?, &["id", "name", "type"]))
}

/// Deletes a label. The messages stay and lose it.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.labels"], keywords = ["remove folder"], example = { "label": "Work/Travel" })]
pub fn delete_label(args: OneLabel, cx: &Context) -> Result<Value, ToolError> {
    let id = label_id(cx, &args.label)?;
    gmail(cx).delete(path!("/labels/{}", id)).send()?;
    Ok(json!({ "id": id, "deleted": true }))
}
