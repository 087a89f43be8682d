//! Labels, milestones, assignments, and what hangs on an issue.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

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
pub enum ListMilestonesState {
    Open,
    Closed,
    All,
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
    state: ListMilestonesState,
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

#[derive(Args)]
pub struct AddAssignees {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Logins.
    #[arg(min_items = 1, max_items = 10)]
    assignees: Vec<String>,
}

/// Assigns people to an issue or pull request; those assigned stay.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["assign", "owner"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7, "assignees": ["octocat"] })]
pub fn add_assignees(args: AddAssignees, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/issues/{}/assignees",
                args.owner,
                args.repo,
                args.issue_number
            ))
            .json(&args)
            .fetch()?,
        &["number", "title", "assignees=assignees/*/login"],
    ))
}

/// Ends that people are assigned to an issue or pull request.
#[tool(effect = "destructive", idempotent, scopes = ["repo"], keywords = ["unassign"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7, "assignees": ["octocat"] })]
pub fn remove_assignees(args: AddAssignees, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .delete(path!(
                "/repos/{}/{}/issues/{}/assignees",
                args.owner,
                args.repo,
                args.issue_number
            ))
            .json(&args)
            .fetch()?,
        &["number", "title", "assignees=assignees/*/login"],
    ))
}

#[derive(Args)]
pub enum LockIssueLockReason {
    #[arg(rename = "off-topic")]
    OffTopic,
    #[arg(rename = "too heated")]
    TooHeated,
    Resolved,
    Spam,
}

#[derive(Args)]
pub struct LockIssue {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Why.
    lock_reason: Option<LockIssueLockReason>,
}

/// Locks the conversation of an issue or pull request: only members of the team comment.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["close conversation", "moderate"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7, "lock_reason": "resolved" })]
pub fn lock_issue(args: LockIssue, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .put(path!(
            "/repos/{}/{}/issues/{}/lock",
            args.owner,
            args.repo,
            args.issue_number
        ))
        .json(&args)
        .send()?;
    Ok(json!({ "locked": args.issue_number }))
}

#[derive(Args)]
pub struct ListIssueEvents {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists what happened to an issue or pull request: labels, assignments, references, closings.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["history", "timeline", "who closed"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7 })]
pub fn list_issue_events(args: ListIssueEvents, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/issues/{}/timeline",
            args.owner,
            args.repo,
            args.issue_number
        )),
        args.per_page,
        &[
            "event",
            "who=actor/login",
            "created_at",
            "label=label/name",
            "assignee=assignee/login",
            "source=source/issue/number",
            "commit=commit_id",
        ],
    )
}

#[derive(Args)]
pub enum AddReactionContent {
    #[arg(rename = "+1")]
    PlusOne,
    #[arg(rename = "-1")]
    MinusOne,
    Laugh,
    Confused,
    Heart,
    Hooray,
    Rocket,
    Eyes,
}

#[derive(Args)]
pub struct AddReaction {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// The reaction.
    content: AddReactionContent,
}

/// Puts a reaction such as a heart or a thumb on an issue or pull request.
#[tool(effect = "write", scopes = ["repo"], keywords = ["thumbs up", "emoji", "vote"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7, "content": "heart" })]
pub fn add_reaction(args: AddReaction, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/issues/{}/reactions",
                args.owner,
                args.repo,
                args.issue_number
            ))
            .json(&args)
            .fetch()?,
        &["id", "content", "who=user/login"],
    ))
}

#[derive(Args)]
pub struct UpdateIssueComment {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the comment, as github_list_issue_comments shows it.
    #[arg(path, min = 1)]
    comment_id: u64,
    /// New text in Markdown.
    #[arg(min_length = 1)]
    body: String,
}

/// Changes the text of a comment on an issue or pull request.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["edit comment"],
       example = { "owner": "octocat", "repo": "hello-world", "comment_id": 42, "body": "Fixed in v1.1." })]
pub fn update_issue_comment(args: UpdateIssueComment, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .patch(path!(
                "/repos/{}/{}/issues/comments/{}",
                args.owner,
                args.repo,
                args.comment_id
            ))
            .json(&args)
            .fetch()?,
        &["id", "body", "author=user/login", "updated_at", "html_url"],
    ))
}

#[derive(Args)]
pub struct DeleteIssueComment {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the comment.
    #[arg(path, min = 1)]
    comment_id: u64,
}

/// Deletes a comment on an issue or pull request.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["remove comment"],
       example = { "owner": "octocat", "repo": "hello-world", "comment_id": 42 })]
pub fn delete_issue_comment(args: DeleteIssueComment, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .delete(path!(
            "/repos/{}/{}/issues/comments/{}",
            args.owner,
            args.repo,
            args.comment_id
        ))
        .send()?;
    Ok(json!({ "deleted": args.comment_id }))
}

/// Lists the issues below an issue.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["children", "epic", "tasks"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7 })]
pub fn list_sub_issues(args: ListIssueEvents, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/issues/{}/sub_issues",
            args.owner,
            args.repo,
            args.issue_number
        )),
        args.per_page,
        &[
            "id",
            "number",
            "title",
            "state",
            "assignees=assignees/*/login",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub struct AddSubIssue {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Id (not number) of the issue to put below it; github_list_sub_issues and github_get_issue
    /// show ids.
    #[arg(min = 1)]
    sub_issue_id: u64,
}

/// Puts an issue below another one.
#[tool(effect = "write", scopes = ["repo"], keywords = ["parent", "epic", "child"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 7, "sub_issue_id": 901 })]
pub fn add_sub_issue(args: AddSubIssue, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/issues/{}/sub_issues",
                args.owner,
                args.repo,
                args.issue_number
            ))
            .json(&args)
            .fetch()?,
        &["number", "title", "state", "html_url"],
    ))
}

#[derive(Args)]
pub enum ListMyIssuesFilter {
    Assigned,
    Created,
    Mentioned,
    Subscribed,
    Repos,
    All,
}

#[derive(Args)]
pub struct ListMyIssues {
    /// Which issues.
    #[arg(default = "assigned")]
    filter: ListMyIssuesFilter,
    /// In which state.
    #[arg(default = "open")]
    state: ListMilestonesState,
    /// Only those changed since this moment.
    #[arg(format = "date-time")]
    since: Option<String>,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists issues and pull requests of all repositories that are assigned to the connected account,
/// made by it or mention it.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["assigned to me", "my work", "to-do"],
       example = { "filter": "assigned" })]
pub fn list_my_issues(args: ListMyIssues, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get("/issues").query_fields(&args),
        args.per_page,
        &[
            "number",
            "title",
            "state",
            "repo=repository/full_name",
            "labels=labels/*/name",
            "updated_at",
            "html_url",
        ],
    )
}
