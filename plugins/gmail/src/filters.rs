//! Filters: rules that file new mail by themselves.

use toolgate_sdk::prelude::*;

use crate::api::gmail;
use crate::labels::label_ids;

const FILTER: &[&str] = &["id", "criteria", "action"];

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
    /// Labels to add, by name or id.
    #[arg(max_items = 20)]
    add_labels: Option<Vec<String>>,
    /// Labels to remove, by name or id: `INBOX` archives, `UNREAD` marks as read.
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
    let ids = |labels: &Option<Vec<String>>, field: &str| {
        let labels = labels.as_ref();
        labels
            .map(|labels| label_ids(cx, labels, field))
            .transpose()
    };
    let action = json!({
        "addLabelIds": ids(&args.add_labels, "add_labels")?,
        "removeLabelIds": ids(&args.remove_labels, "remove_labels")?,
    });
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

/// Lists the filters of the mailbox: what each looks for and what it does.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["rules", "automatic sorting"], example = {})]
pub fn list_filters(cx: &Context) -> Result<Value, ToolError> {
    let answer = gmail(cx).get("/settings/filters").fetch()?;
    Ok(pick_each(&answer["filter"], FILTER))
}

#[derive(Args)]
pub struct OneFilter {
    /// Id of the filter, as gmail_list_filters shows it.
    filter_id: String,
}

/// Reads one filter: what mail it looks for and which labels it adds and removes.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/gmail.readonly"], keywords = ["rule"], example = { "filter_id": "ANe1Bmj1" })]
pub fn get_filter(args: OneFilter, cx: &Context) -> Result<Value, ToolError> {
    let request = gmail(cx).get(path!("/settings/filters/{}", args.filter_id));
    Ok(pick(&request.fetch()?, FILTER))
}

/// Deletes a filter. Mail that it filed stays as it is.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/gmail.settings.basic"], keywords = ["remove rule"], example = { "filter_id": "ANe1Bmj1" })]
pub fn delete_filter(args: OneFilter, cx: &Context) -> Result<Value, ToolError> {
    gmail(cx)
        .delete(path!("/settings/filters/{}", args.filter_id))
        .send()?;
    Ok(json!({ "filter_id": args.filter_id, "deleted": true }))
}
