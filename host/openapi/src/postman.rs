//! Postman collections 2.0 and 2.1 as OpenAPI. Variables become parts of an address that are filled in; no value of a
//! collection is kept, because any of them may be somebody's secret.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::problem::Notes;
use crate::samples::{
    self, SampleAccount, SampleBody, SampleField, SampleRequest, is_client_header, is_id,
    is_secret_name, pointer, schema_of, schema_of_text,
};
use crate::words;

/// Deepest nesting of folders.
const FOLDERS_DEPTH_MAX: usize = 32;
/// Most requests of one collection.
const REQUESTS_MAX: usize = 10_000;
/// Times that a variable is replaced by others.
const ROUNDS_MAX: usize = 5;
/// Longest address, and longest value of a variable in one, in bytes.
const ADDRESS_BYTES_MAX: usize = 4_000;
/// Longest address or name of an account, which every request of a folder repeats, in bytes.
const ACCOUNT_BYTES_MAX: usize = 500;

/// Whether a document is a collection of version 2.
pub fn is_collection(document: &Value) -> bool {
    let schema = document.pointer("/info/schema").and_then(Value::as_str);
    schema.is_some_and(|text| text.contains("postman.com/") && text.contains("/collection/v2."))
}

/// Whether a document is a collection of version 1, which has another form.
pub fn is_old_collection(document: &Value) -> bool {
    ["id", "requests", "order"]
        .iter()
        .all(|key| document.get(key).is_some())
}

/// Rewrites a collection.
pub fn convert(document: &Value, notes: &mut Notes) -> Value {
    let title = document.pointer("/info/name").and_then(Value::as_str);
    let about = document.pointer("/info/description").map(description);
    let mut reader = CollectionReader {
        variables: variables(document),
        samples: Vec::new(),
        notes,
    };
    let account = account(document.get("auth"), reader.notes);
    reader.items(document, account.as_ref(), FOLDERS_DEPTH_MAX);
    samples::openapi_document(
        title.unwrap_or("Service"),
        &about.unwrap_or_default(),
        &reader.samples,
    )
}

/// The collection's variables that may be the beginning of an address.
fn variables(document: &Value) -> BTreeMap<String, String> {
    let listed = document.get("variable").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(|variable| {
        let name = variable.get("key").or(variable.get("id"))?.as_str()?;
        let value = variable.get("value")?.as_str()?;
        let is_address = value.contains("://") || value.contains('.') || value.contains("{{");
        let fits = value.len() <= ADDRESS_BYTES_MAX && !is_secret_name(name);
        (is_address && fits).then(|| (name.to_owned(), value.to_owned()))
    });
    listed.collect()
}

/// A description is a text, or an object with one.
fn description(value: &Value) -> String {
    let text = value.as_str().or_else(|| value.get("content")?.as_str());
    text.unwrap_or_default().to_owned()
}

struct CollectionReader<'n> {
    variables: BTreeMap<String, String>,
    samples: Vec<SampleRequest>,
    notes: &'n mut Notes,
}

impl CollectionReader<'_> {
    /// The requests of a folder. `inherited`: the account of the folder around it.
    fn items(&mut self, folder: &Value, inherited: Option<&SampleAccount>, depth: usize) {
        let items = folder.get("item").and_then(Value::as_array);
        for item in items.into_iter().flatten() {
            if depth == 0 || self.samples.len() >= REQUESTS_MAX {
                let message = "folders that are too deep, or too many requests, are left out";
                return self.notes.left_out("", message);
            }
            let own = account(item.get("auth"), self.notes);
            let own = own.as_ref().or(inherited);
            if item.get("item").is_some() {
                self.items(item, own, depth - 1);
            } else if let Some(request) = item.get("request") {
                self.request(item, request, own);
            }
        }
    }

    fn request(&mut self, item: &Value, request: &Value, inherited: Option<&SampleAccount>) {
        let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
        // A request may be its address alone.
        let url = request.get("url").unwrap_or(request);
        let method = request.get("method").and_then(Value::as_str);
        let method = method.unwrap_or("GET").to_ascii_lowercase();
        let own = account(request.get("auth"), self.notes);
        let Some((origin, path)) = self.address(url) else {
            let message = format!("`{}` has no address", words::clean(name, 100));
            return self.notes.left_out("", message);
        };
        let (path, path_fields) = path_fields(&path, url.get("variable"));
        let text = request.get("description").or(item.get("description"));
        let sample = SampleRequest {
            // The address in place of a name says nothing.
            name: match name.contains('/') {
                true => String::new(),
                false => name.to_owned(),
            },
            description: text.map(description).unwrap_or_default(),
            method,
            origin,
            path,
            path_fields,
            query: query(url),
            headers: headers(request.get("header")),
            body: request.get("body").and_then(body),
            account: own.as_ref().or(inherited).cloned(),
        };
        if url.get("query").is_none() && text_of(url).contains('?') {
            let note = "the query of an address that is only a text is not read";
            self.notes.changed(&pointer(&sample), note);
        }
        self.samples.push(sample);
    }

    /// Origin and path of an address; the origin is empty where only its operator knows it.
    fn address(&self, url: &Value) -> Option<(String, String)> {
        let mut text = text_of(url);
        for _ in 0..ROUNDS_MAX {
            if text.len() > ADDRESS_BYTES_MAX {
                return None;
            }
            text = self.replaced(&text);
        }
        if text.len() > ADDRESS_BYTES_MAX {
            return None;
        }
        let text = text.split(['?', '#']).next().unwrap_or_default();
        if let Some((scheme, rest)) = text.split_once("://") {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let known = matches!(scheme, "http" | "https") && !host.contains(['{', '@']);
            let origin = match known && !host.is_empty() {
                true => format!("{scheme}://{host}"),
                false => String::new(),
            };
            return Some((origin, path.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("{{") {
            let (_, path) = rest.split_once("}}")?;
            return Some((String::new(), path.to_owned()));
        }
        let (host, path) = text.split_at(text.find('/').unwrap_or(text.len()));
        host.contains('.')
            .then(|| (format!("https://{host}"), path.to_owned()))
    }

    /// An address with the variables of its origin filled in. Those of its path stay: their values may be secrets.
    fn replaced(&self, text: &str) -> String {
        let scheme = text.find("://").map_or(0, |at| at + 3);
        let end = text[scheme..]
            .find('/')
            .map_or(text.len(), |at| scheme + at);
        let (mut rest, path) = text.split_at(end);
        let mut made = String::new();
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((name, after)) = behind.split_once("}}") else {
                break;
            };
            made.push_str(before);
            match self.variables.get(name.trim()) {
                Some(value) => made.push_str(value),
                None => made.push_str(&format!("{{{{{name}}}}}")),
            }
            rest = after;
        }
        made.push_str(rest);
        made.push_str(path);
        made
    }
}

/// An address as text: it is one, or an object with `raw` or with its parts.
fn text_of(url: &Value) -> String {
    if let Some(text) = url.as_str().or_else(|| url.get("raw")?.as_str()) {
        return text.trim().to_owned();
    }
    let part = |key: &str, between: &str| match url.get(key) {
        Some(Value::Array(parts)) => {
            let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            parts.join(between)
        }
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    };
    let host = part("host", ".");
    match host.is_empty() {
        true => String::new(),
        false => format!("{host}/{}", part("path", "/")),
    }
}

/// `:id` and `{{id}}` in a path are filled in, and so is what looks like an id or a token.
fn path_fields(path: &str, described: Option<&Value>) -> (String, Vec<SampleField>) {
    let described = described.and_then(Value::as_array);
    let about = |name: &str| {
        let mut all = described.into_iter().flatten();
        let found = all.find(|one| one.get("key").and_then(Value::as_str) == Some(name));
        found.and_then(|one| one.get("description").map(description))
    };
    let mut fields: Vec<SampleField> = Vec::new();
    let mut made = String::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        let mark = segment.strip_prefix(':');
        let mark = mark.or_else(|| segment.strip_prefix("{{")?.strip_suffix("}}"));
        let mark = mark.or_else(|| is_id(segment).then_some("id"));
        let Some(name) = mark.map(words::argument).filter(|name| !name.is_empty()) else {
            made.push_str(&format!("/{}", segment.replace(['{', '}'], "")));
            continue;
        };
        made.push_str(&format!("/{{{name}}}"));
        if !fields.iter().any(|field| field.name == name) {
            fields.push(SampleField {
                description: about(mark.unwrap_or_default()).unwrap_or_default(),
                schema: json!({"type": "string"}),
                name,
            });
        }
    }
    match made.is_empty() {
        true => ("/".to_owned(), fields),
        false => (made, fields),
    }
}

/// Keys, descriptions and kinds of a list of pairs.
fn pairs(list: Option<&Value>) -> impl Iterator<Item = (SampleField, Option<&str>)> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|pair| {
        let name = pair.get("key")?.as_str()?;
        let value = pair.get("value").and_then(Value::as_str);
        let field = SampleField {
            name: name.to_owned(),
            description: pair.get("description").map(description).unwrap_or_default(),
            schema: schema_of_text(value.unwrap_or_default()),
        };
        let kind = pair.get("type").and_then(Value::as_str);
        (!name.is_empty() && !name.contains("{{")).then_some((field, kind))
    })
}

fn query(url: &Value) -> Vec<SampleField> {
    let fields = pairs(url.get("query")).map(|(field, _)| field);
    fields
        .filter(|field| !is_secret_name(&field.name))
        .collect()
}

fn headers(list: Option<&Value>) -> Vec<SampleField> {
    let fields = pairs(list).map(|(field, _)| SampleField {
        schema: json!({"type": "string"}),
        ..field
    });
    let sent = |field: &SampleField| !is_client_header(&field.name) && !is_secret_name(&field.name);
    fields.filter(sent).collect()
}

fn body(body: &Value) -> Option<SampleBody> {
    if body.get("disabled") == Some(&Value::Bool(true)) {
        return None;
    }
    let fields = |key: &str| -> Vec<SampleField> {
        let fields = pairs(body.get(key)).map(|(field, kind)| match kind {
            Some("file") => SampleField {
                schema: json!({"type": "string", "format": "binary"}),
                ..field
            },
            _ => field,
        });
        fields.collect()
    };
    match body.get("mode")?.as_str()? {
        "raw" => {
            let text = body.get("raw").and_then(Value::as_str)?;
            let language = body
                .pointer("/options/raw/language")
                .and_then(Value::as_str);
            let value = serde_json::from_str::<Value>(&quoted_variables(text)).ok();
            match (value, language) {
                (Some(value), _) if value.is_object() || value.is_array() => {
                    Some(SampleBody::Json(schema_of(&value)))
                }
                (_, Some("json")) => Some(SampleBody::Json(json!({}))),
                (_, Some("xml")) => Some(SampleBody::Raw("application/xml".to_owned())),
                _ if text.trim().is_empty() => None,
                _ => Some(SampleBody::Raw("text/plain".to_owned())),
            }
        }
        "urlencoded" => Some(SampleBody::Form(fields("urlencoded"))),
        "formdata" => Some(SampleBody::Multipart(fields("formdata"))),
        "file" => Some(SampleBody::Raw("application/octet-stream".to_owned())),
        "graphql" => {
            let document = body.pointer("/graphql/query").and_then(Value::as_str)?;
            if document.contains('"') {
                // A value in the document may be a secret, so that the caller writes the document.
                let query = json!({"type": "string"});
                let fields = json!({"query": query, "variables": {"type": "object"}});
                let schema = json!({"type": "object", "properties": fields});
                return Some(SampleBody::Json(schema));
            }
            let given = body.pointer("/graphql/variables").and_then(Value::as_str);
            let given = given.and_then(|text| serde_json::from_str::<Value>(text).ok());
            let given = given.filter(Value::is_object);
            let schema = schema_of(&given.unwrap_or_else(|| Map::new().into()));
            Some(SampleBody::Graphql(document.to_owned(), schema))
        }
        _ => None,
    }
}

/// A JSON text whose bare `{{variables}}` are texts, so that it can be read.
fn quoted_variables(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((_, after)) = behind.split_once("}}") else {
            break;
        };
        made.push_str(before);
        let bare = before.trim_end().ends_with([':', ',', '[']);
        made.push_str(if bare { "\"x\"" } else { "x" });
        rest = after;
    }
    made.push_str(rest);
    made
}

/// The account that an `auth` says. `None`: it says nothing, and that of the folder around it counts.
fn account(auth: Option<&Value>, notes: &mut Notes) -> Option<SampleAccount> {
    let auth = auth.filter(|auth| auth.is_object())?;
    let kind = auth.get("type")?.as_str()?;
    // A list of pairs in 2.1, an object in 2.0.
    let value = |key: &str| {
        let text = match auth.get(kind)? {
            Value::Array(pairs) => pairs
                .iter()
                .find(|pair| pair.get("key").and_then(Value::as_str) == Some(key))?
                .get("value")?
                .as_str(),
            other => other.get(key)?.as_str(),
        };
        text.filter(|text| text.len() <= ACCOUNT_BYTES_MAX)
    };
    Some(match kind {
        "noauth" => SampleAccount::Public,
        "bearer" => SampleAccount::Bearer,
        "basic" => SampleAccount::Basic,
        "apikey" => SampleAccount::Key {
            place: match value("in") {
                Some("query") => "query",
                _ => "header",
            },
            name: value("key").unwrap_or("x-api-key").to_owned(),
        },
        "oauth2" => {
            let is_address = |text: &&str| text.starts_with("https://");
            let authorize = value("authUrl").filter(is_address);
            match (authorize, value("accessTokenUrl").filter(is_address)) {
                (Some(authorize), Some(token)) => SampleAccount::Oauth {
                    authorize_url: authorize.to_owned(),
                    token_url: token.to_owned(),
                },
                _ => SampleAccount::Bearer,
            }
        }
        other => {
            let other = words::clean(other, 40);
            let note = format!("the authentication `{other}` is not known; a token is asked for");
            notes.changed("", note);
            SampleAccount::Bearer
        }
    })
}
