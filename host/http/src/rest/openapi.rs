//! The OpenAPI 3.1 document.
//!
//! The routes declare their own parameters and results; what all of them share is added here:
//! the head, the tag of the resource, the key, the envelope around examples, and every refusal with the bodies that
//! [`toolgate_http_kit::envelope`] really writes.

use serde_json::Value;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn, PathItem};
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Response};
use utoipa_axum::router::OpenApiRouter;

use super::RestState;
use toolgate_http_kit::ids;

pub(super) mod refusals;

/// The document of this build, without a running gateway.
pub fn document() -> OpenApi {
    complete(super::api().into_openapi())
}

/// What a reader sees before the first route.
pub(super) fn head() -> OpenApi {
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
        .components(Some(refusals::components()))
        .build()
}

/// The router of one resource, to which its file adds its routes; `tag` is the resource's name in
/// the document and, by [`tagged`], on every one of its operations.
pub(super) fn resource(tag: &str, description: &str) -> OpenApiRouter<RestState> {
    let tag = TagBuilder::new().name(tag).description(Some(description));
    let document = OpenApiBuilder::new().tags(Some([tag.build()])).build();
    OpenApiRouter::with_openapi(document)
}

/// Puts the resource's tag on its operations.
pub(super) fn tagged(mut resource: OpenApiRouter<RestState>) -> OpenApiRouter<RestState> {
    let document = resource.get_openapi_mut();
    let tags = document.tags.iter().flatten();
    let tags: Vec<String> = tags.map(|tag| tag.name.clone()).collect();
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            operation.tags = Some(tags.clone());
        }
    }
    resource
}

/// Adds to every declared operation what all operations take and answer.
pub(super) fn complete(mut document: OpenApi) -> OpenApi {
    for (path, item) in &mut document.paths.paths {
        if path.starts_with("/v1/") {
            for operation in operations(item) {
                need_key(operation);
            }
        }
        if let Some(post) = item
            .post
            .as_mut()
            .filter(|post| refusals::takes_idempotency_key(post))
        {
            let key = refusals::idempotency_key();
            post.parameters.get_or_insert_default().push(key.into());
        }
        for operation in operations(item) {
            let own: Vec<String> = operation.responses.responses.keys().cloned().collect();
            for status in own {
                let response = operation.responses.responses.get_mut(&status);
                if let Some(response) = response.and_then(declared) {
                    response
                        .headers
                        .insert("X-Request-Id".to_owned(), refusals::request_id_header());
                }
            }
            for parameter in operation.parameters.iter_mut().flatten() {
                bound(parameter);
                name_default(parameter);
            }
            for status in refusals::declared_statuses(operation) {
                let name = refusals::name(status);
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

/// Declares that an operation needs an API key, and puts the envelope around its examples.
fn need_key(operation: &mut Operation) {
    let scopes: [&str; 0] = [];
    operation.security = Some(vec![SecurityRequirement::new("api_key", scopes)]);
    for response in operation.responses.responses.values_mut() {
        for example in examples(response) {
            *example = refusals::success(example.take());
        }
    }
}

fn examples(response: &mut RefOr<Response>) -> impl Iterator<Item = &mut Value> {
    let contents = declared(response).map(|response| response.content.values_mut());
    let contents = contents.into_iter().flatten().filter_map(declared);
    contents.flat_map(|content| {
        let several = content.examples.values_mut().filter_map(declared);
        let several = several.filter_map(|example| example.value.as_mut());
        content.example.iter_mut().chain(several)
    })
}

/// What is here and not in the document's components.
fn declared<T>(part: &mut RefOr<T>) -> Option<&mut T> {
    match part {
        RefOr::T(part) => Some(part),
        RefOr::Ref(_) => None,
    }
}

/// Gives a text parameter that declares no bounds of its own those of an identifier.
fn bound(parameter: &mut RefOr<Parameter>) {
    let Some(parameter) = declared(parameter) else {
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

/// Ends the description of a number with its default, which only its type declares.
fn name_default(parameter: &mut RefOr<Parameter>) {
    let Some(parameter) = declared(parameter) else {
        return;
    };
    if let Some(RefOr::T(Schema::Object(number))) = &mut parameter.schema
        && let Some(default) = number.default.take()
        && let Some(description) = &mut parameter.description
    {
        let mut digits = default.to_string();
        if let Some(thousands) = digits.len().checked_sub(3).filter(|at| *at > 0) {
            digits.insert(thousands, ',');
        }
        let sentence = description.trim_end_matches('.');
        *description = format!("{sentence}; {digits} if absent.");
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use toolgate_http_kit::envelope::ApiFailure;

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
                let tag = &operation["tags"][0];
                let tags = document["tags"].as_array().unwrap();
                assert!(
                    tags.iter().any(|known| known["name"] == *tag),
                    "{method} {path}"
                );
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
        let shown: BTreeSet<&str> = refusals::samples().iter().map(ApiFailure::code).collect();
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
            "repeated_write",
            "scope_denied",
            "service_not_found",
            "session_not_found",
            "skill_not_found",
            "tool_not_found",
            "tool_withdrawn",
            "unsupported_media_type",
            "user_not_found",
        ];
        assert_eq!(shown, BTreeSet::from(contract));
        assert!(!value().to_string().contains("not shown"));
    }
}
