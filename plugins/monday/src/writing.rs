//! Creating, changing, moving and removing items, and writing updates on them.

use toolgate_sdk::prelude::*;

use crate::api::{ask, first, group_id};
use crate::items::shown;
use crate::values::{column_fields, value_fields, write};

/// What a mutation needs to know of an item's board.
fn board_of(cx: &Context, item_id: &str) -> Result<Value, ToolError> {
    const DOCUMENT: &str = concat!(
        "query($id: ID!) { items(ids: [$id]) { id board { id groups { id title } ",
        column_fields!(),
        " } } }"
    );
    let answer = ask(cx, DOCUMENT, json!({ "id": item_id }))?;
    Ok(first(&answer["items"], "item", item_id)?["board"].clone())
}

#[derive(Args)]
pub struct CreateItem {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Name of the item.
    #[arg(min_length = 1, max_length = 255)]
    item_name: String,
    /// Group to put it into, by title or id; the board's first unless given.
    group: Option<String>,
    /// Values by column title: text, number, true, a label, a list of labels, a day `2026-01-31`, two
    /// days `2026-01-01/2026-01-31`, people as `me`, mail addresses or ids.
    values: Option<Map<String, Value>>,
    /// Make status and dropdown labels that are not there yet.
    #[arg(default = false)]
    create_labels_if_missing: bool,
}

/// Creates an item (row) on a board, with its values by column title.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["add task", "new row", "ticket", "entry"],
       example = { "board_id": "1234567890", "item_name": "Call Anna", "values": { "Status": "Working on it", "Due": "2026-03-31", "Owner": "me" } })]
pub fn create_item(args: CreateItem, cx: &Context) -> Result<Value, ToolError> {
    const BOARD: &str = concat!(
        "query($board_id: ID!) { boards(ids: [$board_id]) { id groups { id title } ",
        column_fields!(),
        " } }"
    );
    const DOCUMENT: &str = "mutation($board_id: ID!, $item_name: String!, $group_id: String, $column_values: JSON, \
        $create_labels_if_missing: Boolean) { create_item(board_id: $board_id, item_name: $item_name, \
        group_id: $group_id, column_values: $column_values, create_labels_if_missing: $create_labels_if_missing) \
        { id name url group { title } } }";
    let (mut group, mut values) = (None, None);
    if args.group.is_some() || args.values.is_some() {
        let answer = ask(cx, BOARD, json!({ "board_id": args.board_id }))?;
        let board = first(&answer["boards"], "board", &args.board_id)?;
        let wish = args.group.as_deref();
        group = wish
            .map(|name| group_id(&board["groups"], name))
            .transpose()?;
        let given = args.values.as_ref();
        values = given
            .map(|all| write(cx, all, &board["columns"]))
            .transpose()?;
    }
    let variables = json!({
        "board_id": args.board_id, "item_name": args.item_name, "group_id": group,
        "column_values": values, "create_labels_if_missing": args.create_labels_if_missing,
    });
    Ok(shown(&ask(cx, DOCUMENT, variables)?["create_item"]))
}

#[derive(Args)]
pub struct CreateSubitem {
    /// Id of the item to put it under.
    parent_item_id: String,
    /// Name of the sub-item.
    #[arg(min_length = 1, max_length = 255)]
    item_name: String,
}

/// Adds a sub-item to an item. Its values are set with monday_update_item afterwards.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["subtask", "child", "checklist"], example = { "parent_item_id": "1234567891", "item_name": "Print labels" })]
pub fn create_subitem(args: CreateSubitem, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($parent: ID!, $name: String!) { \
        create_subitem(parent_item_id: $parent, item_name: $name) { id name url board { id name } } }";
    let variables = json!({ "parent": args.parent_item_id, "name": args.item_name });
    Ok(shown(&ask(cx, DOCUMENT, variables)?["create_subitem"]))
}

#[derive(Args)]
pub struct UpdateItem {
    /// Id of the item or sub-item.
    item_id: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// Values by column title, as in monday_create_item; null empties a column.
    values: Option<Map<String, Value>>,
    /// Make status and dropdown labels that are not there yet.
    #[arg(default = false)]
    create_labels_if_missing: bool,
}

/// Changes the name or values of an item: status, people, dates, any column by its title.
#[tool(effect = "write", idempotent, scopes = ["boards:write"], keywords = ["edit", "set status", "assign", "due date", "done"],
       example = { "item_id": "1234567891", "values": { "Status": "Done" } })]
pub fn update_item(args: UpdateItem, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = concat!(
        "mutation($board_id: ID!, $item_id: ID!, $column_values: JSON!, $create_labels_if_missing: Boolean) { \
         change_multiple_column_values(board_id: $board_id, item_id: $item_id, column_values: $column_values, \
         create_labels_if_missing: $create_labels_if_missing) { id name url group { title } ",
        value_fields!(),
        " } }"
    );
    let mut values = args.values.unwrap_or_default();
    if values.is_empty() && args.name.is_none() {
        return Err(ToolError::invalid(
            "",
            "say what shall change: name or values",
        ));
    }
    let board = board_of(cx, &args.item_id)?;
    let mut columns = board["columns"].clone();
    if let (Some(name), Some(all)) = (args.name, columns.as_array_mut()) {
        // The name is a column like others, under a fixed id.
        all.insert(0, json!({ "id": "name", "title": "name", "type": "name" }));
        values.insert("name".to_owned(), json!(name));
    }
    let variables = json!({
        "board_id": board["id"], "item_id": args.item_id,
        "column_values": write(cx, &values, &columns)?,
        "create_labels_if_missing": args.create_labels_if_missing,
    });
    Ok(shown(
        &ask(cx, DOCUMENT, variables)?["change_multiple_column_values"],
    ))
}

#[derive(Args)]
pub struct MoveItem {
    /// Id of the item.
    item_id: String,
    /// Group of the same board, by title or id.
    group: String,
}

/// Moves an item to another group of its board.
#[tool(effect = "write", idempotent, scopes = ["boards:write"], keywords = ["section", "sort"], example = { "item_id": "1234567891", "group": "Done" })]
pub fn move_item(args: MoveItem, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($item_id: ID!, $group_id: String!) { \
        move_item_to_group(item_id: $item_id, group_id: $group_id) { id name group { id title } } }";
    let board = board_of(cx, &args.item_id)?;
    let group = group_id(&board["groups"], &args.group)?;
    let variables = json!({ "item_id": args.item_id, "group_id": group });
    Ok(shown(&ask(cx, DOCUMENT, variables)?["move_item_to_group"]))
}

#[derive(Args)]
pub struct OneItem {
    /// Id of the item.
    item_id: String,
}

/// Archives an item; it can be brought back in monday.com.
#[tool(effect = "destructive", idempotent, scopes = ["boards:write"], keywords = ["hide", "close"], example = { "item_id": "1234567891" })]
pub fn archive_item(args: OneItem, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str =
        "mutation($item_id: ID!) { archive_item(item_id: $item_id) { id state } }";
    let answer = ask(cx, DOCUMENT, json!({ "item_id": args.item_id }))?;
    Ok(pick(&answer["archive_item"], &["id", "state"]))
}

/// Deletes an item; monday.com keeps it in the recycle bin for thirty days.
#[tool(effect = "destructive", idempotent, scopes = ["boards:write"], keywords = ["remove", "trash"], example = { "item_id": "1234567891" })]
pub fn delete_item(args: OneItem, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str =
        "mutation($item_id: ID!) { delete_item(item_id: $item_id) { id state } }";
    let answer = ask(cx, DOCUMENT, json!({ "item_id": args.item_id }))?;
    Ok(pick(&answer["delete_item"], &["id", "state"]))
}

#[derive(Args)]
pub struct DuplicateItem {
    /// Id of the item.
    item_id: String,
    /// Also copy what was written on it.
    #[arg(default = false)]
    with_updates: bool,
}

/// Copies an item within its board and answers the copy.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["clone task", "copy row", "template"], example = { "item_id": "1234567891" })]
pub fn duplicate_item(args: DuplicateItem, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $item_id: ID, $with_updates: Boolean) { \
        duplicate_item(board_id: $board_id, item_id: $item_id, with_updates: $with_updates) { id name url group { title } } }";
    let board = board_of(cx, &args.item_id)?;
    let variables = json!({ "board_id": board["id"], "item_id": args.item_id, "with_updates": args.with_updates });
    Ok(shown(&ask(cx, DOCUMENT, variables)?["duplicate_item"]))
}

#[derive(Args)]
pub struct MoveItemToBoard {
    /// Id of the item.
    item_id: String,
    /// Id of the other board; ids come from monday_list_boards.
    board_id: String,
    /// Group of the other board, by title or id; its first unless given.
    group: Option<String>,
}

/// Moves an item to another board. monday.com keeps the values of each column that has a counterpart there.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["transfer task", "hand over", "other project"],
       example = { "item_id": "1234567891", "board_id": "1234567899", "group": "Inbox" })]
pub fn move_item_to_board(args: MoveItemToBoard, cx: &Context) -> Result<Value, ToolError> {
    const BOARD: &str =
        "query($board_id: ID!) { boards(ids: [$board_id]) { groups { id title } } }";
    // Without `columns_mapping` monday.com finds the counterparts itself; with it, every column has to be named.
    const DOCUMENT: &str = "mutation($item_id: ID!, $board_id: ID!, $group_id: ID!) { \
        move_item_to_board(item_id: $item_id, board_id: $board_id, group_id: $group_id) \
        { id name url board { id name } group { title } } }";
    let answer = ask(cx, BOARD, json!({ "board_id": args.board_id }))?;
    let groups = &first(&answer["boards"], "board", &args.board_id)?["groups"];
    let group = match &args.group {
        Some(name) => json!(group_id(groups, name)?),
        None => groups[0]["id"].clone(),
    };
    let variables =
        json!({ "item_id": args.item_id, "board_id": args.board_id, "group_id": group });
    Ok(shown(&ask(cx, DOCUMENT, variables)?["move_item_to_board"]))
}

#[derive(Args)]
pub struct CreateUpdate {
    /// Id of the item.
    item_id: String,
    /// The text; line breaks stay.
    #[arg(min_length = 1, max_length = 20000)]
    body: String,
    /// Id of the update to answer, as monday_get_items shows it.
    reply_to: Option<String>,
}

/// Writes an update (a comment) on an item, or answers one.
#[tool(effect = "write", scopes = ["updates:write"], keywords = ["comment", "note", "reply", "post"], example = { "item_id": "1234567891", "body": "Shipped." })]
pub fn create_update(args: CreateUpdate, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($item_id: ID, $body: String!, $parent_id: ID) { \
        create_update(item_id: $item_id, body: $body, parent_id: $parent_id) { id text_body created_at } }";
    let variables =
        json!({ "item_id": args.item_id, "body": html(&args.body), "parent_id": args.reply_to });
    let answer = ask(cx, DOCUMENT, variables)?;
    let fields = ["id", "text=text_body", "created_at"];
    Ok(pick(&answer["create_update"], &fields))
}

/// Plain text as the HTML that updates are made of.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' => out.push_str("<br>"),
            c => out.push(c),
        }
    }
    out
}
