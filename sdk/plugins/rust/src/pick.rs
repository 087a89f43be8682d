//! Chooses the fields of a provider's answer that an agent needs.
//!
//! Providers answer with many addresses and internal fields; a model reads every byte. A field is
//! written `name`, `path/to/value` (named after its last segment) or `name=path/to/value`; `*` in a
//! path takes every element of a list. Absent fields and nulls are left out.

use serde_json::{Map, Value};

/// An object of the chosen fields of `value`.
pub fn pick(value: &Value, fields: &[&str]) -> Value {
    let mut out = Map::new();
    for field in fields {
        let (name, path) = match field.split_once('=') {
            Some((name, path)) => (name, path),
            None => (field.rsplit('/').next().unwrap_or(field), *field),
        };
        if let Some(found) = find(value, path) {
            out.insert(name.to_owned(), found);
        }
    }
    Value::Object(out)
}

/// [`pick`] on every element of a list; anything else is an empty list.
pub fn pick_each(list: &Value, fields: &[&str]) -> Value {
    let all = list.as_array().map(Vec::as_slice).unwrap_or_default();
    Value::Array(all.iter().map(|one| pick(one, fields)).collect())
}

fn find(value: &Value, path: &str) -> Option<Value> {
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    if first == "*" {
        let all = value.as_array()?;
        let picked = all.iter().filter_map(|one| match rest {
            Some(rest) => find(one, rest),
            None => Some(one.clone()),
        });
        return Some(Value::Array(picked.collect()));
    }
    let inner = match value {
        Value::Array(all) => all.get(first.parse::<usize>().ok()?)?,
        other => other.get(first)?,
    };
    match rest {
        Some(rest) => find(inner, rest),
        None => (!inner.is_null()).then(|| inner.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_chosen_renamed_and_collected() {
        let issue = json!({
            "number": 7, "body": null, "user": {"login": "mona", "id": 1},
            "labels": [{"name": "bug"}, {"name": "ui"}], "url": "https://a.example"
        });
        let picked = pick(
            &issue,
            &[
                "number",
                "body",
                "author=user/login",
                "labels=labels/*/name",
                "first=labels/0/name",
                "none/at/all",
            ],
        );
        assert_eq!(
            picked,
            json!({"number": 7, "author": "mona", "labels": ["bug", "ui"], "first": "bug"})
        );
        assert_eq!(pick_each(&json!([issue]), &["user/id"]), json!([{"id": 1}]));
        assert_eq!(pick_each(&json!({"message": "none"}), &["x"]), json!([]));
    }
}
