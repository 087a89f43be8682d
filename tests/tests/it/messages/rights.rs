//! The rights with which a turn runs are those of its caller, looked at before every step.

use std::sync::Arc;

use reqwest::Method;
use serde_json::json;
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway, new_key, operator};
use toolgate_tests::model::{Line, Model, text};

use super::{begin, reason, run, scripted, steps};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_asks_waits_for_its_approval() {
    let (gateway, model) = scripted([run(), text("It ran.")]).await;
    let rule = Some(json!({"permission": "ask"}).to_string());
    let path = "/v1/permissions/users/default/tools/echo_run";
    gateway
        .send(Method::PATCH, path, Some(&gateway.key), rule)
        .await
        .data();
    let (session, paused) = begin(&gateway, "Run it").await;
    assert_eq!(reason(&paused), ("paused", "approval_required"));
    let approval = paused["pending"]["approval_id"].as_str().unwrap();
    let resume = format!("/v1/sessions/{session}/resume");
    let early = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(early["pending"]["approval_id"], approval);
    gateway.decide(&json!(approval), "approve").await.data();
    let done = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(
        (reason(&done), &done["content"]),
        (("completed", "answered"), &json!("It ran."))
    );
    let ran = gateway.get("/v1/executions?status=success").await.data();
    assert_eq!(ran["executions"].as_array().unwrap().len(), 1);
    assert_eq!(model.asked().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loop_has_the_rights_of_its_caller_at_each_moment() {
    let (gateway, _model) = scripted([run(), text("I may not.")]).await;
    let scopes = [Scope::Sessions, Scope::ToolsRead];
    let key = new_key(&gateway.gateway, "reader", &scopes).await.unwrap();
    let body = Some(json!({"prompt": "Run it"}).to_string());
    let made = gateway
        .send(Method::POST, "/v1/sessions", Some(&key), body)
        .await
        .data();
    let session = made["session_id"].as_str().unwrap();
    let tool = &steps(&gateway, session).await[2];
    assert!(
        tool["content"].as_str().unwrap().contains("scope_denied"),
        "{tool}"
    );

    let (gateway_two, model) = scripted([Line::Gated(Box::new(run())), text("never")]).await;
    let gateway_two = Arc::new(gateway_two);
    let key = new_key(&gateway_two.gateway, "short-lived", Scope::ALL)
        .await
        .unwrap();
    let asking = {
        let (gateway, key) = (gateway_two.clone(), key.clone());
        tokio::spawn(async move {
            let body = Some(json!({"prompt": "Run it"}).to_string());
            gateway
                .send(Method::POST, "/v1/sessions", Some(&key), body)
                .await
        })
    };
    gateway_two
        .wait("the model to be asked", async || !model.asked().is_empty())
        .await;
    let store = gateway_two.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let now_ms = gateway_two.gateway.clock().now_ms();
    keys::revoke(
        store,
        &toolgate_gateway::Caller::operator(&workspace),
        "short-lived",
        now_ms,
    )
    .await
    .unwrap();
    model.open_gate();
    let made = asking.await.unwrap().data();
    let reply = made["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(reason(reply), ("stopped", "key_revoked"));
    let ran = gateway_two.get("/v1/executions").await.data();
    assert_eq!(ran["executions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_default_that_asks_holds_for_the_next_call_of_a_running_turn() {
    let mut write = tool("run");
    write["effect"] = "write".into();
    let plugin = Fixture::new("echo").with("tools", json!([write])).build();
    let model = Model::start([Line::Gated(Box::new(run())), text("It ran.")]).await;
    let options = Options {
        plugins: vec![("echo.wasm".to_owned(), plugin)],
        model_url: Some(model.url()),
        ..Options::default()
    };
    let gateway = Arc::new(TestGateway::start(options).await);
    let asking = {
        let gateway = gateway.clone();
        tokio::spawn(async move { begin(&gateway, "Run it").await })
    };
    gateway
        .wait("the model to be asked", async || !model.asked().is_empty())
        .await;
    let default = async |default: &str| {
        let operator = operator(&gateway.gateway).await.unwrap();
        let change = serde_json::from_value(json!({ "default": default })).unwrap();
        let changed = gateway.gateway.change_default_permission(&operator, change);
        changed.await.unwrap()
    };
    default("by_effect").await;
    model.open_gate();
    let (session, paused) = asking.await.unwrap();
    assert_eq!(reason(&paused), ("paused", "approval_required"));
    let ran = gateway.get("/v1/executions?status=success").await.data();
    assert_eq!(ran["executions"], json!([]));

    default("allow").await;
    let resume = format!("/v1/sessions/{session}/resume");
    let done = gateway.post(&resume, &json!({})).await.data();
    assert_eq!(done["content"], "It ran.", "{done}");
}
