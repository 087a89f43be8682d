//! The process's metrics: every name, label and bucket is defined here once.
//!
//! Owns the registry that `/metrics` prints in the OpenMetrics text format 1.0. Refuses labels
//! that grow with use: no user, no key, no raw path, no tool argument. What has a duration is also told
//! to an observer, which the program may set to send it elsewhere.

mod gauges;
mod labels;
mod register;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub use gauges::{GAUGES, GaugeValue};
use labels::{
    EgressRequest, Executed, HostClassLabel, HttpRequest, HttpRoute, McpRequest, MethodLabel,
    OutcomeLabel, PoolLabel, ServiceLabel, StateLabel, StepLabel, TelemetryLabel,
};
use toolgate_core::memory::MemoryUse;
use toolgate_egress::{DestinationClass, FailureKind, WireMeter, WireOutcome};
use toolgate_store::{PoolState, StoreStep};

/// Media type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of all duration histograms in seconds; the last is the longest execution.
pub const SECONDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0,
];

/// Reads gauges where they are; called before each [`Metrics::render`].
type Sampler = Box<dyn Fn(&Metrics) + Send + Sync>;

/// Something that took time, as an observer is told it.
#[derive(Clone, Copy, Debug)]
pub enum Measurement<'a> {
    HttpRequest {
        method: &'static str,
        route: &'a str,
        status: u16,
    },
    /// `error`: `tool_error`, the code of a JSON-RPC error, or empty.
    McpRequest {
        method: &'static str,
        error: &'a str,
    },
    Execution {
        service: &'a str,
        tool: &'a str,
        status: &'static str,
        reason: &'static str,
    },
    Egress {
        class: DestinationClass,
        outcome: WireOutcome,
    },
    Database {
        step: StoreStep,
    },
}

/// Told of each measurement on the thread that made it, so it never waits.
pub type MetricsObserver = Box<dyn Fn(Measurement<'_>, Duration) + Send + Sync>;

/// What is sent to a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TelemetrySignal {
    Spans,
    Logs,
}

/// The outcome of something that was to be sent to a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TelemetryOutcome {
    Sent,
    /// The queue was full.
    Dropped,
    /// The collector did not take it.
    Failed,
}

/// All metrics of one process. Made once, shared, counted into from anywhere.
pub struct Metrics {
    registry: Registry,
    http_requests: Family<HttpRequest, Counter>,
    http_duration: Family<HttpRoute, Histogram, Buckets>,
    http_connections: Gauge,
    mcp_requests: Family<McpRequest, Counter>,
    mcp_duration: Family<MethodLabel, Histogram, Buckets>,
    mcp_sessions: Gauge,
    executions: Family<Executed, Counter>,
    execution_duration: Family<ServiceLabel, Histogram, Buckets>,
    executions_running: Gauge,
    guest_memory: Gauge,
    guest_memory_max: Gauge,
    guest_memory_refused: Counter,
    body_memory: Gauge,
    body_memory_max: Gauge,
    body_memory_refused: Counter,
    egress_requests: Family<EgressRequest, Counter>,
    egress_duration: Family<HostClassLabel, Histogram, Buckets>,
    database_duration: Family<StepLabel, Histogram, Buckets>,
    database_connections: Family<PoolLabel, Gauge>,
    receipts_queued: Gauge,
    receipts_behind: Gauge,
    token_refreshes: Family<OutcomeLabel, Counter>,
    webhook_deliveries: Family<OutcomeLabel, Counter>,
    webhook_deliveries_pending: Gauge,
    plugins: Family<StateLabel, Gauge>,
    catalog_services: Gauge,
    catalog_tools: Gauge,
    telemetry: Family<TelemetryLabel, Counter>,
    log_lines_lost: Counter,
    samplers: RwLock<Vec<Sampler>>,
    observer: OnceLock<MetricsObserver>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(SECONDS)
    }
}

/// Counts one running execution until it is dropped.
#[derive(Debug)]
pub struct RunningGuard<'a>(&'a Gauge);

impl Drop for RunningGuard<'_> {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("toolgate");
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The running program", build);
        let mut metrics = Self {
            registry,
            http_requests: Family::default(),
            http_duration: Family::new_with_constructor(Buckets),
            http_connections: Gauge::default(),
            mcp_requests: Family::default(),
            mcp_duration: Family::new_with_constructor(Buckets),
            mcp_sessions: Gauge::default(),
            executions: Family::default(),
            execution_duration: Family::new_with_constructor(Buckets),
            executions_running: Gauge::default(),
            guest_memory: Gauge::default(),
            guest_memory_max: Gauge::default(),
            guest_memory_refused: Counter::default(),
            body_memory: Gauge::default(),
            body_memory_max: Gauge::default(),
            body_memory_refused: Counter::default(),
            egress_requests: Family::default(),
            egress_duration: Family::new_with_constructor(Buckets),
            database_duration: Family::new_with_constructor(Buckets),
            database_connections: Family::default(),
            receipts_queued: Gauge::default(),
            receipts_behind: Gauge::default(),
            token_refreshes: Family::default(),
            webhook_deliveries: Family::default(),
            webhook_deliveries_pending: Gauge::default(),
            plugins: Family::default(),
            catalog_services: Gauge::default(),
            catalog_tools: Gauge::default(),
            telemetry: Family::default(),
            log_lines_lost: Counter::default(),
            samplers: RwLock::default(),
            observer: OnceLock::new(),
        };
        metrics.register();
        Arc::new(metrics)
    }

    /// Tells `observer` of every measurement from now on; there is one.
    pub fn observe(&self, observer: MetricsObserver) {
        let _ = self.observer.set(observer);
    }

    /// Has gauges read before each [`Metrics::render`].
    pub fn sample(&self, sampler: impl Fn(&Self) + Send + Sync + 'static) {
        let mut samplers = self
            .samplers
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        samplers.push(Box::new(sampler));
    }

    fn measured(&self, measurement: Measurement<'_>, took: Duration) {
        if let Some(observer) = self.observer.get() {
            observer(measurement, took);
        }
    }

    /// One answered request. `route` is the template, never the path as it came.
    pub fn http_request(&self, method: &http::Method, route: &str, status: u16, took: Duration) {
        let method = method_label(method);
        let measured = Measurement::HttpRequest {
            method,
            route,
            status,
        };
        self.measured(measured, took);
        let of_route = HttpRoute {
            method,
            route: route.to_owned(),
        };
        self.http_duration
            .get_or_create(&of_route)
            .observe(took.as_secs_f64());
        let request = HttpRequest {
            method,
            route: of_route.route,
            status,
        };
        self.http_requests.get_or_create(&request).inc();
    }

    /// How many lines of the log were dropped since the start.
    pub fn set_log_lines_lost(&self, lines: u64) {
        self.log_lines_lost.inner().store(lines, Ordering::Relaxed);
    }

    pub fn set_connections(&self, open: usize) {
        set(&self.http_connections, open);
    }

    /// One handled MCP request. `error`: `tool_error`, the code of a JSON-RPC error, or empty.
    pub fn mcp_request(&self, method: &'static str, error: &str, took: Duration) {
        self.measured(Measurement::McpRequest { method, error }, took);
        self.mcp_duration
            .get_or_create(&MethodLabel { method })
            .observe(took.as_secs_f64());
        let request = McpRequest {
            method,
            error: error.to_owned(),
        };
        self.mcp_requests.get_or_create(&request).inc();
    }

    /// Sessions of MCP clients that are in memory.
    pub fn set_mcp_sessions(&self, count: usize) {
        set(&self.mcp_sessions, count);
    }

    /// Call when an execution starts; keep the guard until it has ended.
    pub fn execution_started(&self) -> RunningGuard<'_> {
        self.executions_running.inc();
        RunningGuard(&self.executions_running)
    }

    /// One ended execution. `status` and `reason` are the words of the answer; `reason` is empty
    /// unless the status is `error`.
    pub fn executed(
        &self,
        service: &str,
        tool: &str,
        status: &'static str,
        reason: &'static str,
        took: Duration,
    ) {
        let measured = Measurement::Execution {
            service,
            tool,
            status,
            reason,
        };
        self.measured(measured, took);
        let of_service = ServiceLabel {
            service: service.to_owned(),
        };
        self.execution_duration
            .get_or_create(&of_service)
            .observe(took.as_secs_f64());
        let executed = Executed {
            service: of_service.service,
            status,
            reason,
        };
        self.executions.get_or_create(&executed).inc();
    }

    /// What the guests have of their memory.
    pub fn set_guest_memory(&self, now: MemoryUse) {
        set_bytes(&self.guest_memory, now.used_bytes);
        set_bytes(&self.guest_memory_max, now.max_bytes);
        let refused = self.guest_memory_refused.inner();
        refused.store(now.refused, Ordering::Relaxed);
    }

    /// What bodies, answers of providers, files and documents have of theirs.
    pub fn set_body_memory(&self, now: MemoryUse) {
        set_bytes(&self.body_memory, now.used_bytes);
        set_bytes(&self.body_memory_max, now.max_bytes);
        let refused = self.body_memory_refused.inner();
        refused.store(now.refused, Ordering::Relaxed);
    }

    /// One step of the database.
    pub fn database(&self, step: StoreStep, took: Duration) {
        self.measured(Measurement::Database { step }, took);
        let step = match step {
            StoreStep::Read => "read",
            StoreStep::Write => "write",
            StoreStep::Begin => "begin",
        };
        self.database_duration
            .get_or_create(&StepLabel { step })
            .observe(took.as_secs_f64());
    }

    pub fn set_pools(&self, pools: impl IntoIterator<Item = PoolState>) {
        for PoolState { pool, idle, used } in pools {
            for (state, count) in [("idle", idle), ("used", used)] {
                let label = PoolLabel { pool, state };
                set(&self.database_connections.get_or_create(&label), count);
            }
        }
    }

    /// `behind`: the database does not take receipts.
    pub fn set_receipts(&self, queued: usize, behind: bool) {
        set(&self.receipts_queued, queued);
        set(&self.receipts_behind, behind.into());
    }

    /// One refresh of a token: `refreshed`, `refused` for good, or `failed` for now.
    pub fn token_refresh(&self, outcome: &'static str) {
        let label = OutcomeLabel { outcome };
        self.token_refreshes.get_or_create(&label).inc();
    }

    /// One attempt to deliver an event: `delivered`, `failed`, or `given_up`.
    pub fn webhook_delivery(&self, outcome: &'static str) {
        let label = OutcomeLabel { outcome };
        self.webhook_deliveries.get_or_create(&label).inc();
    }

    pub fn set_deliveries_pending(&self, pending: usize) {
        set(&self.webhook_deliveries_pending, pending);
    }

    /// How many plugin files are in each state now; states that are not named no longer show.
    pub fn set_plugins(&self, states: impl IntoIterator<Item = (&'static str, usize)>) {
        self.plugins.clear();
        for (state, count) in states {
            set(&self.plugins.get_or_create(&StateLabel { state }), count);
        }
    }

    /// The size of the catalog that serves now.
    pub fn set_catalog(&self, services: usize, tools: usize) {
        set(&self.catalog_services, services);
        set(&self.catalog_tools, tools);
    }

    /// The outcome of spans or log lines that were to be sent to a collector.
    pub fn telemetry(&self, signal: TelemetrySignal, outcome: TelemetryOutcome, count: usize) {
        let label = TelemetryLabel {
            signal: match signal {
                TelemetrySignal::Spans => "spans",
                TelemetrySignal::Logs => "logs",
            },
            outcome: match outcome {
                TelemetryOutcome::Sent => "sent",
                TelemetryOutcome::Dropped => "dropped",
                TelemetryOutcome::Failed => "failed",
            },
        };
        self.telemetry.get_or_create(&label).inc_by(count as u64);
    }

    fn read_samples(&self) {
        let samplers = self.samplers.read();
        for sampler in &*samplers.unwrap_or_else(PoisonError::into_inner) {
            sampler(self);
        }
    }

    /// Everything in the OpenMetrics text format, [`CONTENT_TYPE`].
    pub fn render(&self) -> String {
        self.read_samples();
        let mut text = String::with_capacity(16 * 1024);
        prometheus_client::encoding::text::encode(&mut text, &self.registry)
            .expect("writing to a String cannot fail");
        text
    }
}

impl WireMeter for Metrics {
    fn sent(&self, class: DestinationClass, outcome: WireOutcome, took: Duration) {
        self.measured(Measurement::Egress { class, outcome }, took);
        let host_class = class.as_str();
        self.egress_duration
            .get_or_create(&HostClassLabel { host_class })
            .observe(took.as_secs_f64());
        let outcome = match outcome {
            WireOutcome::Failed(kind) => kind.as_str(),
            WireOutcome::Answered(status) => match status / 100 {
                1 => "1xx",
                2 => "2xx",
                3 => "3xx",
                4 => "4xx",
                _ => "5xx",
            },
        };
        let request = EgressRequest {
            host_class,
            outcome,
        };
        self.egress_requests.get_or_create(&request).inc();
    }

    fn refused(&self, class: DestinationClass, kind: FailureKind) {
        let request = EgressRequest {
            host_class: class.as_str(),
            outcome: kind.as_str(),
        };
        self.egress_requests.get_or_create(&request).inc();
    }
}

fn set_bytes(gauge: &Gauge, bytes: u64) {
    gauge.set(i64::try_from(bytes).unwrap_or(i64::MAX));
}

fn set(gauge: &Gauge, count: usize) {
    gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
}

/// The method's name, or `other`: a client can invent methods without end.
pub fn method_label(method: &http::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
