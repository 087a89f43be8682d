//! Labels and milestones.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};
use crate::issues::StateFilter;

#[derive(Args)]
pub struct ListLabels {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the labels that a repository has.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["tags", "categories"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_labels(args: ListLabels, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!("/repos/{}/{}/labels", args.owner, args.repo)),
        args.per_page,
        &["name", "color", "description"],
    )
}

#[derive(Args)]
pub struct CreateLabel {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name.
    #[arg(min_length = 1, max_length = 50)]
    name: String,
    /// Colour in six hexadecimal digits, for example `fbca04`.
    #[arg(pattern = "^[0-9a-fA-F]{6}$")]
    color: Option<String>,
    /// What it means.
    #[arg(max_length = 100)]
    description: Option<String>,
}

/// Adds a label to a repository.
#[tool(effect = "write", scopes = ["repo"], keywords = ["new label"],
       example = { "owner": "octocat", "repo": "hello-world", "name": "needs-info", "color": "fbca04" })]
pub fn create_label(args: CreateLabel, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!("/repos/{}/{}/labels", args.owner, args.repo))
            .json(&args)
            .fetch()?,
        &["name", "color", "description"],
    ))
}

#[derive(Args)]
pub struct UpdateLabel {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name of the label.
    #[arg(path)]
    name: String,
    /// New name.
    #[arg(min_length = 1, max_length = 50)]
    new_name: Option<String>,
    /// New colour in six hexadecimal digits.
    #[arg(pattern = "^[0-9a-fA-F]{6}$")]
    color: Option<String>,
    /// New description.
    #[arg(max_length = 100)]
    description: Option<String>,
}

/// Changes name, colour or description of a label; issues keep it.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["rename label"],
       example = { "owner": "octocat", "repo": "hello-world", "name": "needs-info", "new_name": "needs-reply" })]
pub fn update_label(args: UpdateLabel, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .patch(path!(
                "/repos/{}/{}/labels/{}",
                args.owner,
                args.repo,
                args.name
            ))
            .json(&args)
            .fetch()?,
        &["name", "color", "description"],
    ))
}

#[derive(Args)]
pub struct DeleteLabel {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name of the label.
    #[arg(path)]
    name: String,
}

/// Deletes a label, from the repository and from every issue.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["remove label"],
       example = { "owner": "octocat", "repo": "hello-world", "name": "needs-info" })]
pub fn delete_label(args: DeleteLabel, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .delete(path!(
            "/repos/{}/{}/labels/{}",
            args.owner,
            args.repo,
            args.name
        ))
        .send()?;
    Ok(json!({ "deleted": args.name }))
}

#[derive(Args)]
pub struct AddLabels {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Names of the labels.
    #[arg(min_items = 1, max_items = 100)]
    labels: Vec<String>,
}

/// Puts labels on an issue or pull request; those it has stay.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["tag issue", "triage"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7, "labels": ["bug"] })]
pub fn add_labels(args: AddLabels, cx: &Context) -> Result<Value, ToolError> {
    let answer = github(cx)
        .post(path!(
            "/repos/{}/{}/issues/{}/labels",
            args.owner,
            args.repo,
            args.issue_number
        ))
        .json(&args)
        .fetch()?;
    Ok(pick_each(&answer, &["name", "color"]))
}

#[derive(Args)]
pub struct RemoveLabel {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Name of the label.
    #[arg(path)]
    name: String,
}

/// Removes one label from an issue or pull request.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["untag issue"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7, "name": "bug" })]
pub fn remove_label(args: RemoveLabel, cx: &Context) -> Result<Value, ToolError> {
    let answer = github(cx)
        .delete(path!(
            "/repos/{}/{}/issues/{}/labels/{}",
            args.owner,
            args.repo,
            args.issue_number,
            args.name
        ))
        .fetch()?;
    Ok(pick_each(&answer, &["name", "color"]))
}

#[derive(Args)]
pub struct ListMilestones {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Which milestones.
    #[arg(default = "open")]
    state: StateFilter,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists milestones with their due dates and how many issues are open and closed.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["sprint", "release plan"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_milestones(args: ListMilestones, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx)
            .get(path!("/repos/{}/{}/milestones", args.owner, args.repo))
            .query_fields(&args),
        args.per_page,
        &[
            "number",
            "title",
            "state",
            "description",
            "due_on",
            "open_issues",
            "closed_issues",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub struct CreateMilestone {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Title.
    #[arg(min_length = 1)]
    title: String,
    /// What it is for.
    description: Option<String>,
    /// When it is due.
    #[arg(format = "date-time")]
    due_on: Option<String>,
}

/// Adds a milestone, to which issues and pull requests can be assigned.
#[tool(effect = "write", scopes = ["repo"], keywords = ["new sprint", "release plan"],
       example = { "owner": "octocat", "repo": "hello-world", "title": "v1.1", "due_on": "2026-06-30T00:00:00Z" })]
pub fn create_milestone(args: CreateMilestone, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!("/repos/{}/{}/milestones", args.owner, args.repo))
            .json(&args)
            .fetch()?,
        &["number", "title", "state", "due_on", "html_url"],
    ))
}

#[derive(Args)]
pub enum UpdateMilestoneState {
    Open,
    Closed,
}

#[derive(Args)]
pub struct UpdateMilestone {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the milestone, as github_list_milestones shows it.
    #[arg(path, min = 1)]
    milestone_number: u64,
    /// New title.
    #[arg(min_length = 1)]
    title: Option<String>,
    /// New description.
    description: Option<String>,
    /// New state.
    state: Option<UpdateMilestoneState>,
    /// When it is due.
    #[arg(format = "date-time")]
    due_on: Option<String>,
}

/// Changes a milestone, or closes it.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["close milestone", "due date"],
       example = { "owner": "octocat", "repo": "hello-world", "milestone_number": 1, "state": "closed" })]
pub fn update_milestone(args: UpdateMilestone, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .patch(path!(
                "/repos/{}/{}/milestones/{}",
                args.owner,
                args.repo,
                args.milestone_number
            ))
            .json(&args)
            .fetch()?,
        &["number", "title", "state", "due_on", "html_url"],
    ))
}
