//! Branches, commits, checks and tags.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub struct GetBranch {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name of the branch.
    #[arg(path)]
    branch: String,
}

/// Reads one branch: where it points, and whether it is protected.
#[tool(effect = "read", scopes = ["repo"], keywords = ["head of branch"],
       example = { "owner": "octocat", "repo": "hello-world", "branch": "main" })]
pub fn get_branch(args: GetBranch, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!(
                "/repos/{}/{}/branches/{}",
                args.owner,
                args.repo,
                args.branch
            ))
            .fetch()?,
        &[
            "name",
            "sha=commit/sha",
            "message=commit/commit/message",
            "date=commit/commit/committer/date",
            "protected",
        ],
    ))
}

#[derive(Args)]
pub struct RenameBranch {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name of the branch.
    #[arg(path)]
    branch: String,
    /// New name.
    #[arg(min_length = 1)]
    new_name: String,
}

/// Renames a branch; pull requests follow it.
#[tool(effect = "write", scopes = ["repo"],
       example = { "owner": "octocat", "repo": "hello-world", "branch": "master", "new_name": "main" })]
pub fn rename_branch(args: RenameBranch, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/branches/{}/rename",
                args.owner,
                args.repo,
                args.branch
            ))
            .json(&args)
            .fetch()?,
        &["name", "sha=commit/sha", "protected"],
    ))
}

/// Deletes a branch. Its commits stay where another branch or tag has them.
#[tool(effect = "destructive", scopes = ["repo"], keywords = ["remove branch", "clean up"],
       example = { "owner": "octocat", "repo": "hello-world", "branch": "fix-typo" })]
pub fn delete_branch(args: GetBranch, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .delete(path!(
            "/repos/{}/{}/git/refs/heads/{}",
            args.owner,
            args.repo,
            args.branch
        ))
        .send()?;
    Ok(json!({ "deleted": args.branch }))
}

/// Reads the rules of a protected branch: reviews, checks, who may push.
#[tool(effect = "read", scopes = ["repo"], keywords = ["branch rules", "required reviews"],
       example = { "owner": "octocat", "repo": "hello-world", "branch": "main" })]
pub fn get_branch_protection(args: GetBranch, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!(
                "/repos/{}/{}/branches/{}/protection",
                args.owner,
                args.repo,
                args.branch
            ))
            .fetch()?,
        &[
            "checks=required_status_checks/contexts",
            "strict=required_status_checks/strict",
            "approvals=required_pull_request_reviews/required_approving_review_count",
            "code_owners=required_pull_request_reviews/require_code_owner_reviews",
            "admins=enforce_admins/enabled",
            "linear=required_linear_history/enabled",
            "force_pushes=allow_force_pushes/enabled",
            "deletions=allow_deletions/enabled",
        ],
    ))
}

#[derive(Args)]
pub struct MergeBranch {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Branch to merge into.
    base: String,
    /// Branch or commit to merge.
    head: String,
    /// Message of that commit.
    commit_message: Option<String>,
}

/// Merges one branch straight into another, with a commit of its own.
#[tool(effect = "write", scopes = ["repo"], keywords = ["sync branch"],
       example = { "owner": "octocat", "repo": "hello-world", "base": "release", "head": "main" })]
pub fn merge_branch(args: MergeBranch, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!("/repos/{}/{}/merges", args.owner, args.repo))
            .json(&args)
            .fetch()?,
        &["sha", "message=commit/message", "html_url"],
    ))
}

#[derive(Args)]
pub struct CompareRefs {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// The two, as `base...head`, for example `v1.0...main`.
    #[arg(path, pattern = "^.+\\.\\.\\.?.+$")]
    basehead: String,
}

/// Compares two branches or tags: how far they are apart, what happened between them and the
/// changed files.
#[tool(effect = "read", scopes = ["repo"], keywords = ["diff", "what changed", "ahead", "behind", "changelog"],
       example = { "owner": "octocat", "repo": "hello-world", "basehead": "v1.0...main" })]
pub fn compare_refs(args: CompareRefs, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!(
                "/repos/{}/{}/compare/{}",
                args.owner,
                args.repo,
                args.basehead
            ))
            .fetch()?,
        &[
            "status",
            "ahead_by",
            "behind_by",
            "total_commits",
            "commits=commits/*/commit/message",
            "files=files/*/filename",
            "html_url",
        ],
    ))
}

#[derive(Args)]
pub struct GetCommit {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Commit, branch or tag.
    #[arg(path)]
    r#ref: String,
}

/// Reads one commit: message, author, date, and the changed files with their patches.
#[tool(effect = "read", scopes = ["repo"], keywords = ["diff", "patch", "what did this change"],
       example = { "owner": "octocat", "repo": "hello-world", "ref": "c5b97d5ae6c19d5c5df71a34c7fbeeda2479ccbc" })]
pub fn get_commit(args: GetCommit, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!(
                "/repos/{}/{}/commits/{}",
                args.owner,
                args.repo,
                args.r#ref
            ))
            .fetch()?,
        &[
            "sha",
            "message=commit/message",
            "author=author/login",
            "date=commit/author/date",
            "additions=stats/additions",
            "deletions=stats/deletions",
            "files=files/*/filename",
            "patches=files/*/patch",
            "html_url",
        ],
    ))
}

#[derive(Args)]
pub struct ListCheckRuns {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Commit, branch or tag.
    #[arg(path)]
    r#ref: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the checks of a commit, branch or pull request's head: state, conclusion and summary of
/// each.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["ci status", "did it pass", "checks"],
       example = { "owner": "octocat", "repo": "hello-world", "ref": "main" })]
pub fn list_check_runs(args: ListCheckRuns, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/commits/{}/check-runs",
            args.owner,
            args.repo,
            args.r#ref
        )),
        args.per_page,
        &[
            "id",
            "name",
            "status",
            "conclusion",
            "started_at",
            "completed_at",
            "title=output/title",
            "summary=output/summary",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub struct ListCheckAnnotations {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the check, as github_list_check_runs shows it.
    #[arg(path, min = 1)]
    check_run_id: u64,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists what a check found, line by line: file, line, level and message.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["errors", "warnings", "why did ci fail"],
       example = { "owner": "octocat", "repo": "hello-world", "check_run_id": 4 })]
pub fn list_check_annotations(
    args: ListCheckAnnotations,
    cx: &Context,
) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/check-runs/{}/annotations",
            args.owner,
            args.repo,
            args.check_run_id
        )),
        args.per_page,
        &[
            "path",
            "line=start_line",
            "end_line",
            "level=annotation_level",
            "title",
            "message",
        ],
    )
}

/// Reads the combined status of a commit or branch, with each context that reported.
#[tool(effect = "read", scopes = ["repo"], keywords = ["ci status"],
       example = { "owner": "octocat", "repo": "hello-world", "ref": "main" })]
pub fn get_commit_status(args: GetCommit, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!(
                "/repos/{}/{}/commits/{}/status",
                args.owner,
                args.repo,
                args.r#ref
            ))
            .fetch()?,
        &[
            "state",
            "sha",
            "total_count",
            "contexts=statuses/*/context",
            "states=statuses/*/state",
        ],
    ))
}

#[derive(Args)]
pub enum CreateCommitStatusState {
    Error,
    Failure,
    Pending,
    Success,
}

#[derive(Args)]
pub struct CreateCommitStatus {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// The commit.
    #[arg(path, pattern = "^[0-9a-f]{40}$")]
    sha: String,
    /// The status.
    state: CreateCommitStatusState,
    /// Name of the check, for example `ci/manual`.
    context: Option<String>,
    /// A few words about it.
    #[arg(max_length = 140)]
    description: Option<String>,
    /// Page with the details.
    #[arg(format = "uri")]
    target_url: Option<String>,
}

/// Sets a status on a commit, as an own check would.
#[tool(effect = "write", scopes = ["repo"], keywords = ["mark commit", "report check"],
       example = { "owner": "octocat", "repo": "hello-world", "sha": "c5b97d5ae6c19d5c5df71a34c7fbeeda2479ccbc", "state": "success", "context": "ci/manual" })]
pub fn create_commit_status(args: CreateCommitStatus, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .post(path!(
                "/repos/{}/{}/statuses/{}",
                args.owner,
                args.repo,
                args.sha
            ))
            .json(&args)
            .fetch()?,
        &["id", "state", "context", "description", "target_url"],
    ))
}

#[derive(Args)]
pub struct ListTags {
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

/// Lists the tags of a repository with the commit each points to.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["versions"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_tags(args: ListTags, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!("/repos/{}/{}/tags", args.owner, args.repo)),
        args.per_page,
        &["name", "sha=commit/sha"],
    )
}

#[derive(Args)]
pub struct CreateBranch {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name of the new branch, for example `fix-typo`.
    #[arg(min_length = 1)]
    branch: String,
    /// Branch, tag or commit that it starts from; the default branch unless given.
    from: Option<String>,
}

/// Creates a branch from another one, a tag or a commit.
#[tool(effect = "write", scopes = ["repo"], keywords = ["new branch", "checkout"],
       example = { "owner": "octocat", "repo": "hello-world", "branch": "fix-typo", "from": "main" })]
pub fn create_branch(args: CreateBranch, cx: &Context) -> Result<Value, ToolError> {
    let from = args.from.as_deref().unwrap_or("HEAD");
    let commit = path!("/repos/{}/{}/commits/{}", args.owner, args.repo, from);
    let commit = github(cx).get(commit).fetch()?;
    let body = json!({ "ref": format!("refs/heads/{}", args.branch), "sha": commit["sha"] });
    let address = path!("/repos/{}/{}/git/refs", args.owner, args.repo);
    let made = github(cx).post(address).json(&body).fetch()?;
    Ok(pick(&made, &["ref", "sha=object/sha"]))
}
