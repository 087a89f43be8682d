//! A server's JSON Schema as a manifest takes it: the same schema, with what older drafts say otherwise written in the
//! words of 2020-12. What still cannot be used is refused by the manifest's lint, with its sentence.

use serde_json::{Map, Value, json};

/// The dialect that a manifest may name.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords whose values are schemas by name.
const BY_NAME: &[&str] = &[
    "properties",
    "$defs",
    "definitions",
    "patternProperties",
    "dependentSchemas",
];
/// Keywords that may be `null`.
const VALUES: &[&str] = &["const", "default"];
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
const ONE: &[&str] = &[
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
];

/// A schema, and what of it was written anew.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedSchema {
    pub schema: Value,
    pub changes: Vec<&'static str>,
}

/// The schema of a tool's arguments, which are an object.
pub fn of_arguments(schema: Option<&Value>) -> FittedSchema {
    let Some(Value::Object(given)) = schema else {
        return FittedSchema {
            schema: json!({"type": "object"}),
            changes: vec!["has no schema of its arguments, so it takes any object"],
        };
    };
    let mut schema = given.clone();
    let mut changes = Vec::new();
    modernize(&mut schema, true, &mut changes);
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        schema.insert("type".to_owned(), "object".into());
        changes.push("its schema does not say `\"type\": \"object\"` at the top, which is added");
    }
    changes.sort_unstable();
    changes.dedup();
    FittedSchema {
        schema: schema.into(),
        changes,
    }
}

/// The schema of a tool's result. `None`: the server gives no usable schema.
pub fn of_result(schema: Option<&Value>) -> Option<Value> {
    let mut schema = schema?.as_object()?.clone();
    modernize(&mut schema, true, &mut Vec::new());
    Some(schema.into())
}

/// The changes are bounded by the parser's own limit of nesting.
fn modernize(schema: &mut Map<String, Value>, is_top: bool, changes: &mut Vec<&'static str>) {
    let dialect = schema.get("$schema").and_then(Value::as_str);
    if schema.contains_key("$schema") && !(is_top && dialect == Some(DIALECT)) {
        // Servers name the draft of their library, and write nothing that differs.
        schema.shift_remove("$schema");
    }
    if !is_top {
        schema.shift_remove("$id");
    }
    // Some serializers write keywords that are absent.
    let keywords = schema.len();
    schema.retain(|keyword, value| !value.is_null() || VALUES.contains(&keyword.as_str()));
    if schema.len() < keywords {
        changes.push("keywords of its schema that are `null` are left out");
    }
    if let Some(items @ Value::Array(_)) = schema.get("items").cloned() {
        rename(schema, "items", "prefixItems", items);
        if let Some(more) = schema.get("additionalItems").cloned() {
            rename(schema, "additionalItems", "items", more);
        }
        changes.push("a list of `items` of an older draft is written as `prefixItems`");
    }
    if let Some(Value::Object(all)) = schema.get("dependencies").cloned() {
        schema.shift_remove("dependencies");
        let (lists, schemas): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, v)| v.is_array());
        for (keyword, part) in [("dependentRequired", lists), ("dependentSchemas", schemas)] {
            if !part.is_empty() && !schema.contains_key(keyword) {
                let part: Map<String, Value> = part.into_iter().collect();
                schema.insert(keyword.to_owned(), part.into());
            }
        }
        changes.push("`dependencies` of an older draft are written as those of 2020-12");
    }
    for (keyword, value) in schema.iter_mut() {
        let keyword = keyword.as_str();
        let below: Vec<&mut Value> = match value {
            Value::Object(named) if BY_NAME.contains(&keyword) => named.values_mut().collect(),
            Value::Array(all) if LISTS.contains(&keyword) => all.iter_mut().collect(),
            one if ONE.contains(&keyword) => vec![one],
            _ => continue,
        };
        for schema in below.into_iter().filter_map(Value::as_object_mut) {
            modernize(schema, false, changes);
        }
    }
}

/// Puts a value under another keyword, at the same place.
fn rename(schema: &mut Map<String, Value>, from: &str, to: &str, value: Value) {
    let renamed = std::mem::take(schema).into_iter().map(|(key, old)| {
        if key == from {
            (to.to_owned(), value.clone())
        } else {
            (key, old)
        }
    });
    *schema = renamed.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_schema_stays_as_it_is() {
        let schema = json!({
            "type": "object",
            "properties": {
                "items": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                "dependencies": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["items"],
            "additionalProperties": false,
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
        });
        let fitted = of_arguments(Some(&schema));
        assert_eq!(fitted.schema.to_string(), schema.to_string());
        assert!(fitted.changes.is_empty());
    }

    #[test]
    fn older_drafts_are_written_anew() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            "properties": {
                "a": {"type": "array", "items": [{"type": "string"}], "additionalItems": false},
                "b": {"$schema": "x", "$id": "y", "type": "string"},
            },
            "dependencies": {"a": ["b"], "b": {"required": ["a"]}},
        });
        let fitted = of_arguments(Some(&schema));
        assert_eq!(
            fitted.schema,
            json!({
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
                "properties": {
                    "a": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
                    "b": {"type": "string"},
                },
                "dependentRequired": {"a": ["b"]},
                "dependentSchemas": {"b": {"required": ["a"]}},
                "type": "object",
            })
        );
        assert_eq!(fitted.changes.len(), 3, "{:?}", fitted.changes);
    }

    #[test]
    fn keywords_that_are_null_are_left_out() {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": null, "enum": null},
                "unit": {"const": null, "default": null},
            },
            "required": null,
            "additionalProperties": null,
            "$defs": null,
        });
        let fitted = of_arguments(Some(&schema));
        assert_eq!(
            fitted.schema,
            json!({"type": "object", "properties": {
                "city": {"type": "string"},
                "unit": {"const": null, "default": null},
            }})
        );
        assert_eq!(fitted.changes.len(), 1, "{:?}", fitted.changes);
    }

    #[test]
    fn no_schema_is_any_object() {
        for none in [None, Some(json!(null)), Some(json!(true)), Some(json!([]))] {
            let fitted = of_arguments(none.as_ref());
            assert_eq!(fitted.schema, json!({"type": "object"}));
            assert_eq!(fitted.changes.len(), 1);
        }
        assert_eq!(of_result(Some(&json!("x"))), None);
    }
}
