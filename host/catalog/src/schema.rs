//! A JSON Schema as a manifest carries it: kept as compact text, since a catalog holds thousands
//! and most are never asked for. As a tree of values one takes ten times the memory.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A schema in its author's order of keys.
#[derive(Clone, Debug)]
pub struct Schema {
    text: Arc<RawValue>,
    properties: Box<[Box<str>]>,
    required: Box<[Box<str>]>,
}

impl Schema {
    pub fn from_value(schema: &Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let text = serde_json::to_string(schema).expect("a JSON value has a JSON text");
        Self {
            text: Arc::from(RawValue::from_string(text).expect("serde_json writes valid JSON")),
            properties: properties
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str().into())
                .collect(),
            required: required
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(Into::into)
                .collect(),
        }
    }

    /// Compact JSON.
    pub fn text(&self) -> &Arc<RawValue> {
        &self.text
    }

    /// The schema as a tree, made anew.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.text.get()).expect("the text was made from a value")
    }

    /// Names of the top level's `properties`, in the author's order.
    pub fn properties(&self) -> impl Iterator<Item = &str> {
        self.properties.iter().map(AsRef::as_ref)
    }

    /// Names of the top level's `required`, in the author's order.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        self.required.iter().map(AsRef::as_ref)
    }
}

impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.text.get() == other.text.get()
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|schema| Self::from_value(&schema))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_comes_back_as_it_was_written() {
        let written = json!({
            "type": "object",
            "properties": { "zeta": { "type": "string" }, "alpha": { "type": "integer" } },
            "required": ["zeta"],
        });
        let schema: Schema = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(schema.value(), written);
        assert_eq!(schema.text().get(), written.to_string());
        assert_eq!(schema.properties().collect::<Vec<_>>(), ["zeta", "alpha"]);
        assert_eq!(schema.required().collect::<Vec<_>>(), ["zeta"]);
        assert_eq!(serde_json::to_value(&schema).unwrap(), written);
    }

    #[test]
    fn what_is_no_object_has_no_names() {
        for odd in [json!(true), json!({ "properties": [], "required": "a" })] {
            let schema = Schema::from_value(&odd);
            assert_eq!(schema.properties().count() + schema.required().count(), 0);
            assert_eq!(schema.value(), odd);
        }
    }
}
