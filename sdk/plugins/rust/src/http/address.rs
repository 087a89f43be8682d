//! Addresses made of untrusted values.
//!
//! Each value becomes exactly one path segment: percent-encoded (RFC 3986, section 2.1), and
//! refused where it would name a parent (`.` and `..`, which URL parsers resolve even when encoded) or be
//! empty: `DELETE /books/` without an id means all books. A text that was put together at run time is
//! therefore no address; [`path!`](crate::path) makes one, [`Address::url`] takes a whole one.

use std::fmt::{self, Write};

use crate::error::ToolError;

/// A path below a client's base, or the reason why there is none.
#[derive(Clone, Debug)]
pub struct Address(pub(crate) Result<String, ToolError>);

impl From<&'static str> for Address {
    fn from(path: &'static str) -> Self {
        Self(Ok(path.to_owned()))
    }
}

impl Address {
    /// A whole `https://` address that the service gave, for example of the next page.
    pub fn url(url: impl Into<String>) -> Self {
        let url = url.into();
        if url.starts_with("https://") {
            return Self(Ok(url));
        }
        Self(Err(ToolError::internal(
            "the address does not begin with https://: make a path below the base with `path!`",
        )))
    }

    /// A path whose every value the caller has encoded and found not to be empty, where neither
    /// [`path!`](crate::path) nor [`Self::then_path`] writes it as the service wants it.
    pub fn encoded(path: impl Into<String>) -> Self {
        let path = path.into();
        if path.starts_with('/') {
            return Self(Ok(path));
        }
        Self(Err(ToolError::internal(
            "a path below the base begins with `/`",
        )))
    }

    /// Fills the `{}` of `template` with one segment each; used by [`path!`](crate::path), which
    /// compares their numbers while compiling.
    #[doc(hidden)]
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

    /// Appends a value that is itself a path, for example of a file: its slashes are kept. An empty one
    /// is refused; do not call this to mean the root.
    #[must_use]
    pub fn then_path(self, value: &str) -> Self {
        Self(self.0.and_then(|mut out| {
            if value.split('/').all(str::is_empty) {
                return Err(invalid_segment(value));
            }
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
        return Err(invalid_segment(value));
    }
    encode(value, out);
    Ok(())
}

fn invalid_segment(value: &str) -> ToolError {
    ToolError::invalid(
        "",
        format!("`{value}` cannot be part of an address: give the real name or id"),
    )
}

/// How many `{}` a template has; [`path!`](crate::path) counts them while compiling.
#[doc(hidden)]
pub const fn placeholders(template: &str) -> usize {
    let bytes = template.as_bytes();
    let (mut at, mut count) = (0, 0);
    while at + 1 < bytes.len() {
        if bytes[at] == b'{' && bytes[at + 1] == b'}' {
            count += 1;
            at += 1;
        }
        at += 1;
    }
    count
}

/// Whether a template is a path below the base or a whole address.
#[doc(hidden)]
pub const fn is_rooted(template: &str) -> bool {
    let (bytes, scheme) = (template.as_bytes(), b"https://");
    if !bytes.is_empty() && bytes[0] == b'/' {
        return true;
    }
    let mut at = 0;
    while at < scheme.len() {
        if at >= bytes.len() || bytes[at] != scheme[at] {
            return false;
        }
        at += 1;
    }
    true
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
///
/// The template begins with `/` (below the client's base) or `https://` and has as many `{}` as
/// there are values:
///
/// ```compile_fail
/// toolgate_sdk::path!("/books", 7); // would be the address of all books
/// ```
#[macro_export]
macro_rules! path {
    ($template:literal $(, $value:expr)* $(,)?) => {{
        const _: () = ::core::assert!(
            $crate::http::is_rooted($template),
            "a path begins with `/`, a whole address with `https://`"
        );
        const _: () = ::core::assert!(
            $crate::http::placeholders($template) == 0 $(+ $crate::__count_one!($value))*,
            "`path!` needs one value for each `{{}}` of its template, and one `{{}}` for each value: \
             a value without a place would be left out of the address"
        );
        $crate::http::Address::fill($template, &[$(&$value as &dyn ::core::fmt::Display),*])
    }};
}

/// One for each value of [`path!`].
#[doc(hidden)]
#[macro_export]
macro_rules! __count_one {
    ($value:expr) => {
        1
    };
}

#[cfg(test)]
mod tests {
    use super::{Address, placeholders};

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
    fn a_value_that_names_a_parent_or_is_empty_is_refused() {
        for value in ["", ".", ".."] {
            assert!(path!("/users/{}", value).0.is_err(), "{value:?}");
        }
        for value in ["a/../b", "", "/", "//"] {
            let address = path!("/files").then_path(value);
            assert!(address.0.is_err(), "{value:?}");
        }
    }

    #[test]
    fn a_text_is_an_address_only_as_a_whole_or_as_an_encoded_path() {
        assert!(Address::url("https://api.example.com/page/2").0.is_ok());
        assert!(Address::url("/page/2").0.is_err());
        assert!(Address::url("http://api.example.com").0.is_err());
        assert!(Address::encoded("/bucket/a%20b").0.is_ok());
        assert!(Address::encoded("bucket").0.is_err());
    }

    #[test]
    fn placeholders_are_counted() {
        for (template, count) in [
            ("", 0),
            ("/books", 0),
            ("/{}", 1),
            ("/a/{}/b/{}.json", 2),
            ("/{site}/{}", 1),
            ("/{}{}", 2),
            ("/{", 0),
        ] {
            assert_eq!(placeholders(template), count, "{template}");
        }
    }

    #[test]
    fn a_file_path_keeps_its_slashes() {
        let address = path!("/contents").then_path("/src/a b.rs");
        assert_eq!(address.0.expect("a plain path"), "/contents/src/a%20b.rs");
    }
}
