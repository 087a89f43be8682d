//! Bounds and defaults of arguments compared with each other and with the type, as far as the macro sees it.

use proc_macro2::Span;

use crate::json::{Json, Value};

/// A keyword of the schema.
pub(crate) struct ArgKeyword {
    /// As the author wrote it.
    pub word: &'static str,
    /// In the schema.
    pub name: &'static str,
    /// Its JSON text.
    pub text: String,
    pub span: Span,
}

/// The kind of values that a plain type accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    Text,
    Bool,
    Unsigned,
    Integer,
    Number,
    List,
    Map,
}

impl ArgumentKind {
    /// By the last segment of the type's path. `None`: an author's own type, or an `Option`, which has no default.
    pub(crate) fn from_type(name: Option<&str>) -> Option<Self> {
        Some(match name? {
            "String" => Self::Text,
            "bool" => Self::Bool,
            "u8" | "u16" | "u32" | "u64" | "usize" => Self::Unsigned,
            "i8" | "i16" | "i32" | "i64" => Self::Integer,
            "f32" | "f64" => Self::Number,
            "Vec" => Self::List,
            "BTreeMap" | "Map" => Self::Map,
            _ => return None,
        })
    }

    fn takes(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Text, Value::Text(_))
            | (Self::Bool, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::List, Value::Array(_))
            | (Self::Map, Value::Object(_)) => true,
            (Self::Integer, Value::Number(digits)) => digits.parse::<i64>().is_ok(),
            (Self::Unsigned, Value::Number(digits)) => digits.parse::<u64>().is_ok(),
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Bool => "true or false",
            Self::Unsigned => "a whole number that is not negative",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::List => "a list",
            Self::Map => "an object",
        }
    }
}

/// Pairs of bounds of which the first must not be more than the second.
const PAIRS: [(&str, &str); 3] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
];

/// Refuses bounds that no value meets, and a default that the schema would refuse.
pub(crate) fn check(
    kind: Option<ArgumentKind>,
    keywords: &[ArgKeyword],
    default: Option<&Json>,
) -> syn::Result<()> {
    let bound = |name: &str| {
        let keyword = keywords.iter().find(|keyword| keyword.name == name)?;
        Some((keyword, keyword.text.parse::<f64>().ok()?))
    };
    for (low, high) in PAIRS {
        if let (Some((low, least)), Some((high, most))) = (bound(low), bound(high))
            && least > most
        {
            return Err(refused(
                high.span,
                format!(
                    "`{} = {}` is more than `{} = {}`: no value fits",
                    low.word, low.text, high.word, high.text
                ),
            ));
        }
    }
    let Some(default) = default else {
        return Ok(());
    };
    if let Some(kind) = kind.filter(|kind| !kind.takes(&default.value)) {
        let message = format!("the default has to be {}, as the type says", kind.name());
        return Err(refused(default.span, message));
    }
    let text = default.to_text();
    let (size, bounds) = match &default.value {
        Value::Number(digits) => (
            digits.parse::<f64>().ok(),
            ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].as_slice(),
        ),
        Value::Text(text) => (
            Some(text.chars().count() as f64),
            ["minLength", "maxLength"].as_slice(),
        ),
        Value::Array(all) => (Some(all.len() as f64), ["minItems", "maxItems"].as_slice()),
        _ => (None, [].as_slice()),
    };
    for (keyword, limit) in bounds.iter().filter_map(|name| bound(name)) {
        let Some(size) = size else { break };
        let fits = match keyword.name {
            "minimum" | "minLength" | "minItems" => size >= limit,
            "exclusiveMinimum" => size > limit,
            "exclusiveMaximum" => size < limit,
            _ => size <= limit,
        };
        if !fits {
            let message = format!(
                "the default {text} does not fit `{} = {}`",
                keyword.word, keyword.text
            );
            return Err(refused(default.span, message));
        }
    }
    Ok(())
}

fn refused(span: Span, message: String) -> syn::Error {
    syn::Error::new(span, message)
}
