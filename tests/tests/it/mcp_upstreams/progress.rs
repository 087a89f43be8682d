//! Progress that a server reports on the stream of a call reaches the caller while the call runs.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate_tests::events::{parse, watching};
use toolgate_tests::mcp::{Client, client_program};

use super::gateway_of;
use super::hostile::{answer, of, one_tool, server};

const STREAM: &str = "text/event-stream";
/// More than a caller hears of.
const MANY: u64 = 1_500;

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

fn progress(token: &Value, done: u64, text: &str) -> String {
    let params = json!({"progressToken": token, "progress": done, "total": 4, "message": text});
    event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
}

/// The token of a call.
fn token(message: &Value) -> &Value {
    let token = &message["params"]["_meta"]["progressToken"];
    assert!(token.is_string(), "{message}");
    token
}

fn done(message: &Value) -> String {
    let content = json!([{"type": "text", "text": "done"}]);
    event(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_hears_of_progress_before_the_server_has_answered() {
    let heard = Arc::new(Notify::new());
    let waits = heard.clone();
    let server = server(
        |_| one_tool(),
        move |_, message| {
            let (first, last) = (progress(token(message), 1, "begun"), done(message));
            let heard = waits.clone();
            let first = stream::once(async move { first });
            // Without the progress of the first part this never comes.
            let last = stream::once(async move {
                heard.notified().await;
                last
            });
            let parts = first.chain(last).map(Ok::<_, Infallible>);
            answer(200, STREAM, Body::from_stream(parts))
        },
    )
    .await;
    let gateway = gateway_of(&of(&server)).await;
    let mut answer = watching(&gateway, "odd_do_it", &json!({}))
        .send()
        .await
        .unwrap();
    let mut text = String::new();
    while !text.contains("begun") {
        let part = answer.chunk().await.unwrap();
        text.push_str(&String::from_utf8_lossy(&part.unwrap()));
    }
    heard.notify_one();
    text.push_str(&answer.text().await.unwrap());
    let events = parse(&text);
    let first = json!({"done": 1, "total": 4, "message": "begun"});
    assert_eq!(events[0], ("progress".to_owned(), first));
    let (name, reply) = events.last().unwrap();
    assert_eq!(
        (&**name, &reply["data"]["result"]),
        ("reply", &json!("done"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_bounded_and_only_that_of_the_call() {
    let server = server(
        |_| one_tool(),
        |_, message| {
            let token = token(message);
            let mut text = progress(&json!("another"), 3, "not of this call");
            text.push_str(&progress(token, 1, &"x".repeat(50_000)));
            text.push_str(&progress(
                token,
                1,
                &format!("\u{202e}{}", "y".repeat(5_000)),
            ));
            for _ in 0..MANY {
                text.push_str(&progress(token, 2, "again"));
            }
            text.push_str(&done(message));
            answer(200, STREAM, text)
        },
    )
    .await;
    let gateway = gateway_of(&of(&server)).await;
    let answer = watching(&gateway, "odd_do_it", &json!({})).send().await;
    let events = parse(&answer.unwrap().text().await.unwrap());
    assert_eq!(events.len(), 1_000 + 1, "and the reply");
    let first = events[0].1["message"].as_str().unwrap();
    assert!(first.starts_with("\\u{202e}yyy"), "{first}");
    assert_eq!(first.len(), 1_024);
    assert_eq!(events[1].1["message"], "again");
    assert_eq!(events[1_000].1["data"]["result"], "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_mcp_client_hears_of_the_progress_of_a_server() {
    let server = server(
        |_| one_tool(),
        |_, message| {
            let token = token(message);
            let text = progress(token, 1, "one") + &progress(token, 3, "three") + &done(message);
            answer(200, STREAM, text)
        },
    )
    .await;
    let gateway = gateway_of(&of(&server)).await;
    let job = json!({
        "command": null, "url": gateway.url("/mcp"), "key": gateway.key, "name": "svc_execute_tool",
        "arguments": {"tool_name": "odd_do_it", "arguments": "{}"}, "cancel_after": null,
    });
    let mut client = client_program(Client::Python("auto"), "watch", job).unwrap();
    let output = client.kill_on_drop(true).output().await.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let heard: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told: Vec<_> = heard["progress"]
        .as_array()
        .unwrap()
        .iter()
        .map(|told| (told["progress"].as_f64(), told["message"].as_str()))
        .collect();
    let expected = [(Some(1.0), Some("one")), (Some(3.0), Some("three"))];
    // A client need not look at a notification any more that comes together with the answer.
    assert!(!told.is_empty() && expected.starts_with(&told), "{heard}");
    assert!(heard["text"].as_str().unwrap().contains("done"), "{heard}");
}
