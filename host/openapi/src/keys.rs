//! What stands under `x-toolgate`. An unknown key is an error that lists the known ones.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::document::Node;
use super::problem::{Problem, below};
use toolgate_catalog::manifest::{DeclaredLimits, Effect, HookSpec, Parameter};

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
    /// In the words of the manifest, `event` with them: a described plugin has no code to read it.
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
    pub examples: Vec<Value>,
    pub paginated: Option<Paginated>,
    pub scopes: Option<Vec<String>>,
    pub flatten: Option<String>,
    pub result: Option<ResultKeys>,
    pub error: Option<ErrorKeys>,
    pub headers: BTreeMap<String, ScalarText>,
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
#[serde(untagged)]
pub enum Paginated {
    Flag(bool),
    Own(Box<Pagination>),
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
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    One(String),
    Many(Vec<String>),
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
#[serde(untagged)]
pub enum ResultKeys {
    At(String),
    Parts(ResultParts),
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResultParts {
    pub at: String,
    pub keep: Vec<String>,
    pub drop: Vec<String>,
}

/// A text, or a number or truth value meant as one.
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

/// Reads the keys at a place; the defaults where there are none.
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
        let mut message = error.inner().to_string();
        if message.contains("untagged enum Paginated") {
            message = "write `true`, or an object with `style` (cursor, page, offset, link or next_url) and the keys of that style".to_owned();
        } else if message.contains("untagged enum ResultKeys") {
            message = "write a JSON Pointer, or an object with `at`, `keep` and `drop`".to_owned();
        }
        Problem::new(file, at, message)
    })
}

/// The keys at a security scheme, in the words of the manifest.
pub fn slot(node: Node<'_>) -> Map<String, Value> {
    node.value
        .get(KEY)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}
