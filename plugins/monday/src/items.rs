//! Finding and reading items, the rows of boards.

use toolgate_sdk::prelude::*;

use crate::api::{ask, first, group_id, titled, titles};
use crate::values::{read, value_fields};

/// An item as tools answer it, its values by the titles of their columns.
pub fn shown(item: &Value) -> Value {
    let fields = [
        "id",
        "name",
        "state",
        "url",
        "updated_at",
        "group=group/title",
        "board=board/name",
        "board_id=board/id",
    ];
    let mut out = pick(item, &fields);
    if item["column_values"].is_array() {
        out["values"] = read(&item["column_values"]);
    }
    out
}

fn page(items_page: &Value) -> Result<Output, ToolError> {
    let items = items_page["items"].as_array().into_iter().flatten();
    let items: Vec<Value> = items.map(shown).collect();
    Output::page(items, items_page["cursor"].as_str().map(str::to_owned))
}

/// Goes on where a page ended: the cursor stands for the whole question.
fn next_page(cx: &Context, cursor: &str, limit: u32) -> Result<Output, ToolError> {
    const DOCUMENT: &str = concat!(
        "query($cursor: String!, $limit: Int!) { next_items_page(cursor: $cursor, limit: $limit) { \
         cursor items { id name state updated_at group { id title } ",
        value_fields!(),
        " } } }"
    );
    let answer = ask(cx, DOCUMENT, json!({ "cursor": cursor, "limit": limit }))?;
    page(&answer["next_items_page"])
}

#[derive(Args)]
pub struct ListItems {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Only the items of this group, by title or id.
    group: Option<String>,
    /// Items on a page.
    #[arg(min = 1, max = 500, default = 25)]
    limit: u32,
}

/// Lists the items (rows) of a board or of one group, with their values by column title.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["boards:read"], keywords = ["tasks", "rows", "tickets", "entries"], example = { "board_id": "1234567890", "limit": 50 })]
pub fn list_items(args: ListItems, cx: &Context) -> Result<Output, ToolError> {
    const OF_BOARD: &str = concat!(
        "query($board_id: ID!, $limit: Int!) { boards(ids: [$board_id]) { items_page(limit: $limit) { \
         cursor items { id name state updated_at group { id title } ",
        value_fields!(),
        " } } } }"
    );
    const OF_GROUP: &str = concat!(
        "query($board_id: ID!, $group: String!, $limit: Int!) { boards(ids: [$board_id]) { \
         groups(ids: [$group]) { items_page(limit: $limit) { \
         cursor items { id name state updated_at group { id title } ",
        value_fields!(),
        " } } } } }"
    );
    if let Some(cursor) = cx.cursor() {
        return next_page(cx, cursor, args.limit);
    }
    let board_id = &args.board_id;
    let Some(group) = &args.group else {
        let variables = json!({ "board_id": board_id, "limit": args.limit });
        let answer = ask(cx, OF_BOARD, variables)?;
        return page(&first(&answer["boards"], "board", board_id)?["items_page"]);
    };
    const GROUPS: &str =
        "query($board_id: ID!) { boards(ids: [$board_id]) { groups { id title } } }";
    let answer = ask(cx, GROUPS, json!({ "board_id": board_id }))?;
    let group = group_id(
        &first(&answer["boards"], "board", board_id)?["groups"],
        group,
    )?;
    let variables = json!({ "board_id": board_id, "group": group, "limit": args.limit });
    let answer = ask(cx, OF_GROUP, variables)?;
    page(&answer["boards"][0]["groups"][0]["items_page"])
}

#[derive(Args)]
pub struct GetItems {
    /// Ids of the items; the number at the end of an item's address.
    #[arg(min_items = 1, max_items = 100)]
    ids: Vec<String>,
}

/// Reads items with board, group, values, sub-items and their newest updates.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["boards:read", "updates:read"], keywords = ["task details", "row", "comments"], example = { "ids": ["1234567891"] })]
pub fn get_items(args: GetItems, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = concat!(
        "query($ids: [ID!]) { items(ids: $ids, limit: 100) { id name state url created_at updated_at \
         board { id name } group { id title } ",
        value_fields!(),
        " subitems { id name } updates(limit: 10) { id text_body created_at creator { name } } } }"
    );
    let answer = ask(cx, DOCUMENT, json!({ "ids": args.ids }))?;
    let items = answer["items"].as_array().into_iter().flatten();
    let items = items.map(|item| {
        let mut out = shown(item);
        out["created_at"] = item["created_at"].clone();
        for (key, fields) in [
            ("subitems", &["id", "name"][..]),
            (
                "updates",
                &["id", "author=creator/name", "created_at", "text=text_body"],
            ),
        ] {
            if item[key].as_array().is_some_and(|all| !all.is_empty()) {
                out[key] = pick_each(&item[key], fields);
            }
        }
        out
    });
    Ok(items.collect())
}

#[derive(Args)]
pub struct Condition {
    /// Title or id of the column; `name` for the item's name.
    column: String,
    /// Values as they are shown, any of which fits.
    #[arg(min_items = 1, max_items = 100)]
    values: Vec<String>,
}

#[derive(Args)]
pub struct SearchItems {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Conditions; all must hold.
    #[arg(min_items = 1, max_items = 10)]
    conditions: Vec<Condition>,
    /// Items on a page.
    #[arg(min = 1, max = 500, default = 25)]
    limit: u32,
}

/// Finds the items of a board whose columns have given values, for example all that are stuck.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["boards:read"], keywords = ["find task", "filter", "lookup"],
       example = { "board_id": "1234567890", "conditions": [{ "column": "Status", "values": ["Stuck"] }] })]
pub fn search_items(args: SearchItems, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = concat!(
        "query($board_id: ID!, $columns: [ItemsPageByColumnValuesQuery!], $limit: Int!) { \
         items_page_by_column_values(board_id: $board_id, columns: $columns, limit: $limit) { \
         cursor items { id name state updated_at group { id title } ",
        value_fields!(),
        " } } }"
    );
    if let Some(cursor) = cx.cursor() {
        return next_page(cx, cursor, args.limit);
    }
    const COLUMNS: &str =
        "query($board_id: ID!) { boards(ids: [$board_id]) { columns { id title type } } }";
    let answer = ask(cx, COLUMNS, json!({ "board_id": args.board_id }))?;
    let known = &first(&answer["boards"], "board", &args.board_id)?["columns"];
    let mut columns = Vec::new();
    for (index, condition) in args.conditions.iter().enumerate() {
        let id = match condition.column.as_str() {
            "name" => "name",
            title => titled(known, title)
                .and_then(|column| column["id"].as_str())
                .ok_or_else(|| {
                    ToolError::invalid(
                        format!("/conditions/{index}/column"),
                        format!(
                            "the board has no column `{title}`; it has {}",
                            titles(known)
                        ),
                    )
                })?,
        };
        columns.push(json!({ "column_id": id, "column_values": condition.values }));
    }
    let variables = json!({ "board_id": args.board_id, "columns": columns, "limit": args.limit });
    page(&ask(cx, DOCUMENT, variables)?["items_page_by_column_values"])
}
