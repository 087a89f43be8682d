//! What surrounds issues: teams, states, labels, people, projects, cycles.

use toolgate_sdk::plugin::NoArgs;
use toolgate_sdk::prelude::*;

use crate::api::{ask, page};
use crate::filter::{named_filter, team_filter};

/// Reads whose connection this is, and the teams that they belong to.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], scopes = ["read"], keywords = ["who am i", "account", "profile"],
       example = {})]
pub fn get_viewer(_: NoArgs, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query { viewer { id name displayName email \
        teams { nodes { key name } } organization { name urlKey } } }";
    let answer = ask(cx, DOCUMENT, json!({}))?;
    let fields = [
        "id",
        "name",
        "display_name=displayName",
        "email",
        "teams=teams/nodes",
        "workspace=organization/name",
        "workspace_key=organization/urlKey",
    ];
    Ok(pick(&answer["viewer"], &fields))
}

#[derive(Args)]
pub struct Listed {
    /// Entries on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the teams with key and name.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["groups", "squads"],
       example = {})]
pub fn list_teams(args: Listed, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Teams($first: Int, $after: String) { \
        teams(first: $first, after: $after) { nodes { id key name description cyclesEnabled } \
        pageInfo { hasNextPage endCursor } } }";
    let answer = ask(
        cx,
        DOCUMENT,
        json!({ "first": args.limit, "after": cx.cursor() }),
    )?;
    page(&answer["teams"], |team| {
        let fields = [
            "id",
            "key",
            "name",
            "description",
            "cycles_enabled=cyclesEnabled",
        ];
        pick(team, &fields)
    })
}

#[derive(Args)]
pub struct OfTeam {
    /// Team by key or name; of all teams unless given.
    team: Option<String>,
    /// Entries on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

impl OfTeam {
    fn variables(&self, cx: &Context) -> Value {
        let filter = match &self.team {
            Some(team) => json!({ "team": team_filter(team) }),
            None => json!({}),
        };
        json!({ "filter": filter, "first": self.limit, "after": cx.cursor() })
    }
}

/// Lists the states that issues of a team go through, with their kind.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["status", "workflow", "columns"], example = { "team": "ENG" })]
pub fn list_workflow_states(args: OfTeam, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query States($filter: WorkflowStateFilter, $first: Int, $after: String) { \
        workflowStates(filter: $filter, first: $first, after: $after) { \
        nodes { id name type position team { key } } pageInfo { hasNextPage endCursor } } }";
    let answer = ask(cx, DOCUMENT, args.variables(cx))?;
    page(&answer["workflowStates"], |state| {
        pick(state, &["id", "name", "type", "position", "team=team/key"])
    })
}

/// Lists labels; those without a team belong to the whole workspace.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["tags"], example = { "team": "ENG" })]
pub fn list_labels(args: OfTeam, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Labels($filter: IssueLabelFilter, $first: Int, $after: String) { \
        issueLabels(filter: $filter, first: $first, after: $after) { \
        nodes { id name description isGroup team { key } } pageInfo { hasNextPage endCursor } } }";
    let answer = ask(cx, DOCUMENT, args.variables(cx))?;
    page(&answer["issueLabels"], |label| {
        let fields = [
            "id",
            "name",
            "description",
            "is_group=isGroup",
            "team=team/key",
        ];
        pick(label, &fields)
    })
}

#[derive(Args)]
pub struct ListUsers {
    /// Part of the name or mail address.
    query: Option<String>,
    /// People on a page.
    #[arg(min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the people of the workspace, or finds one by a part of the name or mail address.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["members", "assignees", "find person"], example = { "query": "mona" })]
pub fn list_users(args: ListUsers, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Users($filter: UserFilter, $first: Int, $after: String) { \
        users(filter: $filter, first: $first, after: $after) { \
        nodes { id name displayName email active admin } pageInfo { hasNextPage endCursor } } }";
    let filter = match &args.query {
        Some(part) => {
            let within = json!({ "containsIgnoreCase": part });
            json!({ "or": [{ "name": within }, { "displayName": within }, { "email": within }] })
        }
        None => json!({}),
    };
    let variables = json!({ "filter": filter, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["users"], |user| {
        let fields = [
            "id",
            "name",
            "display_name=displayName",
            "email",
            "active",
            "admin",
        ];
        pick(user, &fields)
    })
}

#[derive(Args)]
pub struct ListProjects {
    /// Only the project of this name.
    name: Option<String>,
    /// Team by key or name.
    team: Option<String>,
    /// Projects on a page.
    #[arg(min = 1, max = 100, default = 25)]
    limit: u32,
}

/// Lists projects with state, progress from 0 to 1, lead and dates.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["roadmap", "initiatives", "progress"], example = { "team": "ENG" })]
pub fn list_projects(args: ListProjects, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Projects($filter: ProjectFilter, $first: Int, $after: String) { \
        projects(filter: $filter, first: $first, after: $after) { \
        nodes { id name description url progress startDate targetDate status { name type } \
        lead { name } teams { nodes { key } } } pageInfo { hasNextPage endCursor } } }";
    let mut filter = args.name.as_deref().map_or_else(|| json!({}), named_filter);
    if let Some(team) = &args.team {
        filter["accessibleTeams"] = json!({ "some": team_filter(team) });
    }
    let variables = json!({ "filter": filter, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["projects"], |project| {
        let fields = [
            "id",
            "name",
            "description",
            "url",
            "progress",
            "start_date=startDate",
            "target_date=targetDate",
            "status=status/name",
            "status_type=status/type",
            "lead=lead/name",
            "teams=teams/nodes/*/key",
        ];
        pick(project, &fields)
    })
}

/// Lists the cycles (sprints) of a team with number, dates and progress from 0 to 1.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["sprints", "iterations"], example = { "team": "ENG" })]
pub fn list_cycles(args: OfTeam, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Cycles($filter: CycleFilter, $first: Int, $after: String) { \
        cycles(filter: $filter, first: $first, after: $after) { \
        nodes { id number name startsAt endsAt completedAt progress team { key } } \
        pageInfo { hasNextPage endCursor } } }";
    let answer = ask(cx, DOCUMENT, args.variables(cx))?;
    page(&answer["cycles"], |cycle| {
        let fields = [
            "id",
            "number",
            "name",
            "starts_at=startsAt",
            "ends_at=endsAt",
            "completed_at=completedAt",
            "progress",
            "team=team/key",
        ];
        pick(cycle, &fields)
    })
}
