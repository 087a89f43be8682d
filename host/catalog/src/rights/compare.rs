//! The walk through two manifests side by side.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::place::{PathStep, pattern};
use super::rules::{self, CompareRule, Keyword, NamedList};
use super::words;
use super::{RightChange, TEXT_CHANGE_CHARS_MAX, TEXT_CHANGES_CHARS_MAX, Upgrades, Weight};
use crate::mcp_calls::MCP;
use crate::parse::push_segment;

/// Every difference, in the order of the manifest.
pub(super) fn changes(old: &Value, new: &Value, upgrades: Upgrades) -> Vec<RightChange> {
    let mut walk = Comparison {
        upgrades,
        place: Vec::new(),
        found: Vec::new(),
        text_chars: 0,
        texts_wait: [old, new].into_iter().any(is_of_mcp_server),
    };
    walk.keys(Some(old), Some(new), |walk, old, new| walk.at(old, new));
    if walk.text_chars > TEXT_CHANGES_CHARS_MAX {
        let chars = walk.text_chars;
        for change in &mut walk.found {
            if change.weight == Weight::Text {
                change.weight = Weight::Right;
                change.says = format!(
                    "{} (all texts change by {chars} characters together)",
                    change.says
                );
            }
        }
    }
    walk.found
}

struct Comparison {
    upgrades: Upgrades,
    place: Vec<PathStep>,
    found: Vec<RightChange>,
    /// Characters by which texts differ so far.
    text_chars: usize,
    /// A remote server wrote the texts, not the author of a version: what it says to models is seen before it is served.
    texts_wait: bool,
}

type Side<'v> = Option<&'v Value>;

impl Comparison {
    /// The place with `*` for the names of objects in lists.
    fn rule(&self) -> CompareRule {
        rules::rule_for(&pattern(&self.place))
    }

    fn within(&mut self, name: &str, of_list: bool, look: impl FnOnce(&mut Self)) {
        self.place.push(PathStep {
            name: name.to_owned(),
            of_list,
        });
        look(self);
        self.place.pop();
    }

    fn found(&mut self, weight: Weight, old: Side<'_>, new: Side<'_>) {
        let mut path = String::new();
        for step in &self.place {
            push_segment(&mut path, &step.name);
        }
        self.found.push(RightChange {
            path,
            weight,
            says: words::describe(&self.place, old, new),
            old: old.cloned(),
            new: new.cloned(),
        });
    }

    fn at(&mut self, old: Side<'_>, new: Side<'_>) {
        if old == new {
            return;
        }
        match self.rule() {
            CompareRule::Exact => self.exact(old, new),
            CompareRule::Free => {}
            CompareRule::Text => self.text(old, new),
            CompareRule::Set => self.set(old, new),
            CompareRule::Named(named) => self.named(named, old, new),
            CompareRule::AtMost => {
                let less = match (old.and_then(Value::as_u64), new.and_then(Value::as_u64)) {
                    (Some(old), Some(new)) => new < old,
                    _ => false,
                };
                let weight = if less { Weight::Less } else { Weight::Right };
                self.found(weight, old, new);
            }
            CompareRule::Restriction if old.is_none() => self.found(Weight::Less, old, new),
            CompareRule::Restriction => self.exact(old, new),
            CompareRule::Schema { grows } => self.schema(grows, old, new),
        }
    }

    /// Objects key by key, so that each change is named by itself; everything else as a whole.
    fn exact(&mut self, old: Side<'_>, new: Side<'_>) {
        match (old, new) {
            (Some(Value::Object(_)), Some(Value::Object(_))) => {
                self.keys(old, new, |walk, old, new| walk.at(old, new));
            }
            _ => self.found(Weight::Right, old, new),
        }
    }

    /// Each key of either object: those of the new one in its order, then those that are gone.
    fn keys(&mut self, old: Side<'_>, new: Side<'_>, look: impl Fn(&mut Self, Side<'_>, Side<'_>)) {
        let none = Map::new();
        let old = old.and_then(Value::as_object).unwrap_or(&none);
        let new = new.and_then(Value::as_object).unwrap_or(&none);
        let gone = old.keys().filter(|key| !new.contains_key(*key));
        for key in new.keys().chain(gone) {
            self.within(key, false, |walk| look(walk, old.get(key), new.get(key)));
        }
    }

    fn text(&mut self, old: Side<'_>, new: Side<'_>) {
        if self.texts_wait {
            return self.found(Weight::Right, old, new);
        }
        let chars = changed_chars(&flat(old), &flat(new));
        self.text_chars += chars;
        if chars > TEXT_CHANGE_CHARS_MAX {
            self.found(Weight::Right, old, new);
            if let Some(change) = self.found.last_mut() {
                change.says = format!("{} (changed by {chars} characters)", change.says);
            }
        } else {
            self.found(Weight::Text, old, new);
        }
    }

    fn set(&mut self, old: Side<'_>, new: Side<'_>) {
        let (Some(had), Some(asked)) = (texts(old), texts(new)) else {
            return self.found(Weight::Right, old, new);
        };
        let place = self.place.clone();
        let place = pattern(&place);
        for (index, text) in asked.iter().enumerate() {
            if had.contains(text) || asked[..index].contains(text) {
                continue;
            }
            let covered = had.iter().any(|old| rules::covers(&place, old, text));
            let weight = if covered { Weight::Less } else { Weight::Right };
            let value = Value::from(*text);
            self.within(text, false, |walk| walk.found(weight, None, Some(&value)));
        }
        for text in &had {
            if !asked.contains(text) {
                let value = Value::from(*text);
                self.within(text, false, |walk| {
                    walk.found(Weight::Less, Some(&value), None)
                });
            }
        }
    }

    fn named(&mut self, named: NamedList, old: Side<'_>, new: Side<'_>) {
        let (Some(had), Some(asked)) = (by_name(old, named.key), by_name(new, named.key)) else {
            return self.found(Weight::Right, old, new);
        };
        let find = |list: &[(&str, &Value)], name: &str| -> Option<usize> {
            list.iter().position(|(other, _)| *other == name)
        };
        let mut last = None;
        let mut moved = false;
        for (name, value) in &asked {
            let before = find(&had, name);
            if let Some(before) = before {
                moved |= last.is_some_and(|last| before < last);
                last = Some(before);
            }
            self.within(name, true, |walk| match before {
                Some(before) => walk.exact(Some(had[before].1), Some(value)),
                None => walk.added(value),
            });
        }
        for (name, value) in &had {
            if find(&asked, name).is_none() {
                let weight = if named.less_without {
                    Weight::Less
                } else {
                    Weight::Right
                };
                self.within(name, true, |walk| walk.found(weight, Some(value), None));
            }
        }
        if moved && named.ordered {
            let names = |list: &[(&str, &Value)]| -> Value {
                list.iter().map(|(name, _)| Value::from(*name)).collect()
            };
            self.found(Weight::Right, Some(&names(&had)), Some(&names(&asked)));
        }
    }

    /// A new object of a list: said as a whole, then key by key.
    fn added(&mut self, value: &Value) {
        self.found(Weight::Right, None, Some(value));
        self.keys(None, Some(value), |walk, old, new| walk.whole(old, new));
    }

    /// A place of something new. A text of it belongs to it and waits with it.
    fn whole(&mut self, old: Side<'_>, new: Side<'_>) {
        match self.rule() {
            CompareRule::Set | CompareRule::Named(_) => self.at(old, new),
            _ if words::says_already(&pattern(&self.place)) => {}
            _ => self.found(Weight::Right, old, new),
        }
    }

    fn schema(&mut self, grows: bool, old: Side<'_>, new: Side<'_>) {
        if old == new {
            return;
        }
        let (Some(Value::Object(had)), Some(Value::Object(asked))) = (old, new) else {
            return self.found(Weight::Right, old, new);
        };
        let required: BTreeSet<&str> = texts(asked.get("required"))
            .unwrap_or_default()
            .into_iter()
            .collect();
        let gone = had.keys().filter(|key| !asked.contains_key(*key));
        for key in asked.keys().chain(gone) {
            let (old, new) = (had.get(key), asked.get(key));
            if old == new {
                continue;
            }
            let kinds = [old, new].map(|side| side.map(|value| rules::keyword(key, value)));
            let kind = kinds[0].or(kinds[1]).unwrap_or(Keyword::Other);
            let same = kinds.iter().flatten().all(|other| *other == kind);
            self.within(key, false, |walk| match kind {
                _ if !same => walk.found(Weight::Right, old, new),
                Keyword::Annotation => walk.text(old, new),
                Keyword::Map { properties } => {
                    let may_grow = grows && properties;
                    walk.map(may_grow.then_some(&required), grows, old, new);
                }
                Keyword::One { grows: inner } => walk.schema(grows && inner, old, new),
                Keyword::List => walk.list(grows, old, new),
                Keyword::Other => walk.found(Weight::Right, old, new),
            });
        }
    }

    /// Schemas by name. `required`: where new names may be arguments that nobody has to give.
    fn map(
        &mut self,
        required: Option<&BTreeSet<&str>>,
        grows: bool,
        old: Side<'_>,
        new: Side<'_>,
    ) {
        let is_map = |side: Side<'_>| side.is_none_or(Value::is_object);
        if !is_map(old) || !is_map(new) {
            return self.found(Weight::Right, old, new);
        }
        let upgrades = self.upgrades;
        self.keys(old, new, |walk, old, new| match (old, new) {
            (None, Some(_)) => {
                let name = walk.place.last().map_or("", |step| step.name.as_str());
                let optional = required.is_some_and(|required| !required.contains(name));
                let weight = match upgrades {
                    Upgrades::Schemas if optional => Weight::Allowed,
                    _ => Weight::Right,
                };
                walk.found(weight, old, new);
            }
            _ => walk.schema(grows, old, new),
        });
    }

    fn list(&mut self, grows: bool, old: Side<'_>, new: Side<'_>) {
        match (old, new) {
            (Some(Value::Array(had)), Some(Value::Array(asked))) if had.len() == asked.len() => {
                for (index, (old, new)) in had.iter().zip(asked).enumerate() {
                    self.within(&index.to_string(), false, |walk| {
                        walk.schema(grows, Some(old), Some(new));
                    });
                }
            }
            _ => self.found(Weight::Right, old, new),
        }
    }
}

/// Whether a manifest has tools of an MCP server.
fn is_of_mcp_server(manifest: &Value) -> bool {
    let tools = manifest.get("tools").and_then(Value::as_array);
    let sends = tools
        .into_iter()
        .flatten()
        .filter_map(|tool| tool.pointer("/request/send")?.as_str());
    let mut methods = sends.filter_map(|send| send.split_once(' '));
    methods.any(|(method, _)| method == MCP)
}

/// A list of texts; an absent one is empty.
fn texts(side: Side<'_>) -> Option<Vec<&str>> {
    match side {
        None => Some(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(_) => None,
    }
}

/// The objects of a list by name; none where one has no name or two have the same.
fn by_name<'v>(side: Side<'v>, key: &str) -> Option<Vec<(&'v str, &'v Value)>> {
    let items = match side {
        None => return Some(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return None,
    };
    let mut seen = HashSet::new();
    items
        .iter()
        .map(|item| {
            let name = item.as_object()?.get(key)?.as_str()?;
            seen.insert(name).then_some((name, item))
        })
        .collect()
}

fn flat(side: Side<'_>) -> String {
    match side {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// By how many characters one text differs from another: what is left of the longer one without the
/// common start and end.
fn changed_chars(old: &str, new: &str) -> usize {
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    old.len().max(new.len()) - end
}
