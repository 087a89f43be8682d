//! Requests that somebody sent, or saved to send, as an OpenAPI document: those of a Postman collection, a HAR archive or
//! a `curl` command.
//!
//! Names and types of what was sent are kept, and no values: any of them may be a secret or of a person.

use serde_json::{Map, Value, json};

use crate::problem::below;
use crate::words;

/// Deepest nesting of a JSON body that is described.
const DEPTH_MAX: usize = 16;
/// Most fields of one object that are described.
const FIELDS_MAX: usize = 300;
/// Headers that a browser or client writes by itself, by their beginnings.
const CLIENT_HEADERS: &[&str] = &[
    ":",
    "accept",
    "cache-control",
    "connection",
    "content-",
    "cookie",
    "dnt",
    "expect",
    "host",
    "if-",
    "keep-alive",
    "origin",
    "postman-",
    "pragma",
    "priority",
    "proxy-",
    "range",
    "referer",
    "sec-",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-forwarded-",
    "x-requested-with",
];
/// Parts of the names of what carries a credential.
const SECRET_WORDS: &[&str] = &[
    "apikey",
    "api-key",
    "api_key",
    "auth-",
    "auth_",
    "authent",
    "authoriz",
    "credential",
    "password",
    "secret",
    "signature",
    "token",
];

/// One request.
#[derive(Clone, Debug, Default)]
pub struct SampleRequest {
    /// Becomes the operation's id where it says something.
    pub name: String,
    pub description: String,
    /// In lower case.
    pub method: String,
    /// `https://api.example.com`; empty where only the operator knows it.
    pub origin: String,
    /// With `{name}` for what is filled in.
    pub path: String,
    pub path_fields: Vec<SampleField>,
    pub query: Vec<SampleField>,
    pub headers: Vec<SampleField>,
    pub body: Option<SampleBody>,
    /// `None`: nothing is said of one.
    pub account: Option<SampleAccount>,
}

/// A named value, without the value.
#[derive(Clone, Debug, Default)]
pub struct SampleField {
    pub name: String,
    pub description: String,
    pub schema: Value,
}

/// A body by its form.
#[derive(Clone, Debug)]
pub enum SampleBody {
    /// With its schema.
    Json(Value),
    Form(Vec<SampleField>),
    Multipart(Vec<SampleField>),
    /// Its media type.
    Raw(String),
    /// The document and the schema of its variables.
    Graphql(String, Value),
}

/// Whose credential a request has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleAccount {
    Public,
    Bearer,
    Basic,
    /// `place`: `header` or `query`.
    Key {
        place: &'static str,
        name: String,
    },
    Oauth {
        authorize_url: String,
        token_url: String,
    },
}

impl SampleAccount {
    /// The name of its scheme, and the scheme. `None` where there is nothing to enter.
    fn scheme(&self) -> Option<(String, Value)> {
        let (name, scheme) = match self {
            Self::Public => return None,
            Self::Bearer => (
                "token".to_owned(),
                json!({"type": "http", "scheme": "bearer"}),
            ),
            Self::Basic => (
                "login".to_owned(),
                json!({"type": "http", "scheme": "basic"}),
            ),
            Self::Key { place, name } => (
                Some(words::snake(name))
                    .filter(|name| !name.is_empty())
                    .unwrap_or_else(|| "key".to_owned()),
                json!({"type": "apiKey", "in": place, "name": name}),
            ),
            Self::Oauth {
                authorize_url,
                token_url,
            } => {
                let flow =
                    json!({"authorizationUrl": authorize_url, "tokenUrl": token_url, "scopes": {}});
                let flows = json!({"authorizationCode": flow});
                ("user".to_owned(), json!({"type": "oauth2", "flows": flows}))
            }
        };
        Some((name, scheme))
    }

    /// Whether this header or parameter is the credential.
    fn is_carried(&self, at: &str, field: &str) -> bool {
        match self {
            Self::Key { place, name } => *place == at && name.eq_ignore_ascii_case(field),
            Self::Public | Self::Bearer | Self::Basic | Self::Oauth { .. } => false,
        }
    }
}

/// The OpenAPI document of requests.
pub fn openapi_document(title: &str, description: &str, samples: &[SampleRequest]) -> Value {
    let mut origins = samples.iter().map(|one| one.origin.as_str());
    // Where one address is the operator's to set, each of the others is that of its own requests.
    let origin = match samples.iter().any(|one| one.origin.is_empty()) {
        true => "",
        false => origins.next().unwrap_or_default(),
    };
    let mut paths = Map::new();
    let mut schemes = Map::new();
    for sample in samples {
        let mut operation = operation(sample);
        if !sample.origin.is_empty() && sample.origin != origin {
            operation["servers"] = json!([{"url": sample.origin}]);
        }
        match sample.account.as_ref().map(SampleAccount::scheme) {
            None => {}
            Some(None) => operation["security"] = json!([]),
            Some(Some((name, scheme))) => {
                operation["security"] = json!([{name.as_str(): []}]);
                schemes.insert(name, scheme);
            }
        }
        let path = free_path(&paths, sample);
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[sample.method.as_str()] = operation;
    }
    let mut made = json!({
        "openapi": "3.1.0",
        "info": {"title": words::clean(title, 100), "version": "1.0.0", "description": description},
        "paths": paths,
    });
    if !origin.is_empty() {
        made["servers"] = json!([{"url": origin}]);
    }
    made["security"] = json!([]);
    if !schemes.is_empty() {
        made["components"] = json!({"securitySchemes": schemes});
    }
    made
}

/// The path of a request. A second request of the same method and path gets a number behind `#`, which is not sent.
fn free_path(paths: &Map<String, Value>, sample: &SampleRequest) -> String {
    let taken = |path: &str| {
        let item = paths.get(path);
        item.is_some_and(|item| item.get(&sample.method).is_some())
    };
    let mut path = sample.path.clone();
    let mut number = 2;
    while taken(&path) {
        path = format!("{}#{number}", sample.path);
        number += 1;
    }
    path
}

fn operation(sample: &SampleRequest) -> Value {
    let placed = [
        ("path", &sample.path_fields),
        ("query", &sample.query),
        ("header", &sample.headers),
    ];
    let mut parameters: Vec<Value> = Vec::new();
    for (place, fields) in placed {
        for field in fields {
            let account = sample.account.as_ref();
            if account.is_some_and(|account| account.is_carried(place, &field.name)) {
                continue;
            }
            let mut made = json!({"name": field.name, "in": place, "schema": field.schema});
            if place == "path" {
                made["required"] = json!(true);
            }
            if !field.description.is_empty() {
                made["description"] = json!(field.description);
            }
            let known = |other: &Value| other["name"] == made["name"] && other["in"] == made["in"];
            if !parameters.iter().any(known) {
                parameters.push(made);
            }
        }
    }
    let mut made = json!({
        "parameters": parameters,
        "responses": {"200": {"description": "The answer"}},
    });
    if !sample.name.is_empty() {
        made["operationId"] = json!(words::clean(&sample.name, 100));
    }
    if !sample.description.is_empty() {
        made["description"] = json!(sample.description);
    }
    let content = match &sample.body {
        None => return made,
        Some(SampleBody::Json(schema)) => json!({"application/json": {"schema": schema}}),
        Some(SampleBody::Form(fields)) => {
            json!({"application/x-www-form-urlencoded": {"schema": object(fields)}})
        }
        Some(SampleBody::Multipart(fields)) => {
            json!({"multipart/form-data": {"schema": object(fields)}})
        }
        Some(SampleBody::Raw(media)) => json!({media.as_str(): {"schema": {"type": "string"}}}),
        Some(SampleBody::Graphql(document, variables)) => {
            made["x-toolgate"] = json!({"graphql": document});
            json!({"application/json": {"schema": variables}})
        }
    };
    made["requestBody"] = json!({"content": content});
    made
}

fn object(fields: &[SampleField]) -> Value {
    let properties = fields.iter().map(|field| {
        let mut schema = field.schema.clone();
        if !field.description.is_empty() {
            schema["description"] = json!(field.description);
        }
        (field.name.clone(), schema)
    });
    let properties: Map<String, Value> = properties.take(FIELDS_MAX).collect();
    json!({"type": "object", "properties": properties})
}

/// The schema of which a JSON value is one: types and names alone.
pub fn schema_of(value: &Value) -> Value {
    schema_at(value, DEPTH_MAX)
}

fn schema_at(value: &Value, depth: usize) -> Value {
    match value {
        _ if depth == 0 => json!({}),
        Value::Null => json!({}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(number) if number.is_f64() => json!({"type": "number"}),
        Value::Number(_) => json!({"type": "integer"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(items) => match items.first() {
            Some(first) => json!({"type": "array", "items": schema_at(first, depth - 1)}),
            None => json!({"type": "array", "items": {}}),
        },
        Value::Object(map) => {
            let fields = map.iter().take(FIELDS_MAX);
            let fields = fields.map(|(name, field)| (name.clone(), schema_at(field, depth - 1)));
            json!({"type": "object", "properties": Map::from_iter(fields)})
        }
    }
}

/// The schema of a text in an address or a form.
pub fn schema_of_text(text: &str) -> Value {
    match text {
        "true" | "false" => json!({"type": "boolean"}),
        text if !text.is_empty() && text.len() < 16 && text.bytes().all(|b| b.is_ascii_digit()) => {
            json!({"type": "integer"})
        }
        _ => json!({"type": "string"}),
    }
}

/// Whether a client writes this header by itself.
pub fn is_client_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CLIENT_HEADERS
        .iter()
        .any(|known| match known.ends_with('-') || *known == ":" {
            true => name.starts_with(*known),
            false => name == *known || name.starts_with(&format!("{known}-")),
        })
}

/// Whether a header, parameter or field of this name carries a credential.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `page_token` names a page.
    let is_page = ["page", "next", "sync"]
        .iter()
        .any(|word| name.contains(word));
    let secret = SECRET_WORDS.iter().any(|word| name.contains(word));
    matches!(name.as_str(), "key" | "auth") || (secret && !is_page)
}

/// The account that a header or parameter is, if it is one.
pub fn account_of(place: &'static str, name: &str, value: &str) -> Option<SampleAccount> {
    if name.eq_ignore_ascii_case("authorization") {
        let scheme = value.split_whitespace().next().unwrap_or_default();
        return Some(match scheme.to_ascii_lowercase().as_str() {
            "basic" => SampleAccount::Basic,
            "bearer" => SampleAccount::Bearer,
            _ => SampleAccount::Key {
                place,
                name: name.to_owned(),
            },
        });
    }
    is_secret_name(name).then(|| SampleAccount::Key {
        place,
        name: name.to_owned(),
    })
}

/// A path whose segments that look like an id are filled in: `/users/42` is `/users/{user_id}`.
pub fn path_template(path: &str) -> (String, Vec<SampleField>) {
    let mut fields: Vec<SampleField> = Vec::new();
    let mut before = String::new();
    let mut made = String::new();
    for segment in path.split('/').skip(1) {
        if is_id(segment) {
            let base = match before.strip_suffix('s').unwrap_or(&before) {
                "" => "id".to_owned(),
                noun => format!("{noun}_id"),
            };
            let mut name = base.clone();
            let mut number = 2;
            while fields.iter().any(|field| field.name == name) {
                name = format!("{base}_{number}");
                number += 1;
            }
            made.push_str(&format!("/{{{name}}}"));
            fields.push(SampleField {
                name,
                description: String::new(),
                schema: schema_of_text(segment),
            });
        } else {
            before = words::snake(segment);
            made.push_str(&format!("/{}", segment.replace(['{', '}'], "")));
        }
    }
    match made.is_empty() {
        true => ("/".to_owned(), fields),
        false => (made, fields),
    }
}

/// Numbers, hashes, UUIDs and tokens.
pub fn is_id(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let number = digits > 0 && digits == segment.len();
    let long = segment.len() >= 12 && digits >= 3 && !segment.contains('.');
    number || long || segment.contains('@')
}

/// The JSON Pointer of the operation of a request, for notes.
pub fn pointer(sample: &SampleRequest) -> String {
    below(&below("/paths", &sample.path), &sample.method)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_types_and_nothing_else() {
        let value = json!({"name": "Anna", "age": 41, "rate": 1.5, "tags": ["a"], "on": true, "none": null});
        let made = schema_of(&value);
        assert!(!made.to_string().contains("Anna"));
        assert_eq!(made["properties"]["age"], json!({"type": "integer"}));
        assert_eq!(made["properties"]["rate"], json!({"type": "number"}));
        let tags = json!({"type": "array", "items": {"type": "string"}});
        assert_eq!(made["properties"]["tags"], tags);
    }

    #[test]
    fn ids_in_a_path_are_arguments() {
        for (path, template) in [
            ("/v1/users/42", "/v1/users/{user_id}"),
            (
                "/v1/users/42/posts/7",
                "/v1/users/{user_id}/posts/{post_id}",
            ),
            ("/bot110201543:AAHdqTcvCH1vGWJxfSe/getMe", "/{id}/getMe"),
            ("/v2/reports", "/v2/reports"),
            ("/", "/"),
        ] {
            assert_eq!(path_template(path).0, template, "{path}");
        }
    }

    #[test]
    fn credentials_and_headers_of_clients_are_told_apart() {
        let bearer = account_of("header", "Authorization", "Bearer abc");
        assert_eq!(bearer, Some(SampleAccount::Bearer));
        let key = SampleAccount::Key {
            place: "query",
            name: "api_key".to_owned(),
        };
        assert_eq!(account_of("query", "api_key", "abc"), Some(key));
        assert_eq!(account_of("header", "Notion-Version", "1"), None);
        assert_eq!(account_of("query", "page_token", "abc"), None);
        assert_eq!(account_of("query", "author_id", "7"), None);
        for name in [
            "User-Agent",
            "sec-fetch-mode",
            "Accept-Encoding",
            ":path",
            "TE",
        ] {
            assert!(is_client_header(name), "{name}");
        }
        for name in ["Notion-Version", "Tenant", "Hostname-Id"] {
            assert!(!is_client_header(name), "{name}");
        }
    }

    #[test]
    fn requests_of_one_address_and_of_other_hosts_stay_apart() {
        let sample = |origin: &str, path: &str| SampleRequest {
            method: "get".to_owned(),
            origin: origin.to_owned(),
            path: path.to_owned(),
            account: Some(SampleAccount::Bearer),
            ..SampleRequest::default()
        };
        let made = openapi_document(
            "A",
            "",
            &[
                sample("https://a.example.com", "/x"),
                sample("https://a.example.com", "/x"),
                sample("https://b.example.com", "/y"),
            ],
        );
        assert_eq!(made["servers"], json!([{"url": "https://a.example.com"}]));
        assert!(made["paths"]["/x#2"]["get"].is_object());
        let other = &made["paths"]["/y"]["get"];
        assert_eq!(other["servers"], json!([{"url": "https://b.example.com"}]));
        assert_eq!(other["security"], json!([{"token": []}]));
    }
}
