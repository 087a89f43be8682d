//! A write that is repeated blindly after an end that nobody saw is held back once.

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::upstream::{Received, Upstream};

use crate::crash::plugin;
use crate::parity::say;

/// The gateway with the plugin `notes`, whose provider does what it is asked and says nothing clear of it.
async fn start(no_repeat_guard: bool) -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|_: &Received| {
        Response::builder()
            .status(504)
            .body(Body::from("{}"))
            .unwrap()
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("notes.wasm".to_owned(), plugin(folder.path()).await)],
        allow_upstream: vec![format!("api.notes.io={}", upstream.url())],
        no_repeat_guard,
        ..Options::default()
    })
    .await;
    gateway.wait_for_file("notes.wasm", "active").await;
    (gateway, upstream)
}

async fn run(gateway: &TestGateway, tool: &str) -> Answer {
    gateway
        .post(&format!("/v1/tools/{tool}/execute"), &json!({}))
        .await
}

fn writes(upstream: &Upstream) -> usize {
    let received = upstream.received();
    received.iter().filter(|one| one.method == "POST").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_repetition_says_what_to_look_at_and_the_next_one_is_sent() {
    let (gateway, upstream) = start(false).await;
    let first = run(&gateway, "notes_create_note").await.data();
    assert_eq!(first["status"], "error", "{first}");
    let sent = writes(&upstream);
    let held = run(&gateway, "notes_create_note").await;
    assert_eq!((held.status, held.code().as_str()), (409, "repeated_write"));
    let error = &held.json()["error"];
    assert_eq!(
        error["details"]["execution_id"], first["execution_id"],
        "{error}"
    );
    assert!(
        error["hint"].as_str().unwrap().contains("Look first"),
        "{error}"
    );
    assert_eq!(writes(&upstream), sent, "it was not sent");
    let path = format!("/v1/executions/{}", first["execution_id"].as_str().unwrap());
    assert_eq!(gateway.get(&path).await.data()["status"], "error");
    let again = run(&gateway, "notes_create_note").await.data();
    assert_eq!(again["status"], "error", "{again}");
    assert!(writes(&upstream) > sent);
    // Over MCP the same holds for the same user.
    let call = json!({ "tool_name": "notes_create_note", "arguments": "{}" });
    let held = say(&gateway, "svc_execute_tool", call.clone()).await;
    assert_eq!(held.code(), "repeated_write");
    assert!(
        held.text.contains(again["execution_id"].as_str().unwrap()),
        "{}",
        held.text
    );
    let sent = say(&gateway, "svc_execute_tool", call).await;
    assert!(
        sent.text.contains("Reason: provider_error"),
        "{}",
        sent.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_same_write_without_a_key_is_held_back() {
    let (gateway, upstream) = start(false).await;
    run(&gateway, "notes_create_note").await.data();
    // Another call, a tool that may be repeated, a tool that reads, another user, a dry run.
    for tool in [
        "notes_replace_board",
        "notes_replace_board",
        "notes_list_notes",
        "notes_list_notes",
    ] {
        assert_eq!(run(&gateway, tool).await.status, 200, "{tool}");
    }
    let path = "/v1/tools/notes_create_note/execute";
    for body in [json!({ "user_id": "other" }), json!({ "dry_run": true })] {
        let answer = gateway.post(path, &body).await;
        assert_ne!(answer.json()["error"]["code"], "repeated_write", "{body}");
    }
    let request = gateway
        .client
        .post(gateway.url(path))
        .bearer_auth(&gateway.key);
    let request = request.header("content-type", "application/json");
    let keyed = request.header("idempotency-key", "mine").body("{}");
    let keyed = Answer::read(keyed.send().await.unwrap()).await;
    assert_eq!(keyed.status, 200, "{}", keyed.text);
    assert!(writes(&upstream) >= 2);
    assert_eq!(
        run(&gateway, "notes_create_note").await.code(),
        "repeated_write"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_setting_turns_it_off() {
    let (gateway, _upstream) = start(true).await;
    for _ in 0..3 {
        let answer: Value = run(&gateway, "notes_create_note").await.data();
        assert_eq!(answer["status"], "error", "{answer}");
    }
}
