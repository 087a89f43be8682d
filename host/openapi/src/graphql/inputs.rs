//! Arguments of a field as JSON Schema: properties of a request body, and the input types that they name as components.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::schema::{GraphqlSchema, InputField, NamedForm, TypeReference};
use crate::words;

/// Longest description of an argument, in characters.
const TEXT_CHARS_MAX: usize = 400;
/// Deepest chain of input objects that need one another.
const NEED_DEPTH_MAX: usize = 64;
/// Most input types of one description; more are not described.
const COMPONENTS_MAX: usize = 5_000;

/// What is known of scalars by their usual names: a type, and a format.
const SCALARS: &[(&[&str], &str, Option<&str>)] = &[
    (&["String", "ID"], "string", None),
    (&["Int"], "integer", None),
    (&["Float"], "number", None),
    (&["Boolean"], "boolean", None),
    (
        &["DateTime", "ISO8601DateTime", "Timestamptz", "timestamptz"],
        "string",
        Some("date-time"),
    ),
    (&["Date", "ISO8601Date", "date"], "string", Some("date")),
    (&["URI", "URL", "Url"], "string", Some("uri")),
    (&["UUID", "Uuid", "uuid"], "string", Some("uuid")),
    (&["EmailAddress"], "string", Some("email")),
    (
        &["HTML", "Markdown", "TimelessDate", "GitObjectID"],
        "string",
        None,
    ),
];

/// The input types that the operations of a description use, by name.
#[derive(Debug, Default)]
pub struct InputComponents {
    pub schemas: BTreeMap<String, Value>,
    /// Scalars of which nothing is known.
    pub opaque: Vec<String>,
}

/// The schema of an argument or of a field of an input object.
pub fn property(
    schema: &GraphqlSchema,
    field: &InputField,
    may_be_null: bool,
    components: &mut InputComponents,
) -> Value {
    let mut made = reference(schema, &field.of, components);
    let text = words::prose(&field.description, TEXT_CHARS_MAX);
    if !text.is_empty() {
        made.insert("description".to_owned(), json!(text));
    }
    if let Some(value) = field.default.as_deref().and_then(default) {
        made.insert("default".to_owned(), value);
    }
    if may_be_null && !field.of.is_non_null() {
        made.insert("nullable".to_owned(), json!(true));
    }
    made.into()
}

fn reference(
    schema: &GraphqlSchema,
    of: &TypeReference,
    components: &mut InputComponents,
) -> Map<String, Value> {
    match of {
        TypeReference::NonNull(inner) => reference(schema, inner, components),
        TypeReference::List(inner) => {
            let items = reference(schema, inner, components);
            object(json!({"type": "array", "items": items}))
        }
        TypeReference::Named(name) => named(schema, name, components),
    }
}

fn named(
    schema: &GraphqlSchema,
    name: &str,
    components: &mut InputComponents,
) -> Map<String, Value> {
    let form = schema.types.get(name).map(|found| &found.form);
    match form {
        Some(NamedForm::Enum { .. } | NamedForm::Input { .. })
            if components.schemas.contains_key(name)
                || components.schemas.len() < COMPONENTS_MAX =>
        {
            component(schema, name, components);
            object(json!({"$ref": format!("#/components/schemas/{name}")}))
        }
        _ => scalar(name, components),
    }
}

fn scalar(name: &str, components: &mut InputComponents) -> Map<String, Value> {
    let known = SCALARS.iter().find(|(names, _, _)| names.contains(&name));
    match known {
        Some((_, kind, Some(format))) => object(json!({"type": kind, "format": format})),
        Some((_, kind, None)) => object(json!({"type": kind})),
        None => {
            if !components.opaque.iter().any(|known| known == name) {
                components.opaque.push(name.to_owned());
            }
            object(json!({"description": format!("A value of the type {name}.")}))
        }
    }
}

/// Adds an enum or input object, and what it names.
fn component(schema: &GraphqlSchema, name: &str, components: &mut InputComponents) {
    if components.schemas.contains_key(name) {
        return;
    }
    // Marks it as made while its own fields are, which may name it.
    components.schemas.insert(name.to_owned(), Value::Null);
    let Some(found) = schema.types.get(name) else {
        return;
    };
    let mut made = match &found.form {
        NamedForm::Enum { values } => {
            let current = values.iter().filter(|value| !value.deprecated);
            let names: Vec<&str> = current.map(|value| value.name.as_str()).collect();
            object(json!({"type": "string", "enum": names}))
        }
        NamedForm::Input { fields, one_of } => {
            let kept = fields.iter().filter(|field| is_kept(field));
            let mut properties = Map::new();
            let mut required = Vec::new();
            for field in kept {
                let made = property(schema, field, !one_of, components);
                properties.insert(field.name.clone(), made);
                required.extend(field.is_required().then(|| field.name.clone()));
            }
            let mut made = object(json!({"type": "object", "properties": properties}));
            if !required.is_empty() {
                made.insert("required".to_owned(), json!(required));
            }
            if *one_of {
                made.insert("minProperties".to_owned(), json!(1));
                made.insert("maxProperties".to_owned(), json!(1));
            }
            made.insert("additionalProperties".to_owned(), json!(false));
            made
        }
        _ => return,
    };
    let text = words::prose(&found.description, TEXT_CHARS_MAX);
    if !text.is_empty() {
        made.insert("description".to_owned(), json!(text));
    }
    components.schemas.insert(name.to_owned(), made.into());
}

/// Whether an argument or input field is offered: a deprecated one only where it is required.
pub fn is_kept(field: &InputField) -> bool {
    !field.deprecated || field.is_required()
}

/// Whether no value of this input type can be written, because it needs one of itself.
pub fn is_endless(schema: &GraphqlSchema, of: &TypeReference) -> bool {
    let mut finite = Vec::new();
    needs_itself(schema, of, &mut Vec::new(), &mut finite)
}

fn needs_itself<'s>(
    schema: &'s GraphqlSchema,
    of: &'s TypeReference,
    path: &mut Vec<&'s str>,
    finite: &mut Vec<&'s str>,
) -> bool {
    // A list may be empty, and null ends everything.
    let TypeReference::NonNull(inner) = of else {
        return false;
    };
    let TypeReference::Named(name) = &**inner else {
        return false;
    };
    if finite.contains(&name.as_str()) {
        return false;
    }
    if path.contains(&name.as_str()) || path.len() >= NEED_DEPTH_MAX {
        return true;
    }
    let form = schema.types.get(name).map(|found| &found.form);
    let Some(NamedForm::Input { fields, one_of }) = form else {
        return false;
    };
    path.push(name);
    let mut needed = fields.iter().filter(|field| field.is_required());
    let endless = !one_of && needed.any(|field| needs_itself(schema, &field.of, path, finite));
    path.pop();
    if !endless {
        finite.push(name);
    }
    endless
}

/// A default as JSON, where it has the same form there: a number, a text, true, false, or the name of an enum's value.
fn default(written: &str) -> Option<Value> {
    if written == "null" {
        return None;
    }
    let value = serde_json::from_str::<Value>(written).ok();
    let value = value.filter(|value| !value.is_object() && !value.is_array());
    let name = super::schema::is_name(written).then(|| json!(written));
    value.or(name)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::sdl;

    const TEXT: &str = r#"
        type Query { find(filter: Filter, at: DateTime!, order: Order = NEWEST, first: Int! = 20, raw: Blob): String }
        "What to look for."
        input Filter { not: Filter  all: [Filter!]!  name: String = "x"  old: Int @deprecated }
        scalar DateTime  scalar Blob  enum Order { NEWEST  OLDEST @deprecated }
        input Endless { inner: Other! }
        input Other { back: Endless!  more: String }
        input Choice @oneOf { a: String  b: Int }"#;

    #[test]
    fn types_become_schemas_and_components() {
        let schema = sdl::read(TEXT).unwrap();
        let mut components = InputComponents::default();
        let field = schema.field("Query", "find").unwrap();
        let made: Vec<Value> = field
            .arguments
            .iter()
            .map(|argument| property(&schema, argument, false, &mut components))
            .collect();
        assert_eq!(
            made,
            [
                json!({"$ref": "#/components/schemas/Filter"}),
                json!({"type": "string", "format": "date-time"}),
                json!({"$ref": "#/components/schemas/Order", "default": "NEWEST"}),
                json!({"type": "integer", "default": 20}),
                json!({"description": "A value of the type Blob."}),
            ]
        );
        assert_eq!(components.opaque, ["Blob"]);
        let filter = Value::from("#/components/schemas/Filter");
        assert_eq!(
            components.schemas["Filter"],
            json!({
                "type": "object",
                "properties": {
                    "not": {"$ref": filter, "nullable": true},
                    "all": {"type": "array", "items": {"$ref": filter}},
                    "name": {"type": "string", "default": "x", "nullable": true},
                },
                "required": ["all"],
                "additionalProperties": false,
                "description": "What to look for.",
            })
        );
        assert_eq!(
            components.schemas["Order"],
            json!({"type": "string", "enum": ["NEWEST"]})
        );
    }

    #[test]
    fn an_input_that_needs_itself_is_found() {
        let schema = sdl::read(TEXT).unwrap();
        let needs = |name: &str| {
            let named = TypeReference::Named(name.to_owned());
            is_endless(&schema, &TypeReference::NonNull(Box::new(named)))
        };
        assert!(needs("Endless"));
        assert!(needs("Other"));
        assert!(!needs("Filter"), "a list of itself may be empty");
        assert!(!needs("Choice"));
    }
}
