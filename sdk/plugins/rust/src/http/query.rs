//! Query parameters and form fields from plain values, options and lists.

use serde::Serialize;
use serde_json::Value;

use super::address::encode;
use crate::error::ToolError;

/// A value of a query parameter: an absent option adds nothing, a list repeats the key.
pub trait QueryValue {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>);

    /// Whether it was given and selects nothing: an empty text or list. A `DELETE` refuses it,
    /// because what it should have narrowed down would be deleted as a whole.
    fn selects_nothing(&self) -> bool {
        false
    }
}

macro_rules! displayed {
    ($($ty:ty),*) => {
        $(impl QueryValue for $ty {
            fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
                pairs.push((key.to_owned(), self.to_string()));
            }
        })*
    };
}

displayed!(bool, i32, i64, u8, u16, u32, u64, usize, f64);

impl QueryValue for &str {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        pairs.push((key.to_owned(), self.to_owned()));
    }

    fn selects_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl QueryValue for String {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        pairs.push((key.to_owned(), self));
    }

    fn selects_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<T: QueryValue> QueryValue for Option<T> {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        if let Some(value) = self {
            value.add_to(key, pairs);
        }
    }

    fn selects_nothing(&self) -> bool {
        self.as_ref().is_some_and(T::selects_nothing)
    }
}

impl<T: QueryValue> QueryValue for Vec<T> {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        for value in self {
            value.add_to(key, pairs);
        }
    }

    fn selects_nothing(&self) -> bool {
        self.iter().all(T::selects_nothing)
    }
}

impl<T: QueryValue + Clone> QueryValue for &T {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        self.clone().add_to(key, pairs);
    }

    fn selects_nothing(&self) -> bool {
        T::selects_nothing(self)
    }
}

/// The fields of a struct, each with its value. What is not an object has no fields, which is an error:
/// a request must not lose all of its parameters.
pub fn fields_of(value: &impl Serialize) -> Result<serde_json::Map<String, Value>, ToolError> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(ToolError::internal(
            "query and form fields are made of a struct or an object",
        )),
        Err(error) => Err(ToolError::internal(format!(
            "query and form fields cannot be written: {error}"
        ))),
    }
}

/// Fields as pairs: nulls are left out, lists repeat the key, objects are JSON.
pub fn pairs_of(fields: serde_json::Map<String, Value>, pairs: &mut Vec<(String, String)>) {
    for (key, value) in fields {
        push_value(&key, value, pairs);
    }
}

/// As [`QueryValue::selects_nothing`].
pub fn selects_nothing(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.iter().all(selects_nothing),
        _ => false,
    }
}

fn push_value(key: &str, value: Value, pairs: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::String(text) => pairs.push((key.to_owned(), text)),
        Value::Array(all) => {
            for one in all {
                push_value(key, one, pairs);
            }
        }
        other => pairs.push((key.to_owned(), other.to_string())),
    }
}

/// `application/x-www-form-urlencoded`, with `%20` for a space.
pub fn form_text(pairs: &[(String, String)]) -> String {
    let mut out = String::new();
    for (key, value) in pairs {
        if !out.is_empty() {
            out.push('&');
        }
        encode(key, &mut out);
        out.push('=');
        encode(value, &mut out);
    }
    out
}
