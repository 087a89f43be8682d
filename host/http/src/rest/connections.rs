//! `/v1/connections`: connect links and connections.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::KeyedBody;
use super::{RestState, openapi};
use toolgate_core::ids::UserId;
use toolgate_gateway::connections::link::{ConnectLink, LinkConnection};
use toolgate_gateway::connections::{
    ConnectionInfo, ConnectionPage, DeletedConnection, ListConnections, WAIT_S_MAX, WaitFor,
};
use toolgate_gateway::tools::idempotency::IdempotentAnswer;
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::ids;
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, Moment, NoQuery, Number, PageLimit, QueryString};

/// Scopes asked for in one link.
const SCOPES_MAX: usize = 100;

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource(
        "Connections",
        "What users have connected, and links to connect.",
    )
    .routes(routes!(link))
    .routes(routes!(confirm))
    .routes(routes!(list))
    .routes(routes!(read, delete))
}

/// The body of a link request.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct LinkBody {
    #[schema(
        min_length = 1,
        max_length = 256,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$",
        example = "github"
    )]
    service: String,
    /// The user who connects; the key's default user if absent.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")]
    user_id: Option<UserId>,
    /// Asked for beside those that the service's tools need anyway.
    #[serde(default)]
    #[schema(max_items = 100)]
    scopes: Vec<String>,
    /// Renews this connection, which keeps its id.
    #[schema(
        min_length = 1,
        max_length = 256,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"
    )]
    connection_id: Option<String>,
    /// Which of the service's credential slots; the first that can be connected if absent.
    #[schema(
        min_length = 1,
        max_length = 256,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"
    )]
    slot: Option<String>,
    /// An https page of the application, where the browser ends with `connect_code` in the query;
    /// the connection is there once the application has confirmed the code.
    #[schema(max_length = 2000)]
    confirm_url: Option<String>,
    /// HTTPS page of the application that the browser opens when the connect link is completed or
    /// cancelled, with `connect_status` (`connected`, `cancelled`, `failed`) and `connection_id` in the query.
    /// With `confirm_url` a browser that has connected goes there instead.
    #[schema(max_length = 2000)]
    return_url: Option<String>,
    /// The origin of the page that opens the link in a popup. The popup sends it `{"type": "toolgate.connect",
    /// "status", "connection_id", "service"}` with `postMessage` and closes itself.
    #[schema(max_length = 2000, example = "https://app.example.com")]
    popup_origin: Option<String>,
}

/// Make a connect link
///
/// A link at which the user connects an account: one use, 15 minutes, bound to user and service.
///
/// The link is a secret, so its answer is never kept: with an `Idempotency-Key` no two of these run
/// at the same time, and a repetition makes a link of its own. A link that nobody opens does nothing.
#[utoipa::path(
    post,
    path = "/v1/connections/link",
    operation_id = "link_connection",
    request_body(content = LinkBody, description = "What is to be connected.", example = json!({"service": "github", "user_id": "ada@example.com"})),
    responses((status = 201, description = "The link.", body = inline(Success<ConnectLink>), example = json!({"connect_url": "https://gateway.example.com/connect/abc", "expires_at": "2026-11-20T09:45:00.000Z", "connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"}))),
)]
async fn link(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<LinkBody>,
) -> Result<Response, ApiFailure> {
    ids::check("service", &body.service)?;
    for (name, value) in [("connection_id", &body.connection_id), ("slot", &body.slot)] {
        if let Some(value) = value {
            ids::check(name, value)?;
        }
    }
    if body.scopes.len() > SCOPES_MAX {
        return Err(ApiFailure::field(
            "scopes",
            format!("has more than {SCOPES_MAX} entries"),
        ));
    }
    let request = LinkConnection {
        service: body.service,
        user_id: body.user_id,
        scopes: body.scopes,
        connection_id: body.connection_id,
        slot: body.slot,
        confirm_url: body.confirm_url,
        return_url: body.return_url,
        popup_origin: body.popup_origin,
    };
    let make = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway.link_connection(&caller, request).await
    };
    let link = gateway.one_at_a_time(&caller, attempt, make).await?;
    Ok((StatusCode::CREATED, Success::new(&caller, link)).into_response())
}

/// The body of a confirmation.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ConfirmBody {
    /// `connect_code` of the query with which the browser came to `confirm_url`.
    #[schema(
        min_length = 1,
        max_length = 256,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*$"
    )]
    code: String,
    /// The user who sits before that browser, by the application's own session.
    #[schema(value_type = String, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")]
    user_id: UserId,
}

/// Confirm a connection
///
/// The application's word that the browser belongs to the link's user. Another user ends the link.
#[utoipa::path(
    post,
    path = "/v1/connections/confirm",
    operation_id = "confirm_connection",
    request_body(content = ConfirmBody, description = "Code and user.", example = json!({"code": "abc", "user_id": "ada@example.com"})),
    responses((status = 200, description = "The connection.", body = inline(Success<ConnectionInfo>), example = json!({"connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "user_id": "ada@example.com", "service": "github", "auth_type": "oauth2", "account": "ada", "scopes": ["repo"], "state": "active", "state_since": "2026-11-20T09:30:00.125Z", "created_at": "2026-11-20T09:30:00.125Z"}))),
)]
async fn confirm(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    KeyedBody { body, attempt }: KeyedBody<ConfirmBody>,
) -> Result<Success<IdempotentAnswer<ConnectionInfo>>, ApiFailure> {
    ids::check("code", &body.code)?;
    caller.user(Some(&body.user_id))?;
    let confirm = |gateway: Arc<Gateway>, caller: Caller| async move {
        gateway
            .confirm_connection(&caller, &body.code, &body.user_id)
            .await
    };
    let connection = gateway
        .once(&caller, Scope::Connections, attempt, confirm)
        .await?;
    Ok(Success::new(&caller, connection))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ConnectionsQuery {
    /// Only connections of this user.
    #[param(inline)]
    user_id: ForUser,
    /// Only connections of this service.
    #[param(inline, example = "github")]
    service: Id,
    /// Seconds to wait until one is active.
    #[param(inline)]
    wait: Number<0, { WAIT_S_MAX }, 0>,
    /// With `wait`: one whose `state_since` is this moment or before is known already.
    #[param(value_type = String, format = DateTime, example = "2026-11-20T09:30:00.125Z")]
    active_after: Moment,
    /// How many connections a page holds.
    #[param(inline)]
    limit: PageLimit<100>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List connections
///
/// Connections of the workspace, newest first. Credentials are never part of an answer. Follow
/// `next_cursor` to the end.
///
/// With `wait` the answer comes as soon as one of the page is active, and at the latest after so many
/// seconds with what there is then: for an application that has shown a connect link.
#[utoipa::path(
    get,
    path = "/v1/connections",
    operation_id = "list_connections",
    params(ConnectionsQuery),
    responses((status = 200, description = "One page of connections.", body = inline(Success<ConnectionPage>), example = json!({"connections": [{"connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "user_id": "ada@example.com", "service": "github", "auth_type": "oauth2", "account": "ada", "scopes": ["repo"], "state": "active", "state_since": "2026-11-20T09:30:00.125Z", "created_at": "2026-11-20T09:30:00.125Z"}], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<ConnectionsQuery>,
) -> Result<Success<ConnectionPage>, ApiFailure> {
    let request = ListConnections {
        user_id: query.user_id.0,
        service: query.service.0,
        wait: WaitFor {
            seconds: query.wait.0,
            active_after_ms: query.active_after.0,
        },
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let list = gateway.connections(&caller, request).await?;
    Ok(Success::new(&caller, list))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ConnectionQuery {
    /// Seconds to wait until it is active.
    #[param(inline)]
    wait: Number<0, { WAIT_S_MAX }, 0>,
    /// With `wait`: a `state_since` at this moment or before is known already.
    #[param(value_type = String, format = DateTime, example = "2026-11-20T09:30:00.125Z")]
    active_after: Moment,
}

/// Read a connection
///
/// Its account, scopes and health; the credential is never part of an answer.
///
/// With `wait` the answer comes as soon as it is active, and at the latest after so many seconds: a
/// connection that a link names is not there before its user has connected.
#[utoipa::path(
    get,
    path = "/v1/connections/{connection_id}",
    operation_id = "get_connection",
    params(
        ("connection_id" = String, Path, description = "The id that link and list return.", example = "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        ConnectionQuery,
    ),
    responses((status = 200, description = "The connection.", body = inline(Success<ConnectionInfo>), example = json!({"connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "user_id": "ada@example.com", "service": "github", "auth_type": "oauth2", "account": "ada", "scopes": ["repo"], "state": "cooling_down", "state_since": "2026-11-20T09:30:00.125Z", "next_retry_at": "2026-11-20T09:30:08.125Z", "last_error": "the provider cannot answer now (HTTP status 503)", "created_at": "2026-11-20T09:30:00.125Z"}))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([connection_id]): Segments<1>,
    QueryString(query): QueryString<ConnectionQuery>,
) -> Result<Success<ConnectionInfo>, ApiFailure> {
    let wait = WaitFor {
        seconds: query.wait.0,
        active_after_ms: query.active_after.0,
    };
    let connection = gateway.connection(&caller, &connection_id, wait).await?;
    Ok(Success::new(&caller, connection))
}

/// Delete a connection
///
/// Forgets the credential and has the provider revoke it where it has an endpoint for that.
#[utoipa::path(
    delete,
    path = "/v1/connections/{connection_id}",
    operation_id = "delete_connection",
    params(("connection_id" = String, Path, description = "The id that link and list return.", example = "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedConnection>), example = json!({"connection_id": "con_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", "deleted": true, "revoked_at_provider": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([connection_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedConnection>, ApiFailure> {
    let deleted = gateway.delete_connection(&caller, &connection_id).await?;
    Ok(Success::new(&caller, deleted))
}
