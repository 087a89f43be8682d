//! Arguments as models write them: a number in quotes, a list as JSON text, null for what is left out.
//!
//! Only what can mean one thing is changed: a text becomes a number, a truth value, a list or an object where the schema
//! takes no text there and the text is exactly that. Nothing is changed in arguments that fit as they are.

use serde_json::Value;

use super::ARGUMENTS_DEPTH_MAX;
use super::places::{Kinds, SchemaPlaces};
use crate::parse::push_segment;
use toolgate_core::exact::ExactNumbers;
use toolgate_core::json;

/// Most places that are reported.
const COERCED_MAX: usize = 100;

/// Changes what the schema does not take as it is. Answers the places of texts that were taken as something else.
/// Incomplete where the walk through the schema has spent all that it may.
pub(crate) fn coerce(
    places: SchemaPlaces<'_>,
    arguments: &mut Value,
    exact: &mut ExactNumbers,
) -> Vec<String> {
    let mut coercion = Coercion {
        places,
        exact,
        coerced: Vec::new(),
    };
    coercion.inside(
        arguments,
        &[places.root],
        &mut String::new(),
        ARGUMENTS_DEPTH_MAX,
    );
    coercion.coerced
}

struct Coercion<'s, 'e> {
    places: SchemaPlaces<'s>,
    exact: &'e mut ExactNumbers,
    coerced: Vec<String>,
}

impl<'s> Coercion<'s, '_> {
    fn inside(
        &mut self,
        value: &mut Value,
        place: &[&'s Value],
        pointer: &mut String,
        depth: usize,
    ) {
        if depth == 0 {
            return;
        }
        if let Value::String(text) = value
            && let Some(meant) = meant(text, self.places.kinds(place))
        {
            match &meant {
                // Digits that the value cannot hold are kept beside it.
                Value::Number(_) => self.exact.note(pointer, text),
                _ => self.exact.adopt(pointer, ExactNumbers::read(text)),
            }
            if self.coerced.len() < COERCED_MAX {
                self.coerced.push(pointer.clone());
            }
            *value = meant;
        }
        let length = pointer.len();
        match value {
            Value::Object(members) => {
                let places = self.places;
                let open = places.open(place);
                let absent = |name: &String, value: &Value| {
                    value.is_null() && {
                        let below = places.member(&open, name);
                        let described = !below.is_empty() && !places.requires(&open, name);
                        described && !places.kinds(&below).may_be("null")
                    }
                };
                members.retain(|name, value| !absent(name, value));
                for (name, value) in members.iter_mut() {
                    push_segment(pointer, name);
                    self.inside(value, &places.member(&open, name), pointer, depth - 1);
                    pointer.truncate(length);
                }
            }
            Value::Array(items) => {
                let places = self.places;
                let open = places.open(place);
                for (index, value) in items.iter_mut().enumerate() {
                    push_segment(pointer, &index.to_string());
                    self.inside(value, &places.item(&open, index), pointer, depth - 1);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }
}

/// The one value that a text can mean where no text is taken.
fn meant(text: &str, kinds: Kinds) -> Option<Value> {
    if kinds.may_be("string") {
        return None;
    }
    let begins = text.trim_start().chars().next()?;
    let kind = match begins {
        't' | 'f' => "boolean",
        '[' => "array",
        '{' => "object",
        '-' | '0'..='9' if text.contains(['.', 'e', 'E']) => "number",
        '-' | '0'..='9' => "integer",
        _ => return None,
    };
    if !kinds.may_be(kind) {
        return None;
    }
    let exactly = matches!(kind, "array" | "object") || text.trim() == text;
    if !exactly || json::check(text.as_bytes()).is_err() {
        return None;
    }
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    fn coerced(schema: &Value, arguments: Value) -> (String, Vec<String>) {
        let mut arguments = arguments;
        let mut exact = ExactNumbers::default();
        let left = Cell::new(u64::MAX);
        let places = SchemaPlaces::new(schema, &left);
        let places = coerce(places, &mut arguments, &mut exact);
        (exact.write(&arguments), places)
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "labels": {"type": "array", "items": {"type": "string"}},
                "limit": {"type": "integer"},
                "ratio": {"type": ["number", "null"]},
                "draft": {"type": "boolean"},
                "body": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                "note": {"type": "string"},
                "either": {"type": ["integer", "string"]},
                "many": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}},
                "ref": {"$ref": "#/$defs/count"},
                "level": {"enum": [1, 2]},
                "open": {},
                "map": {"type": "object", "additionalProperties": {"type": "integer"}},
                "half": {"anyOf": [{"type": "integer"}, {"minLength": 3}]},
                "mixed": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "uuid"}]}
            },
            "required": ["note"],
            "$defs": {"count": {"type": "integer"}}
        })
    }

    #[test]
    fn texts_that_are_exactly_the_declared_kind_are_taken_as_it() {
        let (sent, places) = coerced(
            &schema(),
            json!({"labels": "[\"bug\"]", "limit": "5", "draft": "false", "body": "{\"a\":1}", "note": "[1]"}),
        );
        assert_eq!(
            sent,
            r#"{"labels":["bug"],"limit":5,"draft":false,"body":{"a":1},"note":"[1]"}"#
        );
        assert_eq!(places, ["/labels", "/limit", "/draft", "/body"]);
        for (given, expected, places) in [
            // Inside of what was a text, in lists, by reference, in alternatives and by additional names.
            (
                json!({"body": "{\"a\":\"7\"}"}),
                r#"{"body":{"a":7}}"#,
                vec!["/body", "/body/a"],
            ),
            (
                json!({"many": ["1", "true", 2]}),
                r#"{"many":[1,true,2]}"#,
                vec!["/many/0", "/many/1"],
            ),
            (json!({"ref": "-3"}), r#"{"ref":-3}"#, vec!["/ref"]),
            (json!({"level": "2"}), r#"{"level":2}"#, vec!["/level"]),
            (
                json!({"map": {"x": "4"}}),
                r#"{"map":{"x":4}}"#,
                vec!["/map/x"],
            ),
            (
                json!({"ratio": "2.50"}),
                r#"{"ratio":2.50}"#,
                vec!["/ratio"],
            ),
            (
                json!({"limit": "36893488147419103232"}),
                r#"{"limit":36893488147419103232}"#,
                vec!["/limit"],
            ),
            (
                json!({"body": "{\"a\":36893488147419103232}"}),
                r#"{"body":{"a":36893488147419103232}}"#,
                vec!["/body"],
            ),
        ] {
            let (sent, found) = coerced(&schema(), given);
            assert_eq!(
                (sent.as_str(), found),
                (expected, places.into_iter().map(str::to_owned).collect())
            );
        }
    }

    #[test]
    fn what_could_mean_something_else_stays() {
        for given in [
            json!({"either": "5"}),
            json!({"mixed": "5"}),
            json!({"half": "5"}),
            json!({"open": "5"}),
            json!({"unknown": "5"}),
            json!({"limit": "five"}),
            json!({"limit": " 5"}),
            json!({"limit": "5.0"}),
            json!({"limit": "+5"}),
            json!({"limit": "05"}),
            json!({"limit": "0x5"}),
            json!({"limit": ""}),
            json!({"draft": "True"}),
            json!({"draft": "1"}),
            json!({"draft": "yes"}),
            json!({"draft": 1}),
            json!({"labels": "bug"}),
            json!({"labels": "{\"a\":1}"}),
            json!({"labels": "[1"}),
            json!({"body": "{\"a\":1,\"a\":2}"}),
            json!({"note": "true"}),
        ] {
            let (sent, places) = coerced(&schema(), given.clone());
            assert_eq!(sent, given.to_string());
            assert!(places.is_empty(), "{given}");
        }
    }

    #[test]
    fn null_for_something_optional_is_nothing() {
        for (given, expected) in [
            (json!({"limit": null, "note": "x"}), r#"{"note":"x"}"#),
            (
                json!({"body": {"a": 1, "b": null}}),
                r#"{"body":{"a":1,"b":null}}"#,
            ),
            (json!({"map": {"x": null}}), r#"{"map":{}}"#),
            // Required, allowed, and not described.
            (json!({"note": null}), r#"{"note":null}"#),
            (json!({"ratio": null}), r#"{"ratio":null}"#),
            (json!({"body": {"a": null}}), r#"{"body":{"a":null}}"#),
            (json!({"open": null}), r#"{"open":null}"#),
            (json!({"unknown": null}), r#"{"unknown":null}"#),
        ] {
            assert_eq!(coerced(&schema(), given).0, expected);
        }
    }

    #[test]
    fn a_schema_that_returns_to_itself_ends() {
        let tree = json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {"type": "object", "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}}
        });
        let (sent, places) = coerced(
            &tree,
            json!({"n": "1", "next": "{\"n\":\"2\",\"next\":{\"n\":\"3\"}}"}),
        );
        assert_eq!(sent, r#"{"n":1,"next":{"n":2,"next":{"n":3}}}"#);
        assert_eq!(places.len(), 4);
        let own = json!({"$ref": "#"});
        assert_eq!(coerced(&own, json!({"a": "1"})).0, r#"{"a":"1"}"#);
    }
}
