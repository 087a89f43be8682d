//! Changing and reviewing pull requests.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub enum UpdatePullRequestState {
    Open,
    Closed,
}

#[derive(Args)]
pub struct UpdatePullRequest {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// New title.
    #[arg(min_length = 1, max_length = 256)]
    title: Option<String>,
    /// New text in Markdown.
    body: Option<String>,
    /// Open or closed.
    state: Option<UpdatePullRequestState>,
    /// New target branch.
    base: Option<String>,
    /// Whether maintainers may push to the branch.
    maintainer_can_modify: Option<bool>,
}

/// Changes title, text or target branch of a pull request, or closes or reopens it.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["edit pr", "close pr", "reopen", "change base"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9, "title": "Fix the build", "state": "open" })]
pub fn update_pull_request(args: UpdatePullRequest, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .patch(path!(
                "/repos/{}/{}/pulls/{}",
                args.owner,
                args.repo,
                args.pull_number
            ))
            .json(&args)
            .fetch()?,
        &["number", "title", "state", "base=base/ref", "html_url"],
    ))
}

#[derive(Args)]
pub struct UpdatePullRequestBranch {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Only if this is still the newest commit of the branch.
    #[arg(pattern = "^[0-9a-f]{40}$")]
    expected_head_sha: Option<String>,
}

/// Brings the branch of a pull request up to date by merging the target branch into it.
#[tool(effect = "write", scopes = ["repo"], keywords = ["sync pr", "rebase", "out of date"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9 })]
pub fn update_pull_request_branch(
    args: UpdatePullRequestBranch,
    cx: &Context,
) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .put(path!(
                "/repos/{}/{}/pulls/{}/update-branch",
                args.owner,
                args.repo,
                args.pull_number
            ))
            .json(&args)
            .fetch()?,
        &["message", "url"],
    ))
}

#[derive(Args)]
pub struct RequestReviewers {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Logins.
    #[arg(max_items = 15)]
    reviewers: Option<Vec<String>>,
    /// Slugs of teams.
    #[arg(max_items = 15)]
    team_reviewers: Option<Vec<String>>,
}

/// Asks people or teams to review a pull request.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["add reviewer", "ask for review"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9, "reviewers": ["hubot"] })]
pub fn request_reviewers(args: RequestReviewers, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/pulls/{}/requested_reviewers",
                args.owner,
                args.repo,
                args.pull_number
            ))
            .json(&args)
            .fetch()?,
        &[
            "number",
            "title",
            "reviewers=requested_reviewers/*/login",
            "teams=requested_teams/*/slug",
        ],
    ))
}

#[derive(Args)]
pub struct RemoveReviewers {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Logins.
    #[arg(min_items = 1, max_items = 15)]
    reviewers: Vec<String>,
    /// Slugs of teams.
    #[arg(max_items = 15)]
    team_reviewers: Option<Vec<String>>,
}

/// Takes back that people are asked to review a pull request.
#[tool(effect = "destructive", idempotent, scopes = ["repo"], keywords = ["remove reviewer"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9, "reviewers": ["hubot"] })]
pub fn remove_reviewers(args: RemoveReviewers, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .delete(path!(
                "/repos/{}/{}/pulls/{}/requested_reviewers",
                args.owner,
                args.repo,
                args.pull_number
            ))
            .json(&args)
            .fetch()?,
        &["number", "title", "reviewers=requested_reviewers/*/login"],
    ))
}

#[derive(Args)]
pub struct ListPullRequestCommits {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the commits of a pull request.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["pr history"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9 })]
pub fn list_pull_request_commits(
    args: ListPullRequestCommits,
    cx: &Context,
) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/pulls/{}/commits",
            args.owner,
            args.repo,
            args.pull_number
        )),
        args.per_page,
        &[
            "sha",
            "message=commit/message",
            "author=author/login",
            "date=commit/author/date",
        ],
    )
}

/// Lists the reviews of a pull request: who approved, asked for changes or commented.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["who reviewed"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9 })]
pub fn list_pull_request_reviews(
    args: ListPullRequestCommits,
    cx: &Context,
) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/pulls/{}/reviews",
            args.owner,
            args.repo,
            args.pull_number
        )),
        args.per_page,
        &[
            "id",
            "state",
            "author=user/login",
            "body",
            "submitted_at",
            "commit=commit_id",
            "html_url",
        ],
    )
}

/// Lists the remarks on single lines of a pull request.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["code review comments", "feedback"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9 })]
pub fn list_review_comments(
    args: ListPullRequestCommits,
    cx: &Context,
) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/pulls/{}/comments",
            args.owner,
            args.repo,
            args.pull_number
        )),
        args.per_page,
        &[
            "id",
            "path",
            "line",
            "side",
            "author=user/login",
            "body",
            "in_reply_to=in_reply_to_id",
            "created_at",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub enum CreateReviewCommentSide {
    #[arg(rename = "LEFT")]
    Left,
    #[arg(rename = "RIGHT")]
    Right,
}

#[derive(Args)]
pub struct CreateReviewComment {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Text in Markdown.
    #[arg(min_length = 1)]
    body: String,
    /// Newest commit of the pull request (head_sha of github_get_pull_request).
    #[arg(pattern = "^[0-9a-f]{40}$")]
    commit_id: String,
    /// File, from the repository's root.
    #[arg(min_length = 1)]
    path: String,
    /// Line of the file.
    #[arg(min = 1)]
    line: u64,
    /// `RIGHT` is the new version, `LEFT` the old one.
    #[arg(default = "RIGHT")]
    side: CreateReviewCommentSide,
    /// First line, for a remark on several.
    #[arg(min = 1)]
    start_line: Option<u64>,
}

/// Remarks on one line of a pull request.
#[tool(effect = "write", scopes = ["repo"], keywords = ["code review", "inline comment"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9, "body": "Quote this.", "commit_id": "c5b97d5ae6c19d5c5df71a34c7fbeeda2479ccbc", "path": "build.sh", "line": 3, "side": "RIGHT" })]
pub fn create_review_comment(args: CreateReviewComment, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/pulls/{}/comments",
                args.owner,
                args.repo,
                args.pull_number
            ))
            .json(&args)
            .fetch()?,
        &["id", "path", "line", "body", "html_url"],
    ))
}

#[derive(Args)]
pub struct ReplyToReviewComment {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Id of the remark, as github_list_review_comments shows it.
    #[arg(path, min = 1)]
    comment_id: u64,
    /// Text in Markdown.
    #[arg(min_length = 1)]
    body: String,
}

/// Answers a remark on a line of a pull request.
#[tool(effect = "write", scopes = ["repo"], keywords = ["answer review"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9, "comment_id": 10, "body": "Done." })]
pub fn reply_to_review_comment(
    args: ReplyToReviewComment,
    cx: &Context,
) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/pulls/{}/comments/{}/replies",
                args.owner,
                args.repo,
                args.pull_number,
                args.comment_id
            ))
            .json(&args)
            .fetch()?,
        &["id", "body", "html_url"],
    ))
}

#[derive(Args)]
pub struct DismissReview {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Number of the pull request.
    #[arg(path, min = 1)]
    pull_number: u64,
    /// Id of the review, as github_list_pull_request_reviews shows it.
    #[arg(path, min = 1)]
    review_id: u64,
    /// Why.
    #[arg(min_length = 1)]
    message: String,
}

/// Takes a review out of account, with a reason.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["remove approval"],
       example = { "owner": "octocat", "repo": "hello-world", "pull_number": 9, "review_id": 80, "message": "The code has changed since." })]
pub fn dismiss_review(args: DismissReview, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .put(path!(
                "/repos/{}/{}/pulls/{}/reviews/{}/dismissals",
                args.owner,
                args.repo,
                args.pull_number,
                args.review_id
            ))
            .json(&args)
            .fetch()?,
        &["id", "state", "author=user/login"],
    ))
}
