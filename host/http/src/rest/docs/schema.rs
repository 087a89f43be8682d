//! A schema of the document, written out for people.

use maud::{Markup, html};
use serde_json::Value;

use super::{DocsWriter, inline, list, object, text};

/// Levels of a schema that are written out; below it only the type is named.
const SCHEMA_DEPTH_MAX: usize = 6;

impl<'a> DocsWriter<'a> {
    /// Follows a reference inside the document.
    fn resolve(self, schema: &'a Value) -> &'a Value {
        let pointer = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
        pointer.and_then(|at| self.0.pointer(at)).unwrap_or(schema)
    }

    /// A schema's type in a word or two.
    pub(super) fn kind(self, schema: &'a Value) -> String {
        let schema = self.resolve(schema);
        match &schema["type"] {
            Value::String(kind) if kind == "array" => {
                format!("array of {}", self.kind(&schema["items"]))
            }
            Value::String(kind) => kind.clone(),
            Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
            _ => {
                let choices = list(&schema["oneOf"]).map(|choice| self.kind(choice));
                let mut choices: Vec<_> = choices.collect();
                choices.dedup();
                if choices.is_empty() {
                    "any".to_owned()
                } else {
                    choices.join(" or ")
                }
            }
        }
    }

    /// What a value may be beyond its type.
    pub(super) fn bounds(self, schema: &'a Value) -> Markup {
        let schema = self.resolve(schema);
        let mut bounds = Vec::new();
        for (least, most, unit) in [
            ("minimum", "maximum", ""),
            ("minLength", "maxLength", " characters"),
        ] {
            match (schema[least].as_u64(), schema[most].as_u64()) {
                (Some(least), Some(most)) => bounds.push(format!("{least} to {most}{unit}")),
                (Some(least), None) => bounds.push(format!("at least {least}{unit}")),
                (None, Some(most)) => bounds.push(format!("at most {most}{unit}")),
                (None, None) => {}
            }
        }
        // A pattern that only keeps control characters out tells a reader nothing.
        if let Some(pattern) = schema["pattern"].as_str().filter(|it| !it.contains("\\x")) {
            bounds.push(format!("`{pattern}`"));
        }
        let words: Vec<&str> = list(&schema["enum"]).map(text).collect();
        if !words.is_empty() {
            bounds.push(format!("one of `{}`", words.join("`, `")));
        }
        html! {
            @for bound in &bounds { " " small { "(" (inline(bound)) ")" } }
        }
    }

    /// The properties below a schema, nested as they are.
    pub(super) fn schema(self, schema: &'a Value, depth: usize) -> Markup {
        if depth == SCHEMA_DEPTH_MAX {
            return html! {};
        }
        let schema = self.resolve(schema);
        let nested = |choice: &&Value| self.has_properties(choice);
        html! {
            @for part in list(&schema["allOf"]) { (self.schema(part, depth)) }
            @for choice in list(&schema["oneOf"]).filter(nested) {
                div class="choice" { (self.schema(choice, depth + 1)) }
            }
            @if schema["items"].is_object() { (self.schema(&schema["items"], depth)) }
            @if object(&schema["properties"]).next().is_some() {
                dl {
                    @for (name, property) in object(&schema["properties"]) {
                        dt {
                            code { (name) } " " (self.kind(property))
                            @if !list(&schema["required"]).any(|it| it == name.as_str()) {
                                ", optional"
                            }
                        }
                        dd {
                            (inline(self.description(property)))
                            (self.bounds(property))
                            (self.schema(property, depth + 1))
                        }
                    }
                }
            }
        }
    }

    fn description(self, property: &'a Value) -> &'a str {
        let own = property["description"].as_str();
        own.unwrap_or_else(|| text(&self.resolve(property)["description"]))
    }

    fn has_properties(self, schema: &'a Value) -> bool {
        let schema = self.resolve(schema);
        schema["properties"].is_object()
            || list(&schema["allOf"]).any(|part| self.has_properties(part))
    }
}
