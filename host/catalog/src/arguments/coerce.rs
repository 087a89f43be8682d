//! Arguments as models write them: a number in quotes, a list as JSON text, null for what is left out.
//!
//! Only what can mean one thing is changed: a text becomes a number, a truth value, a list or an object where the schema
//! takes no text there and the text is exactly that. Nothing is changed in arguments that fit as they are.

use serde_json::Value;

use super::{ARGUMENTS_DEPTH_MAX, kind_of};
use crate::parse::push_segment;
use toolgate_core::exact::ExactNumbers;
use toolgate_core::json;

/// Most places that are reported.
pub(crate) const COERCED_MAX: usize = 100;
/// Most subschemas that are looked at for one place, and longest way through references.
const SUBSCHEMAS_MAX: usize = 200;
const REFERENCES_MAX: usize = 32;

/// Changes what the schema does not take as it is. Answers the places of texts that were taken as something else.
pub(crate) fn coerce(root: &Value, arguments: &mut Value, exact: &mut ExactNumbers) -> Vec<String> {
    let mut coercion = Coercion {
        root,
        exact,
        coerced: Vec::new(),
    };
    let schemas = coercion.parts(&[root]);
    coercion.inside(arguments, &schemas, &mut String::new(), ARGUMENTS_DEPTH_MAX);
    coercion.coerced
}

struct Coercion<'s, 'e> {
    root: &'s Value,
    exact: &'e mut ExactNumbers,
    coerced: Vec<String>,
}

impl<'s> Coercion<'s, '_> {
    /// The schemas of one place with those that they refer to and their alternatives.
    fn parts(&self, schemas: &[&'s Value]) -> Vec<&'s Value> {
        let mut found: Vec<&'s Value> = Vec::new();
        let mut todo: Vec<(&'s Value, usize)> = schemas.iter().map(|schema| (*schema, 0)).collect();
        while let Some((schema, hops)) = todo.pop() {
            if found.len() >= SUBSCHEMAS_MAX || hops > REFERENCES_MAX {
                break;
            }
            if found.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            found.push(schema);
            if let Some(target) = schema.get("$ref").and_then(Value::as_str)
                && let Some(target) = target.strip_prefix('#')
                && let Some(target) = self.root.pointer(target)
            {
                todo.push((target, hops + 1));
            }
            for key in ["allOf", "anyOf", "oneOf"] {
                let branches = schema.get(key).and_then(Value::as_array);
                todo.extend(branches.into_iter().flatten().map(|one| (one, hops + 1)));
            }
        }
        found
    }

    fn inside(
        &mut self,
        value: &mut Value,
        schemas: &[&'s Value],
        pointer: &mut String,
        depth: usize,
    ) {
        if depth == 0 {
            return;
        }
        if let Value::String(text) = value
            && let Some(meant) = meant(text, &kinds(schemas))
        {
            match &meant {
                // Digits that the value cannot hold are kept beside it.
                Value::Number(_) => self.exact.note(pointer, text.trim()),
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
                let required = |name: &str| schemas.iter().any(|schema| requires(schema, name));
                let absent = |name: &String, member: &Value| {
                    member.is_null() && {
                        let below = self.parts(&member_schemas(schemas, name));
                        !below.is_empty() && !kinds(&below).may_be("null") && !required(name)
                    }
                };
                members.retain(|name, member| !absent(name, member));
                for (name, member) in members.iter_mut() {
                    let below = self.parts(&member_schemas(schemas, name));
                    push_segment(pointer, name);
                    self.inside(member, &below, pointer, depth - 1);
                    pointer.truncate(length);
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let below = self.parts(&item_schemas(schemas, index));
                    push_segment(pointer, &index.to_string());
                    self.inside(item, &below, pointer, depth - 1);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }
}

fn requires(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known == name))
}

/// What the schemas of an object say of one member.
fn member_schemas<'s>(schemas: &[&'s Value], name: &str) -> Vec<&'s Value> {
    let own: Vec<&Value> = schemas
        .iter()
        .filter_map(|schema| schema.get("properties")?.get(name))
        .collect();
    if !own.is_empty() {
        return own;
    }
    let others = schemas
        .iter()
        .filter_map(|schema| schema.get("additionalProperties"));
    others.filter(|schema| schema.is_object()).collect()
}

fn item_schemas<'s>(schemas: &[&'s Value], index: usize) -> Vec<&'s Value> {
    let one = |schema: &&'s Value| {
        let first = schema.get("prefixItems").and_then(|items| items.get(index));
        first.or_else(|| schema.get("items").filter(|items| items.is_object()))
    };
    schemas.iter().filter_map(one).collect()
}

/// The kinds that a place takes; all where nobody says.
struct Kinds(Option<Vec<&'static str>>);

impl Kinds {
    fn may_be(&self, kind: &str) -> bool {
        let Some(kinds) = &self.0 else {
            return true;
        };
        kinds.contains(&kind) || (kind == "integer" && kinds.contains(&"number"))
    }

    /// One that says which kinds it takes, and no text among them.
    fn excludes_text(&self) -> bool {
        self.0.is_some() && !self.may_be("string")
    }
}

/// Every kind that one of the schemas of a place names.
fn kinds(schemas: &[&Value]) -> Kinds {
    let mut named: Vec<&'static str> = Vec::new();
    let mut any = false;
    for schema in schemas {
        match schema.get("type") {
            Some(Value::String(kind)) => named.extend(known(kind)),
            Some(Value::Array(list)) => {
                named.extend(list.iter().filter_map(Value::as_str).filter_map(known));
            }
            _ => {
                let fixed = schema.get("const").map(std::slice::from_ref);
                let listed = schema.get("enum").and_then(Value::as_array);
                let Some(values) = fixed.or(listed.map(Vec::as_slice)) else {
                    continue;
                };
                named.extend(values.iter().map(kind_of));
            }
        }
        any = true;
    }
    Kinds(any.then_some(named))
}

fn known(kind: &str) -> Option<&'static str> {
    const KINDS: [&str; 7] = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];
    KINDS.into_iter().find(|known| *known == kind)
}

/// The one value that a text can mean where no text is taken.
fn meant(text: &str, kinds: &Kinds) -> Option<Value> {
    if !kinds.excludes_text() {
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
    use serde_json::json;

    use super::*;

    fn coerced(schema: &Value, arguments: Value) -> (String, Vec<String>) {
        let mut arguments = arguments;
        let mut exact = ExactNumbers::default();
        let places = coerce(schema, &mut arguments, &mut exact);
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
