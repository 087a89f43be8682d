//! `/v1/scripts` and `/v1/code-mode`: programs that call tools, run by the gateway. `/v1/tools/types`: what they see.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::{Keyed, KeyedBody};
use super::{RestState, openapi, stream};
use toolgate_core::ids::UserId;
use toolgate_core::trace;
use toolgate_gateway::scripts::once::{ScriptTypes, TYPED_NAMES_MAX, TYPED_SERVICES_MAX};
use toolgate_gateway::scripts::{LIST_LIMIT_MAX, RunScript, ScriptRun, ScriptRunPage};
use toolgate_gateway::tools::CallListener;
use toolgate_gateway::tools::idempotency::IdempotentAnswer;
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::ids;
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, NoQuery, PageLimit, Phrase, QueryString};

/// Runs that a page holds.
const RUNS_LIMIT_MAX: usize = LIST_LIMIT_MAX as usize;
/// Characters of the list of names, with its commas.
const NAMES_CHARS_MAX: usize = TYPED_NAMES_MAX * 129;
/// Characters of the list of services, with its commas.
const SERVICES_CHARS_MAX: usize = TYPED_SERVICES_MAX * 41;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Scripts",
        "Programs in JavaScript or TypeScript that call several tools, run by the gateway where the workspace has code mode on.",
    )
    .routes(routes!(run))
    .routes(routes!(list))
    .routes(routes!(read))
    .routes(routes!(resume))
    .routes(routes!(cancel))
    .routes(routes!(types))
    .routes(routes!(code_mode, set_code_mode))
}

/// A run as the examples show it; `other` is what is different in one of them.
fn run_example(other: Value) -> Value {
    let mut run = json!({
        "run_id": "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "status": "done",
        "plan": [],
        "logs": [{"level": "info", "text": "opened 7"}],
        "warnings": [],
        "calls": [{
            "step": 0,
            "tool": "github_create_issue",
            "line": 1,
            "status": "ok",
            "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBE",
            "started_at": "2026-11-20T09:30:00.125Z",
            "duration_ms": 212
        }],
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"
    });
    if let (Some(run), Value::Object(other)) = (run.as_object_mut(), other) {
        run.extend(other);
    }
    run
}

fn done_example() -> Value {
    run_example(json!({"result": {"opened": 1}}))
}

fn paused_example() -> Value {
    run_example(json!({
        "status": "paused",
        "pause": {
            "reason": "connection",
            "step": 1,
            "line": 3,
            "tool": "slack_send_message",
            "connect_url": "https://gateway.example.com/connect/abc",
            "message": "Connect a Slack account to use this tool."
        }
    }))
}

fn failed_example() -> Value {
    run_example(json!({
        "status": "failed",
        "error": {
            "name": "TypeError",
            "message": "github.createIsue is not a function",
            "line": 4,
            "column": 7
        }
    }))
}

fn planned_example() -> Value {
    run_example(json!({
        "status": "planned",
        "plan": [{
            "step": 1,
            "tool": "github_create_issue",
            "line": 3,
            "arguments": {"owner": "ada", "repo": "engine", "title": "The mill jams on card 12"}
        }]
    }))
}

/// A script and what it runs with.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct RunScriptBody {
    /// One module in JavaScript or TypeScript, at most 256 KiB. Its result is its default export, or what that function
    /// returns.
    #[schema(
        min_length = 1,
        max_length = 262144,
        example = "const issues = await github.listIssues({ owner: args.owner, repo: args.repo });\nexport default issues.length;\n"
    )]
    script: String,
    /// What the script finds in `args`; an empty object if absent.
    #[serde(default = "no_arguments")]
    arguments: Value,
    /// The user to run for; the key's default user if absent.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")]
    user_id: Option<UserId>,
    /// The session of all calls; each call has its own if absent.
    #[schema(
        min_length = 1,
        max_length = 256,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"
    )]
    session_id: Option<String>,
    /// Calls that read are made, calls that write are planned: the answer lists them in `plan`.
    #[serde(default)]
    dry_run: bool,
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

/// Run a script
///
/// The script calls tools with the user's own permissions and connections; each call has a receipt of its own. The status
/// is 200 and `data.status` tells the outcome: `done`, `failed` with an `error` and its line, `paused` with a link for
/// the user to open (then resume the run: the calls that were made are not made again), `planned` after a dry run, or
/// `cancelled`. With `Accept: text/event-stream` the script's progress is sent while it runs, and at last `reply`, which
/// holds the same envelope, or `error`. A run goes on when its client leaves: read it later, or cancel it. Needs the
/// scope `tools:execute`, and code mode.
#[utoipa::path(
    post,
    path = "/v1/scripts/run",
    operation_id = "run_script",
    request_body(content = RunScriptBody, description = "The script and, where wanted, its arguments, user and session.", example = json!({
        "script": "const issues = await github.listIssues({ owner: args.owner, repo: args.repo });\nexport default issues.length;\n",
        "arguments": {"owner": "ada", "repo": "engine"}
    })),
    responses((status = 200, description = "The outcome of the run.", body = inline(Success<ScriptRun>), examples(
        ("done" = (summary = "The script ended", value = json!(done_example()))),
        ("paused" = (summary = "The user has to connect an account", value = json!(paused_example()))),
        ("failed" = (summary = "The script threw", value = json!(failed_example()))),
        ("planned" = (summary = "A dry run", value = json!(planned_example()))),
    ))),
)]
async fn run(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    headers: HeaderMap,
    KeyedBody { body, attempt }: KeyedBody<RunScriptBody>,
) -> Result<Response, ApiFailure> {
    if let Some(session_id) = &body.session_id {
        ids::check("session_id", session_id)?;
    }
    let mut request = RunScript {
        script: body.script,
        arguments: body.arguments,
        user_id: body.user_id,
        session_id: body.session_id,
        dry_run: body.dry_run,
        listener: CallListener::default(),
    };
    if !stream::wanted(&headers) {
        let run = gateway.run_script_once(&caller, attempt, request).await?;
        return Ok(Success::new(&caller, run).into_response());
    }
    let (events, heard) = mpsc::unbounded_channel();
    request.listener.events = Some(Arc::new(move |event| {
        // The client has left.
        let _ = events.send(event);
    }));
    let revoked = gateway.clone().revoked(caller.clone());
    let owned = caller.clone();
    let work = async move { gateway.run_script_once(&owned, attempt, request).await };
    let work = tokio::spawn(trace::carry(work));
    stream::answer(caller, StatusCode::OK, heard, work, None, revoked).await
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ScriptRunsQuery {
    /// Only runs of this user; with a key that acts for one user, that user's.
    #[param(inline)]
    user_id: ForUser,
    /// How many runs a page holds.
    #[param(inline)]
    limit: PageLimit<{ RUNS_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List runs of scripts
///
/// Newest first, without their scripts and results. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/scripts/runs",
    operation_id = "list_script_runs",
    params(ScriptRunsQuery),
    responses((status = 200, description = "One page of runs.", body = inline(Success<ScriptRunPage>), example = json!({"items": [{
        "run_id": "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "status": "done",
        "user_id": "ada@example.com",
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "script_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "steps": 1,
        "dry_run": false,
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:01.250Z",
        "expires_at": "2026-11-21T09:30:00.125Z"
    }], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<ScriptRunsQuery>,
) -> Result<Success<ScriptRunPage>, ApiFailure> {
    let limit = u32::try_from(query.limit.0).unwrap_or(u32::MAX);
    let (user, cursor) = (query.user_id.0, query.cursor.0);
    let page = gateway
        .script_runs(&caller, user, cursor.as_deref(), limit)
        .await?;
    Ok(Success::new(&caller, page))
}

/// Read a run of a script
///
/// Its outcome, its logs and its calls, each with the id of its receipt.
#[utoipa::path(
    get,
    path = "/v1/scripts/runs/{run_id}",
    operation_id = "get_script_run",
    params(("run_id" = String, Path, description = "The id that run and list return.", example = "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The run.", body = inline(Success<ScriptRun>), example = json!(done_example()))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([run_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<ScriptRun>, ApiFailure> {
    let run = gateway.script_run(&caller, &run_id).await?;
    Ok(Success::new(&caller, run))
}

/// Resume a run of a script
///
/// Goes on where a run was paused or its process stopped: the script runs anew and is given the outcomes that are stored,
/// so that no call is made twice. Answers what run answers, also for a run that has ended; 409 while the run is under way
/// elsewhere.
#[utoipa::path(
    post,
    path = "/v1/scripts/runs/{run_id}/resume",
    operation_id = "resume_script",
    params(("run_id" = String, Path, description = "The id that run and list return.", example = "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The outcome of the run.", body = inline(Success<ScriptRun>), example = json!(done_example()))),
)]
async fn resume(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([run_id]): Segments<1>,
    _: NoQuery,
    Keyed(attempt): Keyed,
) -> Result<Success<IdempotentAnswer<ScriptRun>>, ApiFailure> {
    let run = gateway.resume_script_once(&caller, attempt, run_id).await?;
    Ok(Success::new(&caller, run))
}

/// Cancel a run of a script
///
/// No further call is made. What a call under way has sent stays sent. Answers 409 for a run that is over.
#[utoipa::path(
    post,
    path = "/v1/scripts/runs/{run_id}/cancel",
    operation_id = "cancel_script",
    params(("run_id" = String, Path, description = "The id that run and list return.", example = "run_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The run as it is now.", body = inline(Success<ScriptRun>), example = json!(run_example(json!({"status": "cancelled"}))))),
)]
async fn cancel(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([run_id]): Segments<1>,
    _: NoQuery,
    Keyed(attempt): Keyed,
) -> Result<Success<IdempotentAnswer<ScriptRun>>, ApiFailure> {
    let cancel = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.cancel_script(&caller, &run_id).await
    };
    let run = gateway
        .once(&caller, Scope::ToolsExecute, attempt, cancel)
        .await?;
    Ok(Success::new(&caller, run))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ToolTypesQuery {
    /// Names of tools, parted by commas, at most 100. Needed unless services are named.
    #[param(inline, example = "github_create_issue,github_list_issues")]
    names: Phrase<{ NAMES_CHARS_MAX }>,
    /// Names of services, parted by commas, at most 10: all their tools that the user may use.
    #[param(inline, example = "github")]
    services: Phrase<{ SERVICES_CHARS_MAX }>,
    /// The user the tools would run for; the key's default user if absent.
    #[param(inline)]
    user_id: ForUser,
}

/// Read tools as TypeScript
///
/// Declarations of what a script sees: a function of each tool with the types of its arguments and its result, and the
/// script's own functions. The text compiles with `tsc --strict`.
#[utoipa::path(
    get,
    path = "/v1/tools/types",
    operation_id = "get_tool_types",
    params(ToolTypesQuery),
    responses((status = 200, description = "Declarations in TypeScript.", body = String, content_type = "text/plain")),
)]
async fn types(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<ToolTypesQuery>,
) -> Result<Response, ApiFailure> {
    caller.need(Scope::ToolsRead)?;
    let request = ScriptTypes {
        names: listed("names", query.names.0.as_deref())?,
        services: listed("services", query.services.0.as_deref())?,
        user_id: query.user_id.0,
    };
    if request.names.is_empty() && request.services.is_empty() {
        return Err(ApiFailure::field("names", "must name a tool"));
    }
    let text = gateway.script_types(&caller, request).await?;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    let fresh = HeaderValue::from_static("private, no-cache");
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, fresh)];
    Ok((headers, text).into_response())
}

/// The words of a list that commas part.
fn listed(field: &str, text: Option<&str>) -> Result<Vec<String>, ApiFailure> {
    let words = text.unwrap_or_default().split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| ids::check(field, word).map(|()| word.to_owned()))
        .collect()
}

/// Whether the gateway runs scripts for the workspace.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct CodeMode {
    enabled: bool,
}

/// The setting to be.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct CodeModeBody {
    /// Whether scripts run.
    enabled: bool,
}

/// Read whether code mode is on
///
/// While it is off no script runs and MCP clients do not see `svc_run_script`.
#[utoipa::path(
    get,
    path = "/v1/code-mode",
    operation_id = "get_code_mode",
    responses((status = 200, description = "The setting of the workspace.", body = inline(Success<CodeMode>), example = json!({"enabled": false}))),
)]
async fn code_mode(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
) -> Result<Success<CodeMode>, ApiFailure> {
    let enabled = gateway.code_mode(&caller).await?;
    Ok(Success::new(&caller, CodeMode { enabled }))
}

/// Switch code mode
///
/// For keys with the scope `admin`, owners and admins. Runs that are under way when it is switched off go on; those that
/// are paused are not resumed.
#[utoipa::path(
    put,
    path = "/v1/code-mode",
    operation_id = "set_code_mode",
    request_body(content = CodeModeBody, description = "On or off.", example = json!({"enabled": true})),
    responses((status = 200, description = "The setting as it is now.", body = inline(Success<CodeMode>), example = json!({"enabled": true}))),
)]
async fn set_code_mode(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    JsonBody(CodeModeBody { enabled }): JsonBody<CodeModeBody>,
) -> Result<Success<CodeMode>, ApiFailure> {
    gateway.set_code_mode(&caller, enabled).await?;
    Ok(Success::new(&caller, CodeMode { enabled }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_http_kit::body;

    #[test]
    fn a_script_alone_is_a_request_and_anything_unknown_is_not() {
        let read = |text: &str| body::decode::<RunScriptBody>(text.as_bytes());
        let least = read(r#"{"script":"export default 1"}"#).unwrap();
        assert_eq!(least.arguments, json!({}));
        assert!(!least.dry_run && least.user_id.is_none(), "{least:?}");
        let list = read(r#"{"script":"","arguments":[1]}"#).unwrap();
        assert_eq!(list.arguments, json!([1]));
        for (text, field) in [
            (r#"{"arguments":{}}"#, "body"),
            (r#"{"script":"1","scripts":"2"}"#, "scripts"),
            (r#"{"script":"1","user_id":"a b"}"#, "user_id"),
        ] {
            let failure = read(text).unwrap_err();
            let body = serde_json::to_value(failure.body("req_1")).unwrap();
            assert_eq!(body["error"]["details"]["field"], field, "{text}");
        }
    }

    #[test]
    fn names_are_parted_by_commas_and_each_is_checked() {
        let read = |text| listed("names", text).map_err(|failure| failure.code());
        assert_eq!(read(None), Ok(Vec::new()));
        let names = vec!["a_b".to_owned(), "c".to_owned()];
        assert_eq!(read(Some(" a_b, c,,")), Ok(names));
        let long = "x".repeat(ids::ID_CHARS_MAX + 1);
        assert_eq!(read(Some(long.as_str())), Err("invalid_request"));
    }
}
