//! What a client sees of results and errors.

use super::*;
use crate::rest::openapi::refusals;

#[test]
fn every_code_has_its_status() {
    let mut table: Vec<(u16, &str)> = refusals::samples()
        .iter()
        .map(|failure| {
            let response = failure_response(failure, "req_1");
            (response.status().as_u16(), failure.code())
        })
        .collect();
    table.sort_unstable();
    let expected = [
        (400, "invalid_arguments"),
        (400, "invalid_json"),
        (400, "invalid_request"),
        (401, "api_key_required"),
        (401, "invalid_api_key"),
        (403, "ip_not_allowed"),
        (403, "permission_denied"),
        (403, "scope_denied"),
        (404, "not_found"),
        (404, "service_not_found"),
        (404, "session_not_found"),
        (404, "skill_not_found"),
        (404, "tool_not_found"),
        (404, "user_not_found"),
        (405, "method_not_allowed"),
        (409, "conflict"),
        (409, "idempotency_conflict"),
        (409, "in_progress"),
        (409, "outcome_unknown"),
        (413, "payload_too_large"),
        (415, "unsupported_media_type"),
        (429, "rate_limit_exceeded"),
        (500, "internal_error"),
        (503, "overloaded"),
    ];
    assert_eq!(table, expected);
}

#[test]
fn headers_follow_the_code() {
    for failure in refusals::samples() {
        let code = failure.code();
        let response = failure_response(&failure, "req_1");
        let has = |name: &str| response.headers().contains_key(name);
        let unauthorized = response.status() == StatusCode::UNAUTHORIZED;
        assert_eq!(has("www-authenticate"), unauthorized, "{code}");
        let later = ["in_progress", "rate_limit_exceeded", "overloaded"].contains(&code);
        assert_eq!(has("retry-after"), later, "{code}");
        let limited = code == "rate_limit_exceeded";
        assert_eq!(
            has("ratelimit") && has("ratelimit-policy"),
            limited,
            "{code}"
        );
    }
}

#[test]
fn a_daily_limit_names_a_window_of_a_day() {
    let failure = Failure::Gateway(Error::RateLimited(RateLimited {
        window: "day",
        limit: 1_000_000,
        retry_after_s: 3_600,
    }));
    let response = failure_response(&failure, "req_1");
    assert_eq!(
        response.headers()["ratelimit-policy"],
        "\"day\";q=1000000;w=86400"
    );
    assert_eq!(response.headers()["ratelimit"], "\"day\";r=0;t=3600");
    assert_eq!(response.headers()["retry-after"], "3600");
}

#[test]
fn an_internal_error_keeps_its_cause_for_the_log() {
    let cause = anyhow::anyhow!("disk /var/x").context("no receipt");
    let failure = Failure::Gateway(Error::Internal(cause));
    let body = serde_json::to_string(&failure.body("req_1")).unwrap();
    assert!(
        !body.contains("disk") && !body.contains("receipt"),
        "{body}"
    );
    assert_eq!(failure.cause().unwrap(), "no receipt: disk /var/x");
}
