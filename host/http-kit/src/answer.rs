//! The headers of every answer.

use http::{HeaderMap, HeaderName, HeaderValue, header};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What every answer carries.
pub fn write_headers(headers: &mut HeaderMap, request_id: &str) {
    if let Ok(id) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}
