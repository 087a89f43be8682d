//! The headers of a file: which bytes are asked for, and which hash the content has.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, header};

use toolgate_http_kit::envelope::ApiFailure;

/// RFC 9530, section 3: the hash of the whole content.
pub(super) const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");

/// The bytes that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WantedRange {
    Whole,
    /// `end` is behind the last byte.
    Part {
        from: usize,
        end: usize,
    },
    Unsatisfiable,
}

/// One range of bytes (RFC 9110, section 14.1.2). Whatever is no such range is ignored, as section 14.2 allows.
pub(super) fn wanted_range(headers: &HeaderMap, size: usize) -> WantedRange {
    let asked = headers
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok());
    let conditional = headers.contains_key(header::IF_RANGE);
    let Some(range) = asked
        .filter(|_| !conditional)
        .and_then(|text| text.strip_prefix("bytes="))
    else {
        return WantedRange::Whole;
    };
    let Some((first, last)) = range.split_once('-').filter(|_| !range.contains(',')) else {
        return WantedRange::Whole;
    };
    let (from, end) = match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
        (Ok(from), Ok(last)) if from <= last => (from, last.saturating_add(1).min(size)),
        (Ok(from), Err(_)) if last.trim().is_empty() => (from, size),
        (Err(_), Ok(count)) if first.trim().is_empty() => (size.saturating_sub(count), size),
        _ => return WantedRange::Whole,
    };
    match from < end {
        true => WantedRange::Part { from, end },
        false => WantedRange::Unsatisfiable,
    }
}

/// A header's text; `None` where it is absent.
pub(super) fn text_of(
    headers: &HeaderMap,
    name: &HeaderName,
) -> Result<Option<String>, ApiFailure> {
    let Some(value) = headers.get(name) else {
        return Ok(None);
    };
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err(ApiFailure::field(name.as_str(), "must be text in UTF-8")),
    }
}

/// The SHA-256 in `Repr-Digest` or `Content-Digest`; other algorithms are not looked at.
pub(super) fn expected_hash(headers: &HeaderMap) -> Result<Option<[u8; 32]>, ApiFailure> {
    const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
    for name in [REPR_DIGEST, CONTENT_DIGEST] {
        let Some(text) = text_of(headers, &name)? else {
            continue;
        };
        let sha256 = text
            .split(',')
            .find_map(|one| one.trim().strip_prefix("sha-256="));
        let Some(value) = sha256 else {
            continue;
        };
        let encoded = value
            .strip_prefix(':')
            .and_then(|rest| rest.strip_suffix(':'));
        let hash = encoded.and_then(|text| STANDARD.decode(text).ok());
        let hash = hash.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        return hash.map(Some).ok_or_else(|| {
            ApiFailure::field(name.as_str(), "must be sha-256=:<base64 of the hash>:")
        });
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn range(text: &str) -> WantedRange {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, HeaderValue::try_from(text).unwrap());
        wanted_range(&headers, 10)
    }

    #[test]
    fn one_range_of_bytes_is_served_and_what_is_none_is_ignored() {
        let part = |from, end| WantedRange::Part { from, end };
        for (text, expected) in [
            ("bytes=0-0", part(0, 1)),
            ("bytes=2-", part(2, 10)),
            ("bytes=2-4", part(2, 5)),
            ("bytes=2-400", part(2, 10)),
            ("bytes=-3", part(7, 10)),
            ("bytes=-300", part(0, 10)),
            ("bytes=10-", WantedRange::Unsatisfiable),
            ("bytes=-0", WantedRange::Unsatisfiable),
            ("bytes=4-2", WantedRange::Whole),
            ("bytes=0-1,3-4", WantedRange::Whole),
            ("bytes=x-", WantedRange::Whole),
            ("items=0-1", WantedRange::Whole),
        ] {
            assert_eq!(range(text), expected, "{text}");
        }
        assert_eq!(wanted_range(&HeaderMap::new(), 10), WantedRange::Whole);
    }

    #[test]
    fn a_digest_is_read_as_rfc_9530_has_it() {
        let of = |name: &'static str, text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, HeaderValue::try_from(text).unwrap());
            expected_hash(&headers)
        };
        let sha256 = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:";
        for (name, text) in [
            ("repr-digest", sha256.to_owned()),
            ("content-digest", format!("sha-512=:AA==:, {sha256}")),
        ] {
            let hash = of(name, &text).unwrap().unwrap();
            assert!(hex::encode(hash).starts_with("2cf24dba"), "{text}");
        }
        assert!(of("repr-digest", "sha-512=:AA==:").unwrap().is_none());
        for wrong in ["sha-256=abc", "sha-256=:AA==:", "sha-256=:%:"] {
            assert!(of("repr-digest", wrong).is_err(), "{wrong}");
        }
    }
}
