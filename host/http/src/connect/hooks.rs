//! `/hooks/{connection_id}`: what providers send. No key opens it and no person reads its answers:
//! a status and one line of JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{Extensions, HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use toolgate_gateway::Gateway;
use toolgate_gateway::webhooks::inbound::{BODY_BYTES_MAX, HookAnswer, HookRefused};
use toolgate_http_kit::body;
use toolgate_http_kit::client::address_of;
use toolgate_http_kit::memory::RequestMemory;

/// How long a provider may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn take(
    State(gateway): State<Arc<Gateway>>,
    Path(connection_id): Path<String>,
    headers: HeaderMap,
    extensions: Extensions,
    body: Body,
) -> Response {
    let client = address_of(&extensions);
    let address = match Box::pin(gateway.hook_at(&connection_id, client)).await {
        Ok(address) => address,
        Err(cause) => return refused(&cause),
    };
    let memory = RequestMemory::for_body(gateway.body_memory(), &body);
    if let Some(memory) = &memory {
        memory.belongs_to_hooks(address.workspace_id());
    }
    let read = body::read_counted(memory.as_ref(), body, BODY_BYTES_MAX, BODY_TIMEOUT);
    let body = match read.await {
        Ok(body) => body,
        Err(refused) => {
            return answer(refused.status(), &json!({ "error": refused.message() }));
        }
    };
    let taken = Box::pin(gateway.take_delivery(&address, &headers, &body)).await;
    match taken {
        Ok(HookAnswer::Accepted) => answer(StatusCode::OK, &json!({ "accepted": true })),
        Ok(HookAnswer::Challenge(challenge)) => {
            answer(StatusCode::OK, &json!({ "challenge": challenge }))
        }
        Err(cause) => refused(&cause),
    }
}

fn refused(cause: &HookRefused) -> Response {
    let status = match cause {
        HookRefused::Unknown => StatusCode::NOT_FOUND,
        HookRefused::Forged(_) => StatusCode::UNAUTHORIZED,
        HookRefused::Unreadable => StatusCode::UNPROCESSABLE_ENTITY,
        HookRefused::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
        HookRefused::Later => StatusCode::SERVICE_UNAVAILABLE,
        HookRefused::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut response = answer(status, &json!({ "error": cause.to_string() }));
    if let HookRefused::TooMany { retry_after_s } = cause {
        let seconds = HeaderValue::from(*retry_after_s);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
