//! What a client sees of results and errors.

use super::*;
use toolgate_gateway::RateWindow;

#[test]
fn a_daily_limit_names_a_window_of_a_day() {
    let failure = ApiFailure::Gateway(Error::RateLimited(RateLimited {
        window: RateWindow::Day,
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
    let failure = ApiFailure::Gateway(Error::Internal(cause));
    let body = serde_json::to_string(&failure.body("req_1")).unwrap();
    assert!(
        !body.contains("disk") && !body.contains("receipt"),
        "{body}"
    );
    assert_eq!(failure.cause().unwrap(), "no receipt: disk /var/x");
}
