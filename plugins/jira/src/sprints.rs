//! Sprints of scrum boards, over the Jira Software API.

use toolgate_sdk::prelude::*;

use crate::api::{next_start, software};
use crate::boards::issues;

const SPRINT: &[&str] = &[
    "id",
    "name",
    "state",
    "goal",
    "start=startDate",
    "end=endDate",
    "completed=completeDate",
    "board=originBoardId",
];

#[derive(Args)]
pub enum State {
    Future,
    Active,
    Closed,
}

#[derive(Args)]
pub struct ListSprints {
    /// Id of the scrum board, as jira_list_boards shows it.
    #[arg(min = 1)]
    board: u64,
    /// Only sprints in this state.
    state: Option<State>,
    /// Sprints on a page.
    #[arg(min = 1, max = 50, default = 25)]
    limit: u32,
}

/// Lists the sprints of a board with name, state, goal and dates.
#[tool(effect = "read", paginated, keywords = ["iterations", "current sprint", "active sprint"],
       example = { "board": 84, "state": "active" })]
pub fn list_sprints(args: ListSprints, cx: &Context) -> Result<Output, ToolError> {
    let answer = software(cx)
        .get(path!("/board/{}/sprint", args.board))
        .query("state", args.state)
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit)
        .fetch()?;
    let shown = answer["values"].as_array().map_or(0, Vec::len);
    let start = answer["startAt"].as_u64().unwrap_or(0) + shown as u64;
    // This list may come without a total.
    let next = match answer["isLast"].as_bool() {
        Some(last) => (!last && shown > 0).then(|| start.to_string()),
        None => next_start(&answer, shown),
    };
    Output::page(pick_each(&answer["values"], SPRINT), next)
}

#[derive(Args)]
pub struct OneSprint {
    /// Id of the sprint, as jira_list_sprints shows it.
    #[arg(min = 1)]
    sprint: u64,
}

/// Reads one sprint: its name, state, goal and dates.
#[tool(effect = "read", keywords = ["sprint goal", "sprint dates"], example = { "sprint": 37 })]
pub fn get_sprint(args: OneSprint, cx: &Context) -> Result<Value, ToolError> {
    let request = software(cx).get(path!("/sprint/{}", args.sprint));
    Ok(pick(&request.fetch()?, SPRINT))
}

#[derive(Args)]
pub struct SprintIssues {
    /// Id of the sprint, as jira_list_sprints shows it.
    #[arg(min = 1)]
    sprint: u64,
    /// Only issues that this JQL finds, for example `status != Done`.
    #[arg(max_length = 4000)]
    jql: Option<String>,
    /// Issues on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists the issues of a sprint.
#[tool(effect = "read", paginated, keywords = ["sprint backlog", "planned work"],
       example = { "sprint": 37, "jql": "status != Done" })]
pub fn list_sprint_issues(args: SprintIssues, cx: &Context) -> Result<Output, ToolError> {
    let request = software(cx).get(path!("/sprint/{}/issue", args.sprint));
    issues(cx, request, args.jql, args.limit)
}

#[derive(Args)]
pub struct CreateSprint {
    /// Id of the scrum board, as jira_list_boards shows it.
    #[arg(min = 1)]
    board: u64,
    /// Name of the sprint.
    #[arg(min_length = 1, max_length = 30)]
    name: String,
    /// What it shall achieve.
    #[arg(max_length = 2000)]
    goal: Option<String>,
    /// When it begins.
    #[arg(format = "date-time", examples = ["2026-03-30T09:00:00.000Z"])]
    start: Option<String>,
    /// When it ends.
    #[arg(format = "date-time", examples = ["2026-04-10T17:00:00.000Z"])]
    end: Option<String>,
}

/// Creates a sprint on a scrum board. It begins when jira_update_sprint sets its state to active.
#[tool(effect = "write", keywords = ["new iteration", "plan sprint"],
       example = { "board": 84, "name": "Sprint 12", "goal": "Faster search" })]
pub fn create_sprint(args: CreateSprint, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({ "originBoardId": args.board, "name": args.name });
    for (key, value) in [
        ("goal", args.goal),
        ("startDate", args.start),
        ("endDate", args.end),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    Ok(pick(
        &software(cx).post("/sprint").json(&body).fetch()?,
        SPRINT,
    ))
}

#[derive(Args)]
pub struct UpdateSprint {
    /// Id of the sprint, as jira_list_sprints shows it.
    #[arg(min = 1)]
    sprint: u64,
    /// `active` starts it, which needs a start and an end; `closed` completes it.
    state: Option<State>,
    /// The new name.
    #[arg(min_length = 1, max_length = 30)]
    name: Option<String>,
    /// The new goal.
    #[arg(max_length = 2000)]
    goal: Option<String>,
    /// When it begins.
    #[arg(format = "date-time")]
    start: Option<String>,
    /// When it ends.
    #[arg(format = "date-time")]
    end: Option<String>,
}

/// Starts or completes a sprint, or changes its name, goal or dates.
#[tool(effect = "write", idempotent, keywords = ["start sprint", "close sprint", "complete sprint", "extend"],
       example = { "sprint": 37, "state": "closed" })]
pub fn update_sprint(args: UpdateSprint, cx: &Context) -> Result<Value, ToolError> {
    let mut body = json!({});
    for (key, value) in [
        ("state", args.state.map(|state| state.as_str().to_owned())),
        ("name", args.name),
        ("goal", args.goal),
        ("startDate", args.start),
        ("endDate", args.end),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    if body == json!({}) {
        return Err(ToolError::invalid("/state", "say what shall change"));
    }
    let request = software(cx).post(path!("/sprint/{}", args.sprint));
    Ok(pick(&request.json(&body).fetch()?, SPRINT))
}

/// Deletes a sprint. Its open issues go back to the backlog.
#[tool(effect = "destructive", idempotent, keywords = ["remove sprint"], example = { "sprint": 37 })]
pub fn delete_sprint(args: OneSprint, cx: &Context) -> Result<Value, ToolError> {
    software(cx)
        .delete(path!("/sprint/{}", args.sprint))
        .send()?;
    Ok(json!({ "deleted": args.sprint }))
}

#[derive(Args)]
pub struct MoveToSprint {
    /// Id of the sprint, as jira_list_sprints shows it.
    #[arg(min = 1)]
    sprint: u64,
    /// Keys of the issues, for example `ABC-123`.
    #[arg(min_items = 1, max_items = 50)]
    issues: Vec<String>,
}

/// Puts issues into a sprint.
#[tool(effect = "write", idempotent, keywords = ["plan issue", "add to sprint"],
       example = { "sprint": 37, "issues": ["ABC-123", "ABC-124"] })]
pub fn move_to_sprint(args: MoveToSprint, cx: &Context) -> Result<Value, ToolError> {
    let request = software(cx).post(path!("/sprint/{}/issue", args.sprint));
    request.json(&json!({ "issues": args.issues })).send()?;
    Ok(json!({ "sprint": args.sprint, "moved": args.issues }))
}
