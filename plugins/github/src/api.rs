//! What all requests to GitHub share: headers, pages and errors.

use toolgate_sdk::context::now_ms;
use toolgate_sdk::http::{Request, problem};
use toolgate_sdk::prelude::*;

/// A client for the REST API, at the version this plugin was written for.
pub fn github(cx: &Context) -> Client<'_> {
    cx.client("https://api.github.com")
        .header("accept", "application/vnd.github+json")
        .header("x-github-api-version", "2022-11-28")
        .errors(problem_of)
}

/// One page of a list, each element reduced to `fields`. The cursor is the page's number.
pub fn page(
    cx: &Context,
    request: Request<'_>,
    per_page: u32,
    fields: &[&str],
) -> Result<Output, ToolError> {
    page_where(cx, request, per_page, fields, |_| true)
}

/// [`page`] of the elements that `keep` accepts: a page may be empty and have a next one.
pub fn page_where(
    cx: &Context,
    request: Request<'_>,
    per_page: u32,
    fields: &[&str],
    keep: impl Fn(&Value) -> bool,
) -> Result<Output, ToolError> {
    let kept = |list: &Value| {
        let all = list.as_array().into_iter().flatten();
        let kept = all.filter(|one| keep(one)).map(|one| pick(one, fields));
        kept.collect::<Vec<Value>>()
    };
    let number = cx.page_number(1)?;
    let answer = request
        .query("per_page", per_page)
        .query("page", number)
        .send()?;
    let next = answer.next_link().map(|_| (number + 1).to_string());
    let body = answer.json()?;
    match body.get("total_count") {
        None => Output::page(kept(&body), next),
        Some(total) => {
            // The list beside the count has a name of its own: `items`, `workflow_runs`, `jobs`, ...
            let mut values = body.as_object().into_iter().flat_map(Map::values);
            let list = values.find(|value| value.is_array());
            let items = kept(list.unwrap_or(&Value::Null));
            Output::page(json!({ "total": total, "items": items }), next)
        }
    }
}

/// One page of a list that goes on after a cursor, which the header `Link` holds.
pub fn after_page(
    cx: &Context,
    request: Request<'_>,
    per_page: u32,
    fields: &[&str],
) -> Result<Output, ToolError> {
    let answer = request
        .query("per_page", per_page)
        .query("after", cx.cursor())
        .send()?;
    let next = answer.next_link().and_then(|link| {
        let (_, query) = link.split_once('?')?;
        let cursor = query.split('&').find_map(|one| one.strip_prefix("after="));
        cursor.map(|cursor| cursor.replace("%3D", "=").replace("%3d", "="))
    });
    Output::page(pick_each(&answer.json()?, fields), next)
}

/// The general rule, and what GitHub adds: the fields it finds wrong, the moment a spent quota is
/// full again, and that it hides what a connection may not see.
fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let faults = error
        .details
        .as_ref()
        .and_then(|body| body.get("errors")?.as_array());
    let faults: Vec<String> = faults.into_iter().flatten().filter_map(fault).collect();
    if !faults.is_empty() {
        error.message = format!("{}: {}", error.message, faults.join("; "));
    }
    if error.kind == ErrorKind::PermissionDenied && error.message.contains("rate limit") {
        error.kind = ErrorKind::RateLimited;
    }
    if error.kind == ErrorKind::RateLimited && error.retry_after_ms.is_none() {
        let reset = response
            .header("x-ratelimit-reset")
            .and_then(|text| text.parse::<u64>().ok());
        error.retry_after_ms = reset.map(|at| (at * 1000).saturating_sub(now_ms()));
    }
    if error.kind == ErrorKind::NotFound {
        error.message.push_str(
            ". Check the names; GitHub also answers so when the connected account may not see it",
        );
    }
    error
}

fn fault(fault: &Value) -> Option<String> {
    if let Some(text) = fault.as_str().or_else(|| fault.get("message")?.as_str()) {
        return Some(text.to_owned());
    }
    Some(format!(
        "{} {}",
        fault.get("field")?.as_str()?,
        fault.get("code")?.as_str()?
    ))
}
