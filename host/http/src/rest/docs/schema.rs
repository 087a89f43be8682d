//! A schema of the document, written out for people.

use serde_json::Value;

use super::html::{HtmlWriter, list, object, text};

/// Levels of a schema that are written out; below it only the type is named.
const SCHEMA_DEPTH_MAX: usize = 6;

impl<'a> HtmlWriter<'a> {
    /// Follows a reference inside the document.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let pointer = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#'));
        pointer
            .and_then(|at| self.document.pointer(at))
            .unwrap_or(schema)
    }

    /// A schema's type in a word or two.
    pub(super) fn kind(&self, schema: &'a Value) -> String {
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
    pub(super) fn bounds(&mut self, schema: &'a Value) {
        let schema = self.resolve(schema);
        for (least, most, unit) in [
            ("minimum", "maximum", ""),
            ("minLength", "maxLength", " characters"),
        ] {
            let range = match (schema[least].as_u64(), schema[most].as_u64()) {
                (Some(least), Some(most)) => format!("{least} to {most}{unit}"),
                (Some(least), None) => format!("at least {least}{unit}"),
                (None, Some(most)) => format!("at most {most}{unit}"),
                (None, None) => continue,
            };
            self.bound(&range);
        }
        // A pattern that only keeps control characters out tells a reader nothing.
        if let Some(pattern) = schema["pattern"].as_str().filter(|it| !it.contains("\\x")) {
            self.bound(&format!("`{pattern}`"));
        }
        let words: Vec<&str> = list(&schema["enum"]).map(text).collect();
        if !words.is_empty() {
            self.bound(&format!("one of `{}`", words.join("`, `")));
        }
    }

    fn bound(&mut self, words: &str) {
        self.raw(" <small>(");
        self.inline(words);
        self.raw(")</small>");
    }

    /// The properties below a schema, nested as they are.
    pub(super) fn schema(&mut self, schema: &'a Value, depth: usize) {
        if depth == SCHEMA_DEPTH_MAX {
            return;
        }
        let schema = self.resolve(schema);
        for part in list(&schema["allOf"]) {
            self.schema(part, depth);
        }
        for choice in list(&schema["oneOf"]) {
            if self.has_properties(choice) {
                self.raw("<div class=\"choice\">");
                self.schema(choice, depth + 1);
                self.raw("</div>");
            }
        }
        if schema["items"].is_object() {
            self.schema(&schema["items"], depth);
        }
        if object(&schema["properties"]).next().is_none() {
            return;
        }
        self.raw("<dl>");
        for (name, property) in object(&schema["properties"]) {
            self.raw("<dt>");
            self.element("code", name);
            let kind = self.kind(property);
            let needed = list(&schema["required"]).any(|required| required == name.as_str());
            self.text(&format!(
                " {kind}{}",
                if needed { "" } else { ", optional" }
            ));
            self.raw("</dt><dd>");
            let said = property["description"].as_str();
            let said = said.or_else(|| self.resolve(property)["description"].as_str());
            self.inline(said.unwrap_or(""));
            self.bounds(property);
            self.schema(property, depth + 1);
            self.raw("</dd>");
        }
        self.raw("</dl>");
    }

    fn has_properties(&self, schema: &'a Value) -> bool {
        let schema = self.resolve(schema);
        schema["properties"].is_object()
            || list(&schema["allOf"]).any(|part| self.has_properties(part))
    }
}
