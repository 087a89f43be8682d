//! Schemas of descriptions as schemas of arguments.

use serde_json::{Value, json};

use super::{Expander, ExpansionBounds, shape};
use crate::document::Documents;

const WIDE: ExpansionBounds = ExpansionBounds {
    depth: 12,
    text_chars: 300,
    bytes: 100_000,
    values: 10_000,
};

fn expanded(document: Value, bounds: ExpansionBounds) -> (Value, bool, bool) {
    let docs = Documents::from_value("x", document);
    let mut expander = Expander::new(&docs, bounds);
    let made = expander.expand(docs.root().get("s").expect("a schema"));
    (made.into(), expander.over, expander.recursive)
}

fn check(schema: Value, expected: Value) {
    let (made, _, _) = expanded(json!({"s": schema}), WIDE);
    assert_eq!(made, expected);
    assert!(
        jsonschema::draft202012::options().build(&made).is_ok(),
        "{made}"
    );
}

#[test]
fn keywords_of_older_drafts_become_those_of_2020_12() {
    check(
        json!({"type": "string", "nullable": true, "enum": ["a"]}),
        json!({"type": ["string", "null"], "enum": ["a", null]}),
    );
    check(
        json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false, "format": "int32"}),
        json!({"type": "integer", "exclusiveMinimum": 1, "maximum": 9}),
    );
    check(json!({"type": "file"}), json!({"type": "string"}));
    check(
        json!({"type": "any", "example": 7}),
        json!({"examples": [7]}),
    );
    check(
        json!({"items": [{"type": "string"}]}),
        json!({"prefixItems": [{"type": "string"}]}),
    );
    check(
        json!({"type": ["String", "null"], "example": "x"}),
        json!({"type": ["string", "null"], "examples": ["x"]}),
    );
    check(
        json!({"type": "object", "required": true, "properties": {"a": {"type": "string", "required": true}, "b": "no schema", "c": {"readOnly": true}},
               "xml": {}, "discriminator": {}, "x-own": 1, "externalDocs": {}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
    );
}

#[test]
fn wrong_values_are_dropped_and_never_make_the_schema_impossible() {
    check(
        json!({"type": "integer", "enum": ["1", "2"]}),
        json!({"enum": ["1", "2"]}),
    );
    check(
        json!({"type": "string", "enum": [1, "b", "b"]}),
        json!({"type": "string", "enum": ["b"]}),
    );
    check(
        json!({"type": "string", "minLength": -1, "maxLength": "9", "pattern": "(?=x)", "default": 4, "multipleOf": 0}),
        json!({"type": "string"}),
    );
    check(
        json!({"type": "array", "items": {"type": "string"}, "enum": []}),
        json!({"type": "array", "items": {"type": "string"}}),
    );
    check(
        json!({"oneOf": [{"type": "object"}, {"type": "object"}]}),
        json!({"type": "object"}),
    );
    check(json!({"anyOf": [{}, {"type": "string"}]}), json!({}));
}

#[test]
fn all_of_is_merged() {
    check(
        json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false},
                         {"properties": {"b": {"type": "integer"}, "a": {"description": "A"}}, "required": ["b"], "additionalProperties": false}],
               "description": "Both"}),
        json!({"description": "Both", "type": "object",
               "properties": {"a": {"type": "string", "description": "A"}, "b": {"type": "integer"}}, "required": ["a", "b"]}),
    );
}

#[test]
fn a_schema_that_contains_itself_is_cut_where_it_returns() {
    let document = json!({"s": {"$ref": "#/d/Node"}, "d": {"Node": {"type": "object", "properties": {
        "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/d/Node"}}}}}});
    let (made, over, recursive) = expanded(document, WIDE);
    assert!(recursive && !over);
    let inner = &made["properties"]["children"]["items"];
    assert_eq!(inner["type"], "object");
    assert!(
        inner["description"]
            .as_str()
            .is_some_and(|text| text.starts_with("Recursive"))
    );
}

#[test]
fn an_expansion_stops_at_its_bounds() {
    let mut document = json!({"s": {"$ref": "#/d/t0"}, "d": {}});
    for level in 0..40 {
        let next = json!({"$ref": format!("#/d/t{}", level + 1)});
        document["d"][format!("t{level}")] =
            json!({"type": "object", "properties": {"a": next, "b": next, "c": next}});
    }
    document["d"]["t40"] = json!({"type": "string"});
    let (made, over, _) = expanded(document.clone(), WIDE);
    assert!(over && made.to_string().len() < 400_000);
    let (made, over, _) = expanded(document, ExpansionBounds { depth: 2, ..WIDE });
    assert!(!over && made.to_string().contains("not described here"));
}

#[test]
fn the_shape_of_an_object_follows_references_and_all_of() {
    let docs = Documents::from_value(
        "x",
        json!({
        "s": {"allOf": [{"$ref": "#/d/A"}, {"required": ["b"], "properties": {"b": {}}}]},
        "d": {"A": {"type": "object", "properties": {"a": {}}, "required": ["a"], "allOf": [{"$ref": "#/s"}]}}}),
    );
    let found = shape(&docs, docs.root().get("s").expect("there"));
    let names: Vec<&str> = found.properties.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        (names, found.required, found.other),
        (vec!["a", "b"], vec!["a".to_owned(), "b".to_owned()], false)
    );
}
