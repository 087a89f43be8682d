//! Batches of the revision 2025-03-26 on the wire.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{Answer, TestGateway, new_key};

use super::gateway;
use super::wire::open_session;

async fn send(
    gateway: &TestGateway,
    session: &str,
    version: Option<&str>,
    batch: &Value,
) -> Answer {
    let mut request = gateway
        .client
        .request(Method::POST, gateway.url("/mcp"))
        .bearer_auth(&gateway.key)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-session-id", session);
    if let Some(version) = version {
        request = request.header("mcp-protocol-version", version);
    }
    Answer::read(request.body(batch.to_string()).send().await.unwrap()).await
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_2025_03_26_is_answered_message_by_message() {
    let gateway = gateway().await;
    let (session, _) = open_session(&gateway, &gateway.key, "2025-03-26").await;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let alone = send(&gateway, &session, None, &json!([ready])).await;
    assert_eq!(
        (alone.status, &*alone.text),
        (202, ""),
        "notifications alone"
    );
    let call = json!({ "name": "svc_health_check", "arguments": {} });
    let batch = json!([
        request(1, "ping", json!({})),
        ready,
        request(2, "tools/call", call),
        request(3, "tools/drop", json!({})),
    ]);
    let answered = send(&gateway, &session, Some("2025-03-26"), &batch).await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    let answers = answered.json();
    let answers = answers.as_array().unwrap();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [1, 2, 3], "{answers:?}");
    assert_eq!(answers[0]["result"], json!({}));
    assert!(answers[1]["result"]["content"].is_array(), "{}", answers[1]);
    assert_eq!(answers[2]["error"]["code"], -32_601, "{}", answers[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_elsewhere_or_of_too_many_is_refused_and_does_nothing() {
    let gateway = gateway().await;
    let (session, _) = open_session(&gateway, &gateway.key, "2025-11-25").await;
    let run = json!({ "name": "svc_execute_tool", "arguments": { "tool_name": "demo_run", "arguments": "{}" } });
    let one = json!([request(1, "tools/call", run.clone())]);
    let many: Vec<Value> = (0..51)
        .map(|id| request(id, "tools/call", run.clone()))
        .collect();
    let (old, _) = open_session(&gateway, &gateway.key, "2025-03-26").await;
    for (session, version, batch) in [
        (&session, Some("2025-11-25"), one.clone()),
        (&session, Some("2025-06-18"), one),
        (&old, None, json!(many)),
        (&old, None, json!([])),
        // Each would be as many messages again.
        (&old, None, json!([many[..40], many[..40]])),
        (&old, None, json!([[many[0]]])),
    ] {
        let refused = send(&gateway, session, version, &batch).await;
        assert_eq!(refused.status, 400, "{version:?} {}", refused.text);
        assert_eq!(refused.json()["error"]["code"], -32_600, "{}", refused.text);
    }
    let ran = gateway.get("/v1/executions").await.data();
    assert_eq!(ran["executions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_another_key_finds_no_session() {
    let gateway = gateway().await;
    let other = new_key(&gateway.gateway, "other", Scope::ALL)
        .await
        .unwrap();
    let (session, _) = open_session(&gateway, &other, "2025-03-26").await;
    let batch = json!([request(1, "ping", json!({}))]);
    let refused = send(&gateway, &session, None, &batch).await;
    assert_eq!(refused.status, 404, "{}", refused.text);
    let (own, _) = open_session(&gateway, &gateway.key, "2025-03-26").await;
    assert_eq!(send(&gateway, &own, None, &batch).await.status, 200);
}
