//! JSON-RPC batches (JSON-RPC 2.0, section 6), which revision 2025-03-26 has and no other.
//!
//! Each message of a batch is taken as if it had come alone, in its order, and counts as one against the limits of the
//! key. A batch of another revision is an error.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rmcp::model::ErrorData;
use serde_json::value::RawValue;

use super::message::{SESSION_HEADER, VERSION_HEADER, malformed};
use toolgate_http_kit::BODY_BYTES_MAX;
use toolgate_http_kit::envelope::ApiFailure;

/// Messages of one batch.
const MESSAGES_MAX: usize = 50;
/// Bytes of all answers to a batch.
const ANSWERS_BYTES_MAX: usize = 32 << 20;
/// The one revision with batches; clients of it name no version in a header.
const REVISION: &[u8] = b"2025-03-26";

/// The messages of a body that is a batch. `None`: it is one message.
pub(crate) fn messages(headers: &HeaderMap, body: &[u8]) -> Option<Result<Vec<Bytes>, ErrorData>> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'[') {
        return None;
    }
    let version = headers.get(&VERSION_HEADER);
    let has_batches = version.is_none_or(|version| version.as_bytes() == REVISION);
    if !has_batches || !headers.contains_key(&SESSION_HEADER) {
        return Some(Err(refused(
            "only sessions of the revision 2025-03-26 take a batch; send one message at a time",
        )));
    }
    let read: Result<Vec<&RawValue>, _> = serde_json::from_slice(body);
    Some(match read {
        Err(_) => Err(refused("the batch is no array of messages")),
        Ok(messages) if messages.is_empty() => Err(refused("the batch is empty")),
        Ok(messages) if messages.len() > MESSAGES_MAX => Err(refused(&format!(
            "a batch has at most {MESSAGES_MAX} messages"
        ))),
        // Each would be as many messages again.
        Ok(messages) if messages.iter().any(|one| one.get().starts_with('[')) => {
            Err(refused("a batch in a batch is no message"))
        }
        Ok(messages) => {
            let bytes = |message: &RawValue| Bytes::copy_from_slice(message.get().as_bytes());
            Ok(messages.into_iter().map(bytes).collect())
        }
    })
}

fn refused(problem: &str) -> ErrorData {
    ErrorData::invalid_request(format!("Invalid Request: {problem}"), None)
}

/// Answers each message as `alone` does, and all of them in one.
pub(crate) async fn each<'a>(
    parts: &Parts,
    messages: Vec<Bytes>,
    alone: impl Fn(Request) -> BoxFuture<'a, Result<Response, ApiFailure>>,
) -> Result<Response, ApiFailure> {
    let mut answers = BatchAnswers::default();
    for message in messages {
        let mut parts = parts.clone();
        let json = HeaderValue::from_static("application/json");
        parts.headers.insert(header::ACCEPT, json);
        parts.headers.remove(header::CONTENT_LENGTH);
        let answer = alone(Request::from_parts(parts, Body::from(message))).await?;
        if let Err(refused) = answers.add(answer).await {
            return Ok(refused);
        }
    }
    Ok(answers.answer())
}

/// The answers of a batch so far.
#[derive(Default)]
struct BatchAnswers {
    all: Vec<Box<RawValue>>,
    bytes: usize,
}

impl BatchAnswers {
    /// Adds the answer to one message; a notification has none. An error: the whole batch ends with it.
    async fn add(&mut self, answer: Response) -> Result<(), Response> {
        let left = ANSWERS_BYTES_MAX.saturating_sub(self.bytes);
        let (parts, body) = answer.into_parts();
        let Ok(bytes) = axum::body::to_bytes(body, left).await else {
            return Err(malformed(refused("the answers of the batch are too large")));
        };
        if bytes.is_empty() {
            return Ok(());
        }
        self.bytes += bytes.len();
        // A session that is gone is gone for all messages.
        let gone = parts.status == StatusCode::NOT_FOUND;
        match serde_json::from_slice(&bytes) {
            Ok(answer) if !gone => self.all.push(answer),
            _ => return Err(Response::from_parts(parts, Body::from(bytes))),
        }
        Ok(())
    }

    /// All of them, in the order of the messages.
    fn answer(self) -> Response {
        if self.all.is_empty() {
            let mut answer = Response::new(Body::empty());
            *answer.status_mut() = StatusCode::ACCEPTED;
            return answer;
        }
        let body = serde_json::to_vec(&self.all).expect("JSON is written as JSON");
        let mut answer = Response::new(Body::from(body));
        let json = HeaderValue::from_static("application/json");
        answer.headers_mut().insert(header::CONTENT_TYPE, json);
        answer
    }
}

const _: () = assert!(ANSWERS_BYTES_MAX >= BODY_BYTES_MAX);

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: Option<&'static str>, session: bool, body: &str) -> Option<Option<usize>> {
        let mut headers = HeaderMap::new();
        if let Some(version) = version {
            headers.insert(VERSION_HEADER, HeaderValue::from_static(version));
        }
        if session {
            headers.insert(SESSION_HEADER, HeaderValue::from_static("one"));
        }
        let read = messages(&headers, body.as_bytes())?;
        Some(read.ok().map(|messages| messages.len()))
    }

    #[test]
    fn a_batch_is_taken_in_a_session_of_its_revision_alone() {
        let two = r#" [{"jsonrpc":"2.0"},{"jsonrpc":"2.0"}]"#;
        assert_eq!(read(None, true, two), Some(Some(2)));
        assert_eq!(read(Some("2025-03-26"), true, two), Some(Some(2)));
        for version in ["2025-06-18", "2025-11-25", "2026-07-28", "2024-11-05"] {
            assert_eq!(read(Some(version), true, two), Some(None), "{version}");
        }
        assert_eq!(read(None, false, two), Some(None), "without a session");
        let many = format!("[{}{{}}]", "{},".repeat(MESSAGES_MAX));
        for bad in ["[]", "[", "[1,", "[{}, [{}]]", "[[]]", &many] {
            assert_eq!(read(None, true, bad), Some(None), "{bad}");
        }
        assert_eq!(read(None, true, r#"{"jsonrpc":"2.0"}"#), None);
    }
}
