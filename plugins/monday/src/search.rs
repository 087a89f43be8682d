//! Finding things over all boards.

use toolgate_sdk::prelude::*;

use crate::api::ask;
use crate::items::shown;
use crate::values::value_fields;

#[derive(Args)]
pub struct Search {
    /// Words to look for.
    #[arg(min_length = 1, max_length = 500)]
    query: String,
    /// Only within these workspaces; ids come from monday_list_workspaces.
    #[arg(max_items = 50)]
    workspace_ids: Option<Vec<String>>,
    /// Most hits of each kind.
    #[arg(min = 1, max = 50, default = 10)]
    limit: u32,
}

/// Finds items, boards and docs of the whole account by words.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["boards:read", "docs:read"],
       keywords = ["find", "look for", "where is"], example = { "query": "launch" })]
pub fn search(args: Search, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query($query: String!, $limit: Int, $workspace_ids: [ID!]) { search { \
        items(query: $query, limit: $limit, workspace_ids: $workspace_ids) { results { indexed_data { id name url board_id } } } \
        boards(query: $query, limit: $limit, workspace_ids: $workspace_ids) { results { indexed_data { id name url } } } \
        docs(query: $query, limit: $limit, workspace_ids: $workspace_ids) { results { indexed_data { id name } } } } }";
    let variables =
        json!({ "query": args.query, "limit": args.limit, "workspace_ids": args.workspace_ids });
    let found = &ask(cx, DOCUMENT, variables)?["search"];
    let mut out = json!({});
    for kind in ["items", "boards", "docs"] {
        let results = found[kind]["results"].as_array().into_iter().flatten();
        let fields = ["id", "name", "url", "board_id"];
        let hits = results.map(|hit| pick(&hit["indexed_data"], &fields));
        out[kind] = hits.collect();
    }
    Ok(out)
}

#[derive(Args)]
pub struct ListMyItems {
    /// Boards to look at; the ten last used ones unless given. Ids come from monday_list_boards.
    #[arg(min_items = 1, max_items = 10)]
    board_ids: Option<Vec<String>>,
    /// Most items of one board.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists the items that are assigned to the connected user, over several boards, with their values by column title.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["boards:read"],
       keywords = ["my tasks", "assigned to me", "my work", "to do"], example = { "limit": 10 })]
pub fn list_my_items(args: ListMyItems, cx: &Context) -> Result<Value, ToolError> {
    const BOARDS: &str = "query($ids: [ID!]) { boards(ids: $ids, limit: 10, order_by: used_at) { \
        id name columns(types: [people]) { id } } }";
    const ITEMS: &str = concat!(
        "query($board_id: ID!, $limit: Int!, $rules: ItemsQuery) { boards(ids: [$board_id]) { \
         items_page(limit: $limit, query_params: $rules) { \
         items { id name state url updated_at group { id title } board { id name } ",
        value_fields!(),
        " } } } }"
    );
    let boards = ask(cx, BOARDS, json!({ "ids": args.board_ids }))?["boards"].clone();
    let mut all = Vec::new();
    for board in boards.as_array().into_iter().flatten() {
        let columns = board["columns"].as_array().into_iter().flatten();
        let rules: Vec<Value> = columns
            .map(|column| json!({ "column_id": column["id"], "compare_value": ["assigned_to_me"], "operator": "any_of" }))
            .collect();
        if rules.is_empty() {
            continue;
        }
        let variables = json!({ "board_id": board["id"], "limit": args.limit,
                                "rules": { "rules": rules, "operator": "or" } });
        let answer = ask(cx, ITEMS, variables)?;
        let items = answer["boards"][0]["items_page"]["items"].as_array();
        all.extend(items.into_iter().flatten().map(shown));
    }
    Ok(Value::from(all))
}
