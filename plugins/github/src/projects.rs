//! Projects of an organisation and their items.

use toolgate_sdk::prelude::*;

use crate::api::{after_page, github};

#[derive(Args)]
pub struct ListProjects {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Only projects with these words.
    q: Option<String>,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the projects (boards) of an organisation.
#[tool(effect = "read", paginated, scopes = ["read:project"], keywords = ["boards", "roadmap", "kanban"],
       example = { "org": "github" })]
pub fn list_projects(args: ListProjects, cx: &Context) -> Result<Output, ToolError> {
    after_page(
        cx,
        github(cx)
            .get(path!("/orgs/{}/projectsV2", args.org))
            .query_fields(&args),
        args.per_page,
        &[
            "id",
            "number",
            "title",
            "description=short_description",
            "state",
            "public",
            "updated_at",
        ],
    )
}

#[derive(Args)]
pub struct ListProjectFields {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Number of the project, as github_list_projects shows it.
    #[arg(path, min = 1)]
    project_number: u64,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the fields (columns) of a project with their ids, types and options.
#[tool(effect = "read", paginated, scopes = ["read:project"], keywords = ["columns", "status options"],
       example = { "org": "github", "project_number": 2 })]
pub fn list_project_fields(args: ListProjectFields, cx: &Context) -> Result<Output, ToolError> {
    after_page(
        cx,
        github(cx).get(path!(
            "/orgs/{}/projectsV2/{}/fields",
            args.org,
            args.project_number
        )),
        args.per_page,
        &[
            "id",
            "name",
            "data_type",
            "options=options/*/name/raw",
            "option_ids=options/*/id",
        ],
    )
}

#[derive(Args)]
pub struct ListProjectItems {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Number of the project, as github_list_projects shows it.
    #[arg(path, min = 1)]
    project_number: u64,
    /// Only items that this filter finds, for example `is:open label:bug`.
    q: Option<String>,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists what is in a project: issues, pull requests and drafts.
#[tool(effect = "read", paginated, scopes = ["read:project"], keywords = ["board cards", "backlog"],
       example = { "org": "github", "project_number": 2 })]
pub fn list_project_items(args: ListProjectItems, cx: &Context) -> Result<Output, ToolError> {
    after_page(
        cx,
        github(cx)
            .get(path!(
                "/orgs/{}/projectsV2/{}/items",
                args.org,
                args.project_number
            ))
            .query_fields(&args),
        args.per_page,
        &[
            "id",
            "type=content_type",
            "number=content/number",
            "title=content/title",
            "state=content/state",
            "url=content/html_url",
            "archived_at",
            "updated_at",
        ],
    )
}

#[derive(Args)]
pub enum AddProjectItemType {
    #[arg(rename = "Issue")]
    Issue,
    #[arg(rename = "PullRequest")]
    PullRequest,
}

#[derive(Args)]
pub struct AddProjectItem {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Number of the project, as github_list_projects shows it.
    #[arg(path, min = 1)]
    project_number: u64,
    /// What it is.
    r#type: AddProjectItemType,
    /// Id (not number) of the issue or pull request.
    #[arg(min = 1)]
    id: u64,
}

/// Puts an issue or pull request into a project.
#[tool(effect = "write", scopes = ["project"], keywords = ["add to board", "plan"],
       example = { "org": "github", "project_number": 2, "type": "Issue", "id": 901 })]
pub fn add_project_item(args: AddProjectItem, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/orgs/{}/projectsV2/{}/items",
                args.org,
                args.project_number
            ))
            .json(&args)
            .fetch()?,
        &["id", "type=content_type"],
    ))
}

#[derive(Args)]
pub struct AddProjectDraft {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Number of the project, as github_list_projects shows it.
    #[arg(path, min = 1)]
    project_number: u64,
    /// Title.
    #[arg(min_length = 1)]
    title: String,
    /// Text in Markdown.
    body: Option<String>,
}

/// Adds a draft item to a project.
#[tool(effect = "write", scopes = ["project"], keywords = ["new card", "backlog idea"],
       example = { "org": "github", "project_number": 2, "title": "Try the new compiler" })]
pub fn add_project_draft(args: AddProjectDraft, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/orgs/{}/projectsV2/{}/drafts",
                args.org,
                args.project_number
            ))
            .json(&args)
            .fetch()?,
        &["id", "type=content_type"],
    ))
}

#[derive(Args)]
pub struct UpdateProjectItemField {
    /// Id of the field.
    #[arg(min = 1)]
    id: u64,
    /// New value: text, day, or id of the option.
    value: String,
}

#[derive(Args)]
pub struct UpdateProjectItem {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Number of the project, as github_list_projects shows it.
    #[arg(path, min = 1)]
    project_number: u64,
    /// Id of the item, as github_list_project_items shows it.
    #[arg(path, min = 1)]
    item_id: u64,
    /// New values.
    #[arg(min_items = 1)]
    fields: Vec<UpdateProjectItemField>,
}

/// Sets fields of an item of a project, for example its status. Fields and option ids come from
/// github_list_project_fields.
#[tool(effect = "write", idempotent, scopes = ["project"], keywords = ["move card", "set status", "estimate"],
       example = { "org": "github", "project_number": 2, "item_id": 17, "fields": [{"id": 12345, "value": "f75ad846"}] })]
pub fn update_project_item(args: UpdateProjectItem, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .patch(path!(
                "/orgs/{}/projectsV2/{}/items/{}",
                args.org,
                args.project_number,
                args.item_id
            ))
            .json(&args)
            .fetch()?,
        &["id", "type=content_type", "updated_at"],
    ))
}

#[derive(Args)]
pub struct RemoveProjectItem {
    /// Login of the organisation.
    #[arg(path)]
    org: String,
    /// Number of the project, as github_list_projects shows it.
    #[arg(path, min = 1)]
    project_number: u64,
    /// Id of the item, as github_list_project_items shows it.
    #[arg(path, min = 1)]
    item_id: u64,
}

/// Takes an item out of a project. The issue itself stays.
#[tool(effect = "destructive", scopes = ["project"], keywords = ["remove card"],
       example = { "org": "github", "project_number": 2, "item_id": 17 })]
pub fn remove_project_item(args: RemoveProjectItem, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .delete(path!(
            "/orgs/{}/projectsV2/{}/items/{}",
            args.org,
            args.project_number,
            args.item_id
        ))
        .send()?;
    Ok(json!({ "removed": args.item_id }))
}
