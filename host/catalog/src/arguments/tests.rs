//! Facts about checking arguments.

use serde_json::{Value, json};

use super::{
    ARGUMENTS_DEPTH_MAX, ARGUMENTS_VALUES_MAX, VIOLATIONS_MAX, Violation, compile, violations,
    write_integers,
};

fn found(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let validator = compile(schema).expect("the schema is usable");
    let found = violations(&validator, schema, arguments);
    found
        .into_iter()
        .map(|Violation { path, message }| (path, message))
        .collect()
}

#[test]
fn every_violation_has_its_place_and_a_sentence() {
    let schema = json!({
        "type": "object",
        "properties": {
            "owner": {"type": "string", "minLength": 1, "maxLength": 5},
            "state": {"enum": ["open", "closed"]},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "labels": {"type": "array", "maxItems": 2, "uniqueItems": true, "items": {"type": "string"}},
            "when": {"type": "string", "format": "date-time"},
            "mail": {"type": "string", "format": "email"},
            "key": {"type": "string", "pattern": "^[A-Z]+-[0-9]+$"},
            "who": {"anyOf": [{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}, {"type": "null"}]},
            "a/b~c": {"type": "boolean"}
        },
        "required": ["owner", "title"],
        "additionalProperties": false
    });
    for (arguments, path, message) in [
        (json!({"owner": "o"}), "/title", "is required and missing"),
        (json!({"owner": 1}), "/owner", "must be string, not number"),
        (json!({"owner": ""}), "/owner", "at least 1 characters"),
        (
            json!({"owner": "octocat"}),
            "/owner",
            "at most 5 characters",
        ),
        (
            json!({"state": "opened"}),
            "/state",
            "must be one of \"open\", \"closed\"",
        ),
        (json!({"limit": 0}), "/limit", "must be at least 1"),
        (
            json!({"limit": "20"}),
            "/limit",
            "must be integer, not string",
        ),
        (json!({"labels": ["a", 2]}), "/labels/1", "must be string"),
        (json!({"labels": ["a", "a"]}), "/labels", "same item twice"),
        (
            json!({"labels": ["a", "b", "c"]}),
            "/labels",
            "at most 2 items",
        ),
        (json!({"when": "tomorrow"}), "/when", "format `date-time`"),
        (json!({"mail": "bob"}), "/mail", "format `email`"),
        (json!({"key": "abc"}), "/key", "must match the pattern"),
        (
            json!({"who": {"id": "7"}}),
            "/who",
            "nearest: /id must be integer, not string",
        ),
        (json!({"who": 7}), "/who", "fits none of 2 alternatives"),
        (
            json!({"ownr": "o"}),
            "/ownr",
            "not accepted here; known names: owner, state",
        ),
        (json!({"a/b~c": 1}), "/a~1b~0c", "must be boolean"),
        (json!([]), "", "must be object, not array"),
    ] {
        let found = found(&schema, &arguments);
        let hit = found
            .iter()
            .any(|(at, said)| at == path && said.contains(message));
        assert!(hit, "{arguments}: {found:?}");
    }
    let all = found(&schema, &json!({"owner": 1, "limit": 0, "x": 1, "y": 2}));
    let paths: Vec<&str> = all.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/limit", "/owner", "/title", "/x", "/y"]);
    assert_eq!(
        found(&schema, &json!({"owner": "o", "title": "t"}))[0].0,
        "/title"
    );
}

#[test]
fn fitting_arguments_have_no_violation() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    assert_eq!(found(&schema, &json!({"n": 1, "more": true})), []);
    assert_eq!(found(&schema, &json!({"n": 1.0})), []);
}

#[test]
fn whole_numbers_become_integers_wherever_they_stand() {
    let mut arguments = json!({"n": 7.0, "list": [1e3, -2.0, {"x": 0.5}], "big": 9_007_199_254_740_992.0, "t": "7.0", "i": 3});
    write_integers(&mut arguments);
    assert_eq!(
        arguments.to_string(),
        r#"{"n":7,"list":[1000,-2,{"x":0.5}],"big":9007199254740992.0,"t":"7.0","i":3}"#
    );
}

#[test]
fn violations_and_depth_are_bounded() {
    let schema = json!({"type": "object", "properties": {"l": {"items": {"type": "string"}}, "t": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}});
    let wrong = |count: usize| json!({"l": vec![1; count]});
    assert_eq!(
        found(&schema, &wrong(VIOLATIONS_MAX - 1)).len(),
        VIOLATIONS_MAX - 1
    );
    assert_eq!(
        found(&schema, &wrong(VIOLATIONS_MAX + 50)).len(),
        VIOLATIONS_MAX
    );
    assert_eq!(
        found(&schema, &wrong(50_000)).len(),
        1,
        "only the first of very many"
    );
    let fits = |count: usize| json!({"l": vec!["x"; count]});
    assert_eq!(found(&schema, &fits(ARGUMENTS_VALUES_MAX - 2)), []);
    assert!(
        found(&schema, &fits(ARGUMENTS_VALUES_MAX - 1))[0]
            .1
            .contains("more than 100000")
    );
    let nested =
        |levels: usize| json!({"t": (1..levels - 1).fold(json!([]), |inner, _| json!([inner]))});
    assert_eq!(found(&schema, &nested(ARGUMENTS_DEPTH_MAX)), []);
    assert!(
        found(&schema, &nested(ARGUMENTS_DEPTH_MAX + 1))[0]
            .1
            .contains("nested deeper")
    );
    let long = found(
        &json!({"properties": {"x": {"const": "y".repeat(5_000)}}}),
        &json!({"x": 1}),
    );
    assert!(long[0].1.chars().count() <= super::VIOLATION_CHARS_MAX + 3);
}
