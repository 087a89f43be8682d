//! Workflow runs, their jobs, and where they deploy.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub struct GetWorkflowRun {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the run, as github_list_workflow_runs shows it.
    #[arg(path, min = 1)]
    run_id: u64,
}

/// Reads one workflow run: what ran, for which commit, state and conclusion.
#[tool(effect = "read", scopes = ["repo"], keywords = ["ci result", "run details"],
       example = { "owner": "octocat", "repo": "hello-world", "run_id": 30433642 })]
pub fn get_workflow_run(args: GetWorkflowRun, cx: &Context) -> Result<Value, ToolError> {
    Ok(pick(
        &github(cx)
            .get(path!(
                "/repos/{}/{}/actions/runs/{}",
                args.owner,
                args.repo,
                args.run_id
            ))
            .fetch()?,
        &[
            "id",
            "name",
            "title=display_title",
            "event",
            "status",
            "conclusion",
            "branch=head_branch",
            "head_sha",
            "attempt=run_attempt",
            "created_at",
            "updated_at",
            "html_url",
        ],
    ))
}

#[derive(Args)]
pub enum ListWorkflowJobsFilter {
    Latest,
    All,
}

#[derive(Args)]
pub struct ListWorkflowJobs {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the run, as github_list_workflow_runs shows it.
    #[arg(path, min = 1)]
    run_id: u64,
    /// Only of the newest attempt, or of all.
    #[arg(default = "latest")]
    filter: ListWorkflowJobsFilter,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the jobs of a workflow run with each step's conclusion: which step failed.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["ci steps", "why did the build fail"],
       example = { "owner": "octocat", "repo": "hello-world", "run_id": 30433642 })]
pub fn list_workflow_jobs(args: ListWorkflowJobs, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx)
            .get(path!(
                "/repos/{}/{}/actions/runs/{}/jobs",
                args.owner,
                args.repo,
                args.run_id
            ))
            .query_fields(&args),
        args.per_page,
        &[
            "id",
            "name",
            "status",
            "conclusion",
            "started_at",
            "completed_at",
            "steps=steps/*/name",
            "conclusions=steps/*/conclusion",
            "runner=runner_name",
            "html_url",
        ],
    )
}

#[derive(Args)]
pub struct RerunWorkflow {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the run, as github_list_workflow_runs shows it.
    #[arg(path, min = 1)]
    run_id: u64,
    /// With more logging.
    #[arg(default = false)]
    enable_debug_logging: bool,
}

/// Runs a workflow run again, all of it.
#[tool(effect = "write", scopes = ["repo"], keywords = ["retry", "re-run ci"],
       example = { "owner": "octocat", "repo": "hello-world", "run_id": 30433642 })]
pub fn rerun_workflow(args: RerunWorkflow, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .post(path!(
            "/repos/{}/{}/actions/runs/{}/rerun",
            args.owner,
            args.repo,
            args.run_id
        ))
        .json(&args)
        .send()?;
    Ok(json!({ "started": true }))
}

/// Runs the failed jobs of a workflow run again, and those that depend on them.
#[tool(effect = "write", scopes = ["repo"], keywords = ["retry failed", "re-run ci"],
       example = { "owner": "octocat", "repo": "hello-world", "run_id": 30433642 })]
pub fn rerun_failed_jobs(args: RerunWorkflow, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .post(path!(
            "/repos/{}/{}/actions/runs/{}/rerun-failed-jobs",
            args.owner,
            args.repo,
            args.run_id
        ))
        .json(&args)
        .send()?;
    Ok(json!({ "started": true }))
}

/// Stops a workflow run that is queued or running.
#[tool(effect = "write", scopes = ["repo"], keywords = ["abort build", "stop ci"],
       example = { "owner": "octocat", "repo": "hello-world", "run_id": 30433642 })]
pub fn cancel_workflow_run(args: GetWorkflowRun, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .post(path!(
            "/repos/{}/{}/actions/runs/{}/cancel",
            args.owner,
            args.repo,
            args.run_id
        ))
        .send()?;
    Ok(json!({ "cancelled": true }))
}

#[derive(Args)]
pub struct ListRunArtifacts {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the run, as github_list_workflow_runs shows it.
    #[arg(path, min = 1)]
    run_id: u64,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists the files that a workflow run has kept, with size and end.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["build output", "downloads"],
       example = { "owner": "octocat", "repo": "hello-world", "run_id": 30433642 })]
pub fn list_run_artifacts(args: ListRunArtifacts, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/actions/runs/{}/artifacts",
            args.owner,
            args.repo,
            args.run_id
        )),
        args.per_page,
        &[
            "id",
            "name",
            "size=size_in_bytes",
            "expired",
            "expires_at",
            "url=archive_download_url",
        ],
    )
}

#[derive(Args)]
pub struct ListWorkflows {
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

/// Lists the workflows of a repository with file and state.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["ci definitions", "pipelines"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_workflows(args: ListWorkflows, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/actions/workflows",
            args.owner,
            args.repo
        )),
        args.per_page,
        &["id", "name", "path", "state", "html_url"],
    )
}

#[derive(Args)]
pub struct EnableWorkflow {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the workflow or name of its file, for example `ci.yml`.
    #[arg(path)]
    workflow_id: String,
}

/// Activates a workflow that was disabled.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["activate ci"],
       example = { "owner": "octocat", "repo": "hello-world", "workflow_id": "ci.yml" })]
pub fn enable_workflow(args: EnableWorkflow, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .put(path!(
            "/repos/{}/{}/actions/workflows/{}/enable",
            args.owner,
            args.repo,
            args.workflow_id
        ))
        .send()?;
    Ok(json!({ "enabled": args.workflow_id }))
}

/// Deactivates a workflow, so that nothing starts it any more.
#[tool(effect = "write", idempotent, scopes = ["repo"], keywords = ["turn off ci"],
       example = { "owner": "octocat", "repo": "hello-world", "workflow_id": "ci.yml" })]
pub fn disable_workflow(args: EnableWorkflow, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .put(path!(
            "/repos/{}/{}/actions/workflows/{}/disable",
            args.owner,
            args.repo,
            args.workflow_id
        ))
        .send()?;
    Ok(json!({ "disabled": args.workflow_id }))
}

#[derive(Args)]
pub struct ListVariables {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Entries on a page.
    #[arg(path, min = 1, max = 30, default = 10)]
    per_page: u32,
}

/// Lists the variables that workflows of a repository can read, with their values.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["ci settings", "environment variables"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_variables(args: ListVariables, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!(
            "/repos/{}/{}/actions/variables",
            args.owner,
            args.repo
        )),
        args.per_page,
        &["name", "value", "updated_at"],
    )
}

#[derive(Args)]
pub struct CreateVariable {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Name.
    #[arg(pattern = "^[A-Za-z_][A-Za-z0-9_]*$")]
    name: String,
    /// Value; everyone with read access to the workflows sees it.
    value: String,
}

/// Adds a variable that workflows of a repository can read. Not for secrets.
#[tool(effect = "write", scopes = ["repo"], keywords = ["ci setting", "env"],
       example = { "owner": "octocat", "repo": "hello-world", "name": "REGION", "value": "eu" })]
pub fn create_variable(args: CreateVariable, cx: &Context) -> Result<Value, ToolError> {
    github(cx)
        .post(path!(
            "/repos/{}/{}/actions/variables",
            args.owner,
            args.repo
        ))
        .json(&args)
        .send()?;
    Ok(json!({ "created": args.name }))
}

#[derive(Args)]
pub struct ListDeployments {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Only of this environment, for example `production`.
    environment: Option<String>,
    /// Only of this branch, tag or commit.
    r#ref: Option<String>,
    /// Entries on a page.
    #[arg(path, min = 1, max = 100, default = 30)]
    per_page: u32,
}

/// Lists deployments of a repository, newest first: commit, environment, who.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["releases to production", "what is deployed"],
       example = { "owner": "octocat", "repo": "hello-world", "environment": "production" })]
pub fn list_deployments(args: ListDeployments, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx)
            .get(path!("/repos/{}/{}/deployments", args.owner, args.repo))
            .query_fields(&args),
        args.per_page,
        &[
            "id",
            "sha",
            "ref",
            "task",
            "environment",
            "description",
            "creator=creator/login",
            "created_at",
        ],
    )
}

/// Lists the environments that a repository deploys to, with their rules.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["staging", "production"],
       example = { "owner": "octocat", "repo": "hello-world" })]
pub fn list_environments(args: ListWorkflows, cx: &Context) -> Result<Output, ToolError> {
    page(
        cx,
        github(cx).get(path!("/repos/{}/{}/environments", args.owner, args.repo)),
        args.per_page,
        &[
            "id",
            "name",
            "rules=protection_rules/*/type",
            "updated_at",
            "html_url",
        ],
    )
}
