//! Boards and their backlogs, over the Jira Software API.

use toolgate_sdk::prelude::*;

use crate::api::{next_start, software};
use crate::issues::{FIELDS, shown};

#[derive(Args)]
pub enum BoardType {
    Scrum,
    Kanban,
    Simple,
}

#[derive(Args)]
pub struct ListBoards {
    /// Key of a project, for example `ABC`.
    project: Option<String>,
    /// Only boards with this in their name.
    name: Option<String>,
    /// Only boards of this type; sprints are on scrum boards.
    #[arg(rename = "type")]
    kind: Option<BoardType>,
    /// Boards on a page.
    #[arg(min = 1, max = 50, default = 25)]
    limit: u32,
}

/// Lists boards with id, name and type.
#[tool(effect = "read", paginated, keywords = ["scrum", "kanban", "agile"],
       example = { "project": "ABC", "type": "scrum" })]
pub fn list_boards(args: ListBoards, cx: &Context) -> Result<Output, ToolError> {
    let answer = software(cx)
        .get("/board")
        .query("projectKeyOrId", args.project)
        .query("name", args.name)
        .query("type", args.kind)
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit)
        .fetch()?;
    let shown = answer["values"].as_array().map_or(0, Vec::len);
    let boards = pick_each(
        &answer["values"],
        &["id", "name", "type", "project=location/projectKey"],
    );
    Output::page(boards, next_start(&answer, shown))
}

#[derive(Args)]
pub struct OneBoard {
    /// Id of the board, as jira_list_boards shows it.
    #[arg(min = 1)]
    board: u64,
}

/// Reads a board: its columns with the statuses in each, and how issues are estimated.
#[tool(effect = "read", keywords = ["columns", "board configuration"], example = { "board": 84 })]
pub fn get_board(args: OneBoard, cx: &Context) -> Result<Value, ToolError> {
    let request = software(cx).get(path!("/board/{}/configuration", args.board));
    let board = request.fetch()?;
    let mut out = pick(
        &board,
        &[
            "id",
            "name",
            "type",
            "filter_id=filter/id",
            "estimation=estimation/field/displayName",
        ],
    );
    let columns = pick_each(
        &board["columnConfig"]["columns"],
        &["name", "max", "status_ids=statuses/*/id"],
    );
    out["columns"] = columns;
    Ok(out)
}

#[derive(Args)]
pub struct BoardIssues {
    /// Id of the board, as jira_list_boards shows it.
    #[arg(min = 1)]
    board: u64,
    /// Only issues that this JQL finds, for example `assignee = currentUser()`.
    #[arg(max_length = 4000)]
    jql: Option<String>,
    /// Issues on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// A page of issues at an address below a board or sprint.
pub fn issues(
    cx: &Context,
    request: toolgate_sdk::http::Request<'_>,
    jql: Option<String>,
    limit: u32,
) -> Result<Output, ToolError> {
    let answer = request
        .query("jql", jql)
        .query("fields", FIELDS)
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", limit)
        .fetch()?;
    let issues = answer["issues"].as_array().into_iter().flatten();
    let issues: Vec<Value> = issues.map(shown).collect();
    let next = next_start(&answer, issues.len());
    Output::page(issues, next)
}

/// Lists the issues of a board in its order.
#[tool(effect = "read", paginated, keywords = ["board cards", "what is on the board"],
       example = { "board": 84, "jql": "assignee = currentUser()" })]
pub fn list_board_issues(args: BoardIssues, cx: &Context) -> Result<Output, ToolError> {
    let request = software(cx).get(path!("/board/{}/issue", args.board));
    issues(cx, request, args.jql, args.limit)
}

/// Lists the issues in the backlog of a board in their order.
#[tool(effect = "read", paginated, keywords = ["not planned", "to be planned"],
       example = { "board": 84 })]
pub fn list_backlog(args: BoardIssues, cx: &Context) -> Result<Output, ToolError> {
    let request = software(cx).get(path!("/board/{}/backlog", args.board));
    issues(cx, request, args.jql, args.limit)
}

#[derive(Args)]
pub struct MoveToBacklog {
    /// Keys of the issues, for example `ABC-123`.
    #[arg(min_items = 1, max_items = 50)]
    issues: Vec<String>,
}

/// Takes issues out of their sprint and puts them into the backlog.
#[tool(effect = "write", idempotent, keywords = ["remove from sprint", "unplan"],
       example = { "issues": ["ABC-123"] })]
pub fn move_to_backlog(args: MoveToBacklog, cx: &Context) -> Result<Value, ToolError> {
    let body = json!({ "issues": args.issues });
    software(cx).post("/backlog/issue").json(&body).send()?;
    Ok(json!({ "moved": args.issues }))
}

#[derive(Args)]
pub struct RankIssues {
    /// Keys of the issues to move, in the wanted order.
    #[arg(min_items = 1, max_items = 50)]
    issues: Vec<String>,
    /// Key of the issue before which they shall be. Either this or `after`.
    before: Option<String>,
    /// Key of the issue after which they shall be.
    after: Option<String>,
}

/// Moves issues before or after another one in the backlog or sprint.
#[tool(effect = "write", idempotent, keywords = ["reorder", "prioritise", "sort backlog"],
       example = { "issues": ["ABC-123"], "before": "ABC-100" })]
pub fn rank_issues(args: RankIssues, cx: &Context) -> Result<Value, ToolError> {
    let body = match (&args.before, &args.after) {
        (Some(before), None) => json!({ "issues": args.issues, "rankBeforeIssue": before }),
        (None, Some(after)) => json!({ "issues": args.issues, "rankAfterIssue": after }),
        _ => return Err(ToolError::invalid("/before", "give either before or after")),
    };
    software(cx).put("/issue/rank").json(&body).send()?;
    Ok(json!({ "moved": args.issues }))
}
