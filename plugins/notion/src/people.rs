//! People and bots of the workspace, and its own emoji.

use toolgate_sdk::prelude::*;

use crate::api::{id_of, next_cursor, notion};

const USER: &[&str] = &[
    "id",
    "type",
    "name",
    "email=person/email",
    "workspace=bot/workspace_name",
];

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

/// Most pages of people that a look-up by name reads.
const PAGES_MAX: usize = 10;

/// Everyone whose name or mail address contains `text`, upper and lower case alike.
pub fn people_like(cx: &Context, text: &str) -> Result<Vec<Value>, ToolError> {
    let text = text.to_lowercase();
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let request = notion(cx).get("/users").query("page_size", 100);
        let answer = request.query("start_cursor", &cursor).fetch()?;
        for user in answer["results"].as_array().into_iter().flatten() {
            let user = pick(user, USER);
            let is = |key: &str| {
                let known = user[key].as_str().unwrap_or_default();
                known.to_lowercase().contains(&text)
            };
            if is("name") || is("email") {
                found.push(user);
            }
        }
        cursor = next_cursor(&answer);
        if cursor.is_none() {
            break;
        }
    }
    Ok(found)
}

#[derive(Args)]
pub struct FindUser {
    /// Part of a name or mail address; upper and lower case are the same.
    #[arg(min_length = 2, max_length = 200)]
    text: String,
}

/// Finds people of the workspace by name or mail address. Returns their ids, for properties and mentions.
#[tool(effect = "read", keywords = ["person id", "who is", "lookup member"],
       example = { "text": "avocado" })]
pub fn find_user(args: FindUser, cx: &Context) -> Result<Value, ToolError> {
    Ok(Value::Array(people_like(cx, &args.text)?))
}

#[derive(Args)]
pub struct ListCustomEmojis {
    /// Only the emoji of this name.
    name: Option<String>,
    /// Emoji on a page.
    #[arg(min = 1, max = 100, default = 50)]
    page_size: u32,
}

/// Lists the emoji that the workspace added, with their names and images.
#[tool(effect = "read", paginated, keywords = ["icons"],
       example = { "page_size": 10 })]
pub fn list_custom_emojis(args: ListCustomEmojis, cx: &Context) -> Result<Output, ToolError> {
    let request = notion(cx).get("/custom_emojis").query_fields(&args);
    let answer = request.query("start_cursor", cx.cursor()).fetch()?;
    let emojis = pick_each(&answer["results"], &["id", "name", "url"]);
    Output::page(emojis, next_cursor(&answer))
}
