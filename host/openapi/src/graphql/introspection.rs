//! The answer to an introspection query (GraphQL, section 4) as a schema. It comes from a stranger, and its names are
//! written into documents: one that is no GraphQL name is refused.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::schema::{
    EnumMember, GraphqlSchema, InputField, NamedForm, NamedType, OutputField, TYPES_MAX,
    TypeReference, WRAPPERS_MAX, is_name,
};
use crate::words;

/// Asks a server for its schema. Without what only newer servers know (`specifiedByURL`, `isOneOf`, deprecated
/// arguments), so that every server answers.
pub const INTROSPECTION_QUERY: &str = "query IntrospectionQuery { __schema { \
    queryType { name } mutationType { name } subscriptionType { name } \
    types { kind name description \
    fields(includeDeprecated: true) { name description args { ...Input } type { ...Ref } isDeprecated } \
    inputFields { ...Input } enumValues(includeDeprecated: true) { name isDeprecated } possibleTypes { name } } } } \
    fragment Input on __InputValue { name description type { ...Ref } defaultValue } \
    fragment Ref on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name \
    ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";

/// The `__schema` of a JSON document, with its JSON Pointer.
pub fn found(document: &Value) -> Option<(&'static str, &Value)> {
    ["/data/__schema", "/__schema"]
        .into_iter()
        .find_map(|at| Some((at, document.pointer(at).filter(|value| value.is_object())?)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredSchema {
    query_type: Option<AnsweredName>,
    mutation_type: Option<AnsweredName>,
    subscription_type: Option<AnsweredName>,
    types: Vec<AnsweredType>,
}

#[derive(Deserialize)]
struct AnsweredName {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredType {
    kind: String,
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    description: String,
    #[serde(default, deserialize_with = "or_default")]
    fields: Vec<AnsweredField>,
    #[serde(default, deserialize_with = "or_default")]
    input_fields: Vec<AnsweredInput>,
    #[serde(default, deserialize_with = "or_default")]
    enum_values: Vec<AnsweredMember>,
    #[serde(default, deserialize_with = "or_default")]
    possible_types: Vec<AnsweredName>,
    #[serde(default, deserialize_with = "or_default")]
    is_one_of: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredField {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    description: String,
    #[serde(default, deserialize_with = "or_default")]
    args: Vec<AnsweredInput>,
    #[serde(rename = "type")]
    of: AnsweredReference,
    #[serde(default, deserialize_with = "or_default")]
    is_deprecated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredInput {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    description: String,
    #[serde(rename = "type")]
    of: AnsweredReference,
    default_value: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    is_deprecated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredMember {
    name: String,
    #[serde(default, deserialize_with = "or_default")]
    is_deprecated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnsweredReference {
    kind: String,
    name: Option<String>,
    of_type: Option<Box<AnsweredReference>>,
}

/// Null is the same as absent.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(
    input: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(input)?.unwrap_or_default())
}

/// Reads a `__schema`. The error is a sentence about it.
pub fn read(schema: &Value) -> Result<GraphqlSchema, String> {
    let answered = AnsweredSchema::deserialize(schema)
        .map_err(|error| format!("is not an answer to an introspection query: {error}"))?;
    if answered.types.len() > TYPES_MAX {
        return Err(format!("has more than {TYPES_MAX} types"));
    }
    let root = |named: Option<AnsweredName>| named.map(|named| name(named.name)).transpose();
    let mut types = BTreeMap::new();
    for answered in answered.types {
        // The types of introspection itself are never selected.
        if !answered.name.starts_with("__") {
            let (name, found) = named_type(answered)?;
            types.insert(name, found);
        }
    }
    Ok(GraphqlSchema {
        query: root(answered.query_type)?,
        mutation: root(answered.mutation_type)?,
        subscription: root(answered.subscription_type)?,
        types,
    })
}

fn name(text: String) -> Result<String, String> {
    match is_name(&text) {
        true => Ok(text),
        false => Err(format!(
            "`{}` is not a name in GraphQL",
            words::clean(&text, 60)
        )),
    }
}

fn named_type(answered: AnsweredType) -> Result<(String, NamedType), String> {
    let fields = answered
        .fields
        .into_iter()
        .map(output)
        .collect::<Result<Vec<_>, _>>()?;
    let inputs = answered
        .input_fields
        .into_iter()
        .map(input)
        .collect::<Result<Vec<_>, _>>()?;
    let possible = answered.possible_types.into_iter();
    let possible = possible.map(|named| name(named.name));
    let possible = possible.collect::<Result<Vec<_>, _>>()?;
    let members = answered.enum_values.into_iter().map(|member| {
        Ok(EnumMember {
            name: name(member.name)?,
            deprecated: member.is_deprecated,
        })
    });
    let form = match answered.kind.as_str() {
        "SCALAR" => NamedForm::Scalar,
        "OBJECT" => NamedForm::Object { fields },
        "INTERFACE" => NamedForm::Interface { fields, possible },
        "UNION" => NamedForm::Union { possible },
        "ENUM" => NamedForm::Enum {
            values: members.collect::<Result<Vec<_>, String>>()?,
        },
        "INPUT_OBJECT" => NamedForm::Input {
            fields: inputs,
            one_of: answered.is_one_of,
        },
        other => {
            let other = words::clean(other, 40);
            return Err(format!("has a type of the unknown kind `{other}`"));
        }
    };
    let found = NamedType {
        description: answered.description,
        form,
    };
    Ok((name(answered.name)?, found))
}

fn output(answered: AnsweredField) -> Result<OutputField, String> {
    Ok(OutputField {
        name: name(answered.name)?,
        description: answered.description,
        arguments: answered
            .args
            .into_iter()
            .map(input)
            .collect::<Result<_, _>>()?,
        of: reference(answered.of, 0)?,
        deprecated: answered.is_deprecated,
    })
}

fn input(answered: AnsweredInput) -> Result<InputField, String> {
    Ok(InputField {
        name: name(answered.name)?,
        description: answered.description,
        of: reference(answered.of, 0)?,
        default: answered.default_value,
        deprecated: answered.is_deprecated,
    })
}

fn reference(answered: AnsweredReference, depth: usize) -> Result<TypeReference, String> {
    if depth > WRAPPERS_MAX {
        return Err(format!("has more than {WRAPPERS_MAX} lists in one another"));
    }
    match (answered.kind.as_str(), answered.of_type, answered.name) {
        ("LIST", Some(inner), _) => {
            Ok(TypeReference::List(Box::new(reference(*inner, depth + 1)?)))
        }
        ("NON_NULL", Some(inner), _) => Ok(TypeReference::NonNull(Box::new(reference(
            *inner,
            depth + 1,
        )?))),
        ("LIST" | "NON_NULL", None, _) => Err(
            "refers to a type without saying which: ask with more levels of `ofType`".to_owned(),
        ),
        (_, _, Some(named)) => Ok(TypeReference::Named(name(named)?)),
        (_, _, None) => Err("refers to a type without a name".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with_field(name: &str) -> Value {
        let text = json!({"kind": "SCALAR", "name": "String", "ofType": null});
        json!({
            "queryType": {"name": "Query"}, "mutationType": null, "subscriptionType": null,
            "types": [{"kind": "OBJECT", "name": "Query", "description": null, "inputFields": null,
                "enumValues": null, "possibleTypes": null, "interfaces": [],
                "fields": [{"name": name, "description": null, "isDeprecated": false, "deprecationReason": null,
                    "args": [{"name": "tags", "description": "Which.", "defaultValue": "[]",
                        "type": {"kind": "NON_NULL", "name": null, "ofType": {"kind": "LIST", "name": null, "ofType": text}}}],
                    "type": text}]}],
        })
    }

    #[test]
    fn an_answer_becomes_a_schema() {
        let schema = read(&with_field("notes")).unwrap();
        assert_eq!(schema.query.as_deref(), Some("Query"));
        assert_eq!(schema.mutation, None);
        let field = schema.field("Query", "notes").unwrap();
        assert_eq!(field.arguments[0].of.to_string(), "[String]!");
        assert!(field.is_plain(), "a default makes it optional");
    }

    #[test]
    fn a_name_that_would_write_into_a_document_is_refused() {
        let refused = read(&with_field("a } mutation { drop")).unwrap_err();
        assert!(refused.contains("is not a name in GraphQL"), "{refused}");
    }

    #[test]
    fn lists_without_an_end_are_refused() {
        let mut inner = json!({"kind": "SCALAR", "name": "String"});
        for _ in 0..40 {
            inner = json!({"kind": "LIST", "ofType": inner});
        }
        let mut schema = with_field("notes");
        schema["types"][0]["fields"][0]["type"] = inner;
        let refused = read(&schema).unwrap_err();
        assert!(refused.contains("lists in one another"), "{refused}");
    }

    #[test]
    fn a_document_with_or_without_data_around_it_is_found() {
        let schema = json!({"queryType": {"name": "Query"}});
        let whole = json!({"data": {"__schema": schema}});
        assert_eq!(found(&whole).map(|(at, _)| at), Some("/data/__schema"));
        let bare = json!({"__schema": schema});
        assert_eq!(found(&bare).map(|(at, _)| at), Some("/__schema"));
        assert!(found(&json!({"openapi": "3.1.0"})).is_none());
    }
}
