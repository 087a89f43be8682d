//! Query strings, read strictly.
//!
//! A handler takes [`QueryParameters`], asks for each parameter by name and ends with [`QueryParameters::finish`],
//! which refuses what nobody asked for. Refused too: a parameter given twice, a broken
//! percent-encoding, text that is not UTF-8, control characters, numbers outside their range.

use std::ops::RangeInclusive;

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::envelope::ApiFailure;
use super::ids;
use toolgate_core::ids::UserId;

/// No route takes nearly as many.
const PARAMETERS_MAX: usize = 32;

/// Entries of a page when the request names no `limit`.
pub const PAGE_LIMIT_DEFAULT: usize = 20;

/// Which page of a list, newest first, is wanted.
#[derive(Debug, PartialEq, Eq)]
pub struct PageQuery {
    pub limit: usize,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// A request's query parameters.
#[derive(Debug)]
pub struct QueryParameters {
    given: Vec<(String, String)>,
    known: Vec<&'static str>,
}

impl<S: Send + Sync> FromRequestParts<S> for QueryParameters {
    type Rejection = ApiFailure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiFailure> {
        Self::parse(parts.uri.query().unwrap_or(""))
    }
}

impl QueryParameters {
    pub fn parse(text: &str) -> Result<Self, ApiFailure> {
        let mut given: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name).ok_or_else(|| malformed("a parameter's name"))?;
            let value = decode(value).ok_or_else(|| malformed(&name))?;
            if given.iter().any(|(other, _)| *other == name) {
                return Err(ApiFailure::field(name, "is given twice"));
            }
            if given.len() == PARAMETERS_MAX {
                let message = format!("more than {PARAMETERS_MAX} parameters");
                return Err(ApiFailure::field(name, message));
            }
            given.push((name, value));
        }
        let known = Vec::new();
        Ok(Self { given, known })
    }

    fn take(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let at = self.given.iter().position(|(given, _)| given == name)?;
        Some(self.given.swap_remove(at).1)
    }

    /// An identifier, a filter or a cursor. Present but empty counts as absent.
    pub fn id(&mut self, name: &'static str) -> Result<Option<String>, ApiFailure> {
        let value = self.take(name).filter(|value| !value.is_empty());
        value
            .map(|value| ids::check(name, &value).map(|()| value))
            .transpose()
    }

    /// The user a request is for. Unlike other identifiers an empty one is refused: it would
    /// otherwise run as the key's default user.
    pub fn user_id(&mut self) -> Result<Option<UserId>, ApiFailure> {
        let value = self.take("user_id");
        let parse = |text: String| {
            UserId::parse(&text).map_err(|bad| ApiFailure::field("user_id", bad.to_string()))
        };
        value.map(parse).transpose()
    }

    /// Words in a natural language, at most `chars_max` characters, line breaks and tabs allowed.
    /// Blank counts as absent.
    pub fn words(
        &mut self,
        name: &'static str,
        chars_max: usize,
    ) -> Result<Option<String>, ApiFailure> {
        let Some(value) = self.take(name).filter(|value| !value.trim().is_empty()) else {
            return Ok(None);
        };
        if value.chars().count() > chars_max {
            let message = format!("is longer than {chars_max} characters");
            return Err(ApiFailure::field(name, message));
        }
        if value
            .chars()
            .any(|c| c.is_control() && !"\t\r\n".contains(c))
        {
            return Err(ApiFailure::field(
                name,
                "control characters are not allowed",
            ));
        }
        Ok(Some(value))
    }

    /// A whole number in decimal digits within `range`, or `default` if it is absent.
    pub fn number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<usize>,
        default: usize,
    ) -> Result<usize, ApiFailure> {
        let Some(value) = self.take(name) else {
            return Ok(default);
        };
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let number = value
            .parse()
            .ok()
            .filter(|number| digits && range.contains(number));
        number.ok_or_else(|| {
            let (first, last) = (range.start(), range.end());
            ApiFailure::field(
                name,
                format!("must be a whole number from {first} to {last}"),
            )
        })
    }

    /// `limit` and `cursor` of a list whose pages hold at most `limit_max` entries.
    pub fn page(&mut self, limit_max: usize) -> Result<PageQuery, ApiFailure> {
        Ok(PageQuery {
            limit: self.number("limit", 1..=limit_max, PAGE_LIMIT_DEFAULT.min(limit_max))?,
            cursor: self.id("cursor")?,
        })
    }

    /// One of a closed list of words.
    pub fn word<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&'static str, T)],
    ) -> Result<Option<T>, ApiFailure> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        match words.iter().find(|(word, _)| *word == value) {
            Some((_, meaning)) => Ok(Some(*meaning)),
            None => {
                let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                let message = format!("must be one of {}", words.join(", "));
                Err(ApiFailure::field(name, message))
            }
        }
    }

    /// Refuses every parameter that was not asked for.
    pub fn finish(self) -> Result<(), ApiFailure> {
        let Some((unknown, _)) = self.given.first() else {
            return Ok(());
        };
        let shown: String = unknown
            .chars()
            .filter(|c| !c.is_control())
            .take(64)
            .collect();
        let hint = match nearest(unknown, &self.known) {
            Some(near) => format!("Did you mean {near}?"),
            None if self.known.is_empty() => "This route takes no query parameters.".to_owned(),
            None => format!("This route takes {}.", self.known.join(", ")),
        };
        Err(ApiFailure::Request {
            field: Some(shown),
            message: "unknown query parameter".to_owned(),
            hint: Some(hint),
        })
    }
}

fn malformed(what: &str) -> ApiFailure {
    ApiFailure::field(what, "is not percent-encoded UTF-8")
}

/// `application/x-www-form-urlencoded` text; unlike the URL Standard's parser this one refuses
/// what it cannot read instead of replacing it.
fn decode(text: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(failure: ApiFailure) -> (Option<String>, String, Option<String>) {
        match failure {
            ApiFailure::Request {
                field,
                message,
                hint,
            } => (field, message, hint),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn parameters_are_decoded() {
        let mut query =
            QueryParameters::parse("query=open+issue%20%C3%A4%2B&service=&limit=007&&").unwrap();
        assert_eq!(query.words("query", 50).unwrap().unwrap(), "open issue ä+");
        assert_eq!(query.id("service").unwrap(), None);
        assert_eq!(query.number("limit", 1..=100, 20).unwrap(), 7);
        assert_eq!(query.number("schema_limit", 0..=5, 3).unwrap(), 3);
        assert!(query.finish().is_ok());
    }

    #[test]
    fn a_page_has_a_bounded_size() {
        let page = |text: &str| QueryParameters::parse(text).unwrap().page(100);
        let first = page("").unwrap();
        assert_eq!((first.limit, first.cursor), (PAGE_LIMIT_DEFAULT, None));
        let next = page("limit=100&cursor=1.a").unwrap();
        assert_eq!((next.limit, next.cursor.as_deref()), (100, Some("1.a")));
        for bad in ["limit=0", "limit=101", "limit=x", "cursor=%00"] {
            assert!(page(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn unreadable_queries_are_refused() {
        for (text, field) in [
            ("a=1&a=2", "a"),
            ("a=%", "a"),
            ("a=%4", "a"),
            ("a=%zz", "a"),
            ("a=%ff", "a"),
            ("%c3=1", "a parameter's name"),
        ] {
            let (at, ..) = refusal(QueryParameters::parse(text).unwrap_err());
            assert_eq!(at.as_deref(), Some(field), "{text}");
        }
        let many: String = (0..=PARAMETERS_MAX).map(|n| format!("p{n}=&")).collect();
        assert!(QueryParameters::parse(&many).is_err());
    }

    #[test]
    fn numbers_hold_their_range() {
        for (text, number) in [
            ("limit=1", Some(1)),
            ("limit=100", Some(100)),
            ("", Some(20)),
            ("limit=0", None),
            ("limit=101", None),
            ("limit=", None),
            ("limit=-1", None),
            ("limit=%2B5", None),
            ("limit=1.0", None),
            ("limit=99999999999999999999999", None),
        ] {
            let read = QueryParameters::parse(text)
                .unwrap()
                .number("limit", 1..=100, 20);
            match number {
                Some(number) => assert_eq!(read.unwrap(), number, "{text}"),
                None => {
                    let (field, message, _) = refusal(read.unwrap_err());
                    assert_eq!(field.as_deref(), Some("limit"), "{text}");
                    assert_eq!(message, "must be a whole number from 1 to 100");
                }
            }
        }
    }

    #[test]
    fn control_characters_are_refused() {
        let mut query = QueryParameters::parse("a=x%00&b=x%0A&c=x%00&d=x%0A").unwrap();
        assert!(query.id("a").is_err());
        assert!(query.id("b").is_err());
        assert!(query.words("c", 10).is_err());
        assert_eq!(query.words("d", 10).unwrap().as_deref(), Some("x\n"));
    }

    #[test]
    fn words_hold_their_length_in_characters() {
        let parse = |text: &str| {
            QueryParameters::parse(&format!("q={text}"))
                .unwrap()
                .words("q", 3)
        };
        assert_eq!(parse("äöü").unwrap().as_deref(), Some("äöü"));
        assert!(parse("abcd").is_err());
        assert_eq!(parse("+%20").unwrap(), None);
    }

    #[test]
    fn an_empty_user_is_refused_and_not_taken_for_the_default() {
        assert!(
            QueryParameters::parse("user_id=")
                .unwrap()
                .user_id()
                .is_err()
        );
        assert!(
            QueryParameters::parse("user_id=a%2Fb")
                .unwrap()
                .user_id()
                .is_err()
        );
        assert!(
            QueryParameters::parse("")
                .unwrap()
                .user_id()
                .unwrap()
                .is_none()
        );
        let ada = QueryParameters::parse("user_id=ada@example.com")
            .unwrap()
            .user_id();
        assert_eq!(ada.unwrap().unwrap().as_str(), "ada@example.com");
    }

    #[test]
    fn words_of_a_list_are_matched_exactly() {
        let words = [("success", 1), ("error", 2)];
        let read = |text| QueryParameters::parse(text).unwrap().word("status", &words);
        assert_eq!(read("status=error").unwrap(), Some(2));
        assert_eq!(read("").unwrap(), None);
        for other in ["status=Error", "status="] {
            let (_, message, _) = refusal(read(other).unwrap_err());
            assert_eq!(message, "must be one of success, error");
        }
    }

    #[test]
    fn an_unknown_parameter_is_named_with_the_nearest_known_one() {
        for (text, field, hint) in [
            ("schemaLimit=1", "schemaLimit", "Did you mean schema_limit?"),
            ("q=1", "q", "This route takes query, schema_limit."),
            ("que%00ry=1", "query", "Did you mean query?"),
        ] {
            let mut query = QueryParameters::parse(text).unwrap();
            query.words("query", 10).unwrap();
            query.number("schema_limit", 0..=5, 3).unwrap();
            let (at, message, said) = refusal(query.finish().unwrap_err());
            assert_eq!(at.as_deref(), Some(field));
            assert_eq!(message, "unknown query parameter");
            assert_eq!(said.as_deref(), Some(hint));
        }
        let (.., hint) = refusal(QueryParameters::parse("x=1").unwrap().finish().unwrap_err());
        assert_eq!(
            hint.as_deref(),
            Some("This route takes no query parameters.")
        );
    }
}
