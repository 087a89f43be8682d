//! Finding out which metrics, labels and values there are.

use toolgate_sdk::prelude::*;

use crate::time::moment;
use crate::{one, read};

#[derive(Args)]
pub struct Series {
    /// Series selectors, for example `["up", "process_start_time_seconds{job=\"api\"}"]`.
    #[arg(min_items = 1, max_items = 20)]
    r#match: Vec<String>,
    /// Only series alive after this moment: `-1h`, an RFC 3339 time or seconds since 1970.
    start: Option<String>,
    /// Only series alive before this moment.
    end: Option<String>,
    /// Most series to answer.
    #[arg(min = 1, max = 10000, default = 200)]
    limit: u32,
}

/// Lists the series (their label sets) that match one of the selectors.
#[tool(effect = "read", keywords = ["metric", "selector"], example = { "match": ["up"] })]
pub fn series(args: Series, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("match[]", args.r#match),
        ("start", bound(args.start, "start", cx)?),
        ("end", bound(args.end, "end", cx)?),
        ("limit", vec![args.limit.to_string()]),
    ];
    read(cx, path!("/api/v1/series"), parameters)
}

#[derive(Args)]
pub struct Labels {
    /// Only labels of the series that match one of these selectors.
    #[arg(max_items = 20)]
    r#match: Option<Vec<String>>,
    /// Only series alive after this moment: `-1h`, an RFC 3339 time or seconds since 1970.
    start: Option<String>,
    /// Only series alive before this moment.
    end: Option<String>,
    /// Most names to answer.
    #[arg(min = 1, max = 10000, default = 1000)]
    limit: u32,
}

/// Lists the label names in use.
#[tool(effect = "read", keywords = ["dimension"],
       example = { "start": "-1h" })]
pub fn labels(args: Labels, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("match[]", args.r#match.unwrap_or_default()),
        ("start", bound(args.start, "start", cx)?),
        ("end", bound(args.end, "end", cx)?),
        ("limit", vec![args.limit.to_string()]),
    ];
    read(cx, path!("/api/v1/labels"), parameters)
}

#[derive(Args)]
pub struct LabelValues {
    /// Name of the label, for example `job` or `instance`; `__name__` lists all metric names.
    #[arg(path, pattern = "^[a-zA-Z_][a-zA-Z0-9_]*$")]
    label: String,
    /// Only values in the series that match one of these selectors.
    #[arg(max_items = 20)]
    r#match: Option<Vec<String>>,
    /// Only series alive after this moment: `-1h`, an RFC 3339 time or seconds since 1970.
    start: Option<String>,
    /// Only series alive before this moment.
    end: Option<String>,
    /// Most values to answer.
    #[arg(min = 1, max = 10000, default = 1000)]
    limit: u32,
}

/// Lists the values of one label: jobs, instances, or with `__name__` the names of all metrics.
#[tool(effect = "read", keywords = ["metric", "names", "jobs", "instances"], example = { "label": "__name__" })]
pub fn label_values(args: LabelValues, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("match[]", args.r#match.unwrap_or_default()),
        ("start", bound(args.start, "start", cx)?),
        ("end", bound(args.end, "end", cx)?),
        ("limit", vec![args.limit.to_string()]),
    ];
    read(cx, path!("/api/v1/label/{}/values", args.label), parameters)
}

#[derive(Args)]
pub struct Metadata {
    /// Only this metric.
    metric: Option<String>,
    /// Most metrics to answer.
    #[arg(min = 1, max = 10000, default = 200)]
    limit: u32,
    /// Most entries for each metric.
    #[arg(min = 1)]
    limit_per_metric: Option<u32>,
}

/// Explains metrics: type (counter, gauge, histogram, summary), help text and unit.
#[tool(effect = "read", keywords = ["help", "type", "unit", "describe"],
       example = { "metric": "http_requests_total" })]
pub fn metadata(args: Metadata, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("metric", one(args.metric)),
        ("limit", vec![args.limit.to_string()]),
        ("limit_per_metric", one(args.limit_per_metric)),
    ];
    read(cx, path!("/api/v1/metadata"), parameters)
}

fn bound(text: Option<String>, field: &str, cx: &Context) -> Result<Vec<String>, ToolError> {
    text.map(|text| moment(&text, field, cx.now_ms()))
        .transpose()
        .map(one)
}
