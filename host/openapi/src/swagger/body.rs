//! The parameters of Swagger 2.0 in `body` and `formData` as a request body.

use serde_json::{Map, Value, json};

use super::{schema_of, style};

pub(super) fn request_body(parameters: &[Value], consumes: &[String]) -> Option<Value> {
    let whole = parameters
        .iter()
        .find(|p| p.get("in").and_then(Value::as_str) == Some("body"));
    match whole {
        Some(body) => Some(body_content(body, consumes)),
        None => form_content(parameters, consumes),
    }
}

/// A parameter in `body` as a request body.
fn body_content(body: &Value, consumes: &[String]) -> Value {
    let schema = body.get("schema").cloned().unwrap_or_else(|| json!({}));
    let json = ["application/json".to_owned()];
    let types = if consumes.is_empty() { &json } else { consumes };
    let content: Map<String, Value> = types
        .iter()
        .map(|media| (media.clone(), json!({"schema": schema})))
        .collect();
    json!({
        "content": content,
        "required": body.get("required").cloned().unwrap_or(Value::Bool(false)),
        "description": body.get("description").cloned().unwrap_or(Value::Null),
    })
}

/// Parameters in `formData` as a request body: multipart where it has a file.
fn form_content(parameters: &[Value], consumes: &[String]) -> Option<Value> {
    let fields: Vec<&Value> = parameters
        .iter()
        .filter(|p| p.get("name").is_some())
        .collect();
    if fields.is_empty() {
        return None;
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut encoding = Map::new();
    let mut file = false;
    for field in fields {
        let Value::Object(mut map) = field.clone() else {
            continue;
        };
        let name = map
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let format = map.shift_remove("collectionFormat");
        if map.get("type").and_then(Value::as_str) == Some("array") {
            let (style, explode) = style(format.as_ref());
            encoding.insert(name.clone(), json!({"style": style, "explode": explode}));
        }
        file |= map.get("type").and_then(Value::as_str) == Some("file");
        if map.get("required") == Some(&Value::Bool(true)) {
            required.push(name.clone());
        }
        let mut schema = schema_of(&mut map);
        for key in ["description", "x-toolgate"] {
            if let (Some(schema), Some(value)) = (schema.as_object_mut(), map.shift_remove(key)) {
                schema.insert(key.to_owned(), value);
            }
        }
        properties.insert(name, schema);
    }
    let multipart = file || consumes.iter().any(|media| media == "multipart/form-data");
    let urlencoded = consumes
        .iter()
        .any(|media| media == "application/x-www-form-urlencoded");
    let media = if multipart && (file || !urlencoded) {
        "multipart/form-data"
    } else {
        "application/x-www-form-urlencoded"
    };
    let schema = json!({"type": "object", "properties": properties, "required": required});
    Some(json!({"content": {media: {"schema": schema, "encoding": encoding}}, "required": true}))
}
