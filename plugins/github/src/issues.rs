//! Issues and their comments.

use toolgate_sdk::prelude::*;

use crate::api::{github, page, page_where};

const ISSUE: &[&str] = &[
    "number",
    "title",
    "state",
    "state_reason",
    "body",
    "author=user/login",
    "labels=labels/*/name",
    "assignees=assignees/*/login",
    "milestone=milestone/title",
    "comments",
    "created_at",
    "updated_at",
    "closed_at",
    "html_url",
    "pull_request=pull_request/html_url",
];
const COMMENT: &[&str] = &["id", "author=user/login", "body", "created_at", "html_url"];

#[derive(Args)]
pub enum StateFilter {
    Open,
    Closed,
    All,
}

#[derive(Args)]
pub enum IssueSort {
    Created,
    Updated,
    Comments,
}

#[derive(Args)]
pub enum IssueKind {
    Issue,
    PullRequest,
}

#[derive(Args)]
pub struct ListIssues {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Which issues.
    #[arg(default = "open")]
    state: StateFilter,
    /// Only issues that have all of these labels.
    #[arg(path, max_items = 20)]
    labels: Option<Vec<String>>,
    /// Only issues assigned to this login; `none` for unassigned, `*` for any.
    assignee: Option<String>,
    /// Only issues opened by this login.
    creator: Option<String>,
    /// Number of a milestone; `none` or `*`.
    milestone: Option<String>,
    /// Only issues changed after this moment.
    #[arg(format = "date-time")]
    since: Option<String>,
    /// By what to sort, newest or most first.
    #[arg(default = "created")]
    sort: IssueSort,
    /// Leave out pull requests, or all but them; a page then has fewer.
    #[arg(path)]
    only: Option<IssueKind>,
    /// Issues on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the issues of a repository. Pull requests are issues too and show pull_request.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["bugs", "tickets", "assigned"],
       example = { "owner": "octocat", "repo": "hello-world", "labels": ["bug"] },
       trigger = { name: "new_issue", title: "New issue", description: "An issue was opened in a repository.",
                   arguments: { state: "all", sort: "created", only: "issue", per_page: 100 },
                   items: "", id: ["/html_url"], time: "/created_at", order: "newest_first" },
       trigger = { name: "changed_issue", title: "New or changed issue",
                   description: "An issue of a repository was opened, answered, closed or changed in another way.",
                   arguments: { state: "all", sort: "updated", only: "issue", per_page: 100 },
                   items: "", id: ["/html_url", "/updated_at"], time: "/updated_at", order: "newest_first" })]
pub fn list_issues(args: ListIssues, cx: &Context) -> Result<Output, ToolError> {
    let request = github(cx)
        .get(path!("/repos/{}/{}/issues", args.owner, args.repo))
        .query_fields(&args)
        .query(
            "labels",
            args.labels.as_ref().map(|labels| labels.join(",")),
        );
    let keep = |issue: &Value| match args.only {
        None => true,
        Some(IssueKind::Issue) => issue.get("pull_request").is_none(),
        Some(IssueKind::PullRequest) => issue.get("pull_request").is_some(),
    };
    page_where(cx, request, args.per_page, ISSUE, keep)
}

#[derive(Args)]
pub struct GetIssue {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue.
    #[arg(path, min = 1)]
    issue_number: u64,
}

/// Reads one issue: text, state, labels, assignees, milestone.
#[tool(effect = "read", scopes = ["repo"], keywords = ["bug", "ticket", "assigned"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 1347 })]
pub fn get_issue(args: GetIssue, cx: &Context) -> Result<Value, ToolError> {
    let address = path!(
        "/repos/{}/{}/issues/{}",
        args.owner,
        args.repo,
        args.issue_number
    );
    Ok(pick(&github(cx).get(address).fetch()?, ISSUE))
}

#[derive(Args)]
pub struct CreateIssue {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// One line that says what is wrong or wanted.
    #[arg(min_length = 1, max_length = 256)]
    title: String,
    /// Text in Markdown.
    body: Option<String>,
    /// Labels to set; needs write access.
    #[arg(max_items = 50)]
    labels: Option<Vec<String>>,
    /// Logins to assign; needs write access.
    #[arg(max_items = 10)]
    assignees: Option<Vec<String>>,
    /// Number of a milestone.
    #[arg(min = 1)]
    milestone: Option<u64>,
}

/// Opens an issue in a repository.
#[tool(effect = "write", scopes = ["repo"], keywords = ["bug", "ticket", "report", "new"],
       example = { "owner": "octocat", "repo": "hello-world", "title": "Crash on start" })]
pub fn create_issue(args: CreateIssue, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/repos/{}/{}/issues", args.owner, args.repo);
    Ok(pick(&github(cx).post(address).json(&args).fetch()?, ISSUE))
}

#[derive(Args)]
pub enum State {
    Open,
    Closed,
}

#[derive(Args)]
pub enum StateReason {
    Completed,
    NotPlanned,
    Reopened,
}

#[derive(Args)]
pub struct UpdateIssue {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// New title.
    #[arg(min_length = 1, max_length = 256)]
    title: Option<String>,
    /// New text in Markdown; replaces the old one.
    body: Option<String>,
    /// Close it or open it again.
    state: Option<State>,
    /// Why the state changes.
    state_reason: Option<StateReason>,
    /// All labels it shall have; replaces the old ones.
    #[arg(max_items = 50)]
    labels: Option<Vec<String>>,
    /// All logins it shall be assigned to; replaces the old ones.
    #[arg(max_items = 10)]
    assignees: Option<Vec<String>>,
    /// Number of a milestone.
    #[arg(min = 1)]
    milestone: Option<u64>,
}

/// Changes an issue: title, text, labels, assignees, milestone; closes or reopens it.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["close", "reopen", "assign", "label", "edit"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 1347, "state": "closed", "state_reason": "not_planned" })]
pub fn update_issue(args: UpdateIssue, cx: &Context) -> Result<Value, ToolError> {
    let address = path!(
        "/repos/{}/{}/issues/{}",
        args.owner,
        args.repo,
        args.issue_number
    );
    Ok(pick(&github(cx).patch(address).json(&args).fetch()?, ISSUE))
}

#[derive(Args)]
pub struct ListIssueComments {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Only comments changed after this moment.
    #[arg(format = "date-time")]
    since: Option<String>,
    /// Comments on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the comments of an issue or pull request, oldest first.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["discussion", "replies"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 1347 })]
pub fn list_issue_comments(args: ListIssueComments, cx: &Context) -> Result<Output, ToolError> {
    let address = path!(
        "/repos/{}/{}/issues/{}/comments",
        args.owner,
        args.repo,
        args.issue_number
    );
    page(
        cx,
        github(cx).get(address).query("since", args.since),
        args.per_page,
        COMMENT,
    )
}

#[derive(Args)]
pub struct CreateIssueComment {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the issue or pull request.
    #[arg(path, min = 1)]
    issue_number: u64,
    /// Text in Markdown.
    #[arg(min_length = 1, max_length = 65536)]
    body: String,
}

/// Comments on an issue or pull request.
#[tool(effect = "write", scopes = ["repo"], keywords = ["reply", "answer"],
       example = { "owner": "octocat", "repo": "hello-world", "issue_number": 1347, "body": "Me too" })]
pub fn create_issue_comment(args: CreateIssueComment, cx: &Context) -> Result<Value, ToolError> {
    let address = path!(
        "/repos/{}/{}/issues/{}/comments",
        args.owner,
        args.repo,
        args.issue_number
    );
    Ok(pick(
        &github(cx).post(address).json(&args).fetch()?,
        COMMENT,
    ))
}
