//! One approval, one run: of what was shown, for who asked, decided by somebody else.

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{Options, TestGateway, new_key};
use toolgate_tests::upstream::Upstream;

use super::spy;
use crate::connect::press;
use crate::described::built;

/// A service with one write, whose provider answers every request like this.
async fn notes(status: u16) -> (TestGateway, Upstream) {
    let upstream = Upstream::start(move |_| {
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from("{}"))
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("notes.json");
    let text = json!({
        "openapi": "3.1.0",
        "info": { "title": "Notes", "version": "1.0.0" },
        "servers": [{ "url": "https://api.notes.io" }],
        "components": { "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } } },
        "security": [{ "key": [] }],
        "paths": { "/notes": { "post": {
            "operationId": "add_note",
            "requestBody": { "content": { "application/json": { "schema": {
                "type": "object",
                "properties": {
                    "text": { "type": "string", "description": "What it says." },
                    "password": { "type": "string", "description": "Who may read it." },
                },
            } } } },
            "responses": { "200": { "description": "The answer." } },
        } } },
    });
    std::fs::write(&description, text.to_string()).unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("notes.wasm".to_owned(), built(description).await)],
        allow_upstream: vec![format!("api.notes.io={}", upstream.url())],
        ..Options::default()
    })
    .await;
    let tool = tool(&gateway).await;
    let path = format!("/v1/permissions/users/default/tools/{tool}");
    let rule = json!({"permission": "ask"}).to_string();
    let set = gateway.send(Method::PATCH, &path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    (gateway, upstream)
}

async fn tool(gateway: &TestGateway) -> String {
    let listed = gateway.get("/v1/tools/list").await.data();
    listed["tools"][0]["name"].as_str().unwrap().to_owned()
}

async fn connect(gateway: &TestGateway) {
    let body = json!({"service": "notes"});
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let url = link["connect_url"].as_str().unwrap();
    let page = press(gateway, url, &[("f_secret", "a-long-secret-key")]).await;
    assert_eq!(page.status, 200, "{}", page.text);
}

async fn call(gateway: &TestGateway, key: &str, arguments: &Value) -> Value {
    let path = format!("/v1/tools/{}/execute", tool(gateway).await);
    let body = json!({ "arguments": arguments }).to_string();
    let answer = gateway.send(Method::POST, &path, Some(key), Some(body));
    answer.await.data()
}

/// Defence: `host/gateway/src/tools/execute/permit.rs` uses an approval up before the plugin begins, and gives it back
/// only where no request was sent.
#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_answers_401_does_not_give_the_approval_back() {
    let (gateway, upstream) = notes(401).await;
    connect(&gateway).await;
    let before = upstream.received().len();
    let arguments = json!({"text": "once"});
    let asked = call(&gateway, &gateway.key, &arguments).await;
    assert_eq!(asked["status"], "approval_required", "{asked}");
    assert_eq!(upstream.received().len(), before, "nothing left");
    let decided = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let ran = call(&gateway, &gateway.key, &arguments).await;
    assert_eq!(ran["status"], "auth_expired", "{ran}");
    assert!(upstream.received().len() > before, "it ran");
    connect(&gateway).await;
    let sent = upstream.received().len();
    let again = call(&gateway, &gateway.key, &arguments).await;
    assert_eq!(again["status"], "approval_required", "{again}");
    assert_ne!(again["approval_id"], asked["approval_id"]);
    assert_eq!(upstream.received().len(), sent, "nothing ran a second time");
}

/// Defence: `host/gateway/src/access/approvals/question.rs` binds the question to the connection.
#[tokio::test(flavor = "multi_thread")]
async fn an_approval_does_not_run_with_an_account_that_was_connected_afterwards() {
    let (gateway, upstream) = notes(200).await;
    connect(&gateway).await;
    let arguments = json!({"text": "once"});
    let asked = call(&gateway, &gateway.key, &arguments).await;
    let decided = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    connect(&gateway).await;
    let sent = upstream.received().len();
    let again = call(&gateway, &gateway.key, &arguments).await;
    assert_eq!(again["status"], "approval_required", "{again}");
    assert_eq!(upstream.received().len(), sent);
}

/// Defence: `host/gateway/src/access/approvals.rs` (`may_decide`), and the asker in the question's hash.
#[tokio::test(flavor = "multi_thread")]
async fn the_key_that_asked_decides_nothing_and_another_key_uses_nothing() {
    let (gateway, upstream) = notes(200).await;
    connect(&gateway).await;
    let sent = upstream.received().len();
    let arguments = json!({"text": "once"});
    let asked = call(&gateway, &gateway.key, &arguments).await;
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let own = gateway.post(&path, &json!({"decision": "approve"})).await;
    assert_eq!((own.status, &*own.code()), (403, "permission_denied"));
    let decided = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let scopes = [Scope::ToolsRead, Scope::ToolsExecute];
    let other = new_key(&gateway.gateway, "other", &scopes).await.unwrap();
    let stolen = call(&gateway, &other, &arguments).await;
    assert_eq!(stolen["status"], "approval_required", "{stolen}");
    assert_eq!(upstream.received().len(), sent);
    let ran = call(&gateway, &gateway.key, &arguments).await;
    assert_eq!(ran["status"], "success", "{ran}");
    assert_eq!(upstream.received().len(), sent + 1);
}

/// Defence: `host/gateway/src/access/approvals/masked.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn an_approver_reads_what_runs_and_no_secret() {
    let (gateway, _upstream) = notes(200).await;
    connect(&gateway).await;
    let arguments = json!({"text": "hello", "password": "hunter22"});
    let asked = call(&gateway, &gateway.key, &arguments).await;
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let shown = gateway.get(&path).await;
    assert!(!shown.text.contains("hunter22"), "{}", shown.text);
    assert!(!shown.text.contains("a-long-secret-key"), "{}", shown.text);
    let shown = shown.data();
    assert_eq!(
        shown["arguments"],
        json!({"text": "hello", "password": "[hidden]"})
    );
    assert_eq!(shown["requests"][0]["method"], "POST");
    assert_eq!(shown["requests_complete"], false);
    assert!(shown["connection_id"].is_string() && shown["plugin"]["sha256"].is_string());
    assert_eq!(
        (&shown["approvers"], &shown["can_decide"]),
        (&json!("admins"), &json!(false))
    );
}

/// Defence: `host/egress/src/plan.rs` holds the run to the digests of the requests that were approved.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_another_than_the_approved_one_does_not_leave() {
    let upstream = Upstream::start(|_| spy::answers("application/json", "{}")).await;
    let mut scheme = spy::bearer();
    scheme["x-toolgate"] = json!({ "audience": ["https://api.spy.io", "{api_base}"] });
    let paths = json!({ "/things": spy::reads("things", json!([])) });
    let mut description = spy::description(&scheme, paths);
    description["x-toolgate"]["api_base"] = json!({ "title": "Address" });
    description["x-toolgate"]["hosts"] = json!(["api.spy.io"]);
    let gateway = TestGateway::start(Options {
        plugins: vec![("spy.wasm".to_owned(), spy::component(&description).await)],
        ..Options::default()
    })
    .await;
    let address = async |path: &str| {
        let values = [("api_base".to_owned(), format!("{}{path}", upstream.url()))];
        toolgate_tests::gateway::configure(&gateway.gateway, "spy", &values)
            .await
            .unwrap();
    };
    address("/one").await;
    spy::connect(&gateway, "ada", &[("f_secret", spy::TOKEN)]).await;
    let rule = json!({"permission": "ask"}).to_string();
    let path = "/v1/permissions/users/ada/tools/spy_things";
    let set = gateway.send(Method::PATCH, path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    let call = async || spy::run(&gateway, "spy_things", "ada", json!({})).await;

    let asked = call().await;
    assert_eq!(asked["status"], "approval_required", "{asked}");
    let decided = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let before = upstream.received().len();
    address("/two").await;
    let deviated = call().await;
    assert_eq!(deviated["status"], "error", "{deviated}");
    assert_eq!(deviated["error"]["code"], "approval_mismatch", "{deviated}");
    assert_eq!(upstream.received().len(), before, "nothing left");
    // It is used up: the address of before does not bring it back.
    address("/one").await;
    let again = call().await;
    assert_eq!(again["status"], "approval_required", "{again}");
    assert_ne!(again["approval_id"], asked["approval_id"]);
    let decided = gateway.decide(&again["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    assert_eq!(call().await["status"], "success", "as it was approved");
    let last = upstream.received().pop().unwrap();
    assert_eq!(last.target, "/one/things");
}
