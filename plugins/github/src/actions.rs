//! Workflow runs of GitHub Actions.

use toolgate_sdk::prelude::*;

use crate::api::{github, page};

#[derive(Args)]
pub enum RunStatus {
    Queued,
    InProgress,
    Completed,
    Success,
    Failure,
    Cancelled,
    Skipped,
    TimedOut,
    ActionRequired,
    Waiting,
}

#[derive(Args)]
pub struct ListWorkflowRuns {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Only runs of this branch.
    branch: Option<String>,
    /// Only runs started by this kind of event, for example `push` or `pull_request`.
    event: Option<String>,
    /// Only runs in this state or with this conclusion.
    status: Option<RunStatus>,
    /// Only runs started by this login.
    actor: Option<String>,
    /// Runs on a page.
    #[arg(path, min = 1, max = 100, default = 20)]
    per_page: u32,
}

/// Lists workflow runs of a repository, newest first: what ran, for which commit, how it ended.
#[tool(effect = "read", paginated, scopes = ["repo"], keywords = ["ci", "build", "checks", "actions", "failed"],
       example = { "owner": "octocat", "repo": "hello-world", "status": "failure" },
       trigger = { name: "failed_workflow_run", title: "Failed workflow run",
                   description: "A run of a workflow has failed; a branch or a kind of event keeps the list short.",
                   arguments: { status: "failure", per_page: 50 }, items: "/items", id: ["/id", "/attempt"],
                   time: "/updated_at" })]
pub fn list_workflow_runs(args: ListWorkflowRuns, cx: &Context) -> Result<Output, ToolError> {
    let address = path!("/repos/{}/{}/actions/runs", args.owner, args.repo);
    let fields = [
        "id",
        "name",
        "title=display_title",
        "event",
        "status",
        "conclusion",
        "attempt=run_attempt",
        "branch=head_branch",
        "head_sha",
        "actor=actor/login",
        "created_at",
        "updated_at",
        "html_url",
    ];
    page(
        cx,
        github(cx).get(address).query_fields(&args),
        args.per_page,
        &fields,
    )
}

#[derive(Args)]
pub struct DispatchWorkflow {
    /// Account or organisation that owns the repository.
    #[arg(path)]
    owner: String,
    /// Name of the repository.
    #[arg(path)]
    repo: String,
    /// Id of the workflow or name of its file, for example `release.yml`.
    #[arg(path)]
    workflow_id: String,
    /// Branch or tag to run on.
    r#ref: String,
    /// Inputs that the workflow declares.
    inputs: Option<Map<String, Value>>,
}

/// Starts a workflow by hand. The workflow has to allow it (workflow_dispatch).
#[tool(effect = "write", scopes = ["repo", "workflow"], keywords = ["ci", "deploy", "run", "trigger", "actions"],
       example = { "owner": "octocat", "repo": "hello-world", "workflow_id": "release.yml", "ref": "main", "inputs": {"name": "Mona"} })]
pub fn dispatch_workflow(args: DispatchWorkflow, cx: &Context) -> Result<Value, ToolError> {
    let address = path!(
        "/repos/{}/{}/actions/workflows/{}/dispatches",
        args.owner,
        args.repo,
        args.workflow_id
    );
    github(cx).post(address).json(&args).send()?;
    Ok(json!({ "started": true, "see": "list_workflow_runs with event workflow_dispatch" }))
}
