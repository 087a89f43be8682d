//! Projects read and changed, and the reports of how they go.

use toolgate_sdk::prelude::*;

use crate::api::{ask, made, page};
use crate::filter::Priority;
use crate::resolve::{Wanted, resolve};

/// The id of a project by name or id.
pub fn project_id(cx: &Context, name: &str) -> Result<Option<String>, ToolError> {
    let wanted = Wanted {
        project: Some(name),
        ..Wanted::default()
    };
    Ok(resolve(cx, &wanted)?.project)
}

#[derive(Args)]
pub struct OneProject {
    /// Project by name or id.
    #[arg(min_length = 1)]
    project: String,
}

/// Reads a project: its text in Markdown, status, progress, lead, members, milestones, links and newest report.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], scopes = ["read"], keywords = ["project details", "roadmap item", "project status"], example = { "project": "Faster search" })]
pub fn get_project(args: OneProject, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "query Project($id: String!) { project(id: $id) { id name description content url \
        progress health priorityLabel startDate targetDate status { name type } lead { name email } \
        teams { nodes { key } } members { nodes { name } } \
        projectMilestones { nodes { id name targetDate } } externalLinks { nodes { label url } } \
        lastUpdate { body health createdAt user { name } } } }";
    let id = project_id(cx, &args.project)?;
    let answer = ask(cx, DOCUMENT, json!({ "id": id }))?;
    let fields = [
        "id",
        "name",
        "description",
        "content",
        "url",
        "progress",
        "health",
        "priority=priorityLabel",
        "start_date=startDate",
        "target_date=targetDate",
        "status=status/name",
        "lead=lead/name",
        "teams=teams/nodes/*/key",
        "members=members/nodes/*/name",
        "milestones=projectMilestones/nodes",
        "links=externalLinks/nodes",
        "last_report=lastUpdate",
    ];
    Ok(pick(&answer["project"], &fields))
}

#[derive(Args)]
pub struct UpdateProject {
    /// Project by name or id.
    #[arg(min_length = 1)]
    project: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 80)]
    name: Option<String>,
    /// What it is for, in a line.
    #[arg(max_length = 255)]
    description: Option<String>,
    /// The whole text, in Markdown; it takes the place of the old one.
    content: Option<String>,
    /// Its status by name, for example `In Progress`.
    status: Option<String>,
    /// Who leads it: `me`, `none`, a mail address or a name.
    lead: Option<String>,
    /// How urgent it is.
    priority: Option<Priority>,
    /// Day on which it begins, `none` for no such day.
    #[arg(pattern = "^(none|[0-9]{4}-[0-9]{2}-[0-9]{2})$")]
    start_date: Option<String>,
    /// Day on which it shall be done, `none` for no such day.
    #[arg(pattern = "^(none|[0-9]{4}-[0-9]{2}-[0-9]{2})$")]
    target_date: Option<String>,
}

/// Changes a project: its name, text, status, lead, priority or dates.
#[tool(effect = "write", idempotent, scopes = ["write"], keywords = ["edit project", "complete project", "reschedule", "assign lead"],
       example = { "project": "Faster search", "status": "Completed" })]
pub fn update_project(args: UpdateProject, cx: &Context) -> Result<Value, ToolError> {
    const STATUSES: &str = "query { projectStatuses(first: 50) { nodes { id name type } } }";
    const DOCUMENT: &str = "mutation Update($id: String!, $input: ProjectUpdateInput!) { \
        projectUpdate(id: $id, input: $input) { success project { id name url status { name } \
        lead { name } startDate targetDate } } }";
    let lead = args.lead.as_deref().filter(|lead| *lead != "none");
    let wanted = Wanted {
        project: Some(&args.project),
        person: lead,
        ..Wanted::default()
    };
    let found = resolve(cx, &wanted)?;
    let mut input = json!({});
    for (key, value) in [
        ("name", args.name),
        ("description", args.description),
        ("content", args.content),
        ("leadId", found.person),
    ] {
        if let Some(value) = value {
            input[key] = json!(value);
        }
    }
    if let Some(priority) = args.priority {
        input["priority"] = json!(priority.number());
    }
    if args.lead.as_deref() == Some("none") {
        input["leadId"] = Value::Null;
    }
    for (key, day) in [
        ("startDate", &args.start_date),
        ("targetDate", &args.target_date),
    ] {
        if let Some(day) = day {
            input[key] = if day == "none" {
                Value::Null
            } else {
                json!(day)
            };
        }
    }
    if let Some(name) = &args.status {
        let answer = ask(cx, STATUSES, json!({}))?;
        let all = answer["projectStatuses"]["nodes"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let same = |one: &&Value| {
            let known = one["name"].as_str().unwrap_or_default();
            known.eq_ignore_ascii_case(name) || one["type"] == name.to_lowercase().as_str()
        };
        let status = all.iter().find(same).ok_or_else(|| {
            let known: Vec<&str> = all.iter().filter_map(|one| one["name"].as_str()).collect();
            let text = format!(
                "there is no status `{name}`; there are {}",
                known.join(", ")
            );
            ToolError::invalid("/status", text)
        })?;
        input["statusId"] = status["id"].clone();
    }
    if input == json!({}) {
        return Err(ToolError::invalid("/name", "say what shall change"));
    }
    let answer = ask(cx, DOCUMENT, json!({ "id": found.project, "input": input }))?;
    let fields = [
        "id",
        "name",
        "url",
        "status=status/name",
        "lead=lead/name",
        "start_date=startDate",
        "target_date=targetDate",
    ];
    Ok(pick(made(&answer, "projectUpdate", "project")?, &fields))
}

/// Moves a project to the trash, from where Linear deletes it after 30 days. Its issues stay.
#[tool(effect = "destructive", idempotent, scopes = ["write"], keywords = ["remove project", "trash"], example = { "project": "Faster search" })]
pub fn delete_project(args: OneProject, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Delete($id: String!) { projectDelete(id: $id) { success } }";
    let id = project_id(cx, &args.project)?;
    let answer = ask(cx, DOCUMENT, json!({ "id": id }))?;
    made(&answer, "projectDelete", "success")?;
    Ok(json!({ "deleted": id }))
}

#[derive(Args)]
pub struct ListProjectUpdates {
    /// Project by name or id; of all projects unless given.
    project: Option<String>,
    /// Reports on a page.
    #[arg(min = 1, max = 50, default = 20)]
    limit: u32,
}

/// Lists the reports (project updates) of how a project goes, with health and text in Markdown, newest first.
#[tool(effect = "read", queries = ["GRAPHQL https://api.linear.app/graphql"], paginated, scopes = ["read"], keywords = ["status reports", "project health", "weekly update"], example = { "project": "Faster search" })]
pub fn list_project_updates(args: ListProjectUpdates, cx: &Context) -> Result<Output, ToolError> {
    const DOCUMENT: &str = "query Updates($filter: ProjectUpdateFilter, $first: Int, $after: String) { \
        projectUpdates(filter: $filter, first: $first, after: $after) { nodes { id body health url createdAt \
        user { name } project { name } } pageInfo { hasNextPage endCursor } } }";
    let filter = match &args.project {
        Some(project) => json!({ "project": crate::filter::named_filter(project) }),
        None => json!({}),
    };
    let variables = json!({ "filter": filter, "first": args.limit, "after": cx.cursor() });
    page(&ask(cx, DOCUMENT, variables)?["projectUpdates"], |one| {
        let fields = [
            "id",
            "project=project/name",
            "health",
            "body",
            "author=user/name",
            "created_at=createdAt",
            "url",
        ];
        pick(one, &fields)
    })
}

#[derive(Args)]
pub enum Health {
    #[arg(rename = "onTrack")]
    OnTrack,
    #[arg(rename = "atRisk")]
    AtRisk,
    #[arg(rename = "offTrack")]
    OffTrack,
}

#[derive(Args)]
pub struct CreateProjectUpdate {
    /// Project by name or id.
    #[arg(min_length = 1)]
    project: String,
    /// What happened and what comes next, in Markdown.
    #[arg(min_length = 1)]
    body: String,
    /// How it goes.
    health: Option<Health>,
}

/// Writes a report (project update) of how a project goes.
#[tool(effect = "write", scopes = ["write"], keywords = ["status report", "weekly update", "post update"],
       example = { "project": "Faster search", "body": "The index is **done**.", "health": "onTrack" })]
pub fn create_project_update(args: CreateProjectUpdate, cx: &Context) -> Result<Value, ToolError> {
    const DOCUMENT: &str = "mutation Report($input: ProjectUpdateCreateInput!) { \
        projectUpdateCreate(input: $input) { success projectUpdate { id url health } } }";
    let mut input = json!({ "projectId": project_id(cx, &args.project)?, "body": args.body });
    if let Some(health) = args.health {
        input["health"] = json!(health);
    }
    let answer = ask(cx, DOCUMENT, json!({ "input": input }))?;
    let made = made(&answer, "projectUpdateCreate", "projectUpdate")?;
    Ok(pick(made, &["id", "url", "health"]))
}
