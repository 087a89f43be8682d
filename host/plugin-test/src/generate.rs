//! Arguments made from a schema: the required ones alone, or all.

use serde_json::{Map, Value, json};

/// Deepest nesting that is filled.
const DEPTH_MAX: usize = 12;

/// Which properties are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Required,
    All,
}

/// A value that a schema accepts, by the keywords that are supported here.
pub fn value(schema: &Value, fill: Fill) -> Value {
    generate_value(schema, fill, 0)
}

fn generate_value(schema: &Value, fill: Fill, depth: usize) -> Value {
    let word = |key: &str| schema.get(key);
    if let Some(value) = word("const") {
        return value.clone();
    }
    if let Some(first) = word("enum")
        .and_then(Value::as_array)
        .and_then(|list| list.first())
    {
        return first.clone();
    }
    let list_first = |key: &str| {
        word(key)
            .and_then(Value::as_array)
            .and_then(|list| list.first())
    };
    if let Some(value) = word("default").or_else(|| list_first("examples")) {
        return value.clone();
    }
    let kind = match word("type") {
        Some(Value::Array(kinds)) => kinds
            .iter()
            .filter_map(Value::as_str)
            .find(|kind| *kind != "null"),
        Some(Value::String(kind)) => Some(kind.as_str()),
        _ => None,
    };
    let kind = kind
        .or_else(|| word("properties").map(|_| "object"))
        .unwrap_or_else(|| {
            if word("anyOf").or(word("oneOf")).is_some() {
                "choice"
            } else {
                "string"
            }
        });
    match kind {
        "object" => object(schema, fill, depth),
        "array" => {
            let least = word("minItems").and_then(Value::as_u64).unwrap_or(0);
            let count = if fill == Fill::All {
                least.max(1)
            } else {
                least
            };
            let items = word("items")
                .cloned()
                .unwrap_or_else(|| json!({"type": "string"}));
            (0..count.min(10))
                .map(|_| generate_value(&items, fill, depth + 1))
                .collect()
        }
        "integer" | "number" => number(schema, kind == "integer"),
        "boolean" => json!(true),
        "null" => Value::Null,
        "choice" => list_first("anyOf")
            .or_else(|| list_first("oneOf"))
            .map_or(Value::Null, |one| generate_value(one, fill, depth + 1)),
        _ => text(schema),
    }
}

fn object(schema: &Value, fill: Fill, depth: usize) -> Value {
    let mut made = Map::new();
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let wanted = required.contains(&name.as_str()) || (fill == Fill::All && depth < DEPTH_MAX);
        // A cursor comes from the previous page.
        if wanted && !(depth == 0 && name == "cursor") {
            made.insert(name.clone(), generate_value(property, fill, depth + 1));
        }
    }
    // `minProperties` where the names are free.
    let least = schema.get("minProperties").and_then(Value::as_u64);
    let other = schema
        .get("additionalProperties")
        .filter(|other| other.is_object());
    let properties = schema.get("properties").and_then(Value::as_object);
    let known = properties.into_iter().flatten();
    let known = known.map(|(name, property)| (name.clone(), Some(property)));
    let free = (1..).map(|n| (format!("example{n}"), other));
    for (name, schema) in known.chain(free) {
        if made.len() as u64 >= least.unwrap_or(0).min(10) {
            break;
        }
        let value = schema.map_or(json!("example"), |schema| {
            generate_value(schema, fill, depth + 1)
        });
        made.entry(name).or_insert(value);
    }
    made.into()
}

fn number(schema: &Value, integer: bool) -> Value {
    let word = |key: &str| schema.get(key).and_then(Value::as_f64);
    let least = word("minimum").or_else(|| word("exclusiveMinimum").map(|n| n + 1.0));
    let most = word("maximum").or_else(|| word("exclusiveMaximum").map(|n| n - 1.0));
    let step = word("multipleOf").unwrap_or(1.0);
    let wish = match (least, most) {
        (Some(least), _) => least,
        (None, Some(most)) => most.min(1.0),
        (None, None) => 1.0,
    };
    let value = (wish / step).ceil() * step;
    if integer || value.fract() == 0.0 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

fn text(schema: &Value) -> Value {
    let word = |key: &str| schema.get(key).and_then(Value::as_str);
    let formatted = match word("format") {
        Some("date") => Some("2026-03-31"),
        Some("date-time") => Some("2026-03-31T12:00:00Z"),
        Some("time") => Some("12:00:00Z"),
        Some("duration") => Some("PT1H"),
        Some("email") => Some("anna@example.com"),
        Some("uri" | "url") => Some("https://example.com/a"),
        Some("uuid") => Some("00000000-0000-4000-8000-000000000000"),
        Some("hostname") => Some("example.com"),
        Some("ipv4") => Some("192.0.2.1"),
        Some("ipv6") => Some("2001:db8::1"),
        Some("byte") => Some("YQ=="),
        _ => None,
    };
    let mut made = formatted.unwrap_or("example").to_owned();
    if let Some(pattern) = word("pattern").and_then(|pattern| regex::Regex::new(pattern).ok()) {
        let wish = made.clone();
        let tries = [
            wish.as_str(),
            "1",
            "8863",
            "a",
            "EXAMPLE",
            "EUR",
            "en",
            "EN",
            "en-US",
            "2026-03-31",
            "2026-03",
            "00000000-0000-4000-8000-000000000000",
            "anna@example.com",
            "#ffffff",
            "ffffff",
            "+15550100",
            "https://example.com",
            "a/b",
            "A1",
            "U0123ABCD",
            "C0123ABCD",
            "0123456789abcdef01234567",
            "12:00",
            "3h",
            "1.0",
            "52.5,13.4",
            "/a",
        ];
        if let Some(fit) = tries.into_iter().find(|text| pattern.is_match(text)) {
            made = fit.to_owned();
        }
    }
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0) as usize;
    while made.chars().count() < least.min(10_000) {
        made.push('x');
    }
    if let Some(most) = schema.get("maxLength").and_then(Value::as_u64) {
        made = made.chars().take(most as usize).collect();
    }
    Value::from(made)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Fill, value};

    #[test]
    fn required_arguments_alone_or_all_of_them() {
        let schema = json!({"type": "object", "required": ["id"], "properties": {
            "id": {"type": "string", "pattern": "^[0-9]+$"}, "limit": {"type": "integer", "minimum": 5},
            "kind": {"enum": ["b"]}, "when": {"type": "string", "format": "date"}, "cursor": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}},
            "either": {"anyOf": [{"type": "object", "properties": {"x": {"type": "boolean"}}}]}}});
        assert_eq!(value(&schema, Fill::Required), json!({"id": "1"}));
        assert_eq!(
            value(&schema, Fill::All),
            json!({"id": "1", "limit": 5, "kind": "b", "when": "2026-03-31", "tags": ["exa"], "either": {"x": true}})
        );
        assert!(jsonschema::is_valid(&schema, &value(&schema, Fill::All)));
    }

    #[test]
    fn an_object_has_as_many_properties_as_it_needs() {
        let schema = json!({"type": "object", "minProperties": 2, "properties": {"name": {"type": "string"}},
            "additionalProperties": {"type": "integer"}});
        assert_eq!(
            value(&schema, Fill::Required),
            json!({"name": "example", "example1": 1})
        );
    }
}
