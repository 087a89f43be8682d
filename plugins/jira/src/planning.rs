//! What issues are made of in a project: versions, components, statuses, fields.

use toolgate_sdk::prelude::*;

use crate::api::{jira, next_start};
use crate::names::person;

const VERSION: &[&str] = &[
    "id",
    "name",
    "description",
    "released",
    "archived",
    "start=startDate",
    "release=releaseDate",
    "overdue",
];
const COMPONENT: &[&str] = &["id", "name", "description", "lead=lead/displayName"];

#[derive(Args)]
pub struct OfProject {
    /// Key of the project, for example `ABC`.
    #[arg(path)]
    project: String,
    /// Only those with this in their name or description.
    query: Option<String>,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 50)]
    limit: u32,
}

/// Lists the versions (releases) of a project with their dates and whether they are released.
#[tool(effect = "read", paginated, keywords = ["releases", "fix versions", "milestones"],
       example = { "project": "EX" })]
pub fn list_versions(args: OfProject, cx: &Context) -> Result<Output, ToolError> {
    listed(args, cx, "version", VERSION)
}

/// Lists the components of a project.
#[tool(effect = "read", paginated, keywords = ["modules", "parts"], example = { "project": "EX" })]
pub fn list_components(args: OfProject, cx: &Context) -> Result<Output, ToolError> {
    listed(args, cx, "component", COMPONENT)
}

fn listed(args: OfProject, cx: &Context, what: &str, fields: &[&str]) -> Result<Output, ToolError> {
    let answer = jira(cx)
        .get(path!("/project/{}/{}", args.project, what))
        .query("query", args.query)
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit)
        .fetch()?;
    let shown = answer["values"].as_array().map_or(0, Vec::len);
    Output::page(
        pick_each(&answer["values"], fields),
        next_start(&answer, shown),
    )
}

#[derive(Args)]
pub struct CreateVersion {
    /// Key of the project.
    #[arg(path)]
    project: String,
    /// Name of the version, for example `2.4`.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// What is in it.
    description: Option<String>,
    /// First day of work on it.
    #[arg(rename = "startDate", format = "date")]
    start: Option<String>,
    /// Day of the release.
    #[arg(rename = "releaseDate", format = "date")]
    release: Option<String>,
}

/// Creates a version (release) of a project.
#[tool(effect = "write", keywords = ["new release", "milestone"],
       example = { "project": "EX", "name": "2.4", "releaseDate": "2026-06-30" })]
pub fn create_version(args: CreateVersion, cx: &Context) -> Result<Value, ToolError> {
    let project = jira(cx).get(path!("/project/{}", args.project)).fetch()?;
    let id = project["id"].as_str().and_then(|id| id.parse::<u64>().ok());
    let id = id.ok_or_else(|| ToolError::upstream("Jira gave no id of the project"))?;
    let mut body = json!({ "projectId": id, "name": args.name });
    for (key, value) in [
        ("description", args.description),
        ("startDate", args.start),
        ("releaseDate", args.release),
    ] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    Ok(pick(
        &jira(cx).post("/version").json(&body).fetch()?,
        VERSION,
    ))
}

#[derive(Args)]
pub struct UpdateVersion {
    /// Id of the version, as jira_list_versions shows it.
    #[arg(path, pattern = "^[0-9]+$")]
    version: String,
    /// The new name.
    #[arg(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// The new description.
    description: Option<String>,
    /// Whether it is released.
    released: Option<bool>,
    /// Whether it is archived.
    archived: Option<bool>,
    /// Day of the release.
    #[arg(rename = "releaseDate", format = "date")]
    release: Option<String>,
}

/// Changes a version of a project: release it, archive it, rename it, move its date.
#[tool(effect = "write", idempotent, keywords = ["release version", "ship", "archive version"],
       example = { "version": "10000", "released": true, "releaseDate": "2026-06-30" })]
pub fn update_version(args: UpdateVersion, cx: &Context) -> Result<Value, ToolError> {
    let request = jira(cx).put(path!("/version/{}", args.version));
    Ok(pick(&request.json(&args).fetch()?, VERSION))
}

#[derive(Args)]
pub struct CreateComponent {
    /// Key of the project.
    project: String,
    /// Name of the component.
    #[arg(min_length = 1, max_length = 255)]
    name: String,
    /// What it is.
    description: Option<String>,
    /// Who leads it: `me`, a mail address, a name or an account id.
    lead: Option<String>,
}

/// Creates a component of a project.
#[tool(effect = "write", keywords = ["new module"], example = { "project": "EX", "name": "Search" })]
pub fn create_component(args: CreateComponent, cx: &Context) -> Result<Value, ToolError> {
    let lead = args.lead.as_deref();
    let lead = lead.map(|who| person(cx, who, "lead")).transpose()?;
    let mut body = json!({ "project": args.project, "name": args.name });
    for (key, value) in [("description", args.description), ("leadAccountId", lead)] {
        if let Some(value) = value {
            body[key] = json!(value);
        }
    }
    Ok(pick(
        &jira(cx).post("/component").json(&body).fetch()?,
        COMPONENT,
    ))
}

#[derive(Args)]
pub struct ProjectKey {
    /// Key of the project, for example `ABC`.
    project: String,
}

/// Lists the statuses that issues of a project can have, for each issue type.
#[tool(effect = "read", keywords = ["status names"], example = { "project": "EX" })]
pub fn list_statuses(args: ProjectKey, cx: &Context) -> Result<Value, ToolError> {
    let answer = jira(cx)
        .get(path!("/project/{}/statuses", args.project))
        .fetch()?;
    let types = answer.as_array().into_iter().flatten();
    let types = types.map(|one| {
        let statuses = pick_each(&one["statuses"], &["name", "category=statusCategory/name"]);
        json!({ "issue_type": one["name"], "statuses": statuses })
    });
    Ok(types.collect())
}

#[derive(Args)]
pub struct CreateFields {
    /// Key of the project.
    project: String,
    /// Name of the issue type, for example `Bug`.
    issue_type: String,
}

/// Lists the fields that a new issue of a type takes: which are required, and the values that are allowed.
#[tool(effect = "read", keywords = ["required fields", "custom fields", "issue form"],
       example = { "project": "EX", "issue_type": "Bug" })]
pub fn list_create_fields(args: CreateFields, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/issue/createmeta/{}/issuetypes", args.project);
    let answer = jira(cx).get(address).query("maxResults", 200u32).fetch()?;
    let types = answer["issueTypes"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let found = types.iter().find(|one| {
        let name = one["name"].as_str().unwrap_or_default();
        name.eq_ignore_ascii_case(&args.issue_type)
    });
    let id = found.and_then(|one| one["id"].as_str()).ok_or_else(|| {
        let known: Vec<&str> = types
            .iter()
            .filter_map(|one| one["name"].as_str())
            .collect();
        let text = format!(
            "there is no type `{}`; there are {}",
            args.issue_type,
            known.join(", ")
        );
        ToolError::invalid("/issue_type", text)
    })?;
    let address = path!("/issue/createmeta/{}/issuetypes/{}", args.project, id);
    let answer = jira(cx).get(address).query("maxResults", 200u32).fetch()?;
    let fields = answer["fields"].as_array().into_iter().flatten();
    let fields = fields.map(|field| {
        let mut out = pick(
            field,
            &["id=fieldId", "name", "required", "type=schema/type"],
        );
        let allowed = field["allowedValues"].as_array().into_iter().flatten();
        let allowed = allowed.filter_map(|one| one["name"].as_str().or(one["value"].as_str()));
        let allowed: Vec<&str> = allowed.take(100).collect();
        if !allowed.is_empty() {
            out["allowed"] = json!(allowed);
        }
        out
    });
    Ok(fields.collect())
}

#[derive(Args)]
pub struct ListFields {
    /// Only fields with this in their name.
    query: Option<String>,
    /// Only fields that the site added.
    #[arg(default = false)]
    custom_only: bool,
}

/// Lists the fields of issues with id, name and type, also those that the site added.
#[tool(effect = "read", keywords = ["custom field id", "story points"], example = { "query": "story" })]
pub fn list_fields(args: ListFields, cx: &Context) -> Result<Value, ToolError> {
    let answer = jira(cx).get("/field").fetch()?;
    let words = args.query.unwrap_or_default().to_lowercase();
    let fields = answer.as_array().into_iter().flatten().filter(|field| {
        let name = field["name"].as_str().unwrap_or_default().to_lowercase();
        name.contains(&words) && (!args.custom_only || field["custom"] == true)
    });
    let shown = ["id", "name", "type=schema/type", "custom"];
    Ok(fields.map(|field| pick(field, &shown)).collect())
}
