//! Web pages that may call: which origins, and what their browsers have to be told (Fetch standard,
//! section 3.2).
//!
//! The transport refuses requests of other origins. This says to browsers what it will do, on every
//! answer, because a page cannot read even a refusal without it. No cookie counts here, so no
//! credentials are allowed for.

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use url::Url;

/// What a page may send.
const METHODS: &str = "GET, POST, DELETE";
const HEADERS: &str = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, \
    Mcp-Method, Mcp-Name, Last-Event-ID";
/// What a page may read beside what every page may.
const EXPOSED: &str = "Mcp-Session-Id, WWW-Authenticate, X-Request-Id, Retry-After, RateLimit, \
    RateLimit-Policy";
/// How long a browser may remember it, in seconds.
const MAX_AGE_S: &str = "600";

/// The origins of pages that may call.
#[derive(Clone, Debug)]
pub(crate) struct Origins(Vec<Allowed>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Allowed {
    scheme: String,
    host: String,
    /// `None`: any.
    port: Option<u16>,
}

impl Origins {
    /// `scheme://host:port`, `*` for any port. What cannot be read allows nothing.
    pub(crate) fn new(allowed: &[String]) -> Self {
        let read = allowed.iter().filter_map(|text| {
            let (text, any) = match text.strip_suffix(":*") {
                Some(base) => (base, true),
                None => (text.as_str(), false),
            };
            let (scheme, host, port) = parts(text)?;
            let port = (!any).then_some(port);
            Some(Allowed { scheme, host, port })
        });
        Self(read.collect())
    }

    /// The request's origin, if pages of it may call.
    pub(crate) fn check<'a>(&self, headers: &'a HeaderMap) -> RequestOrigin<'a> {
        let mut values = headers.get_all(header::ORIGIN).iter();
        let Some(value) = values.next() else {
            return RequestOrigin::None;
        };
        let text = value.to_str().unwrap_or_default();
        let allowed = values.next().is_none()
            && parts(text).is_some_and(|(scheme, host, port)| {
                self.0.iter().any(|allowed| {
                    allowed.scheme == scheme
                        && allowed.host == host
                        && allowed.port.is_none_or(|allowed| allowed == port)
                })
            });
        if allowed {
            RequestOrigin::Allowed(value)
        } else {
            RequestOrigin::Refused
        }
    }
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestOrigin<'a> {
    /// From no page.
    None,
    Allowed(&'a HeaderValue),
    Refused,
}

/// Scheme, host and port of an origin (RFC 6454, section 6.2).
fn parts(text: &str) -> Option<(String, String, u16)> {
    let url = Url::parse(text).ok()?;
    let bare = matches!(url.path(), "" | "/")
        && !text.ends_with('/')
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    let host = url.host_str()?.to_owned();
    bare.then(|| Some((url.scheme().to_owned(), host, url.port_or_known_default()?)))?
}

/// Whether a browser asks what it may send. Such a request carries no key.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to a preflight of an allowed origin; [`share`] adds whose.
pub(crate) fn preflight() -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_S),
    ] {
        answer
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Lets pages of `origin` read the answer. Caches are told that it depends on who asks.
pub(crate) fn share(headers: &mut HeaderMap, origin: Option<HeaderValue>) {
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(EXPOSE, HeaderValue::from_static(EXPOSED));
    }
}

const EXPOSE: HeaderName = header::ACCESS_CONTROL_EXPOSE_HEADERS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_compared_whole() {
        let allowed = [
            "https://app.example:443",
            "http://localhost:*",
            "http://[::1]:*",
        ];
        let origins = Origins::new(&allowed.map(String::from));
        for (text, is_allowed) in [
            ("https://app.example", true),
            ("https://app.example:443", true),
            ("https://app.example:444", false),
            ("http://app.example", false),
            ("https://app.example.evil.test", false),
            ("https://evil.test/https://app.example", false),
            ("https://app.example/", false),
            ("https://user@app.example", false),
            ("http://localhost", true),
            ("http://localhost:5173", true),
            ("https://localhost:5173", false),
            ("http://[::1]:3000", true),
            ("null", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, text.parse().expect("a value"));
            let found = matches!(origins.check(&headers), RequestOrigin::Allowed(_));
            assert_eq!(found, is_allowed, "{text}");
            headers.append(header::ORIGIN, text.parse().expect("a value"));
            assert!(
                matches!(origins.check(&headers), RequestOrigin::Refused),
                "{text} twice"
            );
        }
        assert!(matches!(
            origins.check(&HeaderMap::new()),
            RequestOrigin::None
        ));
    }
}
