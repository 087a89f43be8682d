//! Query parameters and form fields from plain values, options and lists.

use serde::Serialize;
use serde_json::Value;

use super::address::encode;

/// A value that can stand in a query: an absent option adds nothing, a list repeats the key.
pub trait QueryValue {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>);
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

displayed!(&str, String, bool, i32, i64, u8, u16, u32, u64, usize, f64);

impl<T: QueryValue> QueryValue for Option<T> {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        if let Some(value) = self {
            value.add_to(key, pairs);
        }
    }
}

impl<T: QueryValue> QueryValue for Vec<T> {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        for value in self {
            value.add_to(key, pairs);
        }
    }
}

impl<T: QueryValue + Clone> QueryValue for &T {
    fn add_to(self, key: &str, pairs: &mut Vec<(String, String)>) {
        self.clone().add_to(key, pairs);
    }
}

/// The fields of a struct as pairs: nulls are left out, lists repeat the key, objects are JSON.
pub fn pairs_of(value: &impl Serialize, pairs: &mut Vec<(String, String)>) {
    if let Ok(Value::Object(fields)) = serde_json::to_value(value) {
        for (key, value) in fields {
            push_value(&key, value, pairs);
        }
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
