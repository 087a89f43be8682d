//! Projects and people.

use toolgate_sdk::prelude::*;

use crate::api::{jira, next_start};

const PROJECT: &[&str] = &[
    "id",
    "key",
    "name",
    "type=projectTypeKey",
    "lead=lead/displayName",
    "description",
    "issue_types=issueTypes/*/name",
];
const USER: &[&str] = &[
    "account_id=accountId",
    "name=displayName",
    "email=emailAddress",
    "active",
    "timeZone",
];

#[derive(Args)]
pub struct ListProjects {
    /// Only projects with this in their name or key.
    #[arg(path)]
    query: Option<String>,
    /// Projects on a page.
    #[arg(path, min = 1, max = 50, default = 25)]
    limit: u32,
}

/// Lists projects with their keys, or finds them by name.
#[tool(effect = "read", paginated, keywords = ["find", "boards", "keys"],
       example = { "query": "exa" })]
pub fn list_projects(args: ListProjects, cx: &Context) -> Result<Output, ToolError> {
    let request = jira(cx).get("/project/search").query("query", args.query);
    let request = request
        .query("startAt", cx.page_number(0)?)
        .query("maxResults", args.limit);
    let answer = request.fetch()?;
    let shown = answer["values"].as_array().map_or(0, Vec::len);
    Output::page(
        pick_each(&answer["values"], PROJECT),
        next_start(&answer, shown),
    )
}

#[derive(Args)]
pub struct GetProject {
    /// Key of the project, for example `ABC`.
    project: String,
}

/// Reads a project: name, lead, and the issue types it has.
#[tool(effect = "read", keywords = ["issue types", "details"],
       example = { "project": "EX" })]
pub fn get_project(args: GetProject, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &jira(cx).get(path!("/project/{}", args.project)).fetch()?,
        PROJECT,
    ))
}

#[derive(Args)]
pub struct SearchUsers {
    /// Part of a name or mail address.
    #[arg(min_length = 1)]
    query: String,
    /// Most people to answer.
    #[arg(rename = "limit", path, min = 1, max = 100, default = 20)]
    limit: u32,
}

/// Finds people by name or mail address; their account ids are what assigning takes.
#[tool(effect = "read", keywords = ["find", "people", "account id", "who"],
       example = { "query": "mia" })]
pub fn search_users(args: SearchUsers, cx: &Context) -> Result<Value, ToolError> {
    let request = jira(cx)
        .get("/user/search")
        .query_fields(&args)
        .query("maxResults", args.limit);
    Ok(pick_each(&request.fetch()?, USER))
}

/// Tells which account is connected.
#[tool(effect = "read", keywords = ["whoami", "me", "account"],
       example = {})]
pub fn get_current_user(cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(&jira(cx).get("/myself").fetch()?, USER))
}
