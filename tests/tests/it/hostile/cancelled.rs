//! A caller who leaves: what a reading call has under way ends with it, at the provider too.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use toolgate_tests::events::{receipt, watching};
use toolgate_tests::gateway::{Options, TestGateway};

use super::spy;

/// A provider that never answers, and tells when it is asked and when it is left.
async fn silent() -> (String, Arc<Notify>, Arc<Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (asked, left) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (told, gone) = (asked.clone(), left.clone());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut read = [0; 4_096];
        assert!(stream.read(&mut read).await.unwrap() > 0);
        told.notify_one();
        while stream.read(&mut read).await.is_ok_and(|bytes| bytes > 0) {}
        gone.notify_one();
    });
    (url, asked, left)
}

async fn start(url: &str) -> TestGateway {
    // With an argument, so that neither is tried with the key when it is entered.
    let argument = json!([{ "name": "q", "in": "query", "required": true, "description": "What.", "schema": { "type": "string" } }]);
    let mut paths = spy::reads("read", argument.clone());
    paths["post"] = json!({
        "operationId": "write", "summary": "Writes", "description": "Writes something at the service.",
        "parameters": argument,
        "responses": { "200": { "description": "Done.", "content": { "application/json": {} } } },
    });
    let description = spy::description(&spy::bearer(), json!({ "/things": paths }));
    let gateway = TestGateway::start(Options {
        plugins: vec![("spy.wasm".to_owned(), spy::component(&description).await)],
        allow_upstream: vec![format!("api.spy.io={url}")],
        ..Options::default()
    })
    .await;
    spy::connect(&gateway, "default", &[("f_secret", spy::TOKEN)]).await;
    gateway
}

async fn within(seconds: u64, event: &Notify) -> bool {
    let waited = tokio::time::timeout(Duration::from_secs(seconds), event.notified());
    waited.await.is_ok()
}

/// Defence: `host/egress/src/send.rs` drops what a reading call has under way once its caller has gone.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_cancelled_ends_its_request_at_the_provider() {
    let (url, asked, left) = silent().await;
    let gateway = start(&url).await;
    let asking = tokio::spawn(watching(&gateway, "spy_read", &json!({ "q": "x" })).send());
    assert!(within(20, &asked).await, "the provider is asked");
    asking.abort();
    drop(asking);
    assert!(within(20, &left).await, "the provider is left");
    let ended = receipt(&gateway, "spy_read").await;
    assert_eq!(ended["reason"], "cancelled", "{ended}");
    assert_eq!(ended["requests"][0]["method"], "GET", "{ended}");
    assert_eq!(ended["requests"][0]["status"], Value::Null, "{ended}");
}

/// Defence: only calls that read are given up; what a provider did of a write that was dropped nobody knows.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_caller_has_gone_waits_for_its_answer() {
    let (url, asked, left) = silent().await;
    let gateway = start(&url).await;
    let asking = tokio::spawn(watching(&gateway, "spy_write", &json!({ "q": "x" })).send());
    assert!(within(20, &asked).await, "the provider is asked");
    asking.abort();
    drop(asking);
    assert!(!within(3, &left).await, "the request goes on");
}

/// Defence: `host/gateway/src/tools/execute/permit.rs` counts a call before it runs, and gives back only what did not
/// begin.
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_cancelled_has_used_its_counted_permission() {
    let (url, asked, left) = silent().await;
    let gateway = start(&url).await;
    for (path, rule) in [
        ("services/spy", json!({ "permission": "deny" })),
        (
            "tools/spy_read",
            json!({ "permission": "allow", "max_calls": 1 }),
        ),
    ] {
        let path = format!("/v1/permissions/users/default/{path}");
        let rule = Some(rule.to_string());
        let set = gateway.send(reqwest::Method::PATCH, &path, Some(&gateway.key), rule);
        assert_eq!(set.await.status, 200, "{path}");
    }
    let asking = tokio::spawn(watching(&gateway, "spy_read", &json!({ "q": "x" })).send());
    assert!(within(20, &asked).await, "the provider is asked");
    asking.abort();
    drop(asking);
    assert!(within(20, &left).await, "the provider is left");
    assert_eq!(receipt(&gateway, "spy_read").await["reason"], "cancelled");
    let body = json!({ "arguments": { "q": "x" } });
    let again = gateway.post("/v1/tools/spy_read/execute", &body).await;
    assert_eq!((again.status, &*again.code()), (403, "permission_denied"));
}
