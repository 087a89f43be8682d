//! From a schema of a description to JSON Schema 2020-12 without references.
//!
//! References are replaced by their targets, `allOf` is merged, keywords of older drafts become
//! those of 2020-12 and what is not a schema is left out. `oneOf` becomes `anyOf`: branches that are
//! cut to the same outline would refuse everything. An expansion is bounded in bytes, values and
//! depth; a schema that contains itself or is too deep is cut, and its description says so.

mod kinds;
mod merge;
mod portable;
mod shape;
#[cfg(test)]
mod tests;
mod values;

pub use kinds::usable_pattern;
pub use portable::{portable_arguments, translate};
pub use shape::{OtherFields, Shape, shape};

use kinds::{allow_null, kind, scalars};
use merge::merge;
use serde_json::{Map, Value, json};

use super::document::{Documents, Node};
use super::words;

/// Bounds of one expansion.
#[derive(Clone, Copy, Debug)]
pub struct ExpansionBounds {
    /// Nested schemas below an argument.
    pub depth: usize,
    /// Characters of each nested description.
    pub text_chars: usize,
    /// Approximate bytes of JSON.
    pub bytes: usize,
    pub values: usize,
}

const PATTERNS_MAX: usize = 40;
/// Most branches of one `anyOf`.
const BRANCHES_MAX: usize = 20;
/// Longest chain of references, in addition to the bounds.
const STACK_MAX: usize = 64;

/// Expands schemas until its bounds are used up.
pub struct Expander<'d> {
    docs: &'d Documents,
    bounds: ExpansionBounds,
    bytes: usize,
    values: usize,
    patterns: usize,
    /// Schemas from the top to the current one, to notice a schema that contains itself.
    stack: Vec<usize>,
    /// More would be needed than the bounds allow.
    pub over: bool,
    /// A schema was cut because it contains itself.
    pub recursive: bool,
}

impl<'d> Expander<'d> {
    pub fn new(docs: &'d Documents, bounds: ExpansionBounds) -> Self {
        Self {
            docs,
            bounds,
            bytes: 0,
            values: 0,
            patterns: 0,
            stack: Vec::new(),
            over: false,
            recursive: false,
        }
    }

    /// The schema at `node` as a schema of its own. Always an object.
    pub fn expand(&mut self, node: Node<'d>) -> Map<String, Value> {
        self.schema(node, 0)
    }

    fn spend(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.values += 1;
        self.over |= self.bytes > self.bounds.bytes || self.values > self.bounds.values;
        !self.over
    }

    fn schema(&mut self, node: Node<'d>, depth: usize) -> Map<String, Value> {
        let Some(map) = node.value.as_object() else {
            return match node.value {
                Value::Bool(false) => object([("not", json!({}))]),
                _ => Map::new(),
            };
        };
        if !self.spend(12) {
            return Map::new();
        }
        if self.stack.contains(&node.identity()) || self.stack.len() > STACK_MAX {
            self.recursive = true;
            let mut cut = Map::new();
            if let Some(kind) = kind(map) {
                cut.insert("type".to_owned(), kind);
            }
            cut.insert(
                "description".to_owned(),
                json!("Recursive: the same form as the object above; not described again."),
            );
            return cut;
        }
        self.stack.push(node.identity());
        let made = if map.contains_key("$ref") {
            self.reference(node, map, depth)
        } else {
            self.object(node, map, depth)
        };
        self.stack.pop();
        made
    }

    fn reference(
        &mut self,
        node: Node<'d>,
        map: &Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let mut made = match self.docs.resolve(node) {
            Ok(target) => self.schema(target, depth),
            Err(problem) => object([(
                "description",
                json!(format!("Not described: {}.", words::clean(&problem, 200))),
            )]),
        };
        // OpenAPI 3.1 allows these beside a reference.
        if let Some(text) = map.get("description").and_then(Value::as_str) {
            self.describe(&mut made, text);
        }
        if map.get("nullable") == Some(&Value::Bool(true)) {
            allow_null(&mut made);
        }
        made
    }

    fn describe(&mut self, made: &mut Map<String, Value>, text: &str) {
        let text = words::prose(text, self.bounds.text_chars);
        if !text.is_empty() && self.bounds.text_chars > 0 && self.spend(text.len() + 16) {
            made.insert("description".to_owned(), json!(text));
        }
    }

    fn object(
        &mut self,
        node: Node<'d>,
        map: &'d Map<String, Value>,
        depth: usize,
    ) -> Map<String, Value> {
        let mut made = Map::new();
        if let Some(kind) = kind(map) {
            made.insert("type".to_owned(), kind);
        }
        if let Some(text) = map
            .get("description")
            .or_else(|| map.get("title"))
            .and_then(Value::as_str)
        {
            self.describe(&mut made, text);
        }
        scalars(map, &mut made);
        self.values_of(map, &mut made);
        if let Some(pattern) = map.get("pattern").and_then(Value::as_str)
            && self.is_usable(pattern)
            && self.spend(pattern.len())
        {
            made.insert("pattern".to_owned(), json!(pattern));
        }
        let nested = [
            "properties",
            "items",
            "allOf",
            "anyOf",
            "oneOf",
            "additionalProperties",
            "prefixItems",
        ];
        if depth >= self.bounds.depth {
            if nested.iter().any(|key| {
                map.get(*key)
                    .is_some_and(|value| value.is_object() || value.is_array())
            }) {
                let text = made
                    .get("description")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let text = format!("{text} (Its parts are not described here.)");
                made.insert("description".to_owned(), json!(text.trim()));
                if map.contains_key("properties") {
                    made.entry("type").or_insert_with(|| json!("object"));
                }
            }
        } else {
            self.children(node, map, &mut made, depth);
        }
        if map.get("nullable") == Some(&Value::Bool(true))
            || map.get("x-nullable") == Some(&Value::Bool(true))
        {
            allow_null(&mut made);
        }
        made
    }

    fn is_usable(&mut self, pattern: &str) -> bool {
        self.patterns += 1;
        self.patterns <= PATTERNS_MAX && pattern.len() <= 1_000 && usable_pattern(pattern)
    }

    fn children(
        &mut self,
        node: Node<'d>,
        map: &'d Map<String, Value>,
        made: &mut Map<String, Value>,
        depth: usize,
    ) {
        if let Some(Value::Object(properties)) = map.get("properties") {
            let required = names(map.get("required"));
            self.properties(node, properties, required, made, depth);
        }
        match map.get("additionalProperties") {
            Some(Value::Bool(false)) => {
                made.insert("additionalProperties".to_owned(), json!(false));
            }
            Some(inner @ Value::Object(_)) => {
                let inner = self.schema(node.at(inner), depth + 1);
                if !inner.is_empty() {
                    made.insert("additionalProperties".to_owned(), inner.into());
                }
                made.entry("type").or_insert_with(|| json!("object"));
            }
            _ => {}
        }
        match map.get("items") {
            Some(items @ Value::Object(_)) => {
                let items = self.schema(node.at(items), depth + 1);
                made.entry("type").or_insert_with(|| json!("array"));
                made.insert("items".to_owned(), items.into());
            }
            // Before JSON Schema 2020-12 `items` was also what is now `prefixItems`.
            Some(Value::Array(items)) => self.prefix_items(node, items, made, depth),
            _ => {}
        }
        if let Some(Value::Array(items)) = map.get("prefixItems")
            && !made.contains_key("prefixItems")
        {
            self.prefix_items(node, items, made, depth);
        }
        if let Some(Value::Array(parts)) = map.get("allOf") {
            for part in parts {
                let part = self.schema(node.at(part), depth);
                merge(made, part);
            }
        }
        // Both are expanded before one is merged, which may bring an `anyOf` of its own.
        let choices = ["anyOf", "oneOf"].map(|key| match map.get(key) {
            Some(Value::Array(branches)) => self.branches(node, branches, depth),
            _ => None,
        });
        for choice in choices.into_iter().flatten() {
            add_choice(made, choice);
        }
    }

    fn properties(
        &mut self,
        node: Node<'d>,
        properties: &'d Map<String, Value>,
        required: Vec<String>,
        made: &mut Map<String, Value>,
        depth: usize,
    ) {
        let mut expanded = Map::new();
        for (name, property) in properties {
            let property = node.at(property);
            if !property.value.is_object() || property.flag("readOnly") {
                continue;
            }
            if !self.spend(name.len() + 4) {
                break;
            }
            expanded.insert(name.clone(), self.schema(property, depth + 1).into());
        }
        let required: Vec<Value> = required
            .into_iter()
            .filter(|name| expanded.contains_key(name))
            .map(Value::from)
            .collect();
        made.entry("type").or_insert_with(|| json!("object"));
        if !expanded.is_empty() {
            made.insert("properties".to_owned(), expanded.into());
        }
        if !required.is_empty() {
            made.insert("required".to_owned(), required.into());
        }
    }

    fn prefix_items(
        &mut self,
        node: Node<'d>,
        items: &'d [Value],
        made: &mut Map<String, Value>,
        depth: usize,
    ) {
        let items: Vec<Value> = items
            .iter()
            .map(|item| Value::from(self.schema(node.at(item), depth + 1)))
            .collect();
        if !items.is_empty() {
            made.insert("prefixItems".to_owned(), items.into());
        }
    }

    /// The distinct branches of an `anyOf` or `oneOf`. `None` where it would accept everything: a branch is empty, or
    /// there are more than fit.
    fn branches(
        &mut self,
        node: Node<'d>,
        branches: &'d [Value],
        depth: usize,
    ) -> Option<Vec<Value>> {
        let mut expanded: Vec<Value> = Vec::new();
        for branch in branches.iter().take(BRANCHES_MAX) {
            let branch = Value::from(self.schema(node.at(branch), depth + 1));
            if !expanded.contains(&branch) {
                expanded.push(branch);
            }
        }
        let is_empty = |branch: &Value| branch.as_object().is_none_or(Map::is_empty);
        let open = branches.len() > BRANCHES_MAX || expanded.iter().any(is_empty);
        (!open && !expanded.is_empty()).then_some(expanded)
    }
}

/// Adds branches of which one must match: a single one is merged, a second `anyOf` goes into `allOf`.
fn add_choice(made: &mut Map<String, Value>, choice: Vec<Value>) {
    if choice.len() == 1 && !made.contains_key("anyOf") {
        if let Some(Value::Object(only)) = choice.into_iter().next() {
            merge(made, only);
        }
    } else if made.contains_key("anyOf") {
        let all = made.entry("allOf").or_insert_with(|| json!([]));
        if let Some(all) = all.as_array_mut() {
            all.push(json!({"anyOf": choice}));
        }
    } else {
        made.insert("anyOf".to_owned(), choice.into());
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The names in a `required` list. Other values in it are ignored.
pub fn names(value: Option<&Value>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}
