//! Targets, rules, alerts, and the server itself.

use toolgate_sdk::prelude::*;

use crate::{one, read};

#[derive(Args)]
pub enum TargetState {
    Active,
    Dropped,
    Any,
}

#[derive(Args)]
pub struct Targets {
    /// Which targets.
    #[arg(default = "active")]
    state: TargetState,
    /// Only this scrape pool (the job's name in the configuration).
    scrape_pool: Option<String>,
}

/// Lists scrape targets with their health, last scrape, its duration and last error.
#[tool(effect = "read", keywords = ["scrape", "health", "down", "jobs"],
       example = {})]
pub fn targets(args: Targets, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("state", vec![args.state.to_string()]),
        ("scrapePool", one(args.scrape_pool)),
    ];
    read(cx, path!("/api/v1/targets"), parameters)
}

#[derive(Args)]
pub struct TargetMetadata {
    /// Label selector for the targets, for example `{job="prometheus"}`.
    match_target: Option<String>,
    /// Only this metric.
    metric: Option<String>,
    /// Most targets to look at.
    #[arg(min = 1, max = 10000, default = 100)]
    limit: u32,
}

/// Lists metric types and help texts target by target: which target exposes what.
#[tool(effect = "read", keywords = ["scrape", "help"],
       example = { "match_target": "{job=\"prometheus\"}", "metric": "go_goroutines" })]
pub fn target_metadata(args: TargetMetadata, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("match_target", one(args.match_target)),
        ("metric", one(args.metric)),
        ("limit", vec![args.limit.to_string()]),
    ];
    read(cx, path!("/api/v1/targets/metadata"), parameters)
}

#[derive(Args)]
pub enum RuleType {
    Alert,
    Record,
}

#[derive(Args)]
pub struct Rules {
    /// Only alerting or only recording rules.
    r#type: Option<RuleType>,
    /// Only rules of these names.
    #[arg(max_items = 50)]
    rule_name: Option<Vec<String>>,
    /// Only groups of these names.
    #[arg(max_items = 50)]
    rule_group: Option<Vec<String>>,
    /// Only rules of these files.
    #[arg(max_items = 50)]
    file: Option<Vec<String>>,
    /// Leave out the alerts that each rule has now.
    #[arg(default = false)]
    exclude_alerts: bool,
}

/// Lists alerting and recording rules by group, with expression, state, health and last error.
#[tool(effect = "read", keywords = ["alerting", "recording"],
       example = { "type": "alert", "rule_name": ["HighErrorRate"], "exclude_alerts": true })]
pub fn rules(args: Rules, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("type", one(args.r#type)),
        ("rule_name[]", args.rule_name.unwrap_or_default()),
        ("rule_group[]", args.rule_group.unwrap_or_default()),
        ("file[]", args.file.unwrap_or_default()),
        ("exclude_alerts", one(args.exclude_alerts.then_some(true))),
    ];
    read(cx, path!("/api/v1/rules"), parameters)
}

/// Lists the alerts that are pending or firing now, with labels, annotations and since when.
#[tool(effect = "read", keywords = ["firing", "pending", "incident"],
       example = {})]
pub fn alerts(cx: &Context) -> Result<Output, ToolError> {
    let data = read(cx, path!("/api/v1/alerts"), [])?;
    let all = data.get("alerts").and_then(Value::as_array);
    let firing = all
        .into_iter()
        .flatten()
        .filter(|alert| alert["state"] == "firing")
        .count();
    Ok(Output::new(data)?.summary(format!("{firing} firing")))
}

/// Lists the Alertmanager instances that alerts are sent to.
#[tool(effect = "read", keywords = ["notification"],
       example = {})]
pub fn alertmanagers(cx: &Context) -> Result<Value, ToolError> {
    read(cx, path!("/api/v1/alertmanagers"), [])
}

/// Tells version, revision, build date and Go version of the server.
#[tool(effect = "read", keywords = ["version", "build"],
       example = {})]
pub fn status_buildinfo(cx: &Context) -> Result<Value, ToolError> {
    read(cx, path!("/api/v1/status/buildinfo"), [])
}

/// Tells how the server runs: start time, time series, retention, last configuration reload.
#[tool(effect = "read", keywords = ["uptime", "retention", "storage"],
       example = {})]
pub fn status_runtimeinfo(cx: &Context) -> Result<Value, ToolError> {
    read(cx, path!("/api/v1/status/runtimeinfo"), [])
}

#[derive(Args)]
pub struct Tsdb {
    /// Entries of each top list.
    #[arg(min = 1, max = 1000, default = 10)]
    limit: u32,
}

/// Tells what fills the time series database: series count, and the metrics and labels with the
/// most series, values and memory.
#[tool(effect = "read", keywords = ["cardinality", "storage", "head"],
       example = {})]
pub fn status_tsdb(args: Tsdb, cx: &Context) -> Result<Value, ToolError> {
    read(
        cx,
        path!("/api/v1/status/tsdb"),
        [("limit", vec![args.limit.to_string()])],
    )
}

/// Tells the values of the server's command line flags.
#[tool(effect = "read", keywords = ["settings", "flags"],
       example = {})]
pub fn status_flags(cx: &Context) -> Result<Value, ToolError> {
    read(cx, path!("/api/v1/status/flags"), [])
}

/// Tells the configuration in force as YAML; the server masks its secrets.
#[tool(effect = "read", keywords = ["settings", "yaml", "scrape_configs"],
       example = {})]
pub fn status_config(cx: &Context) -> Result<Value, ToolError> {
    read(cx, path!("/api/v1/status/config"), [])
}
