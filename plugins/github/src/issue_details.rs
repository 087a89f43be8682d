//! What belongs to one issue: assignees, lock, events, reactions, comments, sub-issues.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};
use crate::issues::StateFilter;

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
    state: StateFilter,
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
