//! Which schemas pass, and what is said of the others.

use serde_json::{Value, json};

use super::{PATTERNS_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};

fn problem(schema: &Value) -> Option<String> {
    super::problem(schema, &mut 0)
}

#[test]
fn patterns_are_counted_over_the_whole_manifest() {
    let schema = json!({"type": "string", "pattern": "^a$"});
    let mut patterns = PATTERNS_MAX - 1;
    assert_eq!(super::problem(&schema, &mut patterns), None);
    let beyond = super::problem(&schema, &mut patterns);
    assert!(beyond.is_some_and(|problem| problem.contains("more than 2000 patterns")));
}

#[test]
fn ordinary_schemas_are_accepted() {
    for schema in [
        json!({"type": "object"}),
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
               "properties": {"$ref": {"type": "string"}, "pattern": {"type": "string", "pattern": "^[a-z]+$"}},
               "required": ["pattern"], "additionalProperties": false}),
        // a tree: recursion that goes a level deeper
        json!({"type": "object", "properties": {"child": {"$ref": "#"}, "list": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
               "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}}}),
        json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}], "examples": [{"$ref": "http://x"}]}),
        json!({"type": "object", "properties": {"a": true, "b": {"enum": [{"$ref": "http://x"}]}}}),
    ] {
        assert_eq!(problem(&schema), None, "{schema}");
    }
}

#[test]
fn a_schema_that_is_none_or_reaches_out_or_could_run_long_is_refused() {
    let mut laughs = json!({"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": {}});
    for i in 0..15 {
        let next = if i == 14 {
            json!({})
        } else {
            json!({"allOf": [{"$ref": format!("#/$defs/d{}", i + 1)}, {"$ref": format!("#/$defs/d{}", i + 1)}]})
        };
        laughs["$defs"][format!("d{i}")] = next;
    }
    let mut chain = json!({"type": "object", "$ref": "#/$defs/d0", "$defs": {}});
    for i in 0..200 {
        let next = if i == 199 {
            json!({})
        } else {
            json!({"$ref": format!("#/$defs/d{}", i + 1)})
        };
        chain["$defs"][format!("d{i}")] = next;
    }
    let many: Value = (0..65)
        .map(|i| (format!("p{i}"), json!({"pattern": "^a$"})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    for (schema, reason) in [
        (json!([]), "is not a schema"),
        (json!({"type": "objekt"}), "not a usable JSON Schema"),
        (
            json!({"type": "object", "properties": {"a": 1}}),
            "/properties/a is not a schema",
        ),
        (
            json!({"type": "object", "properties": []}),
            "not a usable JSON Schema",
        ),
        (
            json!({"type": "object", "required": "a"}),
            "not a usable JSON Schema",
        ),
        (
            json!({"$ref": "https://example.com/s.json"}),
            "leads out of the document",
        ),
        (
            json!({"$ref": "other.json#/a"}),
            "leads out of the document",
        ),
        (
            json!({"$ref": "file:///etc/passwd"}),
            "leads out of the document",
        ),
        (
            json!({"$ref": "#/$defs/none"}),
            "is not a schema in this document",
        ),
        (
            json!({"$ref": "#anchor"}),
            "is not a schema in this document",
        ),
        (
            json!({"$ref": "#/x-own/a", "x-own": {"a": {}}}),
            "is not a schema in this document",
        ),
        (json!({"$dynamicRef": "#a"}), "`$dynamicRef`"),
        (json!({"properties": {"a": {"$id": "https://x/"}}}), "`$id`"),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            "`$schema`",
        ),
        (json!({"dependencies": {"a": ["b"]}}), "older draft"),
        (json!({"$ref": "#"}), "never end"),
        (json!({"allOf": [{"anyOf": [{"$ref": "#"}]}]}), "never end"),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
            "never end",
        ),
        (
            json!({"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}),
            "very long",
        ),
        (laughs, "very long"),
        (chain, "in a chain"),
        (json!({"properties": many}), "65 patterns"),
        (
            json!({"properties": {"a": {"type": "string", "pattern": "(?=x)x"}}}),
            "linear time",
        ),
        (
            json!({"properties": {"a": {"type": "string", "pattern": "(a{1000}){1000}"}}}),
            "linear time",
        ),
        (
            json!({"properties": {"a": {"pattern": "["}}}),
            "not a usable JSON Schema",
        ),
        (
            json!({"description": "x".repeat(SCHEMA_BYTES_MAX)}),
            "bytes; at most",
        ),
    ] {
        let found = problem(&schema).unwrap_or_else(|| panic!("accepted: {schema}"));
        assert!(found.contains(reason), "{reason}: {found}");
    }
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"not": inner}));
    assert!(problem(&nested(SCHEMA_DEPTH_MAX)).is_some_and(|p| p.contains("nested deeper")));
    assert!(!problem(&nested(SCHEMA_DEPTH_MAX - 1)).is_some_and(|p| p.contains("nested deeper")));
}
