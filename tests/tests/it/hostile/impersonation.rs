//! A key acts for its own user, and keeps no answer that is not its own any more.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, TestGateway, new_key};

use crate::parity::say;

/// An address that takes no delivery.
const HOOK: &str = "https://hooks.example.com/in";

async fn start() -> TestGateway {
    TestGateway::with_plugin("demo.wasm", Fixture::new("demo").build()).await
}

async fn send(
    gateway: &TestGateway,
    key: &str,
    method: Method,
    path: &str,
    body: &Value,
) -> Answer {
    let body = (method != Method::GET).then(|| body.to_string());
    gateway.send(method, path, Some(key), body).await
}

/// Defence: `Caller::user` and `Caller::acts_for` (`host/operation/src/caller.rs`), confined without `users:any`.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_users_any_reaches_no_other_user() {
    let gateway = start().await;
    let confined: Vec<Scope> = Scope::ALL
        .iter()
        .copied()
        .filter(|scope| !matches!(scope, Scope::UsersAny | Scope::Admin))
        .collect();
    let key = new_key(&gateway.gateway, "own", &confined).await.unwrap();
    let deny = json!({"permission": "deny"});
    let rule = "/v1/permissions/users/default/tools/demo_run";
    let set = send(&gateway, &gateway.key, Method::PATCH, rule, &deny).await;
    assert_eq!(set.status, 200);
    let bob = "/v1/permissions/users/bob";
    let named = json!({"arguments": {}, "user_id": "bob", "service": "demo", "prompt": "x"});
    let run = "/v1/tools/demo_run/execute";
    for (method, path, body) in [
        (
            Method::POST,
            run,
            json!({"arguments": {}, "user_id": "bob"}),
        ),
        (Method::GET, "/v1/tools/list?user_id=bob", named.clone()),
        (
            Method::GET,
            "/v1/tools/search?query=x&user_id=bob",
            named.clone(),
        ),
        (
            Method::GET,
            "/v1/tools/demo_run/schema?user_id=bob",
            named.clone(),
        ),
        (Method::GET, "/v1/executions?user_id=bob", named.clone()),
        (Method::GET, "/v1/connections?user_id=bob", named.clone()),
        (Method::GET, "/v1/sessions?user_id=bob", named.clone()),
        (Method::GET, bob, named.clone()),
        (
            Method::PATCH,
            &format!("{bob}/tools/demo_run"),
            json!({"permission": "allow"}),
        ),
        (Method::PATCH, &format!("{bob}/batch"), json!({"tools": {}})),
        (Method::GET, &format!("{bob}/summary"), named.clone()),
        (
            Method::POST,
            "/v1/connections/link",
            json!({"service": "demo", "user_id": "bob"}),
        ),
        (
            Method::POST,
            "/v1/connections/confirm",
            json!({"code": "x", "user_id": "bob"}),
        ),
        (
            Method::POST,
            "/v1/sessions",
            json!({"prompt": "x", "user_id": "bob"}),
        ),
        (
            Method::PATCH,
            "/v1/permissions/default",
            json!({"default": "allow"}),
        ),
        (
            Method::POST,
            "/v1/webhooks",
            json!({"url": HOOK, "events": ["*"], "filters": {"user_ids": ["bob"]}}),
        ),
    ] {
        let refused = send(&gateway, &key, method.clone(), path, &body).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (403, "scope_denied"),
            "{method} {path}"
        );
    }
    let own = send(&gateway, &key, Method::POST, run, &json!({"arguments": {}})).await;
    assert_eq!(own.code(), "permission_denied", "its own user is denied");
    let mut many = confined;
    many.push(Scope::UsersAny);
    let many = new_key(&gateway.gateway, "many", &many).await.unwrap();
    let body = json!({"arguments": {}, "user_id": "bob"});
    let ran = send(&gateway, &many, Method::POST, run, &body).await;
    assert_eq!(ran.data()["status"], "success");
    assert!(!keys::DEFAULT_SCOPES.contains(&Scope::UsersAny));
}

/// Defence: `host/gateway/src/webhooks.rs` (`checked_filters`, `is_visible`).
#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_users_any_receives_no_other_users_events() {
    let gateway = start().await;
    let scopes = [Scope::Webhooks, Scope::ToolsExecute];
    let own_key = new_key(&gateway.gateway, "own", &scopes).await.unwrap();
    let hooks = "/v1/webhooks";
    let make = async |key: &str, filters: Value| {
        let body = json!({"url": HOOK, "events": ["*"], "filters": filters});
        let made = send(&gateway, key, Method::POST, hooks, &body).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.data()
    };
    let path_of = |made: &Value| format!("{hooks}/{}", made["webhook_id"].as_str().unwrap());
    let all = path_of(&make(&gateway.key, json!({})).await);
    let of_bob = path_of(&make(&gateway.key, json!({"user_ids": ["bob"]})).await);
    let of_both = json!({"user_ids": ["default", "bob"]});
    let of_both = path_of(&make(&gateway.key, of_both).await);
    let made = make(&own_key, json!({})).await;
    let own = path_of(&made);
    let alone = json!({"user_ids": ["default"]});
    assert_eq!(made["filters"], alone);

    for user in ["bob", "default"] {
        let body = json!({"arguments": {}, "user_id": user});
        let run = "/v1/tools/demo_run/execute";
        let ran = send(&gateway, &gateway.key, Method::POST, run, &body).await;
        assert_eq!(ran.data()["status"], "success", "{user}");
    }
    let executed = async |webhook: &str| {
        let listed = gateway.get(&format!("{webhook}/deliveries")).await.data();
        let listed = listed["deliveries"].as_array().unwrap().clone();
        let kind = |one: &&Value| one["type"] == "tool.executed";
        listed.iter().filter(kind).count()
    };
    gateway
        .wait("the events of both calls", async || {
            executed(&all).await == 2
        })
        .await;
    assert_eq!(executed(&of_bob).await, 1);
    assert_eq!(executed(&own).await, 1, "its own user's call alone");

    let listed = send(&gateway, &own_key, Method::GET, hooks, &json!({})).await;
    let listed = listed.data();
    assert_eq!(listed["webhooks"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["webhooks"][0]["webhook_id"], made["webhook_id"]);
    for other in [&all, &of_bob, &of_both] {
        let delivery = gateway.post(&format!("{other}/test"), &json!({})).await;
        let delivery = delivery.data()["delivery_id"].clone();
        let resend = format!("/deliveries/{}/resend", delivery.as_str().unwrap());
        for (method, what, body) in [
            (Method::GET, "", json!({})),
            (Method::PATCH, "", json!({"url": HOOK})),
            (Method::POST, "/rotate", json!({})),
            (Method::POST, "/test", json!({})),
            (Method::GET, "/deliveries", json!({})),
            (Method::POST, &resend, json!({})),
            (Method::DELETE, "", json!({})),
        ] {
            let path = format!("{other}{what}");
            let refused = send(&gateway, &own_key, method.clone(), &path, &body).await;
            assert_eq!(
                (refused.status, &*refused.code()),
                (404, "not_found"),
                "{method} {path}"
            );
        }
        assert_eq!(gateway.get(other).await.status, 200, "{other}");
    }

    let wider = json!({"filters": {"user_ids": ["default", "bob"]}});
    let refused = send(&gateway, &own_key, Method::PATCH, &own, &wider).await;
    assert_eq!(refused.code(), "scope_denied");
    let widest = json!({"filters": {}});
    let changed = send(&gateway, &own_key, Method::PATCH, &own, &widest).await;
    assert_eq!(changed.data()["filters"], alone);
    let tested = send(
        &gateway,
        &own_key,
        Method::POST,
        &format!("{own}/test"),
        &json!({}),
    )
    .await;
    assert_eq!(tested.status, 200, "{}", tested.text);
    let deleted = send(&gateway, &own_key, Method::DELETE, &own, &json!({})).await;
    assert_eq!(deleted.status, 200, "{}", deleted.text);
}

/// Defence: `host/gateway/src/tools/kept.rs` (`check_result_access`).
#[tokio::test(flavor = "multi_thread")]
async fn a_kept_answer_is_not_given_to_who_may_not_run_the_tool_any_more() {
    let gateway = start().await;
    let again = async || {
        let request = gateway
            .client
            .post(gateway.url("/v1/tools/demo_run/execute"))
            .header("authorization", format!("Bearer {}", gateway.key))
            .header("content-type", "application/json")
            .header("idempotency-key", "one")
            .body(json!({"arguments": {}}).to_string());
        Answer::read(request.send().await.unwrap()).await
    };
    assert_eq!(again().await.data()["status"], "success");
    assert_eq!(again().await.data()["status"], "success", "kept");
    let rule = "/v1/permissions/users/default/tools/demo_run";
    for (permission, status) in [("deny", 403), ("ask", 403), ("allow", 200)] {
        let body = json!({"permission": permission});
        send(&gateway, &gateway.key, Method::PATCH, rule, &body)
            .await
            .data();
        assert_eq!(again().await.status, status, "{permission}");
    }
}

/// Defence: `host/gateway/src/tools/kept.rs` (`check_result_access`), for the rest of a large result too.
#[tokio::test(flavor = "multi_thread")]
async fn a_kept_result_is_not_given_to_who_may_not_run_the_tool_any_more() {
    let echo = Fixture::new("echo")
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    let gateway = TestGateway::with_plugin("echo.wasm", echo.build()).await;
    let keep = async || {
        let body = json!({"arguments": {"text": "x".repeat(2_000)}, "max_result_bytes": 256});
        let ran = gateway.post("/v1/tools/echo_run/execute", &body).await;
        let id = ran.data()["truncated"]["result_id"].clone();
        id.as_str().expect("a kept result").to_owned()
    };
    let rule = "/v1/permissions/users/default/tools/echo_run";
    let set = async |rule: &str, body: Value| {
        send(&gateway, &gateway.key, Method::PATCH, rule, &body)
            .await
            .data();
    };
    let read = async |id: &str| gateway.get(&format!("/v1/results/{id}")).await;
    let id = keep().await;
    assert_eq!(read(&id).await.status, 200);
    for (permission, status) in [("deny", 403), ("ask", 403), ("allow", 200)] {
        set(rule, json!({"permission": permission})).await;
        let piece = read(&id).await;
        assert_eq!(piece.status, status, "{permission}");
        assert_eq!(status == 403, !piece.text.contains("xxxx"), "{permission}");
    }
    set(rule, json!({"permission": "deny"})).await;
    let asked = json!({"tool_name": "toolgate_read_result", "arguments": {"result_id": id}});
    let over_mcp = say(&gateway, "svc_execute_tool", asked).await;
    assert_eq!(over_mcp.code(), "permission_denied");

    // The one call that a rule allowed may be read to its end.
    set(rule, json!({"permission": "allow", "max_calls": 1})).await;
    let default = "/v1/permissions/default";
    set(default, json!({"default": "by_effect"})).await;
    let service = "/v1/permissions/users/default/services/echo";
    set(service, json!({"permission": "ask"})).await;
    let id = keep().await;
    assert_eq!(read(&id).await.status, 200, "used up by this very call");
    set(service, json!({"permission": "deny"})).await;
    assert_eq!(read(&id).await.code(), "permission_denied");
}
