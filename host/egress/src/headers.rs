//! Which headers pass, both ways.
//!
//! Pure. A request's headers are built anew from those of the plugin that may pass; nothing is
//! handed through as it came. For a plugin that has a credential slot both directions go by lists of
//! what is allowed ([`toolgate_catalog::wire`]); for one without, all pass but hop-by-hop fields
//! (RFC 9110, section 7.6.1), fields that the host writes itself and fields that carry credentials or
//! claim where a request came from. Credentials are written later, in [`super::inject`]; values are
//! scrubbed in [`super::scrub`].

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::declared::Declarations;
use toolgate_catalog::wire;

/// Fields a plugin may set on one request.
pub const HEADER_COUNT_MAX: usize = 64;
/// Names and values together, in either direction.
pub const HEADER_BYTES_MAX: usize = 32 * 1024;
/// The same for an answer, whose sender is not the plugin.
pub const ANSWER_HEADER_BYTES_MAX: usize = 64 * 1024;

/// Fields about the connection, not the message.
const HOP_BY_HOP: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "trailers",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "expect",
];

/// Fields that only the host writes on the way out.
const HOST_WRITES: [&str; 16] = [
    "host",
    "content-length",
    "accept-encoding",
    "authorization",
    "cookie",
    "cookie2",
    "set-cookie",
    "set-cookie2",
    "forwarded",
    "via",
    "x-real-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-original-url",
];

/// Fields of an answer that bear credentials or describe a body that is no longer that body.
const ANSWER_DROPS: [&str; 10] = [
    "set-cookie",
    "set-cookie2",
    "authorization",
    "cookie",
    "authentication-info",
    "x-amz-security-token",
    "content-encoding",
    "alt-svc",
    "strict-transport-security",
    "public-key-pins",
];

/// Prefixes that are refused whole, both ways.
const PREFIXES: [&str; 2] = ["proxy-", "x-forwarded-"];

/// Why a plugin's headers cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderRefusal {
    #[error("more than {HEADER_COUNT_MAX} headers")]
    TooMany,
    #[error("the headers are larger than {HEADER_BYTES_MAX} bytes")]
    TooLarge,
    #[error("a header has an invalid name")]
    Name,
    #[error("header `{0}` has an invalid value")]
    Value(HeaderName),
}

/// The headers of a request that may leave, in the order the plugin gave them.
pub fn outgoing(
    given: &[(String, String)],
    declared: &Declarations,
) -> Result<HeaderMap, HeaderRefusal> {
    if given.len() > HEADER_COUNT_MAX {
        return Err(HeaderRefusal::TooMany);
    }
    if given
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum::<usize>()
        > HEADER_BYTES_MAX
    {
        return Err(HeaderRefusal::TooLarge);
    }
    let listed = connection_listed(
        given
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    );
    let mut headers = HeaderMap::with_capacity(given.len() + 4);
    for (name, value) in given {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderRefusal::Name)?;
        let value = HeaderValue::from_str(value).map_err(|_| HeaderRefusal::Value(name.clone()))?;
        let allowed = match declared.is_open() {
            true => passes(name.as_str(), &HOST_WRITES, &listed),
            false => {
                wire::may_send(declared.manifest(), name.as_str())
                    && !listed.iter().any(|other| other == name.as_str())
            }
        };
        if allowed {
            headers.append(name, value);
        } else {
            tracing::debug!(http.header = name.as_str(), "egress.header_not_sent");
        }
    }
    Ok(headers)
}

/// The headers of an answer that the plugin may see. `content-length` stays only where there is no
/// body to measure (`HEAD`). None when they are larger than [`ANSWER_HEADER_BYTES_MAX`].
pub fn incoming(
    given: &HeaderMap,
    head: bool,
    declared: &Declarations,
) -> Option<Vec<(String, String)>> {
    let listed = connection_listed(
        given
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default())),
    );
    let mut bytes = 0;
    let mut headers = Vec::with_capacity(given.len());
    for (name, value) in given {
        if !passes(name.as_str(), &ANSWER_DROPS, &listed)
            || (name == http::header::CONTENT_LENGTH && !head)
            || !(declared.is_open() || wire::may_read(declared.manifest(), name.as_str()))
        {
            continue;
        }
        bytes += name.as_str().len() + value.len();
        headers.push((
            name.as_str().to_owned(),
            String::from_utf8_lossy(value.as_bytes()).into_owned(),
        ));
    }
    (bytes <= ANSWER_HEADER_BYTES_MAX).then_some(headers)
}

/// What a redirect that turns into a `GET` leaves behind (Fetch standard, "request-body-header name").
pub fn drop_body_headers(headers: &mut HeaderMap) {
    for name in [
        "content-type",
        "content-encoding",
        "content-language",
        "content-location",
    ] {
        headers.remove(name);
    }
}

fn passes(name: &str, dropped: &[&str], listed: &[String]) -> bool {
    !HOP_BY_HOP.contains(&name)
        && !dropped.contains(&name)
        && !PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !listed.iter().any(|other| other == name)
}

/// Fields that a `Connection` header declares hop-by-hop.
fn connection_listed<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    headers
        .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
        .flat_map(|(_, value)| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Declarations {
        Declarations::new(std::sync::Arc::new(manifest(serde_json::json!({}))))
    }

    fn manifest(more: serde_json::Value) -> toolgate_catalog::manifest::Manifest {
        let mut all = serde_json::json!({
            "manifest": 1, "service": "x", "title": "X", "version": "1.0.0", "description": "x", "tools": [],
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            all[key] = value.clone();
        }
        serde_json::from_value(all).expect("a manifest")
    }

    #[test]
    fn beside_a_credential_only_listed_and_declared_headers_pass() {
        let slot = serde_json::json!([{
            "slot": "user", "title": "User", "type": "bearer",
            "placement": {"header": "authorization"}, "audience": ["https://api.example.com"],
        }]);
        let declared = Declarations::new(std::sync::Arc::new(manifest(serde_json::json!({
            "auth": slot, "request_headers": ["x-version", "x-meta-*", "range"],
            "response_headers": ["x-cursor", "set-cookie"],
        }))));
        let given = own(&[
            ("Accept", "text/plain"),
            ("X-Version", "1"),
            ("x-meta-a", "2"),
            ("x-other", "3"),
            ("Range", "bytes=0-9"),
            ("If-Range", "x"),
            ("Accept-Charset", "utf-7"),
            ("X-HTTP-Method-Override", "DELETE"),
            ("Connection", "accept"),
            ("If-None-Match", "e"),
        ]);
        let names = |declared: &Declarations| -> Vec<String> {
            let headers = outgoing(&given, declared).expect("headers");
            headers
                .keys()
                .map(|name| name.as_str().to_owned())
                .collect()
        };
        assert_eq!(names(&declared), ["x-version", "x-meta-a", "if-none-match"]);
        assert_eq!(
            names(&Declarations::default()),
            ["if-none-match"],
            "nothing is declared"
        );
        let mut answer = HeaderMap::new();
        for name in [
            "content-type",
            "x-cursor",
            "x-echo",
            "set-cookie",
            "content-range",
            "x-ratelimit-limit",
        ] {
            answer.append(HeaderName::from_static(name), HeaderValue::from_static("v"));
        }
        let read = incoming(&answer, false, &declared).expect("small");
        let read: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(read, ["content-type", "x-cursor", "x-ratelimit-limit"]);
    }

    fn own(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn a_plugin_sets_only_what_is_its_own_to_set() {
        let given = own(&[
            ("Accept", "application/json"),
            ("X-Trace", "1"),
            ("x-trace", "2"),
            ("If-None-Match", "\"e\""),
            ("Host", "evil.test"),
            ("CONTENT-LENGTH", "0"),
            ("Authorization", "Bearer x"),
            ("Cookie", "a=b"),
            ("Proxy-Authorization", "x"),
            ("Proxy-Anything", "x"),
            ("X-Forwarded-For", "127.0.0.1"),
            ("X-Forwarded-Host", "evil.test"),
            ("Forwarded", "for=x"),
            ("X-Real-IP", "x"),
            ("Transfer-Encoding", "chunked"),
            ("TE", "trailers"),
            ("Upgrade", "h2c"),
            ("HTTP2-Settings", "x"),
            ("Expect", "100-continue"),
            ("Connection", "close, X-Mine"),
            ("X-Mine", "1"),
            ("Accept-Encoding", "gzip"),
            ("Via", "x"),
        ]);
        let headers = outgoing(&given, &open()).expect("allowed headers");
        let left: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().expect("text")))
            .collect();
        assert_eq!(
            left,
            [
                ("accept", "application/json"),
                ("x-trace", "1"),
                ("x-trace", "2"),
                ("if-none-match", "\"e\"")
            ]
        );
    }

    #[test]
    fn headers_that_could_split_a_request_are_refused() {
        for (name, value) in [
            ("x\r\nauthorization", "a"),
            ("x", "a\r\nauthorization: b"),
            ("x", "a\nb"),
            ("", "a"),
            (":path", "/"),
            ("x y", "a"),
            ("x", "a\0"),
        ] {
            assert!(
                outgoing(&own(&[(name, value)]), &open()).is_err(),
                "{name:?}: {value:?}"
            );
        }
    }

    #[test]
    fn count_and_size_are_bounded() {
        let many = |n: usize| vec![("x-a".to_owned(), "b".to_owned()); n];
        assert!(outgoing(&many(HEADER_COUNT_MAX), &open()).is_ok());
        assert_eq!(
            outgoing(&many(HEADER_COUNT_MAX + 1), &open()),
            Err(HeaderRefusal::TooMany)
        );
        let large = |n: usize| vec![("x".to_owned(), "b".repeat(n))];
        assert!(outgoing(&large(HEADER_BYTES_MAX - 1), &open()).is_ok());
        assert_eq!(
            outgoing(&large(HEADER_BYTES_MAX), &open()),
            Err(HeaderRefusal::TooLarge)
        );
        let mut answer = HeaderMap::new();
        answer.insert(
            "x",
            HeaderValue::from_str(&"b".repeat(ANSWER_HEADER_BYTES_MAX - 1)).expect("a value"),
        );
        assert!(incoming(&answer, false, &open()).is_some());
        answer.insert("y", HeaderValue::from_static("b"));
        assert!(incoming(&answer, false, &open()).is_none());
    }

    #[test]
    fn an_answer_loses_credentials_and_hop_by_hop_fields() {
        let mut answer = HeaderMap::new();
        for (name, value) in [
            ("content-type", "text/plain"),
            ("link", "<x>; rel=next"),
            ("link", "<y>; rel=last"),
            ("www-authenticate", "Bearer error=\"insufficient_scope\""),
            ("set-cookie", "a=b"),
            ("set-cookie", "c=d"),
            ("authorization", "x"),
            ("proxy-authenticate", "x"),
            ("connection", "x-hop"),
            ("x-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
            ("alt-svc", "h3"),
            ("x-forwarded-for", "10.0.0.1"),
        ] {
            answer.append(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let names = |head| {
            incoming(&answer, head, &open())
                .expect("small")
                .into_iter()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(false),
            ["content-type", "link", "link", "www-authenticate"]
        );
        assert!(names(true).contains(&"content-length".to_owned()));
    }
}
