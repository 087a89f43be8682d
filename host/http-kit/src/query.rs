//! Query strings, read strictly.
//!
//! A route declares its parameters once, as a struct: the fields' comments describe them in the OpenAPI document
//! (`utoipa::IntoParams`), their types from [`values`] hold limits and defaults, and [`QueryString`] decodes the
//! struct with serde. Parameters are checked in the order of the fields. Refused are also: a parameter that no
//! field has, one given twice, a broken percent-encoding, text that is not UTF-8, control characters, numbers
//! outside their range.

mod decode;
#[cfg(test)]
mod tests;
pub mod values;

use axum::extract::FromRequestParts;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::envelope::ApiFailure;
pub use values::{ForUser, Id, Moment, Number, PageLimit, Phrase};

/// No route takes nearly as many.
const PARAMETERS_MAX: usize = 32;

/// A request's query parameters as the struct that declares them.
#[derive(Debug)]
pub struct QueryString<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryString<T> {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiFailure> {
        parse(parts.uri.query().unwrap_or("")).map(Self)
    }
}

/// For a route without query parameters: refuses each one.
#[derive(Debug, Deserialize)]
pub struct NoQuery {}

impl<S: Send + Sync> FromRequestParts<S> for NoQuery {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiFailure> {
        parse(parts.uri.query().unwrap_or(""))
    }
}

/// Decodes a query string. `T` is a struct whose fields all have a default.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ApiFailure> {
    let mut given: Vec<(String, String)> = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = percent_decode(name).ok_or_else(|| malformed("a parameter's name"))?;
        let value = percent_decode(value).ok_or_else(|| malformed(&name))?;
        if given.iter().any(|(other, _)| *other == name) {
            return Err(ApiFailure::field(name, "is given twice"));
        }
        if given.len() == PARAMETERS_MAX {
            let message = format!("more than {PARAMETERS_MAX} parameters");
            return Err(ApiFailure::field(name, message));
        }
        given.push((name, value));
    }
    decode::decode(given)
}

/// A parameter that is none of `known`.
fn unknown(name: &str, known: &[&str]) -> ApiFailure {
    let shown: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    let hint = match nearest(name, known) {
        Some(near) => format!("Did you mean {near}?"),
        None if known.is_empty() => "This route takes no query parameters.".to_owned(),
        None => format!("This route takes {}.", known.join(", ")),
    };
    ApiFailure::Request {
        field: Some(shown),
        message: "unknown query parameter".to_owned(),
        hint: Some(hint),
    }
}

fn malformed(what: &str) -> ApiFailure {
    ApiFailure::field(what, "is not percent-encoded UTF-8")
}

/// `application/x-www-form-urlencoded` text; unlike the URL Standard's parser this one refuses
/// what it cannot read instead of replacing it.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The name closest to `wrong`, if it is close enough to be what was meant.
fn nearest<'a>(wrong: &str, names: &[&'a str]) -> Option<&'a str> {
    let scored = names.iter().map(|name| (edits(wrong, name), *name));
    let (edits, name) = scored.min()?;
    (edits <= 2.max(name.len() / 3)).then_some(name)
}

/// Levenshtein distance. Long texts are far from every name, so they are not compared.
fn edits(a: &str, b: &str) -> usize {
    if a.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
