//! The process's metrics: every name, label and bucket is defined here once.
//!
//! Owns the registry that `/metrics` prints in the OpenMetrics text format 1.0. Refuses labels
//! that grow with use: no user, no key, no raw path, no tool argument. A label's value is a word
//! of this file, a route template, an HTTP status or the name of an installed service.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

/// Media type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper bounds of all duration histograms in seconds; the last is the longest execution.
const SECONDS: [f64; 14] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0,
];

/// All metrics of one process. Made once, shared, counted into from anywhere.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    http_requests: Family<HttpRequest, Counter>,
    http_duration: Family<HttpRoute, Histogram, Buckets>,
    executions: Family<Executed, Counter>,
    execution_duration: Family<ServiceLabel, Histogram, Buckets>,
    executions_running: Gauge,
    egress_requests: Family<EgressRequest, Counter>,
    plugins: Family<StateLabel, Gauge>,
    catalog_services: Gauge,
    catalog_tools: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HttpRequest {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HttpRoute {
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Executed {
    service: String,
    status: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServiceLabel {
    service: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EgressRequest {
    host_class: HostClass,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

/// What kind of host a request leaves for. The host itself would be a label without bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HostClass {
    /// A public host of the plugin's manifest.
    Provider,
    /// An address that the operator named: a service's configuration or `--allow-upstream`.
    Operator,
    /// A token or revocation endpoint.
    Token,
    Webhook,
}

impl HostClass {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Operator => "operator",
            Self::Token => "token",
            Self::Webhook => "webhook",
        }
    }
}

impl EncodeLabelValue for HostClass {
    fn encode(
        &self,
        encoder: &mut prometheus_client::encoding::LabelValueEncoder<'_>,
    ) -> Result<(), std::fmt::Error> {
        self.as_str().encode(encoder)
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
            executions: Family::default(),
            execution_duration: Family::new_with_constructor(Buckets),
            executions_running: Gauge::default(),
            egress_requests: Family::default(),
            plugins: Family::default(),
            catalog_services: Gauge::default(),
            catalog_tools: Gauge::default(),
        };
        metrics.register();
        Arc::new(metrics)
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "http_requests",
            "Answered HTTP requests by route template, method and status",
            self.http_requests.clone(),
        );
        registry.register_with_unit(
            "http_request_duration",
            "Time from a request's head to its answer's head",
            Unit::Seconds,
            self.http_duration.clone(),
        );
        registry.register(
            "executions",
            "Tool executions by service and outcome; reason is empty unless the status is error",
            self.executions.clone(),
        );
        registry.register_with_unit(
            "execution_duration",
            "Wall clock time of tool executions",
            Unit::Seconds,
            self.execution_duration.clone(),
        );
        registry.register(
            "executions_running",
            "Tool executions that run now",
            self.executions_running.clone(),
        );
        registry.register(
            "egress_requests",
            "Requests that plugins and the gateway sent or were refused, by kind of host",
            self.egress_requests.clone(),
        );
        registry.register("plugins", "Plugin files by state", self.plugins.clone());
        registry.register(
            "catalog_services",
            "Services in the serving catalog",
            self.catalog_services.clone(),
        );
        registry.register(
            "catalog_tools",
            "Tools in the serving catalog",
            self.catalog_tools.clone(),
        );
    }

    /// One answered request. `route` is the template, never the path as it came.
    pub fn http_request(&self, method: &http::Method, route: &str, status: u16, took: Duration) {
        let method = method_label(method);
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
        status: &'static str,
        reason: &'static str,
        took: Duration,
    ) {
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

    /// One outbound request that an answer came back for.
    pub fn egress_answered(&self, host_class: HostClass, status: u16) {
        let outcome = match status / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        self.count_egress(host_class, outcome);
    }

    /// One outbound request without an answer; `kind` is the failure's word: `denied`, `dns`, ...
    pub fn egress_failed(&self, host_class: HostClass, kind: &'static str) {
        self.count_egress(host_class, kind);
    }

    fn count_egress(&self, host_class: HostClass, outcome: &'static str) {
        let request = EgressRequest {
            host_class,
            outcome,
        };
        self.egress_requests.get_or_create(&request).inc();
    }

    /// How many plugin files are in each state now; states that are not named no longer show.
    pub fn set_plugins(&self, states: impl IntoIterator<Item = (&'static str, usize)>) {
        self.plugins.clear();
        for (state, count) in states {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            self.plugins.get_or_create(&StateLabel { state }).set(count);
        }
    }

    /// The size of the catalog that serves now.
    pub fn set_catalog(&self, services: usize, tools: usize) {
        for (gauge, size) in [
            (&self.catalog_services, services),
            (&self.catalog_tools, tools),
        ] {
            gauge.set(i64::try_from(size).unwrap_or(i64::MAX));
        }
    }

    /// Everything in the OpenMetrics text format, [`CONTENT_TYPE`].
    pub fn render(&self) -> String {
        let mut text = String::with_capacity(16 * 1024);
        prometheus_client::encoding::text::encode(&mut text, &self.registry)
            .expect("writing to a String cannot fail");
        text
    }
}

/// The method's name, or `other`: a client can invent methods without end.
fn method_label(method: &http::Method) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(metrics: &Metrics, line: &str) {
        let text = metrics.render();
        assert!(text.lines().any(|l| l == line), "no {line} in\n{text}");
    }

    #[test]
    fn requests_are_counted_by_template_method_and_status() {
        let metrics = Metrics::new();
        let route = "/v1/tools/{tool_name}/schema";
        for status in [200, 200, 404] {
            metrics.http_request(&http::Method::GET, route, status, Duration::from_millis(3));
        }
        for (status, count) in [(200, 2), (404, 1)] {
            check(
                &metrics,
                &format!(
                    "toolgate_http_requests_total{{method=\"GET\",route=\"{route}\",status=\"{status}\"}} {count}"
                ),
            );
        }
        check(
            &metrics,
            &format!(
                "toolgate_http_request_duration_seconds_bucket{{le=\"0.005\",method=\"GET\",route=\"{route}\"}} 3"
            ),
        );
    }

    #[test]
    fn invented_methods_share_one_label() {
        let metrics = Metrics::new();
        for name in ["BREW", "FROB"] {
            let method = http::Method::from_bytes(name.as_bytes()).unwrap();
            metrics.http_request(&method, "unmatched", 404, Duration::ZERO);
        }
        check(
            &metrics,
            r#"toolgate_http_requests_total{method="other",route="unmatched",status="404"} 2"#,
        );
    }

    #[test]
    fn an_execution_is_running_until_its_guard_is_dropped() {
        let metrics = Metrics::new();
        let running = metrics.execution_started();
        check(&metrics, "toolgate_executions_running 1");
        drop(running);
        check(&metrics, "toolgate_executions_running 0");
    }

    #[test]
    fn outcomes_and_states_show_under_their_words() {
        let metrics = Metrics::new();
        metrics.executed("github", "error", "timeout", Duration::from_secs(31));
        metrics.egress_answered(HostClass::Provider, 204);
        metrics.egress_failed(HostClass::Token, "dns");
        metrics.set_catalog(2, 31);
        metrics.set_plugins([("active", 2), ("quarantined", 1)]);
        metrics.set_plugins([("active", 3)]);
        for line in [
            r#"toolgate_executions_total{service="github",status="error",reason="timeout"} 1"#,
            r#"toolgate_execution_duration_seconds_bucket{le="30.0",service="github"} 0"#,
            r#"toolgate_egress_requests_total{host_class="provider",outcome="2xx"} 1"#,
            r#"toolgate_egress_requests_total{host_class="token",outcome="dns"} 1"#,
            "toolgate_catalog_tools 31",
            r#"toolgate_plugins{state="active"} 3"#,
        ] {
            check(&metrics, line);
        }
        assert!(!metrics.render().contains("quarantined"));
        assert!(metrics.render().contains("toolgate_build_info{version="));
        assert!(metrics.render().ends_with("# EOF\n"));
    }
}
