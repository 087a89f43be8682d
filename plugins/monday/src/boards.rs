//! Boards, their groups and columns, and the workspaces they are in.

use toolgate_sdk::prelude::*;

use crate::api::{ask, first, numbered};

#[derive(Args)]
pub struct ListBoards {
    /// Only boards of these workspaces; ids come from monday_list_workspaces.
    #[arg(max_items = 50)]
    workspace_ids: Option<Vec<String>>,
    /// Boards on a page.
    #[arg(min = 1, max = 500, default = 25)]
    limit: u32,
}

/// Lists boards with id, name, kind, state and workspace, the last used first.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["boards:read"], keywords = ["projects", "tables"], example = { "limit": 50 })]
pub fn list_boards(args: ListBoards, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query($limit: Int, $page: Int, $workspace_ids: [ID]) { \
        boards(limit: $limit, page: $page, workspace_ids: $workspace_ids, order_by: used_at) { \
        id name description board_kind state items_count url workspace { id name } } }";
    let page = cx.page_number(1)?;
    let variables =
        json!({ "limit": args.limit, "page": page, "workspace_ids": args.workspace_ids });
    let answer = ask(cx, DOCUMENT, variables)?;
    let fields = [
        "id",
        "name",
        "description",
        "kind=board_kind",
        "state",
        "items=items_count",
        "url",
        "workspace=workspace/name",
    ];
    numbered(pick_each(&answer["boards"], &fields), page, args.limit)
}

#[derive(Args)]
pub struct GetBoard {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
}

/// Reads a board: its groups, and its columns with type and the labels that a status or dropdown takes.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], scopes = ["boards:read"], keywords = ["columns", "groups", "structure", "fields"], example = { "board_id": "1234567890" })]
pub fn get_board(args: GetBoard, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query($board_id: ID!) { boards(ids: [$board_id]) { \
        id name description state url items_count groups { id title color } \
        columns { id title type settings } owners { id name } } }";
    let answer = ask(cx, DOCUMENT, json!({ "board_id": args.board_id }))?;
    let board = first(&answer["boards"], "board", &args.board_id)?;
    let fields = [
        "id",
        "name",
        "description",
        "state",
        "url",
        "items=items_count",
        "groups",
        "owners=owners/*/name",
    ];
    let mut out = pick(board, &fields);
    let columns = board["columns"].as_array().into_iter().flatten();
    out["columns"] = columns
        .map(|column| {
            let mut shown = pick(column, &["id", "title", "type"]);
            let labels = labels(&column["settings"]);
            if !labels.is_empty() {
                shown["labels"] = json!(labels);
            }
            shown
        })
        .collect();
    Ok(out)
}

/// The labels in a column's settings: a map by number, or a list of objects, in JSON or in a text of JSON.
fn labels(settings: &Value) -> Vec<String> {
    let read = settings.as_str().and_then(|text| text.parse().ok());
    let settings: Value = read.unwrap_or_else(|| settings.clone());
    let word = |value: &Value| {
        let text = value.as_str().or_else(|| value["label"].as_str());
        let text = text.or_else(|| value["name"].as_str());
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match &settings["labels"] {
        Value::Object(all) => all.values().filter_map(word).collect(),
        Value::Array(all) => all.iter().filter_map(word).collect(),
        _ => Vec::new(),
    }
}

#[derive(Args)]
pub enum BoardKind {
    Public,
    Private,
    Share,
}

#[derive(Args)]
pub struct CreateBoard {
    /// Name of the board.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// Who sees it: everybody of the account, only those invited, or guests too.
    #[arg(default = "public")]
    kind: BoardKind,
    /// What it is for.
    description: Option<String>,
    /// Workspace to put it into; ids come from monday_list_workspaces.
    workspace_id: Option<String>,
}

/// Creates an empty board in a workspace and answers its id and address.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["new board", "project", "table"], example = { "name": "Launch" })]
pub fn create_board(args: CreateBoard, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($name: String!, $kind: BoardKind!, $description: String, $workspace: ID) { \
        create_board(board_name: $name, board_kind: $kind, description: $description, workspace_id: $workspace) { id name url } }";
    let variables = json!({ "name": args.name, "kind": args.kind,
                            "description": args.description, "workspace": args.workspace_id });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(pick(&answer["create_board"], &["id", "name", "url"]))
}

#[derive(Args)]
pub struct CreateGroup {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Title of the group.
    #[arg(min_length = 1, max_length = 255)]
    group_name: String,
}

/// Adds a group (a section of items) to a board.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["section", "sprint"], example = { "board_id": "1234567890", "group_name": "Next week" })]
pub fn create_group(args: CreateGroup, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $group_name: String!) { \
        create_group(board_id: $board_id, group_name: $group_name) { id title } }";
    let answer = ask(
        cx,
        DOCUMENT,
        json!({ "board_id": args.board_id, "group_name": args.group_name }),
    )?;
    Ok(pick(&answer["create_group"], &["id", "title"]))
}

#[derive(Args)]
pub enum ColumnType {
    Text,
    LongText,
    Numbers,
    Status,
    Dropdown,
    Date,
    Timeline,
    People,
    Checkbox,
    Link,
    Email,
    Phone,
    Rating,
    Hour,
}

#[derive(Args)]
pub struct CreateColumn {
    /// Id of the board; ids come from monday_list_boards.
    board_id: String,
    /// Title of the column.
    #[arg(min_length = 1, max_length = 255)]
    title: String,
    /// What it holds.
    column_type: ColumnType,
}

/// Adds a column to a board.
#[tool(effect = "write", scopes = ["boards:write"], keywords = ["new field", "property"], example = { "board_id": "1234567890", "title": "Due", "column_type": "date" })]
pub fn create_column(args: CreateColumn, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation($board_id: ID!, $title: String!, $kind: ColumnType!) { \
        create_column(board_id: $board_id, title: $title, column_type: $kind) { id title type } }";
    let variables =
        json!({ "board_id": args.board_id, "title": args.title, "kind": args.column_type });
    let answer = ask(cx, DOCUMENT, variables)?;
    Ok(pick(&answer["create_column"], &["id", "title", "type"]))
}

#[derive(Args)]
pub struct ListWorkspaces {
    /// Workspaces on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists the workspaces that hold boards.
#[tool(effect = "read", queries = ["GRAPHQL https://api.monday.com/v2"], paginated, scopes = ["workspaces:read"], keywords = ["areas", "folders"],
       example = {})]
pub fn list_workspaces(args: ListWorkspaces, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query($limit: Int, $page: Int) { \
        workspaces(limit: $limit, page: $page) { id name kind description } }";
    let page = cx.page_number(1)?;
    let answer = ask(cx, DOCUMENT, json!({ "limit": args.limit, "page": page }))?;
    let workspaces = pick_each(
        &answer["workspaces"],
        &["id", "name", "kind", "description"],
    );
    numbered(workspaces, page, args.limit)
}

#[cfg(test)]
mod tests {
    use super::labels;
    use toolgate_sdk::{Value, json};

    #[test]
    fn labels_are_found_in_both_forms() {
        for (settings, expected) in [
            (
                json!({ "labels": { "0": "Working", "1": "Done", "5": "" } }),
                &["Working", "Done"][..],
            ),
            (
                json!(r#"{"labels":{"0":"Working","1":"Done","5":""}}"#),
                &["Working", "Done"],
            ),
            (
                json!({ "labels": [{ "id": 1, "label": "A" }, { "id": 2, "name": "B" }] }),
                &["A", "B"],
            ),
            (json!({}), &[]),
            (Value::Null, &[]),
        ] {
            assert_eq!(labels(&settings), expected, "{settings}");
        }
    }
}
