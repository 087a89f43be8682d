//! Entity tags that a client knows.

use http::{HeaderMap, header};

/// Whether `If-None-Match` names `etag`, by weak comparison (RFC 9110, section 13.1.2).
pub(super) fn is_current(headers: &HeaderMap, etag: &str) -> bool {
    headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|tag| tag.trim())
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn an_entity_tag_is_found_in_if_none_match() {
        for (values, current) in [
            (&["\"abc\""][..], true),
            (&["W/\"abc\""], true),
            (&["\"x\", \"abc\""], true),
            (&["\"x\"", "\"abc\""], true),
            (&["*"], true),
            (&["\"abcd\""], false),
            (&["abc"], false),
            (&[], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::IF_NONE_MATCH, HeaderValue::from_static(value));
            }
            assert_eq!(is_current(&headers, "\"abc\""), current, "{values:?}");
        }
    }
}
