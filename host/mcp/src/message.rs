//! What is read of a message before the protocol's library reads it, and answers that are given without
//! the library.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode, header};
use rmcp::model::{ErrorData, JsonRpcError, RequestId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::unfit;

pub(crate) const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What is read of a message before the protocol's library reads it.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
}

/// The id of a request, with no two ways to write it. `None`: it has no id.
pub(crate) fn request_id_of(body: &[u8]) -> Option<Value> {
    let head: MessageHead<'_> = serde_json::from_slice(body).ok()?;
    head.method?;
    serde_json::from_str(head.id?.get()).ok()
}

/// What is wrong with the parameters of a request for a list. The library reads those that do not fit
/// as none.
pub(crate) fn unfit_list(body: &[u8]) -> Option<Response> {
    let head: MessageHead<'_> = serde_json::from_slice(body).ok()?;
    let list = head.method?.get().ends_with("/list\"");
    list.then(|| unfit_request(body, false))?
}

/// What is wrong with the parameters of a request.
pub(crate) fn unfit_request(body: &[u8], stateless: bool) -> Option<Response> {
    let message: Value = serde_json::from_slice(body).ok()?;
    let method = message.get("method")?.as_str()?;
    if stateless && unfit::is_gone(method) {
        return None;
    }
    let error = unfit::misfit(method, message.get("params"))?;
    Some(refused(StatusCode::BAD_REQUEST, message.get("id"), error))
}

pub(crate) fn already_under_way(id: &Value) -> Response {
    let sentence = format!(
        "Invalid Request: a request with the id {id} is still in progress in this session; \
         use another id, or wait for its answer"
    );
    let error = ErrorData::invalid_request(sentence, None);
    refused(StatusCode::BAD_REQUEST, Some(id), error)
}

pub(crate) fn forbidden() -> Response {
    let sentence = "Forbidden: pages of this origin may not call; the operator allows them with \
        --mcp-allow-origin";
    let error = ErrorData::invalid_request(sentence, None);
    refused(StatusCode::FORBIDDEN, None, error)
}

/// For a client that takes no answer of this protocol.
pub(crate) fn not_acceptable(error: ErrorData) -> Response {
    refused(StatusCode::NOT_ACCEPTABLE, None, error)
}

/// A session of another key looks like one that never was: 404, so that the client starts anew.
pub(crate) fn no_session() -> Response {
    let sentence = "Session not found; start a new one with initialize";
    let error = ErrorData::invalid_request(sentence, None);
    refused(StatusCode::NOT_FOUND, None, error)
}

/// A JSON-RPC error for a message that has no id to answer to.
pub(crate) fn malformed(error: ErrorData) -> Response {
    refused(StatusCode::BAD_REQUEST, None, error)
}

fn refused(status: StatusCode, id: Option<&Value>, error: ErrorData) -> Response {
    let id = id.and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let body = serde_json::to_vec(&JsonRpcError::new(id, error))
        .expect("an error without data is strings and numbers");
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    answer
}

/// Whether an event of a stream holds an answer, and no request or notification of the server's.
pub(crate) fn is_answer(event: &[u8]) -> bool {
    let lines = event.split(|byte| *byte == b'\n');
    let mut data = lines.filter_map(|line| line.strip_prefix(b"data:"));
    data.any(|data| {
        let head = serde_json::from_slice::<MessageHead<'_>>(data);
        head.is_ok_and(|head| head.id.is_some() && head.method.is_none())
    })
}
