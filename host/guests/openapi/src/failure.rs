//! Failures of a call, as errors of the plugin contract.

use serde_json::Value;
use toolgate_openapi_table::{ErrorShape, Method};

use crate::page::Page;
use crate::pointer;

/// The contract's `error-kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    InvalidArguments,
    AuthRequired,
    AuthExpired,
    PermissionDenied,
    NotFound,
    Conflict,
    RateLimited,
    Upstream,
    Unavailable,
    TooLarge,
    Cancelled,
    Internal,
}

/// The contract's `tool-error`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub kind: Kind,
    pub code: Option<String>,
    pub message: String,
    pub retry_after_ms: Option<u64>,
    pub http_status: Option<u16>,
    /// JSON Pointer into the arguments.
    pub field: Option<String>,
    pub details: Option<String>,
}

impl Fault {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: None,
            message: message.into(),
            retry_after_ms: None,
            http_status: None,
            field: None,
            details: None,
        }
    }

    /// An argument that cannot be sent.
    pub fn argument(name: &str, message: impl Into<String>) -> Self {
        let mut fault = Self::new(Kind::InvalidArguments, message);
        fault.field = Some(format!("/{}", name.replace('~', "~0").replace('/', "~1")));
        fault
    }
}

/// Where providers usually put the error message. Messages at other places are found by [`SENTENCES`].
const MESSAGES: &[&str] = &[
    "/error/message",
    "/error_description",
    "/message",
    "/errors/0/message",
    "/errors/0/detail",
    "/errors/0/title",
    "/errors/0",
    "/detail",
    "/error",
    "/title",
    "/msg",
    "/description",
    "/reason",
    "/Message",
    "/fault/faultstring",
];
/// Names under which a sentence is looked for anywhere in a failure's body, without `_` and `-`.
const SENTENCES: &[&str] = &[
    "message",
    "msg",
    "errormessage",
    "errormsg",
    "errordescription",
    "detail",
    "details",
    "description",
    "reason",
    "faultstring",
    "longmessage",
    "usermessage",
    "developermessage",
    "text",
    "title",
    "error",
    "errors",
    "summary",
];
/// Most values that are looked at for it, and deepest level.
const SENTENCE_VALUES_MAX: usize = 200;
const SENTENCE_LEVELS_MAX: usize = 6;
/// Longest wait that is handed on: one day.
pub const RETRY_AFTER_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
const CODES: &[&str] = &[
    "/error/code",
    "/error/type",
    "/code",
    "/errors/0/code",
    "/error_code",
    "/error",
    "/type",
    "/status",
];
/// Longest message taken over from a provider, in characters.
const MESSAGE_CHARS_MAX: usize = 2_000;
/// Longest body given along as details, in bytes.
const DETAILS_BYTES_MAX: usize = 8 * 1024;

/// The failure that a response reports; `None` for a success. `retry_after` is the header's value.
pub fn of_answer(
    shape: &ErrorShape,
    status: u16,
    retry_after: Option<&str>,
    body: &Value,
    graphql: bool,
) -> Option<Fault> {
    if status < 400 && !refused(shape, body, graphql) {
        return None;
    }
    let kind = if status < 400 {
        Kind::Upstream
    } else {
        kind_of(status)
    };
    let code = first(
        body,
        &shape.code,
        if graphql {
            &["/errors/0/extensions/code"]
        } else {
            CODES
        },
    )
    .filter(|code| code.len() <= 100 && !code.contains(char::is_whitespace));
    let message = first(body, &shape.message, MESSAGES)
        .or_else(|| sentence(body))
        .or_else(|| match body {
            Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            _ => code.clone(),
        })
        .unwrap_or_else(|| format!("the service answered with status {status}"));
    let details = (!body.is_null()).then(|| body.to_string());
    Some(Fault {
        kind,
        code,
        message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
        retry_after_ms: retry_after.and_then(retry_after_ms),
        http_status: Some(status),
        field: None,
        details: details.filter(|text| text.len() <= DETAILS_BYTES_MAX),
    })
}

/// The failure that an undeclared HTML page reports.
pub fn of_page(method: Method, status: u16, retry_after: Option<&str>, page: &Page) -> Fault {
    let titled = page.titled();
    let (kind, mut message) = if status < 400 {
        let text = format!(
            "the service answered with an HTML page{titled}, probably a sign-in or proxy page"
        );
        (Kind::Upstream, text)
    } else {
        // A block page does not show what the account may do.
        let kind = match kind_of(status) {
            Kind::PermissionDenied => Kind::Upstream,
            kind => kind,
        };
        let text = format!("the service answered with status {status} and an HTML page{titled}");
        (kind, text)
    };
    if status < 400 && !only_reads(method) {
        message.push_str("; whether it did what was asked is not known: look before repeating it");
    }
    Fault {
        code: Some("html_page".to_owned()),
        http_status: Some(status),
        retry_after_ms: retry_after.and_then(retry_after_ms),
        ..Fault::new(kind, message)
    }
}

/// Whether requests of the method change nothing (RFC 9110, section 9.2.1).
pub fn only_reads(method: Method) -> bool {
    matches!(method, Method::Get | Method::Head | Method::Options)
}

/// The seconds of `Retry-After`, whole or with decimals. The host has converted dates to seconds.
fn retry_after_ms(text: &str) -> Option<u64> {
    let seconds: f64 = text.trim().parse().ok()?;
    (seconds >= 0.0).then(|| ((seconds * 1_000.0) as u64).min(RETRY_AFTER_MS_MAX))
}

/// The first text under a name of [`SENTENCES`], nearest to the top first.
fn sentence(body: &Value) -> Option<String> {
    let mut level = vec![body];
    let mut left = SENTENCE_VALUES_MAX;
    for _ in 0..SENTENCE_LEVELS_MAX {
        let mut below = Vec::new();
        let mut found: Option<(usize, &str)> = None;
        for value in level {
            match value {
                Value::Array(items) => below.extend(items.iter().take(left)),
                Value::Object(members) => {
                    for (name, member) in members.iter().take(left) {
                        let rank = sentence_rank(name);
                        if let (Some(rank), Some(text)) = (rank, text_of(member))
                            && found.is_none_or(|(best, _)| rank < best)
                        {
                            found = Some((rank, text));
                        }
                        below.push(member);
                    }
                }
                _ => {}
            }
            left = SENTENCE_VALUES_MAX.saturating_sub(below.len());
        }
        if let Some((_, text)) = found {
            return Some(text.trim().to_owned());
        }
        level = below;
    }
    None
}

fn sentence_rank(name: &str) -> Option<usize> {
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    SENTENCES.iter().position(|known| *known == plain)
}

/// A text that is not empty, also as the first of a list of texts.
fn text_of(value: &Value) -> Option<&str> {
    let text = match value {
        Value::String(text) => text,
        Value::Array(items) => items.first()?.as_str()?,
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

/// Whether a 2xx response reports a failure.
fn refused(shape: &ErrorShape, body: &Value, graphql: bool) -> bool {
    if graphql && is_something(pointer::at(body, "/errors")) {
        let data = pointer::at(body, "/data");
        let nothing = match data {
            Some(Value::Object(map)) => map.values().all(Value::is_null),
            other => !is_something(other),
        };
        if nothing {
            return true;
        }
    }
    let not_ok = shape
        .ok
        .as_deref()
        .and_then(|ok| pointer::at(body, ok))
        .is_some_and(|ok| match ok {
            Value::Bool(ok) => !ok,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => {
                matches!(
                    text.to_ascii_lowercase().as_str(),
                    "false" | "0" | "error" | "fail" | "failed"
                )
            }
            _ => false,
        });
    let failed = shape
        .failed
        .as_deref()
        .is_some_and(|failed| is_something(pointer::at(body, failed)));
    not_ok || failed
}

fn is_something(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::Bool(true)) => true,
    }
}

fn first(body: &Value, named: &[String], usual: &[&str]) -> Option<String> {
    let named = named
        .iter()
        .find_map(|pointer| pointer::text_at(body, pointer));
    named
        .or_else(|| {
            usual
                .iter()
                .find_map(|pointer| pointer::text_at(body, pointer))
        })
        .filter(|text| !text.is_empty())
}

fn kind_of(status: u16) -> Kind {
    match status {
        400 | 422 => Kind::InvalidArguments,
        401 => Kind::AuthExpired,
        403 => Kind::PermissionDenied,
        404 | 410 => Kind::NotFound,
        409 | 412 | 423 => Kind::Conflict,
        413 => Kind::TooLarge,
        429 => Kind::RateLimited,
        502..=504 => Kind::Unavailable,
        _ => Kind::Upstream,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_openapi_table::ErrorShape;

    use super::{Kind, of_answer};

    fn failure(
        shape: &ErrorShape,
        status: u16,
        body: Value,
    ) -> Option<(Kind, Option<String>, String)> {
        of_answer(shape, status, None, &body, false).map(|f| (f.kind, f.code, f.message))
    }

    #[test]
    fn a_status_of_400_and_above_is_a_failure_with_the_providers_words() {
        let usual = ErrorShape::default();
        for (status, body, kind, code, message) in [
            (
                404,
                json!({"error": {"code": "no_such", "message": "Gone away"}}),
                Kind::NotFound,
                Some("no_such"),
                "Gone away",
            ),
            (
                422,
                json!({"errors": [{"code": 17, "detail": "bad colour"}]}),
                Kind::InvalidArguments,
                Some("17"),
                "bad colour",
            ),
            (
                500,
                json!("plain words"),
                Kind::Upstream,
                None,
                "plain words",
            ),
            (
                403,
                json!({}),
                Kind::PermissionDenied,
                None,
                "the service answered with status 403",
            ),
            (
                401,
                json!({"error": "invalid_token"}),
                Kind::AuthExpired,
                Some("invalid_token"),
                "invalid_token",
            ),
            (
                503,
                Value::Null,
                Kind::Unavailable,
                None,
                "the service answered with status 503",
            ),
        ] {
            let expected = Some((kind, code.map(str::to_owned), message.to_owned()));
            assert_eq!(failure(&usual, status, body), expected, "{status}");
        }
        assert_eq!(
            failure(
                &usual,
                200,
                json!({"error": {"message": "a field called error"}})
            ),
            None
        );
    }

    #[test]
    fn a_success_status_can_be_a_failure_where_the_description_says_so() {
        let slack = ErrorShape {
            ok: Some("/ok".into()),
            code: vec!["/error".into()],
            ..ErrorShape::default()
        };
        assert_eq!(
            failure(
                &slack,
                200,
                json!({"ok": false, "error": "channel_not_found"})
            ),
            Some((
                Kind::Upstream,
                Some("channel_not_found".into()),
                "channel_not_found".into()
            ))
        );
        assert_eq!(failure(&slack, 200, json!({"ok": true})), None);
        let listed = ErrorShape {
            failed: Some("/errors".into()),
            ..ErrorShape::default()
        };
        assert!(failure(&listed, 200, json!({"errors": ["no"]})).is_some());
        assert!(failure(&listed, 200, json!({"errors": []})).is_none());
    }

    #[test]
    fn a_graphql_answer_without_data_is_a_failure_and_with_data_is_not() {
        let shape = ErrorShape::default();
        let body = json!({"errors": [{"message": "no access", "extensions": {"code": "FORBIDDEN"}}], "data": {"issue": null}});
        let found = of_answer(&shape, 200, None, &body, true).expect("a failure");
        assert_eq!(
            (found.code.as_deref(), found.message.as_str()),
            (Some("FORBIDDEN"), "no access")
        );
        let partial = json!({"errors": [{"message": "one field"}], "data": {"issue": {"id": 1}}});
        assert_eq!(of_answer(&shape, 200, None, &partial, true), None);
    }

    #[test]
    fn the_services_own_sentence_is_found_wherever_it_is() {
        for (body, expected) in [
            // A backup appliance and a framework's validation.
            (
                json!({"exception_detail": [{"code": 17, "msg": "The folder is busy"}]}),
                "The folder is busy",
            ),
            (
                json!({"detail": [{"loc": ["body", "name"], "msg": "Field required", "type": "missing"}]}),
                "Field required",
            ),
            (
                json!({"Fault": {"Error": [{"Message": "Duplicate Name", "Detail": "It is taken", "code": "6240"}], "type": "ValidationFault"}}),
                "Duplicate Name",
            ),
            (
                json!({"errors": {"email": ["is not an address"]}, "status": 422, "error-message": "Not saved"}),
                "Not saved",
            ),
            (
                json!({"meta": {"code": 400, "errorDetail": "x", "error_description": ["Bad parameter"]}}),
                "Bad parameter",
            ),
            (json!({"ok": false}), "the service answered with status 400"),
            (json!("Only words"), "Only words"),
        ] {
            let found = of_answer(&ErrorShape::default(), 400, None, &body, false);
            assert_eq!(found.expect("a failure").message, expected, "{body}");
        }
        let deep = (0..40).fold(json!({"message": "too deep"}), |inner, _| json!([inner]));
        let found = of_answer(&ErrorShape::default(), 400, None, &deep, false).expect("a failure");
        assert_eq!(found.message, "the service answered with status 400");
    }

    #[test]
    fn a_rate_limit_says_when_to_come_back() {
        for (header, expected) in [
            ("7", Some(7_000)),
            (" 1.5 ", Some(1_500)),
            ("0", Some(0)),
            ("86401", Some(86_400_000)),
            ("1e300", Some(86_400_000)),
            ("-1", None),
            ("NaN", None),
            ("soon", None),
        ] {
            let shape = ErrorShape::default();
            let found = of_answer(&shape, 429, Some(header), &Value::Null, false);
            let found = found.expect("a failure");
            assert_eq!(
                (found.kind, found.retry_after_ms),
                (Kind::RateLimited, expected),
                "{header}"
            );
        }
    }
}
