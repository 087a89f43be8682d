//! OpenAPI 3.2 as 3.1: what is only written differently is rewritten, and what cannot be sent is noted. Nested tags,
//! names of servers and of `$self`, and the forms of examples change nothing of a request.

use serde_json::{Map, Value, json};

use crate::problem::{Notes, below};

/// Deepest nesting that is searched.
const DEPTH_MAX: usize = 256;
/// Longest chain of `$ref` to `$ref`.
const HOPS_MAX: usize = 32;
/// Bytes that are copied in place of references, in all: a short reference may name something long, or itself.
const COPIED_BYTES_MAX: usize = 64 << 20;
/// What a value takes beside its text, in bytes.
const VALUE_BYTES: usize = 32;
const METHODS: [&str; 8] = [
    "get", "head", "post", "put", "patch", "delete", "options", "trace",
];

/// Whether a document is OpenAPI of a version after 3.1.
pub fn is_newer(document: &Value) -> bool {
    // Without quotes YAML reads a number.
    let version = document.get("openapi");
    let version = version.map(|text| {
        text.as_str()
            .map_or_else(|| text.to_string(), str::to_owned)
    });
    let minor = version
        .as_deref()
        .and_then(|version| version.strip_prefix("3."))
        .and_then(|rest| rest.split('.').next())
        .and_then(|minor| minor.parse::<u64>().ok());
    minor.is_some_and(|minor| minor >= 2)
}

/// Rewrites a document of a newer version.
pub fn convert(mut document: Value, notes: &mut Notes) -> Value {
    let own = document.get("$self").and_then(Value::as_str);
    if let Some(own) = own.filter(|own| !own.is_empty()).map(str::to_owned) {
        local_references(&mut document, &own, DEPTH_MAX);
    }
    let original = document.clone();
    let mut copies = CopyBudget::default();
    shared_media_types(&mut document, &original, DEPTH_MAX, &mut copies);
    let paths = document.get_mut("paths").and_then(Value::as_object_mut);
    for (path, item) in paths.into_iter().flatten() {
        let at = below("/paths", path);
        let Some(item) = item.as_object_mut() else {
            continue;
        };
        note_other_methods(item, &at, notes);
        whole_query(item, &original, &mut copies);
        for method in METHODS {
            if let Some(operation) = item.get_mut(method).and_then(Value::as_object_mut) {
                whole_query(operation, &original, &mut copies);
                read_streams(operation, &below(&at, method), notes);
            }
        }
    }
    if copies.left.is_none() {
        notes.changed(
            "",
            "shared parts are named too often; some of them are left out",
        );
    }
    document
}

/// How much may still be copied. `None`: something did not fit, and nothing is copied any more.
struct CopyBudget {
    left: Option<usize>,
}

impl Default for CopyBudget {
    fn default() -> Self {
        Self {
            left: Some(COPIED_BYTES_MAX),
        }
    }
}

impl CopyBudget {
    /// Whether a copy of this value fits.
    fn takes(&mut self, value: &Value) -> bool {
        self.left = self.left.and_then(|left| left_behind(value, left));
        self.left.is_some()
    }
}

/// What is left of a budget after a value.
fn left_behind(value: &Value, left: usize) -> Option<usize> {
    let left = left.checked_sub(VALUE_BYTES)?;
    match value {
        Value::String(text) => left.checked_sub(text.len()),
        Value::Array(items) => items
            .iter()
            .try_fold(left, |left, item| left_behind(item, left)),
        Value::Object(map) => map.iter().try_fold(left, |left, (key, inner)| {
            left_behind(inner, left.checked_sub(key.len())?)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(left),
    }
}

/// References to the document by its own address lead into the document.
fn local_references(value: &mut Value, own: &str, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                match inner {
                    Value::String(reference) if key == "$ref" => {
                        let local = reference.strip_prefix(own);
                        if let Some(local) = local.filter(|rest| rest.starts_with('#')) {
                            *reference = local.to_owned();
                        }
                    }
                    inner => local_references(inner, own, depth - 1),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                local_references(item, own, depth - 1);
            }
        }
        _ => {}
    }
}

/// A media type that refers to `components.mediaTypes` is replaced by what it means.
fn shared_media_types(value: &mut Value, root: &Value, depth: usize, copies: &mut CopyBudget) {
    if depth == 0 {
        return;
    }
    let inner: Vec<&mut Value> = match value {
        Value::Object(map) => {
            let is_shared = |value: &Value| {
                let reference = value.get("$ref").and_then(Value::as_str);
                reference.is_some_and(|text| text.starts_with("#/components/mediaTypes/"))
            };
            if let Some(Value::Object(content)) = map.get_mut("content") {
                for media in content.values_mut().filter(|media| is_shared(media)) {
                    let meant = resolved(media, root);
                    if copies.takes(meant) {
                        *media = meant.clone();
                    }
                }
            }
            map.values_mut().collect()
        }
        Value::Array(items) => items.iter_mut().collect(),
        _ => return,
    };
    for inner in inner {
        shared_media_types(inner, root, depth - 1, copies);
    }
}

fn resolved<'v>(value: &'v Value, root: &'v Value) -> &'v Value {
    let mut value = value;
    for _ in 0..HOPS_MAX {
        let reference = value.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|text| text.strip_prefix('#'));
        match pointer.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => value = target,
            None => break,
        }
    }
    value
}

fn note_other_methods(item: &Map<String, Value>, at: &str, notes: &mut Notes) {
    if item.get("query").is_some_and(Value::is_object) {
        notes.left_out(&below(at, "query"), "the method QUERY is not sent");
    }
    let others = item.get("additionalOperations").and_then(Value::as_object);
    for method in others.into_iter().flat_map(Map::keys) {
        let at = below(&below(at, "additionalOperations"), method);
        notes.left_out(
            &at,
            "a method other than those of HTTP's standard is not sent",
        );
    }
}

/// A parameter that is the whole query (`in: querystring`) becomes one parameter for each field, where it is a form.
fn whole_query(owner: &mut Map<String, Value>, root: &Value, copies: &mut CopyBudget) {
    let Some(Value::Array(parameters)) = owner.get_mut("parameters") else {
        return;
    };
    let mut made = Vec::new();
    for parameter in std::mem::take(parameters) {
        let meant = resolved(&parameter, root);
        match query_fields(meant, root, copies) {
            Some(fields) => made.extend(fields),
            None => made.push(parameter),
        }
    }
    *parameters = made;
}

fn query_fields(parameter: &Value, root: &Value, copies: &mut CopyBudget) -> Option<Vec<Value>> {
    if parameter.get("in")?.as_str()? != "querystring" {
        return None;
    }
    let media = parameter
        .get("content")?
        .get("application/x-www-form-urlencoded")?;
    let schema = resolved(media.get("schema")?, root);
    if !copies.takes(schema) {
        return None;
    }
    let required = crate::schema::names(schema.get("required"));
    let fields = schema.get("properties")?.as_object()?;
    let made = fields.iter().map(|(name, field)| {
        let mut made = json!({"name": name, "in": "query", "schema": field});
        made["required"] = json!(required.contains(name));
        if let Some(text) = field.get("description") {
            made["description"] = text.clone();
        }
        made
    });
    Some(made.collect())
}

/// A response of many items (`itemSchema`) is read like any other: to its end, and not as a file.
fn read_streams(operation: &mut Map<String, Value>, at: &str, notes: &mut Notes) {
    if !has_stream(operation) {
        return;
    }
    let own = operation.entry("x-toolgate").or_insert_with(|| json!({}));
    if let Some(own) = own.as_object_mut() {
        own.entry("download").or_insert(json!(false));
    }
    notes.changed(
        at,
        "the answer is a stream of items; it is read to its end, within the limits of an answer",
    );
}

fn has_stream(operation: &Map<String, Value>) -> bool {
    let responses = operation.get("responses").and_then(Value::as_object);
    let mut successes = responses
        .into_iter()
        .flatten()
        .filter(|(status, _)| status.starts_with('2'))
        .filter_map(|(_, response)| response.get("content")?.as_object());
    successes.any(|content| {
        let mut media = content.values();
        media.any(|media| media.get("itemSchema").is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_later_version_is_newer() {
        for (version, newer) in [
            ("3.2.0", true),
            ("3.10", true),
            ("3.1.1", false),
            ("3.0.3", false),
        ] {
            assert_eq!(is_newer(&json!({"openapi": version})), newer, "{version}");
        }
        assert!(is_newer(&json!({"openapi": 3.2})));
        assert!(!is_newer(&json!({"swagger": "2.0"})));
    }

    /// In the form of the examples of <https://spec.openapis.org/oas/v3.2.0.html>.
    #[test]
    fn what_is_new_is_rewritten_or_noted() {
        let document = json!({
            "openapi": "3.2.0",
            "$self": "https://example.com/api.json",
            "components": {
                "mediaTypes": {"event": {"schema": {"type": "object"}, "itemSchema": {"type": "object"}}},
                "schemas": {"Filter": {"type": "object", "required": ["q"],
                    "properties": {"q": {"type": "string", "description": "What."}, "n": {"type": "integer"}}}},
            },
            "paths": {"/events": {
                "query": {"operationId": "ask"},
                "additionalOperations": {"COPY": {"operationId": "copy"}},
                "get": {
                    "parameters": [{"name": "all", "in": "querystring", "content": {"application/x-www-form-urlencoded":
                        {"schema": {"$ref": "https://example.com/api.json#/components/schemas/Filter"}}}},
                        {"name": "lang", "in": "query", "schema": {"type": "string"}}],
                    "responses": {"200": {"content": {"application/jsonl": {"$ref": "#/components/mediaTypes/event"}}}},
                },
            }},
        });
        let mut notes = Notes::default();
        let made = convert(document, &mut notes);
        let get = &made["paths"]["/events"]["get"];
        let names: Vec<(&str, bool)> = get["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["name"].as_str().unwrap(), one["required"] == true))
            .collect();
        assert_eq!(names, [("q", true), ("n", false), ("lang", false)]);
        assert_eq!(get["parameters"][0]["description"], "What.");
        let media = &get["responses"]["200"]["content"]["application/jsonl"];
        assert_eq!(media["schema"]["type"], "object");
        let said: Vec<(&str, bool)> = notes
            .0
            .iter()
            .map(|note| (note.pointer.as_str(), note.left_out))
            .collect();
        assert_eq!(
            said,
            [
                ("/paths/~1events/query", true),
                ("/paths/~1events/additionalOperations/COPY", true),
                ("/paths/~1events/get", false),
            ]
        );
    }

    /// Each copy of `a` names `a` twice: without a bound there are 2^85 of them.
    #[test]
    fn shared_parts_that_name_themselves_are_bounded() {
        let again = json!({"$ref": "#/components/mediaTypes/a"});
        let media =
            json!({"inner": {"content": {"x": again, "y": again}}, "text": "x".repeat(100_000)});
        let document = json!({
            "openapi": "3.2.0",
            "components": {"mediaTypes": {"a": media}},
            "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": again}}}}}},
        });
        let mut notes = Notes::default();
        let made = convert(document, &mut notes);
        assert!(made.to_string().len() < 2 * COPIED_BYTES_MAX);
        let said = notes
            .0
            .iter()
            .any(|note| note.message.contains("named too often"));
        assert!(said, "{:?}", notes.0);
    }

    #[test]
    fn a_query_that_is_no_form_stays_for_the_reader_to_note() {
        let document = json!({"openapi": "3.2.0", "paths": {"/a": {"get": {"parameters": [
            {"name": "all", "in": "querystring", "content": {"application/json": {"schema": {}}}}]}}}});
        let made = convert(document, &mut Notes::default());
        let parameter = &made["paths"]["/a"]["get"]["parameters"][0];
        assert_eq!(parameter["in"], "querystring");
    }
}
