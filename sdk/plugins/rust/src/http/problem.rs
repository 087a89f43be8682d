//! How failed requests and error responses become errors that an agent can act on.

use serde_json::Value;

use super::page;
use super::response::Response;
use super::{Failure, FailureKind};
use crate::error::{ErrorKind, ToolError};

/// Longest text taken from a provider's answer, in characters.
const TEXT_CHARS_MAX: usize = 500;
/// Largest JSON answer passed on as `details`, in bytes.
const DETAILS_BYTES_MAX: usize = 8 * 1024;

/// The general rule: kind by status (RFC 9110, section 15), text from where providers put it.
pub fn from_response(response: &Response) -> ToolError {
    let body = serde_json::from_slice::<Value>(&response.body).ok();
    let whole = response.text();
    let page = page::read(&whole);
    let text = body
        .as_ref()
        .and_then(message_of)
        .map(str::to_owned)
        .unwrap_or_else(|| match &page {
            Some(Some(title)) => title.clone(),
            _ if body.is_some() || whole.trim().is_empty() || whole.trim().starts_with('<') => {
                format!("the provider answered with status {}", response.status)
            }
            _ => whole.trim().to_owned(),
        });
    let kind = match kind_of(response) {
        // A page that blocks says nothing about the rights of the account.
        ErrorKind::PermissionDenied if page.is_some() => ErrorKind::Upstream,
        kind => kind,
    };
    let mut error = ToolError::new(kind, cut(&text));
    error.code = body.as_ref().and_then(code_of).map(|code| cut(&code));
    error.http_status = Some(response.status);
    error.retry_after_ms = retry_after_ms(response);
    if response.body.len() <= DETAILS_BYTES_MAX {
        error.details = body.map(Box::new);
    }
    error
}

/// The kind that a status means. A 403 with a wait, or with an exhausted quota, is a rate limit.
pub fn kind_of(response: &Response) -> ErrorKind {
    let exhausted = response.header("retry-after").is_some()
        || response.header("x-ratelimit-remaining") == Some("0");
    match response.status {
        403 if exhausted => ErrorKind::RateLimited,
        status => kind_of_status(status),
    }
}

pub(super) fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        400 | 422 => ErrorKind::InvalidArguments,
        401 => ErrorKind::AuthExpired,
        402 | 403 => ErrorKind::PermissionDenied,
        404 | 410 => ErrorKind::NotFound,
        409 | 412 => ErrorKind::Conflict,
        413 => ErrorKind::TooLarge,
        429 => ErrorKind::RateLimited,
        408 | 502..=504 => ErrorKind::Unavailable,
        _ => ErrorKind::Upstream,
    }
}

/// `Retry-After` in seconds (RFC 9110, section 10.2.3); the host has written dates and moments as seconds.
pub fn retry_after_ms(response: &Response) -> Option<u64> {
    let seconds: f64 = response.header("retry-after")?.trim().parse().ok()?;
    // At most one day.
    (seconds >= 0.0).then(|| (seconds.min(86_400.0) * 1000.0) as u64)
}

/// What the host's refusal means to the caller.
pub fn from_failure(failure: Failure) -> ToolError {
    let (kind, code) = match failure.kind {
        // A redirect to a place that is not the service's says nothing about the rights of the account.
        FailureKind::Denied if failure.sent => (ErrorKind::Upstream, "redirect_refused"),
        FailureKind::Denied => (ErrorKind::PermissionDenied, "egress_denied"),
        FailureKind::AuthRequired => (ErrorKind::AuthRequired, "auth_required"),
        FailureKind::AuthExpired => (ErrorKind::AuthExpired, "auth_expired"),
        FailureKind::ScopeMissing => (ErrorKind::PermissionDenied, "scope_missing"),
        FailureKind::Dns => (ErrorKind::Unavailable, "dns"),
        FailureKind::Connect => (ErrorKind::Unavailable, "connect"),
        FailureKind::Tls => (ErrorKind::Unavailable, "tls"),
        FailureKind::Timeout => (ErrorKind::Unavailable, "timeout"),
        FailureKind::TooLarge => (ErrorKind::TooLarge, "too_large"),
        FailureKind::BudgetExhausted => (ErrorKind::TooLarge, "budget_exhausted"),
        FailureKind::LeakBlocked => (ErrorKind::PermissionDenied, "leak_blocked"),
        FailureKind::Cancelled => (ErrorKind::Cancelled, "cancelled"),
        FailureKind::Protocol => (ErrorKind::Unavailable, "protocol"),
    };
    let mut error = ToolError::new(kind, failure.message).code(code);
    if failure.sent && kind == ErrorKind::Unavailable {
        error
            .message
            .push_str("; the provider may have acted on the request");
    }
    error
}

const MESSAGE_AT: [&str; 17] = [
    "/error/message",
    "/error_description",
    "/error_message",
    "/message",
    "/errorMessages/0",
    "/errors/0/message",
    "/errors/0/detail",
    "/detail",
    "/detail/0/msg",
    "/exception_detail/0/msg",
    "/msg",
    "/fault/faultstring",
    "/description",
    "/reason",
    "/errors/0",
    "/title",
    "/error",
];
const CODE_AT: [&str; 7] = [
    "/error/code",
    "/error_code",
    "/errcode",
    "/code",
    "/error/status",
    "/errorType",
    "/errors/0/code",
];

fn message_of(body: &Value) -> Option<&str> {
    let mut texts = MESSAGE_AT
        .iter()
        .filter_map(|at| body.pointer(at)?.as_str());
    texts.find(|text| !text.trim().is_empty())
}

fn code_of(body: &Value) -> Option<String> {
    CODE_AT.iter().find_map(|at| match body.pointer(at)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Response {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Response {
            status,
            headers: headers.iter().map(own).collect(),
            body: body.as_bytes().to_vec(),
            stored: None,
            url: String::new(),
        }
    }

    /// The plugin SDKs of the other languages read the same cases.
    #[test]
    fn an_error_response_means_the_same_in_every_language() {
        let cases: Vec<Value> =
            serde_json::from_str(include_str!("../../../problems.json")).unwrap();
        assert!(cases.len() > 40);
        for case in cases {
            let headers: Vec<(&str, &str)> = case["headers"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
                .collect();
            let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
            let error = from_response(&answer(status, &headers, case["body"].as_str().unwrap()));
            assert_eq!(error.kind.as_str(), case["kind"], "{case}");
            assert_eq!(error.message, case["message"], "{case}");
            assert_eq!(error.code.as_deref(), case["code"].as_str(), "{case}");
            assert_eq!(error.http_status, Some(status), "{case}");
            assert_eq!(
                error.retry_after_ms,
                case["retry_after_ms"].as_u64(),
                "{case}"
            );
        }
    }

    #[test]
    fn a_long_answer_is_cut_and_not_passed_on() {
        let long = "é".repeat(TEXT_CHARS_MAX + 1);
        let error = from_response(&answer(500, &[], &long));
        assert_eq!(error.message.chars().count(), TEXT_CHARS_MAX + 1);
        let big = format!(r#"{{"message":"{}"}}"#, "a".repeat(DETAILS_BYTES_MAX));
        assert_eq!(from_response(&answer(500, &[], &big)).details, None);
    }

    #[test]
    fn a_request_that_may_have_arrived_says_so() {
        let failure = Failure {
            kind: FailureKind::Timeout,
            message: "no answer".to_owned(),
            sent: true,
        };
        let error = from_failure(failure);
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert!(
            error.message.contains("may have acted"),
            "{}",
            error.message
        );
    }
}
