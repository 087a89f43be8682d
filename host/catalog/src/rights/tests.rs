//! Facts about comparing manifests, most of them about every place of a whole one.

mod steps;
mod whole;
mod words;

use serde_json::{Value, json};

use super::{Difference, Upgrades, normal};
use crate::manifest::Manifest;
use whole::whole;

fn form(manifest: &Value) -> Option<Value> {
    Manifest::parse(&manifest.to_string())
        .ok()
        .map(|manifest| normal(&manifest))
}

fn between(old: &Value, new: &Value) -> Difference {
    Difference::between(old, new, Upgrades::Strict)
}

fn upgrade(change: impl FnOnce(&mut Value)) -> Difference {
    let mut new = whole();
    change(&mut new);
    let new = form(&new).expect("the changed manifest has its shape");
    between(&form(&whole()).expect("the fixture has its shape"), &new)
}

/// Pointers of every value below `value`.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, value)| (index.to_string(), value))
            .collect(),
        _ => return,
    };
    for (key, value) in children {
        let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        found.push(at.clone());
        places(value, &at, found);
    }
}

fn take(document: &mut Value, place: &str) {
    let (parent, key) = place.rsplit_once('/').expect("a pointer");
    match document.pointer_mut(parent) {
        Some(Value::Object(map)) => drop(map.remove(&key.replace("~1", "/"))),
        Some(Value::Array(items)) => drop(items.remove(key.parse().expect("an index"))),
        _ => unreachable!("the place is there"),
    }
}

/// Written apart from the rules: where a small change need not wait.
fn may_change(place: &str) -> bool {
    let harmless = [
        r"^/(version|description)$",
        r"^/categories(/0)?$",
        r"^/tools/\d+/(description|deprecated)$",
        r"^/tools/\d+/(keywords|requests|examples)(/.*)?$",
        r"^/tools/\d+/triggers/\d+/(title|description)$",
        r"^/tools/\d+/(input|output)/title$",
        r"^/tools/\d+/(input|output)(/properties/\w+)+/description$",
    ];
    harmless.iter().any(|pattern| {
        regex::Regex::new(pattern)
            .expect("a pattern")
            .is_match(place)
    })
}

/// Where less is asked for when it is taken out.
fn may_go(place: &str) -> bool {
    let less = [
        r"^/hosts/\d$",
        r"^/capabilities/\d$",
        r"^/auth/\d$",
        r"^/auth/\d/(scopes|audience)/\d$",
        r"^/tools/\d$",
        r"^/tools/\d/(scopes|queries|triggers)(/\d)?$",
        r"^/(hosts|capabilities|auth|tools)$",
        r"^/auth/\d/(scopes|audience)$",
    ];
    may_change(place)
        || less.iter().any(|pattern| {
            regex::Regex::new(pattern)
                .expect("a pattern")
                .is_match(place)
        })
}

#[test]
fn every_text_of_a_tool_of_an_mcp_server_waits() {
    let with = |send: &str, text: &str, of_argument: &str| {
        json!({
            "service": "notes",
            "tools": [{
                "name": "add",
                "description": text,
                "input": {"type": "object", "properties": {"text": {"type": "string", "description": of_argument}}},
                "request": {"send": send, "with": ["add"]},
            }],
        })
    };
    let (mcp, rest) = (
        "MCP https://mcp.notes.io/mcp",
        "POST https://mcp.notes.io/notes",
    );
    for (text, of_argument) in [("Adds a note", "The text."), ("Adds a note.", "The text")] {
        for (send, waits) in [(mcp, true), (rest, false)] {
            let old = with(send, "Adds a note.", "The text.");
            let difference = between(&old, &with(send, text, of_argument));
            assert_eq!(difference.waits(), waits, "{send} {text} {of_argument}");
        }
    }
}

#[test]
fn every_value_that_changes_waits_unless_it_is_harmless() {
    let old = form(&whole()).expect("the fixture has its shape");
    let mut all = Vec::new();
    places(&whole(), "", &mut all);
    assert!(all.len() > 150, "{} places", all.len());
    for place in &all {
        let mut new = whole();
        let value = new.pointer_mut(place).expect("it is there");
        let others = match &*value {
            Value::String(text) => vec![json!(format!("{text}x")), json!("z"), json!(7), json!([])],
            Value::Bool(is) => vec![json!(!is), json!("x")],
            Value::Number(n) => vec![json!(n.as_u64().unwrap_or(0) + 1), json!("x")],
            Value::Array(_) => vec![json!(["other"]), json!("x"), json!([{"other": 1}])],
            Value::Object(_) => vec![json!({"other": 1}), json!("x"), json!(true)],
            Value::Null => vec![json!(1)],
        };
        for other in others {
            let mut new = new.clone();
            *new.pointer_mut(place).expect("it is there") = other.clone();
            // As this build writes it, where it can be read, and as any other build might.
            for new in [form(&new), Some(new)].into_iter().flatten() {
                let difference = between(&old, &new);
                if new != old && !may_change(place) {
                    assert!(difference.waits(), "{place} = {other}: {difference}");
                }
            }
        }
    }
}

#[test]
fn every_value_that_is_taken_out_or_put_in_waits_unless_that_is_less() {
    let (old, document) = (form(&whole()).expect("its shape"), whole());
    let mut all = Vec::new();
    places(&document, "", &mut all);
    for place in &all {
        let mut less = document.clone();
        take(&mut less, place);
        for (side, less) in [("read", form(&less)), ("raw", Some(less))] {
            let Some(less) = less.filter(|less| *less != old) else {
                continue;
            };
            if !may_go(place) {
                let gone = between(&old, &less);
                assert!(gone.waits(), "without {place} ({side}): {gone}");
            }
            // A restriction that was not there is less.
            if !may_change(place) && *place != "/hosts" && !place.ends_with("/request") {
                let more = between(&less, &old);
                assert!(more.waits(), "with {place} ({side}): {more}");
            }
        }
    }
}

#[test]
fn a_key_that_no_build_knows_yet_waits_wherever_it_stands() {
    let old = form(&whole()).expect("its shape");
    let mut objects = vec![String::new()];
    places(&old, "", &mut objects);
    objects.retain(|place| old.pointer(place).is_some_and(Value::is_object));
    assert!(objects.len() > 30);
    for place in objects.iter().filter(|place| !may_change(place)) {
        for value in [json!(true), json!("x"), json!({"a": 1}), json!([])] {
            let mut new = old.clone();
            new.pointer_mut(place).expect("it is there")["surprise"] = value;
            assert!(between(&old, &new).waits(), "{place}/surprise");
            assert!(between(&new, &old).waits(), "{place}/surprise taken away");
        }
    }
}

/// The fixture fills what it is tested with: each object is asked which keys it knows.
#[test]
fn the_fixture_has_every_key_of_the_manifest() {
    let document = whole();
    let mut objects = vec![String::new()];
    places(&document, "", &mut objects);
    let in_schema = |place: &str| {
        [
            "/input",
            "/output",
            "/schema",
            "/examples",
            "/authorize_params",
            "/token_parameters",
            "/arguments",
        ]
        .iter()
        .any(|part| place.contains(part))
    };
    objects
        .retain(|place| document.pointer(place).is_some_and(Value::is_object) && !in_schema(place));
    let listed = regex::Regex::new("`([a-z_0-9]+)`").expect("a pattern");
    let index = regex::Regex::new(r"/\d+").expect("a pattern");
    let mut asked = 0;
    for place in objects {
        let mut new = document.clone();
        new.pointer_mut(&place).expect("it is there")["surprise"] = json!(1);
        let refused = Manifest::parse(&new.to_string())
            .expect_err(&place)
            .to_string();
        let Some((_, expected)) = refused.split_once("expected") else {
            // Placements and values of hooks differ by their one key, which each example has.
            assert!(
                place.contains("/placement") || place.contains("/webhook"),
                "{place}: {refused}"
            );
            continue;
        };
        asked += 1;
        let kind = index.replace_all(&place, "/0");
        for key in listed
            .captures_iter(expected)
            .map(|found| found[1].to_owned())
        {
            // Objects of lists fill each other's gaps.
            let somewhere = (0..3).any(|index| {
                let place = kind.replace("/0", &format!("/{index}"));
                document.pointer(&format!("{place}/{key}")).is_some()
            });
            assert!(somewhere, "{kind} has no `{key}`");
        }
    }
    assert!(asked >= 10, "{asked} kinds of objects");
}

#[test]
fn asking_for_less_does_not_wait() {
    for change in [
        |m: &mut Value| m["version"] = json!("9.0.0"),
        |m: &mut Value| m["hosts"] = json!(["api.desk.example.com"]),
        |m: &mut Value| m["hosts"] = json!(["api.desk.example.com", "a.files.example.com"]),
        |m: &mut Value| m["auth"][0]["audience"] = json!(["https://api.desk.example.com/"]),
        |m: &mut Value| m["auth"][0]["scopes"] = json!(["read"]),
        |m: &mut Value| m["capabilities"] = json!(["egress"]),
        |m: &mut Value| m["limits"]["timeout_ms"] = json!(4_000),
        |m: &mut Value| {
            m["tools"].as_array_mut().expect("tools").reverse();
        },
        |m: &mut Value| {
            m["tools"].as_array_mut().expect("tools").pop();
        },
        |m: &mut Value| m["tools"][0]["description"] = json!("Finds tickets by the words in them."),
    ] {
        let difference = upgrade(change);
        assert!(!difference.waits(), "{difference}");
    }
}

#[test]
fn new_optional_arguments_pass_where_the_operator_lets_them() {
    let old = form(&whole()).expect("its shape");
    let with = |change: fn(&mut Value)| {
        let mut new = whole();
        change(&mut new);
        let new = form(&new).expect("its shape");
        let waits = |upgrades| Difference::between(&old, &new, upgrades).waits();
        (waits(Upgrades::Strict), waits(Upgrades::Schemas))
    };
    let optional =
        with(|m| m["tools"][0]["input"]["properties"]["limit"] = json!({"type": "integer"}));
    assert_eq!(optional, (true, false));
    let inner = with(|m| {
        m["tools"][0]["input"]["properties"]["filter"]["properties"]["owner"] =
            json!({"type": "string"});
    });
    assert_eq!(inner, (true, false));
    let required = with(|m| {
        m["tools"][0]["input"]["properties"]["limit"] = json!({"type": "integer"});
        m["tools"][0]["input"]["required"] = json!(["q", "limit"]);
    });
    assert_eq!(required, (true, true));
    let looser = with(|m| m["tools"][0]["input"]["properties"]["site"] = json!({}));
    assert_eq!(looser, (true, true));
    let answer = with(|m| m["tools"][0]["output"]["properties"]["m"] = json!({}));
    assert_eq!(answer, (true, true));
}

#[test]
fn without_what_was_approved_everything_waits() {
    let new = form(&whole()).expect("its shape");
    assert!(between(&json!({}), &new).waits());
    assert!(between(&Value::Null, &new).waits());
    assert!(!between(&new, &new).waits());
}
