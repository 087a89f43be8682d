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
    metrics.executed(
        "github",
        "github_get_user",
        "error",
        "timeout",
        Duration::from_secs(31),
    );
    let instant = Duration::ZERO;
    metrics.sent(
        DestinationClass::Provider,
        WireOutcome::Answered(204),
        instant,
    );
    let no_name = WireOutcome::Failed(FailureKind::Dns);
    metrics.sent(DestinationClass::Token, no_name, instant);
    metrics.refused(DestinationClass::Provider, FailureKind::LeakBlocked);
    metrics.mcp_request("tools/call", "tool_error", instant);
    metrics.database(StoreStep::Begin, instant);
    metrics.telemetry(TelemetrySignal::Spans, TelemetryOutcome::Dropped, 3);
    metrics.sample(|metrics| metrics.set_connections(7));
    metrics.set_catalog(2, 31);
    metrics.set_log_lines_lost(5);
    metrics.set_plugins([("active", 2), ("quarantined", 1)]);
    metrics.set_plugins([("active", 3)]);
    for line in [
        r#"toolgate_executions_total{service="github",status="error",reason="timeout"} 1"#,
        r#"toolgate_execution_duration_seconds_bucket{le="30.0",service="github"} 0"#,
        r#"toolgate_egress_requests_total{host_class="provider",outcome="2xx"} 1"#,
        r#"toolgate_egress_requests_total{host_class="token",outcome="dns"} 1"#,
        r#"toolgate_egress_requests_total{host_class="provider",outcome="leak_blocked"} 1"#,
        r#"toolgate_mcp_requests_total{method="tools/call",error="tool_error"} 1"#,
        r#"toolgate_database_duration_seconds_count{step="begin"} 1"#,
        r#"toolgate_telemetry_total{signal="spans",outcome="dropped"} 3"#,
        "toolgate_http_connections 7",
        "toolgate_catalog_tools 31",
        "toolgate_log_lines_lost_total 5",
        r#"toolgate_plugins{state="active"} 3"#,
    ] {
        check(&metrics, line);
    }
    assert!(!metrics.render().contains("quarantined"));
    assert!(metrics.render().contains("toolgate_build_info{version="));
    assert!(metrics.render().ends_with("# EOF\n"));
}
