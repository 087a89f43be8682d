//! Comments on pages and blocks.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::rich_text::{from_markdown, to_markdown};

fn comment(comment: &Value) -> Value {
    let mut out = pick(
        comment,
        &[
            "id",
            "discussion_id",
            "parent",
            "author=created_by/id",
            "created_time",
        ],
    );
    out["markdown"] = json!(to_markdown(&comment["rich_text"]));
    out
}

#[derive(Args)]
pub struct ListComments {
    /// Id or address of the page, or of a block.
    page: String,
    /// Comments on a page.
    #[arg(min = 1, max = 100, default = 50)]
    page_size: u32,
}

/// Lists the open comments on a page or block.
#[tool(effect = "read", paginated, keywords = ["discussion", "remarks"],
       example = { "page": "be633bf1dfa0436db259571129a590e5" })]
pub fn list_comments(args: ListComments, cx: &Context) -> Result<Output, ToolError> {
    let id = id_of(&args.page, "page")?;
    let request = notion(cx).get("/comments").query("block_id", id);
    let request = request
        .query("page_size", args.page_size)
        .query("start_cursor", cx.cursor());
    let answer = request.fetch()?;
    let comments = answer["results"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let comments: Vec<Value> = comments.iter().map(comment).collect();
    Output::page(comments, next_cursor(&answer))
}

#[derive(Args)]
pub struct CreateComment {
    /// Id or address of the page to comment on. Either this or discussion.
    page: Option<String>,
    /// Id of the discussion to answer in, as notion_list_comments shows it.
    discussion: Option<String>,
    /// Text; bold, italic, code and links of Markdown are kept.
    #[arg(min_length = 1, max_length = 20000)]
    text: String,
}

/// Comments on a page, or answers in a discussion.
#[tool(effect = "write", keywords = ["reply", "remark"],
       example = { "page": "be633bf1dfa0436db259571129a590e5", "text": "Single *comment*" })]
pub fn create_comment(args: CreateComment, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({ "rich_text": from_markdown(&args.text) });
    match (args.page, args.discussion) {
        (Some(page), None) => body["parent"] = json!({ "page_id": id_of(&page, "page")? }),
        (None, Some(discussion)) => {
            body["discussion_id"] = json!(id_of(&discussion, "discussion")?)
        }
        _ => {
            return Err(ToolError::invalid(
                "/page",
                "give either page or discussion",
            ));
        }
    }
    Ok(comment(&notion(cx).post("/comments").json(&body).fetch()?))
}

#[derive(Args)]
pub struct OneComment {
    /// Id of the comment, as notion_list_comments shows it.
    comment: String,
}

/// Reads one comment with its text in Markdown and its author.
#[tool(effect = "read", keywords = ["remark"],
       example = { "comment": "94cc56ab-9f02-409d-9f99-1037e9fe502f" })]
pub fn get_comment(args: OneComment, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.comment, "comment")?;
    Ok(comment(&notion(cx).get(path!("/comments/{}", id)).fetch()?))
}

#[derive(Args)]
pub struct UpdateComment {
    /// Id of the comment, as notion_list_comments shows it. Only comments of this connection can be changed.
    comment: String,
    /// The new text; bold, italic, code and links of Markdown are kept.
    #[arg(min_length = 1, max_length = 20000)]
    text: String,
}

/// Replaces the text of a comment that this connection wrote.
#[tool(effect = "write", idempotent, keywords = ["edit remark", "correct"],
       example = { "comment": "94cc56ab-9f02-409d-9f99-1037e9fe502f", "text": "Done **today**" })]
pub fn update_comment(args: UpdateComment, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.comment, "comment")?;
    let body = json!({ "rich_text": from_markdown(&args.text) });
    let request = notion(cx).patch(path!("/comments/{}", id));
    Ok(comment(&request.json(&body).fetch()?))
}

/// Deletes a comment that this connection wrote.
#[tool(effect = "destructive", idempotent, keywords = ["remove remark"],
       example = { "comment": "94cc56ab-9f02-409d-9f99-1037e9fe502f" })]
pub fn delete_comment(args: OneComment, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.comment, "comment")?;
    notion(cx).delete(path!("/comments/{}", id)).send()?;
    Ok(json!({ "deleted": id }))
}
