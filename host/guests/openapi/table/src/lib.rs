//! The operation table of an OpenAPI plugin.
//!
//! The builder in the host writes it from a description, the interpreter component carries it in
//! its heap and performs calls by it. Everything a call needs is here, resolved: no schema, no
//! reference, no name that has to be looked up elsewhere. Field order is the order of sending.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Operations by tool name without the service prefix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub operations: BTreeMap<String, Operation>,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub method: Method,
    pub base: Base,
    /// Appended to the base.
    pub path: Vec<Piece>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub query: Vec<Input>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Input>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Value of the `Accept` header; empty sends none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub accept: String,
    /// Slots to run with, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auth: Vec<String>,
    #[serde(default, skip_serializing_if = "is_no")]
    pub auth_optional: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
    #[serde(default, skip_serializing_if = "Projection::is_default")]
    pub result: Projection,
    #[serde(default, skip_serializing_if = "ErrorShape::is_default")]
    pub error: ErrorShape,
    /// Headers of the response that become members of the result, by the member's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answer_headers: BTreeMap<String, String>,
    /// The response is a file: it stays on the host and the result is a blob.
    #[serde(default, skip_serializing_if = "is_no")]
    pub download: bool,
    /// An HTML page can be a successful response: the description declares it, or a file of any type.
    #[serde(default, skip_serializing_if = "is_no")]
    pub html: bool,
    /// By argument: names inside its value that differ from the provider's.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, Names>,
    /// Times that another field gives the zone of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_times: Vec<LocalTime>,
}

/// The names of an object's members that a model may write, where they differ from the provider's,
/// here or further inside. Follows the schema: alternatives of one place share their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// By the name that the model writes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub members: BTreeMap<String, Member>,
    /// Of the elements of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Names>>,
    /// Of the values of members that the schema does not name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Box<Names>>,
}

impl Names {
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.items.is_none() && self.others.is_none()
    }
}

/// One member of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The provider's name; `None` where it is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Names::is_empty")]
    pub inside: Names,
}

/// A time without an offset: another field of its object names its zone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalTime {
    /// JSON Pointer into the arguments; `*` is each element of a list.
    pub time: String,
    /// The same, to the zone.
    pub zone: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// What a path is appended to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Base {
    /// `https://host/prefix` without a final slash; `{parameter}` is filled by the host.
    Url(String),
    /// An operator's setting that holds such an address.
    Config(String),
}

/// A piece of a path template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    Text(String),
    Input(Input),
}

/// One value of the request outside the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The provider's name.
    pub name: String,
    pub source: Source,
    pub style: Style,
    #[serde(default, skip_serializing_if = "is_no")]
    pub explode: bool,
    /// Leave the reserved characters of RFC 3986, section 2.2, as they are.
    #[serde(default, skip_serializing_if = "is_no")]
    pub reserved: bool,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Argument(String),
    Constant(Value),
}

/// How a value is written (OpenAPI 3.1, section 4.8.12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    /// Tab-separated values, of Swagger 2.0.
    TabDelimited,
    DeepObject,
    /// One JSON text: a parameter with `content`.
    Json,
}

/// What is sent as the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    pub encoding: Encoding,
    /// Empty for multipart, whose type carries a boundary.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub media_type: String,
    pub content: Content,
    /// Send a body even when no argument fills it.
    #[serde(default, skip_serializing_if = "is_no")]
    pub required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    Json,
    Form,
    Multipart,
    /// Text as it is, or a file.
    Raw,
    /// `{query, variables}` with this document.
    Graphql(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// The argument is the body. `file`: it is a file reference.
    Whole { argument: String, file: bool },
    Fields {
        fields: Vec<Field>,
        /// Objects that are sent even when nothing is in them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        objects: Vec<Vec<String>>,
    },
}

/// One field of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    pub path: Vec<String>,
    pub source: Source,
    /// A file reference, sent as a file part.
    #[serde(default, skip_serializing_if = "is_no")]
    pub file: bool,
    /// Forms: a list as one value with this between its items, instead of repeated names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<char>,
    /// Media type of a multipart part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// How the next page is requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pages {
    pub style: PageStyle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param: Option<Place>,
    /// JSON Pointers into the answer; `-1` is the last element of a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_pages: Option<String>,
    /// The argument that says how many entries a page holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_default: Option<u64>,
    /// Number of the first page.
    #[serde(default)]
    pub first: u64,
    /// The next address may have another path, below the base.
    #[serde(default, skip_serializing_if = "is_no")]
    pub any_path: bool,
    /// Query names that carry a credential and are never copied from a next address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_query: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PageStyle {
    Cursor,
    Page,
    Offset,
    Link,
    NextUrl,
}

/// Where the page's mark goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Query(String),
    Body(Vec<String>),
}

/// Which part of the answer is the result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Projection {
    /// JSON Pointer; empty is the whole answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// The service leaves the list out where it is empty: nothing at `at` is an empty list. Otherwise it is an error.
    #[serde(skip_serializing_if = "is_no")]
    pub omitted_when_empty: bool,
    /// Dotted paths to keep, of the object or of each object in the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Dotted paths to leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
}

impl Projection {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Where a response has the error. Pointers are tried in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorShape {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub message: Vec<String>,
    /// A 2xx whose value here is false, 0 or `error` is a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<String>,
    /// A 2xx is a failure where the value here is not null, false or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl ErrorShape {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn is_no(value: &bool) -> bool {
    !*value
}
