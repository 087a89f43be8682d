//! The official conformance runner, one run for each era. What may fail, and why, is in
//! `tests/mcp/expected_failures_*.yml`; a scenario there that passes fails the test too.

use toolgate_tests::mcp::conformance;

use super::gateway;

/// How many scenarios of a revision have to pass, so that a runner that runs nothing is noticed.
async fn revision_holds(revision: &str, passing_min: usize) {
    let gateway = gateway().await;
    let said = conformance(&gateway.url(""), &gateway.key, revision)
        .await
        .expect("exactly the expected scenarios fail");
    let passing = said.lines().filter(|line| line.starts_with('✓')).count();
    assert!(passing >= passing_min, "only {passing} passed:\n{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_session_revision_holds() {
    revision_holds("2025-11-25", 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stateless_revision_holds() {
    revision_holds("2026-07-28", 12).await;
}
