//! The keys of `x-toolgate`. An unknown key is an error that lists the known ones.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::document::Node;
use super::problem::{Problem, below};
use toolgate_catalog::manifest::{DeclaredLimits, Effect, HookSpec, Parameter, TriggerSpec};

pub const KEY: &str = "x-toolgate";

/// At the document.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DocumentKeys {
    pub service: Option<String>,
    pub categories: Vec<String>,
    pub homepage: Option<String>,
    pub hosts: Vec<String>,
    pub response_headers: Vec<String>,
    pub response_types: Vec<String>,
    pub headers: BTreeMap<String, ScalarText>,
    pub query: BTreeMap<String, ScalarText>,
    pub pagination: Option<Pagination>,
    pub error: Option<ErrorKeys>,
    pub parameters: Vec<Parameter>,
    pub api_base: Option<ApiBase>,
    pub limits: DeclaredLimits,
    /// As in the manifest, with `event`: a plugin made from a description has no code that reads an event.
    pub webhook: Option<HookSpec>,
    pub operations: Vec<String>,
}

/// The operator sets the address.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiBase {
    pub title: String,
}

/// At an operation.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OperationKeys {
    pub name: Option<String>,
    pub title: Option<String>,
    pub effect: Option<Effect>,
    pub idempotent: Option<bool>,
    pub keywords: Vec<String>,
    pub requests: Vec<String>,
    /// As in the manifest.
    pub triggers: Vec<TriggerSpec>,
    pub examples: Vec<Value>,
    pub paginated: Option<Paginated>,
    pub scopes: Option<Vec<String>>,
    pub flatten: Option<String>,
    pub result: Option<ResultKeys>,
    pub error: Option<ErrorKeys>,
    pub headers: BTreeMap<String, ScalarText>,
    /// Headers of the response that become members of the result, by the member's name.
    pub answer_headers: BTreeMap<String, String>,
    pub query: BTreeMap<String, ScalarText>,
    pub graphql: Option<String>,
    pub download: Option<bool>,
    pub skip: bool,
}

/// At a parameter or property.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InputKeys {
    pub name: Option<String>,
    /// The property is a local time whose zone is in this property of the same object.
    pub zone: Option<String>,
}

/// At a server variable.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VariableKeys {
    pub title: Option<String>,
    pub pattern: Option<String>,
    pub required: Option<bool>,
    pub help: Option<String>,
    pub default: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum Paginated {
    Flag(bool),
    Own(Box<Pagination>),
}

impl TryFrom<Value> for Paginated {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        if let Value::Bool(flag) = value {
            return Ok(Self::Flag(flag));
        }
        Pagination::deserialize(value)
            .map(|own| Self::Own(Box::new(own)))
            .map_err(|_| {
                "write `true`, or an object with `style` (cursor, page, offset, link or next_url) and the keys of \
                 that style"
            })
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pagination {
    pub style: toolgate_openapi_table::PageStyle,
    pub param: Option<String>,
    pub next: Option<String>,
    pub more: Option<String>,
    pub items: Option<String>,
    pub size: Option<String>,
    pub size_default: Option<u64>,
    pub first: Option<u64>,
    pub total: Option<String>,
    pub total_pages: Option<String>,
    #[serde(default)]
    pub any_path: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ErrorKeys {
    pub code: OneOrMany,
    pub message: OneOrMany,
    pub ok: Option<String>,
    pub failed: Option<String>,
    /// Codes of an expired credential; at the document only.
    pub expired: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl TryFrom<Value> for OneOrMany {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        if let Value::String(one) = value {
            return Ok(Self::One(one));
        }
        Vec::deserialize(value)
            .map(Self::Many)
            .map_err(|_| "write a JSON Pointer, or a list of them")
    }
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    pub fn list(self) -> Vec<String> {
        match self {
            Self::One(one) => vec![one],
            Self::Many(many) => many,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum ResultKeys {
    At(String),
    Parts(ResultParts),
}

impl TryFrom<Value> for ResultKeys {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        if let Value::String(at) = value {
            return Ok(Self::At(at));
        }
        ResultParts::deserialize(value)
            .map(Self::Parts)
            .map_err(|_| "write a JSON Pointer, or an object with `at`, `omitted_when_empty`, `keep` and `drop`")
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResultParts {
    pub at: String,
    pub omitted_when_empty: bool,
    pub keep: Vec<String>,
    pub drop: Vec<String>,
}

/// A text, or a number or a boolean that is read as one.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Value")]
pub struct ScalarText(pub String);

impl From<Value> for ScalarText {
    fn from(value: Value) -> Self {
        Self(match value {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }
}

/// Reads the keys at a place; the defaults where it has none.
pub fn read<T: DeserializeOwned + Default>(
    file: &str,
    pointer: &str,
    node: Node<'_>,
) -> Result<T, Problem> {
    let Some(value) = node.value.get(KEY) else {
        return Ok(T::default());
    };
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut at = below(pointer, KEY);
        let path = error.path().to_string();
        if path != "." {
            for segment in path.split('.') {
                at = below(&at, segment);
            }
        }
        Problem::new(file, at, error.inner().to_string())
    })
}

/// The keys at a security scheme, with the names that they have in the manifest.
pub fn slot(node: Node<'_>) -> Map<String, Value> {
    node.value
        .get(KEY)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Where an operation's keys cannot be read, and why.
    fn refused(keys: &Value) -> (String, String) {
        let error = serde_path_to_error::deserialize::<_, OperationKeys>(keys).unwrap_err();
        (error.path().to_string(), error.inner().to_string())
    }

    #[test]
    fn a_key_with_several_forms_names_the_accepted_ones() {
        for (keys, path, says) in [
            (
                json!({"paginated": "yes"}),
                "paginated",
                "write `true`, or an object with `style` (cursor, page, offset, link or next_url) \
                 and the keys of that style",
            ),
            (
                json!({"paginated": {"style": "page", "of": 1}}),
                "paginated",
                "write `true`, or an object with `style` (cursor, page, offset, link or next_url) \
                 and the keys of that style",
            ),
            (
                json!({"result": {"from": "/items"}}),
                "result",
                "write a JSON Pointer, or an object with `at`, `omitted_when_empty`, `keep` and `drop`",
            ),
            (
                json!({"error": {"code": [1]}}),
                "error.code",
                "write a JSON Pointer, or a list of them",
            ),
        ] {
            assert_eq!(refused(&keys), (path.to_owned(), says.to_owned()));
        }
    }

    #[test]
    fn each_of_the_forms_is_read() {
        let read = |keys: Value| serde_json::from_value::<OperationKeys>(keys).unwrap();
        let flag = read(json!({"paginated": true, "result": "/items"}));
        assert!(matches!(flag.paginated, Some(Paginated::Flag(true))));
        assert!(matches!(flag.result, Some(ResultKeys::At(at)) if at == "/items"));
        let own = read(json!({"paginated": {"style": "page"}, "result": {"keep": ["/id"]}}));
        assert!(matches!(own.paginated, Some(Paginated::Own(_))));
        assert!(matches!(own.result, Some(ResultKeys::Parts(parts)) if parts.keep == ["/id"]));
        let codes = |code: Value| read(json!({"error": {"code": code}})).error.unwrap().code;
        assert_eq!(codes(json!("/a")).list(), ["/a"]);
        assert_eq!(codes(json!(["/a", "/b"])).list(), ["/a", "/b"]);
    }
}
