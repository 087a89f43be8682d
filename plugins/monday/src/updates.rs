//! Updates, the comments of items and boards.

use toolgate_sdk::prelude::*;

use crate::api::{ask, first, numbered};
use crate::writing::html;

const UPDATE: [&str; 6] = [
    "id",
    "author=creator/name",
    "created_at",
    "text=text_body",
    "item_id",
    "item=item/name",
];

#[derive(Args)]
pub struct ListUpdates {
    /// Board whose items' updates to read; give this or `item_id`.
    board_id: Option<String>,
    /// Item whose updates to read.
    item_id: Option<String>,
    /// Updates on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists the updates (comments) of an item or of a whole board with their answers, newest first.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["boards:read", "updates:read"],
       keywords = ["comments", "discussion", "what is new", "posts"], example = { "board_id": "1234567890", "limit": 10 })]
pub fn list_updates(args: ListUpdates, cx: &Context) -> Result<Output, ToolError> {
    const OF_BOARD: &str = "query($id: ID!, $limit: Int, $page: Int) { boards(ids: [$id]) { updates(limit: $limit, page: $page) { \
        id text_body created_at creator { name } item_id item { name } replies { id text_body created_at creator { name } } } } }";
    const OF_ITEM: &str = "query($id: ID!, $limit: Int, $page: Int) { items(ids: [$id]) { updates(limit: $limit, page: $page) { \
        id text_body created_at creator { name } item_id replies { id text_body created_at creator { name } } } } }";
    let page = cx.page_number(1)?;
    let (document, list, what, id) = match (&args.board_id, &args.item_id) {
        (Some(id), None) => (OF_BOARD, "boards", "board", id),
        (None, Some(id)) => (OF_ITEM, "items", "item", id),
        _ => {
            let text = "give either board_id or item_id";
            return Err(ToolError::invalid("", text));
        }
    };
    let answer = ask(
        cx,
        document,
        json!({ "id": id, "limit": args.limit, "page": page }),
    )?;
    let updates = first(&answer[list], what, id)?["updates"].clone();
    let updates = updates.as_array().into_iter().flatten();
    let updates: Vec<Value> = updates
        .map(|update| {
            let mut out = pick(update, &UPDATE);
            if update["replies"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
            {
                out["replies"] = pick_each(&update["replies"], &UPDATE[..4]);
            }
            out
        })
        .collect();
    numbered(Value::from(updates), page, args.limit)
}

#[derive(Args)]
pub struct EditUpdate {
    /// Id of the update; ids come from monday_list_updates.
    update_id: String,
    /// The new text; line breaks stay.
    #[arg(min_length = 1, max_length = 20000)]
    body: String,
}

/// Replaces the text of an update (a comment) that the connected user wrote.
#[tool(effect = "write", idempotent, scopes = ["updates:write"], keywords = ["edit comment", "correct"],
       example = { "update_id": "1234567895", "body": "Shipped on Monday." })]
pub fn edit_update(args: EditUpdate, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str =
        "mutation($id: ID!, $body: String!) { edit_update(id: $id, body: $body) { id text_body } }";
    let variables = json!({ "id": args.update_id, "body": html(&args.body) });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(pick(&answer["edit_update"], &["id", "text=text_body"]))
}

#[derive(Args)]
pub struct OneUpdate {
    /// Id of the update; ids come from monday_list_updates.
    update_id: String,
}

/// Deletes an update (a comment) with its answers.
#[tool(effect = "destructive", idempotent, scopes = ["updates:write"], keywords = ["remove comment"],
       example = { "update_id": "1234567895" })]
pub fn delete_update(args: OneUpdate, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($id: ID!) { delete_update(id: $id) { id } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.update_id }))?;
    Ok(json!({ "deleted": answer["delete_update"]["id"] }))
}

#[derive(Args)]
pub struct PinUpdate {
    /// Id of the update; ids come from monday_list_updates.
    update_id: String,
}

/// Keeps an update (a comment) at the top of its item.
#[tool(effect = "write", idempotent, scopes = ["updates:write"], keywords = ["highlight comment", "stick"],
       example = { "update_id": "1234567895" })]
pub fn pin_update(args: PinUpdate, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($id: ID!) { pin_to_top(id: $id) { id } }";
    let answer = ask(cx, DOCUMENT, json!({ "id": args.update_id }))?;
    Ok(json!({ "pinned": answer["pin_to_top"]["id"] }))
}
