//! What checking arguments against a schema may cost, known before it is done.
//!
//! The check itself cannot be interrupted. So it is measured first, by a walk through schema and arguments side by
//! side that ends where its budget does: each subschema that applies to a value costs a little, each byte of a text that
//! a pattern is matched against costs as much as the pattern has states. A schema without anything that multiplies has
//! no cost to measure: its check looks at each value once. One unit is about a nanosecond.

use std::collections::{BTreeMap, HashMap};

use regex_automata::nfa::thompson::NFA;
use serde_json::{Map, Value};

use super::parse::push_segment;

/// A check up to this cost runs where the call is; 5 ms at worst.
pub const CHECK_UNITS_DIRECT: u64 = 5_000_000;
/// A check beyond this cost is refused; up to it, it runs in the fair shares.
pub const CHECK_UNITS_MAX: u64 = 200_000_000;
/// Bound of one compiled pattern, in bytes.
pub(super) const PATTERN_COMPILED_BYTES_MAX: usize = 256 * 1024;
/// Most states of all patterns of one schema.
pub const PATTERN_STATES_MAX: u64 = 50_000;

/// Deepest nesting of subschemas that are followed: as deep as arguments, times the longest chain that applies to one
/// value.
const WALK_DEPTH_MAX: usize = 1_200;

/// One subschema looked at, one alternative of an `enum` compared.
const NODE_UNITS: u64 = 30;
const OPTION_UNITS: u64 = 5;
/// Of a pattern that cannot be measured: as many as fit into the largest one.
const STATES_UNKNOWN: u64 = 10_000;
/// What is looked at for a byte of a text in a format; `regex` compiles the text.
const FORMAT_UNITS: u64 = 10;
const FORMAT_REGEX_UNITS: u64 = 2_000;

/// The subschemas of a schema that multiplies.
#[derive(Debug)]
pub(super) struct SchemaCost {
    nodes: Vec<CostNode>,
    by_pointer: HashMap<String, usize>,
    /// Of all patterns.
    states: u64,
    multiplies: bool,
}

#[derive(Debug, Default)]
struct CostNode {
    fixed: u64,
    /// For each byte of a text.
    text: u64,
    /// For each byte of a name of a field.
    name: u64,
    /// For each item or field.
    item: u64,
    reference: Option<String>,
    same: Vec<usize>,
    properties: BTreeMap<String, usize>,
    /// For fields that `properties` does not name.
    others: Vec<usize>,
    /// For every field or item.
    each: Vec<usize>,
    names: Vec<usize>,
    prefix: Vec<usize>,
}

impl SchemaCost {
    /// `None`: checking looks at each value of the arguments a bounded number of times.
    pub(super) fn measure(schema: &Value) -> Option<Self> {
        let mut cost = Self {
            nodes: Vec::new(),
            by_pointer: HashMap::new(),
            states: 0,
            multiplies: false,
        };
        cost.add(schema, &mut String::new());
        for id in 0..cost.nodes.len() {
            let target = cost.nodes[id].reference.take();
            let found = target.and_then(|target| {
                let pointer = target.strip_prefix('#')?;
                cost.by_pointer.get(pointer).copied()
            });
            cost.nodes[id].same.extend(found);
        }
        cost.by_pointer = HashMap::new();
        cost.multiplies.then_some(cost)
    }

    /// States of all patterns of a schema.
    pub(super) fn pattern_states(schema: &Value) -> u64 {
        Self::measure(schema).map_or(0, |cost| cost.states)
    }

    /// Whether checking `arguments` costs at most this much. Costs at most as much itself.
    pub(super) fn is_within(&self, arguments: &Value, units: u64) -> bool {
        let mut walk = CostWalk {
            nodes: &self.nodes,
            left: units,
            depth: 0,
        };
        walk.value(0, arguments)
    }

    fn add(&mut self, schema: &Value, pointer: &mut String) -> usize {
        let id = self.nodes.len();
        self.nodes.push(CostNode {
            fixed: NODE_UNITS,
            ..CostNode::default()
        });
        self.by_pointer.insert(pointer.clone(), id);
        if let Value::Object(keywords) = schema {
            for (keyword, value) in keywords {
                let length = pointer.len();
                push_segment(pointer, keyword);
                self.keyword(id, keyword, value, keywords, pointer);
                pointer.truncate(length);
            }
        }
        id
    }

    fn keyword(
        &mut self,
        id: usize,
        keyword: &str,
        value: &Value,
        beside: &Map<String, Value>,
        pointer: &mut String,
    ) {
        match keyword {
            "pattern" | "format" | "enum" | "uniqueItems" | "$ref" => {
                self.assertion(id, keyword, value);
            }
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas" => {
                self.multiplies = true;
                let same = self.add_any(keyword, value, pointer);
                self.nodes[id].same.extend(same);
            }
            _ => self.inner_value(id, keyword, value, beside, pointer),
        }
    }

    /// A keyword that says something of the value itself.
    fn assertion(&mut self, id: usize, keyword: &str, value: &Value) {
        match (keyword, value) {
            ("pattern", Value::String(pattern)) => {
                let states = self.pattern(pattern);
                self.nodes[id].text += states;
            }
            ("format", Value::String(format)) => {
                self.multiplies = true;
                self.nodes[id].text += match format.as_str() {
                    "regex" => FORMAT_REGEX_UNITS,
                    _ => FORMAT_UNITS,
                };
            }
            ("enum", Value::Array(options)) => {
                self.nodes[id].fixed += OPTION_UNITS * options.len() as u64;
                self.multiplies |= options.len() > 1_000;
            }
            ("uniqueItems", Value::Bool(true)) => {
                self.multiplies = true;
                self.nodes[id].item += 4 * NODE_UNITS;
            }
            ("$ref", Value::String(target)) => {
                self.multiplies = true;
                self.nodes[id].reference = Some(target.clone());
            }
            _ => {}
        }
    }

    /// The subschemas of a keyword that applies them to the same value.
    fn add_any(&mut self, keyword: &str, value: &Value, pointer: &mut String) -> Vec<usize> {
        match (keyword, value) {
            ("not" | "if" | "then" | "else", schema) => vec![self.add(schema, pointer)],
            ("dependentSchemas", Value::Object(map)) => {
                self.add_map(map, pointer).into_values().collect()
            }
            (_, Value::Array(items)) => self.add_list(items, pointer),
            _ => Vec::new(),
        }
    }

    /// A keyword that applies subschemas to items, fields or their names.
    fn inner_value(
        &mut self,
        id: usize,
        keyword: &str,
        value: &Value,
        beside: &Map<String, Value>,
        pointer: &mut String,
    ) {
        match (keyword, value) {
            ("properties", Value::Object(map)) => {
                let inner = self.add_map(map, pointer);
                self.nodes[id].properties = inner;
            }
            ("patternProperties", Value::Object(map)) => {
                for pattern in map.keys() {
                    let states = self.pattern(pattern);
                    self.nodes[id].name += states;
                }
                let inner = self.add_map(map, pointer);
                self.nodes[id].each.extend(inner.into_values());
            }
            ("additionalProperties", value) => {
                let inner = self.add(value, pointer);
                self.nodes[id].others.push(inner);
            }
            ("unevaluatedProperties" | "unevaluatedItems", value) => {
                self.multiplies = true;
                let inner = self.add(value, pointer);
                self.nodes[id].each.push(inner);
                // Each field is looked up in every keyword beside this one.
                self.nodes[id].item += NODE_UNITS * beside.len() as u64 * 8;
            }
            ("propertyNames", value) => {
                self.multiplies = true;
                let inner = self.add(value, pointer);
                self.nodes[id].names.push(inner);
            }
            ("items" | "contains", value) => {
                let inner = self.add(value, pointer);
                self.nodes[id].each.push(inner);
            }
            ("prefixItems", Value::Array(items)) => {
                let inner = self.add_list(items, pointer);
                self.nodes[id].prefix = inner;
            }
            ("$defs" | "definitions", Value::Object(map)) => {
                self.add_map(map, pointer);
            }
            _ => {}
        }
    }

    fn pattern(&mut self, pattern: &str) -> u64 {
        self.multiplies = true;
        let states = states(pattern);
        self.states = self.states.saturating_add(states);
        states
    }

    fn add_list(&mut self, items: &[Value], pointer: &mut String) -> Vec<usize> {
        let mut ids = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let length = pointer.len();
            push_segment(pointer, &at.to_string());
            ids.push(self.add(item, pointer));
            pointer.truncate(length);
        }
        ids
    }

    fn add_map(
        &mut self,
        map: &Map<String, Value>,
        pointer: &mut String,
    ) -> BTreeMap<String, usize> {
        let mut ids = BTreeMap::new();
        for (name, item) in map {
            let length = pointer.len();
            push_segment(pointer, name);
            ids.insert(name.clone(), self.add(item, pointer));
            pointer.truncate(length);
        }
        ids
    }
}

/// A walk with a budget. Each step answers whether there is something left of it.
struct CostWalk<'s> {
    nodes: &'s [CostNode],
    left: u64,
    depth: usize,
}

impl CostWalk<'_> {
    fn take(&mut self, units: u64) -> bool {
        match self.left.checked_sub(units) {
            Some(rest) => {
                self.left = rest;
                true
            }
            None => false,
        }
    }

    fn take_each(&mut self, units: u64, count: usize) -> bool {
        self.take(units.saturating_mul(count as u64))
    }

    /// A subschema applied to a value.
    fn value(&mut self, id: usize, value: &Value) -> bool {
        if self.depth == WALK_DEPTH_MAX {
            return false;
        }
        self.depth += 1;
        let node = &self.nodes[id];
        let within = self.take(node.fixed)
            && self.inside(node, value)
            && node.same.iter().all(|id| self.value(*id, value));
        self.depth -= 1;
        within
    }

    fn inside(&mut self, node: &CostNode, value: &Value) -> bool {
        match value {
            Value::String(text) => self.take_each(node.text, text.len()),
            Value::Array(items) => {
                self.take_each(node.item, items.len())
                    && items.iter().enumerate().all(|(at, item)| {
                        let prefix = node.prefix.get(at).into_iter();
                        prefix.chain(&node.each).all(|id| self.value(*id, item))
                    })
            }
            Value::Object(fields) => {
                self.take_each(node.item, fields.len())
                    && fields
                        .iter()
                        .all(|(name, field)| self.field(node, name, field))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
    }

    fn field(&mut self, node: &CostNode, name: &str, field: &Value) -> bool {
        let own = match node.properties.get(name) {
            Some(id) => self.value(*id, field),
            None => node.others.iter().all(|id| self.value(*id, field)),
        };
        own && self.take_each(node.name, name.len())
            && node.each.iter().all(|id| self.value(*id, field))
            && node.names.iter().all(|id| self.name(*id, name))
    }

    /// A name of a field as a text.
    fn name(&mut self, id: usize, name: &str) -> bool {
        if self.depth == WALK_DEPTH_MAX {
            return false;
        }
        self.depth += 1;
        let node = &self.nodes[id];
        let within = self.take(node.fixed)
            && self.take_each(node.text, name.len())
            && node.same.iter().all(|id| self.name(*id, name));
        self.depth -= 1;
        within
    }
}

/// How many states a pattern has: at worst a matcher is in each of them at each byte.
fn states(pattern: &str) -> u64 {
    let config = NFA::config().nfa_size_limit(Some(PATTERN_COMPILED_BYTES_MAX));
    let built = NFA::compiler().configure(config).build(pattern);
    built.map_or(STATES_UNKNOWN, |nfa| nfa.states().len() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Whether a check runs at once, and whether it runs at all.
    fn of(schema: &Value, arguments: &Value) -> (bool, bool) {
        let cost = SchemaCost::measure(schema);
        let within = |units| {
            let cost = cost.as_ref();
            cost.is_none_or(|cost| cost.is_within(arguments, units))
        };
        (within(CHECK_UNITS_DIRECT), within(CHECK_UNITS_MAX))
    }

    const DIRECT: (bool, bool) = (true, true);
    const SHARED: (bool, bool) = (false, true);
    const TOO_HIGH: (bool, bool) = (false, false);

    /// Schemas of a hostile plugin, and what is sent to them.
    fn hostile() -> Vec<(&'static str, Value, Value)> {
        let text = "ab".repeat(450_000);
        let patterns: Vec<Value> = (0..20)
            .map(|n| json!({"pattern": format!("(a|b|ab){{1,{}}}$", 200 + n)}))
            .collect();
        let deep = (0..9).fold(
            json!({"type": "string"}),
            |inner, _| json!({"anyOf": [inner.clone(), inner]}),
        );
        vec![
            (
                "patterns",
                json!({"properties": {"a": {"allOf": patterns}}}),
                json!({"a": text.clone()}),
            ),
            (
                "names",
                json!({"patternProperties": {"(a|b|ab){1,400}$": {}}}),
                json!({ text.clone(): 1 }),
            ),
            (
                "propertyNames",
                json!({"propertyNames": {"pattern": "(a|b|ab){1,400}$"}}),
                json!({ text.clone(): 1 }),
            ),
            (
                "alternatives for each item",
                json!({"properties": {"a": {"type": "array", "items": deep}}}),
                json!({"a": vec!["x"; 90_000]}),
            ),
            (
                "by reference",
                json!({"$defs": {"p": {"pattern": "(a|b|ab){1,400}$"}}, "properties": {"a": {"$ref": "#/$defs/p"}}}),
                json!({"a": text.clone()}),
            ),
            (
                "a pattern as argument",
                json!({"properties": {"a": {"format": "regex"}}}),
                json!({"a": text}),
            ),
        ]
    }

    #[test]
    fn what_would_take_seconds_is_too_high() {
        for (name, schema, arguments) in hostile() {
            assert_eq!(of(&schema, &arguments), TOO_HIGH, "{name}");
        }
    }

    #[test]
    fn what_people_send_is_checked_at_once() {
        let schema = json!({
            "type": "object", "required": ["owner"], "additionalProperties": false,
            "properties": {
                "owner": {"type": "string", "pattern": "^[A-Za-z0-9-]{1,39}$"},
                "body": {"type": "string", "maxLength": 1_000_000},
                "labels": {"type": "array", "uniqueItems": true, "items": {"type": "string"}},
                "when": {"type": "string", "format": "date-time"},
                "who": {"anyOf": [{"type": "string"}, {"type": "integer"}]}
            }
        });
        let arguments = json!({
            "owner": "ada", "body": "x".repeat(900_000), "labels": ["a", "b"], "when": "2026-01-01T00:00:00Z", "who": 7
        });
        assert_eq!(
            of(&schema, &arguments),
            DIRECT,
            "a pattern costs where it is"
        );
        let plain =
            json!({"properties": {"a": {"items": {"properties": {"b": {"type": "string"}}}}}});
        assert!(SchemaCost::measure(&plain).is_none());
    }

    #[test]
    fn between_the_two_a_check_is_shared() {
        let schema = json!({"properties": {"a": {"pattern": "(a|b|ab){1,100}$"}}});
        let text = "ab".repeat(20_000);
        assert_eq!(of(&schema, &json!({"a": text})), SHARED);
        assert_eq!(of(&schema, &json!({"a": "ab"})), DIRECT);
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_measured_to_the_end_of_the_arguments() {
        let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}});
        let arguments = (0..30).fold(json!({}), |inner, _| json!({ "next": inner }));
        assert_eq!(of(&schema, &arguments), DIRECT);
        let endless = json!({"$ref": "#"});
        assert_eq!(of(&endless, &json!({})), TOO_HIGH);
    }
}
