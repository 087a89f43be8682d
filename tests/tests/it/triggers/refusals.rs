//! What is not taken of a trigger, and whose triggers are not there.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{TestGateway, new_key};

use super::{Widgets, new_item, watching};

async fn refused(gateway: &TestGateway, change: &Value) -> (u16, String, String) {
    let mut body = new_item();
    body.as_object_mut()
        .unwrap()
        .extend(change.as_object().unwrap().clone());
    let answer = gateway.post("/v1/triggers", &body).await;
    let message = answer.json()["error"]["message"].to_string();
    (answer.status, answer.code(), message)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_that_could_find_nothing_is_refused_with_the_reason() {
    let widgets = Widgets::start(&["a"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    for (change, status, code, says) in [
        (
            json!({"service": "gadgets"}),
            404,
            "service_not_found",
            "gadgets",
        ),
        (
            json!({"trigger": "gone"}),
            404,
            "not_found",
            "new_item, untimed_item",
        ),
        (
            json!({"config": {"kind": "one"}}),
            400,
            "invalid_request",
            "kind",
        ),
        (
            json!({"config": {"cursor": "2"}}),
            400,
            "invalid_request",
            "cursor",
        ),
        (
            json!({"config": {"folder": {"a": 1}}}),
            400,
            "invalid_arguments",
            "schema",
        ),
        (
            json!({"config": {"folder": "x".repeat(17_000)}}),
            400,
            "invalid_request",
            "16384",
        ),
        (
            json!({"interval_s": 59}),
            400,
            "invalid_request",
            "interval_s",
        ),
        (
            json!({"interval_s": 86_401}),
            400,
            "invalid_request",
            "interval_s",
        ),
        (
            json!({"since": "yesterday"}),
            400,
            "invalid_request",
            "RFC 3339",
        ),
        (
            json!({"since": "2026-01-01T00:00:00Z"}),
            400,
            "invalid_request",
            "30 days",
        ),
        (
            json!({"trigger": "untimed_item", "config": {}, "since": "2026-11-20T00:00:00Z"}),
            400,
            "invalid_request",
            "no times",
        ),
        (
            json!({"connection_id": "con_none"}),
            404,
            "not_found",
            "connection",
        ),
    ] {
        let found = refused(&gateway, &change).await;
        assert_eq!(
            (found.0, &*found.1),
            (status, code),
            "{change}: {}",
            found.2
        );
        assert!(found.2.contains(says), "{change}: {}", found.2);
    }
    let listed = gateway.get("/v1/triggers").await.data();
    assert_eq!(listed["triggers"], json!([]), "nothing was kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_a_person_decides_about_is_not_polled() {
    let widgets = Widgets::start(&["a"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    let rule = "/v1/permissions/users/default/tools/widgets_list_items";
    let key = Some(gateway.key.as_str());
    let set = async |permission: &str| {
        let body = Some(json!({"permission": permission}).to_string());
        assert_eq!(
            gateway.send(Method::PATCH, rule, key, body).await.status,
            200
        );
    };
    set("ask").await;
    assert_eq!(refused(&gateway, &json!({})).await.1, "conflict");
    set("deny").await;
    assert_eq!(refused(&gateway, &json!({})).await.1, "not_found");
    set("allow").await;
    let trigger = watching(&gateway, &new_item()).await;
    // What holds at the time of a poll decides.
    set("deny").await;
    let before = widgets.api.received().len();
    widgets.clock.advance_ms(super::MINUTE_MS);
    let path = format!("/v1/triggers/{trigger}");
    gateway
        .wait("the poll to be refused", async || {
            gateway.get(&path).await.data()["state"] == "failing"
        })
        .await;
    assert_eq!(widgets.api.received().len(), before);
    let approvals = gateway.get("/v1/approvals").await.data();
    assert_eq!(
        approvals["approvals"],
        json!([]),
        "nobody is asked by a poll"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_has_its_own_users_triggers_and_needs_both_scopes() {
    let widgets = Widgets::start(&["a"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    let mut of_bob = new_item();
    of_bob["user_id"] = json!("bob");
    let bobs = gateway.post("/v1/triggers", &of_bob).await;
    assert_eq!(bobs.status, 201, "{}", bobs.text);
    let bobs = format!(
        "/v1/triggers/{}",
        bobs.data()["trigger_id"].as_str().unwrap()
    );
    let trigger = watching(&gateway, &new_item()).await;
    let own = format!("/v1/triggers/{trigger}");

    let both = [Scope::Webhooks, Scope::ToolsExecute];
    let confined = new_key(&gateway.gateway, "confined", &both).await.unwrap();
    let key = Some(confined.as_str());
    let code = async |method: Method, path: &str, body: Option<Value>| {
        let body = body.map(|body| body.to_string());
        gateway.send(method, path, key, body).await.code()
    };
    assert_eq!(code(Method::GET, &bobs, None).await, "not_found");
    assert_eq!(code(Method::DELETE, &bobs, None).await, "not_found");
    let paused = Some(json!({"paused": true}));
    assert_eq!(code(Method::PATCH, &bobs, paused).await, "not_found");
    assert_eq!(
        code(Method::POST, "/v1/triggers", Some(of_bob)).await,
        "scope_denied"
    );
    let listed = gateway
        .send(Method::GET, "/v1/triggers", key, None)
        .await
        .data();
    assert_eq!(listed["triggers"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["triggers"][0]["trigger_id"], trigger.as_str());
    assert_eq!(listed["triggers"][0]["config"], Value::Null, "{listed}");
    assert_eq!(gateway.send(Method::GET, &own, key, None).await.status, 200);

    for missing in both {
        let rest: Vec<Scope> = both.into_iter().filter(|scope| *scope != missing).collect();
        let lacks = new_key(&gateway.gateway, "lacks", &rest).await.unwrap();
        let body = Some(new_item().to_string());
        let made = gateway
            .send(Method::POST, "/v1/triggers", Some(&lacks), body)
            .await;
        assert_eq!(made.code(), "scope_denied", "{missing:?}");
    }
    // Bob is not connected, so his trigger waits and calls nothing.
    gateway
        .wait("bob's trigger to wait", async || {
            gateway.get(&bobs).await.data()["state"] == "waiting_for_connection"
        })
        .await;
    let answer = gateway
        .post(&format!("{bobs}/test"), &json!({}))
        .await
        .data();
    assert_eq!(answer["status"], "auth_required", "{answer}");
    assert!(answer["connect"]["connect_url"].is_string(), "{answer}");
}
