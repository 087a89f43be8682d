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

/// Longest wait that an answer can ask for: one day.
pub const WAIT_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// From here on a number is a moment: seconds since 1970 in 2001, milliseconds since 1970 in the same year.
const MOMENT_S_MIN: f64 = 1e9;
const MOMENT_MS_MIN: f64 = 1e12;
/// Longest number of a wait.
const NUMBER_BYTES_MAX: usize = 32;

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
    wait(headers.get(RETRY_AFTER)?.to_str().ok()?, now)
}

/// What a `Retry-After` means as servers write it: seconds, seconds with decimals, a date, and a moment in
/// seconds or milliseconds since 1970. At most [`WAIT_MAX`]; none for anything else.
pub fn wait(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(at) = httpdate::parse_http_date(value) {
        return Some(until(at, now));
    }
    let plain = !value.is_empty()
        && value.len() <= NUMBER_BYTES_MAX
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = plain.then(|| value.parse().ok()).flatten()?;
    Some(match number {
        number if number >= MOMENT_MS_MIN => until(moment(number), now),
        number if number >= MOMENT_S_MIN => until(moment(number * 1_000.0), now),
        number => Duration::try_from_secs_f64(number).map_or(WAIT_MAX, |wait| wait.min(WAIT_MAX)),
    })
}

/// When a used-up limit begins anew, where a 429 has no `Retry-After`: `RateLimit-Reset` and
/// `X-RateLimit-Reset` in any form that [`wait`] takes, `RateLimit: ...;t=30`
/// (draft-ietf-httpapi-ratelimit-headers), and milliseconds.
pub fn wait_for_limit(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    for name in [
        "x-ratelimit-reset-after",
        "ratelimit-reset",
        "x-ratelimit-reset",
        "x-rate-limit-reset",
    ] {
        if let Some(wait) = text(name).and_then(|value| wait(value, now)) {
            return Some(wait);
        }
    }
    if let Some(ms) = text("retry-after-ms").and_then(|value| value.trim().parse::<u64>().ok()) {
        return Some(Duration::from_millis(ms).min(WAIT_MAX));
    }
    let policies = text("ratelimit")?.split(',');
    policies
        .filter_map(|policy| {
            let mut parameters = policy.split(';').map(str::trim);
            parameters.find_map(|one| wait(one.strip_prefix("t=")?, now))
        })
        .max()
}

/// Seconds, with decimals where they are not whole.
pub fn in_seconds(wait: Duration) -> String {
    match wait.subsec_millis() {
        0 => wait.as_secs().to_string(),
        ms => format!("{}.{ms:03}", wait.as_secs()),
    }
}

/// So many milliseconds after 1970.
fn moment(ms: f64) -> SystemTime {
    let since = Duration::from_millis(ms as u64);
    SystemTime::UNIX_EPOCH
        .checked_add(since)
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

fn until(at: SystemTime, now: SystemTime) -> Duration {
    at.duration_since(now).unwrap_or_default().min(WAIT_MAX)
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
            (429, Some("1795904350"), Some(86_400)),
            (429, Some("4294967296"), Some(86_400)),
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

    #[test]
    fn a_wait_is_bounded_in_whatever_form_it_comes() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_904_300);
        let twenty = httpdate::fmt_http_date(now + Duration::from_secs(20));
        for (value, expected_ms) in [
            (twenty.as_str(), Some(20_000)),
            ("1.5", Some(1_500)),
            (" 0.25 ", Some(250)),
            ("120", Some(120_000)),
            ("1795904350", Some(50_000)),
            ("1795904350.5", Some(50_500)),
            ("1795904350242", Some(50_242)),
            ("1795904250", Some(0)),
            ("1895904350", Some(86_400_000)),
            ("1895904350242", Some(86_400_000)),
            ("86401", Some(86_400_000)),
            ("999999999999999999999999", Some(86_400_000)),
            ("Sat, 01 Jan 2028 00:00:00 GMT", Some(86_400_000)),
            ("", None),
            ("1e3", None),
            ("inf", None),
            ("1.2.3", None),
            ("-5", None),
        ] {
            let found = wait(value, now).map(|wait| wait.as_millis());
            assert_eq!(found, expected_ms, "{value}");
        }
        assert_eq!(in_seconds(Duration::from_millis(1_500)), "1.500");
        assert_eq!(in_seconds(Duration::from_secs(7)), "7");
    }

    #[test]
    fn a_limit_says_when_it_begins_anew() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_904_300);
        for (name, value, expected_s) in [
            ("ratelimit-reset", "30", Some(30)),
            // GitHub and Okta: the moment.
            ("x-ratelimit-reset", "1795904360", Some(60)),
            ("x-rate-limit-reset", "1795904360", Some(60)),
            ("ratelimit", r#""burst";r=0;t=7, "day";r=5;t=40"#, Some(40)),
            ("x-ratelimit-reset", "tomorrow", None),
            ("x-ratelimit-limit", "30", None),
        ] {
            let name = http::HeaderName::from_static(name);
            let headers = HeaderMap::from_iter([(name.clone(), HeaderValue::from_static(value))]);
            let found = wait_for_limit(&headers, now).map(|wait| wait.as_secs());
            assert_eq!(found, expected_s, "{name}: {value}");
        }
    }
}
