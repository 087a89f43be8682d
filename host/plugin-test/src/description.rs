//! The description that a plugin was made of, as a measure of what it sends.
//!
//! Read from the OpenAPI document beside the plugin, not from the table that the plugin carries: a
//! request has the operation's method and path, every parameter that the operation requires, and a
//! body that is valid against the operation's schema. A plugin that is code has no such document.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::anyhow;
use serde_json::{Map, Value};
use url::Url;

use toolgate_egress::PlannedRequest;
use toolgate_openapi::document::{Documents, Node};
use toolgate_openapi::keys::{self, OperationKeys};
use toolgate_openapi::names::{self, NamedOperation};
use toolgate_openapi::schema::{Expander, ExpansionBounds};
use toolgate_openapi::{body, swagger};

const METHODS: [&str; 7] = ["get", "head", "post", "put", "patch", "delete", "options"];
/// Far more than any body of a shipped description needs.
const BOUNDS: ExpansionBounds = ExpansionBounds {
    depth: 24,
    text_chars: 0,
    bytes: 512 * 1024,
    values: 50_000,
};

/// A description, ready to judge requests.
#[derive(Debug)]
pub struct Description {
    docs: Documents,
    /// By the names of their tools.
    operations: BTreeMap<String, DescribedOperation>,
}

/// Where the operation of a tool is declared, and the check of its body, which is built at its first use.
#[derive(Debug)]
struct DescribedOperation {
    path: String,
    method: &'static str,
    body: OnceLock<Body>,
}

/// The check of a body.
#[derive(Debug)]
enum Body {
    Schema(Box<jsonschema::Validator>),
    /// It has no schema, or one that is too large to be written out.
    Anything,
    Broken,
}

/// One operation and the path item that it is in.
struct Operation<'d> {
    place: &'d DescribedOperation,
    item: Node<'d>,
    node: Node<'d>,
}

impl Description {
    /// The description in a plugin's folder; `None` where it has none.
    pub fn load(folder: &Path, service: &str) -> anyhow::Result<Option<Self>> {
        let files = ["openapi.yaml", "openapi.json"].map(|name| folder.join(name));
        let Some(file) = files.iter().find(|file| file.is_file()) else {
            return Ok(None);
        };
        Self::read(file, service).map(Some)
    }

    fn read(file: &Path, service: &str) -> anyhow::Result<Self> {
        let docs = Documents::load(file, |_, value| {
            Ok(if swagger::is_swagger(&value) {
                swagger::convert(value)
            } else {
                value
            })
        });
        let docs = docs.map_err(|problem| anyhow!("{problem}"))?;
        Ok(Self::new(docs, service))
    }

    fn new(docs: Documents, service: &str) -> Self {
        let mut operations = BTreeMap::new();
        for (path, item) in docs.root().members("paths") {
            let item = docs.resolve(item).unwrap_or(item);
            for method in METHODS {
                let Some(node) = item.get(method) else {
                    continue;
                };
                let own: OperationKeys = keys::read(docs.name(), path, node).unwrap_or_default();
                let name = own.name.unwrap_or_else(|| {
                    names::tool(&NamedOperation {
                        service,
                        id: node.text("operationId"),
                        method,
                        path,
                        patched: item.get("patch").is_some(),
                    })
                });
                operations
                    .entry(name)
                    .or_insert_with(|| DescribedOperation {
                        path: path.to_owned(),
                        method,
                        body: OnceLock::new(),
                    });
            }
        }
        Self { docs, operations }
    }

    /// The faults of a request of the tool, compared with the operation of that name.
    pub fn judge(&self, tool: &str, request: &PlannedRequest) -> Vec<String> {
        let Some(operation) = self.operation(tool) else {
            return vec!["the description has no operation for this tool".to_owned()];
        };
        let mut wrong = Vec::new();
        if !request.method.eq_ignore_ascii_case(operation.place.method) {
            wrong.push(format!(
                "{} is sent in place of {}",
                request.method,
                operation.place.method.to_uppercase()
            ));
        }
        match Url::parse(&request.url) {
            Ok(url) => {
                wrong.extend(path_fault(&operation.place.path, &url));
                wrong.extend(self.missing(&operation, &url, request));
            }
            Err(_) => wrong.push(format!("{} is not a URL", request.url)),
        }
        wrong.extend(self.body_faults(&operation, &request.body));
        wrong
    }

    fn operation(&self, tool: &str) -> Option<Operation<'_>> {
        let place = self.operations.get(tool)?;
        let item = self.docs.root().get("paths")?.get(&place.path)?;
        let item = self.docs.resolve(item).unwrap_or(item);
        let node = item.get(place.method)?;
        Some(Operation { place, item, node })
    }

    /// Required parameters of query and header that the request does not have.
    fn missing(
        &self,
        operation: &Operation<'_>,
        url: &Url,
        request: &PlannedRequest,
    ) -> Vec<String> {
        let lists = [operation.item, operation.node];
        let all = lists.iter().flat_map(|list| list.elements("parameters"));
        let all = all.filter_map(|node| self.docs.resolve(node).ok());
        let mut wrong = Vec::new();
        for parameter in all.filter(|parameter| parameter.flag("required")) {
            let (Some(name), Some(place)) = (parameter.text("name"), parameter.text("in")) else {
                continue;
            };
            let there = match place {
                "query" => {
                    let spread = parameter
                        .get("schema")
                        .and_then(|schema| self.docs.resolve(schema).ok())
                        .is_some_and(|schema| schema.text("type") == Some("object"));
                    spread
                        || url.query_pairs().any(|(key, _)| {
                            key == name
                                || key
                                    .strip_prefix(name)
                                    .is_some_and(|rest| rest.starts_with('['))
                        })
                }
                "header" => {
                    // Headers that are not parameters (OpenAPI 3.1, section 4.8.12.1).
                    let own = ["accept", "content-type", "authorization"];
                    own.iter().any(|own| name.eq_ignore_ascii_case(own))
                        || request
                            .headers
                            .iter()
                            .any(|(known, _)| known.eq_ignore_ascii_case(name))
                }
                _ => true,
            };
            if !there {
                wrong.push(format!(
                    "the required {place} parameter `{name}` is missing"
                ));
            }
        }
        wrong
    }

    fn body_faults(&self, operation: &Operation<'_>, sent: &str) -> Vec<String> {
        let Some(request) = operation.node.get("requestBody") else {
            return Vec::new();
        };
        let Ok(request) = self.docs.resolve(request) else {
            return Vec::new();
        };
        let media = request.members("content").find(|(media_type, _)| {
            let plain = media_type.split(';').next().unwrap_or_default().trim();
            body::is_json(&plain.to_ascii_lowercase())
        });
        if sent.is_empty() {
            // A form without any filled field is empty.
            let needed =
                request.flag("required") && media.is_some() && operation.place.method != "get";
            return needed
                .then(|| "the required body is missing".to_owned())
                .into_iter()
                .collect();
        }
        let (Some((_, media)), Ok(mut value)) = (media, serde_json::from_str::<Value>(sent)) else {
            return Vec::new();
        };
        without_credentials(&mut value);
        let graphql = operation
            .node
            .get(keys::KEY)
            .and_then(|own| own.text("graphql"));
        if let Some(document) = graphql {
            if value["query"].as_str().map(str::trim) != Some(document.trim()) {
                return vec!["the body does not carry the operation's GraphQL document".to_owned()];
            }
            value = value["variables"].take();
        }
        let measure = operation.place.body.get_or_init(|| self.measure(media));
        match measure {
            Body::Anything => Vec::new(),
            Body::Broken => vec!["the body's schema is not valid JSON Schema".to_owned()],
            Body::Schema(validator) => {
                let faults = validator.iter_errors(&value).take(5).map(|fault| {
                    let place = fault.instance_path().to_string();
                    format!("the body does not fit its schema at `{place}`: {fault}")
                });
                faults.collect()
            }
        }
    }

    fn measure(&self, media: Node<'_>) -> Body {
        let Some(schema) = media.get("schema") else {
            return Body::Anything;
        };
        let mut expander = Expander::new(&self.docs, BOUNDS);
        let schema = Value::Object(expander.expand(schema));
        if expander.over {
            return Body::Anything;
        }
        jsonschema::validator_for(&schema)
            .map_or(Body::Broken, |validator| Body::Schema(Box::new(validator)))
    }
}

/// Whether the path ends as the operation's template says, with something for each `{parameter}`.
fn path_fault(template: &str, url: &Url) -> Option<String> {
    let template = template.split(['#', '?']).next().unwrap_or_default();
    let mut pattern = String::new();
    let mut rest = template;
    while let Some((text, after)) = rest.split_once('{') {
        pattern.push_str(&regex::escape(text));
        pattern.push_str(".+");
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    pattern.push_str(&regex::escape(rest));
    let fits = regex::Regex::new(&format!("{pattern}/?$"));
    let fits = fits.is_ok_and(|fits| fits.is_match(url.path()));
    (!fits).then(|| format!("the path {} is not {template}", url.path()))
}

/// Removes the fields that the host adds.
fn without_credentials(value: &mut Value) {
    if let Value::Object(members) = value {
        let own = |value: &Value| value.as_str().is_some_and(|text| text.contains("[slot "));
        let kept = std::mem::take(members).into_iter();
        *members = kept.filter(|(_, value)| !own(value)).collect::<Map<_, _>>();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn description() -> Description {
        let text = json!({
            "openapi": "3.1.0",
            "info": { "title": "Widgets", "version": "1.0.0" },
            "paths": {
                "/widgets/{id}": {
                    "parameters": [{ "name": "id", "in": "path", "required": true }],
                    "patch": {
                        "operationId": "update_widget",
                        "parameters": [
                            { "name": "fields", "in": "query", "required": true, "schema": { "type": "string" } },
                            { "name": "X-Version", "in": "header", "required": true, "schema": { "type": "string" } },
                            { "name": "notify", "in": "query", "schema": { "type": "boolean" } },
                        ],
                        "requestBody": { "required": true, "content": { "application/json": { "schema": {
                            "$ref": "#/components/schemas/Widget" } } } },
                    },
                },
                "/graphql#ask": { "post": {
                    "operationId": "ask",
                    "x-toolgate": { "graphql": "query($id: ID!) { widget(id: $id) { name } }" },
                    "requestBody": { "required": true, "content": { "application/json": { "schema": {
                        "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } } } } },
                } },
            },
            "components": { "schemas": { "Widget": {
                "type": "object", "required": ["name"], "additionalProperties": false,
                "properties": { "name": { "type": "string" }, "size": { "type": "integer", "maximum": 9 } },
            } } },
        });
        Description::new(Documents::from_value("widgets.json", text), "widgets")
    }

    fn request(method: &str, url: &str, headers: &[(&str, &str)], body: &Value) -> PlannedRequest {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        PlannedRequest {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: headers.iter().map(own).collect(),
            body: body
                .as_str()
                .map_or_else(|| body.to_string(), str::to_owned),
            body_base64: None,
        }
    }

    const URL: &str = "https://api.widgets.io/v1/widgets/7?fields=name";
    const VERSION: [(&str, &str); 1] = [("x-version", "2")];

    #[test]
    fn a_request_that_the_description_requires_passes() {
        let body = json!({ "name": "a", "size": 3, "token": "[slot key]" });
        let sent = request("PATCH", URL, &VERSION, &body);
        let wrong = description().judge("update_widget", &sent);
        assert_eq!(wrong, Vec::<String>::new());
        let body = json!({ "query": "query($id: ID!) { widget(id: $id) { name } }", "variables": { "id": "7" } });
        let sent = request("POST", "https://api.widgets.io/graphql", &[], &body);
        assert_eq!(description().judge("ask", &sent), Vec::<String>::new());
    }

    #[test]
    fn every_other_request_is_reported_with_its_fault() {
        let body = json!({ "name": "a" });
        let to = "https://api.widgets.io/v1";
        for (tool, method, url, headers, body, fault) in [
            (
                "update_widget",
                "PUT",
                URL,
                &VERSION[..],
                body.clone(),
                "PUT is sent in place of PATCH",
            ),
            (
                "update_widget",
                "PATCH",
                &format!("{to}/widgets?fields=a"),
                &VERSION,
                body.clone(),
                "the path /v1/widgets is not /widgets/{id}",
            ),
            (
                "update_widget",
                "PATCH",
                &format!("{to}/widgets/?fields=a"),
                &VERSION,
                body.clone(),
                "the path /v1/widgets/ is not /widgets/{id}",
            ),
            (
                "update_widget",
                "PATCH",
                &format!("{to}/widgets/7?notify=true"),
                &VERSION,
                body.clone(),
                "query parameter `fields` is missing",
            ),
            (
                "update_widget",
                "PATCH",
                URL,
                &[],
                body.clone(),
                "header parameter `X-Version` is missing",
            ),
            (
                "update_widget",
                "PATCH",
                URL,
                &VERSION,
                json!(""),
                "the required body is missing",
            ),
            (
                "update_widget",
                "PATCH",
                URL,
                &VERSION,
                json!({ "size": 3 }),
                "\"name\" is a required property",
            ),
            (
                "update_widget",
                "PATCH",
                URL,
                &VERSION,
                json!({ "name": "a", "size": 12 }),
                "at `/size`",
            ),
            (
                "update_widget",
                "PATCH",
                URL,
                &VERSION,
                json!({ "name": "a", "colour": 1 }),
                "colour",
            ),
            (
                "ask",
                "POST",
                "https://api.widgets.io/graphql",
                &[],
                json!({ "query": "query { all }", "variables": { "id": "7" } }),
                "GraphQL document",
            ),
            (
                "ask",
                "POST",
                "https://api.widgets.io/graphql",
                &[],
                json!({ "query": "query($id: ID!) { widget(id: $id) { name } }", "variables": {} }),
                "\"id\" is a required property",
            ),
            (
                "delete_widget",
                "DELETE",
                URL,
                &VERSION,
                json!(""),
                "no operation for this tool",
            ),
        ] {
            let sent = request(method, url, headers, &body);
            let wrong = description().judge(tool, &sent);
            assert_eq!(wrong.len(), 1, "{fault}: {wrong:?}");
            assert!(wrong[0].contains(fault), "{fault}: {wrong:?}");
        }
    }
}
