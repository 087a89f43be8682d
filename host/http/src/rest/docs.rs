//! `/docs`: the reference of this interface for people, with samples, a search and a form that sends requests.
//!
//! Scalar, a script that `make dashboard` leaves in the build, makes it in the browser from the OpenAPI document. The
//! page loads its files from this gateway and sends requests to nobody else.

use std::borrow::Cow;

use axum::Router;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::{RestState, entity_tags};
use crate::built_page;
use toolgate_http_kit::envelope::ApiFailure;

const PAGE: &str = include_str!("docs/page.html");
const START: &str = include_str!("docs/start.js");
const STYLE: &str = include_str!("docs/style.css");

const HTML: &str = "text/html; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";

/// `'unsafe-inline'` is for styles alone: Scalar writes them into the page as it is used, so that no hash can name them
/// beforehand. No other page has it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What the page loads. The page itself is a route of the document.
pub(super) fn files() -> Router<RestState> {
    Router::new()
        .route("/docs/scalar.js", get(script))
        .route(
            "/docs/start.js",
            get(|| async { file(JAVASCRIPT, START.into()) }),
        )
        .route("/docs/style.css", get(|| async { file(CSS, STYLE.into()) }))
}

pub(super) fn page() -> Response {
    let mut page = file(HTML, PAGE.into());
    set(&mut page, header::CONTENT_SECURITY_POLICY, POLICY);
    set(&mut page, header::X_FRAME_OPTIONS, "DENY");
    set(&mut page, header::REFERRER_POLICY, "no-referrer");
    page
}

/// It is built in as gzip alone, which every browser takes.
async fn script(headers: HeaderMap) -> Response {
    let Some(script) = built_page::reference_script() else {
        return ApiFailure::UnknownRoute.into_response();
    };
    let mut answer = if entity_tags::is_current(&headers, &script.etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let body = match script.gzip {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => bytes.into(),
        };
        let mut answer = file(JAVASCRIPT, body);
        set(&mut answer, header::CONTENT_ENCODING, "gzip");
        answer
    };
    if let Ok(etag) = HeaderValue::from_str(&script.etag) {
        answer.headers_mut().insert(header::ETAG, etag);
    }
    answer
}

/// A file that changes with the version of the gateway.
fn file(media_type: &'static str, body: Bytes) -> Response {
    let mut answer = body.into_response();
    set(&mut answer, header::CONTENT_TYPE, media_type);
    set(&mut answer, header::CACHE_CONTROL, "no-cache");
    answer
}

fn set(answer: &mut Response, name: HeaderName, value: &'static str) {
    answer
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_its_own_files_and_has_no_script_in_it() {
        for part in PAGE.split('<').filter(|part| part.starts_with("script")) {
            assert!(part.starts_with("script src=\"/docs/"), "{part}");
            assert!(part.ends_with("defer>"), "{part}");
        }
        for forbidden in ["<style", " style=", " onload=", " onclick=", "://"] {
            assert!(!PAGE.contains(forbidden), "{forbidden}");
        }
        for forbidden in ["url(", "@import", "://"] {
            assert!(!STYLE.contains(forbidden), "{forbidden}");
            assert!(!START.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn the_policy_relaxes_styles_alone() {
        for directive in POLICY.split("; ") {
            let is_style = directive.starts_with("style-src ");
            assert_eq!(directive.contains("unsafe"), is_style, "{directive}");
            for forbidden in ["*", "http:", "https:", "data:", "blob:"] {
                assert!(!directive.contains(forbidden), "{directive}");
            }
        }
        let page = page();
        assert_eq!(page.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
    }

    #[tokio::test]
    async fn the_script_is_sent_once_for_each_build() {
        let built = built_page::reference_script();
        let built = built.expect("`make dashboard` has built host/dashboard/dist/reference");
        let first = script(HeaderMap::new()).await;
        assert_eq!(first.status(), StatusCode::OK);
        assert_eq!(first.headers()[header::CONTENT_ENCODING], "gzip");
        let mut known = HeaderMap::new();
        let etag = HeaderValue::from_str(&built.etag).unwrap();
        known.insert(header::IF_NONE_MATCH, etag);
        assert_eq!(script(known).await.status(), StatusCode::NOT_MODIFIED);
    }
}
