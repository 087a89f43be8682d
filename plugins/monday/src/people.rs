//! The account and its people.

use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::{ask, numbered};

/// Reads the connection's own user with id, name, email address and account.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["me:read"], keywords = ["who am i", "profile"],
       example = {})]
pub fn get_me(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query { me { id name email title account { id name slug } } }";
    let answer = ask(cx, DOCUMENT, json!({}))?;
    Ok(pick(
        &answer["me"],
        &["id", "name", "email", "title", "account"],
    ))
}

#[derive(Args)]
pub struct ListUsers {
    /// Part of the name; everybody unless given.
    name: Option<String>,
    /// People on a page.
    #[arg(min = 1, max = 500, default = 50)]
    limit: u32,
}

/// Lists the people of the account, or finds one by name.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["users:read"], keywords = ["members", "team", "assignees"], example = { "name": "mona" })]
pub fn list_users(args: ListUsers, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query($limit: Int, $page: Int, $name: String) { \
        users(limit: $limit, page: $page, name: $name) { id name email title enabled } }";
    let page = cx.page_number(1)?;
    let variables = json!({ "limit": args.limit, "page": page, "name": args.name });
    let answer = ask(cx, DOCUMENT, variables)?;
    let users = pick_each(
        &answer["users"],
        &["id", "name", "email", "title", "enabled"],
    );
    numbered(users, page, args.limit)
}
