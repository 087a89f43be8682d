//! Makes values of JSON. What is made is plain data: each key is an own property, also `__proto__` and `then`.

use std::fmt;

use boa_engine::object::builtins::JsArray;
use boa_engine::object::{IntegrityLevel, JsObject};
use boa_engine::property::PropertyKey;
use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue};
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// The value of `json`, with all its objects frozen if `frozen`.
pub(crate) fn value(json: &str, frozen: bool, context: &mut Context) -> JsResult<JsValue> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let seed = ValueSeed { context, frozen };
    seed.deserialize(&mut reader).map_err(|error| {
        let message = format!("the value cannot be read: {error}");
        JsNativeError::range().with_message(message).into()
    })
}

struct ValueSeed<'c> {
    context: &'c mut Context,
    frozen: bool,
}

impl ValueSeed<'_> {
    fn inner(&mut self) -> ValueSeed<'_> {
        ValueSeed {
            context: self.context,
            frozen: self.frozen,
        }
    }

    fn finished<E: Error>(self, object: JsObject) -> Result<JsValue, E> {
        if self.frozen {
            object
                .set_integrity_level(IntegrityLevel::Frozen, self.context)
                .map_err(E::custom)?;
        }
        Ok(object.into())
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = JsValue;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<JsValue, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = JsValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<JsValue, E> {
        Ok(JsValue::null())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<JsValue, E> {
        Ok(JsValue::new(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<JsValue, E> {
        Ok(i32::try_from(value).map_or_else(|_| JsValue::new(value as f64), JsValue::new))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<JsValue, E> {
        Ok(i32::try_from(value).map_or_else(|_| JsValue::new(value as f64), JsValue::new))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<JsValue, E> {
        Ok(JsValue::new(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<JsValue, E> {
        Ok(JsString::from(value).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<JsValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self.inner())? {
            values.push(value);
        }
        let array = JsArray::from_iter(values, self.context);
        self.finished(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<JsValue, A::Error> {
        let object = JsObject::with_object_proto(self.context.intrinsics());
        while let Some(key) = entries.next_key::<std::borrow::Cow<'de, str>>()? {
            let value = entries.next_value_seed(self.inner())?;
            object
                .create_data_property_or_throw(
                    PropertyKey::from(JsString::from(key.as_ref())),
                    value,
                    self.context,
                )
                .map_err(A::Error::custom)?;
        }
        self.finished(object)
    }
}
