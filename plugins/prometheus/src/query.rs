//! PromQL: at one moment, over a range, exemplars, and the formatter.

use toolgate_sdk::prelude::*;

use crate::time::moment;
use crate::{one, read};

#[derive(Args)]
pub struct Query {
    /// PromQL expression, for example `up` or `sum by (job) (rate(http_requests_total[5m]))`.
    #[arg(min_length = 1, max_length = 8000)]
    query: String,
    /// When to evaluate: `now`, `-1h` (an hour ago), an RFC 3339 time or seconds since 1970. Now
    /// unless given.
    time: Option<String>,
    /// Longest evaluation, for example `10s`.
    #[arg(pattern = "^[0-9]+(ms|s|m|h)$")]
    timeout: Option<String>,
    /// Most series to answer.
    #[arg(min = 1, max = 10000, default = 200)]
    limit: u32,
}

/// Evaluates a PromQL expression at one moment: current values of metrics, rates, sums, top lists.
///
/// Answers resultType (vector, scalar, matrix or string) and result; each series has its labels in
/// metric and [seconds, "value"] in value.
#[tool(effect = "read", keywords = ["promql", "metric", "monitoring", "instant"], example = { "query": "up" })]
pub fn query(args: Query, cx: &Context) -> Result<Output, ToolError> {
    let time = args
        .time
        .map(|time| moment(&time, "time", cx.now_ms()))
        .transpose()?;
    let parameters = [
        ("query", vec![args.query]),
        ("time", one(time)),
        ("timeout", one(args.timeout)),
        ("limit", vec![args.limit.to_string()]),
    ];
    counted(read(cx, path!("/api/v1/query"), parameters)?)
}

#[derive(Args)]
pub struct QueryRange {
    /// PromQL expression, for example `rate(node_cpu_seconds_total{mode!="idle"}[5m])`.
    #[arg(min_length = 1, max_length = 8000)]
    query: String,
    /// First moment: `-1h` (an hour ago), an RFC 3339 time or seconds since 1970.
    #[arg(default = "-1h")]
    start: String,
    /// Last moment: `now`, `-5m`, an RFC 3339 time or seconds since 1970.
    #[arg(default = "now")]
    end: String,
    /// Distance between two points: a duration such as `15s`, `1m`, `1h`, or seconds. At most
    /// 11,000 points a series.
    #[arg(default = "1m", pattern = "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d|w|y)?$")]
    step: String,
    /// Most series to answer.
    #[arg(min = 1, max = 10000, default = 50)]
    limit: u32,
}

/// Evaluates a PromQL expression over a time range: how metrics developed, for graphs and trends.
///
/// The last hour in steps of a minute unless said otherwise. Each series of the result has its
/// labels in metric and its points as [seconds, "value"] in values.
#[tool(effect = "read", keywords = ["promql", "metric", "graph", "history", "trend"],
       example = { "query": "rate(http_requests_total[5m])", "start": "-6h", "step": "5m" })]
pub fn query_range(args: QueryRange, cx: &Context) -> Result<Output, ToolError> {
    let parameters = [
        ("query", vec![args.query]),
        ("start", vec![moment(&args.start, "start", cx.now_ms())?]),
        ("end", vec![moment(&args.end, "end", cx.now_ms())?]),
        ("step", vec![args.step]),
        ("limit", vec![args.limit.to_string()]),
    ];
    counted(read(cx, path!("/api/v1/query_range"), parameters)?)
}

#[derive(Args)]
pub struct Exemplars {
    /// PromQL expression whose series are looked at.
    #[arg(min_length = 1, max_length = 8000)]
    query: String,
    /// First moment: `-1h`, an RFC 3339 time or seconds since 1970.
    #[arg(default = "-1h")]
    start: String,
    /// Last moment: `now`, an RFC 3339 time or seconds since 1970.
    #[arg(default = "now")]
    end: String,
}

/// Reads the exemplars (single observations, mostly with a trace id) behind the series of an
/// expression.
#[tool(effect = "read", keywords = ["trace", "sample"],
       example = { "query": "test_exemplar_metric_total", "start": "2026-01-01T00:00:00Z" })]
pub fn exemplars(args: Exemplars, cx: &Context) -> Result<Value, ToolError> {
    let parameters = [
        ("query", vec![args.query]),
        ("start", vec![moment(&args.start, "start", cx.now_ms())?]),
        ("end", vec![moment(&args.end, "end", cx.now_ms())?]),
    ];
    read(cx, path!("/api/v1/query_exemplars"), parameters)
}

#[derive(Args)]
pub struct FormatQuery {
    /// PromQL expression to check and format.
    #[arg(min_length = 1, max_length = 8000)]
    query: String,
}

/// Checks a PromQL expression for mistakes and answers it neatly formatted; runs nothing.
#[tool(effect = "read", keywords = ["lint", "validate", "promql"],
       example = { "query": "foo/bar" })]
pub fn format_query(args: FormatQuery, cx: &Context) -> Result<Value, ToolError> {
    read(
        cx,
        path!("/api/v1/format_query"),
        [("query", vec![args.query])],
    )
}

/// The result with the number of its series as the summary.
fn counted(data: Value) -> Result<Output, ToolError> {
    let series = data
        .get("result")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let noun = if series == 1 { "result" } else { "results" };
    Ok(Output::new(data)?.summary(format!("{series} {noun}")))
}
