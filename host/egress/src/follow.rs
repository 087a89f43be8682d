//! What comes after an answer: another hop, a wait and a repeat, or nothing.
//!
//! Pure. Redirects are only read here; where they lead is decided in [`super::policy`] again.

use std::time::{Duration, SystemTime};

use http::header::{HeaderMap, LOCATION, RETRY_AFTER};
use http::{Method, StatusCode};
use url::Url;

/// Redirects that one request follows.
pub const REDIRECTS_MAX: usize = 3;
/// Repeats after 429 and 503, beyond the first attempt.
pub const RETRIES_MAX: usize = 2;

/// One redirect, not yet decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    pub location: Url,
    pub method: Method,
    /// Whether method and body stay (307, 308, and 301 or 302 to anything but a POST).
    pub keeps_body: bool,
}

/// The redirect that an answer asks for (RFC 9110, section 15.4). None: the answer is final.
pub fn redirect(status: u16, headers: &HeaderMap, from: &Url, method: &Method) -> Option<Redirect> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = from.join(headers.get(LOCATION)?.to_str().ok()?).ok()?;
    let becomes_get = match status {
        303 => *method != Method::HEAD,
        301 | 302 => *method == Method::POST,
        _ => false,
    };
    Some(Redirect {
        location,
        method: if becomes_get {
            Method::GET
        } else {
            method.clone()
        },
        keeps_body: !becomes_get && status != 303,
    })
}

/// Whether sending a request twice does no harm (RFC 9110, section 9.2.2), or the plugin vouches for
/// it with an idempotency key.
pub fn may_repeat(method: &Method, idempotency_key: bool) -> bool {
    idempotency_key
        || matches!(
            *method,
            Method::GET | Method::HEAD | Method::PUT | Method::DELETE | Method::OPTIONS
        )
}

/// How long to wait before a repeat: what `Retry-After` says (RFC 9110, section 10.2.3) after 429 or
/// 503. None: the answer is final.
pub fn retry_after(status: u16, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if status != StatusCode::TOO_MANY_REQUESTS && status != StatusCode::SERVICE_UNAVAILABLE {
        return None;
    }
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn redirects_keep_or_change_the_method() {
        let from = Url::parse("https://api.example.com/a/b").expect("a URL");
        for (status, method, location, expected) in [
            (
                301,
                "POST",
                "/x",
                Some(("https://api.example.com/x", "GET", false)),
            ),
            (
                302,
                "POST",
                "c",
                Some(("https://api.example.com/a/c", "GET", false)),
            ),
            (
                303,
                "PUT",
                "/x",
                Some(("https://api.example.com/x", "GET", false)),
            ),
            (
                303,
                "HEAD",
                "/x",
                Some(("https://api.example.com/x", "HEAD", false)),
            ),
            (
                301,
                "GET",
                "//evil.test/x",
                Some(("https://evil.test/x", "GET", true)),
            ),
            (
                302,
                "DELETE",
                "/x",
                Some(("https://api.example.com/x", "DELETE", true)),
            ),
            (
                307,
                "POST",
                "http://10.0.0.1/",
                Some(("http://10.0.0.1/", "POST", true)),
            ),
            (
                308,
                "POST",
                "/x",
                Some(("https://api.example.com/x", "POST", true)),
            ),
            (300, "GET", "/x", None),
            (304, "GET", "/x", None),
            (200, "GET", "/x", None),
            (302, "GET", "https://[bad", None),
        ] {
            let method: Method = method.parse().expect("a method");
            let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_static(location))]);
            let expected = expected.map(|(url, method, keeps_body): (&str, &str, bool)| Redirect {
                location: Url::parse(url).expect("a URL"),
                method: method.parse().expect("a method"),
                keeps_body,
            });
            assert_eq!(
                redirect(status, &headers, &from, &method),
                expected,
                "{status} {method} {location}"
            );
        }
        assert_eq!(redirect(302, &HeaderMap::new(), &from, &Method::GET), None);
    }

    #[test]
    fn only_harmless_requests_are_repeated() {
        for (method, key, expected) in [
            ("GET", false, true),
            ("HEAD", false, true),
            ("PUT", false, true),
            ("DELETE", false, true),
            ("POST", false, false),
            ("PATCH", false, false),
            ("POST", true, true),
            ("PATCH", true, true),
        ] {
            assert_eq!(
                may_repeat(&method.parse().expect("a method"), key),
                expected,
                "{method} {key}"
            );
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").expect("a date");
        for (status, value, expected) in [
            (429, Some("0"), Some(0)),
            (503, Some("7"), Some(7)),
            (503, Some("Sun, 06 Nov 1994 08:49:40 GMT"), Some(3)),
            (503, Some("Sun, 06 Nov 1994 08:49:00 GMT"), Some(0)),
            (429, Some("-1"), None),
            (429, Some("soon"), None),
            (429, None, None),
            (500, Some("1"), None),
            (200, Some("1"), None),
        ] {
            let headers: HeaderMap = value
                .into_iter()
                .map(|value| (RETRY_AFTER, HeaderValue::from_static(value)))
                .collect();
            assert_eq!(
                retry_after(status, &headers, now),
                expected.map(Duration::from_secs),
                "{status} {value:?}"
            );
        }
    }
}
