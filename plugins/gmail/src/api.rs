//! What all requests share: the mailbox of the connected account, pages, and Google's errors.

use toolgate_sdk::http::problem;
use toolgate_sdk::prelude::*;

pub fn gmail(cx: &Context) -> Client<'_> {
    cx.client("https://gmail.googleapis.com/gmail/v1/users/me")
        .errors(problem_of)
}

/// Where a list goes on.
pub fn next_page(answer: &Value) -> Option<String> {
    answer
        .get("nextPageToken")
        .and_then(Value::as_str)
        .map(str::to_owned)
}

/// Google says 403 for a spent quota and for a missing permission; the reason tells them apart.
fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let body = response.json().unwrap_or_default();
    let reason = body
        .pointer("/error/errors/0/reason")
        .and_then(Value::as_str);
    let status = body.pointer("/error/status").and_then(Value::as_str);
    match reason {
        Some("rateLimitExceeded" | "userRateLimitExceeded" | "quotaExceeded") => {
            error.kind = ErrorKind::RateLimited;
        }
        Some("insufficientPermissions") => error.kind = ErrorKind::PermissionDenied,
        _ => {}
    }
    if let Some(code) = reason.or(status) {
        error.code = Some(code.to_owned());
    }
    error
}
