//! Names of members inside arguments, changed to those that the providers of all models accept.
//!
//! Some providers refuse a tool whose schema has a property such as `@id`, `fields[]` or `größe` anywhere. Such a
//! property gets another name in the schema; [`Names`] says which one the service knows it by. The alternatives of one
//! place share their names, so that a value can be translated without knowing which of them it is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toolgate_openapi_table::{Member, Names};

use crate::words;

/// Longest name that is accepted everywhere, in characters.
const NAME_CHARS_MAX: usize = 64;
const ALTERNATIVES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Whether every provider accepts the name of a property.
fn is_portable(name: &str) -> bool {
    (1..=NAME_CHARS_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// Gives the members inside each argument names that every provider accepts.
pub fn portable_arguments(schema: &mut Value) -> BTreeMap<String, Names> {
    let mut all = BTreeMap::new();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (argument, schema) in properties.into_iter().flatten() {
        let names = make_portable(schema);
        if !names.is_empty() {
            all.insert(argument.clone(), names);
        }
    }
    all
}

/// Renames the members inside the schema of one argument. The result is empty where all names are accepted.
fn make_portable(schema: &mut Value) -> Names {
    let names = choose(&[schema]);
    if !names.is_empty() {
        rename(schema, &names);
    }
    names
}

/// Renames the members of a value that was written with the service's names, such as an example.
pub fn translate(value: &mut Value, names: &Names) {
    match value {
        Value::Array(items) => {
            if let Some(names) = &names.items {
                items.iter_mut().for_each(|item| translate(item, names));
            }
        }
        Value::Object(members) => {
            let written = written(names);
            for (name, mut value) in std::mem::take(members) {
                let known = written.get(name.as_str());
                let inside = known.map(|(_, member)| &member.inside);
                if let Some(inside) = inside.or(names.others.as_deref()) {
                    translate(&mut value, inside);
                }
                let name = known.map_or(name.as_str(), |(name, _)| name).to_owned();
                members.insert(name, value);
            }
        }
        _ => {}
    }
}

/// The names of one place, which all these schemas describe.
fn choose(schemas: &[&Value]) -> Names {
    let mut parts = Vec::new();
    for schema in schemas {
        flatten(schema, &mut parts);
    }
    let mut properties: Vec<(&str, Vec<&Value>)> = Vec::new();
    for (name, property) in parts.iter().flat_map(|part| members(part)) {
        match properties.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(property),
            None => properties.push((name, vec![property])),
        }
    }
    let mut taken: BTreeSet<String> = properties
        .iter()
        .filter(|(name, _)| is_portable(name))
        .map(|(name, _)| (*name).to_owned())
        .collect();
    let mut names = Names::default();
    for (name, schemas) in properties {
        let inside = choose(&schemas);
        let (key, renamed) = match is_portable(name) {
            true => (name.to_owned(), None),
            false => (free_name(name, &mut taken), Some(name.to_owned())),
        };
        if renamed.is_some() || !inside.is_empty() {
            names.members.insert(
                key,
                Member {
                    name: renamed,
                    inside,
                },
            );
        }
    }
    names.items = below(&parts, &["items", "prefixItems"]);
    names.others = below(&parts, &["additionalProperties"]);
    names
}

fn free_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let wanted = words::argument(name);
    let mut free = wanted.clone();
    let mut number = 2;
    while !taken.insert(free.clone()) {
        free = words::numbered(&wanted, number, NAME_CHARS_MAX);
        number += 1;
    }
    free
}

/// A schema and its alternatives.
fn flatten<'s>(schema: &'s Value, parts: &mut Vec<&'s Map<String, Value>>) {
    let Value::Object(map) = schema else {
        return;
    };
    parts.push(map);
    for key in ALTERNATIVES {
        let branches = map.get(key).and_then(Value::as_array);
        for branch in branches.into_iter().flatten() {
            flatten(branch, parts);
        }
    }
}

fn members(schema: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    properties.map(|(name, property)| (name.as_str(), property))
}

/// The names one level down.
fn below(parts: &[&Map<String, Value>], keys: &[&str]) -> Option<Box<Names>> {
    let mut schemas = Vec::new();
    for value in parts
        .iter()
        .flat_map(|part| keys.iter().filter_map(|key| part.get(*key)))
    {
        match value {
            Value::Array(list) => schemas.extend(list),
            one => schemas.push(one),
        }
    }
    if schemas.is_empty() {
        return None;
    }
    let names = choose(&schemas);
    (!names.is_empty()).then(|| Box::new(names))
}

/// By the service's name: the name that a model writes, and what is inside.
fn written(names: &Names) -> BTreeMap<&str, (&str, &Member)> {
    let entries = names.members.iter();
    entries
        .map(|(key, member)| {
            let own = member.name.as_deref().unwrap_or(key);
            (own, (key.as_str(), member))
        })
        .collect()
}

/// Writes the names into a schema and its alternatives.
fn rename(schema: &mut Value, names: &Names) {
    let Value::Object(map) = schema else {
        return;
    };
    for key in ALTERNATIVES {
        if let Some(Value::Array(branches)) = map.get_mut(key) {
            branches.iter_mut().for_each(|branch| rename(branch, names));
        }
    }
    let written = written(names);
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        for (name, mut property) in std::mem::take(properties) {
            let known = written.get(name.as_str());
            if let Some((_, member)) = known {
                rename(&mut property, &member.inside);
            }
            let name = known.map_or(name.as_str(), |(name, _)| name).to_owned();
            properties.insert(name, property);
        }
    }
    if let Some(Value::Array(required)) = map.get_mut("required") {
        for name in required {
            let known = name.as_str().and_then(|name| written.get(name));
            if let Some((written, _)) = known {
                *name = Value::from(*written);
            }
        }
    }
    for (keys, names) in [
        (&["items", "prefixItems"][..], &names.items),
        (&["additionalProperties"][..], &names.others),
    ] {
        let Some(names) = names else { continue };
        for key in keys {
            match map.get_mut(*key) {
                Some(Value::Array(list)) => list.iter_mut().for_each(|one| rename(one, names)),
                Some(one) => rename(one, names),
                None => {}
            }
        }
    }
    for key in ["enum", "examples"] {
        if let Some(Value::Array(values)) = map.get_mut(key) {
            values.iter_mut().for_each(|value| translate(value, names));
        }
    }
    for key in ["const", "default"] {
        if let Some(value) = map.get_mut(key) {
            translate(value, names);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn every_name(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(map) => {
                if let Some(Value::Object(properties)) = map.get("properties") {
                    found.extend(properties.keys().cloned());
                }
                map.values().for_each(|value| every_name(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| every_name(item, found)),
            _ => {}
        }
    }

    #[test]
    fn members_get_names_that_are_accepted_at_each_depth() {
        let long = "n".repeat(65);
        let mut schema = json!({
            "type": "object",
            "properties": {
                "@id": {"type": "string"},
                "id": {"type": "string"},
                "fields[]": {"type": "array", "items": {"properties": {"größe": {"type": "integer"}}, "required": ["größe"]}},
                "either": {"anyOf": [
                    {"properties": {"$ref-id": {}}, "required": ["$ref-id"]},
                    {"oneOf": [{"properties": {"$ref-id": {}, "ref-id": {}}}]}
                ]},
                "map": {"additionalProperties": {"properties": {"@lang": {}}}},
                "list": {"prefixItems": [{"properties": {"a b": {}}}]},
                (long.clone()): {"properties": {"plain": {}}}
            },
            "required": ["@id", "id"],
            "examples": [{"@id": "x", "id": "y", "fields[]": [{"größe": 1}]}],
            "default": {"map": {"any": {"@lang": "de"}}}
        });
        let names = make_portable(&mut schema);
        let mut found = Vec::new();
        every_name(&schema, &mut found);
        assert!(found.iter().all(|name| is_portable(name)), "{found:?}");
        assert_eq!(schema["required"], json!(["id_2", "id"]));
        assert_eq!(
            schema["examples"][0],
            json!({"id_2": "x", "id": "y", "fields": [{"gr_e": 1}]})
        );
        assert_eq!(schema["default"], json!({"map": {"any": {"lang": "de"}}}));
        let either = &schema["properties"]["either"]["anyOf"];
        assert_eq!(either[0]["required"], json!(["ref-id_2"]));
        assert_eq!(names.members["id_2"].name.as_deref(), Some("@id"));
        let wire = |member: &Member| member.name.clone();
        assert_eq!(wire(&names.members["fields"]).as_deref(), Some("fields[]"));
        assert!(!names.members.contains_key("id"));
        let cut = names
            .members
            .values()
            .filter_map(wire)
            .find(|name| *name == long);
        assert_eq!(cut, Some(long));
    }

    #[test]
    fn names_that_are_accepted_stay() {
        let mut schema = json!({"type": "object", "properties": {
            "_links": {"type": "object", "properties": {"a.b-c_D9": {}}}, "x": {"items": {}}
        }});
        let before = schema.clone();
        assert!(make_portable(&mut schema).is_empty());
        assert_eq!(schema, before);
    }
}
