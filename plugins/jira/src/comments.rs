//! Comments on issues.

use toolgate_sdk::prelude::*;

use crate::adf::{document, to_markdown};
use crate::api::{jira, next_start};

fn comment(comment: &Value) -> Value {
    let mut out = pick(comment, &["id", "author=author/displayName", "created"]);
    out["text"] = json!(to_markdown(&comment["body"]));
    out
}

#[derive(Args)]
pub struct ListComments {
    /// Key of the issue.
    issue: String,
    /// Comments on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists the comments of an issue, newest first.
#[tool(effect = "read", paginated, keywords = ["discussion", "ticket"],
       example = { "issue": "ED-1", "limit": 1 })]
pub fn list_comments(args: ListComments, cx: &Context) -> Result<Output, ToolError> {
    let request = jira(cx)
        .get(path!("/issue/{}/comment", args.issue))
        .query("orderBy", "-created");
    let request = request
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit);
    let answer = request.fetch()?;
    let comments = answer["comments"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let shown: Vec<Value> = comments.iter().map(comment).collect();
    let next = next_start(&answer, shown.len());
    Output::page(shown, next)
}

#[derive(Args)]
pub struct AddComment {
    /// Key of the issue.
    issue: String,
    /// Text in Markdown.
    #[arg(min_length = 1, max_length = 30000)]
    text: String,
}

/// Comments on an issue.
#[tool(effect = "write", keywords = ["reply", "ticket", "note"],
       example = { "issue": "ED-1", "text": "Looks good." })]
pub fn add_comment(args: AddComment, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "body": document(&args.text) });
    Ok(comment(
        &jira(cx)
            .post(path!("/issue/{}/comment", args.issue))
            .json(&body)
            .fetch()?,
    ))
}

#[derive(Args)]
pub struct UpdateComment {
    /// Key of the issue.
    issue: String,
    /// Id of the comment, as jira_list_comments shows it.
    comment: String,
    /// The new text in Markdown.
    #[arg(min_length = 1, max_length = 30000)]
    text: String,
}

/// Replaces the text of a comment.
#[tool(effect = "write", idempotent, keywords = ["edit comment", "correct"],
       example = { "issue": "ED-1", "comment": "10001", "text": "Looks **very** good." })]
pub fn update_comment(args: UpdateComment, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/issue/{}/comment/{}", args.issue, args.comment);
    let body = json!({ "body": document(&args.text) });
    Ok(comment(&jira(cx).put(address).json(&body).fetch()?))
}

#[derive(Args)]
pub struct DeleteComment {
    /// Key of the issue.
    issue: String,
    /// Id of the comment, as jira_list_comments shows it.
    comment: String,
}

/// Deletes a comment of an issue. Cannot be taken back.
#[tool(effect = "destructive", idempotent, keywords = ["remove comment"],
       example = { "issue": "ED-1", "comment": "10001" })]
pub fn delete_comment(args: DeleteComment, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/issue/{}/comment/{}", args.issue, args.comment);
    jira(cx).delete(address).send()?;
    Ok(json!({ "deleted": args.comment }))
}
