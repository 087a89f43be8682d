//! Measurements of [`toolgate_gateway::metrics`] as instruments of the SDK, under the names of the semantic
//! conventions where they have one.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::metrics::{Histogram, Meter, MeterProvider as _};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::metrics::SdkMeterProvider;

use toolgate_egress::WireOutcome;
use toolgate_gateway::metrics::{GAUGES, Measurement, Metrics, SECONDS};
use toolgate_store::StoreStep;

struct Instruments {
    http: Histogram<f64>,
    mcp: Histogram<f64>,
    execution: Histogram<f64>,
    egress: Histogram<f64>,
    database: Histogram<f64>,
}

/// Sends every measurement from now on, and the gauges at each interval.
pub(super) fn watch(provider: &SdkMeterProvider, metrics: &Arc<Metrics>) {
    let scope = InstrumentationScope::builder("toolgate")
        .with_version(env!("CARGO_PKG_VERSION"))
        .build();
    let meter = provider.meter_with_scope(scope);
    let instruments = Instruments::new(&meter);
    metrics.observe(Box::new(move |measurement, took| {
        instruments.record(measurement, took);
    }));
    for name in GAUGES {
        let metrics = metrics.clone();
        // Its life is the provider's.
        let _ = meter
            .i64_observable_gauge(name)
            .with_callback(move |observer| {
                let gauges = metrics.gauges();
                for gauge in gauges.into_iter().filter(|gauge| gauge.name == name) {
                    let labels = gauge.labels.iter();
                    let labels: Vec<_> = labels
                        .map(|(key, value)| KeyValue::new(*key, *value))
                        .collect();
                    observer.observe(gauge.value, &labels);
                }
            })
            .build();
    }
}

impl Instruments {
    fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, what: &'static str| {
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(what)
                .with_boundaries(SECONDS.to_vec())
                .build()
        };
        Self {
            http: seconds("http.server.request.duration", "Answered HTTP requests"),
            mcp: seconds("mcp.server.operation.duration", "Handled MCP requests"),
            execution: seconds("gen_ai.execute_tool.duration", "Tool executions"),
            egress: seconds("http.client.request.duration", "Requests on the wire"),
            database: seconds("db.client.operation.duration", "Database operations"),
        }
    }

    fn record(&self, measurement: Measurement<'_>, took: Duration) {
        let seconds = took.as_secs_f64();
        let text = |key: &'static str, value: &str| KeyValue::new(key, value.to_owned());
        match measurement {
            Measurement::HttpRequest {
                method,
                route,
                status,
            } => self.http.record(
                seconds,
                &[
                    KeyValue::new("http.request.method", method),
                    text("http.route", route),
                    KeyValue::new("http.response.status_code", i64::from(status)),
                ],
            ),
            Measurement::McpRequest { method, error } => {
                let method = KeyValue::new("mcp.method.name", method);
                match error {
                    "" => self.mcp.record(seconds, &[method]),
                    error => self
                        .mcp
                        .record(seconds, &[method, text("error.type", error)]),
                }
            }
            Measurement::Execution {
                service,
                tool,
                status,
                reason,
            } => {
                let mut attributes = vec![
                    KeyValue::new("gen_ai.operation.name", "execute_tool"),
                    text("gen_ai.tool.name", tool),
                    text("toolgate.service", service),
                    KeyValue::new("toolgate.execution.status", status),
                ];
                if !reason.is_empty() {
                    attributes.push(KeyValue::new("error.type", reason));
                }
                self.execution.record(seconds, &attributes);
            }
            Measurement::Egress { class, outcome } => {
                let class = KeyValue::new("toolgate.egress.host_class", class.as_str());
                let outcome = match outcome {
                    WireOutcome::Answered(status) => {
                        KeyValue::new("http.response.status_code", i64::from(status))
                    }
                    WireOutcome::Failed(kind) => KeyValue::new("error.type", kind.as_str()),
                };
                self.egress.record(seconds, &[class, outcome]);
            }
            Measurement::Database { step } => {
                let step = match step {
                    StoreStep::Read => "read",
                    StoreStep::Write => "write",
                    StoreStep::Begin => "begin",
                };
                self.database
                    .record(seconds, &[KeyValue::new("db.operation.name", step)]);
            }
        }
    }
}
