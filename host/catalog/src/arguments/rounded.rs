//! Integers that were rounded before they came here, because another parser read them.

use serde_json::Value;

use super::{Violation, violation};
use crate::parse::push_segment;

/// Refuses whole numbers that were rounded before they came here: past 2^53 a floating point number does not say which
/// digits were written. Only where an integer is asked for; any other number is one of many that are near.
pub(crate) fn rounded(schema: &Value, arguments: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    find_rounded(schema, arguments, &mut String::new(), &mut found);
    found
}

fn find_rounded(schema: &Value, value: &Value, path: &mut String, found: &mut Vec<Violation>) {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let length = path.len();
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number
                .as_f64()
                .is_some_and(|n| n.fract() == 0.0 && n.abs() >= EXACT_MAX);
            if whole && schema.get("type") == Some(&Value::from("integer")) {
                found.push(violation(
                    path.clone(),
                    "has more digits than a JSON number keeps on this way; write it as a text with all of them".to_owned(),
                ));
            }
        }
        Value::Array(items) => {
            let inner = schema.get("items").unwrap_or(&Value::Null);
            for (index, item) in items.iter().enumerate() {
                push_segment(path, &index.to_string());
                find_rounded(inner, item, path, found);
                path.truncate(length);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let inner = schema.get("properties").and_then(|all| all.get(name));
                push_segment(path, name);
                find_rounded(inner.unwrap_or(&Value::Null), member, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rounded_integer_is_refused_with_its_place_and_a_number_is_not() {
        let schema = json!({"properties": {
            "id": {"type": "integer"},
            "size": {"type": "number"},
            "list": {"items": {"properties": {"id": {"type": "integer"}}}}
        }});
        let big = 3.689_348_814_741_910_3e19;
        let found = |arguments: &Value| -> Vec<String> {
            let all = rounded(&schema, arguments).into_iter();
            all.map(|violation| violation.path).collect()
        };
        assert_eq!(found(&json!({"id": big, "size": big})), ["/id"]);
        assert_eq!(
            found(&json!({"list": [{"id": 1}, {"id": -big}]})),
            ["/list/1/id"]
        );
        for exact in [
            json!({"id": 7.0}),
            json!({"id": u64::MAX}),
            json!({"id": 1.5}),
        ] {
            assert!(found(&exact).is_empty(), "{exact}");
        }
    }
}
