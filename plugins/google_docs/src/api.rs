//! What all requests share: the address, Google's errors, and sending a batch.

use toolgate_sdk::http::google::problem_of;
use toolgate_sdk::prelude::*;

/// Most requests that one batch carries here.
const REQUESTS_MAX: usize = 4000;

pub fn docs(cx: &Context) -> Client<'_> {
    cx.client("https://docs.googleapis.com/v1")
        .errors(problem_of)
}

/// The address of a document in a browser.
pub fn address(id: &str) -> String {
    format!("https://docs.google.com/document/d/{id}/edit")
}

/// Sends one batch: all of it happens or nothing. With `revision` it is refused when the document
/// has changed since it was read, for the places in it would be others.
pub fn batch(
    cx: &Context,
    id: &str,
    requests: &[Value],
    revision: Option<&str>,
) -> Result<Value, ToolError> {
    if requests.is_empty() {
        return Err(ToolError::invalid("", "there is nothing to change"));
    }
    if requests.len() > REQUESTS_MAX {
        let text = format!(
            "that is {} changes at once; at most {REQUESTS_MAX} fit, so write it in parts",
            requests.len()
        );
        return Err(ToolError::new(ErrorKind::TooLarge, text));
    }
    let mut body = json!({ "requests": requests });
    if let Some(revision) = revision {
        body["writeControl"] = json!({ "requiredRevisionId": revision });
    }
    let request = docs(cx).post(path!("/documents/{}:batchUpdate", id));
    request.json(&body).fetch().map_err(|mut error| {
        if revision.is_some() && error.message.contains("revision") {
            error.kind = ErrorKind::Conflict;
            error.message.push_str(" Read the document again.");
        }
        error
    })
}
