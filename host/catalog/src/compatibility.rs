//! What a new version of a plugin breaks for those who call it: the question of its author before a
//! release. What it asks of the operator is [`crate::rights`].
//!
//! Two schemas are compared by the words that the SDKs write. Of any other word that changed nothing
//! is known, so it counts as a break.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::manifest::{Effect, Manifest, ToolSpec};
use crate::parse::push_segment;

/// Words that change no call: what people read, and what is made of the others.
const HARMLESS: [&str; 8] = [
    "$comment",
    "deprecated",
    "description",
    "examples",
    "markdownDescription",
    "readOnly",
    "title",
    "writeOnly",
];
/// Limits that refuse more when they fall.
const UPPER: [&str; 5] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];
/// Limits that refuse more when they rise.
const LOWER: [&str; 5] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];
/// Words that are compared one by one.
const COMPARED: [&str; 8] = [
    "type",
    "enum",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "default",
    "uniqueItems",
];
/// Deeper schemas are compared as a whole.
const DEPTH_MAX: usize = 24;

/// How much a new version changes for callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallerImpact {
    /// A call that worked may not work any more.
    Breaking,
    /// There is more to call.
    Addition,
    /// Calls work as before.
    Detail,
}

/// One thing that a caller may notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallerChange {
    pub impact: CallerImpact,
    /// JSON Pointer in which the tool's name replaces its index: `/tools/list_notes/input/limit`.
    pub path: String,
    pub says: String,
}

impl fmt::Display for CallerChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.says)
    }
}

/// Everything that callers of `old` may notice of `new`, breaks first.
pub fn caller_changes(old: &Manifest, new: &Manifest) -> Vec<CallerChange> {
    let mut found = CallerChanges::default();
    if old.service != new.service {
        let says = format!(
            "the service is called {} in place of {}",
            new.service, old.service
        );
        found.add(CallerImpact::Breaking, "/service", says);
    }
    for tool in &old.tools {
        let at = pointer("/tools", &tool.name);
        match new.tools.iter().find(|other| other.name == tool.name) {
            Some(other) => tool_changes(tool, other, &at, &mut found),
            None => found.add(CallerImpact::Breaking, &at, "the tool is gone"),
        }
    }
    for tool in &new.tools {
        if !old.tools.iter().any(|other| other.name == tool.name) {
            let at = pointer("/tools", &tool.name);
            found.add(CallerImpact::Addition, &at, "the tool is new");
        }
    }
    for parameter in new
        .parameters
        .iter()
        .filter(|one| one.required && one.default.is_none())
    {
        let known = old.parameters.iter().find(|one| one.key == parameter.key);
        if known.is_none_or(|known| !known.required || known.default.is_some()) {
            let at = pointer("/parameters", &parameter.key);
            let says = "a connection needs this parameter now: users connect again";
            found.add(CallerImpact::Breaking, &at, says);
        }
    }
    found
        .list
        .sort_by(|a, b| (a.impact, &a.path).cmp(&(b.impact, &b.path)));
    found.list
}

/// The lowest version that says so (Semantic Versioning 2.0.0): before 1.0.0 a break raises the minor
/// version.
pub fn version_for(old: &semver::Version, changes: &[CallerChange]) -> semver::Version {
    let impact = changes.iter().map(|change| change.impact).min();
    match impact {
        Some(CallerImpact::Breaking) if old.major > 0 => semver::Version::new(old.major + 1, 0, 0),
        Some(CallerImpact::Breaking) => semver::Version::new(0, old.minor + 1, 0),
        Some(CallerImpact::Addition) if old.major > 0 => {
            semver::Version::new(old.major, old.minor + 1, 0)
        }
        _ => semver::Version::new(old.major, old.minor, old.patch + 1),
    }
}

#[derive(Default)]
struct CallerChanges {
    list: Vec<CallerChange>,
}

impl CallerChanges {
    fn add(&mut self, impact: CallerImpact, path: &str, says: impl Into<String>) {
        self.list.push(CallerChange {
            impact,
            path: path.to_owned(),
            says: says.into(),
        });
    }
}

fn pointer(at: &str, name: &str) -> String {
    let mut whole = at.to_owned();
    push_segment(&mut whole, name);
    whole
}

fn tool_changes(old: &ToolSpec, new: &ToolSpec, at: &str, found: &mut CallerChanges) {
    let rank = |effect: Effect| match effect {
        Effect::Read => 0,
        Effect::Write => 1,
        Effect::Destructive => 2,
    };
    if old.effect != new.effect {
        let impact = match rank(new.effect) > rank(old.effect) {
            true => CallerImpact::Breaking,
            false => CallerImpact::Detail,
        };
        let says = format!(
            "the effect is {:?} in place of {:?}",
            new.effect, old.effect
        );
        found.add(impact, &pointer(at, "effect"), says.to_lowercase());
    }
    for slot in &old.auth {
        if !new.auth.contains(slot) {
            let says = format!("a connection of the slot `{slot}` does not serve any more");
            found.add(CallerImpact::Breaking, &pointer(at, "auth"), says);
        }
    }
    if (old.auth.is_empty() || old.auth_optional) && !new.auth.is_empty() && !new.auth_optional {
        let says = "a connection is needed now";
        found.add(CallerImpact::Breaking, &pointer(at, "auth"), says);
    }
    for scope in new
        .scopes
        .iter()
        .filter(|scope| !old.scopes.contains(scope))
    {
        let says = format!("the scope `{scope}` is needed now: users connect again");
        found.add(CallerImpact::Breaking, &pointer(at, "scopes"), says);
    }
    if old.deprecated.is_none() && new.deprecated.is_some() {
        found.add(
            CallerImpact::Detail,
            &pointer(at, "deprecated"),
            "the tool is deprecated",
        );
    }
    let (old, new) = (old.input.value(), new.input.value());
    schema_changes(&old, &new, &pointer(at, "input"), 0, found);
}

fn schema_changes(old: &Value, new: &Value, at: &str, depth: usize, found: &mut CallerChanges) {
    if old == new {
        return;
    }
    let (Value::Object(was), Value::Object(is)) = (old, new) else {
        found.add(CallerImpact::Breaking, at, "the schema is another one");
        return;
    };
    if depth > DEPTH_MAX {
        found.add(CallerImpact::Breaking, at, "the schema is another one");
        return;
    }
    types(was, is, at, found);
    enumerations(was, is, at, found);
    for (words, sign, refuses_more) in [(&UPPER, 1.0, "lower"), (&LOWER, -1.0, "higher")] {
        for word in words {
            let limit = |map: &Map<String, Value>| map.get(*word).and_then(Value::as_f64);
            let says = match (limit(was), limit(is)) {
                (None, Some(limit)) => format!("`{word}` is {limit} and was not there"),
                (Some(before), Some(now)) if sign * now < sign * before => {
                    format!("`{word}` is {now}, {refuses_more} than {before}")
                }
                _ => continue,
            };
            found.add(CallerImpact::Breaking, at, says);
        }
    }
    properties(was, is, at, depth, found);
    if let (Some(before), Some(now)) = (was.get("items"), is.get("items")) {
        schema_changes(before, now, &pointer(at, "items"), depth + 1, found);
    }
    if was.get("default") != is.get("default") && is.contains_key("default") {
        let says = format!("the default is {}", is["default"]);
        found.add(CallerImpact::Detail, at, says);
    }
    let known: BTreeSet<&str> = HARMLESS
        .iter()
        .chain(&UPPER)
        .chain(&LOWER)
        .chain(&COMPARED)
        .copied()
        .collect();
    let words: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    for word in words {
        let (before, now) = (was.get(word), is.get(word));
        // A word that is gone refuses less; of one whose meaning is not compared nothing is known.
        if !known.contains(word.as_str()) && before != now && now.is_some() {
            let says = format!("`{word}` is another one, and may refuse what it took");
            found.add(CallerImpact::Breaking, at, says);
        }
    }
    let unique = |map: &Map<String, Value>| map.get("uniqueItems") == Some(&Value::Bool(true));
    if unique(is) && !unique(was) {
        found.add(
            CallerImpact::Breaking,
            at,
            "the elements have to differ now",
        );
    }
}

fn types(was: &Map<String, Value>, is: &Map<String, Value>, at: &str, found: &mut CallerChanges) {
    let of = |map: &Map<String, Value>| -> Option<BTreeSet<String>> {
        Some(match map.get("type")? {
            Value::String(one) => BTreeSet::from([one.clone()]),
            Value::Array(all) => all
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => return None,
        })
    };
    let (Some(now), before) = (of(is), of(was)) else {
        return;
    };
    // Every integer is a number.
    let takes = |kind: &String| now.contains(kind) || (kind == "integer" && now.contains("number"));
    let fits = before
        .as_ref()
        .is_some_and(|before| before.iter().all(takes));
    if !fits {
        let now: Vec<String> = now.into_iter().collect();
        let says = format!("the type is {}", now.join(" or "));
        found.add(CallerImpact::Breaking, at, says);
    }
}

fn enumerations(
    was: &Map<String, Value>,
    is: &Map<String, Value>,
    at: &str,
    found: &mut CallerChanges,
) {
    let of = |map: &Map<String, Value>| map.get("enum").and_then(Value::as_array).cloned();
    match (of(was), of(is)) {
        (None, Some(_)) => found.add(
            CallerImpact::Breaking,
            at,
            "only listed values are taken now",
        ),
        (Some(before), Some(now)) => {
            for gone in before.iter().filter(|value| !now.contains(value)) {
                found.add(
                    CallerImpact::Breaking,
                    at,
                    format!("the value {gone} is gone"),
                );
            }
            for new in now.iter().filter(|value| !before.contains(value)) {
                found.add(
                    CallerImpact::Addition,
                    at,
                    format!("the value {new} is new"),
                );
            }
        }
        _ => {}
    }
}

fn properties(
    was: &Map<String, Value>,
    is: &Map<String, Value>,
    at: &str,
    depth: usize,
    found: &mut CallerChanges,
) {
    let none = Map::new();
    let of = |map: &'_ Map<String, Value>| -> Map<String, Value> {
        map.get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&none)
            .clone()
    };
    let required = |map: &Map<String, Value>| -> BTreeSet<String> {
        let names = map.get("required").and_then(Value::as_array);
        names
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    };
    let (before, now) = (of(was), of(is));
    let (needed_before, needed) = (required(was), required(is));
    let closed =
        |map: &Map<String, Value>| map.get("additionalProperties") == Some(&Value::Bool(false));
    for (name, schema) in &before {
        let at = pointer(at, name);
        match now.get(name) {
            Some(other) => schema_changes(schema, other, &at, depth + 1, found),
            None if closed(is) => found.add(CallerImpact::Breaking, &at, "the argument is gone"),
            None => found.add(
                CallerImpact::Detail,
                &at,
                "the argument is not described any more",
            ),
        }
    }
    for name in now
        .keys()
        .filter(|name| !before.contains_key(*name) && !needed.contains(*name))
    {
        found.add(
            CallerImpact::Addition,
            &pointer(at, name),
            "the argument is new",
        );
    }
    for name in needed.difference(&needed_before) {
        found.add(
            CallerImpact::Breaking,
            &pointer(at, name),
            "the argument is required now",
        );
    }
    let free = |map: &Map<String, Value>| {
        map.get("additionalProperties")
            .cloned()
            .unwrap_or(Value::Bool(true))
    };
    match (free(was), free(is)) {
        (Value::Bool(false), _) => {}
        (_, Value::Bool(false)) => {
            found.add(
                CallerImpact::Breaking,
                at,
                "only described arguments are taken now",
            );
        }
        (before, now) => schema_changes(&before, &now, &pointer(at, "*"), depth + 1, found),
    }
}
