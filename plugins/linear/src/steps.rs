//! Steps on the way: milestones of projects and cycles of teams.

use toolgate_sdk::prelude::*;

use crate::api::{ask, issue_fields, issue_key, made, page, shown};
use crate::filter::{named_filter, team_filter};
use crate::projects::project_id;
use crate::resolve::{Wanted, resolve};

const MILESTONE: &[&str] = &[
    "id",
    "name",
    "description",
    "project=project/name",
    "target_date=targetDate",
    "progress",
    "status",
];

#[derive(Args)]
pub struct ListMilestones {
    /// Project by name or id.
    #[arg(min_length = 1)]
    project: String,
    /// Milestones on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the milestones of a project with date and progress from 0 to 100.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["project phases", "checkpoints"], example = { "project": "Faster search" })]
pub fn list_milestones(args: ListMilestones, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Milestones($filter: ProjectMilestoneFilter, $first: Int, $after: String) { \
        projectMilestones(filter: $filter, first: $first, after: $after) { nodes { id name description \
        targetDate progress status project { name } } pageInfo { hasNextPage endCursor } } }";
    let filter = json!({ "project": named_filter(&args.project) });
    let variables = json!({ "filter": filter, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["projectMilestones"], |one| {
        pick(one, MILESTONE)
    })
}

#[derive(Args)]
pub struct CreateMilestone {
    /// Project by name or id.
    #[arg(min_length = 1)]
    project: String,
    /// Name of the milestone.
    #[arg(min_length = 1, max_length = 200)]
    name: String,
    /// What it is about, in Markdown.
    description: Option<String>,
    /// Day on which it shall be reached.
    #[arg(format = "date")]
    target_date: Option<String>,
}

/// Adds a milestone to a project.
#[tool(effect = "write", scopes = ["write"], keywords = ["new phase", "checkpoint"],
       example = { "project": "Faster search", "name": "Beta", "target_date": "2026-05-01" })]
pub fn create_milestone(args: CreateMilestone, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Milestone($input: ProjectMilestoneCreateInput!) { \
        projectMilestoneCreate(input: $input) { success projectMilestone { id name targetDate project { name } } } }";
    let mut input = json!({ "projectId": project_id(cx, &args.project)?, "name": args.name });
    for (key, value) in [
        ("description", args.description),
        ("targetDate", args.target_date),
    ] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    Ok(pick(
        made(&answer, "projectMilestoneCreate", "projectMilestone")?,
        MILESTONE,
    ))
}

#[derive(Args)]
pub struct UpdateMilestone {
    /// Id of the milestone, as linear_list_milestones shows it.
    milestone: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// The new text, in Markdown.
    description: Option<String>,
    /// Day on which it shall be reached.
    #[arg(format = "date")]
    target_date: Option<String>,
}

/// Changes the name, text or date of a milestone.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["edit milestone", "move date"],
       example = { "milestone": "3e8e0000-9b5c-4a3d-9f5c-1f2c3d4e5f60", "target_date": "2026-05-08" })]
pub fn update_milestone(args: UpdateMilestone, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Milestone($id: String!, $input: ProjectMilestoneUpdateInput!) { \
        projectMilestoneUpdate(id: $id, input: $input) { success projectMilestone { id name targetDate project { name } } } }";
    let mut input = json!({});
    for (key, value) in [
        ("name", args.name),
        ("description", args.description),
        ("targetDate", args.target_date),
    ] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    if input == json!({}) {
        return Err(ToolError::invalid("/name", "say what shall change"));
    }
    let answer = ask(
        cx,
        DOCUMENT,
        json!({ "id": args.milestone, "input": input }),
    )?;
    Ok(pick(
        made(&answer, "projectMilestoneUpdate", "projectMilestone")?,
        MILESTONE,
    ))
}

#[derive(Args)]
pub struct CreateCycle {
    /// Team by key or name.
    team: String,
    /// When it begins.
    #[arg(format = "date-time", examples = ["2026-04-06T00:00:00Z"])]
    starts_at: String,
    /// When it ends.
    #[arg(format = "date-time", examples = ["2026-04-20T00:00:00Z"])]
    ends_at: String,
    /// Its name; its number unless given.
    #[arg(max_length = 200)]
    name: Option<String>,
}

const CYCLE: &[&str] = &[
    "id",
    "number",
    "name",
    "starts_at=startsAt",
    "ends_at=endsAt",
];

/// Creates a cycle (sprint) of a team.
#[tool(effect = "write", scopes = ["write"], keywords = ["new sprint", "iteration"],
       example = { "team": "ENG", "starts_at": "2026-04-06T00:00:00Z", "ends_at": "2026-04-20T00:00:00Z" })]
pub fn create_cycle(args: CreateCycle, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Cycle($input: CycleCreateInput!) { \
        cycleCreate(input: $input) { success cycle { id number name startsAt endsAt } } }";
    let wanted = Wanted {
        team: Some(&args.team),
        ..Wanted::default()
    };
    let found = resolve(cx, &wanted)?;
    let mut input = json!({
        "teamId": found.team, "startsAt": args.starts_at, "endsAt": args.ends_at,
    });
    if let Some(name) = args.name {
        input["name"] = json!(name);
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    Ok(pick(made(&answer, "cycleCreate", "cycle")?, CYCLE))
}

/// A cycle of a team by its number, or `current`, `next`, `previous`.
fn cycle_filter(team: &str, cycle: &str) -> Result<Value, ToolError> {
    let mut filter = json!({ "team": team_filter(team) });
    match cycle {
        "current" => filter["isActive"] = json!({ "eq": true }),
        "next" => filter["isNext"] = json!({ "eq": true }),
        "previous" => filter["isPrevious"] = json!({ "eq": true }),
        other => match other.parse::<u32>() {
            Ok(number) => filter["number"] = json!({ "eq": number }),
            Err(_) => {
                let text = "expected a number, `current`, `next` or `previous`";
                return Err(ToolError::invalid("/cycle", text));
            }
        },
    }
    Ok(filter)
}

#[derive(Args)]
pub struct ListCycleIssues {
    /// Team by key or name.
    team: String,
    /// Number of the cycle, `current`, `next` or `previous`.
    #[arg(default = "current", pattern = "^([0-9]+|current|next|previous)$")]
    cycle: String,
    /// Issues on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the issues of a cycle (sprint) of a team.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["sprint issues", "current sprint", "planned work"],
       example = { "team": "ENG", "cycle": "current" })]
pub fn list_cycle_issues(args: ListCycleIssues, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = concat!(
        "query CycleIssues($filter: IssueFilter, $first: Int, $after: String) { \
         issues(filter: $filter, first: $first, after: $after) { nodes { ",
        issue_fields!(),
        " } pageInfo { hasNextPage endCursor } } }"
    );
    let filter = json!({ "cycle": cycle_filter(&args.team, &args.cycle)? });
    let variables = json!({ "filter": filter, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["issues"], shown)
}

#[derive(Args)]
pub struct SetIssueCycle {
    /// Identifier such as `ENG-123`, id or address of the issue.
    issue: String,
    /// Number of a cycle of its team, `current`, `next`, `previous`, or `none` to take it out.
    #[arg(pattern = "^([0-9]+|current|next|previous|none)$")]
    cycle: String,
}

/// Puts an issue into a cycle (sprint) of its team, or takes it out.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["add to sprint", "plan issue", "move to next sprint"],
       example = { "issue": "ENG-123", "cycle": "next" })]
pub fn set_issue_cycle(args: SetIssueCycle, cx: &Context) -> Result<Value, ToolError> {
    const FIND: &str = "query Cycle($filter: CycleFilter) { cycles(filter: $filter, first: 1) { nodes { id number } } }";
    const DOCUMENT: &str = concat!(
        "mutation Plan($id: String!, $input: IssueUpdateInput!) { \
         issueUpdate(id: $id, input: $input) { success issue { ",
        issue_fields!(),
        " } } }"
    );
    let id = issue_key(&args.issue, "issue")?;
    let cycle = if args.cycle == "none" {
        Value::Null
    } else {
        let wanted = Wanted {
            issue: Some(&id),
            ..Wanted::default()
        };
        let team = resolve(cx, &wanted)?.team.unwrap_or_default();
        let filter = cycle_filter(&team, &args.cycle)?;
        let answer = ask(cx, FIND, json!({ "filter": filter }))?;
        match &answer["cycles"]["nodes"][0]["id"] {
            Value::Null => {
                let text = format!(
                    "the team has no cycle `{}`; linear_list_cycles shows them",
                    args.cycle
                );
                return Err(ToolError::invalid("/cycle", text));
            }
            found => found.clone(),
        }
    };
    let answer = ask(
        cx,
        DOCUMENT,
        json!({ "id": id, "input": { "cycleId": cycle } }),
    )?;
    Ok(shown(made(&answer, "issueUpdate", "issue")?))
}
