//! A user who connects another account while a call runs: the call goes on with the account that it was checked with,
//! or not at all.

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gate::{Gate, Point};
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::upstream::Upstream;

use super::press;
use crate::described::built;

const FIRST: &str = "key-of-the-first-account-0123456789";
const SECOND: &str = "key-of-the-second-account-9876543210";

/// A service with one write, which a person has to approve, behind a gate. It takes the second account alone, so that
/// a request with the first one would be sent again with whatever credential there is then.
async fn notes() -> (TestGateway, Upstream, Gate) {
    let upstream = Upstream::start(|request| {
        let mut headers = request.headers.iter();
        let known = headers.any(|(_, value)| value.ends_with(SECOND));
        Response::builder()
            .status(if known { 200 } else { 401 })
            .header("content-type", "application/json")
            .body(Body::from("{}"))
            .unwrap()
    })
    .await;
    let gate = Gate::before(&upstream.url()).await;
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
                "properties": { "text": { "type": "string", "description": "What it says." } },
            } } } },
            "responses": { "200": { "description": "The answer." } },
        } } },
    });
    std::fs::write(&description, text.to_string()).unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("notes.wasm".to_owned(), built(description).await)],
        allow_upstream: vec![format!("api.notes.io={}", gate.url())],
        ..Options::default()
    })
    .await;
    (gateway, upstream, gate)
}

/// Connects an account and answers the connection's id. `renews`: the one that is connected again.
async fn connect(gateway: &TestGateway, key: &str, renews: Option<&str>) -> String {
    let body = json!({"service": "notes", "connection_id": renews});
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let url = link["connect_url"].as_str().unwrap();
    let page = press(gateway, url, &[("f_secret", key)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    if renews.is_some() {
        super::agree(gateway, &page).await;
    }
    link["connection_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_does_not_go_on_with_an_account_that_was_connected_meanwhile() {
    let (gateway, upstream, gate) = notes().await;
    let id = connect(&gateway, FIRST, None).await;
    let listed = gateway.get("/v1/tools/list").await.data();
    let tool = listed["tools"][0]["name"].as_str().unwrap().to_owned();
    let rule = json!({"permission": "ask"}).to_string();
    let path = format!("/v1/permissions/users/default/tools/{tool}");
    let set = gateway.send(Method::PATCH, &path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    let call = async || -> Value { gateway.execute(&tool, json!({"text": "once"})).await };
    let approved = async || {
        let asked = call().await;
        assert_eq!(asked["status"], "approval_required", "{asked}");
        let decided = gateway.decide(&asked["approval_id"], "approve").await;
        assert_eq!(decided.status, 200, "{}", decided.text);
    };
    let sent_with = || -> Vec<String> {
        let received = upstream.received().into_iter();
        let headers = received.flat_map(|one| one.headers);
        let credentials = headers.filter(|(name, _)| name == "authorization");
        credentials.map(|(_, value)| value).collect()
    };

    approved().await;
    gate.hold("/notes", Point::Done);
    let reconnects = async {
        gate.held().await;
        assert_eq!(connect(&gateway, SECOND, Some(&id)).await, id);
        gate.release();
    };
    let (ran, ()) = tokio::join!(call(), reconnects);
    assert_eq!(sent_with(), [format!("Bearer {FIRST}")], "{ran}");
    assert_eq!(ran["status"], "error", "{ran}");
    assert_eq!(ran["error"]["code"], "conflict", "{ran}");

    // Whoever approves the call again knows the account.
    approved().await;
    let ran = call().await;
    assert_eq!(ran["status"], "success", "{ran}");
    let sent = [format!("Bearer {FIRST}"), format!("Bearer {SECOND}")];
    assert_eq!(sent_with(), sent);
}
