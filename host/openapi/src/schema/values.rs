//! The values that a schema names: `enum`, `const`, `default` and examples.

use serde_json::{Map, Value, json};

use super::Expander;
use super::kinds::is_of;

/// Most entries of an `enum`; more are named in the description.
const ENUM_MAX: usize = 100;
const EXAMPLE_BYTES_MAX: usize = 200;

impl Expander<'_> {
    /// `enum`, `const`, `default` and one example.
    pub(super) fn values_of(&mut self, map: &Map<String, Value>, made: &mut Map<String, Value>) {
        if let Some(Value::Array(options)) = map.get("enum") {
            let mut distinct: Vec<Value> = Vec::new();
            for option in options.iter().take(ENUM_MAX + 1) {
                if !distinct.contains(option) {
                    distinct.push(option.clone());
                }
            }
            if distinct.len() > ENUM_MAX {
                let some: Vec<String> = distinct.iter().take(8).map(Value::to_string).collect();
                let text = made
                    .get("description")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                let text = format!(
                    "{text} One of {} values such as {}.",
                    options.len(),
                    some.join(", ")
                );
                made.insert("description".to_owned(), json!(text.trim()));
            } else if !distinct.is_empty() {
                if let Some(kind) = made.get("type").cloned() {
                    let fits: Vec<Value> = distinct
                        .iter()
                        .filter(|value| is_of(value, &kind))
                        .cloned()
                        .collect();
                    if fits.is_empty() {
                        made.shift_remove("type");
                    } else {
                        distinct = fits;
                    }
                }
                self.spend(
                    distinct
                        .iter()
                        .map(|value| value.to_string().len() + 1)
                        .sum(),
                );
                made.insert("enum".to_owned(), distinct.into());
            }
        }
        if let Some(value) = map.get("const") {
            made.insert("const".to_owned(), value.clone());
        }
        for (key, as_list) in [("default", false), ("example", true), ("examples", true)] {
            let value = match (key, map.get(key)) {
                ("examples", Some(Value::Array(items))) => items.first(),
                ("examples", _) => None,
                (_, value) => value,
            };
            let Some(value) = value.filter(|value| !value.is_null()) else {
                continue;
            };
            let fits = made.get("type").is_none_or(|kind| is_of(value, kind))
                && made
                    .get("enum")
                    .and_then(Value::as_array)
                    .is_none_or(|options| options.contains(value));
            let bytes = value.to_string().len();
            if fits
                && bytes <= EXAMPLE_BYTES_MAX
                && self.bounds.text_chars > 0
                && self.spend(bytes + 12)
            {
                let (key, value) = if as_list {
                    ("examples", json!([value]))
                } else {
                    ("default", value.clone())
                };
                made.insert(key.to_owned(), value);
            }
        }
    }
}
