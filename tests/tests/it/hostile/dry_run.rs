//! What is only planned leaves nothing behind and hands nothing over.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::TestGateway;

use crate::sessions::remembering;

async fn set(gateway: &TestGateway, rule: Value) {
    let path = "/v1/permissions/users/default/tools/memory_run";
    let key = Some(&*gateway.key);
    let answer = gateway.send(Method::PATCH, path, key, Some(rule.to_string()));
    assert_eq!(answer.await.status, 200);
}

async fn call(gateway: &TestGateway, dry_run: bool) -> Value {
    let body = json!({"arguments": {}, "session_id": "tool_shared", "dry_run": dry_run});
    gateway
        .post("/v1/tools/memory_run/execute", &body)
        .await
        .data()
}

/// Defence: `host/gateway/src/tools/session_state.rs` (`Scratch`).
#[tokio::test(flavor = "multi_thread")]
async fn what_a_parked_run_writes_to_its_state_is_thrown_away() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering().build()).await;
    set(&gateway, json!({"permission": "ask"})).await;
    let asked = call(&gateway, false).await;
    assert_eq!(asked["status"], "approval_required", "{asked}");
    call(&gateway, true).await;
    gateway
        .decide(&asked["approval_id"], "approve")
        .await
        .data();
    let ran = call(&gateway, false).await;
    assert_eq!(ran["result"], json!({"step": 1}), "{ran}");
    set(&gateway, json!({"permission": "allow"})).await;
    let next = call(&gateway, false).await;
    assert_eq!(next["result"], json!({"step": 2}), "a live run's stays");
}

/// Defence: `host/gateway/src/tools/execute/permit.rs` (`plan_alone`).
#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_hands_over_no_result_that_a_live_call_would_ask_or_count_for() {
    let gateway = TestGateway::with_plugin("memory.wasm", remembering().build()).await;
    for rule in [
        json!({"permission": "ask"}),
        json!({"permission": "allow", "max_calls": 1}),
    ] {
        set(&gateway, rule.clone()).await;
        let planned = call(&gateway, true).await;
        assert_eq!(
            (&planned["status"], &planned["result"], &planned["requests"]),
            (&json!("dry_run"), &Value::Null, &json!([])),
            "{rule}"
        );
    }
}
