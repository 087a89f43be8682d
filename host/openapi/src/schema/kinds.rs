//! One value: its type, its bounds, its format, in the keywords of JSON Schema 2020-12.

use serde_json::{Map, Value, json};

const PATTERN_COMPILED_BYTES_MAX: usize = 256 * 1024;

const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "time",
    "duration",
    "email",
    "uri",
    "uuid",
    "hostname",
    "ipv4",
    "ipv6",
    "password",
    "byte",
];

/// Whether a pattern runs in linear time.
pub fn usable_pattern(pattern: &str) -> bool {
    regex::RegexBuilder::new(pattern)
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .build()
        .is_ok()
}

/// `type` as JSON Schema 2020-12 writes it.
pub(super) fn kind(map: &Map<String, Value>) -> Option<Value> {
    let known = |text: &str| match text.to_ascii_lowercase().as_str() {
        "string" | "str" | "file" | "date" | "datetime" | "date-time" | "uuid" | "text"
        | "binary" => Some("string"),
        "integer" | "int" | "int32" | "int64" | "long" => Some("integer"),
        "number" | "float" | "double" | "decimal" => Some("number"),
        "boolean" | "bool" => Some("boolean"),
        "array" | "list" => Some("array"),
        "object" | "map" | "dict" => Some("object"),
        "null" => Some("null"),
        _ => None,
    };
    match map.get("type") {
        Some(Value::String(text)) => known(text).map(Value::from),
        Some(Value::Array(kinds)) => {
            let mut list: Vec<&str> = Vec::new();
            for kind in kinds.iter().filter_map(Value::as_str).map(known) {
                match kind {
                    Some(kind) if !list.contains(&kind) => list.push(kind),
                    Some(_) => {}
                    None => return None,
                }
            }
            match list.as_slice() {
                [] => None,
                [one] => Some(json!(one)),
                many => Some(json!(many)),
            }
        }
        _ if map.get("properties").is_some_and(Value::is_object) => Some(json!("object")),
        _ if map.get("items").is_some_and(Value::is_object) => Some(json!("array")),
        _ => None,
    }
}

/// Whether a value is of a `type`.
pub(super) fn is_of(value: &Value, kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(value, kind)),
        Value::String(kind) => match kind.as_str() {
            "string" => value.is_string(),
            "integer" => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
            }
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            _ => true,
        },
        _ => true,
    }
}

pub(super) fn allow_null(made: &mut Map<String, Value>) {
    match made.get_mut("type") {
        Some(Value::Array(kinds)) => {
            if !kinds.iter().any(|kind| kind == "null") {
                kinds.push(json!("null"));
            }
        }
        Some(kind) if kind != "null" => *kind = json!([kind.clone(), "null"]),
        Some(_) => {}
        None => return,
    }
    if let Some(Value::Array(options)) = made.get_mut("enum")
        && !options.contains(&Value::Null)
    {
        options.push(Value::Null);
    }
}

/// Numbers, lengths and formats; those of draft 4 in their newer form.
pub(super) fn scalars(map: &Map<String, Value>, made: &mut Map<String, Value>) {
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        let number = map.get(bound).filter(|value| value.is_number());
        match (number, map.get(exclusive)) {
            (Some(number), Some(Value::Bool(true))) => {
                made.insert(exclusive.to_owned(), number.clone());
            }
            (number, strict) => {
                if let Some(number) = number {
                    made.insert(bound.to_owned(), number.clone());
                }
                if let Some(strict) = strict.filter(|value| value.is_number()) {
                    made.insert(exclusive.to_owned(), strict.clone());
                }
            }
        }
    }
    for key in [
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ] {
        if let Some(number) = map.get(key).filter(|value| value.is_u64()) {
            made.insert(key.to_owned(), number.clone());
        }
    }
    if let Some(number) = map
        .get("multipleOf")
        .filter(|value| value.as_f64().is_some_and(|n| n > 0.0))
    {
        made.insert("multipleOf".to_owned(), number.clone());
    }
    if map.get("uniqueItems") == Some(&Value::Bool(true)) {
        made.insert("uniqueItems".to_owned(), json!(true));
    }
    if map.get("deprecated") == Some(&Value::Bool(true)) {
        made.insert("deprecated".to_owned(), json!(true));
    }
    let format = map.get("format").and_then(Value::as_str);
    if let Some(format) = format.filter(|format| FORMATS.contains(format)) {
        made.insert("format".to_owned(), json!(format));
    }
}
