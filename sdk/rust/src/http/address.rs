//! Addresses made of values that a stranger chose.
//!
//! Each value becomes exactly one path segment: percent-encoded (RFC 3986, section 2.1), and
//! refused where it would climb (`.` and `..`, which URL parsers fold even when encoded) or vanish.

use std::fmt::{self, Write};

use crate::error::ToolError;

/// A path below a client's base, or the reason why there is none.
#[derive(Clone, Debug)]
pub struct Address(pub(crate) Result<String, ToolError>);

impl From<&str> for Address {
    fn from(path: &str) -> Self {
        Self(Ok(path.to_owned()))
    }
}

impl From<String> for Address {
    fn from(path: String) -> Self {
        Self(Ok(path))
    }
}

impl Address {
    /// Fills the `{}` of `template` with one segment each; used by [`path!`](crate::path).
    pub fn fill(template: &str, values: &[&dyn fmt::Display]) -> Self {
        let mut out = String::with_capacity(template.len() + 32);
        let mut pieces = template.split("{}");
        out.push_str(pieces.next().unwrap_or_default());
        for (piece, value) in pieces.zip(values) {
            if let Err(error) = push_segment(&value.to_string(), &mut out) {
                return Self(Err(error));
            }
            out.push_str(piece);
        }
        Self(Ok(out))
    }

    /// Appends a value that is itself a path, for example of a file: its slashes stay.
    #[must_use]
    pub fn then_path(self, value: &str) -> Self {
        Self(self.0.and_then(|mut out| {
            for segment in value.split('/').filter(|segment| !segment.is_empty()) {
                out.push('/');
                push_segment(segment, &mut out)?;
            }
            Ok(out)
        }))
    }
}

fn push_segment(value: &str, out: &mut String) -> Result<(), ToolError> {
    if matches!(value, "" | "." | "..") {
        return Err(ToolError::invalid(
            "",
            format!("`{value}` cannot be part of an address: give the real name or id"),
        ));
    }
    encode(value, out);
    Ok(())
}

/// Percent-encodes everything but unreserved characters and `@ : , $ !`.
pub fn encode(value: &str, out: &mut String) {
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => out.push(byte as char),
            b'-' | b'.' | b'_' | b'~' | b'@' | b':' | b',' | b'$' | b'!' => out.push(byte as char),
            _ => write!(out, "%{byte:02X}").expect("writing to a string succeeds"),
        }
    }
}

/// An address whose `{}` are filled with one encoded path segment each:
/// `path!("/repos/{}/{}", args.owner, args.repo)`.
#[macro_export]
macro_rules! path {
    ($template:literal $(, $value:expr)* $(,)?) => {
        $crate::http::Address::fill($template, &[$(&$value as &dyn ::core::fmt::Display),*])
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_value_stays_one_segment() {
        for (value, expected) in [
            ("octocat", "/users/octocat/x"),
            ("a/b", "/users/a%2Fb/x"),
            ("a?b#c", "/users/a%3Fb%23c/x"),
            ("{subdomain}", "/users/%7Bsubdomain%7D/x"),
            ("grün", "/users/gr%C3%BCn/x"),
            ("%2e%2e", "/users/%252e%252e/x"),
        ] {
            assert_eq!(path!("/users/{}/x", value).0.expect(value), expected);
        }
    }

    #[test]
    fn a_value_that_climbs_or_vanishes_is_refused() {
        for value in ["", ".", ".."] {
            assert!(path!("/users/{}", value).0.is_err(), "{value:?}");
        }
        assert!(path!("/files").then_path("a/../b").0.is_err());
    }

    #[test]
    fn a_file_path_keeps_its_slashes() {
        let address = path!("/contents").then_path("/src/a b.rs");
        assert_eq!(address.0.expect("a plain path"), "/contents/src/a%20b.rs");
    }
}
