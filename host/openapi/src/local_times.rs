//! Local times whose zone is in another field of the same object, as a description says with
//! `x-toolgate: {zone: timeZone}` at the time.

use serde_json::Value;
use toolgate_openapi_table::LocalTime;

use crate::arguments::{ArgumentForm, ArgumentList};
use crate::document::{Documents, Node};
use crate::keys::{self, InputKeys};
use crate::problem::{Problem, below};
use crate::words;

/// Deepest nesting and most schemas of one operation that are looked at.
const DEPTH_MAX: usize = 12;
const SCHEMAS_MAX: usize = 20_000;

/// Whether a description has such a time anywhere.
pub(crate) fn mentioned(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            let here = map.get(keys::KEY).and_then(|keys| keys.get("zone"));
            here.is_some() || map.values().any(mentioned)
        }
        Value::Array(items) => items.iter().any(mentioned),
        _ => false,
    }
}

/// The local times among these arguments. `pointer` is the operation's.
pub(crate) fn collect(
    docs: &Documents,
    arguments: &ArgumentList<'_>,
    pointer: &str,
) -> Result<Vec<LocalTime>, Problem> {
    let mut search = TimeSearch {
        docs,
        pointer,
        schemas: 0,
        found: Vec::new(),
    };
    for argument in &arguments.list {
        let ArgumentForm::Schema(node) = &argument.form else {
            continue;
        };
        let at = below("", &argument.name);
        if let Some(zone) = search.zone_of(*node)? {
            let beside = words::argument(&zone);
            search.add(&at, "", &beside, arguments.has(&beside))?;
        }
        search.inside(*node, &at, DEPTH_MAX)?;
    }
    Ok(search.found)
}

struct TimeSearch<'a, 'd> {
    docs: &'d Documents,
    pointer: &'a str,
    schemas: usize,
    found: Vec<LocalTime>,
}

impl<'d> TimeSearch<'_, 'd> {
    fn zone_of(&self, node: Node<'_>) -> Result<Option<String>, Problem> {
        let keys: InputKeys = keys::read(self.docs.name(), self.pointer, node)?;
        Ok(keys.zone)
    }

    fn add(&mut self, time: &str, around: &str, zone: &str, is_there: bool) -> Result<(), Problem> {
        if !is_there {
            return Err(Problem::new(
                self.docs.name(),
                self.pointer,
                format!("`zone` at the argument `{time}` names `{zone}`, which is not beside it"),
            ));
        }
        self.found.push(LocalTime {
            time: time.to_owned(),
            zone: below(around, zone),
        });
        Ok(())
    }

    fn inside(&mut self, node: Node<'d>, at: &str, depth: usize) -> Result<(), Problem> {
        self.schemas += 1;
        let Ok(node) = self.docs.resolve(node) else {
            return Ok(());
        };
        if depth == 0 || self.schemas > SCHEMAS_MAX {
            return Ok(());
        }
        for (name, property) in node.members("properties") {
            let place = below(at, name);
            if let Some(zone) = self.zone_of(property)? {
                let beside = node.get("properties").and_then(|all| all.get(&zone));
                self.add(&place, at, &zone, beside.is_some())?;
            }
            self.inside(property, &place, depth - 1)?;
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            for part in node.elements(key) {
                self.inside(part, at, depth - 1)?;
            }
        }
        match node.get("items") {
            Some(items) => self.inside(items, &format!("{at}/*"), depth - 1),
            None => Ok(()),
        }
    }
}
