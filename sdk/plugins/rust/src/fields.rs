//! Structs from and to JSON objects, field by field.
//!
//! What `#[derive(Args)]` writes calls these functions. Serde's own derive would do the same with a
//! visitor for each struct, several kilobytes of code each; here the code is shared by all structs
//! and only paid once for each type of field.

use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// The members of an object that have not been read yet.
#[derive(Debug)]
pub struct Fields(Map<String, Value>);

impl Fields {
    /// A field that must be there.
    pub fn required<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, String> {
        let value = self
            .0
            .remove(key)
            .ok_or_else(|| format!("`{key}` is missing"))?;
        read(key, value)
    }

    /// A field of an `Option` type: absent and null are the same.
    pub fn optional<T: DeserializeOwned>(&mut self, key: &str) -> Result<T, String> {
        read(key, self.0.remove(key).unwrap_or(Value::Null))
    }

    /// A field with a default, given as JSON text.
    pub fn or_default<T: DeserializeOwned>(&mut self, key: &str, json: &str) -> Result<T, String> {
        match self.0.remove(key) {
            Some(value) => read(key, value),
            None => serde_json::from_str(json).map_err(|error| format!("`{key}`: {error}")),
        }
    }

    /// Refuses an object with members that were not read.
    pub fn finish(self) -> Result<(), String> {
        match self.0.keys().next() {
            Some(key) => Err(format!("`{key}` is not known")),
            None => Ok(()),
        }
    }
}

fn read<T: DeserializeOwned>(key: &str, value: Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| format!("`{key}`: {error}"))
}

/// Reads an object and gives its members to `build`.
pub fn deserialize<'de, D: Deserializer<'de>, T>(
    input: D,
    build: fn(&mut Fields) -> Result<T, String>,
) -> Result<T, D::Error> {
    let mut fields = Fields(serde::Deserialize::deserialize(input)?);
    let built = build(&mut fields).and_then(|built| fields.finish().map(|()| built));
    built.map_err(D::Error::custom)
}

/// One member of an object to be written, none for an absent option.
pub fn member<T: Serialize>(value: &T) -> Option<Value> {
    serde_json::to_value(value)
        .ok()
        .filter(|value| !value.is_null())
}

/// Writes an object of the members that are there.
pub fn serialize<S: Serializer>(
    members: &[(&'static str, Option<Value>)],
    output: S,
) -> Result<S::Ok, S::Error> {
    let mut map = output.serialize_map(None)?;
    for (key, value) in members {
        if let Some(value) = value {
            map.serialize_entry(key, value)?;
        }
    }
    map.end()
}
