//! `/v1/executions`: the receipts.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{RestState, openapi};
use toolgate_gateway::Gateway;
use toolgate_gateway::executions::payloads::ExecutionPayloads;
use toolgate_gateway::executions::{
    ExecutionPage, ExecutionReceipt, ExecutionStatus, ListExecutions, ReceiptKind,
};
use toolgate_gateway::tools::FailureReason;
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, Moment, NoQuery, PageLimit, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Executions", "Receipts of what ran.")
        .routes(routes!(list))
        .routes(routes!(read))
        .routes(routes!(payloads))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ExecutionsQuery {
    /// `tool`, which is the default, or `connection`: what the gateway itself sent for connections.
    kind: ReceiptKind,
    /// Only executions for this user.
    #[param(inline)]
    user_id: ForUser,
    /// Only executions of this tool.
    #[param(inline, example = "github_create_issue")]
    tool_name: Id,
    /// Only executions of tools with this part in their name, in any case.
    #[param(inline, example = "issue")]
    tool_name_part: Id,
    /// Only executions of this service's tools.
    #[param(inline, example = "github")]
    service: Id,
    /// Only executions that the key with these first characters asked for.
    #[param(inline, example = "a1B2c3D4")]
    key_prefix: Id,
    /// Only executions that ended this way.
    status: Option<ExecutionStatus>,
    /// Only executions that failed for this reason.
    reason: Option<FailureReason>,
    /// Only calls of the run of a script that has this receipt.
    #[param(inline, example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBC")]
    parent: Id,
    /// Only executions that began at this moment or later.
    #[param(value_type = String, format = DateTime, example = "2026-11-20T09:30:00.125Z")]
    started_after: Moment,
    /// Only executions that began before this moment.
    #[param(value_type = String, format = DateTime, example = "2026-11-21T09:30:00.125Z")]
    started_before: Moment,
    /// How many receipts a page holds.
    #[param(inline)]
    limit: PageLimit<100>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List executions
///
/// Receipts of the workspace, newest first. Follow `next_cursor` to the end: one page of a filtered list
/// looks at 20,000 receipts at most, so it may be short, or empty, before the last.
#[utoipa::path(
    get,
    path = "/v1/executions",
    operation_id = "list_executions",
    params(ExecutionsQuery),
    responses((status = 200, description = "One page of receipts.", body = inline(Success<ExecutionPage>), example = json!({"executions": [{
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "kind": "tool",
        "tool_name": "github_create_issue",
        "user_id": "ada@example.com",
        "key": {"name": "ci", "prefix": "a1B2c3D4"},
        "status": "success",
        "started_at": "2026-11-20T09:30:00.125Z",
        "duration_ms": 212,
        "plugin": {"service": "github", "version": "1.4.0", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        "requests": [{"method": "POST", "origin": "https://api.github.com", "host": "api.github.com", "path": "/repos/ada/engine/issues", "status": 201, "bytes_out": 44, "body_sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "bytes_in": 2310, "duration_ms": 198, "credential_slot": "user"}]
    }], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<ExecutionsQuery>,
) -> Result<Success<ExecutionPage>, ApiFailure> {
    let request = ListExecutions {
        kind: query.kind,
        user_id: query.user_id.0,
        tool_name: query.tool_name.0,
        tool_name_part: query.tool_name_part.0,
        service: query.service.0,
        key_prefix: query.key_prefix.0,
        status: query.status,
        reason: query.reason,
        parent: query.parent.0,
        from_ms: query.started_after.0,
        before_ms: query.started_before.0,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.executions(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

/// Read an execution
///
/// Who ran what, on which plugin file, and every request that left the gateway for it. Bodies are
/// not part of it.
#[utoipa::path(
    get,
    path = "/v1/executions/{execution_id}",
    operation_id = "get_execution",
    params(("execution_id" = String, Path, description = "The id that execute returned.", example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The receipt.", body = inline(Success<ExecutionReceipt>), example = json!({
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "kind": "tool",
        "tool_name": "github_create_issue",
        "user_id": "ada@example.com",
        "key": {"name": "ci", "prefix": "a1B2c3D4"},
        "status": "error",
        "reason": "timeout",
        "started_at": "2026-11-20T09:30:00.125Z",
        "duration_ms": 30000,
        "plugin": {"service": "github", "version": "1.4.0", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        "requests": [{"method": "POST", "origin": "https://api.github.com", "host": "api.github.com", "path": "/repos/ada/engine/issues", "bytes_out": 44, "body_sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "bytes_in": 0, "duration_ms": 29990, "credential_slot": "user"}]
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([execution_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<ExecutionReceipt>, ApiFailure> {
    let receipt = gateway.execution(&caller, &execution_id).await?;
    Ok(Success::new(&caller, receipt))
}

/// Read an execution's bodies
///
/// The bodies of its requests and answers, where the workspace had the setting that keeps them: of
/// each the first 64 KiB, 512 KiB of a call together, without any credential that the gateway adds.
/// For keys with the scope `admin`, owners and admins; every reading is in the audit log.
#[utoipa::path(
    get,
    path = "/v1/executions/{execution_id}/payloads",
    operation_id = "get_execution_payloads",
    params(("execution_id" = String, Path, description = "The id that execute returned.", example = "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The bodies.", body = inline(Success<ExecutionPayloads>), example = json!({
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "payloads": [{"number": 1, "side": "request", "method": "POST", "origin": "https://api.github.com", "path": "/repos/ada/engine/issues", "media_type": "application/json", "bytes_total": 23, "truncated": false, "encoding": "text", "content": "{\"title\": \"It is slow\"}"}]
    }))),
)]
async fn payloads(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([execution_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<ExecutionPayloads>, ApiFailure> {
    let payloads = gateway.execution_payloads(&caller, &execution_id).await?;
    Ok(Success::new(&caller, payloads))
}
