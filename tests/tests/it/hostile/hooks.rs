//! Deliveries that nobody signed, to hooks that exist and to hooks that do not.

use reqwest::Method;
use serde_json::json;
use toolgate_store::NewConnection;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};

async fn with_hook() -> (TestGateway, &'static str) {
    let gateway = TestGateway::start(Options {
        plugins: vec![("github.wasm".to_owned(), built_plugin("github").unwrap())],
        trusted_proxy: vec!["127.0.0.0/8".to_owned()],
        ..Options::default()
    })
    .await;
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let connection = NewConnection {
        workspace_id: workspace.id,
        id: "con_github".to_owned(),
        user_id: "ada".to_owned(),
        service: "github".to_owned(),
        slot: "user".to_owned(),
        auth_type: "bearer".to_owned(),
        account: None,
        scopes: Vec::new(),
        parameters: Default::default(),
        sealed: "box".to_owned(),
        token_expires_at_ms: None,
        refresh_end: None,
        refreshable: false,
    };
    store.connect(&connection, 0).await.unwrap();
    let key = Some(gateway.key.as_str());
    let path = "/v1/connections/con_github/hook";
    let put = gateway.send(Method::PUT, path, key, Some(json!({}).to_string()));
    assert_eq!(put.await.status, 200);
    (gateway, "/hooks/con_github")
}

async fn forge(gateway: &TestGateway, path: &str, client: &str) -> u16 {
    let request = gateway.client.post(gateway.url(path));
    let request = request.header("x-forwarded-for", client);
    let request = request.header("x-github-event", "push");
    let request = request.header("x-hub-signature-256", format!("sha256={:064}", 0));
    request.body("{}").send().await.unwrap().status().as_u16()
}

/// Bytes of the database's log of writes.
fn written(gateway: &TestGateway) -> u64 {
    let log = gateway.config.gateway.data_dir.join("toolgate.db-wal");
    std::fs::metadata(log).map_or(0, |log| log.len())
}

/// Defence: `host/gateway/src/webhooks/inbound/refusals.rs` counts in memory and writes together.
#[tokio::test(flavor = "multi_thread")]
async fn forged_deliveries_cost_no_write_each_and_are_counted() {
    let (gateway, path) = with_hook().await;
    let before = written(&gateway);
    for n in 0..100 {
        let client = format!("203.0.113.{n}");
        assert_eq!(forge(&gateway, path, &client).await, 401);
    }
    // One page and its frame at most: housekeeping may have passed by once.
    let grown = written(&gateway).saturating_sub(before);
    assert!(grown < 100 * 1024, "{grown} bytes for 100 deliveries");
    let shown = gateway.get("/v1/connections/con_github/hook").await.data();
    assert_eq!(shown["refused"], 100);
}

/// Defence: `host/gateway/src/webhooks/inbound/refusals.rs`, by client, before the database is asked or the body read.
#[tokio::test(flavor = "multi_thread")]
async fn who_forges_too_much_is_not_listened_to_and_others_are() {
    let (gateway, path) = with_hook().await;
    let mut refused = Vec::new();
    for _ in 0..150 {
        refused.push(forge(&gateway, path, "203.0.113.66").await);
    }
    assert_eq!(refused[0], 401);
    assert_eq!(refused[149], 429);
    assert_eq!(forge(&gateway, path, "203.0.113.67").await, 401);
}

/// Defence: `host/gateway/src/webhooks/inbound/refusals.rs` counts requests to unknown hooks against their client.
#[tokio::test(flavor = "multi_thread")]
async fn guessing_addresses_is_limited_by_client() {
    let (gateway, path) = with_hook().await;
    let before = written(&gateway);
    let mut refused = Vec::new();
    for n in 0..150 {
        refused.push(forge(&gateway, &format!("/hooks/con_{n}"), "203.0.113.66").await);
    }
    assert_eq!((refused[0], refused[149]), (404, 429));
    assert_eq!(written(&gateway), before);
    assert_eq!(forge(&gateway, path, "203.0.113.67").await, 401);
    for odd in ["/hooks/a%20b", "/hooks/con_%00", "/hooks/%C3%A9"] {
        assert_eq!(forge(&gateway, odd, "203.0.113.68").await, 404, "{odd}");
    }
}
