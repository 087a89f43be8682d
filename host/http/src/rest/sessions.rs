//! `/v1/sessions`: what ties the steps of one task together.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::idempotent::KeyedBody;
use super::{RestState, openapi, stream};
use toolgate_core::ids::UserId;
use toolgate_core::trace;
use toolgate_gateway::Gateway;
use toolgate_gateway::sessions::{
    CreateSession, DeletedSession, LIST_LIMIT_MAX, ListSessions, Session, SessionPage,
};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{ForUser, Id, NoQuery, PageLimit, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Sessions", "State that the steps of one task share.")
        .routes(routes!(list))
        .routes(routes!(create))
        .routes(routes!(read))
        .routes(routes!(delete))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct SessionsQuery {
    /// Only sessions of this user.
    #[param(inline)]
    user_id: ForUser,
    /// How many sessions a page holds.
    #[param(inline)]
    limit: PageLimit<{ LIST_LIMIT_MAX }>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List sessions
///
/// Newest first, those of executions too. Follow `next_cursor` to the end.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    operation_id = "list_sessions",
    params(SessionsQuery),
    responses((status = 200, description = "One page of sessions.", body = inline(Success<SessionPage>), example = json!({"sessions": [{
        "session_id": "ses_9f86d081884c7d659a2feaa0c55ad015",
        "user_id": "ada@example.com",
        "created_at": "2026-11-20T09:30:00.125Z",
        "last_active_at": "2026-11-20T09:31:00.000Z",
        "expires_at": "2026-11-21T09:31:00.000Z"
    }], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    QueryString(query): QueryString<SessionsQuery>,
) -> Result<Success<SessionPage>, ApiFailure> {
    let request = ListSessions {
        user_id: query.user_id.0,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.sessions(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

/// A new session.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct CreateSessionBody {
    /// What the user asked for.
    #[schema(
        min_length = 1,
        max_length = 100000,
        pattern = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
    )]
    prompt: String,
    /// Whose session it is; the key's default user if absent.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 128, pattern = "^[A-Za-z0-9._:@-]+$", example = "ada@example.com")]
    user_id: Option<UserId>,
}

/// Create a session
///
/// Answers it with the assistant's reply to the prompt, as sending a message does, and streams like
/// that too, beginning with the event `session`. Its id may be sent with every execution of the
/// task; it is gone once nobody has used it for 24 hours.
#[utoipa::path(
    post,
    path = "/v1/sessions",
    operation_id = "create_session",
    request_body(content = CreateSessionBody, description = "What the user asked for.", example = json!({"prompt": "Plan the week", "user_id": "ada@example.com"})),
    responses((status = 201, description = "The session.", body = inline(Success<Session>), example = json!({
        "session_id": "ses_9f86d081884c7d659a2feaa0c55ad015",
        "user_id": "ada@example.com",
        "created_at": "2026-11-20T09:30:00.125Z",
        "last_active_at": "2026-11-20T09:30:00.125Z",
        "expires_at": "2026-11-21T09:30:00.125Z",
        "messages": [{
            "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
            "role": "user",
            "content": "Plan the week",
            "created_at": "2026-11-20T09:30:00.125Z"
        }, {
            "message_id": "msg_01KAHZ6M5V2G7Y4D0K8SZN5TQF",
            "role": "assistant",
            "content": "Your calendar shows four free mornings.",
            "created_at": "2026-11-20T09:30:04.210Z",
            "status": "completed",
            "reason": "answered",
            "model_configured": true,
            "tokens": 1830
        }]
    }))),
)]
async fn create(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    _: NoQuery,
    headers: HeaderMap,
    KeyedBody { body, attempt }: KeyedBody<CreateSessionBody>,
) -> Result<Response, ApiFailure> {
    let request = CreateSession {
        prompt: body.prompt,
        user_id: body.user_id,
    };
    if !stream::wanted(&headers) {
        let created = gateway.create_session(&caller, attempt, request, None);
        let created = Success::new(&caller, created.await?);
        return Ok((StatusCode::CREATED, created).into_response());
    }
    let (listener, heard) = mpsc::unbounded_channel();
    let revoked = gateway.clone().revoked(caller.clone());
    let owned = caller.clone();
    let work = tokio::spawn(trace::carry(async move {
        let listener = Some(listener);
        gateway
            .create_session(&owned, attempt, request, listener)
            .await
    }));
    stream::answer(caller, StatusCode::CREATED, heard, work, None, revoked).await
}

/// Read a session
///
/// Whose it is, what it began with and until when it lives.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}",
    operation_id = "get_session",
    params(("session_id" = String, Path, description = "The id that create or execute returned.", example = "ses_9f86d081884c7d659a2feaa0c55ad015")),
    responses((status = 200, description = "The session.", body = inline(Success<Session>), example = json!({
        "session_id": "ses_9f86d081884c7d659a2feaa0c55ad015",
        "user_id": "ada@example.com",
        "created_at": "2026-11-20T09:30:00.125Z",
        "last_active_at": "2026-11-20T09:31:00.000Z",
        "expires_at": "2026-11-21T09:31:00.000Z",
        "messages": [{
            "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
            "role": "user",
            "content": "Plan the week",
            "created_at": "2026-11-20T09:30:00.125Z"
        }, {
            "message_id": "msg_01KAHZ6M5V2G7Y4D0K8SZN5TQF",
            "role": "assistant",
            "content": "Your calendar shows four free mornings.",
            "created_at": "2026-11-20T09:30:04.210Z",
            "status": "completed",
            "reason": "answered",
            "model_configured": true,
            "tokens": 1830
        }]
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([session_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<Session>, ApiFailure> {
    let session = gateway.session(&caller, &session_id).await?;
    Ok(Success::new(&caller, session))
}

/// Delete a session
///
/// With everything that plugins kept in it.
#[utoipa::path(
    delete,
    path = "/v1/sessions/{session_id}",
    operation_id = "delete_session",
    params(("session_id" = String, Path, description = "The id that create or execute returned.", example = "ses_9f86d081884c7d659a2feaa0c55ad015")),
    responses((status = 200, description = "It is gone.", body = inline(Success<DeletedSession>), example = json!({"session_id": "ses_9f86d081884c7d659a2feaa0c55ad015", "deleted": true}))),
)]
async fn delete(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([session_id]): Segments<1>,
    _: NoQuery,
) -> Result<Success<DeletedSession>, ApiFailure> {
    let deleted = gateway.delete_session(&caller, &session_id).await?;
    Ok(Success::new(&caller, deleted))
}
