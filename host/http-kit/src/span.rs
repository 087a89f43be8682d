//! The span of one HTTP request, after the semantic conventions of OpenTelemetry for HTTP servers.

use http::{HeaderMap, Method};

use toolgate_core::trace::{self, Attribute, TraceContext, TraceSpan};
use toolgate_gateway::metrics::method_label;

/// Asked all the time, and nothing to look at.
const QUIET: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Begins the span of a request, below that of its client where the headers name one.
pub fn serve(headers: &HeaderMap, method: &Method, route: &str) -> TraceSpan {
    if !trace::is_on() || QUIET.contains(&route) {
        return TraceSpan::default();
    }
    let parent = TraceContext::from_headers(headers);
    let method = match method_label(method) {
        "other" => "_OTHER",
        known => known,
    };
    let mut span = TraceSpan::serve(parent.as_ref(), None, || format!("{method} {route}"));
    span.note(|span| {
        span.set(Attribute::HttpMethod, method.into());
        span.set(Attribute::HttpRoute, route.to_owned().into());
    });
    span
}

/// What the request was answered. Only failures of the gateway are failures of the span.
pub fn answered(span: &mut TraceSpan, status: u16, request_id: &str, code: Option<&'static str>) {
    span.note(|span| {
        span.set(Attribute::HttpStatus, status.into());
        span.set(Attribute::RequestId, request_id.to_owned().into());
        if status >= 500 {
            let error_type = code.map_or_else(|| status.to_string().into(), Into::into);
            span.fail(error_type);
        }
    });
}
