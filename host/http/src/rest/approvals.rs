//! `/v1/approvals`: calls that wait for a person.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::KeyedBody;
use super::{RestState, openapi};
use toolgate_core::states::ApprovalStatus;
use toolgate_gateway::access::approvals::{
    Approval, ApprovalDecision, ApprovalPage, LIST_LIMIT_MAX, ListApprovals, WAIT_S_MAX,
};
use toolgate_gateway::tools::idempotency::IdempotentAnswer;
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{Id, NoQuery, Number, PageLimit, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Approvals", "Calls that a person has to allow first.")
        .routes(routes!(list))
        .routes(routes!(read))
        .routes(routes!(decide))
}

/// A call that waits for a person, as the examples show it; `other` is what is different in one of them.
fn approval_example(other: Value) -> Value {
    let mut approval = json!({
        "approval_id": "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "tool_name": "github_create_issue",
        "title": "Create an issue",
        "status": "pending",
        "arguments": {"owner": "ada", "repo": "engine", "title": "The mill jams on card 12"},
        "arguments_text": "{\n  \"owner\": \"ada\",\n  \"repo\": \"engine\",\n  \"title\": \"The mill jams on card 12\"\n}",
        "secrets_masked": false,
        "requests": [],
        "requests_complete": false,
        "asked_by": "key:key_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "asked_by_name": "agent",
        "approvers": "admins",
        "can_decide": true,
        "plugin": {"version": "1.0.0", "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
        "created_at": "2026-11-20T09:30:00.125Z",
        "expires_at": "2026-11-21T09:30:00.125Z"
    });
    if let (Some(approval), Value::Object(other)) = (approval.as_object_mut(), other) {
        approval.extend(other);
    }
    approval
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ApprovalsQuery {
    /// Only approvals in this state.
    status: Option<ApprovalStatus>,
    /// How many approvals a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List approvals
///
/// Newest first, with the requests that each call would send: those of the users that the caller acts
/// for. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/approvals",
    operation_id = "list_approvals",
    params(ApprovalsQuery),
    responses((status = 200, description = "One page of approvals.", body = inline(Success<ApprovalPage>), example = json!({"approvals": [approval_example(json!({
        "requests": [{"method": "POST", "url": "https://api.github.com/repos/ada/engine/issues", "headers": [["authorization", "[slot user]"]], "body": "{\"title\":\"The mill jams on card 12\"}"}]
    }))], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<ApprovalsQuery>,
) -> Result<Success<ApprovalPage>, ApiFailure> {
    let request = ListApprovals {
        status: query.status,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.approvals(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ApprovalQuery {
    /// Seconds to wait until it is decided.
    #[param(inline)]
    wait: Number<0, { WAIT_S_MAX }, 0>,
}

/// Read an approval
///
/// Who wants to run what, and the requests that would be sent.
///
/// With `wait` the answer comes as soon as it is decided or expired, and at the latest after so many
/// seconds, with what there is then.
#[utoipa::path(
    get,
    path = "/v1/approvals/{approval_id}",
    operation_id = "get_approval",
    params(
        ("approval_id" = String, Path, description = "The id that execute returned.", example = "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        ApprovalQuery,
    ),
    responses((status = 200, description = "The approval.", body = inline(Success<Approval>), example = json!(approval_example(json!({
        "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "account": "ada"
    }))))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([approval_id]): Segments<1>,
    QueryString(query): QueryString<ApprovalQuery>,
) -> Result<Success<Approval>, ApiFailure> {
    let approval = gateway
        .approval(&caller, &approval_id, query.wait.0)
        .await?;
    Ok(Success::new(&caller, approval))
}

/// The decision.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct DecisionBody {
    decision: ApprovalDecision,
}

/// Decide an approval
///
/// Approves or denies a pending call, once. After `approve` the same call of the same asker, with the
/// same connection and version of the plugin, runs one time, whatever becomes of it; after
/// `deny` it is refused until the approval would have expired. Answers 409 when it is decided or
/// expired already, and 403 for the key or member that asked for the call.
#[utoipa::path(
    post,
    path = "/v1/approvals/{approval_id}",
    operation_id = "decide_approval",
    params(("approval_id" = String, Path, description = "The id that execute returned.", example = "apr_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    request_body(content = DecisionBody, description = "Approve or deny.", example = json!({"decision": "approve"})),
    responses((status = 200, description = "The approval as it is now.", body = inline(Success<Approval>), example = json!(approval_example(json!({
        "status": "approved",
        "asked_by": "key:key_01KAHZ6M5T9Q4C8W2N7RXJ3VBE",
        "can_decide": false,
        "decided_by": "key:key_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "decided_at": "2026-11-20T09:31:00.000Z"
    }))))),
)]
async fn decide(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([approval_id]): Segments<1>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<DecisionBody>,
) -> Result<Success<IdempotentAnswer<Approval>>, ApiFailure> {
    let decide = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway
            .decide_approval(&caller, &approval_id, body.decision)
            .await
    };
    let approval = gateway
        .once(&caller, Scope::Approvals, attempt, decide)
        .await?;
    Ok(Success::new(&caller, approval))
}
