//! What all requests share: the site and Jira's two lists of errors.

use toolgate_sdk::http::problem;
use toolgate_sdk::prelude::*;

/// The host fills in the site of the connection.
pub fn jira(cx: &Context) -> Client<'_> {
    cx.client("https://{site}.atlassian.net/rest/api/3")
        .header("accept", "application/json")
        .errors(problem_of)
}

/// Boards and sprints belong to another API of the same site.
pub fn software(cx: &Context) -> Client<'_> {
    cx.client("https://{site}.atlassian.net/rest/agile/1.0")
        .header("accept", "application/json")
        .errors(problem_of)
}

/// The general rule, and what Jira says about single fields.
fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let body = response.json().unwrap_or_default();
    let fields = body["errors"].as_object().into_iter().flatten();
    let faults: Vec<String> = fields
        .map(|(name, text)| format!("{name}: {}", text.as_str().unwrap_or_default()))
        .collect();
    if !faults.is_empty() {
        error.message = faults.join("; ");
    }
    error
}

/// Where a list goes on that is counted by `startAt`.
pub fn next_start(answer: &Value, shown: usize) -> Option<String> {
    let next = answer["startAt"].as_u64()? + shown as u64;
    (shown > 0 && next < answer["total"].as_u64()?).then(|| next.to_string())
}
