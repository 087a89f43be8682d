//! Comments changed and settled, reactions, and the links of issues.

use toolgate_sdk::prelude::*;

use crate::api::{ask, issue_key, made};

#[derive(Args)]
pub struct UpdateComment {
    /// Id of the comment, as linear_list_comments shows it.
    comment: String,
    /// The new text, in Markdown.
    #[arg(min_length = 1)]
    body: String,
}

/// Replaces the text of a comment that the connected account wrote.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["edit comment", "correct"],
       example = { "comment": "c0ffee00-9b5c-4a3d-9f5c-1f2c3d4e5f60", "body": "Fixed in **2.5**." })]
pub fn update_comment(args: UpdateComment, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Edit($id: String!, $input: CommentUpdateInput!) { \
        commentUpdate(id: $id, input: $input) { success comment { id url updatedAt } } }";
    let variables = json!({ "id": args.comment, "input": { "body": args.body } });
    let answer = ask(cx, DOCUMENT, variables)?;
    let comment = made(&answer, "commentUpdate", "comment")?;
    Ok(pick(comment, &["id", "url", "updated_at=updatedAt"]))
}

#[derive(Args)]
pub struct OneComment {
    /// Id of the comment, as linear_list_comments shows it.
    comment: String,
}

/// Deletes a comment of an issue. Cannot be taken back.
#[tool(effect = "destructive", idempotent, scopes = ["write"], keywords = ["remove comment"],
       example = { "comment": "c0ffee00-9b5c-4a3d-9f5c-1f2c3d4e5f60" })]
pub fn delete_comment(args: OneComment, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Delete($id: String!) { commentDelete(id: $id) { success } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.comment }))?;
    made(&answer, "commentDelete", "success")?;
    Ok(json!({ "deleted": args.comment }))
}

#[derive(Args)]
pub struct ResolveComment {
    /// Id of the first comment of the thread, as linear_list_comments shows it.
    comment: String,
    /// Open the thread again instead.
    #[arg(default = false)]
    reopen: bool,
}

/// Marks a thread of comments as resolved, or opens it again.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["settle discussion", "unresolve"],
       example = { "comment": "c0ffee00-9b5c-4a3d-9f5c-1f2c3d4e5f60" })]
pub fn resolve_comment(args: ResolveComment, cx: &Context) -> Result<Value, ToolError> {
    const ON: &str = "mutation Resolve($id: String!) { commentResolve(id: $id) { success } }";
    const OFF: &str = "mutation Reopen($id: String!) { commentUnresolve(id: $id) { success } }";
    let (document, mutation) = match args.reopen {
        true => (OFF, "commentUnresolve"),
        false => (ON, "commentResolve"),
    };
    let answer = ask(cx, document, json!({ "id": args.comment }))?;
    made(&answer, mutation, "success")?;
    Ok(json!({ "comment": args.comment, "resolved": !args.reopen }))
}

#[derive(Args)]
pub struct AddReaction {
    /// Identifier such as `ENG-123`, id or address of the issue. Either this or comment.
    issue: Option<String>,
    /// Id of the comment, as linear_list_comments shows it.
    comment: Option<String>,
    /// Name of the emoji without colons, for example `+1` or `tada`.
    #[arg(pattern = "^[^:\\s]+$", max_length = 100)]
    emoji: String,
}

/// Reacts to an issue or comment with an emoji.
#[tool(effect = "write", scopes = ["write"], keywords = ["emoji", "thumbs up", "like"],
       example = { "issue": "ENG-123", "emoji": "+1" })]
pub fn add_reaction(args: AddReaction, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation React($input: ReactionCreateInput!) { \
        reactionCreate(input: $input) { success reaction { id emoji } } }";
    let mut input = json!({ "emoji": args.emoji });
    match (&args.issue, &args.comment) {
        (Some(issue), None) => input["issueId"] = json!(issue_key(issue, "issue")?),
        (None, Some(comment)) => input["commentId"] = json!(comment),
        _ => return Err(ToolError::invalid("/issue", "give either issue or comment")),
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    Ok(pick(
        made(&answer, "reactionCreate", "reaction")?,
        &["id", "emoji"],
    ))
}

#[derive(Args)]
pub struct OneIssue {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
}

/// Lists the links of an issue, for example pull requests and documents, with their ids.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], scopes = ["read"], keywords = ["attachments", "pull requests", "references"], example = { "issue": "ENG-123" })]
pub fn list_issue_links(args: OneIssue, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query Links($id: String!) { issue(id: $id) { \
        attachments(first: 100) { nodes { id title subtitle url sourceType createdAt } } } }";
    let id = issue_key(&args.issue, "issue")?;
    let answer = ask(cx, DOCUMENT, json!({ "id": id }))?;
    let fields = [
        "id",
        "title",
        "subtitle",
        "url",
        "source=sourceType",
        "created_at=createdAt",
    ];
    Ok(pick_each(&answer["issue"]["attachments"]["nodes"], &fields))
}

#[derive(Args)]
pub struct OneLink {
    /// Id of the link, as linear_list_issue_links shows it.
    link: String,
}

/// Removes a link from its issue.
#[tool(effect = "destructive", idempotent, scopes = ["write"], keywords = ["remove attachment", "detach"],
       example = { "link": "a77ac400-9b5c-4a3d-9f5c-1f2c3d4e5f60" })]
pub fn delete_issue_link(args: OneLink, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str =
        "mutation Detach($id: String!) { attachmentDelete(id: $id) { success } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.link }))?;
    made(&answer, "attachmentDelete", "success")?;
    Ok(json!({ "deleted": args.link }))
}
