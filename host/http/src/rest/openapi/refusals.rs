//! What the document says of refusals: which an operation can answer, and what each looks like.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::Value;
use utoipa::openapi::example::Example;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Components, ComponentsBuilder, ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Header, Ref, RefOr, Required, Response, ResponseBuilder};
use utoipa::{PartialSchema as _, ToSchema as _};

use toolgate_gateway::tools::idempotency::KEY_CHARS_MAX;
use toolgate_gateway::{Error, RateLimited, RateWindow, Scope, Violation};
use toolgate_http_kit::BODY_BYTES_MAX;
use toolgate_http_kit::envelope::{ApiFailure, FailureBody, Success};

/// The request id in examples.
const REQUEST_ID: &str = "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD";

/// The body of an answer that carries `data`.
pub(crate) fn success(data: Value) -> Value {
    let success = Success::for_request(REQUEST_ID.to_owned(), data);
    serde_json::to_value(success).expect("JSON values are JSON")
}

/// The schemas, responses and headers that all operations refer to.
pub(crate) fn components() -> Components {
    let key = Http::new(HttpAuthScheme::Bearer);
    let mut schemas = vec![(FailureBody::name().into_owned(), FailureBody::schema())];
    FailureBody::schemas(&mut schemas);
    let mut components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .security_scheme("api_key", SecurityScheme::Http(key))
        .build();
    let mut by_status: BTreeMap<u16, Vec<ApiFailure>> = BTreeMap::new();
    for sample in samples() {
        let of_status = by_status.entry(sample.status().as_u16()).or_default();
        of_status.push(sample);
    }
    for (status, samples) in by_status {
        let name = name(status);
        components
            .responses
            .insert(name, refusal(status, &samples).into());
    }
    let request_id = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^req_[0-9A-HJKMNP-TV-Z]{26}$"));
    let mut header = Header::new(request_id);
    header.description = Some("Names the request in logs; the same as `meta.request_id`.".into());
    components
        .headers
        .insert("RequestId".to_owned(), header.into());
    components
}

/// One status with an example body for each of its codes.
fn refusal(status: u16, samples: &[ApiFailure]) -> Response {
    let mut codes: Vec<&str> = samples.iter().map(ApiFailure::code).collect();
    codes.dedup();
    let examples = samples.iter().map(|sample| {
        let mut example = Example::new();
        example.value = serde_json::to_value(sample.body(REQUEST_ID)).ok();
        (sample.code(), RefOr::T(example))
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(FailureBody::name())))
        .examples_from_iter(examples)
        .build();
    let mut response = ResponseBuilder::new()
        .description(format!("`{}`", codes.join("`, `")))
        .content("application/json", content)
        .build();
    for (name, description) in headers_of(status) {
        let text = ObjectBuilder::new().schema_type(Type::String);
        let mut header = Header::new(text);
        header.description = Some((*description).to_owned());
        response.headers.insert((*name).to_owned(), header.into());
    }
    response
        .headers
        .insert("X-Request-Id".to_owned(), request_id_header());
    response
}

fn headers_of(status: u16) -> &'static [(&'static str, &'static str)] {
    match status {
        401 => &[("WWW-Authenticate", "`Bearer`")],
        409 => &[(
            "Retry-After",
            "With `in_progress`: seconds after which the first request may have ended.",
        )],
        405 => &[("Allow", "The methods of the route.")],
        429 => &[
            ("Retry-After", "Seconds until the limit opens again."),
            (
                "RateLimit-Policy",
                "The limit that was met: name, quota and window in seconds.",
            ),
            (
                "RateLimit",
                "What remains of it, and seconds until it opens again.",
            ),
        ],
        503 => &[(
            "Retry-After",
            "Seconds after which another try is worthwhile.",
        )],
        _ => &[],
    }
}

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// Whether an operation takes an `Idempotency-Key`: every POST that needs an API key.
pub(crate) fn takes_idempotency_key(operation: &Operation) -> bool {
    operation.security.is_some()
}

/// The header that a POST takes.
pub(crate) fn idempotency_key() -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(KEY_CHARS_MAX))
        .pattern(Some("^[!-~]+$"));
    ParameterBuilder::new()
        .name(IDEMPOTENCY_KEY)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "Identifies the request. A repetition within 24 hours returns the stored response instead of \
             running again; a response with a secret is not stored. With another body it is refused.",
        ))
        .schema(Some(text))
        .build()
}

/// The header of every answer.
pub(crate) fn request_id_header() -> RefOr<Header> {
    RefOr::Ref(Ref::new("#/components/headers/RequestId"))
}

/// The name of a refusal among the document's responses, for example `NotFound`.
pub(crate) fn name(status: u16) -> String {
    StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Refused")
        .replace(' ', "")
}

/// The refusals that an operation can answer, told from what it declares.
pub(crate) fn declared_statuses(operation: &Operation) -> Vec<u16> {
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let path = |parameter: &RefOr<_>| match parameter {
        RefOr::T(Parameter { parameter_in, .. }) => *parameter_in == ParameterIn::Path,
        RefOr::Ref(_) => false,
    };
    let key = |parameter: &RefOr<_>| match parameter {
        RefOr::T(Parameter { name, .. }) => name == IDEMPOTENCY_KEY,
        RefOr::Ref(_) => false,
    };
    let mut statuses = vec![500];
    if operation.security.is_some() {
        statuses.extend([400, 401, 403, 429, 503]);
        if parameters.iter().any(path) {
            statuses.push(404);
        }
        if operation.request_body.is_some() {
            statuses.extend([409, 413, 415]);
        } else if parameters.iter().any(key) {
            statuses.push(409);
        }
    }
    match operation.operation_id.as_deref() {
        Some("probe_readiness") => statuses.push(503),
        Some("read_metrics") => statuses.push(404),
        // They name a service, a connection, a code, a trigger, a session, or tools and Skills, beside their paths.
        Some(
            "link_connection" | "confirm_connection" | "create_toolset" | "create_trigger"
            | "run_script" | "get_tool_types",
        ) => statuses.push(404),
        _ => {}
    }
    statuses
}

/// One failure of every code that the routes can answer.
pub(crate) fn samples() -> Vec<ApiFailure> {
    let user_id = "ada@example.com".to_owned();
    let tool_name = "github_create_issue".to_owned();
    let violations = vec![Violation {
        path: "/title".to_owned(),
        message: "7 is not of type \"string\"".to_owned(),
    }];
    let limited = RateLimited {
        window: RateWindow::Minute,
        limit: 100,
        retry_after_s: 12,
    };
    let mut samples = vec![
        ApiFailure::field("limit", "must be a whole number from 1 to 100"),
        ApiFailure::Json(toolgate_core::json::JsonProblem {
            what: "expected value".to_owned(),
            line: 1,
            column: 14,
        }),
        ApiFailure::UnknownRoute,
        ApiFailure::MethodNotAllowed,
        ApiFailure::PayloadTooLarge {
            bytes_max: BODY_BYTES_MAX,
        },
        ApiFailure::UnsupportedMediaType,
    ];
    let of_gateway = [
        Error::InvalidArguments {
            tool_name: tool_name.clone(),
            violations,
        },
        Error::ApiKeyRequired,
        Error::InvalidApiKey,
        Error::PermissionDenied {
            user_id: user_id.clone(),
            subject: tool_name.clone(),
        },
        Error::ScopeDenied(Scope::ToolsExecute),
        Error::IpNotAllowed,
        Error::ToolNotFound {
            tool_name,
            nearest: vec!["github_create_issue".to_owned()],
        },
        Error::ToolWithdrawn {
            tool_name: "notes_list_notes".to_owned(),
            service: "notes".to_owned(),
        },
        Error::SkillNotFound("5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10".to_owned()),
        Error::SessionNotFound("ses_9f86d081884c7d659a2feaa0c55ad015".to_owned()),
        Error::UserNotFound(user_id),
        Error::ServiceNotFound("github".to_owned()),
        Error::Conflict("the stored version is 3, not 2".to_owned()),
        Error::IdempotencyConflict,
        Error::InProgress { retry_after_s: 1 },
        Error::OutcomeUnknown {
            execution_id: "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD".to_owned(),
            receipt: None,
        },
        Error::RepeatedWrite {
            execution_id: "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD".to_owned(),
        },
        Error::RateLimited(limited),
        Error::Internal(anyhow::anyhow!("not shown")),
        Error::Overloaded { retry_after_s: 1 },
    ];
    samples.extend(of_gateway.map(ApiFailure::Gateway));
    samples
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use toolgate_http_kit::envelope::failure_response;

    use super::samples;

    #[test]
    fn every_code_has_its_status() {
        let mut table: Vec<(u16, &str)> = samples()
            .iter()
            .map(|failure| {
                let response = failure_response(failure, "req_1");
                (response.status().as_u16(), failure.code())
            })
            .collect();
        table.sort_unstable();
        let expected = [
            (400, "invalid_arguments"),
            (400, "invalid_json"),
            (400, "invalid_request"),
            (401, "api_key_required"),
            (401, "invalid_api_key"),
            (403, "ip_not_allowed"),
            (403, "permission_denied"),
            (403, "scope_denied"),
            (404, "not_found"),
            (404, "service_not_found"),
            (404, "session_not_found"),
            (404, "skill_not_found"),
            (404, "tool_not_found"),
            (404, "tool_withdrawn"),
            (404, "user_not_found"),
            (405, "method_not_allowed"),
            (409, "conflict"),
            (409, "idempotency_conflict"),
            (409, "in_progress"),
            (409, "outcome_unknown"),
            (409, "repeated_write"),
            (413, "payload_too_large"),
            (415, "unsupported_media_type"),
            (429, "rate_limit_exceeded"),
            (500, "internal_error"),
            (503, "overloaded"),
        ];
        assert_eq!(table, expected);
    }

    #[test]
    fn headers_follow_the_code() {
        for failure in samples() {
            let code = failure.code();
            let response = failure_response(&failure, "req_1");
            let has = |name: &str| response.headers().contains_key(name);
            let unauthorized = response.status() == StatusCode::UNAUTHORIZED;
            assert_eq!(has("www-authenticate"), unauthorized, "{code}");
            let later = ["in_progress", "rate_limit_exceeded", "overloaded"].contains(&code);
            assert_eq!(has("retry-after"), later, "{code}");
            let limited = code == "rate_limit_exceeded";
            assert_eq!(
                has("ratelimit") && has("ratelimit-policy"),
                limited,
                "{code}"
            );
        }
    }
}
