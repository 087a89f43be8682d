//! Types of query parameters: each checks its text and describes itself in the OpenAPI document.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{RefOr, schema};
use utoipa::{PartialSchema, ToSchema};

use super::super::ids;
use toolgate_core::clock::parse_rfc3339;
use toolgate_core::ids::UserId;

/// Entries of a page when the request names no `limit`.
pub const PAGE_LIMIT_DEFAULT: usize = 20;

/// How many entries a page holds.
pub type PageLimit<const MAX: usize> = Number<1, MAX, PAGE_LIMIT_DEFAULT>;

/// A whole number in decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<const MIN: usize, const MAX: usize, const DEFAULT: usize>(pub usize);

impl<const MIN: usize, const MAX: usize, const DEFAULT: usize> Default
    for Number<MIN, MAX, DEFAULT>
{
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl<'de, const MIN: usize, const MAX: usize, const DEFAULT: usize> Deserialize<'de>
    for Number<MIN, MAX, DEFAULT>
{
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok();
        let number = number.filter(|number| digits && (MIN..=MAX).contains(number));
        number
            .map(Self)
            .ok_or_else(|| D::Error::custom(format!("must be a whole number from {MIN} to {MAX}")))
    }
}

/// The description of a number leaves its default out: the document adds it from here.
impl<const MIN: usize, const MAX: usize, const DEFAULT: usize> PartialSchema
    for Number<MIN, MAX, DEFAULT>
{
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(MIN))
            .maximum(Some(MAX))
            .default(Some(DEFAULT.into()))
            .into()
    }
}

impl<const MIN: usize, const MAX: usize, const DEFAULT: usize> ToSchema
    for Number<MIN, MAX, DEFAULT>
{
}

/// An identifier, a filter or a cursor. Present but empty counts as absent; where that is no
/// choice (`REQUIRED`) the route says what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Id<const REQUIRED: bool = false>(pub Option<String>);

impl<'de, const REQUIRED: bool> Deserialize<'de> for Id<REQUIRED> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        if text.is_empty() {
            return Ok(Self(None));
        }
        ids::fault(&text).map_or(Ok(Self(Some(text))), |fault| Err(D::Error::custom(fault)))
    }
}

impl<const REQUIRED: bool> PartialSchema for Id<REQUIRED> {
    fn schema() -> RefOr<Schema> {
        text(REQUIRED, ids::ID_CHARS_MAX, ids::PATTERN).into()
    }
}

impl<const REQUIRED: bool> ToSchema for Id<REQUIRED> {}

/// A moment in milliseconds since the Unix epoch, written as RFC 3339 with any offset. Present but
/// empty counts as absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment(pub Option<i64>);

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let Some(text) = Id::<false>::deserialize(input)?.0 else {
            return Ok(Self(None));
        };
        let written = "is not a time with an offset, for example 2026-11-20T09:30:00.125Z";
        // The plus of an offset that was not percent-encoded arrives as a space.
        let with_plus = || {
            let (time, offset) = text.rsplit_once(' ')?;
            parse_rfc3339(&format!("{time}+{offset}"))
        };
        let moment = parse_rfc3339(&text).or_else(with_plus);
        let moment = moment.ok_or_else(|| D::Error::custom(written))?;
        Ok(Self(Some(moment)))
    }
}

/// Words in a natural language, line breaks and tabs allowed. Blank counts as absent; where that
/// is not a choice (`REQUIRED`) the route says what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase<const CHARS_MAX: usize, const REQUIRED: bool = false>(pub Option<String>);

impl<'de, const CHARS_MAX: usize, const REQUIRED: bool> Deserialize<'de>
    for Phrase<CHARS_MAX, REQUIRED>
{
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        if text.trim().is_empty() {
            return Ok(Self(None));
        }
        if text.chars().count() > CHARS_MAX {
            let message = format!("is longer than {CHARS_MAX} characters");
            return Err(D::Error::custom(message));
        }
        let control = |c: char| c.is_control() && !"\t\r\n".contains(c);
        if text.chars().any(control) {
            return Err(D::Error::custom(ids::CONTROL_CHARACTERS));
        }
        Ok(Self(Some(text)))
    }
}

impl<const CHARS_MAX: usize, const REQUIRED: bool> PartialSchema for Phrase<CHARS_MAX, REQUIRED> {
    fn schema() -> RefOr<Schema> {
        let pattern = if REQUIRED {
            r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
        } else {
            r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"
        };
        text(REQUIRED, CHARS_MAX, pattern).into()
    }
}

impl<const CHARS_MAX: usize, const REQUIRED: bool> ToSchema for Phrase<CHARS_MAX, REQUIRED> {}

/// The user a request is for. Unlike other identifiers an empty one is refused: it would otherwise
/// run as the key's default user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForUser(pub Option<UserId>);

impl<'de> Deserialize<'de> for ForUser {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        UserId::deserialize(input).map(Some).map(Self)
    }
}

impl PartialSchema for ForUser {
    fn schema() -> RefOr<Schema> {
        text(true, UserId::LENGTH_MAX, "^[A-Za-z0-9._:@-]+$").into()
    }
}

impl ToSchema for ForUser {}

/// A text that matches `pattern`.
fn text(needs_content: bool, chars_max: usize, pattern: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(schema::SchemaType::Type(Type::String))
        .min_length(needs_content.then_some(1))
        .max_length(Some(chars_max))
        .pattern(Some(pattern))
}

/// One of a closed list of words that is a table and no serde enum.
pub fn word<'de, D: Deserializer<'de>, T: Copy>(
    input: D,
    words: &[(&'static str, T)],
) -> Result<T, D::Error> {
    let text = String::deserialize(input)?;
    let word = words.iter().find(|(word, _)| *word == text);
    word.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        D::Error::custom(must_be_one_of(&words))
    })
}

pub(super) fn must_be_one_of(words: &[&str]) -> String {
    format!("must be one of {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error as ValueError, StrDeserializer};

    #[test]
    fn a_moment_is_what_other_languages_print() {
        let read = |text: &'static str| {
            let text: StrDeserializer<'_, ValueError> = text.into_deserializer();
            Moment::deserialize(text).map(|moment| moment.0)
        };
        let at = Some(1_763_631_000_125);
        for (text, expected) in [
            ("2025-11-20T09:30:00.125Z", Ok(at)),
            // Python's isoformat(), as it is and with its plus as a query has it.
            ("2025-11-20T09:30:00.125000+00:00", Ok(at)),
            ("2025-11-20T09:30:00.125000 00:00", Ok(at)),
            ("2025-11-20T10:30:00.125 01:00", Ok(at)),
            ("2025-11-20 09:30:00.125+00:00", Ok(at)),
            ("", Ok(None)),
            ("2025-11-20T09:30:00", Err(())),
            ("2025-11-20", Err(())),
            ("yesterday", Err(())),
        ] {
            assert_eq!(read(text).map_err(|_| ()), expected, "{text}");
        }
    }
}
