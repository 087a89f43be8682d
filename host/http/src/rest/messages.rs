//! `/v1/sessions/{session_id}/messages`: what is said in a session.

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
use toolgate_core::trace;
use toolgate_gateway::sessions::messages::{
    LIST_LIMIT_MAX, ListMessages, Message, MessageInput, MessagePage,
};
use toolgate_gateway::tools::idempotency::KeyedRequest;
use toolgate_gateway::{Caller, Gateway};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{Id, NoQuery, Number, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Messages", "What is said in a session, step by step.")
        .routes(routes!(list))
        .routes(routes!(say))
        .routes(routes!(resume))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct MessagesQuery {
    /// How many messages a page holds.
    #[param(inline)]
    limit: Number<1, { LIST_LIMIT_MAX }, 50>,
    /// `next_cursor` of the page before.
    #[param(inline)]
    cursor: Id,
}

/// List messages
///
/// Every step of the session, oldest first, with what operations answered to the assistant.
#[utoipa::path(
    get,
    path = "/v1/sessions/{session_id}/messages",
    operation_id = "list_messages",
    params(
        ("session_id" = String, Path, description = "The id that create returned.", example = "ses_9f86d081884c7d659a2feaa0c55ad015"),
        MessagesQuery,
    ),
    responses((status = 200, description = "One page of messages.", body = inline(Success<MessagePage>), example = json!({"messages": [{
        "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "role": "user",
        "content": "Plan the week",
        "created_at": "2026-11-20T09:30:00.125Z"
    }], "next_cursor": null}))),
)]
async fn list(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([session_id]): Segments<1>,
    QueryString(query): QueryString<MessagesQuery>,
) -> Result<Success<MessagePage>, ApiFailure> {
    let request = ListMessages {
        session_id,
        limit: query.limit.0,
        cursor: query.cursor.0,
    };
    let page = gateway.messages(&caller, request).await?;
    Ok(Success::new(&caller, page))
}

/// A new message.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct SendMessageBody {
    /// What the user says.
    #[schema(
        min_length = 1,
        max_length = 100000,
        pattern = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
    )]
    content: String,
}

/// Send a message
///
/// Answers the assistant's reply. With a model configured the assistant searches, describes and
/// executes tools with this key's rights until it has an answer, a person has to do something first
/// (`status: paused` with `pending`: show its link, then resume) or a bound is met (`status:
/// stopped`). Without one the reply names what matches, and `model_configured` is `false`. With
/// `Accept: text/event-stream` the steps are sent as they are taken: events `text`, `step`, and at
/// last `reply` or `error`. The work goes on if the client leaves; the messages show it.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/messages",
    operation_id = "send_message",
    params(("session_id" = String, Path, description = "The id that create returned.", example = "ses_9f86d081884c7d659a2feaa0c55ad015")),
    request_body(content = SendMessageBody, description = "What the user says.", example = json!({"content": "Which issues are open?"})),
    responses((status = 200, description = "The assistant's reply.", body = inline(Success<Message>), example = json!({
        "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "role": "assistant",
        "content": "Connect github. Then resume the session.",
        "created_at": "2026-11-20T09:30:02.000Z",
        "status": "paused",
        "reason": "auth_required",
        "model_configured": true,
        "pending": {
            "tool_call_id": "call_1",
            "tool_name": "github_list_issues",
            "service": "github",
            "message": "Connect github.",
            "connect_url": "https://gateway.example.com/connect/Zk3..."
        },
        "tokens": 1830
    }))),
)]
async fn say(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([session_id]): Segments<1>,
    _: NoQuery,
    headers: HeaderMap,
    KeyedBody { body, attempt }: KeyedBody<SendMessageBody>,
) -> Result<Response, ApiFailure> {
    let say = MessageInput::Message(body.content);
    converse(caller, gateway, session_id, &headers, attempt, say).await
}

/// Nothing has to be said to go on.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
struct ResumeBody {}

/// Resume a session
///
/// Goes on where the last turn had to stop: a call that waited for a connection or an approval is
/// made again, a turn that met a bound gets a new one. A call that an earlier turn had begun and did
/// not see to its end is not made again; the assistant learns that its outcome is unknown. Answers
/// like sending a message; `conflict` where nothing waits or the session has no room for an answer.
#[utoipa::path(
    post,
    path = "/v1/sessions/{session_id}/resume",
    operation_id = "resume_session",
    params(("session_id" = String, Path, description = "The id that create returned.", example = "ses_9f86d081884c7d659a2feaa0c55ad015")),
    request_body(content = ResumeBody, description = "An empty object.", example = json!({})),
    responses((status = 200, description = "The assistant's reply.", body = inline(Success<Message>), example = json!({
        "message_id": "msg_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "role": "assistant",
        "content": "Two issues are open.",
        "created_at": "2026-11-20T09:31:02.000Z",
        "status": "completed",
        "reason": "answered",
        "model_configured": true,
        "tokens": 2210
    }))),
)]
async fn resume(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([session_id]): Segments<1>,
    _: NoQuery,
    headers: HeaderMap,
    KeyedBody {
        body: ResumeBody {},
        attempt,
    }: KeyedBody<ResumeBody>,
) -> Result<Response, ApiFailure> {
    converse(
        caller,
        gateway,
        session_id,
        &headers,
        attempt,
        MessageInput::Resume,
    )
    .await
}

async fn converse(
    caller: Caller,
    gateway: Arc<Gateway>,
    session_id: String,
    headers: &HeaderMap,
    attempt: Option<KeyedRequest>,
    say: MessageInput,
) -> Result<Response, ApiFailure> {
    if !stream::wanted(headers) {
        let reply = gateway.converse(&caller, attempt, &session_id, say, None);
        return Ok(Success::new(&caller, reply.await?).into_response());
    }
    let (listener, heard) = mpsc::unbounded_channel();
    let revoked = gateway.clone().revoked(caller.clone());
    let owned = caller.clone();
    let work = tokio::spawn(trace::carry(async move {
        let listener = Some(listener);
        gateway
            .converse(&owned, attempt, &session_id, say, listener)
            .await
    }));
    stream::answer(caller, StatusCode::OK, heard, work, None, revoked).await
}
