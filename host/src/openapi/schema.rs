//! From a schema of a description to JSON Schema 2020-12 that stands alone.
//!
//! References are replaced by what they mean, `allOf` is merged, words of older drafts become
//! those of 2020-12 and what is no schema is dropped. `oneOf` becomes `anyOf`: branches that are cut
//! to the same outline would refuse everything. An expansion is bounded in bytes, values and depth;
//! where a schema returns to itself or goes too deep it is cut, and the cut says so.

use serde_json::{Map, Value, json};

use super::document::{Documents, Node};
use super::words;

/// Bounds of one expansion.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Nested schemas below an argument.
    pub depth: usize,
    /// Characters of each nested description.
    pub text_chars: usize,
    /// Approximate bytes of JSON.
    pub bytes: usize,
    pub values: usize,
}

/// Most entries of an `enum`; more are named in the description.
const ENUM_MAX: usize = 100;
const PATTERNS_MAX: usize = 40;
const PATTERN_COMPILED_BYTES_MAX: usize = 256 * 1024;
const EXAMPLE_BYTES_MAX: usize = 200;
/// Most branches of one `anyOf`.
const BRANCHES_MAX: usize = 20;
/// Steps through references and `allOf` while looking for an object's properties.
const SHAPE_STEPS_MAX: usize = 2_000;
/// Longest way through references, whatever the bounds say.
const STACK_MAX: usize = 64;

const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "time",
    "duration",
    "email",
    "uri",
    "uuid",
    "hostname",
    "ipv4",
    "ipv6",
    "password",
    "byte",
];

/// Expands schemas until its bounds are used up.
pub struct Expander<'d> {
    docs: &'d Documents,
    bounds: Bounds,
    bytes: usize,
    values: usize,
    patterns: usize,
    /// Schemas on the way from the top, to notice a return.
    stack: Vec<usize>,
    /// More would be needed than the bounds allow.
    pub over: bool,
    /// A schema was cut because it contains itself.
    pub recursive: bool,
}

impl<'d> Expander<'d> {
    pub fn new(docs: &'d Documents, bounds: Bounds) -> Self {
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
        let text = words::clean(text, self.bounds.text_chars);
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

    /// `enum`, `const`, `default` and one example.
    fn values_of(&mut self, map: &Map<String, Value>, made: &mut Map<String, Value>) {
        if let Some(Value::Array(options)) = map.get("enum") {
            let mut distinct: Vec<Value> = Vec::new();
            for option in options.iter().take(ENUM_MAX + 1) {
                if !distinct.contains(option) {
                    distinct.push(option.clone());
                }
            }
            if distinct.len() > ENUM_MAX {
                let some: Vec<String> = distinct.iter().take(8).map(Value::to_string).collect();
                let text = made
                    .get("description")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let text = format!(
                    "{text} One of {} values such as {}.",
                    options.len(),
                    some.join(", ")
                );
                made.insert("description".to_owned(), json!(text.trim()));
            } else if !distinct.is_empty() {
                if let Some(kind) = made.get("type").cloned() {
                    let fits: Vec<Value> = distinct
                        .iter()
                        .filter(|value| is_of(value, &kind))
                        .cloned()
                        .collect();
                    if fits.is_empty() {
                        made.shift_remove("type");
                    } else {
                        distinct = fits;
                    }
                }
                self.spend(
                    distinct
                        .iter()
                        .map(|value| value.to_string().len() + 1)
                        .sum(),
                );
                made.insert("enum".to_owned(), distinct.into());
            }
        }
        if let Some(value) = map.get("const") {
            made.insert("const".to_owned(), value.clone());
        }
        for (key, as_list) in [("default", false), ("example", true), ("examples", true)] {
            let value = match (key, map.get(key)) {
                ("examples", Some(Value::Array(items))) => items.first(),
                ("examples", _) => None,
                (_, value) => value,
            };
            let Some(value) = value.filter(|value| !value.is_null()) else {
                continue;
            };
            let fits = made.get("type").is_none_or(|kind| is_of(value, kind))
                && made
                    .get("enum")
                    .and_then(Value::as_array)
                    .is_none_or(|options| options.contains(value));
            let bytes = value.to_string().len();
            if fits
                && bytes <= EXAMPLE_BYTES_MAX
                && self.bounds.text_chars > 0
                && self.spend(bytes + 12)
            {
                let (key, value) = if as_list {
                    ("examples", json!([value]))
                } else {
                    ("default", value.clone())
                };
                made.insert(key.to_owned(), value);
            }
        }
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
            let required: Vec<Value> = names(map.get("required"))
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
            Some(Value::Array(items)) => {
                let items: Vec<Value> = items
                    .iter()
                    .map(|item| Value::from(self.schema(node.at(item), depth + 1)))
                    .collect();
                if !items.is_empty() {
                    made.insert("prefixItems".to_owned(), items.into());
                }
            }
            _ => {}
        }
        if let Some(Value::Array(items)) = map
            .get("prefixItems")
            .filter(|_| !made.contains_key("prefixItems"))
        {
            let items: Vec<Value> = items
                .iter()
                .map(|item| Value::from(self.schema(node.at(item), depth + 1)))
                .collect();
            if !items.is_empty() {
                made.insert("prefixItems".to_owned(), items.into());
            }
        }
        if let Some(Value::Array(parts)) = map.get("allOf") {
            for part in parts {
                let part = self.schema(node.at(part), depth);
                merge(made, part);
            }
        }
        let mut choices = Vec::new();
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = map.get(key) {
                let mut expanded: Vec<Value> = Vec::new();
                for branch in branches.iter().take(BRANCHES_MAX) {
                    let branch = Value::from(self.schema(node.at(branch), depth + 1));
                    if !expanded.contains(&branch) {
                        expanded.push(branch);
                    }
                }
                let open = branches.len() > BRANCHES_MAX
                    || expanded
                        .iter()
                        .any(|branch| branch.as_object().is_none_or(Map::is_empty));
                if !open && !expanded.is_empty() {
                    choices.push(expanded);
                }
            }
        }
        for choice in choices {
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
    }
}

/// Whether a pattern runs in linear time.
pub fn usable_pattern(pattern: &str) -> bool {
    regex::RegexBuilder::new(pattern)
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .build()
        .is_ok()
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// The names in a `required` list, whatever else stands there.
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

/// `type` in the words of JSON Schema.
fn kind(map: &Map<String, Value>) -> Option<Value> {
    let known = |text: &str| match text.to_ascii_lowercase().as_str() {
        "string" | "str" | "file" | "date" | "datetime" | "date-time" | "uuid" | "text"
        | "binary" => Some("string"),
        "integer" | "int" | "int32" | "int64" | "long" => Some("integer"),
        "number" | "float" | "double" | "decimal" => Some("number"),
        "boolean" | "bool" => Some("boolean"),
        "array" | "list" => Some("array"),
        "object" | "map" | "dict" => Some("object"),
        "null" => Some("null"),
        _ => None,
    };
    match map.get("type") {
        Some(Value::String(text)) => known(text).map(Value::from),
        Some(Value::Array(kinds)) => {
            let mut list: Vec<&str> = Vec::new();
            for kind in kinds.iter().filter_map(Value::as_str).map(known) {
                match kind {
                    Some(kind) if !list.contains(&kind) => list.push(kind),
                    Some(_) => {}
                    None => return None,
                }
            }
            match list.as_slice() {
                [] => None,
                [one] => Some(json!(one)),
                many => Some(json!(many)),
            }
        }
        _ if map.get("properties").is_some_and(Value::is_object) => Some(json!("object")),
        _ if map.get("items").is_some_and(Value::is_object) => Some(json!("array")),
        _ => None,
    }
}

/// Whether a value is of a `type`.
fn is_of(value: &Value, kind: &Value) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| is_of(value, kind)),
        Value::String(kind) => match kind.as_str() {
            "string" => value.is_string(),
            "integer" => {
                value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
            }
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            _ => true,
        },
        _ => true,
    }
}

fn allow_null(made: &mut Map<String, Value>) {
    match made.get_mut("type") {
        Some(Value::Array(kinds)) => {
            if !kinds.iter().any(|kind| kind == "null") {
                kinds.push(json!("null"));
            }
        }
        Some(kind) if kind != "null" => *kind = json!([kind.clone(), "null"]),
        Some(_) => {}
        None => return,
    }
    if let Some(Value::Array(options)) = made.get_mut("enum")
        && !options.contains(&Value::Null)
    {
        options.push(Value::Null);
    }
}

/// Numbers, lengths and formats; those of draft 4 in their newer form.
fn scalars(map: &Map<String, Value>, made: &mut Map<String, Value>) {
    for (bound, exclusive) in [
        ("minimum", "exclusiveMinimum"),
        ("maximum", "exclusiveMaximum"),
    ] {
        let number = map.get(bound).filter(|value| value.is_number());
        match (number, map.get(exclusive)) {
            (Some(number), Some(Value::Bool(true))) => {
                made.insert(exclusive.to_owned(), number.clone());
            }
            (number, strict) => {
                if let Some(number) = number {
                    made.insert(bound.to_owned(), number.clone());
                }
                if let Some(strict) = strict.filter(|value| value.is_number()) {
                    made.insert(exclusive.to_owned(), strict.clone());
                }
            }
        }
    }
    for key in [
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ] {
        if let Some(number) = map.get(key).filter(|value| value.is_u64()) {
            made.insert(key.to_owned(), number.clone());
        }
    }
    if let Some(number) = map
        .get("multipleOf")
        .filter(|value| value.as_f64().is_some_and(|n| n > 0.0))
    {
        made.insert("multipleOf".to_owned(), number.clone());
    }
    if map.get("uniqueItems") == Some(&Value::Bool(true)) {
        made.insert("uniqueItems".to_owned(), json!(true));
    }
    if map.get("deprecated") == Some(&Value::Bool(true)) {
        made.insert("deprecated".to_owned(), json!(true));
    }
    let format = map.get("format").and_then(Value::as_str);
    if let Some(format) = format.filter(|format| FORMATS.contains(format)) {
        made.insert("format".to_owned(), json!(format));
    }
}

/// Adds the demands of one schema to another. What the first says is kept.
fn merge(made: &mut Map<String, Value>, part: Map<String, Value>) {
    // Each part of an `allOf` may be closed alone; together they are not.
    let closed =
        part.get("additionalProperties") == Some(&json!(false)) && made.contains_key("properties");
    for (key, value) in part {
        match (key.as_str(), made.get_mut(&key)) {
            ("additionalProperties", _) if closed => {}
            (_, None) => {
                made.insert(key, value);
            }
            ("properties", Some(Value::Object(old))) => {
                for (name, property) in value.as_object().cloned().unwrap_or_default() {
                    match (old.get_mut(&name), property) {
                        (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
                        (None, property) => {
                            old.insert(name, property);
                        }
                        _ => {}
                    }
                }
            }
            ("required", Some(Value::Array(old))) => {
                for name in value.as_array().into_iter().flatten() {
                    if !old.contains(name) {
                        old.push(name.clone());
                    }
                }
            }
            ("enum", Some(Value::Array(old))) => {
                let new = value.as_array().cloned().unwrap_or_default();
                let both: Vec<Value> = old
                    .iter()
                    .filter(|option| new.contains(option))
                    .cloned()
                    .collect();
                if !both.is_empty() {
                    *old = both;
                }
            }
            ("anyOf", Some(_)) => {
                let all = made.entry("allOf").or_insert_with(|| json!([]));
                if let Some(all) = all.as_array_mut() {
                    all.push(json!({"anyOf": value}));
                }
            }
            ("additionalProperties", Some(old)) if *old == json!(false) => *old = value,
            _ => {}
        }
    }
    if made.get("additionalProperties") == Some(&json!(false)) && closed {
        made.shift_remove("additionalProperties");
    }
}

/// The properties that an object schema has after references and `allOf`.
#[derive(Debug, Default)]
pub struct Shape<'d> {
    pub properties: Vec<(&'d str, Node<'d>)>,
    pub required: Vec<String>,
    /// It is something else besides an object with properties.
    pub other: bool,
}

/// Looks for the properties of a schema.
pub fn shape<'d>(docs: &'d Documents, node: Node<'d>) -> Shape<'d> {
    let mut shape = Shape::default();
    let mut steps = 0;
    let mut seen = Vec::new();
    let mut todo = vec![node];
    while let Some(node) = todo.pop() {
        steps += 1;
        if steps > SHAPE_STEPS_MAX {
            break;
        }
        let Ok(node) = docs.resolve(node) else {
            shape.other = true;
            continue;
        };
        if seen.contains(&node.identity()) {
            continue;
        }
        seen.push(node.identity());
        for (name, property) in node.members("properties") {
            if property.value.is_object()
                && !shape.properties.iter().any(|(known, _)| *known == name)
            {
                shape.properties.push((name, property));
            }
        }
        for name in names(node.value.get("required")) {
            if !shape.required.contains(&name) {
                shape.required.push(name);
            }
        }
        let typed = node.text("type").is_some_and(|kind| kind != "object");
        shape.other |= typed;
        let mut parts: Vec<Node<'d>> = node.elements("allOf").collect();
        parts.reverse();
        todo.extend(parts);
    }
    shape
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Bounds, Expander, shape};
    use crate::openapi::document::Documents;

    const WIDE: Bounds = Bounds {
        depth: 12,
        text_chars: 300,
        bytes: 100_000,
        values: 10_000,
    };

    fn expanded(document: Value, bounds: Bounds) -> (Value, bool, bool) {
        let docs = Documents::of("x", document);
        let mut expander = Expander::new(&docs, bounds);
        let made = expander.expand(docs.root().get("s").expect("a schema"));
        (made.into(), expander.over, expander.recursive)
    }

    fn check(schema: Value, expected: Value) {
        let (made, _, _) = expanded(json!({"s": schema}), WIDE);
        assert_eq!(made, expected);
        assert!(
            jsonschema::draft202012::options().build(&made).is_ok(),
            "{made}"
        );
    }

    #[test]
    fn older_words_become_those_of_2020_12() {
        check(
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
            json!({"type": ["string", "null"], "enum": ["a", null]}),
        );
        check(
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false, "format": "int32"}),
            json!({"type": "integer", "exclusiveMinimum": 1, "maximum": 9}),
        );
        check(json!({"type": "file"}), json!({"type": "string"}));
        check(
            json!({"type": "any", "example": 7}),
            json!({"examples": [7]}),
        );
        check(
            json!({"items": [{"type": "string"}]}),
            json!({"prefixItems": [{"type": "string"}]}),
        );
        check(
            json!({"type": ["String", "null"], "example": "x"}),
            json!({"type": ["string", "null"], "examples": ["x"]}),
        );
        check(
            json!({"type": "object", "required": true, "properties": {"a": {"type": "string", "required": true}, "b": "no schema", "c": {"readOnly": true}},
                   "xml": {}, "discriminator": {}, "x-own": 1, "externalDocs": {}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        );
    }

    #[test]
    fn wrong_values_are_dropped_and_never_make_the_schema_impossible() {
        check(
            json!({"type": "integer", "enum": ["1", "2"]}),
            json!({"enum": ["1", "2"]}),
        );
        check(
            json!({"type": "string", "enum": [1, "b", "b"]}),
            json!({"type": "string", "enum": ["b"]}),
        );
        check(
            json!({"type": "string", "minLength": -1, "maxLength": "9", "pattern": "(?=x)", "default": 4, "multipleOf": 0}),
            json!({"type": "string"}),
        );
        check(
            json!({"type": "array", "items": {"type": "string"}, "enum": []}),
            json!({"type": "array", "items": {"type": "string"}}),
        );
        check(
            json!({"oneOf": [{"type": "object"}, {"type": "object"}]}),
            json!({"type": "object"}),
        );
        check(json!({"anyOf": [{}, {"type": "string"}]}), json!({}));
    }

    #[test]
    fn all_of_is_merged() {
        check(
            json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false},
                             {"properties": {"b": {"type": "integer"}, "a": {"description": "A"}}, "required": ["b"], "additionalProperties": false}],
                   "description": "Both"}),
            json!({"description": "Both", "type": "object",
                   "properties": {"a": {"type": "string", "description": "A"}, "b": {"type": "integer"}}, "required": ["a", "b"]}),
        );
    }

    #[test]
    fn a_schema_that_contains_itself_is_cut_where_it_returns() {
        let document = json!({"s": {"$ref": "#/d/Node"}, "d": {"Node": {"type": "object", "properties": {
            "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/d/Node"}}}}}});
        let (made, over, recursive) = expanded(document, WIDE);
        assert!(recursive && !over);
        let inner = &made["properties"]["children"]["items"];
        assert_eq!(inner["type"], "object");
        assert!(
            inner["description"]
                .as_str()
                .is_some_and(|text| text.starts_with("Recursive"))
        );
    }

    #[test]
    fn an_expansion_stops_at_its_bounds() {
        let mut document = json!({"s": {"$ref": "#/d/t0"}, "d": {}});
        for level in 0..40 {
            let next = json!({"$ref": format!("#/d/t{}", level + 1)});
            document["d"][format!("t{level}")] =
                json!({"type": "object", "properties": {"a": next, "b": next, "c": next}});
        }
        document["d"]["t40"] = json!({"type": "string"});
        let (made, over, _) = expanded(document.clone(), WIDE);
        assert!(over && made.to_string().len() < 400_000);
        let (made, over, _) = expanded(document, Bounds { depth: 2, ..WIDE });
        assert!(!over && made.to_string().contains("not described here"));
    }

    #[test]
    fn the_shape_of_an_object_follows_references_and_all_of() {
        let docs = Documents::of(
            "x",
            json!({
            "s": {"allOf": [{"$ref": "#/d/A"}, {"required": ["b"], "properties": {"b": {}}}]},
            "d": {"A": {"type": "object", "properties": {"a": {}}, "required": ["a"], "allOf": [{"$ref": "#/s"}]}}}),
        );
        let found = shape(&docs, docs.root().get("s").expect("there"));
        let names: Vec<&str> = found.properties.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            (names, found.required, found.other),
            (vec!["a", "b"], vec!["a".to_owned(), "b".to_owned()], false)
        );
    }
}
