//! JSON Pointers (RFC 6901) with one addition: `-1` is the last element of a list.

use serde_json::Value;

/// The value at `pointer`; the empty pointer is the whole.
pub fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.is_empty() {
        return Some(value);
    }
    pointer
        .strip_prefix('/')?
        .split('/')
        .try_fold(value, |value, segment| match value {
            Value::Object(map) => map.get(segment.replace("~1", "/").replace("~0", "~").as_str()),
            Value::Array(items) if segment == "-1" => items.last(),
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => None,
        })
}

/// The value at `pointer` as text, where it is a text or a number.
pub fn text_at(value: &Value, pointer: &str) -> Option<String> {
    match at(value, pointer)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{at, text_at};

    #[test]
    fn pointers_find_members_elements_and_the_last_one() {
        let value = json!({"a/b": {"~": 1}, "list": [{"id": "x"}, {"id": 7}], "n": null});
        assert_eq!(at(&value, ""), Some(&value));
        assert_eq!(text_at(&value, "/a~1b/~0"), Some("1".to_owned()));
        assert_eq!(text_at(&value, "/list/0/id"), Some("x".to_owned()));
        assert_eq!(text_at(&value, "/list/-1/id"), Some("7".to_owned()));
        for absent in ["/list/2", "/list/x", "/none", "/n/x", "list"] {
            assert_eq!(at(&value, absent), None, "{absent}");
        }
    }
}
