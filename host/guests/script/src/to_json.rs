//! Writes values as JSON text, as `JSON.stringify` does, with bounds on depth and length.

use boa_engine::object::JsObject;
use boa_engine::{Context, JsNativeError, JsResult, JsValue, JsVariant, js_string};

use crate::limits::JSON_DEPTH_MAX;
use crate::state::GuestState;
use crate::text::json_string;

/// `value` as JSON, or `None` for what JSON cannot say, for example a function.
pub(crate) fn text(
    value: &JsValue,
    bytes_max: usize,
    context: &mut Context,
) -> JsResult<Option<String>> {
    let mut writer = JsonWriter::new(bytes_max);
    let is_written = writer.write(value, context)?;
    Ok(is_written.then_some(writer.text))
}

/// The beginning of `value` as JSON, as much of it as can be written.
pub(crate) fn beginning(value: &JsValue, bytes_max: usize, context: &mut Context) -> String {
    let mut writer = JsonWriter::new(bytes_max);
    if writer.write(value, context).is_err() {
        writer.text.push('…');
    }
    writer.text
}

struct JsonWriter {
    text: String,
    bytes_max: usize,
    /// The objects that the value is in.
    outer: Vec<JsObject>,
}

impl JsonWriter {
    fn new(bytes_max: usize) -> Self {
        Self {
            text: String::new(),
            bytes_max,
            outer: Vec::new(),
        }
    }

    fn push(&mut self, piece: &str) -> JsResult<()> {
        if self.text.len() + piece.len() > self.bytes_max {
            let message = format!("the value has more than {} bytes as JSON", self.bytes_max);
            return Err(JsNativeError::range().with_message(message).into());
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// Whether `value` has a form in JSON; if not, nothing is written.
    fn write(&mut self, value: &JsValue, context: &mut Context) -> JsResult<bool> {
        let value = match value.as_object() {
            Some(object) => converted(value, &object, context)?,
            None => value.clone(),
        };
        match value.variant() {
            JsVariant::Undefined | JsVariant::Symbol(_) => return Ok(false),
            JsVariant::Null => self.push("null")?,
            JsVariant::Boolean(value) => self.push(if value { "true" } else { "false" })?,
            JsVariant::Integer32(value) => self.push(&value.to_string())?,
            JsVariant::Float64(number) if number.is_finite() => {
                let text = value.to_string(context)?.to_std_string_lossy();
                self.push(&text)?;
            }
            JsVariant::Float64(_) => self.push("null")?,
            JsVariant::BigInt(_) => {
                let message = "a BigInt has no form in JSON: make it a number or a string";
                return Err(JsNativeError::typ().with_message(message).into());
            }
            JsVariant::String(text) => {
                // Before it is copied.
                if text.len() > self.bytes_max {
                    self.push(&" ".repeat(self.bytes_max + 1))?;
                }
                self.push(&json_string(&text.to_std_string_lossy()))?;
            }
            JsVariant::Object(object) if object.is_callable() => return Ok(false),
            JsVariant::Object(object) => {
                self.enter(&object)?;
                if object.is_array() {
                    self.write_array(&object, context)?;
                } else {
                    self.write_object(&object, context)?;
                }
                self.outer.pop();
            }
        }
        Ok(true)
    }

    fn enter(&mut self, object: &JsObject) -> JsResult<()> {
        let message = if self.outer.len() >= JSON_DEPTH_MAX {
            format!("the value is nested more than {JSON_DEPTH_MAX} deep")
        } else if self
            .outer
            .iter()
            .any(|outer| JsObject::equals(outer, object))
        {
            "the value contains itself".to_owned()
        } else {
            self.outer.push(object.clone());
            return Ok(());
        };
        Err(JsNativeError::typ().with_message(message).into())
    }

    fn write_array(&mut self, array: &JsObject, context: &mut Context) -> JsResult<()> {
        let length = array
            .get(js_string!("length"), context)?
            .to_length(context)?;
        self.push("[")?;
        for index in 0..length {
            if index > 0 {
                self.push(",")?;
            }
            let item = array.get(index, context)?;
            if !self.write(&item, context)? {
                self.push("null")?;
            }
        }
        self.push("]")
    }

    fn write_object(&mut self, object: &JsObject, context: &mut Context) -> JsResult<()> {
        let keys = enumerable_keys(object, context)?;
        self.push("{")?;
        let mut is_first = true;
        for key in keys {
            let Some(name) = key.as_string() else {
                continue;
            };
            let item = object.get(name.clone(), context)?;
            let before = self.text.len();
            if !is_first {
                self.push(",")?;
            }
            self.push(&json_string(&name.to_std_string_lossy()))?;
            self.push(":")?;
            if self.write(&item, context)? {
                is_first = false;
            } else {
                self.text.truncate(before);
            }
        }
        self.push("}")
    }
}

/// What `toJSON` of an object says, as that of a `Date`, or the object itself.
fn converted(value: &JsValue, object: &JsObject, context: &mut Context) -> JsResult<JsValue> {
    let convert = object.get(js_string!("toJSON"), context)?;
    match convert.as_callable() {
        Some(convert) => convert.call(value, &[], context),
        None => Ok(value.clone()),
    }
}

/// The keys of `Object.keys`, by the interpreter's own function.
fn enumerable_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsValue>> {
    let Some(keys) = GuestState::from_context(context).borrow().object_keys() else {
        return Ok(Vec::new());
    };
    let keys = keys.call(&JsValue::undefined(), &[object.clone().into()], context)?;
    let Some(keys) = keys.as_object() else {
        return Ok(Vec::new());
    };
    let length = keys
        .get(js_string!("length"), context)?
        .to_length(context)?;
    (0..length).map(|index| keys.get(index, context)).collect()
}
