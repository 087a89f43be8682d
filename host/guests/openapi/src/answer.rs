//! From a provider's response to a tool's result.

use serde_json::{Map, Value};
use toolgate_openapi_table::{Encoding, Operation, Projection};

use crate::failure::{self, Fault, Kind};
use crate::page::{self, Page};
use crate::pages;
use crate::partial;
use crate::pointer;

/// A response as it was received.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    pub status: u16,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
}

impl Answer<'_> {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The `Link` headers as one list (RFC 9110, section 5.3).
    fn links(&self) -> Option<String> {
        let all: Vec<&str> = self
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case("link"))
            .map(|(_, value)| value.as_str())
            .collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// A tool's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Result {
    /// One JSON document.
    pub data: String,
    pub next_cursor: Option<String>,
    /// A note that the service has more than the response, where there is no cursor, or that a part of it is missing.
    pub summary: Option<String>,
}

/// The parts of the request that the next page needs.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub arguments: &'a Map<String, Value>,
    pub mark: Option<&'a str>,
    pub url: &'a str,
    pub base: &'a str,
}

/// Reads a response: a failure in the provider's words, or the projected result.
pub fn read(
    operation: &Operation,
    asked: &Asked<'_>,
    answer: &Answer<'_>,
) -> std::result::Result<Result, Fault> {
    let (value, text) = parse(answer);
    let graphql = operation
        .body
        .as_ref()
        .is_some_and(|body| matches!(body.encoding, Encoding::Graphql(_)));
    if let Some(page) = page_of(answer, &value)
        && (answer.status >= 400 || !operation.html)
    {
        return Err(failure::of_page(
            operation.method,
            answer.status,
            answer.header("retry-after"),
            &page,
        ));
    }
    if let Some(fault) = failure::of_answer(
        &operation.error,
        answer.status,
        answer.header("retry-after"),
        &value,
        graphql,
    ) {
        return Err(fault);
    }
    let links = answer.links();
    let page = pages::Answer {
        body: &value,
        link: links.as_deref(),
        counts: pages::Counts::from_headers(|name| answer.header(name)),
        url: asked.url,
        base: asked.base,
    };
    let next_cursor = operation
        .pages
        .as_ref()
        .and_then(|pages| pages::next(pages, asked.arguments, asked.mark, &page));
    let summary = match &operation.pages {
        None => pages::more_than(&page, &operation.result.at),
        Some(_) => None,
    };
    let summary = summary.or_else(|| partial::note(&value).filter(|_| graphql));
    let data = if answer.body.is_empty() || operation.method == toolgate_openapi_table::Method::Head
    {
        serde_json::json!({"ok": true, "status": answer.status}).to_string()
    } else if operation.result == Projection::default() {
        // The provider's own text keeps the order of its keys.
        text.map_or_else(|| value.to_string(), str::to_owned)
    } else {
        project(&operation.result, value)
            .ok_or_else(|| nothing_at(operation, answer.status))?
            .to_string()
    };
    Ok(Result {
        data: with_headers(operation, answer, data),
        next_cursor,
        summary,
    })
}

/// The result with the headers that the description names. One that is no object becomes the member `result`.
fn with_headers(operation: &Operation, answer: &Answer<'_>, data: String) -> String {
    let named = operation.answer_headers.iter();
    let found: Vec<(&String, &str)> = named
        .filter_map(|(member, header)| Some((member, answer.header(header)?)))
        .collect();
    if found.is_empty() {
        return data;
    }
    let mut members = match serde_json::from_str(&data) {
        Ok(Value::Object(members)) => members,
        Ok(other) => Map::from_iter([("result".to_owned(), other)]),
        Err(_) => return data,
    };
    for (member, value) in found {
        members.insert(member.clone(), Value::from(value));
    }
    Value::Object(members).to_string()
}

/// The response as an HTML page, where it is one and not JSON.
fn page_of(answer: &Answer<'_>, value: &Value) -> Option<Page> {
    match value {
        Value::String(text) => page::read(answer.header("content-type"), text),
        _ => None,
    }
}

/// A successful response without the part that is the tool's result.
fn nothing_at(operation: &Operation, status: u16) -> Fault {
    let mut message = format!(
        "the service answered with status {status}, but without `{}`, where the result of this tool is",
        operation.result.at
    );
    if !failure::only_reads(operation.method) {
        message.push_str("; look whether it did what was asked before repeating it");
    }
    Fault {
        code: Some("result_missing".to_owned()),
        http_status: Some(status),
        ..Fault::new(Kind::Upstream, message)
    }
}

/// Whether a file of this type is an undeclared HTML page; `begin` is the beginning of the file.
pub fn unexpected_page(
    operation: &Operation,
    status: u16,
    media_type: &str,
    begin: &[u8],
) -> Option<Fault> {
    if operation.html {
        return None;
    }
    let page = page::read(Some(media_type), &String::from_utf8_lossy(begin))?;
    Some(failure::of_page(operation.method, status, None, &page))
}

/// The body as JSON with its text, or as a text value. Bytes that are neither are counted.
fn parse<'a>(answer: &'a Answer<'_>) -> (Value, Option<&'a str>) {
    let Ok(text) = std::str::from_utf8(answer.body) else {
        let media_type = answer
            .header("content-type")
            .unwrap_or("application/octet-stream");
        return (
            serde_json::json!({"media_type": media_type, "bytes": answer.body.len(), "note": "binary data, not shown"}),
            None,
        );
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return (Value::Null, None);
    }
    match serde_json::from_str(text) {
        Ok(value) => (value, Some(text)),
        Err(_) => (Value::from(text), None),
    }
}

/// The part of the response that the description selects; `None` where it is absent.
pub fn project(projection: &Projection, value: Value) -> Option<Value> {
    let mut part = match projection.at.as_str() {
        "" => value,
        at => match pointer::at(&value, at) {
            Some(part) => part.clone(),
            None if projection.omitted_when_empty && value.is_object() => Value::Array(Vec::new()),
            None => return None,
        },
    };
    let each = |part: &mut Value, change: &dyn Fn(&mut Value)| match part {
        Value::Array(items) => items.iter_mut().for_each(change),
        other => change(other),
    };
    if !projection.keep.is_empty() {
        each(&mut part, &|item| {
            if item.is_object() {
                let mut kept = Value::Object(Map::new());
                for path in &projection.keep {
                    keep(item, &mut kept, path);
                }
                *item = kept;
            }
        });
    }
    for path in &projection.drop {
        each(&mut part, &|item| drop_path(item, path));
    }
    Some(part)
}

fn keep(from: &Value, to: &mut Value, path: &str) {
    let (first, rest) = path
        .split_once('.')
        .map_or((path, None), |(first, rest)| (first, Some(rest)));
    let (Some(found), Some(to)) = (from.get(first), to.as_object_mut()) else {
        return;
    };
    match (rest, found) {
        (Some(rest), Value::Object(_)) => {
            let inner = to.entry(first).or_insert_with(|| Value::Object(Map::new()));
            keep(found, inner, rest);
        }
        (Some(rest), Value::Array(items)) => {
            let inner = to.entry(first).or_insert_with(|| {
                Value::Array(items.iter().map(|_| Value::Object(Map::new())).collect())
            });
            for (item, kept) in items.iter().zip(inner.as_array_mut().into_iter().flatten()) {
                keep(item, kept, rest);
            }
        }
        _ => {
            to.insert(first.to_owned(), found.clone());
        }
    }
}

fn drop_path(value: &mut Value, path: &str) {
    match (value, path.split_once('.')) {
        (Value::Array(items), _) => items.iter_mut().for_each(|item| drop_path(item, path)),
        (Value::Object(map), None) => {
            map.remove(path);
        }
        (Value::Object(map), Some((first, rest))) => {
            if let Some(inner) = map.get_mut(first) {
                drop_path(inner, rest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};
    use toolgate_openapi_table::{Operation, Projection};

    use super::{Answer, Asked, project, read, unexpected_page};
    use crate::failure::Kind;

    fn operation(result: serde_json::Value) -> Operation {
        serde_json::from_value(
            json!({"method": "GET", "base": {"url": "https://h"}, "path": [], "result": result}),
        )
        .expect("an operation")
    }

    fn data(
        operation: &Operation,
        status: u16,
        body: &[u8],
    ) -> Result<String, crate::failure::Fault> {
        let asked = Asked {
            arguments: &Map::new(),
            mark: None,
            url: "https://h",
            base: "https://h",
        };
        read(
            operation,
            &asked,
            &Answer {
                status,
                headers: &[],
                body,
            },
        )
        .map(|result| result.data)
    }

    #[test]
    fn an_answer_is_passed_on_as_it_came_unless_a_part_is_asked_for() {
        let whole = operation(json!({}));
        assert_eq!(
            data(&whole, 200, br#"{"z":1,"a":2}"#).as_deref(),
            Ok(r#"{"z":1,"a":2}"#)
        );
        assert_eq!(
            data(&whole, 204, b"").as_deref(),
            Ok(r#"{"ok":true,"status":204}"#)
        );
        assert_eq!(data(&whole, 200, b"plain").as_deref(), Ok(r#""plain""#));
        assert!(
            data(&whole, 200, &[0xff, 0xfe])
                .expect("a result")
                .contains("binary")
        );
        assert_eq!(
            data(
                &operation(json!({"at": "/data/0"})),
                200,
                br#"{"data":[7]}"#
            )
            .as_deref(),
            Ok("7")
        );
        assert!(data(&whole, 404, b"{}").is_err());
    }

    #[test]
    fn headers_that_the_description_names_are_members_of_the_result() {
        let mut operation = operation(json!({}));
        operation.answer_headers = [("digest", "Docker-Content-Digest"), ("etag", "ETag")]
            .map(|(member, header)| (member.to_owned(), header.to_owned()))
            .into();
        let asked = Asked {
            arguments: &Map::new(),
            mark: None,
            url: "https://h",
            base: "https://h",
        };
        let headers = [("docker-content-digest".to_owned(), "sha256:00".to_owned())];
        let read = |headers, body| {
            let answer = Answer {
                status: 200,
                headers,
                body,
            };
            read(&operation, &asked, &answer).expect("a result").data
        };
        assert_eq!(
            read(&headers, br#"{"layers":[]}"#),
            r#"{"layers":[],"digest":"sha256:00"}"#
        );
        assert_eq!(
            read(&headers, b""),
            r#"{"ok":true,"status":200,"digest":"sha256:00"}"#
        );
        assert_eq!(
            read(&headers, b"[1]"),
            r#"{"result":[1],"digest":"sha256:00"}"#
        );
        assert_eq!(read(&[], br#"{"a":1}"#), r#"{"a":1}"#);
    }

    #[test]
    fn a_result_that_is_not_there_is_an_error_and_one_that_is_null_is_not() {
        let at = |at: &str| operation(json!({ "at": at }));
        assert_eq!(
            data(&at("/data"), 200, br#"{"data":null}"#).as_deref(),
            Ok("null")
        );
        for (pointer, body) in [
            ("/data", r#"{"dat":1}"#),
            ("/data/0", r#"{"data":[]}"#),
            ("/data/items", r#"{"data":null}"#),
            ("/data", r#""ok""#),
            ("/data", "plain"),
        ] {
            let fault = data(&at(pointer), 200, body.as_bytes()).expect_err("no result");
            assert_eq!(fault.kind, Kind::Upstream, "{body}");
            assert!(fault.message.contains(pointer), "{}", fault.message);
        }
        let list = operation(json!({"at": "/items", "omitted_when_empty": true}));
        assert_eq!(data(&list, 200, br#"{"kind":"k"}"#).as_deref(), Ok("[]"));
        assert!(data(&list, 200, b"[]").is_err());
    }

    #[test]
    fn a_page_is_a_failure_unless_the_description_declares_html() {
        let page = "<html><head><title>Sign in</title></head><body>x</body></html>";
        let headers = [("Content-Type".to_owned(), "text/html".to_owned())];
        let asked = Asked {
            arguments: &Map::new(),
            mark: None,
            url: "https://h",
            base: "https://h",
        };
        let answered = |operation: &Operation, status: u16| {
            let answer = Answer {
                status,
                headers: &headers,
                body: page.as_bytes(),
            };
            read(operation, &asked, &answer).map(|result| result.data)
        };
        let mut get = operation(json!({}));
        let fault = answered(&get, 200).expect_err("a page");
        assert_eq!(
            (fault.kind, fault.message.as_str()),
            (
                Kind::Upstream,
                "the service answered with an HTML page (title: Sign in), probably a sign-in or proxy page"
            )
        );
        let blocked = answered(&get, 403).expect_err("a page");
        assert_eq!(blocked.kind, Kind::Upstream, "no statement about rights");
        assert!(blocked.message.contains("Sign in"), "{}", blocked.message);
        for (status, kind) in [
            (401, Kind::AuthExpired),
            (404, Kind::NotFound),
            (429, Kind::RateLimited),
            (502, Kind::Unavailable),
        ] {
            assert_eq!(answered(&get, status).expect_err("a page").kind, kind);
        }
        let mut post = get.clone();
        post.method = toolgate_openapi_table::Method::Post;
        let fault = answered(&post, 200).expect_err("a page");
        assert!(fault.message.contains("not known"), "{}", fault.message);
        get.html = true;
        assert!(answered(&get, 200).expect("declared").contains("Sign in"));
        assert!(answered(&get, 403).is_err());
    }

    #[test]
    fn a_file_that_is_a_page_is_refused_unless_it_may_be_one() {
        let mut file = operation(json!({}));
        file.download = true;
        let page = b"<!DOCTYPE html><title>Log in</title>";
        assert!(unexpected_page(&file, 200, "text/html", page).is_some());
        assert!(unexpected_page(&file, 200, "application/pdf", b"%PDF-1.7").is_none());
        file.html = true;
        assert!(unexpected_page(&file, 200, "text/html", page).is_none());
    }

    #[test]
    fn marks_at_the_front_and_doubled_types_are_read() {
        let whole = operation(json!({}));
        assert_eq!(
            data(&whole, 200, "\u{feff} {\"a\":\"é\"}".as_bytes()).as_deref(),
            Ok(r#"{"a":"é"}"#)
        );
    }

    #[test]
    fn keep_and_drop_work_on_objects_and_lists() {
        let body = json!([{"id": 1, "owner": {"login": "a", "url": "u"}, "tags": [{"n": 1, "x": 2}], "_links": {}}]);
        let keep = Projection {
            keep: vec!["id".into(), "owner.login".into(), "tags.n".into()],
            ..Projection::default()
        };
        assert_eq!(
            project(&keep, body.clone()),
            Some(json!([{"id": 1, "owner": {"login": "a"}, "tags": [{"n": 1}]}]))
        );
        let drop = Projection {
            drop: vec!["_links".into(), "owner.url".into(), "tags.x".into()],
            ..Projection::default()
        };
        assert_eq!(
            project(&drop, body),
            Some(json!([{"id": 1, "owner": {"login": "a"}, "tags": [{"n": 1}]}]))
        );
    }
}
