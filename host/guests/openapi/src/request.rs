//! From an operation and arguments to one request.

use serde_json::{Map, Value};
use toolgate_openapi_table::{Base, Input, Method, Operation, Piece, Source};

use crate::body::{self, Payload};
use crate::encode;
use crate::failure::{Fault, Kind};
use crate::pages::{self, Turn};

/// A request before its credential, which the host adds.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    pub method: Method,
    /// What the path was appended to.
    pub base: String,
    /// Absolute, with the query.
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub payload: Payload,
}

/// Builds the request. `setting` reads an operator's setting.
pub fn build(
    operation: &Operation,
    arguments: &Map<String, Value>,
    mark: Option<&str>,
    setting: &dyn Fn(&str) -> Option<Value>,
) -> Result<Outgoing, Fault> {
    let base = base(&operation.base, setting)?;
    let turn = turn(operation, mark)?;
    let path = match &turn.path {
        Some(path) => path.clone(),
        None => path(&operation.path, arguments)?,
    };
    let query = match &turn.query_text {
        Some(text) => text.clone(),
        None => {
            let mut pairs = Vec::new();
            for input in &operation.query {
                if let Some(value) = value(&input.source, arguments) {
                    check_selection(operation.method, input, value)?;
                    pairs.extend(encode::query(input, value));
                }
            }
            // A constant may request the first page, such as `offset=0`.
            pairs.retain(|(name, _)| turn.query.iter().all(|(page, _)| page != name));
            pairs.extend(turn.query.iter().cloned());
            let text: Vec<String> = pairs
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            text.join("&")
        }
    };
    let mut url = format!("{base}{path}");
    if !query.is_empty() {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&query);
    }

    let mut headers = Vec::new();
    if !operation.accept.is_empty() {
        headers.push(("accept".to_owned(), operation.accept.clone()));
    }
    for input in &operation.headers {
        if let Some(value) = value(&input.source, arguments) {
            headers.push((input.name.clone(), header(input, value)?));
        }
    }
    let page = turn
        .body
        .as_ref()
        .map(|(path, value)| (path.as_slice(), value.clone()));
    let payload = match &operation.body {
        None => Payload::Empty,
        Some(body) => {
            let (payload, media_type) = body::build(body, arguments, page)?;
            if let Some(media_type) = media_type.filter(|_| payload != Payload::Empty) {
                headers.push(("content-type".to_owned(), media_type));
            }
            payload
        }
    };
    Ok(Outgoing {
        method: operation.method,
        base,
        url,
        headers,
        payload,
    })
}

fn turn(operation: &Operation, mark: Option<&str>) -> Result<Turn, Fault> {
    match (&operation.pages, mark) {
        (Some(pages), Some(mark)) => pages::turn(pages, mark).ok_or_else(|| {
            Fault::argument(
                "cursor",
                "is not a cursor that this tool gave out; take `next_cursor` of its last answer",
            )
        }),
        _ => Ok(Turn::default()),
    }
}

fn base(base: &Base, setting: &dyn Fn(&str) -> Option<Value>) -> Result<String, Fault> {
    match base {
        Base::Url(url) => Ok(url.clone()),
        Base::Config(key) => match setting(key) {
            Some(Value::String(url)) if !url.is_empty() => Ok(url.trim_end_matches('/').to_owned()),
            _ => Err(Fault::new(
                Kind::Unavailable,
                format!("the operator has not set `{key}`, the address of this service"),
            )),
        },
    }
}

fn value<'a>(source: &'a Source, arguments: &'a Map<String, Value>) -> Option<&'a Value> {
    match source {
        Source::Constant(value) => Some(value),
        Source::Argument(name) => arguments.get(name).filter(|value| !value.is_null()),
    }
}

/// With an empty argument a DELETE would remove everything that the argument should have selected from.
fn check_selection(method: Method, input: &Input, value: &Value) -> Result<(), Fault> {
    match &input.source {
        Source::Argument(name) if method == Method::Delete && encode::says_nothing(value) => Err(
            Fault::argument(name, "is empty: nothing is deleted without saying what"),
        ),
        _ => Ok(()),
    }
}

fn path(pieces: &[Piece], arguments: &Map<String, Value>) -> Result<String, Fault> {
    let mut path = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => path.push_str(text),
            Piece::Input(input) => {
                let name = match &input.source {
                    Source::Argument(name) => name.as_str(),
                    Source::Constant(_) => input.name.as_str(),
                };
                let value = value(&input.source, arguments).ok_or_else(|| {
                    Fault::argument(name, "is part of the address and must be given")
                })?;
                let written = encode::path(input, value).ok_or_else(|| {
                    Fault::argument(
                        name,
                        "cannot be part of an address: it is empty or changes the path",
                    )
                })?;
                path.push_str(&written);
            }
        }
    }
    Ok(path)
}

fn header(input: &Input, value: &Value) -> Result<String, Fault> {
    let text = encode::header(input, value);
    if text.contains(|c: char| c.is_control()) {
        let name = match &input.source {
            Source::Argument(name) => name.as_str(),
            Source::Constant(_) => input.name.as_str(),
        };
        return Err(Fault::argument(
            name,
            "cannot be sent in a header: it has line breaks or control characters",
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};
    use toolgate_openapi_table::Operation;

    use super::{Outgoing, build};
    use crate::failure::Fault;

    fn operation() -> Operation {
        serde_json::from_value(json!({
            "method": "GET", "base": {"url": "https://{site}.example.com/v1"}, "accept": "application/json",
            "path": [{"text": "/items/"}, {"input": {"name": "id", "source": {"argument": "id"}, "style": "simple"}}],
            "query": [{"name": "api", "source": {"constant": 2}, "style": "form", "explode": true},
                      {"name": "tag", "source": {"argument": "tag"}, "style": "form", "explode": true}],
            "headers": [{"name": "x-note", "source": {"argument": "note"}, "style": "simple"}],
            "pages": {"style": "cursor", "param": {"query": "after"}, "next": "/next"}
        }))
        .expect("an operation")
    }

    fn call(arguments: Value, mark: Option<&str>) -> Result<Outgoing, Fault> {
        let arguments: Map<String, Value> = arguments.as_object().expect("an object").clone();
        build(&operation(), &arguments, mark, &|_| None)
    }

    #[test]
    fn path_query_header_and_page_are_put_together() {
        let made = call(
            json!({"id": "a/b", "tag": ["x", "y"], "note": "hi"}),
            Some("c 1"),
        )
        .expect("a request");
        assert_eq!(
            made.url,
            "https://{site}.example.com/v1/items/a%2Fb?api=2&tag=x&tag=y&after=c%201"
        );
        assert_eq!(
            made.headers,
            [
                ("accept".to_owned(), "application/json".to_owned()),
                ("x-note".to_owned(), "hi".to_owned())
            ]
        );
    }

    #[test]
    fn a_page_takes_the_place_of_a_constant() {
        let mut counted = operation();
        counted.query[0].name = "after".to_owned();
        let id = json!({"id": "7"}).as_object().expect("an object").clone();
        let made = |mark| build(&counted, &id, mark, &|_| None).expect("a request");
        assert!(made(None).url.ends_with("/items/7?after=2"));
        assert!(made(Some("9")).url.ends_with("/items/7?after=9"));
    }

    #[test]
    fn an_argument_can_neither_leave_its_place_nor_add_a_header() {
        for (arguments, field) in [
            (json!({}), "/id"),
            (json!({"id": ".."}), "/id"),
            (json!({"id": ""}), "/id"),
            (json!({"id": "1", "note": "a\r\nauthorization: b"}), "/note"),
        ] {
            let refused = call(arguments, None).expect_err("refused");
            assert_eq!(refused.field.as_deref(), Some(field));
        }
    }

    #[test]
    fn a_delete_is_not_sent_with_a_selection_that_is_empty() {
        let mut delete = operation();
        delete.method = toolgate_openapi_table::Method::Delete;
        let made = |arguments: Value| {
            let arguments = arguments.as_object().expect("an object").clone();
            build(&delete, &arguments, None, &|_| None)
        };
        for tag in [json!([]), json!(""), json!([""])] {
            let refused = made(json!({"id": "7", "tag": tag})).expect_err("refused");
            assert_eq!(refused.field.as_deref(), Some("/tag"));
        }
        let chosen = made(json!({"id": "7", "tag": ["a"]})).expect("a request");
        assert!(chosen.url.ends_with("/items/7?api=2&tag=a"));
        // An argument that is left out is not empty, and reading everything does no harm.
        assert!(made(json!({"id": "7", "tag": null})).is_ok());
        assert!(call(json!({"id": "7", "tag": []}), None).is_ok());
    }

    #[test]
    fn an_address_of_the_operator_is_the_base() {
        let mut own = operation();
        own.base = toolgate_openapi_table::Base::Config("api_base".into());
        let arguments: Map<String, Value> =
            json!({"id": 1}).as_object().expect("an object").clone();
        let made = build(&own, &arguments, None, &|key| {
            (key == "api_base").then(|| json!("http://127.0.0.1:9/hub/"))
        });
        assert_eq!(
            made.expect("a request").url,
            "http://127.0.0.1:9/hub/items/1?api=2"
        );
        assert!(build(&own, &arguments, None, &|_| None).is_err());
    }
}
