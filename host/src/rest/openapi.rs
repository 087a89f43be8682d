//! The OpenAPI 3.1 document.
//!
//! The routes declare their own parameters and results; what all of them share is added here:
//! the head, the key, and every refusal with the bodies that [`super::envelope`] really writes.

use std::collections::BTreeMap;

use http::StatusCode;
use utoipa::openapi::example::Example;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn, PathItem};
use utoipa::openapi::schema::{
    Components, ComponentsBuilder, ObjectBuilder, Schema, SchemaType, Type,
};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    ContentBuilder, Header, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr,
    Response, ResponseBuilder, Tag,
};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::envelope::{Failure, FailureBody};
use super::ids;
use crate::gateway::{Error, RateLimited, Violation};

/// The request id in examples.
const REQUEST_ID: &str = "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD";

/// The document of this build, without a running gateway.
pub fn document() -> OpenApi {
    complete(super::api().into_openapi())
}

/// What a reader sees before the first route.
pub fn head() -> OpenApi {
    let info = InfoBuilder::new()
        .title("toolgate")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "A tool gateway for software agents: search, describe and execute the tools of many \
             services through one interface. Every answer carries its request id in `meta` and in \
             the header `X-Request-Id`; every refusal has the same shape and a stable `error.code`.",
        ))
        .license(Some(
            LicenseBuilder::new()
                .name("Apache-2.0")
                .identifier(Some("Apache-2.0"))
                .build(),
        ));
    OpenApiBuilder::new()
        .info(info.build())
        .tags(Some([
            tag("Tools", "Find, describe and run tools."),
            tag("Executions", "Receipts of what ran."),
            tag("Gateway", "The gateway and the key in use."),
            tag("Probes", "Routes without a key, for operators."),
        ]))
        .components(Some(shared_components()))
        .build()
}

fn tag(name: &str, description: &str) -> Tag {
    TagBuilder::new()
        .name(name)
        .description(Some(description))
        .build()
}

fn shared_components() -> Components {
    let key = Http::new(HttpAuthScheme::Bearer);
    let mut schemas = vec![(FailureBody::name().into_owned(), FailureBody::schema())];
    FailureBody::schemas(&mut schemas);
    let mut components = ComponentsBuilder::new()
        .schemas_from_iter(schemas)
        .security_scheme("api_key", SecurityScheme::Http(key))
        .build();
    let mut by_status: BTreeMap<u16, Vec<Failure>> = BTreeMap::new();
    for sample in samples() {
        let of_status = by_status.entry(sample.status().as_u16()).or_default();
        of_status.push(sample);
    }
    for (status, samples) in by_status {
        let name = response_name(status);
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
fn refusal(status: u16, samples: &[Failure]) -> Response {
    let mut codes: Vec<&str> = samples.iter().map(Failure::code).collect();
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

fn request_id_header() -> RefOr<Header> {
    RefOr::Ref(Ref::new("#/components/headers/RequestId"))
}

/// The name of a refusal among the document's responses, for example `NotFound`.
fn response_name(status: u16) -> String {
    StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Refused")
        .replace(' ', "")
}

/// One failure of every code that the routes can answer.
pub(super) fn samples() -> Vec<Failure> {
    let user_id = "ada@example.com".to_owned();
    let tool_name = "github_create_issue".to_owned();
    let violations = vec![Violation {
        path: "/title".to_owned(),
        message: "7 is not of type \"string\"".to_owned(),
    }];
    let limited = RateLimited {
        window: "minute",
        limit: 100,
        retry_after_s: 12,
    };
    let mut samples = vec![
        Failure::field("limit", "must be a whole number from 1 to 100"),
        Failure::Json(crate::json::Problem {
            what: "expected value".to_owned(),
            line: 1,
            column: 14,
        }),
        Failure::UnknownRoute,
        Failure::MethodNotAllowed,
        Failure::PayloadTooLarge {
            bytes_max: super::BODY_BYTES_MAX,
        },
        Failure::UnsupportedMediaType,
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
        Error::ScopeDenied("tools:execute"),
        Error::IpNotAllowed,
        Error::ToolNotFound(tool_name),
        Error::SkillNotFound("5b0f6a52-63a5-4f0b-9f43-3c1b5b3f9d10".to_owned()),
        Error::SessionNotFound("ses_9f86d081884c7d659a2feaa0c55ad015".to_owned()),
        Error::UserNotFound(user_id),
        Error::ServiceNotFound("github".to_owned()),
        Error::Conflict("the stored version is 3, not 2".to_owned()),
        Error::IdempotencyConflict,
        Error::InProgress { retry_after_s: 1 },
        Error::OutcomeUnknown {
            execution_id: "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD".to_owned(),
        },
        Error::RateLimited(limited),
        Error::Internal(anyhow::anyhow!("not shown")),
        Error::Overloaded { retry_after_s: 1 },
    ];
    samples.extend(of_gateway.map(Failure::Gateway));
    samples
}

/// Adds to every declared operation what all operations answer.
pub fn complete(mut document: OpenApi) -> OpenApi {
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            let own: Vec<String> = operation.responses.responses.keys().cloned().collect();
            for status in own {
                if let Some(RefOr::T(response)) = operation.responses.responses.get_mut(&status) {
                    response
                        .headers
                        .insert("X-Request-Id".to_owned(), request_id_header());
                }
            }
            for parameter in operation.parameters.iter_mut().flatten() {
                bound(parameter);
            }
            for status in refusals(operation) {
                let name = response_name(status);
                let reference = Ref::from_response_name(name);
                let responses = &mut operation.responses.responses;
                responses
                    .entry(status.to_string())
                    .or_insert(reference.into());
            }
        }
    }
    document
}

/// Gives a text parameter that declares no bounds of its own those of an identifier.
fn bound(parameter: &mut RefOr<Parameter>) {
    let RefOr::T(parameter) = parameter else {
        return;
    };
    let in_path = parameter.parameter_in == ParameterIn::Path;
    if !in_path && parameter.parameter_in != ParameterIn::Query {
        return;
    }
    if let Some(RefOr::T(Schema::Object(text))) = &mut parameter.schema
        && text.schema_type == SchemaType::Type(Type::String)
        && text.pattern.is_none()
    {
        text.pattern = Some(ids::PATTERN.to_owned());
        text.max_length = Some(ids::ID_CHARS_MAX);
        text.min_length = in_path.then_some(1);
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.put,
        &mut item.post,
        &mut item.delete,
        &mut item.patch,
    ]
    .into_iter()
    .filter_map(Option::as_mut)
}

/// The refusals that an operation can answer, told from what it declares.
fn refusals(operation: &Operation) -> Vec<u16> {
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let path = |parameter: &RefOr<_>| match parameter {
        RefOr::T(Parameter { parameter_in, .. }) => *parameter_in == ParameterIn::Path,
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
        }
    }
    match operation.operation_id.as_deref() {
        Some("probe_readiness") => statuses.push(503),
        Some("read_metrics") => statuses.push(404),
        _ => {}
    }
    statuses
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    fn value() -> Value {
        serde_json::to_value(document()).unwrap()
    }

    /// Every JSON object below `value`.
    fn objects<'a>(value: &'a Value, found: &mut Vec<&'a serde_json::Map<String, Value>>) {
        match value {
            Value::Object(object) => {
                found.push(object);
                object.values().for_each(|inner| objects(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| objects(inner, found)),
            _ => {}
        }
    }

    #[test]
    fn the_document_is_openapi_3_1_as_last_agreed() {
        let mut document = value();
        assert_eq!(document["openapi"], "3.1.0");
        document["info"]["version"] = "[version]".into();
        insta::assert_json_snapshot!("openapi", document);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = value();
        let mut found = Vec::new();
        objects(&document, &mut found);
        for reference in found
            .iter()
            .filter_map(|object| object.get("$ref")?.as_str())
        {
            let pointer = reference.strip_prefix('#').expect("references stay inside");
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn every_schema_is_json_schema_2020_12() {
        let document = value();
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            assert!(jsonschema::draft202012::meta::is_valid(schema), "{name}");
        }
    }

    #[test]
    fn every_example_fits_its_schema() {
        let document = value();
        let mut found = Vec::new();
        objects(&document, &mut found);
        let mut examples = 0;
        for content in found.iter().filter(|object| object.contains_key("schema")) {
            let single = content.get("example").into_iter();
            let several = content.get("examples").and_then(Value::as_object);
            let several = several.into_iter().flat_map(|examples| examples.values());
            let schema = json!({
                "components": document["components"],
                "allOf": [content["schema"]],
            });
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            for example in single.chain(several.map(|example| &example["value"])) {
                let wrong: Vec<_> = validator
                    .iter_errors(example)
                    .map(|e| e.to_string())
                    .collect();
                assert!(wrong.is_empty(), "{wrong:?} in {example:#}");
                examples += 1;
            }
        }
        assert!(examples > 30, "only {examples} examples were found");
    }

    #[test]
    fn every_operation_declares_its_path_parameters_and_its_own_name() {
        let document = value();
        let mut names = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let in_template: BTreeSet<&str> = path
                .split('/')
                .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
                .collect();
            for (method, operation) in item.as_object().unwrap() {
                let name = operation["operationId"].as_str().unwrap();
                assert!(names.insert(name.to_owned()), "{name} twice");
                let parameters = operation["parameters"].as_array();
                let declared: BTreeSet<&str> = parameters
                    .into_iter()
                    .flatten()
                    .filter(|parameter| parameter["in"] == "path")
                    .map(|parameter| parameter["name"].as_str().unwrap())
                    .collect();
                assert_eq!(declared, in_template, "{method} {path}");
                assert!(operation["description"].is_string(), "{method} {path}");
            }
        }
    }

    #[test]
    fn routes_below_v1_need_the_key_and_no_other_does() {
        for (path, item) in value()["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let keyed = operation["security"] == json!([{ "api_key": [] }]);
                assert_eq!(keyed, path.starts_with("/v1/"), "{method} {path}");
                assert_eq!(
                    keyed,
                    !operation["responses"]["401"].is_null(),
                    "{method} {path}"
                );
            }
        }
    }

    #[test]
    fn every_code_of_the_contract_has_an_example() {
        let shown: BTreeSet<&str> = samples().iter().map(Failure::code).collect();
        let contract = [
            "api_key_required",
            "conflict",
            "idempotency_conflict",
            "in_progress",
            "internal_error",
            "invalid_api_key",
            "invalid_arguments",
            "invalid_json",
            "invalid_request",
            "ip_not_allowed",
            "method_not_allowed",
            "not_found",
            "outcome_unknown",
            "overloaded",
            "payload_too_large",
            "permission_denied",
            "rate_limit_exceeded",
            "scope_denied",
            "service_not_found",
            "session_not_found",
            "skill_not_found",
            "tool_not_found",
            "unsupported_media_type",
            "user_not_found",
        ];
        assert_eq!(shown, BTreeSet::from(contract));
        assert!(!value().to_string().contains("not shown"));
    }
}
