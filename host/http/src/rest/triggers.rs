//! `/v1/triggers`: reading tools that are polled for new items.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::{Keyed, KeyedBody};
use super::{RestState, openapi};
use toolgate_core::ids::UserId;
use toolgate_gateway::triggers::{
    CreateTrigger, DeletedTrigger, LIST_LIMIT_MAX, ListTriggers, Trigger, TriggerList, TriggerTest,
    UpdateTrigger,
};
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::body::JsonBody;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, Moment, NoQuery, PageLimit, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Triggers",
        "Reading tools that are polled for new items, each of which becomes an event for the workspace's webhooks.",
    )
    .routes(routes!(create, list))
    .routes(routes!(read, update, delete))
    .routes(routes!(test))
}

/// A new trigger.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct CreateTriggerBody {
    #[schema(min_length = 1, max_length = 40)]
    service: String,
    /// The trigger's name in the service's plugin.
    #[schema(min_length = 1, max_length = 62)]
    trigger: String,
    /// The arguments of the trigger's tool that are to be chosen.
    #[serde(default)]
    #[schema(value_type = Object)]
    config: Map<String, Value>,
    /// With whose permissions and connection the tool is called; the key's own user if absent.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$")]
    user_id: Option<UserId>,
    /// One of the user's connections; if absent, each poll chooses as a call does.
    #[schema(min_length = 1, max_length = 64)]
    connection_id: Option<String>,
    /// Seconds between two polls; those of the plugin if absent.
    #[schema(minimum = 60, maximum = 86400)]
    interval_s: Option<u64>,
    /// Items from this time on are told of although they are there already: RFC 3339, at most 30 days ago.
    #[schema(format = DateTime)]
    since: Option<String>,
}

/// What to change; absent fields stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct UpdateTriggerBody {
    /// In place of all arguments that were chosen. What is there under them is read anew and not told of.
    #[schema(value_type = Option<Object>)]
    config: Option<Map<String, Value>>,
    #[schema(minimum = 60, maximum = 86400)]
    interval_s: Option<u64>,
    /// `false` also polls at once, and tells of what has come meanwhile.
    paused: Option<bool>,
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct TriggersQuery {
    /// Only triggers of this user; with a key that acts for one user, that user's.
    #[param(inline)]
    user_id: ForUser,
    /// How many triggers a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct TestTriggerQuery {
    /// Only items from this moment on, at most 30 days ago; those of the last day if absent. Refused where the service gives
    /// no times of its items.
    #[param(value_type = String, format = DateTime, example = "2026-11-20T09:30:00.125Z")]
    since: Moment,
}

/// List triggers
///
/// Newest first, without the arguments that were chosen. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/triggers",
    operation_id = "list_triggers",
    params(TriggersQuery),
    responses((status = 200, description = "One page of triggers.", body = inline(Success<TriggerList>), example = json!({"triggers": [{
        "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "service": "github",
        "trigger": "new_issue",
        "event": "trigger.github.new_issue",
        "interval_s": 300,
        "state": "active",
        "failures": 0,
        "watching_since": "2026-11-20T09:30:01.250Z",
        "last_poll_at": "2026-11-20T09:30:01.250Z",
        "items_found": 0,
        "next_poll_at": "2026-11-20T09:35:01.250Z",
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<TriggersQuery>,
) -> Result<Success<TriggerList>, ApiFailure> {
    let request = ListTriggers {
        user_id: query.user_id.0,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let list = gateway.list_triggers(&caller, request).await?;
    Ok(Success::new(&caller, list))
}

/// Create a trigger
///
/// The tool is called at once and then at each interval, with the permissions and the connection of the user. What is
/// there at first is remembered and not told of, but for what `since` wants; each new item becomes one event
/// `trigger.<service>.<event>` for the webhooks that want it. Needs the scopes `webhooks` and `tools:execute`.
#[utoipa::path(
    post,
    path = "/v1/triggers",
    operation_id = "create_trigger",
    request_body(content = CreateTriggerBody, description = "Which trigger, with which arguments.", example = json!({"service": "github", "trigger": "new_issue", "config": {"owner": "octo-org", "repo": "widgets"}})),
    responses((status = 201, description = "The trigger.", body = inline(Success<Trigger>), example = json!({
        "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "service": "github",
        "trigger": "new_issue",
        "event": "trigger.github.new_issue",
        "config": {"owner": "octo-org", "repo": "widgets"},
        "interval_s": 300,
        "state": "active",
        "failures": 0,
        "items_found": 0,
        "next_poll_at": "2026-11-20T09:30:00.125Z",
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn create(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<CreateTriggerBody>,
) -> Result<Response, ApiFailure> {
    let request = CreateTrigger {
        service: body.service,
        trigger: body.trigger,
        config: Value::Object(body.config),
        user_id: body.user_id,
        connection_id: body.connection_id,
        interval_s: body.interval_s,
        since: body.since,
    };
    let create = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.create_trigger(&caller, request).await
    };
    let trigger = gateway
        .once(&caller, Scope::Webhooks, attempt, create)
        .await?;
    Ok((StatusCode::CREATED, Success::new(&caller, trigger)).into_response())
}

/// Read a trigger
///
/// Its arguments, and how it fares.
#[utoipa::path(
    get,
    path = "/v1/triggers/{trigger_id}",
    operation_id = "get_trigger",
    params(("trigger_id" = String, Path, description = "The id that create and list return.", example = "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "The trigger.", body = inline(Success<Trigger>), example = json!({
        "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "service": "github",
        "trigger": "new_issue",
        "event": "trigger.github.new_issue",
        "config": {"owner": "octo-org", "repo": "widgets"},
        "interval_s": 300,
        "state": "active",
        "failures": 0,
        "watching_since": "2026-11-20T09:30:01.250Z",
        "last_poll_at": "2026-11-20T09:30:01.250Z",
        "items_found": 0,
        "next_poll_at": "2026-11-20T09:35:01.250Z",
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([trigger_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<Trigger>, ApiFailure> {
    let trigger = gateway.trigger(&caller, &trigger_id).await?;
    Ok(Success::new(&caller, trigger))
}

/// Change a trigger
///
/// Absent fields stay. A poll that is under way tells of nothing more, and the next one begins at once unless the
/// trigger is paused. Needs the scopes `webhooks` and `tools:execute`.
#[utoipa::path(
    patch,
    path = "/v1/triggers/{trigger_id}",
    operation_id = "update_trigger",
    params(("trigger_id" = String, Path, description = "The id that create and list return.", example = "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    request_body(content = UpdateTriggerBody, description = "What to change.", example = json!({"paused": false, "interval_s": 300})),
    responses((status = 200, description = "The trigger as it is now.", body = inline(Success<Trigger>), example = json!({
        "trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "user_id": "ada@example.com",
        "service": "github",
        "trigger": "new_issue",
        "event": "trigger.github.new_issue",
        "config": {"owner": "octo-org", "repo": "widgets"},
        "interval_s": 300,
        "state": "active",
        "failures": 0,
        "watching_since": "2026-11-20T09:30:01.250Z",
        "last_poll_at": "2026-11-20T09:30:01.250Z",
        "items_found": 0,
        "next_poll_at": "2026-11-20T09:35:01.250Z",
        "created_at": "2026-11-20T09:30:00.125Z",
        "updated_at": "2026-11-20T09:30:00.125Z"
    }))),
)]
async fn update(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([trigger_id]): Segments<1>,
    _: NoQuery,
    JsonBody(body): JsonBody<UpdateTriggerBody>,
) -> Result<Success<Trigger>, ApiFailure> {
    let request = UpdateTrigger {
        trigger_id,
        config: body.config.map(Value::Object),
        interval_s: body.interval_s,
        paused: body.paused,
    };
    let trigger = gateway.update_trigger(&caller, request).await?;
    Ok(Success::new(&caller, trigger))
}

/// Delete a trigger
///
/// With what it remembers. A poll that is under way tells of nothing more; what was told of is still sent.
#[utoipa::path(
    delete,
    path = "/v1/triggers/{trigger_id}",
    operation_id = "delete_trigger",
    params(("trigger_id" = String, Path, description = "The id that create and list return.", example = "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedTrigger>), example = json!({"trigger_id": "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([trigger_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedTrigger>, ApiFailure> {
    let deleted = gateway.delete_trigger(&caller, &trigger_id).await?;
    Ok(Success::new(&caller, deleted))
}

/// Test a trigger
///
/// Calls the tool and answers the items of the last day, or from `since` on; at most five pages are read. Where the
/// service gives no times of its items, the answer has no `since`, and the first page is answered as it is listed now.
/// No event is sent, and nothing is remembered: not even with an `Idempotency-Key`, with which no two of these run at
/// the same time. Needs the scopes `webhooks` and `tools:execute`.
#[utoipa::path(
    post,
    path = "/v1/triggers/{trigger_id}/test",
    operation_id = "test_trigger",
    params(
        ("trigger_id" = String, Path, description = "The id that create and list return.", example = "trg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        TestTriggerQuery,
    ),
    responses((status = 200, description = "What it would have found.", body = inline(Success<TriggerTest>), example = json!({
        "status": "found",
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "listed": 3,
        "since": "2026-11-19T09:30:00.000Z",
        "found": 1,
        "complete": true,
        "items": [{
            "event_id": "evt_5TQ0C1Z8H5G6W2N7RXJ3VBD4MA",
            "time": "2026-11-20T09:12:44.000Z",
            "event": {"id": 4711, "title": "The printer is on fire"}
        }]
    }))),
)]
async fn test(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([trigger_id]): Segments<1>,
    QueryString(query): QueryString<TestTriggerQuery>,
    Keyed(attempt): Keyed,
) -> Result<Success<TriggerTest>, ApiFailure> {
    let since_ms = query.since.0;
    let test = move |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.test_trigger(&caller, &trigger_id, since_ms).await
    };
    let found = gateway.one_at_a_time(&caller, attempt, test).await?;
    Ok(Success::new(&caller, found))
}
