//! Comments and people.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};
use crate::rich_text::{from_markdown, to_markdown};

const USER: &[&str] = &[
    "id",
    "type",
    "name",
    "email=person/email",
    "workspace=bot/workspace_name",
];

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
pub struct ListUsers {
    /// People on a page.
    #[arg(min = 1, max = 100, default = 50)]
    page_size: u32,
}

/// Lists the people and bots of the workspace with their ids.
#[tool(effect = "read", paginated, keywords = ["members", "people", "who"],
       example = {})]
pub fn list_users(args: ListUsers, cx: &Context) -> Result<Output, ToolError> {
    let request = notion(cx).get("/users").query("page_size", args.page_size);
    let answer = request.query("start_cursor", cx.cursor()).fetch()?;
    Output::page(pick_each(&answer["results"], USER), next_cursor(&answer))
}

#[derive(Args)]
pub struct GetUser {
    /// Id of the person or bot.
    user: String,
}

/// Reads one person or bot: name and mail address.
#[tool(effect = "read", keywords = ["person", "who"],
       example = { "user": "d40e767c-d7af-4b18-a86d-55c61f1e39a4" })]
pub fn get_user(args: GetUser, cx: &Context) -> Result<Value, ToolError> {
    let id = id_of(&args.user, "user")?;
    Ok(pick(&notion(cx).get(path!("/users/{}", id)).fetch()?, USER))
}

/// Tells as which bot the connection acts, and in which workspace.
#[tool(effect = "read", keywords = ["whoami", "me", "workspace"],
       example = {})]
pub fn get_bot_user(cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(&notion(cx).get("/users/me").fetch()?, USER))
}
