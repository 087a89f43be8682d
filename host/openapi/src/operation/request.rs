//! The request of an operation as the manifest describes it: the whole row of the table in words, so that a new version
//! that sends something else has another description. An argument whose name is that of its field is left out.

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolgate_openapi_table::{
    Base, Body, Content, Encoding, Input, Operation, Pages, Piece, Place, Source,
};

use toolgate_catalog::described::{WITH_BYTES_MAX, WITH_MAX};
use toolgate_catalog::manifest::DescribedRequest;
use toolgate_core::visible::visible_line;

/// The request of `operation` as the manifest describes it.
pub(super) fn described(operation: &Operation) -> DescribedRequest {
    let mut with = Vec::new();
    for piece in &operation.path {
        if let Piece::Input(input) = piece {
            with.extend(input_entry("path", input, true));
        }
    }
    let in_query = operation.body.is_none();
    for input in &operation.query {
        with.extend(input_entry("query", input, in_query));
    }
    for input in &operation.headers {
        with.extend(input_entry("header", input, false));
    }
    if !operation.accept.is_empty() && operation.accept != "application/json" {
        with.push(format!("accept {}", operation.accept));
    }
    if let Some(body) = &operation.body {
        body_entries(body, &mut with);
    }
    with.extend(operation.pages.as_ref().and_then(page_entry));
    DescribedRequest {
        send: visible_line(&format!("{} {}", method(operation), address(operation))).into_owned(),
        with: bounded(with),
    }
}

/// The address with an expression in braces for each value that is filled in.
pub(super) fn address(operation: &Operation) -> String {
    let mut address = match &operation.base {
        Base::Url(url) => url.clone(),
        Base::Config(key) => format!("{{{key}}}"),
    };
    for piece in &operation.path {
        match piece {
            Piece::Text(text) => address.push_str(text),
            Piece::Input(input) if input.reserved => {
                address.push_str(&format!("{{+{}}}", input.name));
            }
            Piece::Input(input) => address.push_str(&format!("{{{}}}", input.name)),
        }
    }
    address
}

fn method(operation: &Operation) -> String {
    let name = serde_json::to_value(operation.method).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// `usual`: an argument of the same name needs no entry here.
fn input_entry(place: &str, input: &Input, usual: bool) -> Option<String> {
    if usual && is_argument(&input.source, &input.name) {
        return None;
    }
    Some(format!("{place} {}={}", input.name, value(&input.source)))
}

fn is_argument(source: &Source, name: &str) -> bool {
    matches!(source, Source::Argument(argument) if argument == name)
}

fn value(source: &Source) -> String {
    match source {
        Source::Argument(name) => format!("{{{name}}}"),
        Source::Constant(value) => value.to_string(),
    }
}

fn body_entries(body: &Body, with: &mut Vec<String>) {
    let mut kind = match &body.encoding {
        Encoding::Json => "body json".to_owned(),
        Encoding::Form => "body form".to_owned(),
        Encoding::Multipart => "body multipart".to_owned(),
        Encoding::Raw => "body raw".to_owned(),
        Encoding::Graphql(document) => {
            let document: Vec<&str> = document.split_whitespace().collect();
            format!("body graphql {}", document.join(" "))
        }
    };
    if !matches!(body.media_type.as_str(), "" | "application/json") {
        kind.push_str(&format!(" as {}", body.media_type));
    }
    match &body.content {
        Content::Whole { argument, file } => {
            let of = if *file { " from the file " } else { " of " };
            with.push(format!("{kind}{of}{{{argument}}}"));
        }
        Content::Fields { fields, objects } => {
            with.push(kind);
            for field in fields {
                let usual =
                    matches!(field.path.as_slice(), [name] if is_argument(&field.source, name));
                if usual && !field.file {
                    continue;
                }
                let file = if field.file { " from the file" } else { "" };
                let pointer = pointer(&field.path);
                with.push(format!("body {pointer}={}{file}", value(&field.source)));
            }
            let empty = objects
                .iter()
                .map(|path| format!("body {}={{}}", pointer(path)));
            with.extend(empty);
        }
    }
}

fn page_entry(pages: &Pages) -> Option<String> {
    match pages.param.as_ref()? {
        Place::Query(name) => Some(format!("page query {name}")),
        Place::Body(path) => Some(format!("page body {}", pointer(path))),
    }
}

fn pointer(path: &[String]) -> String {
    let names = path
        .iter()
        .map(|name| name.replace('~', "~0").replace('/', "~1"));
    names.fold(String::new(), |all, name| format!("{all}/{name}"))
}

/// Long entries and long lists end in a checksum of the rest, so that every change of it is a difference.
fn bounded(entries: Vec<String>) -> Vec<String> {
    const SHOWN_BYTES: usize = WITH_BYTES_MAX - 200;
    let cut = |entry: String| {
        let entry = visible_line(&entry).into_owned();
        if entry.len() <= SHOWN_BYTES {
            return entry;
        }
        let end = entry.floor_char_boundary(SHOWN_BYTES);
        format!("{}... (SHA-256 {})", &entry[..end], sha256(&entry))
    };
    let mut all: Vec<String> = entries.into_iter().map(cut).collect();
    if all.len() > WITH_MAX {
        let rest = all.split_off(WITH_MAX - 1);
        let whole = Value::from(rest.clone()).to_string();
        all.push(format!("{} more (SHA-256 {})", rest.len(), sha256(&whole)));
    }
    all
}

fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(more: Value) -> DescribedRequest {
        let mut row = json!({
            "method": "POST", "base": {"url": "https://api.notes.io/v1"},
            "path": [{"text": "/users/"}, {"input": {"name": "id", "source": {"argument": "id"}, "style": "simple"}}],
            "accept": "application/json"
        });
        row.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        described(&serde_json::from_value(row).expect("an operation"))
    }

    fn body(fields: Value) -> Value {
        json!({ "body": {"encoding": "json", "content": {"fields": {"fields": fields}}} })
    }

    #[test]
    fn arguments_that_go_where_their_name_says_are_left_out() {
        let plain = of(body(
            json!([{"path": ["text"], "source": {"argument": "text"}}]),
        ));
        assert_eq!(plain.send, "POST https://api.notes.io/v1/users/{id}");
        assert_eq!(plain.with, ["body json"]);
    }

    #[test]
    fn every_other_part_of_a_request_is_described() {
        let input =
            |name: &str, source: Value| json!([{"name": name, "source": source, "style": "form"}]);
        for (more, said) in [
            (
                body(json!([{"path": ["a", "b"], "source": {"argument": "text"}}])),
                "body /a/b={text}",
            ),
            (
                body(json!([{"path": ["delete"], "source": {"constant": true}}])),
                "body /delete=true",
            ),
            (
                json!({"query": input("api", json!({"constant": 2}))}),
                "query api=2",
            ),
            (
                json!({"query": input("q", json!({"argument": "text"}))}),
                "query q={text}",
            ),
            (
                json!({"headers": input("x-act-as", json!({"argument": "user"}))}),
                "header x-act-as={user}",
            ),
            (
                json!({"headers": input("x-a", json!({"constant": "b"}))}),
                "header x-a=\"b\"",
            ),
            (
                json!({"body": {"encoding": {"graphql": "mutation {\n  deleteAll\n}"}, "content": {"fields": {"fields": []}}}}),
                "body graphql mutation { deleteAll }",
            ),
            (
                json!({"body": {"encoding": "raw", "media_type": "text/plain", "content": {"whole": {"argument": "x", "file": false}}}}),
                "body raw as text/plain of {x}",
            ),
        ] {
            let entries = of(more).with;
            assert!(
                entries.iter().any(|entry| entry == said),
                "{said}: {entries:?}"
            );
        }
    }

    #[test]
    fn a_description_beyond_the_limit_ends_in_a_checksum() {
        let constant = |last: &str| {
            let text = format!("{}{last}", "x".repeat(5_000));
            of(json!({"query": [{"name": "a", "source": {"constant": text}, "style": "form"}]}))
        };
        assert!(constant("a").with[0].len() <= WITH_BYTES_MAX);
        assert_ne!(constant("a"), constant("b"));
        let many = |last: usize| {
            let fields = (0..1_000).chain([last]);
            let fields: Vec<Value> = fields
                .map(|n| json!({"path": [n.to_string()], "source": {"constant": n}}))
                .collect();
            of(body(Value::from(fields)))
        };
        assert_eq!(many(1).with.len(), WITH_MAX);
        assert_ne!(many(1), many(2));
    }
}
