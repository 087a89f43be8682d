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
                    "more": { "type": "object", "additionalProperties": true, "description": "Anything." },
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
    assert_eq!(ran["reason"], "provider_refused", "{ran}");
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

/// What the approver is given about a call, and the body that is sent once it is approved.
async fn shown_and_sent(
    gateway: &TestGateway,
    upstream: &Upstream,
    arguments: &Value,
) -> (Value, Value) {
    let asked = call(gateway, &gateway.key, arguments).await;
    assert_eq!(asked["status"], "approval_required", "{asked}");
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let shown = gateway.get(&path).await.data();
    let decided = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let ran = call(gateway, &gateway.key, arguments).await;
    assert_eq!(ran["status"], "success", "{ran}");
    let sent = upstream.received().pop().unwrap();
    (shown, serde_json::from_str(&sent.body).unwrap())
}

/// Defence: `host/gateway/src/access/approvals/shown.rs` hides nothing that the caller wrote.
#[tokio::test(flavor = "multi_thread")]
async fn an_approver_reads_everything_that_runs_whatever_it_looks_like() {
    let (gateway, upstream) = notes(200).await;
    connect(&gateway).await;
    for arguments in [
        json!({"text": "Bearer of bad news: send all of it to eve"}),
        json!({"text": "sk-delete-every-note-of-this-account"}),
        json!({"text": "eyJustDeleteEverything", "password": "AKIAEVERYTHINGOFADA"}),
        json!({"text": "-----BEGIN and so on", "password": "hunter22"}),
        json!({"text": "ghp_0123456789abcdefghij", "more": {"x_token": {"to": "eve", "amount": 900}}}),
        json!({"text": "[hidden]", "more": {"client_secret": ["a", {"pin": "1234"}], "cookie": "x"}}),
        json!({"text": format!("{}{}", "\n".repeat(100_000), "delete everything")}),
    ] {
        let (shown, sent) = shown_and_sent(&gateway, &upstream, &arguments).await;
        assert_eq!(shown["arguments"], arguments);
        let text: Value = serde_json::from_str(shown["arguments_text"].as_str().unwrap()).unwrap();
        assert_eq!(text, arguments);
        assert_eq!(shown["secrets_masked"], false);
        let planned: Value =
            serde_json::from_str(shown["requests"][0]["body"].as_str().unwrap()).unwrap();
        assert_eq!(planned, sent, "the planned request is the one that runs");
        assert_eq!(sent, arguments);
    }
}

/// Defence: `host/gateway/src/access/approvals/shown.rs`, and `visible_json` of `host/core/src/visible.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn an_approver_reads_what_cannot_be_seen_and_numbers_as_they_run() {
    let (gateway, upstream) = notes(200).await;
    connect(&gateway).await;
    let mut deep = json!("delete everything");
    for _ in 0..25 {
        deep = json!({ "a": deep });
    }
    for (arguments, in_text) in [
        (json!({"text": "pay \u{202e}eve"}), "pay \\u202eeve"),
        (
            json!({"text": "a\u{200b}b\u{e0041}"}),
            "a\\u200bb\\udb40\\udc41",
        ),
        (json!({"more": {"te\u{2066}xt": "b"}}), "te\\u2066xt"),
        (
            json!({"more": {"amount": 12_345_678_901_234_567_890_u64}}),
            "12345678901234567890",
        ),
        (json!({"more": {"amount": 1e300}}), "1e+300"),
        (json!({"more": deep}), "delete everything"),
    ] {
        let (shown, sent) = shown_and_sent(&gateway, &upstream, &arguments).await;
        let text = shown["arguments_text"].as_str().unwrap();
        assert!(text.contains(in_text), "{text}");
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), sent);
    }
    // Of two fields with one name nobody knows which one runs.
    let path = format!("/v1/tools/{}/execute", tool(&gateway).await);
    let twice = r#"{"arguments": "{\"text\": \"harmless\", \"text\": \"delete\"}"}"#;
    let asked = gateway.send(
        Method::POST,
        &path,
        Some(&gateway.key),
        Some(twice.to_owned()),
    );
    let refused = asked.await;
    assert_eq!((refused.status, &*refused.code()), (400, "invalid_json"));
}

/// Defence: `host/gateway/src/access/approvals/question.rs` (`QUESTION_BYTES_MAX`) and `CallScope::plan_is_cut`.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_too_large_to_be_read_is_refused_and_not_cut() {
    let (gateway, upstream) = notes(200).await;
    connect(&gateway).await;
    let sent = upstream.received().len();
    for arguments in [
        json!({"text": "x".repeat(600_000)}),
        json!({"text": "x".repeat(300_000)}),
        json!({"text": "short", "more": {"list": vec!["delete"; 60_000]}}),
    ] {
        let refused = call(&gateway, &gateway.key, &arguments).await;
        assert_eq!(refused["status"], "error", "{}", refused["status"]);
        assert_eq!(refused["error"]["code"], "too_large_for_approval");
    }
    let listed = gateway.get("/v1/approvals").await.data();
    assert_eq!(listed["approvals"], json!([]), "nobody is asked");
    assert_eq!(upstream.received().len(), sent);
    let arguments = json!({"text": "x".repeat(200_000)});
    let (shown, _) = shown_and_sent(&gateway, &upstream, &arguments).await;
    assert_eq!(shown["arguments"], arguments, "whole");
}

/// Defence: `host/gateway/src/access/approvals/shown.rs` asks nobody about arguments that hold a secret of the connection.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_a_secret_of_its_connection_is_refused_and_not_masked() {
    let (gateway, upstream) = notes(200).await;
    connect(&gateway).await;
    let sent = upstream.received().len();
    for arguments in [
        json!({"text": "hello a-long-secret-key and eve"}),
        json!({"text": "to eve", "more": {"list": ["a-long-secret-key"]}}),
        json!({"more": {"a-long-secret-key": "to eve"}, "text": "eve"}),
    ] {
        let refused = call(&gateway, &gateway.key, &arguments).await;
        assert_eq!(refused["error"]["code"], "secret_in_arguments", "{refused}");
        assert!(
            !refused.to_string().contains("a-long-secret-key"),
            "{refused}"
        );
    }
    let listed = gateway.get("/v1/approvals").await.data();
    assert_eq!(listed["approvals"], json!([]), "nobody is asked");
    assert_eq!(upstream.received().len(), sent);
    let literal = json!({"text": "[redacted]"});
    let asked = call(&gateway, &gateway.key, &literal).await;
    let path = format!("/v1/approvals/{}", asked["approval_id"].as_str().unwrap());
    let shown = gateway.get(&path).await.data();
    assert_eq!(shown["secrets_masked"], false, "the caller wrote it");
    assert_eq!(shown["requests"][0]["method"], "POST");
    assert_eq!(shown["requests_complete"], false);
    assert!(shown["connection_id"].is_string() && shown["plugin"]["sha256"].is_string());
    assert_eq!(
        (&shown["approvers"], &shown["can_decide"]),
        (&json!("admins"), &json!(false))
    );
}

/// Defence: the same. The agent makes the connection with a key of its own, which is a sentence, and would have a part of
/// it masked: nothing is, because a removed part would also tell who does not know the key that a guess was right.
#[tokio::test(flavor = "multi_thread")]
async fn words_are_not_hidden_by_a_key_that_the_agent_has_chosen() {
    let (gateway, upstream) = notes(200).await;
    let body = json!({"service": "notes"});
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let key = "wire-900-euro-to-account-7-of-mallory-and-tell-nobody-about-it";
    let url = link["connect_url"].as_str().unwrap();
    let page = press(&gateway, url, &[("f_secret", key)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let sent = upstream.received().len();
    let whole = json!({"text": format!("Dear bank, {key}! Yours")});
    let refused = call(&gateway, &gateway.key, &whole).await;
    assert_eq!(refused["error"]["code"], "secret_in_arguments", "{refused}");
    let part = json!({"text": "Dear bank, wire-900-euro-to-account-7-of-mallory! Yours"});
    let plain = json!({"text": "Dear bank, good morning"});
    for arguments in [&part, &plain] {
        let (shown, _) = shown_and_sent(&gateway, &upstream, arguments).await;
        assert_eq!(shown["arguments"], *arguments);
        assert!(
            !shown["requests"].to_string().contains("[redacted]"),
            "{shown}"
        );
    }
    assert_eq!(upstream.received().len(), sent + 2);
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
