//! What operators watch the gateway with: each metric that a rule or a panel names is exported.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_gateway::metrics::{TelemetryOutcome, TelemetrySignal};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::TestGateway;

use super::{command, folder, succeeds};

/// Names of metrics in a text, as queries name them.
fn metrics(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_ascii_lowercase() || c == '_';
    let names = text.match_indices("toolgate_");
    names
        .map(|(at, _)| text[at..].split(|c| !part(c)).next().unwrap().to_owned())
        .collect()
}

/// Everything that a gateway exports once each thing has happened.
async fn exported() -> String {
    let component = Fixture::new("one").build();
    let gateway = TestGateway::with_plugin("one.wasm", component).await;
    gateway.execute("one_run", json!({})).await;
    let counted = gateway.gateway.metrics();
    counted.mcp_request("tools/call", "", std::time::Duration::ZERO);
    counted.token_refresh("refreshed");
    counted.webhook_delivery("delivered");
    counted.telemetry(TelemetrySignal::Spans, TelemetryOutcome::Sent, 1);
    let wire: &dyn toolgate_egress::WireMeter = &**counted;
    let answered = toolgate_egress::WireOutcome::Answered(200);
    let class = toolgate_egress::DestinationClass::Provider;
    wire.sent(class, answered, std::time::Duration::ZERO);
    gateway.get("/metrics").await.text
}

/// Alerts over a metric that nothing exports never fire, and panels over one stay empty.
#[tokio::test(flavor = "multi_thread")]
async fn every_metric_of_an_alert_and_of_a_panel_is_exported_and_explained() {
    let exported = exported().await;
    let page = folder().join("../docs/operate/monitoring.md");
    let page = std::fs::read_to_string(page).unwrap();
    for (file, least) in [("alerts.yaml", 8), ("dashboard.json", 20)] {
        let text = std::fs::read_to_string(folder().join("monitoring").join(file)).unwrap();
        let names = metrics(&text);
        assert!(names.len() >= least, "{file}: {names:?}");
        for name in names {
            assert!(
                exported.contains(&format!("\n{name}")),
                "{file}: {name} in\n{exported}"
            );
            let explained = name.trim_end_matches("_bucket");
            assert!(page.contains(explained), "{explained} is not explained");
        }
    }
}

/// The queries of the dashboard, as Grafana would send them.
fn queries(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels
        .iter()
        .filter_map(|panel| panel["targets"].as_array());
    let query = |target: &Value| {
        let query = target["expr"].as_str().unwrap();
        query
            .replace("$__rate_interval", "5m")
            .replace("$instance", ".*")
    };
    targets.flatten().map(query).collect()
}

#[test]
fn every_query_of_the_dashboard_is_one_that_prometheus_understands() {
    let file = folder().join("monitoring/dashboard.json");
    let text = std::fs::read_to_string(file).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let queries = queries(&dashboard);
    assert!(queries.len() > 20, "{queries:?}");
    let rules: Vec<Value> = queries
        .iter()
        .enumerate()
        .map(|(number, query)| json!({ "record": format!("panel:{number}"), "expr": query }))
        .collect();
    let rules = json!({ "groups": [{ "name": "panels", "rules": rules }] });
    let work = tempfile::tempdir().unwrap();
    let file = work.path().join("panels.yaml");
    std::fs::write(&file, rules.to_string()).unwrap();
    check(&file);
    let ids: BTreeSet<i64> = dashboard["panels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|panel| panel["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids.len(), dashboard["panels"].as_array().unwrap().len());
}

fn check(rules: &Path) {
    succeeds(command("promtool").args(["check", "rules"]).arg(rules));
}
