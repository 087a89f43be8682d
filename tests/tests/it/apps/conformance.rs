//! The official conformance runner: its suite for authorization servers against the issuer, and its suites for servers
//! with an access token instead of a key. What may fail is in `tests/mcp/expected_failures_*.yml`; of the
//! authorization suite nothing may. Its `auth/*` scenarios are for clients and test none of this.

use toolgate_store::Role;
use toolgate_tests::mcp::{AuthorizationRun, conformance};

use super::way::{App, MemberBrowser, gateway, param, register};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn the_suite_for_authorization_servers_is_clean() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let mut run = AuthorizationRun::new().unwrap();
    let metadata = json!({
        "client_name": "Conformance runner",
        "redirect_uris": [run.redirect()],
        "token_endpoint_auth_method": "none",
    });
    let registered = register(gateway, &metadata).await.json();
    let client_id = registered["client_id"].as_str().unwrap();
    let (issuer, resource) = (gateway.url("/oauth"), gateway.url("/mcp"));
    let url = run.start(&issuer, client_id, &resource).await.unwrap();
    // A person opens the address that the runner prints, and says yes.
    let opened = gateway.client.get(&url).send().await.unwrap();
    assert_eq!(opened.status(), 303, "{url}");
    let page = opened.headers()["location"].to_str().unwrap();
    let decided = person.decide(&param(page, "request").unwrap(), true).await;
    let back = decided.data()["url"].as_str().unwrap().to_owned();
    run.listens().await.unwrap();
    gateway.client.get(back).send().await.unwrap();
    let (checks, said) = run.end().await.unwrap();
    let mut statuses: Vec<(String, String)> = checks
        .iter()
        .map(|check| {
            let text = |name: &str| check[name].as_str().unwrap_or_default().to_owned();
            (text("id"), text("status"))
        })
        .collect();
    statuses.sort();
    let expected = [
        "authorization-code-grant",
        "authorization-server-metadata",
        "authorization-server-metadata-cimd",
    ];
    let expected: Vec<(String, String)> = expected
        .iter()
        .map(|&id| (id.to_owned(), "SUCCESS".to_owned()))
        .collect();
    assert_eq!(statuses, expected, "{said}");
}

/// Both eras hold with a token as they do with a key.
async fn revision_holds(revision: &str, passing_min: usize) {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Owner).await;
    let tokens = App::new(gateway).await.connect(&person).await;
    let said = conformance(&gateway.url(""), &tokens.access, revision)
        .await
        .expect("exactly the expected scenarios fail");
    let passing = said.lines().filter(|line| line.starts_with('✓')).count();
    assert!(passing >= passing_min, "only {passing} passed:\n{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_session_revision_holds_with_a_token() {
    revision_holds("2025-11-25", 10).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stateless_revision_holds_with_a_token() {
    revision_holds("2026-07-28", 12).await;
}
