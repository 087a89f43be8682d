//! Comments on files and the answers to them.

use toolgate_sdk::http::Address;
use toolgate_sdk::http::google::next_page;
use toolgate_sdk::prelude::*;

use crate::api::{api, id_of};

#[derive(Args)]
pub struct ListComments {
    /// Id or address of the file.
    file: String,
    /// Comments on a page.
    #[arg(min = 1, max = 100, default = 30)]
    limit: u32,
}

/// Lists the comments on a file with the text they are about and their answers.
#[tool(effect = "read", paginated, scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["discussion", "remarks", "feedback"], example = { "file": "1a2B3cD4eF" })]
pub fn list_comments(args: ListComments, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.file, "file")?;
    let fields = "nextPageToken,comments(id,content,createdTime,resolved,author(displayName),\
                  quotedFileContent(value),replies(content,createdTime,author(displayName)))";
    let request = api(cx).get(path!("/drive/v3/files/{}/comments", id));
    let answer = request
        .query("fields", fields)
        .query("pageSize", args.limit)
        .query("pageToken", cx.cursor())
        .fetch()?;
    let comments = answer["comments"].as_array().into_iter().flatten();
    let comments = comments.map(|one| {
        let fields = [
            "id",
            "author=author/displayName",
            "text=content",
            "about=quotedFileContent/value",
            "created=createdTime",
            "resolved",
        ];
        let mut out = pick(one, &fields);
        if one["replies"].as_array().is_some_and(|all| !all.is_empty()) {
            let fields = [
                "author=author/displayName",
                "text=content",
                "created=createdTime",
            ];
            out["answers"] = pick_each(&one["replies"], &fields);
        }
        out
    });
    let comments: Vec<Value> = comments.collect();
    Output::page(comments, next_page(&answer))
}

#[derive(Args)]
pub struct CreateComment {
    /// Id or address of the file.
    file: String,
    /// The comment, as plain text.
    #[arg(min_length = 1, max_length = 4000)]
    text: String,
    /// Id of the comment to answer, as google_drive_list_comments shows it.
    reply_to: Option<String>,
}

/// Comments on a file, or answers a comment.
#[tool(effect = "write", scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["remark", "feedback", "reply"], example = { "file": "1a2B3cD4eF", "text": "Please check the total." })]
pub fn create_comment(args: CreateComment, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let address = match &args.reply_to {
        Some(comment) => path!("/drive/v3/files/{}/comments/{}/replies", id, comment),
        None => path!("/drive/v3/files/{}/comments", id),
    };
    let request = api(cx)
        .post(address)
        .query("fields", "id,content,createdTime");
    let made = request.json(&json!({ "content": args.text })).fetch()?;
    Ok(pick(&made, &["id", "text=content", "created=createdTime"]))
}

const ONE: &str = "id,content,createdTime,resolved,author(displayName)";

fn shown(one: &Value) -> Value {
    let fields = [
        "id",
        "author=author/displayName",
        "text=content",
        "resolved",
        "created=createdTime",
    ];
    pick(one, &fields)
}

#[derive(Args)]
pub struct OneComment {
    /// Id or address of the file.
    file: String,
    /// Id of the comment, as google_drive_list_comments shows it.
    comment: String,
}

#[derive(Args)]
pub struct ResolveComment {
    /// Id or address of the file.
    file: String,
    /// Id of the comment, as google_drive_list_comments shows it.
    comment: String,
    /// Open it again instead.
    #[arg(default = false)]
    reopen: bool,
    /// What to say with it, as plain text.
    #[arg(max_length = 4000)]
    text: Option<String>,
}

/// Marks a comment as resolved, or opens it again.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["close comment", "done", "reopen"], example = { "file": "1a2B3cD4eF", "comment": "c1", "text": "Fixed." })]
pub fn resolve_comment(args: ResolveComment, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.file, "file")?;
    let action = if args.reopen { "reopen" } else { "resolve" };
    let mut body = json!({ "action": action });
    if let Some(text) = args.text {
        body["content"] = json!(text);
    }
    let address = path!("/drive/v3/files/{}/comments/{}/replies", id, args.comment);
    let request = api(cx).post(address).query("fields", "id,action");
    request.json(&body).send()?;
    Ok(json!({ "comment": args.comment, "resolved": !args.reopen }))
}

#[derive(Args)]
pub struct UpdateComment {
    /// Id or address of the file.
    file: String,
    /// Id of the comment, as google_drive_list_comments shows it.
    comment: String,
    /// Id of an answer to it; the comment itself is changed unless given.
    reply: Option<String>,
    /// The new text, plain.
    #[arg(min_length = 1, max_length = 4000)]
    text: String,
}

/// Changes the text of a comment or answer that the account wrote.
#[tool(effect = "write", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["edit comment", "correct"], example = { "file": "1a2B3cD4eF", "comment": "c1", "text": "Please check both totals." })]
pub fn update_comment(args: UpdateComment, cx: &Context) -> Result<Value, ToolError> {
    let address = address(&args.file, &args.comment, args.reply.as_deref())?;
    let fields = if args.reply.is_some() {
        "id,content,createdTime,author(displayName)"
    } else {
        ONE
    };
    let request = api(cx).patch(address).query("fields", fields);
    Ok(shown(
        &request.json(&json!({ "content": args.text })).fetch()?,
    ))
}

fn address(file: &str, comment: &str, reply: Option<&str>) -> Result<Address, ToolError> {
    let id = id_of(file, "file")?;
    Ok(match reply {
        Some(reply) => path!(
            "/drive/v3/files/{}/comments/{}/replies/{}",
            id,
            comment,
            reply
        ),
        None => path!("/drive/v3/files/{}/comments/{}", id, comment),
    })
}

#[derive(Args)]
pub struct DeleteComment {
    /// Id or address of the file.
    file: String,
    /// Id of the comment, as google_drive_list_comments shows it.
    comment: String,
    /// Id of an answer to it; the comment with all its answers is deleted unless given.
    reply: Option<String>,
}

/// Deletes a comment with its answers, or one answer.
#[tool(effect = "destructive", idempotent, scopes = ["https://www.googleapis.com/auth/drive"], keywords = ["remove comment"], example = { "file": "1a2B3cD4eF", "comment": "c1" })]
pub fn delete_comment(args: DeleteComment, cx: &Context) -> Result<Value, ToolError> {
    api(cx)
        .delete(address(&args.file, &args.comment, args.reply.as_deref())?)
        .send()?;
    Ok(json!({ "deleted": args.reply.unwrap_or(args.comment) }))
}

/// Reads one comment with the text it is about and all answers with their ids.
#[tool(effect = "read", scopes = ["https://www.googleapis.com/auth/drive.readonly"], keywords = ["thread", "remark"], example = { "file": "1a2B3cD4eF", "comment": "c1" })]
pub fn get_comment(args: OneComment, cx: &Context) -> Result<Value, ToolError> {
    let address = address(&args.file, &args.comment, None)?;
    let fields = "id,content,createdTime,resolved,author(displayName),quotedFileContent(value),\
                  replies(id,content,createdTime,author(displayName))";
    let one = api(cx).get(address).query("fields", fields).fetch()?;
    let mut out = shown(&one);
    if let Some(quote) = one["quotedFileContent"]["value"].as_str() {
        out["about"] = json!(quote);
    }
    let replies = one["replies"].as_array().into_iter().flatten();
    out["answers"] = replies.map(shown).collect();
    Ok(out)
}
