//! The arguments of a tool while they are collected, and their schema at the end.

use serde_json::{Map, Value, json};

use super::document::{Documents, Node};
use super::schema::{Expander, ExpansionBounds};
use super::words;

/// One argument.
#[derive(Debug)]
pub struct Argument<'d> {
    pub name: String,
    pub required: bool,
    pub description: Option<&'d str>,
    pub form: ArgumentForm<'d>,
}

/// What an argument looks like.
#[derive(Debug)]
pub enum ArgumentForm<'d> {
    Schema(Node<'d>),
    Fixed(Value),
    /// A file reference; the schema gives the description, and a list where there can be many.
    File {
        schema: Node<'d>,
        many: bool,
    },
}

/// Bounds tried one after the other until a tool's arguments fit. `bytes` and `values` come from
/// the tool's share of the manifest.
const STEPS: &[(usize, usize)] = &[
    (10, 600),
    (7, 400),
    (5, 300),
    (4, 200),
    (3, 160),
    (2, 120),
    (1, 100),
    (0, 80),
];
/// The description of an argument itself, in characters.
const TEXT_CHARS_MAX: usize = 600;

/// Arguments in the order of the description.
#[derive(Debug, Default)]
pub struct ArgumentList<'d> {
    pub list: Vec<Argument<'d>>,
}

impl<'d> ArgumentList<'d> {
    /// Adds an argument under a name that no other argument has, and returns that name.
    pub fn add(&mut self, wanted: &str, argument: Argument<'d>) -> String {
        let mut name = wanted.to_owned();
        for number in 2.. {
            if !self.list.iter().any(|known| known.name == name) {
                break;
            }
            name = words::numbered(wanted, number, 64);
        }
        self.list.push(Argument {
            name: name.clone(),
            ..argument
        });
        name
    }

    pub fn has(&self, name: &str) -> bool {
        self.list.iter().any(|known| known.name == name)
    }

    /// The object schema of all arguments, and what was left out of it.
    pub fn schema(&self, docs: &'d Documents, bytes: usize, values: usize) -> (Value, Omissions) {
        let mut cut = Omissions::default();
        for (step, &(depth, text_chars)) in STEPS.iter().enumerate() {
            let mut expander = Expander::new(
                docs,
                ExpansionBounds {
                    depth,
                    text_chars,
                    bytes,
                    values,
                },
            );
            let schema = self.expand(&mut expander, text_chars);
            cut.recursive = expander.recursive;
            if !expander.over && schema.to_string().len() <= bytes {
                cut.shortened = step > 0;
                return (schema, cut);
            }
        }
        cut.shortened = true;
        (self.outline(bytes), cut)
    }

    fn expand(&self, expander: &mut Expander<'d>, text_chars: usize) -> Value {
        let mut properties = Map::new();
        for argument in &self.list {
            let mut schema = match &argument.form {
                ArgumentForm::Schema(node) => expander.expand(*node),
                ArgumentForm::Fixed(value) => value.as_object().cloned().unwrap_or_default(),
                ArgumentForm::File { schema, many } => file(*schema, *many),
            };
            let chars = TEXT_CHARS_MAX.min(text_chars.max(80) * 2);
            if let Some(text) = argument
                .description
                .map(|text| words::prose(text, chars))
                .filter(|t| !t.is_empty())
                && !matches!(argument.form, ArgumentForm::File { .. })
            {
                schema.insert("description".to_owned(), json!(text));
            }
            properties.insert(argument.name.clone(), schema.into());
            if expander.over {
                break;
            }
        }
        self.around(properties)
    }

    /// Names and types alone, required ones first, as many as fit.
    fn outline(&self, bytes: usize) -> Value {
        let mut properties = Map::new();
        let mut left = bytes.saturating_sub(200);
        let by_need = self
            .list
            .iter()
            .filter(|a| a.required)
            .chain(self.list.iter().filter(|a| !a.required));
        for argument in by_need {
            let cost = argument.name.len() * 2 + 32;
            if cost > left && !argument.required {
                continue;
            }
            left = left.saturating_sub(cost);
            let kind = match &argument.form {
                ArgumentForm::Schema(node) => node.value.get("type").and_then(Value::as_str),
                _ => None,
            };
            let known = ["string", "integer", "number", "boolean", "array", "object"];
            let schema = match kind.filter(|kind| known.contains(kind)) {
                Some(kind) => json!({"type": kind}),
                None => json!({}),
            };
            properties.insert(argument.name.clone(), schema);
        }
        self.around(properties)
    }

    fn around(&self, properties: Map<String, Value>) -> Value {
        let required: Vec<&str> = self
            .list
            .iter()
            .filter(|argument| argument.required && properties.contains_key(&argument.name))
            .map(|argument| argument.name.as_str())
            .collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema.into()
    }
}

fn file(schema: Node<'_>, many: bool) -> Map<String, Value> {
    let text = schema
        .text("description")
        .map(|text| words::prose(text, 300))
        .unwrap_or_default();
    let text = format!(
        "{text} The handle of a file (file_...), or a data URL: data:MEDIA_TYPE;base64,CONTENT."
    );
    let one =
        json!({"type": "string", "minLength": 1, "examples": ["data:text/plain;base64,aGVsbG8="]});
    let mut made = match many {
        true => json!({"type": "array", "items": one}),
        false => one,
    };
    made["description"] = json!(text.trim());
    made.as_object().cloned().unwrap_or_default()
}

/// What a schema of arguments lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omissions {
    pub recursive: bool,
    pub shortened: bool,
}
