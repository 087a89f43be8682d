//! Integers that were rounded before they came here, because another parser read them.

use serde_json::{Number, Value};

use super::places::SchemaPlaces;
use super::{Violation, violation};
use crate::parse::push_segment;
use toolgate_core::exact::ExactNumbers;

/// Refuses whole numbers that were rounded before they came here: past 2^53 a floating point number does not say which
/// digits were written. Only where an integer is asked for; any other number is one of many that are near. `exact`: what
/// is known of the digits.
pub(crate) fn rounded(
    places: SchemaPlaces<'_>,
    arguments: &Value,
    exact: &ExactNumbers,
) -> Vec<Violation> {
    let mut found = Vec::new();
    if has_large(arguments) {
        find_rounded(
            places,
            &[places.root],
            arguments,
            &mut String::new(),
            &mut found,
        );
        found.retain(|path| !exact.get(path).is_some_and(is_integer));
    }
    let lost =
        "has more digits than a JSON number keeps on this way; write it as a text with all of them";
    found
        .into_iter()
        .map(|path| violation(path, lost.to_owned()))
        .collect()
}

/// Whether a number is written as an integer with all of its digits.
fn is_integer(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_large(number: &Number) -> bool {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|_| number.is_f64());
    float.is_some_and(|n| n.fract() == 0.0 && n.abs() >= EXACT_MAX)
}

fn has_large(value: &Value) -> bool {
    match value {
        Value::Number(number) => is_large(number),
        Value::Array(items) => items.iter().any(has_large),
        Value::Object(members) => members.values().any(has_large),
        _ => false,
    }
}

fn find_rounded<'s>(
    places: SchemaPlaces<'s>,
    place: &[&'s Value],
    value: &Value,
    path: &mut String,
    found: &mut Vec<String>,
) {
    let length = path.len();
    match value {
        Value::Number(number) if is_large(number) && places.kinds(place).wants_integer() => {
            found.push(path.clone());
        }
        Value::Array(items) => {
            let open = places.open(place);
            for (index, value) in items.iter().enumerate() {
                push_segment(path, &index.to_string());
                find_rounded(places, &places.item(&open, index), value, path, found);
                path.truncate(length);
            }
        }
        Value::Object(members) => {
            let open = places.open(place);
            for (name, value) in members {
                push_segment(path, name);
                find_rounded(places, &places.member(&open, name), value, path, found);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_rounded_integer_is_refused_with_its_place_and_a_number_is_not() {
        let schema = json!({"properties": {
            "id": {"type": "integer"},
            "size": {"type": "number"},
            "list": {"items": {"properties": {"id": {"type": "integer"}}}},
            "ref": {"$ref": "#/$defs/id"},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "maybe": {"type": ["integer", "null"]}
        }, "$defs": {"id": {"type": "integer"}}});
        let big = 3.689_348_814_741_910_3e19;
        let knowing = |arguments: &Value, exact: &ExactNumbers| -> Vec<String> {
            let left = Cell::new(u64::MAX);
            let places = SchemaPlaces::new(&schema, &left);
            let all = rounded(places, arguments, exact).into_iter();
            all.map(|violation| violation.path).collect()
        };
        let found = |arguments: &Value| knowing(arguments, &ExactNumbers::default());
        assert_eq!(found(&json!({"id": big, "size": big})), ["/id"]);
        assert_eq!(
            found(&json!({"list": [{"id": 1}, {"id": -big}]})),
            ["/list/1/id"]
        );
        for name in ["ref", "either", "maybe"] {
            assert_eq!(found(&json!({ name: big })), [format!("/{name}")]);
        }
        for exact in [
            json!({"id": 7.0}),
            json!({"id": u64::MAX}),
            json!({"id": 1.5}),
        ] {
            assert!(found(&exact).is_empty(), "{exact}");
        }
        for (token, kept) in [
            ("36893488147419103232", true),
            ("-36893488147419103232", true),
            ("3.6893488147419103e+19", false),
            ("36893488147419103232.0", false),
        ] {
            let mut exact = ExactNumbers::default();
            exact.note("/id", token);
            let left = knowing(&json!({"id": big}), &exact);
            assert_eq!(left.is_empty(), kept, "{token}");
        }
    }
}
