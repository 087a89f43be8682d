//! `/hooks/{connection_id}`: what providers send. No key opens it and no person reads its answers:
//! a status and one line of JSON.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Path, State};
use axum::response::Response;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::gateway::hooks::{BODY_BYTES_MAX, HookRefused, Taken};

/// How long a provider may take to send a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) async fn take(
    State(gateway): State<Arc<Gateway>>,
    Path(connection_id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let body = match tokio::time::timeout(BODY_TIMEOUT, read(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(status)) => return answer(status, &json!({ "error": "the body cannot be read" })),
        Err(_) => {
            let late = json!({ "error": "the body did not arrive in time" });
            return answer(StatusCode::REQUEST_TIMEOUT, &late);
        }
    };
    let taken = Box::pin(gateway.take_delivery(&connection_id, &headers, &body)).await;
    match taken {
        Ok(Taken::Accepted) => answer(StatusCode::OK, &json!({ "accepted": true })),
        Ok(Taken::Challenge(challenge)) => {
            answer(StatusCode::OK, &json!({ "challenge": challenge }))
        }
        Err(refused) => {
            let status = match &refused {
                HookRefused::Unknown => StatusCode::NOT_FOUND,
                HookRefused::Forged(_) => StatusCode::UNAUTHORIZED,
                HookRefused::Unreadable => StatusCode::UNPROCESSABLE_ENTITY,
                HookRefused::Later => StatusCode::SERVICE_UNAVAILABLE,
                HookRefused::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            };
            answer(status, &json!({ "error": refused.to_string() }))
        }
    }
}

async fn read(body: Body) -> Result<Vec<u8>, StatusCode> {
    if body.size_hint().lower() > BODY_BYTES_MAX as u64 {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let (mut whole, mut parts) = (Vec::new(), body.into_data_stream());
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| StatusCode::BAD_REQUEST)?;
        if whole.len() + part.len() > BODY_BYTES_MAX {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        whole.extend_from_slice(&part);
    }
    Ok(whole)
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
