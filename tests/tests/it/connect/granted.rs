//! Asked, granted and needed scopes are three things.

use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::provider::Provider;
use toolgate_tests::upstream::Upstream;

use super::condemned::{Demo, description};
use super::{follow, link_for, open, register_for};

const READONLY: &str = "https://www.googleapis.com/auth/gmail.readonly";
const SEND: &str = "https://www.googleapis.com/auth/gmail.send";

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_did_not_agree_to_is_asked_for_before_a_request_is_sent() {
    let provider = Provider::start().await;
    provider.memory().scope = Some(format!("{READONLY} openid"));
    let api = Upstream::start(|_| axum::http::Response::new("{}".into())).await;
    let gateway = TestGateway::start(Options {
        plugins: vec![("gmail.wasm".to_owned(), built_plugin("gmail").unwrap())],
        allow_upstream: vec![
            format!("accounts.google.com={}", provider.upstream.url()),
            format!("oauth2.googleapis.com={}", provider.upstream.url()),
            format!("gmail.googleapis.com={}", api.url()),
            format!("www.googleapis.com={}", api.url()),
        ],
        ..Options::default()
    })
    .await;
    register_for(&gateway, "gmail").await;
    let send = async || {
        let arguments =
            json!({"to": ["bob@example.com"], "subject": "Hello", "text": "How are you?"});
        let body = json!({"arguments": arguments, "user_id": "ada"});
        let path = "/v1/tools/gmail_send_message/execute";
        gateway.post(path, &body).await.data()
    };
    // The link that the tool makes asks for sending; the user agrees to reading alone.
    let asked = send().await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    let page = follow(&gateway, &provider, asked["connect_url"].as_str().unwrap()).await;
    assert!(page.text.contains("not granted"), "{}", page.text);
    assert!(page.text.contains(SEND), "{}", page.text);
    let listed = gateway.get("/v1/connections?user_id=ada").await.data();
    let scopes = listed["connections"][0]["scopes"].to_string();
    assert!(
        scopes.contains(READONLY) && !scopes.contains(SEND),
        "{scopes}"
    );

    let before = api.received().len();
    let again = send().await;
    assert_eq!(again["status"], "auth_required", "{again}");
    assert!(again["message"].as_str().unwrap().contains(SEND), "{again}");
    assert_eq!(api.received().len(), before, "nothing was sent");
}

fn tools() -> Value {
    let mut document = description(
        &[
            ("get", "/thing", "get_thing", json!({})),
            (
                "get",
                "/mail",
                "send_mail",
                json!({"security": [{"user": ["read", "mail.send"]}]}),
            ),
            (
                "get",
                "/plain",
                "get_plain",
                json!({"security": [{"user": []}]}),
            ),
        ],
        &json!({"error": {"ok": "/ok"}}),
    );
    document["components"]["securitySchemes"]["user"]["flows"]["authorizationCode"]["scopes"] =
        json!({"read": "r", "mail.send": "s"});
    document
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_the_provider_misses_is_asked_for_and_the_connection_stays() {
    for (status, body) in [
        (
            403,
            json!({"error": {"message": "Request had insufficient authentication scopes.",
            "details": [{"reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}}),
        ),
        (
            403,
            json!({"error": "insufficient_scope", "scope": "mail.send"}),
        ),
        (
            200,
            json!({"ok": false, "error": "missing_scope", "needed": "mail.send"}),
        ),
        (
            403,
            json!({"error": {"code": "Forbidden", "message":
            "Missing scope permissions on the request. API requires one of 'mail.send'."}}),
        ),
    ] {
        let demo = Demo::start(&tools()).await;
        demo.provider.memory().scope = Some("read mail.send".to_owned());
        let id = demo.connect().await;
        demo.refuse("/mail", status, body.clone());
        let asked = demo.run("send_mail", json!({})).await;
        assert_eq!(asked["status"], "auth_required", "{body}: {asked}");
        assert!(asked["connect_url"].is_string(), "{asked}");
        assert_eq!(super::state(&demo.gateway, &id).await, "active");
        assert_eq!(
            demo.provider.memory().refresh_requests,
            0,
            "it is no bad token"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_only_the_answer_names_is_asked_for() {
    let demo = Demo::start(&tools()).await;
    demo.connect().await;
    demo.refuse(
        "/plain",
        403,
        json!({"error": "insufficient_scope", "scope": "mail.send"}),
    );
    let asked = demo.run("get_plain", json!({})).await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    assert!(
        asked["message"].as_str().unwrap().contains("mail.send"),
        "{asked}"
    );
    let page = open(&demo.gateway, asked["connect_url"].as_str().unwrap()).await;
    assert!(
        page.text.contains("<code>mail.send</code>"),
        "{}",
        page.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_no_manifest_names_is_never_asked_for() {
    let demo = Demo::start(&tools()).await;
    demo.connect().await;
    demo.refuse(
        "/plain",
        403,
        json!({"error": "insufficient_scope", "scope": "everything.admin"}),
    );
    let answer = demo.run("get_plain", json!({})).await;
    assert_eq!(answer["status"], "error", "{answer}");
    assert!(!answer.to_string().contains("connect_url"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_that_names_fewer_or_more_scopes_is_believed() {
    let demo = Demo::start(&tools()).await;
    demo.provider.memory().scope = Some("read mail.send".to_owned());
    let (url, id) = link_for(&demo.gateway, "demo", "ada").await;
    follow(&demo.gateway, &demo.provider, &url).await;
    let scopes = async || {
        let path = format!("/v1/connections/{id}");
        demo.gateway.get(&path).await.data()["scopes"].clone()
    };
    assert_eq!(scopes().await, json!(["read", "mail.send"]));
    assert_eq!(demo.run("send_mail", json!({})).await["status"], "success");
    demo.provider.memory().scope = Some("read".to_owned());
    demo.end_token(401, json!({"error": "expired"}));
    assert_eq!(demo.run("get_thing", json!({})).await["status"], "success");
    assert_eq!(scopes().await, json!(["read"]));
    assert_eq!(
        demo.run("send_mail", json!({})).await["status"],
        "auth_required"
    );
    demo.clock.advance_ms(61_000);
    demo.provider.memory().scope = Some("read mail.send".to_owned());
    demo.end_token(401, json!({"error": "expired"}));
    assert_eq!(demo.run("get_thing", json!({})).await["status"], "success");
    assert_eq!(demo.run("send_mail", json!({})).await["status"], "success");
}
