//! From a provider's answer to a tool's result.

use serde_json::{Map, Value};
use toolgate_openapi_table::{Encoding, Operation, Projection};

use crate::failure::{self, Fault};
use crate::pages;
use crate::pointer;

/// An answer as it came.
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
}

/// What was asked, as far as the next page needs it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub arguments: &'a Map<String, Value>,
    pub mark: Option<&'a str>,
    pub url: &'a str,
    pub base: &'a str,
}

/// Reads an answer: a failure in the provider's words, or the projected result.
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
    if let Some(fault) = failure::of_answer(
        &operation.error,
        answer.status,
        answer.header("retry-after"),
        &value,
        graphql,
    ) {
        return Err(fault);
    }
    let next_cursor = operation.pages.as_ref().and_then(|pages| {
        let links = answer.links();
        let page = pages::Answer {
            body: &value,
            link: links.as_deref(),
            url: asked.url,
            base: asked.base,
        };
        pages::next(pages, asked.arguments, asked.mark, &page)
    });
    let data = if answer.body.is_empty() || operation.method == toolgate_openapi_table::Method::Head
    {
        serde_json::json!({"ok": true, "status": answer.status}).to_string()
    } else if operation.result == Projection::default() {
        // The provider's own text keeps the order of its keys.
        text.map_or_else(|| value.to_string(), str::to_owned)
    } else {
        project(&operation.result, value).to_string()
    };
    Ok(Result { data, next_cursor })
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

/// The part of the answer that the description asks for. What is not there is null.
pub fn project(projection: &Projection, value: Value) -> Value {
    let mut part = match projection.at.as_str() {
        "" => value,
        at => pointer::at(&value, at).cloned().unwrap_or(Value::Null),
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
    part
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

    use super::{Answer, Asked, project, read};

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
    fn keep_and_drop_work_on_objects_and_lists() {
        let body = json!([{"id": 1, "owner": {"login": "a", "url": "u"}, "tags": [{"n": 1, "x": 2}], "_links": {}}]);
        let keep = Projection {
            keep: vec!["id".into(), "owner.login".into(), "tags.n".into()],
            ..Projection::default()
        };
        assert_eq!(
            project(&keep, body.clone()),
            json!([{"id": 1, "owner": {"login": "a"}, "tags": [{"n": 1}]}])
        );
        let drop = Projection {
            drop: vec!["_links".into(), "owner.url".into(), "tags.x".into()],
            ..Projection::default()
        };
        assert_eq!(
            project(&drop, body),
            json!([{"id": 1, "owner": {"login": "a"}, "tags": [{"n": 1}]}])
        );
    }
}
