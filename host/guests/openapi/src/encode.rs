//! Writing values into paths, queries and headers: OpenAPI's `style`, `explode` and
//! `allowReserved`, and the percent-encoding of RFC 3986.

use serde_json::{Map, Value};
use toolgate_openapi_table::{Input, Style};

/// Percent-encodes everything but unreserved characters, and with `reserved` also leaves the
/// reserved ones.
pub fn percent(text: &str, reserved: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain || (reserved && b":/?@!$&'()*+,;=".contains(&byte)) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// A scalar as text; anything else as JSON.
pub fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Whether a value is empty: null, or an empty text, list or object, also within a list.
pub fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.iter().all(says_nothing),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// One path segment. `None` where the value would be empty or leave its place in the path.
pub fn path(input: &Input, value: &Value) -> Option<String> {
    // Some styles write a prefix for an empty value too: `;id=`.
    if says_nothing(value) {
        return None;
    }
    let part = |text: &str| percent(text, false);
    let written = match (input.style, value) {
        (Style::Json, other) => part(&other.to_string()),
        (Style::Label, Value::Array(items)) => {
            let between = if input.explode { "." } else { "," };
            format!(".{}", join(items, between, &part))
        }
        (Style::Label, Value::Object(map)) if input.explode => {
            format!(".{}", members(map, "=", ".", &part))
        }
        (Style::Label, other) => format!(".{}", simple(other, false, &part)),
        (Style::Matrix, Value::Array(items)) if input.explode => {
            let all: Vec<String> = items
                .iter()
                .map(|item| format!(";{}={}", part(&input.name), part(&scalar(item))))
                .collect();
            all.concat()
        }
        (Style::Matrix, Value::Object(map)) if input.explode => {
            format!(";{}", members(map, "=", ";", &part))
        }
        (Style::Matrix, other) => {
            format!(";{}={}", part(&input.name), simple(other, false, &part))
        }
        (_, other) => {
            // A reserved path value may hold slashes: `src/main.rs` in a repository.
            let part = |text: &str| percent(text, input.reserved);
            simple(other, input.explode, &part)
        }
    };
    let climbs = written
        .split('/')
        .any(|segment| matches!(segment, "." | ".."));
    let leaves = input.reserved && (written.contains(['?', '#']) || written.starts_with('/'));
    (!written.is_empty() && !climbs && !leaves).then_some(written)
}

/// Query pairs, percent-encoded.
pub fn query(input: &Input, value: &Value) -> Vec<(String, String)> {
    let part = |text: &str| percent(text, input.reserved);
    let name = percent(&input.name, false);
    let between = match input.style {
        Style::SpaceDelimited => "%20",
        Style::PipeDelimited => "%7C",
        Style::TabDelimited => "%09",
        _ => ",",
    };
    match (input.style, value) {
        (Style::Json, other) => vec![(name, part(&other.to_string()))],
        (Style::DeepObject, Value::Object(_) | Value::Array(_)) => {
            let mut pairs = Vec::new();
            flatten(&input.name, value, &mut pairs);
            pairs
                .into_iter()
                .map(|(name, value)| (percent(&name, false), part(&value)))
                .collect()
        }
        (_, Value::Array(items)) if input.explode && input.style == Style::Form => items
            .iter()
            .map(|item| (name.clone(), part(&scalar(item))))
            .collect(),
        (_, Value::Array(items)) => vec![(name, join(items, between, &part))],
        (_, Value::Object(map)) if input.explode => map
            .iter()
            .map(|(key, value)| (part(key), part(&scalar(value))))
            .collect(),
        (_, Value::Object(_)) => vec![(name, simple(value, false, &part))],
        (_, other) => vec![(name, part(&scalar(other)))],
    }
}

/// A header's value, not percent-encoded (OpenAPI 3.1, `simple`).
pub fn header(input: &Input, value: &Value) -> String {
    if input.style == Style::Json {
        return value.to_string();
    }
    simple(value, input.explode, &str::to_owned)
}

fn simple(value: &Value, explode: bool, part: &dyn Fn(&str) -> String) -> String {
    match value {
        Value::Array(items) => join(items, ",", part),
        Value::Object(map) => members(map, if explode { "=" } else { "," }, ",", part),
        other => part(&scalar(other)),
    }
}

fn members(
    map: &Map<String, Value>,
    mark: &str,
    between: &str,
    part: &dyn Fn(&str) -> String,
) -> String {
    let pairs: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{}{mark}{}", part(key), part(&scalar(value))))
        .collect();
    pairs.join(between)
}

fn join(items: &[Value], between: &str, part: &dyn Fn(&str) -> String) -> String {
    let all: Vec<String> = items.iter().map(|item| part(&scalar(item))).collect();
    all.join(between)
}

/// Nested values as `a[b][c]`; lists of plain values repeat the name, lists of objects get indices.
pub fn flatten(name: &str, value: &Value, pairs: &mut Vec<(String, String)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                flatten(&format!("{name}[{key}]"), value, pairs);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, item) in items.iter().enumerate() {
                flatten(&format!("{name}[{index}]"), item, pairs);
            }
        }
        Value::Array(items) => {
            for item in items {
                pairs.push((name.to_owned(), scalar(item)));
            }
        }
        Value::Null => {}
        other => pairs.push((name.to_owned(), scalar(other))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolgate_openapi_table::{Input, Source, Style};

    use super::{header, path, query};

    fn input(style: Style, explode: bool) -> Input {
        Input {
            name: "color".into(),
            source: Source::Argument("color".into()),
            style,
            explode,
            reserved: false,
        }
    }

    #[test]
    fn queries_follow_the_table_of_styles() {
        let list = json!(["blue", "black b"]);
        let object = json!({"B": 150, "R": true});
        for (style, explode, value, expected) in [
            (Style::Form, true, &list, "color=blue&color=black%20b"),
            (Style::Form, false, &list, "color=blue,black%20b"),
            (
                Style::SpaceDelimited,
                false,
                &list,
                "color=blue%20black%20b",
            ),
            (Style::PipeDelimited, false, &list, "color=blue%7Cblack%20b"),
            (Style::Form, true, &object, "B=150&R=true"),
            (Style::Form, false, &object, "color=B,150,R,true"),
            (
                Style::DeepObject,
                true,
                &object,
                "color%5BB%5D=150&color%5BR%5D=true",
            ),
            (
                Style::Json,
                false,
                &object,
                "color=%7B%22B%22%3A150%2C%22R%22%3Atrue%7D",
            ),
            (Style::Form, true, &json!("a&b=c"), "color=a%26b%3Dc"),
            (Style::Form, true, &json!(1.5), "color=1.5"),
            (
                Style::DeepObject,
                true,
                &json!([{"a": 1}]),
                "color%5B0%5D%5Ba%5D=1",
            ),
        ] {
            let pairs = query(&input(style, explode), value);
            let text: Vec<String> = pairs.into_iter().map(|(k, v)| format!("{k}={v}")).collect();
            assert_eq!(text.join("&"), expected, "{style:?} {explode}");
        }
    }

    #[test]
    fn paths_follow_the_table_of_styles_and_never_leave_their_place() {
        let list = json!(["blue", "black"]);
        let object = json!({"B": 150, "R": "a.b"});
        for (style, explode, value, expected) in [
            (Style::Label, false, &object, Some(".B,150,R,a.b")),
            (Style::Label, true, &object, Some(".B=150.R=a.b")),
            (Style::Matrix, false, &object, Some(";color=B,150,R,a.b")),
            (Style::Matrix, true, &object, Some(";B=150;R=a.b")),
            (
                Style::Json,
                false,
                &object,
                Some("%7B%22B%22%3A150%2C%22R%22%3A%22a.b%22%7D"),
            ),
            (Style::Simple, false, &list, Some("blue,black")),
            (Style::Simple, true, &json!({"R": 1}), Some("R=1")),
            (Style::Label, true, &list, Some(".blue.black")),
            (Style::Matrix, true, &list, Some(";color=blue;color=black")),
            (Style::Matrix, false, &list, Some(";color=blue,black")),
            (Style::Simple, false, &json!("a/b?c"), Some("a%2Fb%3Fc")),
            (Style::Simple, false, &json!("../x"), Some("..%2Fx")),
            (Style::Simple, false, &json!("{x}"), Some("%7Bx%7D")),
            (Style::Simple, false, &json!(""), None),
            (Style::Simple, false, &json!(".."), None),
            (Style::Simple, false, &Value::Null, None),
            (Style::Matrix, false, &json!(""), None),
            (Style::Matrix, false, &json!([]), None),
            (Style::Matrix, true, &json!([""]), None),
            (Style::Label, false, &json!(""), None),
            (Style::Label, true, &json!({}), None),
            (Style::Simple, false, &json!(["", ""]), None),
        ] {
            assert_eq!(
                path(&input(style, explode), value).as_deref(),
                expected,
                "{style:?} {value}"
            );
        }
        let open = Input {
            reserved: true,
            ..input(Style::Simple, false)
        };
        for (value, expected) in [
            ("src/main.rs", Some("src/main.rs")),
            ("a/../b", None),
            ("a?b", None),
            ("/etc", None),
        ] {
            assert_eq!(path(&open, &json!(value)).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn headers_are_written_plainly() {
        assert_eq!(
            header(&input(Style::Simple, false), &json!(["a", "b c"])),
            "a,b c"
        );
    }
}
