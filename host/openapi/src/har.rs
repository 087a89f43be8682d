//! A HAR archive (HTTP Archive 1.2), as browsers save it, as requests: those of one origin whose answers are data.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use crate::problem::{Notes, Problem};
use crate::samples::{
    self, SampleAccount, SampleBody, SampleField, SampleRequest, account_of, is_client_header,
    path_template, schema_of, schema_of_text,
};

/// Most entries that are read.
const ENTRIES_MAX: usize = 50_000;
/// Most operations that are started from one archive.
const OPERATIONS_MAX: usize = 500;

/// Whether a document is a HAR archive.
pub fn is_archive(document: &Value) -> bool {
    let entries = document.pointer("/log/entries");
    entries.is_some_and(Value::is_array)
}

/// The OpenAPI document of an archive, and what a reader should know of it.
pub fn convert(name: &str, archive: &Value) -> Result<(Value, Notes), Problem> {
    let entries = archive.pointer("/log/entries").and_then(Value::as_array);
    let entries = entries.into_iter().flatten().take(ENTRIES_MAX);
    let read: Vec<(String, SampleRequest)> = entries.filter_map(sample).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (host, _) in &read {
        *counts.entry(host).or_default() += 1;
    }
    let most = counts.iter().max_by_key(|(_, count)| **count);
    let Some(host) = most.map(|(host, _)| (*host).to_owned()) else {
        let message = "the archive has no request whose answer is JSON";
        return Err(Problem::new(name, "/log/entries", message));
    };
    let mut notes = Notes::default();
    let others = counts.len() - 1;
    if others > 0 {
        notes.changed(
            "/log/entries",
            format!("requests to {others} other hosts are left out; {host} has most"),
        );
    }
    let mut seen = BTreeSet::new();
    let mut kept: Vec<SampleRequest> = Vec::new();
    for (of, sample) in read {
        let key = (sample.method.clone(), sample.path.clone());
        if of != host {
            continue;
        }
        if seen.insert(key) {
            kept.push(sample);
        } else if let Some(known) = kept
            .iter_mut()
            .find(|known| known.method == sample.method && known.path == sample.path)
        {
            join(known, sample);
        }
    }
    if kept.len() > OPERATIONS_MAX {
        let message = format!("only the first {OPERATIONS_MAX} operations are kept");
        notes.changed("/log/entries", message);
        kept.truncate(OPERATIONS_MAX);
    }
    let about = format!("Requests of {host}.");
    Ok((samples::openapi_document(&host, &about, &kept), notes))
}

/// The same request with other parameters.
fn join(known: &mut SampleRequest, other: SampleRequest) {
    for field in other.query {
        if !known.query.iter().any(|own| own.name == field.name) {
            known.query.push(field);
        }
    }
    if known.body.is_none() {
        known.body = other.body;
    }
}

/// The host and the request of an entry whose answer is JSON, or which changes something and has no answer.
fn sample(entry: &Value) -> Option<(String, SampleRequest)> {
    let request = entry.get("request")?;
    let method = request.get("method")?.as_str()?.to_ascii_lowercase();
    let media = entry.pointer("/response/content/mimeType");
    let is_json = media
        .and_then(Value::as_str)
        .is_some_and(|m| m.contains("json"));
    let status = entry.pointer("/response/status").and_then(Value::as_u64);
    let is_empty_change = status == Some(204) && method != "get";
    if method == "options" || (!is_json && !is_empty_change) {
        return None;
    }
    let url = Url::parse(request.get("url")?.as_str()?).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    let host = url.host_str()?.to_owned();
    let (path, path_fields) = path_template(url.path());
    let mut account = None;
    let mut query = Vec::new();
    for (name, value) in url.query_pairs() {
        match account_of("query", &name, &value) {
            Some(found) => account = account.or(Some(found)),
            None => query.push(field(&name, &value)),
        }
    }
    let mut headers = Vec::new();
    for (name, value) in pairs(request.get("headers")) {
        if is_client_header(name) {
            continue;
        }
        match account_of("header", name, value) {
            Some(found) => account = account.or(Some(found)),
            None => headers.push(SampleField {
                name: name.to_owned(),
                schema: serde_json::json!({"type": "string"}),
                ..SampleField::default()
            }),
        }
    }
    let sample = SampleRequest {
        method,
        // Without a user and a password.
        origin: url.origin().ascii_serialization(),
        path,
        path_fields,
        query,
        headers,
        body: request.get("postData").and_then(body),
        account: Some(account.unwrap_or(SampleAccount::Public)),
        ..SampleRequest::default()
    };
    Some((host, sample))
}

fn body(posted: &Value) -> Option<SampleBody> {
    let media = posted.get("mimeType").and_then(Value::as_str)?;
    let media = media.split(';').next().unwrap_or_default().trim();
    let text = posted.get("text").and_then(Value::as_str);
    if media.ends_with("json") {
        let value = text.and_then(|text| serde_json::from_str::<Value>(text).ok())?;
        return Some(SampleBody::Json(schema_of(&value)));
    }
    let fields = || {
        let given = pairs(posted.get("params"));
        given.map(|(name, value)| field(name, value)).collect()
    };
    Some(match media {
        "application/x-www-form-urlencoded" => SampleBody::Form(fields()),
        "multipart/form-data" => SampleBody::Multipart(fields()),
        media => SampleBody::Raw(media.to_owned()),
    })
}

fn pairs(list: Option<&Value>) -> impl Iterator<Item = (&str, &str)> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|pair| {
        let value = pair.get("value").and_then(Value::as_str);
        Some((pair.get("name")?.as_str()?, value.unwrap_or_default()))
    })
}

fn field(name: &str, value: &str) -> SampleField {
    SampleField {
        name: name.to_owned(),
        description: String::new(),
        schema: schema_of_text(value),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(method: &str, url: &str, media: &str) -> Value {
        json!({
            "request": {"method": method, "url": url, "httpVersion": "HTTP/2", "headers": [
                {"name": ":authority", "value": "api.example.com"}, {"name": "Authorization", "value": "Bearer PLANTED-1"},
                {"name": "Cookie", "value": "sid=PLANTED-2"}, {"name": "X-Team", "value": "PLANTED-3"}],
                "postData": {"mimeType": "application/json; charset=utf-8", "text": "{\"title\": \"PLANTED-4\"}"}},
            "response": {"status": 200, "content": {"mimeType": media}},
        })
    }

    /// In the form of <https://w3c.github.io/web-performance/specs/HAR/Overview.html>.
    #[test]
    fn requests_with_data_become_operations_without_values() {
        let archive = json!({"log": {"version": "1.2", "entries": [
            entry("GET", "https://api.example.com/notes/17?page=2", "application/json"),
            entry("GET", "https://api.example.com/notes/18?full=true", "application/json"),
            entry("POST", "https://api.example.com/notes", "application/json"),
            entry("OPTIONS", "https://api.example.com/notes", "application/json"),
            entry("GET", "https://api.example.com/app.js", "text/javascript"),
            entry("GET", "https://stats.example.net/collect", "application/json"),
        ]}});
        assert!(is_archive(&archive));
        let (made, notes) = convert("x", &archive).unwrap();
        let text = made.to_string();
        assert!(!text.contains("PLANTED"), "{text}");
        let paths = made["paths"].as_object().unwrap();
        let names: Vec<&String> = paths.keys().collect();
        assert_eq!(names, ["/notes/{note_id}", "/notes"]);
        let asked = paths["/notes/{note_id}"]["get"]["parameters"].to_string();
        assert!(asked.contains("page") && asked.contains("full"), "{asked}");
        assert_eq!(paths["/notes"]["post"]["security"], json!([{"token": []}]));
        assert!(notes.0[0].message.contains("1 other hosts"));
    }

    #[test]
    fn a_password_in_an_address_is_not_kept() {
        let entry = entry(
            "GET",
            "https://anna:PLANTED-9@api.example.com/notes",
            "application/json",
        );
        let (made, _) = convert("x", &json!({"log": {"entries": [entry]}})).unwrap();
        assert!(!made.to_string().contains("PLANTED-9"), "{made}");
        assert_eq!(made["servers"][0]["url"], "https://api.example.com");
    }

    #[test]
    fn an_archive_without_data_is_refused() {
        let archive =
            json!({"log": {"entries": [entry("GET", "https://a.example.com/", "text/html")]}});
        let refused = convert("x", &archive).unwrap_err();
        assert!(refused.message.contains("no request"), "{refused}");
    }
}
