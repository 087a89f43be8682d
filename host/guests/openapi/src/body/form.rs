//! `application/x-www-form-urlencoded`: nested names in brackets, lists repeated or joined.

use serde_json::{Map, Value};
use toolgate_openapi_table::Field;

use crate::encode;

/// The text of a form's fields, and of the page where it goes into the body.
pub(super) fn fields(filled: &[(&Field, &Value)], page: Option<(&[String], Value)>) -> String {
    let mut pairs = Vec::new();
    for (field, value) in filled {
        let name = bracketed(&field.path);
        match joined(field, value) {
            Some(text) => pairs.push((name, text)),
            None => encode::flatten(&name, value, &mut pairs),
        }
    }
    if let Some((path, value)) = page {
        pairs.push((bracketed(path), encode::scalar(&value)));
    }
    written(&pairs)
}

/// The text of an object that is the whole form.
pub(super) fn whole(map: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    for (key, value) in map {
        encode::flatten(key, value, &mut pairs);
    }
    written(&pairs)
}

fn written(pairs: &[(String, String)]) -> String {
    let text: Vec<String> = pairs
        .iter()
        .map(|(name, value)| {
            format!(
                "{}={}",
                encode::percent(name, false),
                encode::percent(value, false)
            )
        })
        .collect();
    text.join("&")
}

/// A list as one text, where the description joins its items.
pub(super) fn joined(field: &Field, value: &Value) -> Option<String> {
    let (Some(between), Value::Array(items)) = (field.joined, value) else {
        return None;
    };
    let all: Vec<String> = items.iter().map(encode::scalar).collect();
    Some(all.join(&between.to_string()))
}

/// `["a", "b"]` as `a[b]`.
pub(super) fn bracketed(path: &[String]) -> String {
    let mut name = path.first().cloned().unwrap_or_default();
    for segment in path.iter().skip(1) {
        name.push_str(&format!("[{segment}]"));
    }
    name
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_openapi_table::{Encoding, Field};

    use crate::body::sample::{body, field, text};

    #[test]
    fn forms_repeat_lists_and_bracket_objects() {
        let form = body(
            Encoding::Form,
            vec![
                field(&["to[]"], "to"),
                field(&["meta"], "meta"),
                field(&["s"], "s"),
            ],
        );
        assert_eq!(
            text(
                &form,
                json!({"to": ["a b", "c"], "meta": {"k": {"x": 1}}, "s": "1+1=2"})
            )
            .as_deref(),
            Some("to%5B%5D=a%20b&to%5B%5D=c&meta%5Bk%5D%5Bx%5D=1&s=1%2B1%3D2")
        );
    }

    #[test]
    fn a_list_is_joined_by_the_separator_of_its_style() {
        for (between, expected) in [
            (None, "ids=1&ids=2"),
            (Some(','), "ids=1%2C2"),
            (Some(' '), "ids=1%202"),
            (Some('|'), "ids=1%7C2"),
            (Some('\t'), "ids=1%092"),
        ] {
            let form = body(
                Encoding::Form,
                vec![Field {
                    joined: between,
                    ..field(&["ids"], "ids")
                }],
            );
            let sent = text(&form, json!({"ids": [1, 2]}));
            assert_eq!(sent.as_deref(), Some(expected), "{between:?}");
        }
    }
}
