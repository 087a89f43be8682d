//! The dashboard itself, as [`crate::built_page`] has it.
//!
//! The page's own addresses all answer its one HTML file; it finds its way by itself.

use std::borrow::Cow;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::built_page;

/// The page's addresses; everything below each is the page's too.
const PAGES: [&str; 24] = [
    "setup",
    "join",
    "sign-in",
    "authorize",
    "overview",
    "tools",
    "integrations",
    "connections",
    "plugins",
    "skills",
    "toolsets",
    "users",
    "permissions",
    "approvals",
    "executions",
    "sessions",
    "scripts",
    "webhooks",
    "triggers",
    "knowledge",
    "messages",
    "settings",
    "connect-clients",
    "help",
];

const INDEX: &str = "index.html";
/// Below it every name holds its content's hash.
const HASHED: &str = "assets/";

/// No script but our own files, nothing from elsewhere, no frame, no form that leaves.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
                      form-action 'self'; frame-ancestors 'none'";

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>toolgate</title>\
<h1>toolgate was built without its dashboard</h1>\
<p>Run <code>make dashboard</code> and build again, or <code>make build</code> for everything. \
The interface for programs is at <a href=\"/docs\">/docs</a>.</p></html>";

pub(super) fn router() -> Router {
    let mut router = Router::new()
        .route("/", get(page))
        .route("/assets/{*file}", get(file))
        .route("/favicon.ico", get(file))
        .route("/favicon.svg", get(file))
        .route("/site.webmanifest", get(file))
        .route("/robots.txt", get(file));
    for name in PAGES {
        router = router
            .route(&format!("/{name}"), get(page))
            .route(&format!("/{name}/{{*rest}}"), get(page));
    }
    router
}

async fn page(request: Request) -> Response {
    match sent(INDEX, request.headers()) {
        Some(answer) => answer,
        None => finished(
            StatusCode::SERVICE_UNAVAILABLE,
            INDEX,
            NOT_BUILT.as_bytes().into(),
        ),
    }
}

async fn file(request: Request) -> Response {
    let path = request.uri().path().trim_start_matches('/');
    match sent(path, request.headers()) {
        Some(answer) => answer,
        None => finished(
            StatusCode::NOT_FOUND,
            "x.txt",
            "not found".as_bytes().into(),
        ),
    }
}

/// A built file, in the smallest form that the browser takes.
fn sent(path: &str, headers: &HeaderMap) -> Option<Response> {
    let whole = built_page::file(path)?;
    let accepted = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let takes = |coding: &str| {
        accepted
            .split(',')
            .any(|one| one.split(';').next().unwrap_or_default().trim() == coding)
    };
    let packed = [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(coding, _)| takes(coding))
        .find_map(|(coding, ending)| {
            Some((coding, built_page::file(&format!("{path}.{ending}"))?))
        });
    let (coding, data) = match packed {
        Some((coding, packed)) => (Some(coding), packed),
        None => (None, whole),
    };
    let mut answer = finished(StatusCode::OK, path, data);
    let headers = answer.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(coding) = coding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    Some(answer)
}

fn finished(status: StatusCode, path: &str, data: Cow<'static, [u8]>) -> Response {
    let mut answer = Response::new(Body::from(match data {
        Cow::Borrowed(data) => bytes::Bytes::from_static(data),
        Cow::Owned(data) => data.into(),
    }));
    *answer.status_mut() = status;
    let kept = if path.starts_with(HASHED) && status == StatusCode::OK {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind(path)),
        (header::CACHE_CONTROL, kept),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "permissions-policy",
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    );
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    answer
}

/// What the build writes, by the end of the name.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_the_page_is_served() {
        let source = include_str!("../../../dashboard/src/app.tsx");
        let addresses = source.lines().filter_map(|line| {
            let path = line.trim_start().strip_prefix("['/")?;
            path.split(['/', '\'']).next()
        });
        let mut count = 0;
        for address in addresses {
            assert!(PAGES.contains(&address), "/{address} is not served");
            count += 1;
        }
        assert!(count > 30, "{count} addresses were read");
    }
}
