//! What breaks a call, and what does not.

use serde_json::json;

use super::*;

fn manifest(input: Value, more: Value) -> Manifest {
    let mut tool =
        json!({ "name": "list", "description": "Lists.", "input": input, "effect": "read" });
    for (key, value) in more.as_object().cloned().unwrap_or_default() {
        tool[key] = value;
    }
    let text = json!({
        "manifest": 1, "service": "s", "title": "S", "version": "1.2.3", "description": "A plugin.",
        "tools": [tool],
    });
    Manifest::parse(&text.to_string()).expect("a manifest")
}

fn object(properties: Value, required: Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn first(old: Value, new: Value) -> Option<CallerChange> {
    caller_changes(&manifest(old, json!({})), &manifest(new, json!({})))
        .into_iter()
        .next()
}

#[test]
fn what_a_call_may_hit_is_a_break_and_the_rest_is_not() {
    use CallerImpact::{Addition, Breaking, Detail};
    let text = json!({ "type": "string" });
    let number = |more: Value| {
        let mut schema = json!({ "type": "integer" });
        for (key, value) in more.as_object().cloned().unwrap_or_default() {
            schema[key] = value;
        }
        json!({ "a": schema })
    };
    for (old, new, impact, says) in [
        (json!({ "a": text }), json!({}), Breaking, "gone"),
        (json!({}), json!({ "a": text }), Addition, "new"),
        (
            number(json!({})),
            json!({ "a": { "type": "number" } }),
            Detail,
            "",
        ),
        (
            json!({ "a": { "type": "number" } }),
            number(json!({})),
            Breaking,
            "type is integer",
        ),
        (
            number(json!({})),
            number(json!({ "maximum": 9 })),
            Breaking,
            "was not there",
        ),
        (
            number(json!({ "maximum": 9 })),
            number(json!({ "maximum": 8 })),
            Breaking,
            "lower",
        ),
        (
            number(json!({ "maximum": 8 })),
            number(json!({ "maximum": 9 })),
            Detail,
            "",
        ),
        (
            number(json!({ "minimum": 1 })),
            number(json!({ "minimum": 2 })),
            Breaking,
            "higher",
        ),
        (
            number(json!({ "minimum": 1 })),
            number(json!({})),
            Detail,
            "",
        ),
        (
            number(json!({})),
            number(json!({ "default": 3 })),
            Detail,
            "default is 3",
        ),
        (
            number(json!({})),
            number(json!({ "description": "How many." })),
            Detail,
            "",
        ),
        (
            json!({ "a": { "enum": ["x", "y"] } }),
            json!({ "a": { "enum": ["x"] } }),
            Breaking,
            "\"y\" is gone",
        ),
        (
            json!({ "a": { "enum": ["x"] } }),
            json!({ "a": { "enum": ["x", "y"] } }),
            Addition,
            "\"y\" is new",
        ),
        (
            json!({ "a": text }),
            json!({ "a": { "type": "string", "pattern": "^a" } }),
            Breaking,
            "`pattern`",
        ),
        (
            json!({ "a": { "type": "string", "pattern": "^a" } }),
            json!({ "a": text }),
            Detail,
            "",
        ),
        (
            json!({ "a": { "type": "array", "items": text } }),
            json!({ "a": { "type": "array", "items": { "type": "integer" } } }),
            Breaking,
            "type is integer",
        ),
    ] {
        let change = first(
            object(old.clone(), json!([])),
            object(new.clone(), json!([])),
        );
        match change {
            Some(change) => {
                assert_eq!(change.impact, impact, "{old} {new}: {change}");
                assert!(
                    !says.is_empty() && change.says.contains(says),
                    "{old} {new}: {change}"
                );
            }
            None => assert!(says.is_empty(), "{old} {new}"),
        }
    }
    let required = first(
        object(json!({ "a": text }), json!([])),
        object(json!({ "a": text }), json!(["a"])),
    );
    let required = required.expect("a change");
    assert_eq!(
        (required.impact, &*required.path),
        (Breaking, "/tools/list/input/a")
    );
}

#[test]
fn tools_effects_and_scopes_are_compared() {
    let input = object(json!({}), json!([]));
    let old = manifest(input.clone(), json!({}));
    let mut new = manifest(input, json!({ "effect": "write" }));
    let found = caller_changes(&old, &new);
    assert_eq!(found[0].says, "the effect is write in place of read");
    new.tools[0].name = "other".to_owned();
    let found = caller_changes(&old, &new);
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "/tools/list: the tool is gone",
            "/tools/other: the tool is new"
        ]
    );
}

#[test]
fn a_break_needs_a_version_that_says_so() {
    let change = |impact| CallerChange {
        impact,
        path: String::new(),
        says: String::new(),
    };
    for (old, impact, new) in [
        ("1.2.3", Some(CallerImpact::Breaking), "2.0.0"),
        ("0.2.3", Some(CallerImpact::Breaking), "0.3.0"),
        ("1.2.3", Some(CallerImpact::Addition), "1.3.0"),
        ("0.2.3", Some(CallerImpact::Addition), "0.2.4"),
        ("1.2.3", Some(CallerImpact::Detail), "1.2.4"),
        ("1.2.3", None, "1.2.4"),
    ] {
        let old = semver::Version::parse(old).expect("a version");
        let changes: Vec<CallerChange> = impact.map(change).into_iter().collect();
        assert_eq!(version_for(&old, &changes).to_string(), new, "{old}");
    }
}
