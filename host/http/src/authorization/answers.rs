//! Answers to clients: JSON as the RFCs of OAuth describe it, readable by web pages of any origin.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::json;

use toolgate_gateway::identity::apps::refusal::{AppProblem, RefusalCode};

/// What a page may send.
const METHODS: &str = "GET, POST";
const HEADERS: &str = "Authorization, Content-Type, Accept, MCP-Protocol-Version";
/// How long a browser may remember it, in seconds.
const MAX_AGE_S: &str = "600";
/// How long a client may keep metadata.
const METADATA_KEPT: &str = "public, max-age=300";

/// The answer to a browser that asks what a page may send.
pub(super) async fn preflight() -> Response {
    let mut answer = with(StatusCode::NO_CONTENT, Body::empty());
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_S),
    ] {
        put(&mut answer, name, value);
    }
    answer
}

/// Metadata, which holds nothing that is not public.
pub(super) fn metadata(body: &impl Serialize) -> Response {
    let mut answer = json_of(StatusCode::OK, body);
    put(&mut answer, header::CACHE_CONTROL, METADATA_KEPT);
    answer
}

/// An answer that nobody may keep (RFC 6749, section 5.1).
pub(super) fn json_of(status: StatusCode, body: &impl Serialize) -> Response {
    let body = serde_json::to_vec(body).expect("answers hold string keys only");
    let mut answer = with(status, Body::from(body));
    put(&mut answer, header::CONTENT_TYPE, "application/json");
    put(&mut answer, header::CACHE_CONTROL, "no-store");
    put(&mut answer, header::PRAGMA, "no-cache");
    answer
}

/// A refusal (RFC 6749, section 5.2; RFC 7591, section 3.2.2). `basic`: whether the client has tried
/// to prove who it is in the header `Authorization`.
pub(super) fn refused(problem: &AppProblem, request_id: &str, basic: bool) -> Response {
    let (status, code, sentence) = match problem {
        AppProblem::Refused { code, sentence } => {
            let status = match code {
                RefusalCode::InvalidClient => StatusCode::UNAUTHORIZED,
                RefusalCode::TemporarilyUnavailable => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::BAD_REQUEST,
            };
            (status, code.into_str(), sentence.as_str())
        }
        AppProblem::Limited(_) => (
            StatusCode::TOO_MANY_REQUESTS,
            RefusalCode::TemporarilyUnavailable.into_str(),
            "too many requests from this address",
        ),
        AppProblem::Internal(cause) => {
            tracing::error!(
                request_id,
                error.chain = format!("{cause:#}"),
                "request failed"
            );
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            (status, "server_error", "the gateway failed on its side")
        }
    };
    let body = json!({ "error": code, "error_description": sentence });
    let mut answer = json_of(status, &body);
    if let AppProblem::Limited(limited) = problem {
        let seconds = limited.retry_after_s.to_string();
        put(&mut answer, header::RETRY_AFTER, &seconds);
    }
    if basic && status == StatusCode::UNAUTHORIZED {
        let challenge = "Basic realm=\"toolgate\"";
        put(&mut answer, header::WWW_AUTHENTICATE, challenge);
    }
    answer
}

fn with(status: StatusCode, body: Body) -> Response {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    put(&mut answer, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    answer
}

fn put(answer: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
