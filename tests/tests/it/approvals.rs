//! Calls that a person has to allow first, across the wire.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate::gateway::Scope;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{TestGateway, new_key};

async fn start() -> TestGateway {
    let gateway = TestGateway::with_plugin("asked.wasm", Fixture::new("asked").build()).await;
    set(&gateway, json!({"permission": "ask"})).await;
    gateway
}

async fn set(gateway: &TestGateway, rule: Value) {
    let path = "/v1/permissions/users/default/tools/asked_run";
    let answer = gateway.send(
        Method::PATCH,
        path,
        Some(&gateway.key),
        Some(rule.to_string()),
    );
    assert_eq!(answer.await.status, 200);
}

async fn decide(gateway: &TestGateway, asked: &Value, decision: &str) {
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let answer = gateway.post(&path, &json!({"decision": decision})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_asked_call_runs_once_after_it_was_approved() {
    let gateway = start().await;
    let asked = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(asked["status"], "approval_required");
    assert_eq!(asked["reason"], "approval_required");
    assert!(asked["requests"].is_array());
    let receipt = format!("/v1/executions/{}", asked["execution_id"].as_str().unwrap());
    assert_eq!(
        gateway.get(&receipt).await.data()["status"],
        "approval_required"
    );
    let waiting = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(waiting["approval_id"], asked["approval_id"]);

    decide(&gateway, &asked, "approve").await;
    let other = gateway.execute("asked_run", json!({"text": "b"})).await;
    assert_eq!(other["status"], "approval_required");
    let ran = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(ran["status"], "success", "{ran}");
    let again = gateway.execute("asked_run", json!({"text": "a"})).await;
    assert_eq!(again["status"], "approval_required");
    assert_ne!(again["approval_id"], asked["approval_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_is_403_and_a_dry_run_needs_no_approval() {
    let gateway = start().await;
    let asked = gateway.execute("asked_run", json!({})).await;
    decide(&gateway, &asked, "deny").await;
    let body = json!({"arguments": {}});
    let refused = gateway.post("/v1/tools/asked_run/execute", &body).await;
    assert_eq!(
        (refused.status, &*refused.code()),
        (403, "permission_denied")
    );
    let planned = json!({"arguments": {}, "dry_run": true});
    let planned = gateway.post("/v1/tools/asked_run/execute", &planned).await;
    assert_eq!(planned.status, 200, "{}", planned.text);

    set(&gateway, json!({"permission": "deny"})).await;
    let planned = json!({"arguments": {}, "dry_run": true});
    let planned = gateway.post("/v1/tools/asked_run/execute", &planned).await;
    assert_eq!(planned.code(), "permission_denied");
    set(&gateway, json!({"permission": "inherit"})).await;
    let ran = gateway.execute("asked_run", json!({})).await;
    assert_eq!(ran["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_key_cannot_approve_its_own_call() {
    let gateway = start().await;
    let agent = new_key(
        &gateway.gateway,
        "agent",
        &[Scope::ToolsRead, Scope::ToolsExecute],
    );
    let agent = agent.await.unwrap();
    let asked = gateway.execute("asked_run", json!({})).await;
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let body = Some(json!({"decision": "approve"}).to_string());
    let refused = gateway.send(Method::POST, &path, Some(&agent), body).await;
    assert_eq!((refused.status, &*refused.code()), (403, "scope_denied"));
    let unknown = json!({"decision": "perhaps"});
    assert_eq!(
        gateway.post(&path, &unknown).await.code(),
        "invalid_request"
    );
    let nobody = gateway
        .post("/v1/approvals/apr_x", &json!({"decision": "deny"}))
        .await;
    assert_eq!((nobody.status, &*nobody.code()), (404, "not_found"));
}
