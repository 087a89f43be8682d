//! Pull requests: listing, reading, opening, reviewing, merging.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};
use crate::issues::StateFilter;

const PULL: &[&str] = &[
    "number",
    "title",
    "state",
    "draft",
    "merged",
    "mergeable",
    "mergeable_state",
    "body",
    "author=user/login",
    "head=head/label",
    "head_sha=head/sha",
    "base=base/ref",
    "labels=labels/*/name",
    "assignees=assignees/*/login",
    "reviewers=requested_reviewers/*/login",
    "commits",
    "additions",
    "deletions",
    "changed_files",
    "created_at",
    "updated_at",
    "merged_at",
    "html_url",
];

#[derive(Args)]
pub enum PullSort {
    Created,
    Updated,
    Popularity,
    #[arg(rename = "long-running")]
    LongRunning,
}

#[derive(Args)]
pub enum Direction {
    Asc,
    Desc,
}

#[derive(Args)]
pub struct ListPullRequests {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Which pull requests.
    #[arg(default = "open")]
    state: StateFilter,
    /// Only from this branch, as `owner:branch`.
    head: Option<String>,
    /// Only into this branch.
    base: Option<String>,
    /// By what to sort.
    #[arg(default = "created")]
    sort: PullSort,
    /// Smallest or largest first; the newest first if sorted by `created`, else the smallest.
    direction: Option<Direction>,
    /// Pull requests on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the pull requests of a repository.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["pr", "merge", "review"],
       example = { "owner": "octocat", "repo": "hello-world", "base": "main", "sort": "long-running" },
       trigger = { name: "new_pull_request", title: "New pull request",
                   description: "A pull request was opened in a repository.",
                   arguments: { state: "all", sort: "created", direction: "desc", per_page: 50 },
                   items: "", id: ["/html_url"], time: "/created_at", order: "newest_first" },
       trigger = { name: "changed_pull_request", title: "New or changed pull request",
                   description: "A pull request of a repository was opened, pushed to, reviewed, merged or changed in another way.",
                   arguments: { state: "all", sort: "updated", direction: "desc", per_page: 50 },
                   items: "", id: ["/html_url", "/updated_at"], time: "/updated_at", order: "newest_first" })]
pub fn list_pull_requests(args: ListPullRequests, cx: &Context) -> Result<Output, ToolError> {
    let address = path!("/repos/{}/{}/pulls", args.owner, args.repo);
    page(
        cx,
        github(cx).get(address).query_fields(&args),
        args.per_page,
        PULL,
    )
}

#[derive(Args)]
pub struct GetPullRequest {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
}

/// Reads one pull request: text, branches, size, and whether it can be merged.
#[tool(effect = "read", scopes = ["repo"], keywords = ["pr", "mergeable"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 1347 })]
pub fn get_pull_request(args: GetPullRequest, cx: &Context) -> Result<Value, ToolError> {
    let address = path!(
        "/repos/{}/{}/pulls/{}",
        args.owner,
        args.repo,
        args.pull_number
    );
    Ok(pick(&github(cx).get(address).fetch()?, PULL))
}

#[derive(Args)]
pub struct ListPullRequestFiles {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Files on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the files that a pull request changes, each with its patch.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["diff", "changes", "patch"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 1347 })]
pub fn list_pull_request_files(
    args: ListPullRequestFiles,
    cx: &Context,
) -> Result<Output, ToolError> {
    let address = path!(
        "/repos/{}/{}/pulls/{}/files",
        args.owner,
        args.repo,
        args.pull_number
    );
    let fields = [
        "filename",
        "previous_filename",
        "status",
        "additions",
        "deletions",
        "patch",
    ];
    page(cx, github(cx).get(address), args.per_page, &fields)
}

#[derive(Args)]
pub struct CreatePullRequest {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// One line that says what changes.
    #[arg(min_length = 1, max_length = 256)]
    title: String,
    /// Branch with the changes; `owner:branch` from a fork.
    head: String,
    /// Branch to merge into, for example `main`.
    base: String,
    /// Text in Markdown.
    body: Option<String>,
    /// Not ready for review yet.
    #[arg(default = false)]
    draft: bool,
    /// Maintainers may push to the branch.
    #[arg(default = true)]
    maintainer_can_modify: bool,
}

/// Opens a pull request from one branch into another.
#[tool(effect = "write", scopes = ["repo"], keywords = ["pr", "merge request", "new"],
       example = { "owner": "octocat", "repo": "hello-world", "title": "Amazing new feature", "head": "octocat:new-topic", "base": "main", "body": "Please pull" })]
pub fn create_pull_request(args: CreatePullRequest, cx: &Context) -> Result<Value, ToolError> {
    let address = path!("/repos/{}/{}/pulls", args.owner, args.repo);
    Ok(pick(&github(cx).post(address).json(&args).fetch()?, PULL))
}

#[derive(Args)]
pub enum ReviewEvent {
    #[arg(rename = "APPROVE")]
    Approve,
    #[arg(rename = "REQUEST_CHANGES")]
    RequestChanges,
    #[arg(rename = "COMMENT")]
    Comment,
}

#[derive(Args)]
pub struct ReviewComment {
    /// File, from the repository's root.
    path: String,
    /// Line of the file's new version.
    #[arg(min = 1)]
    line: u64,
    /// Text in Markdown.
    body: String,
}

#[derive(Args)]
pub struct CreatePullRequestReview {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// What the review decides.
    event: ReviewEvent,
    /// Text in Markdown; needed unless it approves.
    body: Option<String>,
    /// Remarks on single lines.
    #[arg(max_items = 100)]
    comments: Option<Vec<ReviewComment>>,
}

/// Reviews a pull request: approves, asks for changes or comments, also line by line.
#[tool(effect = "write", scopes = ["repo"], keywords = ["pr", "approve", "request changes"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 12, "event": "REQUEST_CHANGES", "body": "This is close to perfect!", "comments": [{"path": "file.md", "line": 6, "body": "Please add more information here."}] })]
pub fn create_pull_request_review(
    args: CreatePullRequestReview,
    cx: &Context,
) -> Result<Value, ToolError> {
    if args.body.is_none() && !matches!(args.event, ReviewEvent::Approve) {
        return Err(ToolError::invalid(
            "/body",
            "a review that does not approve needs a text",
        ));
    }
    let address = path!(
        "/repos/{}/{}/pulls/{}/reviews",
        args.owner,
        args.repo,
        args.pull_number
    );
    let review = github(cx).post(address).json(&args).fetch()?;
    Ok(pick(
        &review,
        &[
            "id",
            "state",
            "body",
            "author=user/login",
            "submitted_at",
            "html_url",
        ],
    ))
}

#[derive(Args)]
pub enum MergeMethod {
    Merge,
    Squash,
    Rebase,
}

#[derive(Args)]
pub struct MergePullRequest {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// How to merge.
    #[arg(default = "merge")]
    merge_method: MergeMethod,
    /// Title of the commit.
    commit_title: Option<String>,
    /// Text of the commit.
    commit_message: Option<String>,
    /// Merge only if this is still the newest commit of the branch (head_sha).
    #[arg(pattern = "^[0-9a-f]{40}$")]
    sha: Option<String>,
}

/// Merges a pull request. Cannot be taken back.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["pr", "squash", "rebase"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 1347, "merge_method": "squash" })]
pub fn merge_pull_request(args: MergePullRequest, cx: &Context) -> Result<Value, ToolError> {
    let address = path!(
        "/repos/{}/{}/pulls/{}/merge",
        args.owner,
        args.repo,
        args.pull_number
    );
    Ok(pick(
        &github(cx).put(address).json(&args).fetch()?,
        &["merged", "sha", "message"],
    ))
}
