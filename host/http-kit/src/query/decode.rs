//! Decoded pairs of a query string as the fields of a struct.

use std::fmt;

use serde::de::value::StringDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::de::{IntoDeserializer, value::StrDeserializer};
use serde::forward_to_deserialize_any;

use super::super::envelope::ApiFailure;

/// Reads the struct `T` and refuses what none of its fields takes.
pub(super) fn decode<T: DeserializeOwned>(given: Vec<(String, String)>) -> Result<T, ApiFailure> {
    T::deserialize(Parameters(given)).map_err(|failure| failure.0)
}

/// Names and values.
struct Parameters(Vec<(String, String)>);

impl<'de> Deserializer<'de> for Parameters {
    type Error = QueryFailure;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, QueryFailure> {
        let mut pairs = StructPairs {
            given: self.0,
            fields: fields.iter(),
            value: None,
        };
        let decoded = visitor.visit_map(&mut pairs)?;
        match pairs.given.first() {
            None => Ok(decoded),
            Some((name, _)) => Err(QueryFailure(super::unknown(name, fields))),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, QueryFailure> {
        Err(Error::custom("a query is read as a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The pairs in the order of the struct's fields; those of no field stay in `given`.
struct StructPairs {
    given: Vec<(String, String)>,
    fields: std::slice::Iter<'static, &'static str>,
    value: Option<(&'static str, String)>,
}

impl<'de> MapAccess<'de> for StructPairs {
    type Error = QueryFailure;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, QueryFailure> {
        for field in self.fields.by_ref() {
            if let Some(at) = self.given.iter().position(|(name, _)| name == field) {
                self.value = Some((field, self.given.remove(at).1));
                let name: StrDeserializer<'_, QueryFailure> = field.into_deserializer();
                return seed.deserialize(name).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, QueryFailure> {
        let Some((field, value)) = self.value.take() else {
            return Err(Error::custom("a value was read before its name"));
        };
        let value = seed.deserialize(ParameterValue(value));
        value.map_err(|failure| failure.at(field))
    }
}

/// The text of one parameter, which is there.
struct ParameterValue(String);

impl ParameterValue {
    fn text(self) -> StringDeserializer<QueryFailure> {
        self.0.into_deserializer()
    }
}

impl<'de> Deserializer<'de> for ParameterValue {
    type Error = QueryFailure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryFailure> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, QueryFailure> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, QueryFailure> {
        self.text().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Why a query cannot be read, as serde hands it on.
#[derive(Debug)]
struct QueryFailure(ApiFailure);

impl QueryFailure {
    /// Names the parameter at fault.
    fn at(mut self, name: &str) -> Self {
        if let ApiFailure::Request { field, .. } = &mut self.0 {
            *field = Some(name.to_owned());
        }
        self
    }
}

impl Error for QueryFailure {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(ApiFailure::Request {
            field: None,
            message: message.to_string(),
            hint: None,
        })
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(super::values::must_be_one_of(expected))
    }
}

impl fmt::Display for QueryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::error::Error for QueryFailure {}
