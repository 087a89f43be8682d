//! The one layer around every route.
//!
//! Gives each request its id, ends a panic at the request's border, makes every refusal an
//! envelope, writes one log line and counts. Logs no path, query, header, argument or body: the
//! route's template says where, the request id says which.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use http::Method;

use super::answer::write_headers;
use super::client::address_of;
use super::envelope::{self, ApiFailure};
use super::memory::{self, RequestMemory};
use super::span;
use toolgate_core::ids;
use toolgate_core::memory::MemoryBudget;
use toolgate_core::trace::TraceSpan;
use toolgate_gateway::Gateway;
use toolgate_gateway::metrics::Metrics;

/// `req_<ULID>`, made for every request. One that a client sends is ignored.
#[derive(Clone, Debug)]
pub struct RequestId(pub String);

/// The name under which requests without a route are logged and counted.
const NO_ROUTE: &str = "unmatched";

/// The status under which a request is counted whose client left before the answer. Never sent.
const CLIENT_GONE: u16 = 499;

/// Where requests are counted and bodies take their memory.
#[derive(Clone, Debug)]
pub struct LayerState {
    metrics: Arc<Metrics>,
    body_memory: Arc<MemoryBudget>,
}

impl LayerState {
    pub fn new(metrics: Arc<Metrics>, gateway: &Gateway) -> Self {
        Self {
            metrics,
            body_memory: gateway.body_memory().clone(),
        }
    }
}

pub async fn around(State(state): State<LayerState>, mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let template = route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    let mut exchange = OpenRequest {
        span: span::serve(request.headers(), request.method(), template),
        metrics: state.metrics,
        request_id: ids::ulid("req"),
        method: request.method().clone(),
        route,
        client: address_of(request.extensions()),
        started: Instant::now(),
        ended: false,
    };
    let request_id = RequestId(exchange.request_id.clone());
    request.extensions_mut().insert(request_id);
    let memory = RequestMemory::for_body(&state.body_memory, request.body());
    if let Some(memory) = &memory {
        request.extensions_mut().insert(memory.clone());
    }

    // The panic hook has already written what happened; the requester learns nothing of it.
    let answering = exchange.span.scope(next.run(request));
    let answer = AssertUnwindSafe(answering).catch_unwind().await;
    let answer = answer.unwrap_or_else(|_| ApiFailure::Panicked.into_response());
    let head = exchange.method == Method::HEAD;
    let (mut answer, failure) = envelope::finish(answer, &exchange.request_id, head);
    write_headers(answer.headers_mut(), &exchange.request_id);
    exchange.ended = true;
    exchange.record(
        answer.status().as_u16(),
        failure.as_deref().map(ApiFailure::code),
    );
    if let Some(cause) = failure.as_deref().and_then(ApiFailure::cause) {
        let request_id = exchange.request_id.as_str();
        exchange.span.within(|| {
            tracing::error!(request_id, error.chain = cause, "request failed");
        });
    }
    memory::count_answer(&mut answer, &state.body_memory);
    match memory {
        Some(memory) => memory.until_streamed(answer),
        None => answer,
    }
}

/// One request on its way. Dropped before its end, it was given up by its client.
struct OpenRequest {
    metrics: Arc<Metrics>,
    request_id: String,
    method: Method,
    route: Option<MatchedPath>,
    client: Option<IpAddr>,
    started: Instant,
    span: TraceSpan,
    ended: bool,
}

impl OpenRequest {
    fn record(&mut self, status: u16, code: Option<&'static str>) {
        let took = self.started.elapsed();
        let route = self.route.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
        self.metrics.http_request(&self.method, route, status, took);
        span::answered(&mut self.span, status, &self.request_id, code);
        self.span.within(|| {
            tracing::info!(
                http.method = self.method.as_str(),
                http.route = route,
                http.status = status,
                request_id = self.request_id,
                client.address = self.client.map(tracing::field::display),
                duration_ms = took.as_micros() as f64 / 1_000.0,
                error.code = code,
                "request"
            );
        });
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if !self.ended {
            self.record(CLIENT_GONE, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::extract::rejection::PathRejection;
    use axum::extract::{Path, Query};
    use axum::routing::{get, post};
    use http::StatusCode;
    use serde_json::Value;
    use tower::ServiceExt as _;

    use super::*;
    use crate::body::JsonBody;
    use toolgate_gateway::{Error, RateLimited, RateWindow};

    fn state(metrics: &Arc<Metrics>) -> LayerState {
        LayerState {
            metrics: metrics.clone(),
            body_memory: Arc::new(MemoryBudget::new(1 << 20)),
        }
    }

    /// Routes that fail in every way a handler or the HTTP library can.
    fn router(metrics: &Arc<Metrics>) -> Router {
        #[derive(serde::Deserialize)]
        struct Typed {
            #[allow(dead_code, reason = "only decoded")]
            n: u8,
        }
        let limited = RateLimited {
            window: RateWindow::Minute,
            limit: 100,
            retry_after_s: 12,
        };
        let refused = move || {
            let limited = limited.clone();
            async { ApiFailure::Gateway(Error::RateLimited(limited)) }
        };
        let secret =
            || async { ApiFailure::Gateway(Error::Internal(anyhow::anyhow!("/etc/secret"))) };
        let panics = || async { "x".parse::<u8>().expect("a secret").to_string() };
        Router::new()
            .route("/fine", get(|| async { "fine" }))
            .route("/limited", get(refused))
            .route("/internal", get(secret))
            .route("/panics", get(panics))
            .route("/foreign", get(|_: Query<Typed>| async {}))
            .route("/bare", get(|| async { StatusCode::IM_A_TEAPOT }))
            .route(
                "/path/{n}",
                get(|n: Result<Path<u8>, PathRejection>| async { n.map(drop) }),
            )
            .route("/body", post(|_: JsonBody<Typed>| async {}))
            .fallback(envelope::unknown_route)
            .method_not_allowed_fallback(envelope::wrong_method)
            .layer(axum::middleware::from_fn_with_state(state(metrics), around))
    }

    async fn ask(method: &str, uri: &str) -> (http::response::Parts, Vec<u8>) {
        let request = Request::builder().method(method).uri(uri);
        let request = request.body(Body::empty()).unwrap();
        let answer = router(&Metrics::new()).oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (parts, body.to_vec())
    }

    #[tokio::test]
    async fn every_refusal_is_an_envelope_wherever_it_was_made() {
        for (method, uri, status, code) in [
            ("GET", "/nowhere", 404, "not_found"),
            ("GET", "/fine/", 404, "not_found"),
            ("POST", "/fine", 405, "method_not_allowed"),
            ("BREW", "/fine", 405, "method_not_allowed"),
            ("GET", "/limited", 429, "rate_limit_exceeded"),
            ("GET", "/internal", 500, "internal_error"),
            ("GET", "/panics", 500, "internal_error"),
            ("GET", "/foreign?n=x", 400, "invalid_request"),
            ("GET", "/bare", 400, "invalid_request"),
            ("GET", "/path/300", 400, "invalid_request"),
            ("POST", "/body", 415, "unsupported_media_type"),
        ] {
            let (parts, body) = ask(method, uri).await;
            assert_eq!(parts.status, status, "{method} {uri}");
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["success"], false, "{method} {uri}");
            assert_eq!(body["error"]["code"], code, "{method} {uri}");
            assert_eq!(parts.headers["content-type"], "application/json");
            assert_eq!(
                parts.headers["x-request-id"],
                body["meta"]["request_id"].as_str().unwrap()
            );
            let text = body.to_string();
            assert!(!text.contains("secret"), "{text}");
        }
    }

    #[tokio::test]
    async fn headers_say_what_a_client_may_do_next() {
        let (wrong_method, _) = ask("DELETE", "/fine").await;
        assert_eq!(wrong_method.headers["allow"], "GET,HEAD");
        let (limited, _) = ask("GET", "/limited").await;
        assert_eq!(limited.headers["retry-after"], "12");
        assert_eq!(limited.headers["ratelimit-policy"], "\"minute\";q=100;w=60");
        assert_eq!(limited.headers["ratelimit"], "\"minute\";r=0;t=12");
    }

    #[tokio::test]
    async fn a_refusal_to_head_states_its_length_and_sends_nothing() {
        let (head, body) = ask("HEAD", "/limited").await;
        let (_, whole) = ask("GET", "/limited").await;
        assert_eq!(head.status, 429);
        assert!(body.is_empty());
        assert_eq!(
            head.headers["content-length"],
            whole.len().to_string().as_str()
        );
    }

    #[tokio::test]
    async fn an_answer_carries_an_id_and_may_not_be_stored() {
        let (parts, body) = ask("GET", "/fine").await;
        assert_eq!(body, b"fine");
        assert!(
            parts.headers["x-request-id"]
                .to_str()
                .unwrap()
                .starts_with("req_")
        );
        assert_eq!(parts.headers["cache-control"], "no-store");
        assert_eq!(parts.headers["x-content-type-options"], "nosniff");
    }

    #[tokio::test]
    async fn a_request_whose_client_left_is_counted_too() {
        let metrics = Metrics::new();
        let endless = Router::new()
            .route("/endless", get(std::future::pending::<()>))
            .layer(axum::middleware::from_fn_with_state(
                state(&metrics),
                around,
            ));
        let request = Request::builder()
            .uri("/endless")
            .body(Body::empty())
            .unwrap();
        let mut answer = Box::pin(endless.oneshot(request));
        assert!(futures_util::poll!(&mut answer).is_pending());
        drop(answer);
        let text = metrics.render();
        assert!(
            text.contains(r#"{method="GET",route="/endless",status="499"} 1"#),
            "{text}"
        );
    }

    #[tokio::test]
    async fn requests_are_counted_under_their_template() {
        let metrics = Metrics::new();
        for uri in ["/path/1", "/path/2", "/nowhere?key=tg_live_x"] {
            let request = Request::builder().uri(uri).body(Body::empty()).unwrap();
            router(&metrics).oneshot(request).await.unwrap();
        }
        let text = metrics.render();
        assert!(
            text.contains(r#"{method="GET",route="/path/{n}",status="200"} 2"#),
            "{text}"
        );
        assert!(
            text.contains(r#"{method="GET",route="unmatched",status="404"} 1"#),
            "{text}"
        );
        assert!(!text.contains("tg_live_x"));
    }
}
