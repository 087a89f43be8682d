//! OpenTelemetry: traces, metrics and logs for the collector of the operator, by OTLP over HTTP.
//!
//! The one place of the program that knows OpenTelemetry. Other crates begin spans of
//! [`toolgate_core::trace`], count in [`toolgate_gateway::metrics`] and log with `tracing`; this module
//! takes all three. Without a collector nothing of it runs.
//!
//! Everything that waits for the collector waits in a queue of a bounded length on a thread of its own
//! ([`queue`]): a call is never held up, and what does not fit is dropped and counted.
//!
//! Variables of the OpenTelemetry specification (`OTEL_...`) are read by its SDK: sampler, limits,
//! resource, headers, intervals. The address may also be a setting of the gateway.

mod client;
mod logs;
mod measures;
mod queue;
mod spans;

pub(crate) use logs::lines;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::Context as _;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{
    LogExporter, MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::sync::oneshot;
use tokio::time::timeout;

use client::CollectorClient;
use toolgate_core::ids;
use toolgate_gateway::metrics::{Metrics, TelemetryOutcome, TelemetrySignal};

/// How long the end of the process waits for the collector.
const LAST_EXPORT: Duration = Duration::from_secs(3);

/// What is sent to the collector of this process.
pub(crate) struct Telemetry {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    logs: Option<SdkLoggerProvider>,
    tally: Tally,
}

/// Where sent and dropped items are counted, once the gateway is open.
#[derive(Clone, Debug, Default)]
struct Tally(Arc<OnceLock<Arc<Metrics>>>);

impl Tally {
    fn count(&self, signal: TelemetrySignal, outcome: TelemetryOutcome, count: usize) {
        if let Some(metrics) = self.0.get() {
            metrics.telemetry(signal, outcome, count);
        }
    }
}

impl Telemetry {
    /// Prepares exporters where there is a collector. `endpoint`: the setting, the base of the three
    /// addresses. Must be called in a tokio runtime, which sends.
    pub(crate) fn open(endpoint: Option<&str>) -> anyhow::Result<Option<Self>> {
        if variable("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let wanted = |signal: &str| {
            let address = format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT");
            let exporter = variable(&format!("OTEL_{signal}_EXPORTER"));
            let off = exporter.is_some_and(|name| name.eq_ignore_ascii_case("none"));
            let addressed = endpoint.is_some()
                || variable("OTEL_EXPORTER_OTLP_ENDPOINT").is_some()
                || variable(&address).is_some();
            addressed && !off
        };
        let [traces, metrics, logs] = ["TRACES", "METRICS", "LOGS"].map(wanted);
        if !traces && !metrics && !logs {
            return Ok(None);
        }
        let client = CollectorClient::open().context("the client of the collector")?;
        let resource = resource();
        let tally = Tally::default();
        let path = |path: &str| endpoint.map(|base| format!("{base}/v1/{path}"));
        Ok(Some(Self {
            traces: traces
                .then(|| {
                    let exporter = SpanExporter::builder()
                        .with_http()
                        .with_http_client(client.clone())
                        .with_protocol(Protocol::HttpBinary);
                    let exporter = at(exporter, path("traces")).build()?;
                    let queue = queue::SpanQueue::new(exporter, tally.clone());
                    let provider = SdkTracerProvider::builder()
                        .with_resource(resource.clone())
                        .with_span_processor(queue);
                    anyhow::Ok(provider.build())
                })
                .transpose()
                .context("traces cannot be sent to the collector")?,
            metrics: metrics
                .then(|| {
                    let exporter = MetricExporter::builder()
                        .with_http()
                        .with_http_client(client.clone())
                        .with_protocol(Protocol::HttpBinary);
                    let exporter = at(exporter, path("metrics")).build()?;
                    let provider = SdkMeterProvider::builder()
                        .with_resource(resource.clone())
                        .with_periodic_exporter(exporter);
                    anyhow::Ok(provider.build())
                })
                .transpose()
                .context("metrics cannot be sent to the collector")?,
            logs: logs
                .then(|| {
                    let exporter = LogExporter::builder()
                        .with_http()
                        .with_http_client(client)
                        .with_protocol(Protocol::HttpBinary);
                    let exporter = at(exporter, path("logs")).build()?;
                    let provider = SdkLoggerProvider::builder()
                        .with_resource(resource)
                        .with_log_processor(logs::TraceOfLine)
                        .with_log_processor(queue::LogQueue::new(exporter, tally.clone()));
                    anyhow::Ok(provider.build())
                })
                .transpose()
                .context("log lines cannot be sent to the collector")?,
            tally,
        }))
    }

    /// Takes spans from now on.
    pub(crate) fn record_spans(&self) {
        if let Some(provider) = &self.traces {
            let scope = opentelemetry::InstrumentationScope::builder("toolgate")
                .with_version(env!("CARGO_PKG_VERSION"))
                .build();
            let recorder = spans::SpanRecorder::new(provider.tracer_with_scope(scope));
            toolgate_core::trace::install(Box::new(recorder));
        }
    }

    /// Where lines of the log go, if they are sent.
    pub(crate) fn logs(&self) -> Option<&SdkLoggerProvider> {
        self.logs.as_ref()
    }

    /// Takes the measurements of an opened gateway.
    pub(crate) fn watch(&self, metrics: &Arc<Metrics>) {
        let _ = self.tally.0.set(metrics.clone());
        if let Some(provider) = &self.metrics {
            measures::watch(provider, metrics);
        }
    }

    /// Sends what is left, for at most [`LAST_EXPORT`] all together.
    pub(crate) async fn close(self) {
        let Self {
            traces,
            metrics,
            logs,
            ..
        } = self;
        let traces =
            traces.map(|traces| in_background(move || traces.shutdown_with_timeout(LAST_EXPORT)));
        let metrics = metrics
            .map(|metrics| in_background(move || metrics.shutdown_with_timeout(LAST_EXPORT)));
        let logs = logs.map(|logs| in_background(move || logs.shutdown_with_timeout(LAST_EXPORT)));
        let all = async {
            let mut failed = None;
            for ended in [traces, metrics, logs].into_iter().flatten() {
                // A thread that could not be started sends nothing.
                failed = failed.or(ended.await.ok().and_then(Result::err));
            }
            failed
        };
        match timeout(LAST_EXPORT, all).await {
            Ok(None) => {}
            Ok(Some(cause)) => tracing::warn!(error = %cause, "telemetry.not_all_sent"),
            Err(_elapsed) => {
                tracing::warn!("telemetry.not_all_sent: the collector does not answer")
            }
        }
    }
}

/// Runs what may block on a thread that the end of the process does not wait for.
fn in_background(
    shutdown: impl FnOnce() -> OTelSdkResult + Send + 'static,
) -> oneshot::Receiver<OTelSdkResult> {
    let (ended, end) = oneshot::channel();
    let started = std::thread::Builder::new().spawn(move || {
        let _ = ended.send(shutdown());
    });
    drop(started);
    end
}

/// A variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

fn at<E: WithExportConfig>(exporter: E, address: Option<String>) -> E {
    match address {
        Some(address) => exporter.with_endpoint(address),
        None => exporter,
    }
}

/// What the process is, as the variables say, and otherwise as the program knows.
fn resource() -> Resource {
    let detected = Resource::builder();
    let named = variable("OTEL_SERVICE_NAME").is_some()
        || variable("OTEL_RESOURCE_ATTRIBUTES")
            .is_some_and(|attributes| attributes.contains("service.name="));
    let instance = variable("OTEL_RESOURCE_ATTRIBUTES")
        .is_some_and(|attributes| attributes.contains("service.instance.id="));
    let mut known = vec![KeyValue::new("service.version", env!("CARGO_PKG_VERSION"))];
    if !named {
        known.push(KeyValue::new("service.name", "toolgate"));
    }
    if !instance {
        known.push(KeyValue::new("service.instance.id", ids::ulid("gw")));
    }
    detected.with_attributes(known).build()
}
