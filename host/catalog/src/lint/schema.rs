//! What a JSON Schema in a manifest may contain.
//!
//! JSON Schema 2020-12 without anything that reaches outside the document or that could make
//! checking arguments slow: no remote or dynamic references, no embedded resources, patterns of
//! the linear-time engine only, and a bound on how often one value can be looked at.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::Value;

use super::{Lint, ManifestPath, text};
use crate::arguments;
use crate::cost::{PATTERN_STATES_MAX, SchemaCost};
use crate::parse::push_segment;

pub use crate::arguments::ARGUMENTS_DEPTH_MAX;

/// Largest schema as compact JSON, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Deepest nesting of objects and arrays in a schema.
pub const SCHEMA_DEPTH_MAX: usize = 48;
/// Most subschemas in one schema.
pub const SCHEMA_SUBSCHEMAS_MAX: usize = 5_000;
/// Most `pattern`s and `patternProperties` in one schema.
const SCHEMA_PATTERNS_MAX: usize = 64;
/// Most of them in all schemas of a manifest: each is compiled to see that it can be.
const PATTERNS_MAX: usize = 2_000;
/// Longest chain of `$ref`, `allOf`, `anyOf` ... that applies to one value.
const CHAIN_MAX: usize = 32;
/// Most subschemas that may be applied on the way from the arguments to one value inside them.
const CHECKS_MAX: u64 = 5_000;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Checks one schema; `at` is its place in the manifest. Answers whether it is usable.
pub(super) fn check(found: &mut Lint, at: &ManifestPath<'_>, schema: &Value) -> bool {
    match problem(schema, &mut found.patterns) {
        None => true,
        Some(problem) => {
            found.error(at, problem);
            false
        }
    }
}

fn problem(schema: &Value, patterns: &mut usize) -> Option<String> {
    if depth_exceeds(schema, SCHEMA_DEPTH_MAX) {
        return Some(format!(
            "the schema is nested deeper than {SCHEMA_DEPTH_MAX} levels"
        ));
    }
    let bytes = schema.to_string().len();
    if bytes > SCHEMA_BYTES_MAX {
        return Some(format!(
            "the schema has {bytes} bytes; at most {SCHEMA_BYTES_MAX} are accepted: describe fewer arguments or shorten their texts"
        ));
    }
    let mut graph = Graph::default();
    if let Err(problem) = graph.add(schema, &mut String::new()) {
        return Some(problem);
    }
    if let Err(problem) = graph.check() {
        return Some(problem);
    }
    let states = match graph.patterns {
        0 => 0,
        _ => SchemaCost::pattern_states(schema),
    };
    if states > PATTERN_STATES_MAX {
        return Some(format!(
            "its patterns have {states} states together; at most {PATTERN_STATES_MAX} are accepted: repeat less, or use `maxLength` and `enum`"
        ));
    }
    *patterns += graph.patterns;
    if *patterns > PATTERNS_MAX {
        return Some(format!(
            "the manifest has more than {PATTERNS_MAX} patterns in its schemas; use `enum` or `format` where they do"
        ));
    }
    arguments::compile(schema)
        .err()
        .map(|problem| format!("not a usable JSON Schema 2020-12: {problem}"))
}

fn depth_exceeds(value: &Value, max: usize) -> bool {
    match value {
        Value::Array(items) => max == 0 || items.iter().any(|v| depth_exceeds(v, max - 1)),
        Value::Object(map) => max == 0 || map.values().any(|v| depth_exceeds(v, max - 1)),
        _ => false,
    }
}

/// Why a keyword of the schema at `pointer` is not accepted.
fn refused_keyword(keyword: &str, value: &Value, pointer: &str) -> Option<String> {
    let is_top = pointer.is_empty();
    match keyword {
        "$dynamicRef" | "$dynamicAnchor" | "$recursiveRef" | "$recursiveAnchor" | "$anchor" => {
            Some(format!(
                "`{keyword}` at {} is not accepted; use `$ref` to `#/$defs/...`",
                shown(pointer)
            ))
        }
        "$schema" => {
            let named = value.as_str().unwrap_or_default().trim_end_matches('#');
            let accepted = is_top && named == DIALECT;
            (!accepted).then(|| format!("`$schema` is accepted only at the top, with {DIALECT}"))
        }
        "$id" if !is_top => Some(format!(
            "`$id` at {} is not accepted below the top",
            shown(pointer)
        )),
        "dependencies" => Some(
            "`dependencies` is of an older draft; use `dependentRequired` or `dependentSchemas`"
                .to_owned(),
        ),
        _ => None,
    }
}

/// How subschemas apply each other.
#[derive(Default)]
struct Graph {
    nodes: Vec<SchemaNode>,
    by_pointer: HashMap<String, usize>,
    patterns: usize,
}

#[derive(Default)]
struct SchemaNode {
    pointer: String,
    /// Applied to the same value.
    same: Vec<usize>,
    reference: Option<String>,
    /// Applied to a value one level down; of each group, one to any given value.
    below: Vec<Vec<usize>>,
}

impl Graph {
    fn add(&mut self, schema: &Value, pointer: &mut String) -> Result<usize, String> {
        let id = self.nodes.len();
        if id == SCHEMA_SUBSCHEMAS_MAX {
            return Err(format!("more than {SCHEMA_SUBSCHEMAS_MAX} subschemas"));
        }
        self.nodes.push(SchemaNode {
            pointer: pointer.clone(),
            ..SchemaNode::default()
        });
        self.by_pointer.insert(pointer.clone(), id);
        let map = match schema {
            Value::Bool(_) => return Ok(id),
            Value::Object(map) => map,
            _ => return Err(format!("{} is not a schema: use an object", shown(pointer))),
        };
        let mut node = SchemaNode {
            pointer: pointer.clone(),
            ..SchemaNode::default()
        };
        for (keyword, value) in map {
            if let Some(problem) = refused_keyword(keyword, value, pointer) {
                return Err(problem);
            }
            let length = pointer.len();
            push_segment(pointer, keyword);
            self.keyword(&mut node, keyword, value, pointer)?;
            pointer.truncate(length);
        }
        self.nodes[id] = node;
        Ok(id)
    }

    fn keyword(
        &mut self,
        node: &mut SchemaNode,
        keyword: &str,
        value: &Value,
        pointer: &mut String,
    ) -> Result<(), String> {
        match (keyword, value) {
            ("$ref", Value::String(target)) => node.reference = Some(target.clone()),
            ("pattern", Value::String(_)) => self.patterns += 1,
            ("allOf" | "anyOf" | "oneOf", Value::Array(items)) => {
                node.same.extend(self.add_list(items, pointer)?);
            }
            ("not" | "if" | "then" | "else", value) => node.same.push(self.add(value, pointer)?),
            ("dependentSchemas", Value::Object(map)) => {
                node.same.extend(self.add_map(map, pointer)?);
            }
            ("properties", Value::Object(map)) => node.below.push(self.add_map(map, pointer)?),
            ("patternProperties", Value::Object(map)) => {
                self.patterns += map.len();
                // Several patterns can match one name.
                for id in self.add_map(map, pointer)? {
                    node.below.push(vec![id]);
                }
            }
            (
                "additionalProperties"
                | "unevaluatedProperties"
                | "propertyNames"
                | "items"
                | "unevaluatedItems"
                | "contains"
                | "contentSchema",
                value,
            ) => {
                let id = self.add(value, pointer)?;
                node.below.push(vec![id]);
            }
            ("prefixItems", Value::Array(items)) => node.below.push(self.add_list(items, pointer)?),
            ("$defs" | "definitions", Value::Object(map)) => {
                self.add_map(map, pointer)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn add_list(&mut self, items: &[Value], pointer: &mut String) -> Result<Vec<usize>, String> {
        self.add_each(
            items
                .iter()
                .enumerate()
                .map(|(i, item)| (i.to_string(), item)),
            pointer,
        )
    }

    fn add_map(
        &mut self,
        map: &serde_json::Map<String, Value>,
        pointer: &mut String,
    ) -> Result<Vec<usize>, String> {
        self.add_each(map.iter().map(|(key, item)| (key.clone(), item)), pointer)
    }

    fn add_each<'v>(
        &mut self,
        items: impl Iterator<Item = (String, &'v Value)>,
        pointer: &mut String,
    ) -> Result<Vec<usize>, String> {
        let length = pointer.len();
        let mut ids = Vec::new();
        for (segment, item) in items {
            push_segment(pointer, &segment);
            ids.push(self.add(item, pointer)?);
            pointer.truncate(length);
        }
        Ok(ids)
    }

    fn check(&mut self) -> Result<(), String> {
        if self.patterns > SCHEMA_PATTERNS_MAX {
            return Err(format!(
                "{} patterns; at most {SCHEMA_PATTERNS_MAX} are accepted in one schema",
                self.patterns
            ));
        }
        self.resolve()?;
        let order = self.order()?;
        self.bound_checks(&order)
    }

    fn resolve(&mut self) -> Result<(), String> {
        for id in 0..self.nodes.len() {
            let Some(target) = self.nodes[id].reference.take() else {
                continue;
            };
            let found = target
                .strip_prefix('#')
                .and_then(|p| self.by_pointer.get(p));
            match found {
                Some(found) => {
                    let found = *found;
                    self.nodes[id].same.push(found);
                }
                None if target.starts_with('#') => {
                    return Err(format!(
                        "`$ref` at {} names `{}`, which is not a schema in this document; refer to `#/$defs/NAME`",
                        shown(&self.nodes[id].pointer),
                        text::shown(&target)
                    ));
                }
                None => {
                    return Err(format!(
                        "`$ref` at {} leads out of the document to `{}`; copy what it names into `$defs`",
                        shown(&self.nodes[id].pointer),
                        text::shown(&target)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Nodes in an order in which everything applied to the same value comes first. Refuses a
    /// schema that applies itself to the same value, which would never end.
    fn order(&self) -> Result<Vec<usize>, String> {
        let mut order = Vec::with_capacity(self.nodes.len());
        // 0: new, 1: on the way, 2: done.
        let mut state = vec![0_u8; self.nodes.len()];
        for start in 0..self.nodes.len() {
            if state[start] != 0 {
                continue;
            }
            state[start] = 1;
            let mut way = vec![(start, 0_usize)];
            while let Some((id, next)) = way.last_mut() {
                let id = *id;
                match self.nodes[id].same.get(*next) {
                    None => {
                        state[id] = 2;
                        order.push(id);
                        way.pop();
                    }
                    Some(&child) => {
                        *next += 1;
                        match state[child] {
                            0 => {
                                state[child] = 1;
                                way.push((child, 0));
                            }
                            1 => {
                                return Err(format!(
                                    "the schema at {} refers to itself without going a level deeper, so checking it would never end",
                                    shown(&self.nodes[child].pointer)
                                ));
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        Ok(order)
    }

    fn bound_checks(&self, order: &[usize]) -> Result<(), String> {
        let mut chain = vec![1_usize; self.nodes.len()];
        for &id in order {
            let longest = self.nodes[id]
                .same
                .iter()
                .map(|&c| chain[c])
                .max()
                .unwrap_or(0);
            chain[id] = longest + 1;
            if chain[id] > CHAIN_MAX {
                return Err(format!(
                    "more than {CHAIN_MAX} schemas in a chain of `$ref`, `allOf`, `anyOf` ... at {}",
                    shown(&self.nodes[id].pointer)
                ));
            }
        }
        let mut below: Vec<u64> = vec![0; self.nodes.len()];
        for _ in 0..=ARGUMENTS_DEPTH_MAX {
            let mut here: Vec<u64> = vec![0; self.nodes.len()];
            for &id in order {
                let node = &self.nodes[id];
                let same = node
                    .same
                    .iter()
                    .fold(1_u64, |sum, &c| sum.saturating_add(here[c]));
                here[id] = node.below.iter().fold(same, |sum, group| {
                    sum.saturating_add(group.iter().map(|&c| below[c]).max().unwrap_or(0))
                });
            }
            if here[0] > CHECKS_MAX {
                return Err(
                    "the schema branches and repeats itself so that checking one value could take very long; \
                     let it recur in one place only, or describe one level and accept any object below"
                        .to_owned(),
                );
            }
            if here == below {
                break;
            }
            below = here;
        }
        Ok(())
    }
}

fn shown(pointer: &str) -> String {
    if pointer.is_empty() {
        "the top".to_owned()
    } else {
        text::shown(pointer)
    }
}
