//! A caller that cancels a call of a server's tool: the server is told, in the way of its protocol.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Response;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate_tests::events::{receipt, watching};
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::upstream::{Received, Upstream};

use super::gateway_of;
use super::hostile::{answer, of, result, server};

const STREAM: &str = "text/event-stream";
const CANCELLED: &str = "notifications/cancelled";

fn tools() -> Value {
    json!({"tools": [
        {"name": "look", "description": "Looks at one thing.", "annotations": {"readOnlyHint": true}},
        {"name": "make", "description": "Makes one thing."},
    ]})
}

fn event(message: &Value) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// The beginning of an answer, which the caller hears of.
fn begun(message: &Value) -> String {
    let token = &message["params"]["_meta"]["progressToken"];
    let params = json!({"progressToken": token, "progress": 1, "message": "begun"});
    event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))
}

/// A stream that begins and then waits for `go`; `closed` is set when nobody reads it any more.
fn waiting(message: &Value, go: &Arc<Notify>, closed: &Arc<AtomicBool>) -> Response<Body> {
    struct SetOnDrop(Arc<AtomicBool>);
    impl Drop for SetOnDrop {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let (first, id, go) = (begun(message), message["id"].clone(), go.clone());
    let reader = SetOnDrop(closed.clone());
    let first = stream::once(async move { first });
    let last = stream::once(async move {
        let _reader = reader;
        go.notified().await;
        let content = json!([{"type": "text", "text": "made"}]);
        event(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}}))
    });
    let parts = first.chain(last).map(Ok::<_, Infallible>);
    answer(200, STREAM, Body::from_stream(parts))
}

/// Messages of this method that have arrived, with their requests.
fn arrived(server: &Upstream, method: &str) -> Vec<(Received, Value)> {
    let read = |request: Received| {
        let message: Value = serde_json::from_str(&request.body).ok()?;
        (message["method"] == method).then_some((request, message))
    };
    server.received().into_iter().filter_map(read).collect()
}

/// Calls a tool, hears that the server has begun, and leaves.
async fn leave(gateway: &TestGateway, tool: &str) {
    let mut answer = watching(gateway, tool, &json!({})).send().await.unwrap();
    let mut text = String::new();
    while !text.contains("begun") {
        let part = answer.chunk().await.unwrap().expect("the call goes on");
        text.push_str(&String::from_utf8_lossy(&part));
    }
}

async fn hears(gateway: &TestGateway, server: &Upstream, count: usize) {
    gateway
        .wait("the server to hear of it", async || {
            arrived(server, CANCELLED).len() == count
        })
        .await;
}

async fn is_closed(gateway: &TestGateway, closed: &AtomicBool) {
    gateway
        .wait("the stream to be closed", async || {
            closed.load(Ordering::SeqCst)
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_sessions_hears_that_a_call_was_cancelled() {
    let (go, closed) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let (waits, shut) = (go.clone(), closed.clone());
    let server = server(
        |_| tools(),
        move |_, message| waiting(message, &waits, &shut),
    )
    .await;
    let gateway = gateway_of(&of(&server)).await;

    leave(&gateway, "odd_look").await;
    hears(&gateway, &server, 1).await;
    let ended = receipt(&gateway, "odd_look").await;
    assert_eq!(ended["status"], "error", "{ended}");
    // A call that reads ends.
    is_closed(&gateway, &closed).await;

    leave(&gateway, "odd_make").await;
    hears(&gateway, &server, 2).await;
    // What was made is known: the answer of a call that may write is awaited all the same.
    go.notify_one();
    let ended = receipt(&gateway, "odd_make").await;
    assert_eq!(ended["status"], "success", "{ended}");

    let told = arrived(&server, CANCELLED);
    let calls = arrived(&server, "tools/call");
    assert_eq!((told.len(), calls.len()), (2, 2), "each is told once");
    for ((request, told), (_, call)) in told.iter().zip(&calls) {
        assert_eq!(told["params"]["requestId"], call["id"], "{told}");
        let session = ("mcp-session-id".to_owned(), "session-1".to_owned());
        assert!(request.headers.contains(&session), "{request:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_answered_is_not_cancelled() {
    let server = server(
        |_| tools(),
        |_, message| {
            let content = json!([{"type": "text", "text": "made"}]);
            let last = event(
                &json!({"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}),
            );
            answer(200, STREAM, begun(message) + &last)
        },
    )
    .await;
    let gateway = gateway_of(&of(&server)).await;
    for tool in ["odd_look", "odd_make"] {
        let answer = watching(&gateway, tool, &json!({})).send().await.unwrap();
        assert!(answer.text().await.unwrap().contains("made"));
        receipt(&gateway, tool).await;
    }
    assert!(arrived(&server, CANCELLED).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_sessions_sees_its_stream_closed_and_no_message() {
    let (go, closed) = (Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let shut = closed.clone();
    let server = Upstream::start(move |request| {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        match message["method"].as_str() {
            Some("server/discover") => {
                let said =
                    json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
                result(&message, &said)
            }
            Some("tools/list") => result(&message, &tools()),
            Some("tools/call") => waiting(&message, &go, &shut),
            Some(_) | None => answer(404, "text/plain", "nothing here"),
        }
    })
    .await;
    let gateway = gateway_of(&of(&server)).await;
    leave(&gateway, "odd_look").await;
    is_closed(&gateway, &closed).await;
    let ended = receipt(&gateway, "odd_look").await;
    assert_eq!(ended["status"], "error", "{ended}");
    assert_eq!(arrived(&server, "tools/call").len(), 1);
    assert!(arrived(&server, CANCELLED).is_empty());
}
