//! A JSON Schema as a TypeScript type.
//!
//! A type says less than its schema: what a pattern or `not` refuses is accepted. What cannot be said, or lies too deep,
//! is `unknown`. References may make a small schema a large type, so that everything written is counted.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::text::{comment, literal, property};

/// Levels of a type: objects, alternatives and references.
const DEPTH_MAX: usize = 14;
/// Values of an `enum` that are listed; of one with more only the kind of its values is said.
const LITERALS_MAX: usize = 64;
/// The longest type of an object that stands in one line, in bytes.
const LINE_BYTES_MAX: usize = 80;
/// Description of one property.
const DESCRIPTION_CHARS_MAX: usize = 200;
/// What the shortest types have.
const TYPE_BYTES: usize = 6;
/// Default value and format of a property.
const NOTE_BYTES_MAX: usize = 40;

/// An object of which nothing else is known.
pub(super) const ANY_OBJECT: &str = "Record<string, unknown>";

/// A type, and how it is written as a part of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeText {
    pub(super) text: String,
    bond: Bond,
}

/// What a type is at its outermost level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bond {
    One,
    Intersection,
    Union,
}

impl TypeText {
    fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            bond: Bond::One,
        }
    }

    pub(super) fn unknown() -> Self {
        Self::new("unknown")
    }

    fn is_unknown(&self) -> bool {
        self.text == "unknown"
    }

    /// As a part of a type that is written with `bond`.
    fn operand(&self, bond: Bond) -> String {
        if self.bond == Bond::One || self.bond == bond {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }

    fn union(parts: Vec<Self>) -> Self {
        if parts.is_empty() || parts.iter().any(Self::is_unknown) {
            return Self::unknown();
        }
        Self::joined(parts, Bond::Union)
    }

    fn intersection(mut parts: Vec<Self>) -> Self {
        parts.retain(|part| !part.is_unknown());
        // The other parts say which object.
        if parts.iter().any(|part| part.text != ANY_OBJECT) {
            parts.retain(|part| part.text != ANY_OBJECT);
        }
        if parts.is_empty() {
            return Self::unknown();
        }
        Self::joined(parts, Bond::Intersection)
    }

    /// One part is itself; the same part twice is written once.
    fn joined(mut parts: Vec<Self>, bond: Bond) -> Self {
        let mut seen = HashSet::new();
        parts.retain(|part| seen.insert(part.text.clone()));
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        let text = match bond {
            // `A & B | C` is `(A & B) | C`.
            Bond::Union => {
                let parts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
                parts.join(" | ")
            }
            Bond::Intersection | Bond::One => {
                let parts = parts.iter().map(|part| part.operand(Bond::Intersection));
                parts.collect::<Vec<_>>().join(" & ")
            }
        };
        Self { text, bond }
    }
}

/// The type of a schema whose nested lines are indented by two spaces for each level above `indent`. `None`: it has more
/// than `bytes_max`.
pub(super) fn type_text(schema: &Value, bytes_max: usize, indent: usize) -> Option<TypeText> {
    let mut writer = TypeWriter {
        root: schema,
        bytes_left: bytes_max,
        is_full: false,
        depth: 0,
        open: Vec::new(),
    };
    let written = writer.write(schema, indent);
    (!writer.is_full && written.text.len() <= bytes_max).then_some(written)
}

struct TypeWriter<'a> {
    root: &'a Value,
    bytes_left: usize,
    /// From here on everything is `unknown`, and the whole is not used.
    is_full: bool,
    depth: usize,
    /// The references that are being followed.
    open: Vec<&'a str>,
}

impl<'a> TypeWriter<'a> {
    /// Counts what is written. `false`: there is no room for it.
    fn spend(&mut self, bytes: usize) -> bool {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => self.bytes_left = left,
            None => self.is_full = true,
        }
        !self.is_full
    }

    fn write(&mut self, schema: &'a Value, indent: usize) -> TypeText {
        if self.depth == DEPTH_MAX || !self.spend(TYPE_BYTES) {
            return TypeText::unknown();
        }
        self.depth += 1;
        let written = match schema {
            Value::Object(schema) => self.write_object(schema, indent),
            Value::Bool(false) => TypeText::new("never"),
            _ => TypeText::unknown(),
        };
        self.depth -= 1;
        written
    }

    /// All that a schema says of a value at once.
    fn write_object(&mut self, schema: &'a Map<String, Value>, indent: usize) -> TypeText {
        let mut all = Vec::new();
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            all.push(self.reference(target, indent));
        }
        all.push(self.own(schema, indent));
        for word in ["anyOf", "oneOf"] {
            if let Some(alternatives) = schema.get(word).and_then(Value::as_array) {
                all.push(TypeText::union(self.each(alternatives, indent)));
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            all.extend(self.each(parts, indent));
        }
        let whole = TypeText::intersection(all);
        // Of descriptions that were made of OpenAPI 3.0.
        if schema.get("nullable") == Some(&Value::Bool(true)) {
            return TypeText::union(vec![whole, TypeText::new("null")]);
        }
        whole
    }

    fn each(&mut self, schemas: &'a [Value], indent: usize) -> Vec<TypeText> {
        let mut written = Vec::new();
        for schema in schemas {
            written.push(self.write(schema, indent));
            if self.is_full {
                break;
            }
        }
        written
    }

    fn reference(&mut self, target: &'a str, indent: usize) -> TypeText {
        let root = self.root;
        let found = target
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        let Some(found) = found.filter(|_| !self.open.contains(&target)) else {
            return TypeText::unknown();
        };
        self.open.push(target);
        let written = self.write(found, indent);
        self.open.pop();
        written
    }

    /// What a schema says without others.
    fn own(&mut self, schema: &'a Map<String, Value>, indent: usize) -> TypeText {
        if let Some(value) = schema.get("const") {
            return self.value(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array)
            && values.len() <= LITERALS_MAX
        {
            return TypeText::union(values.iter().map(|value| self.value(value)).collect());
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.kind(kind, schema, indent),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().filter_map(Value::as_str);
                let kinds: Vec<_> = kinds.map(|kind| self.kind(kind, schema, indent)).collect();
                TypeText::union(kinds)
            }
            _ if says_object(schema) => self.members(schema, indent),
            _ if schema.contains_key("items") || schema.contains_key("prefixItems") => {
                self.array(schema, indent)
            }
            _ => TypeText::unknown(),
        }
    }

    fn kind(&mut self, kind: &str, schema: &'a Map<String, Value>, indent: usize) -> TypeText {
        match kind {
            "string" => TypeText::new("string"),
            "integer" | "number" => TypeText::new("number"),
            "boolean" => TypeText::new("boolean"),
            "null" => TypeText::new("null"),
            "array" => self.array(schema, indent),
            "object" => self.members(schema, indent),
            _ => TypeText::unknown(),
        }
    }

    /// One value. Of an array or an object nothing is said.
    fn value(&mut self, value: &Value) -> TypeText {
        let text = match value {
            Value::String(text) => literal(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(_) | Value::Object(_) => return TypeText::unknown(),
        };
        self.spend(text.len());
        TypeText::new(text)
    }

    fn array(&mut self, schema: &'a Map<String, Value>, indent: usize) -> TypeText {
        let mut items = Vec::new();
        if let Some(first) = schema.get("prefixItems").and_then(Value::as_array) {
            items.extend(self.each(first, indent));
        }
        match schema.get("items") {
            // Of an older draft.
            Some(Value::Array(first)) => items.extend(self.each(first, indent)),
            Some(Value::Bool(false)) => {}
            Some(rest) => items.push(self.write(rest, indent)),
            None => items.push(TypeText::unknown()),
        }
        let item = TypeText::union(items);
        TypeText::new(format!("{}[]", item.operand(Bond::One)))
    }

    fn members(&mut self, schema: &'a Map<String, Value>, indent: usize) -> TypeText {
        let mut members = self.properties(schema, indent);
        let more = schema.get("additionalProperties");
        let patterns = schema
            .get("patternProperties")
            .and_then(Value::as_object)
            .is_some_and(|patterns| !patterns.is_empty());
        if members.is_empty() {
            return match more {
                Some(more @ Value::Object(_)) if !patterns => {
                    let value = self.write(more, indent);
                    TypeText::new(format!("Record<string, {}>", value.text))
                }
                Some(Value::Bool(false)) if !patterns => TypeText::new("{}"),
                _ => TypeText::new(ANY_OBJECT),
            };
        }
        if patterns || matches!(more, Some(Value::Bool(true) | Value::Object(_))) {
            // Each named property has to be of the type of the others.
            members.push((String::new(), "[key: string]: unknown".to_owned()));
        }
        TypeText::new(braces(&members, indent))
    }

    /// The comment of each property, and its declaration.
    fn properties(
        &mut self,
        schema: &'a Map<String, Value>,
        indent: usize,
    ) -> Vec<(String, String)> {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let required: Vec<&str> = required.collect();
        let is_required: HashSet<&str> = required.iter().copied().collect();
        let mut seen = HashSet::new();
        let mut members = Vec::new();
        let declared = schema.get("properties").and_then(Value::as_object);
        for (name, of) in declared.into_iter().flatten() {
            let comment = description(of);
            let mark = if is_required.contains(name.as_str()) {
                ""
            } else {
                "?"
            };
            let named = property(name);
            if !self.spend(comment.len() + named.len()) {
                return members;
            }
            let is = self.write(of, indent + 1);
            members.push((comment, format!("{named}{mark}: {}", is.text)));
            seen.insert(name.as_str());
        }
        for name in required {
            if seen.insert(name) && self.spend(name.len()) {
                members.push((String::new(), format!("{}: unknown", property(name))));
            }
        }
        members
    }
}

/// Whether a schema without a type is about objects.
fn says_object(schema: &Map<String, Value>) -> bool {
    schema.contains_key("properties")
        || schema.contains_key("required")
        || schema
            .get("additionalProperties")
            .is_some_and(Value::is_object)
}

/// In one line where nothing needs a comment and it is short.
fn braces(members: &[(String, String)], indent: usize) -> String {
    let simple = members
        .iter()
        .all(|(comment, declared)| comment.is_empty() && !declared.contains('\n'));
    let bytes: usize = members.iter().map(|(_, declared)| declared.len() + 2).sum();
    if simple && bytes <= LINE_BYTES_MAX {
        let declared: Vec<&str> = members.iter().map(|(_, text)| text.as_str()).collect();
        return format!("{{ {} }}", declared.join("; "));
    }
    let margin = "  ".repeat(indent + 1);
    let mut text = "{\n".to_owned();
    for (comment, declared) in members {
        if !comment.is_empty() {
            text.push_str(&format!("{margin}/** {comment} */\n"));
        }
        text.push_str(&format!("{margin}{declared};\n"));
    }
    text.push_str(&"  ".repeat(indent));
    text.push('}');
    text
}

/// What a type does not say of a property: its description, range, format and default.
fn description(schema: &Value) -> String {
    let text = |word: &str| schema.get(word).and_then(Value::as_str).unwrap_or_default();
    let number = |word: &str| schema.get(word).filter(|value| value.is_number());
    let mut said = comment(text("description"), DESCRIPTION_CHARS_MAX);
    let mut say = |note: String| {
        if !said.is_empty() && !said.ends_with(['.', '!', '?']) {
            said.push('.');
        }
        if !said.is_empty() {
            said.push(' ');
        }
        said.push_str(&note);
    };
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => say(format!("{least} to {most}.")),
        (Some(least), None) => say(format!("At least {least}.")),
        (None, Some(most)) => say(format!("At most {most}.")),
        (None, None) => {}
    }
    let format = text("format");
    if (1..=NOTE_BYTES_MAX).contains(&format.len()) {
        say(comment(&format!("Format: {format}."), usize::MAX));
    }
    if let Some(value) = schema.get("default") {
        let value = value.to_string();
        if value.len() <= NOTE_BYTES_MAX {
            say(comment(&format!("Default: {value}."), usize::MAX));
        }
    }
    if schema.get("deprecated") == Some(&Value::Bool(true)) {
        say("Deprecated.".to_owned());
    }
    said
}
