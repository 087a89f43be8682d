//! `allOf`: the constraints of several schemas in one.

use serde_json::{Map, Value, json};

/// Adds the constraints of one schema to another, whose own are kept.
pub(super) fn merge(made: &mut Map<String, Value>, part: Map<String, Value>) {
    // Each part of an `allOf` may be closed alone; together they are not.
    let closed =
        part.get("additionalProperties") == Some(&json!(false)) && made.contains_key("properties");
    for (key, value) in part {
        match (key.as_str(), made.get_mut(&key)) {
            ("additionalProperties", _) if closed => {}
            (_, None) => {
                made.insert(key, value);
            }
            ("properties", Some(Value::Object(old))) => {
                for (name, property) in value.as_object().cloned().unwrap_or_default() {
                    match (old.get_mut(&name), property) {
                        (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
                        (None, property) => {
                            old.insert(name, property);
                        }
                        _ => {}
                    }
                }
            }
            ("required", Some(Value::Array(old))) => {
                for name in value.as_array().into_iter().flatten() {
                    if !old.contains(name) {
                        old.push(name.clone());
                    }
                }
            }
            ("enum", Some(Value::Array(old))) => {
                let new = value.as_array().cloned().unwrap_or_default();
                let both: Vec<Value> = old
                    .iter()
                    .filter(|option| new.contains(option))
                    .cloned()
                    .collect();
                if !both.is_empty() {
                    *old = both;
                }
            }
            ("anyOf", Some(_)) => {
                let all = made.entry("allOf").or_insert_with(|| json!([]));
                if let Some(all) = all.as_array_mut() {
                    all.push(json!({"anyOf": value}));
                }
            }
            ("additionalProperties", Some(old)) if *old == json!(false) => *old = value,
            _ => {}
        }
    }
    if made.get("additionalProperties") == Some(&json!(false)) && closed {
        made.shift_remove("additionalProperties");
    }
}
