//! An OpenTelemetry collector: takes OTLP over HTTP in its binary form and keeps what it got.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

/// A collector on a free loopback port; ends with the test's runtime.
pub struct OtlpCollector {
    pub address: SocketAddr,
    kept: Arc<Kept>,
}

#[derive(Default)]
struct Kept {
    taken: Mutex<TakenSignals>,
    /// How long it takes to answer.
    delay: Duration,
}

/// What has arrived so far.
#[derive(Clone, Default)]
pub struct TakenSignals {
    pub spans: Vec<TakenSpan>,
    /// Names of metrics.
    pub metrics: Vec<String>,
    /// Lines of the log, with the trace that each belongs to.
    pub lines: Vec<(String, String)>,
    /// Every request as it came.
    pub bodies: Vec<Bytes>,
    /// Of the process that sent, `key=value`.
    pub resource: Vec<String>,
}

/// A span with its ids in hexadecimal digits.
#[derive(Clone, Debug)]
pub struct TakenSpan {
    pub name: String,
    pub trace_id: String,
    pub span_id: String,
    /// Empty: it began the trace.
    pub parent_id: String,
    /// Spans of other traces that it is linked to.
    pub links: Vec<String>,
    /// `key=value`.
    pub attributes: Vec<String>,
    pub failed: bool,
}

impl TakenSpan {
    pub fn has(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|one| one == attribute)
    }
}

impl OtlpCollector {
    pub async fn start() -> Self {
        Self::slow(Duration::ZERO).await
    }

    /// One that takes its time to answer.
    pub async fn slow(delay: Duration) -> Self {
        let kept = Arc::new(Kept {
            delay,
            ..Kept::default()
        });
        let app = axum::Router::new()
            .route("/v1/traces", post(traces))
            .route("/v1/metrics", post(metrics))
            .route("/v1/logs", post(logs))
            .with_state(kept.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("bound");
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, kept }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn taken(&self) -> TakenSignals {
        self.kept.lock().clone()
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, TakenSignals> {
        self.taken
            .lock()
            .expect("no test panics while it holds this")
    }
}

async fn traces(State(kept): State<Arc<Kept>>, body: Bytes) -> StatusCode {
    let Ok(request) = ExportTraceServiceRequest::decode(body.clone()) else {
        return StatusCode::BAD_REQUEST;
    };
    tokio::time::sleep(kept.delay).await;
    let mut taken = kept.lock();
    taken.bodies.push(body);
    for of_resource in request.resource_spans {
        let resource = of_resource.resource.unwrap_or_default();
        taken.resource = attributes(&resource.attributes);
        let spans = of_resource.scope_spans.into_iter();
        let spans = spans.flat_map(|of_scope| of_scope.spans);
        taken.spans.extend(spans.map(TakenSpan::from));
    }
    StatusCode::OK
}

async fn metrics(State(kept): State<Arc<Kept>>, body: Bytes) -> StatusCode {
    let Ok(request) = ExportMetricsServiceRequest::decode(body.clone()) else {
        return StatusCode::BAD_REQUEST;
    };
    let mut taken = kept.lock();
    taken.bodies.push(body);
    let scopes = request.resource_metrics.into_iter();
    let scopes = scopes.flat_map(|of_resource| of_resource.scope_metrics);
    let metrics = scopes.flat_map(|of_scope| of_scope.metrics);
    taken.metrics.extend(metrics.map(|metric| metric.name));
    StatusCode::OK
}

async fn logs(State(kept): State<Arc<Kept>>, body: Bytes) -> StatusCode {
    let Ok(request) = ExportLogsServiceRequest::decode(body.clone()) else {
        return StatusCode::BAD_REQUEST;
    };
    let mut taken = kept.lock();
    taken.bodies.push(body);
    let scopes = request.resource_logs.into_iter();
    let scopes = scopes.flat_map(|of_resource| of_resource.scope_logs);
    for line in scopes.flat_map(|of_scope| of_scope.log_records) {
        let text = line.body.and_then(|body| body.value);
        taken.lines.push((shown(text), hex::encode(line.trace_id)));
    }
    StatusCode::OK
}

impl From<Span> for TakenSpan {
    fn from(span: Span) -> Self {
        // STATUS_CODE_ERROR
        let failed = span.status.as_ref().is_some_and(|status| status.code == 2);
        Self {
            name: span.name,
            trace_id: hex::encode(span.trace_id),
            span_id: hex::encode(span.span_id),
            parent_id: hex::encode(span.parent_span_id),
            links: span
                .links
                .iter()
                .map(|link| hex::encode(&link.span_id))
                .collect(),
            attributes: attributes(&span.attributes),
            failed,
        }
    }
}

fn attributes(all: &[KeyValue]) -> Vec<String> {
    let value = |one: &KeyValue| one.value.clone().and_then(|value| value.value);
    all.iter()
        .map(|one| format!("{}={}", one.key, shown(value(one))))
        .collect()
}

fn shown(value: Option<any_value::Value>) -> String {
    match value {
        Some(any_value::Value::StringValue(text)) => text,
        Some(any_value::Value::IntValue(number)) => number.to_string(),
        Some(any_value::Value::BoolValue(flag)) => flag.to_string(),
        other => format!("{other:?}"),
    }
}
