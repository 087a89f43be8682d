//! Sessions of the session protocols, by hand: opened at one gateway, used and ended at others.

use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::Answer;
use toolgate_tests::process::{Process, wait};

use super::Replicas;

fn request(process: &Process, method: Method, session: Option<&str>) -> RequestBuilder {
    let request = process.client.request(method, process.url("/mcp"));
    let request = request.bearer_auth(&process.key);
    let request = request.header("accept", "application/json, text/event-stream");
    match session {
        Some(session) => request.header("mcp-session-id", session),
        None => request,
    }
}

fn post(process: &Process, session: Option<&str>, body: &Value) -> RequestBuilder {
    let request = request(process, Method::POST, session);
    request
        .header("content-type", "application/json")
        .body(body.to_string())
}

async fn answer(request: RequestBuilder) -> Answer {
    Answer::read(request.send().await.expect("the gateway answers")).await
}

async fn open(process: &Process) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let opened = answer(post(process, None, &initialize)).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    opened.headers["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned()
}

async fn lists(process: &Process, session: &str, id: u32) -> u16 {
    let list = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    answer(post(process, Some(session), &list)).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_served_by_every_replica_and_ends_on_all_of_them() {
    let mut replicas = Replicas::start(&[], &[]).await;
    let session = open(&replicas.processes[0]).await;
    for (n, process) in (2..).zip(&replicas.processes) {
        assert_eq!(lists(process, &session, n).await, 200, "{}", process.base);
    }
    // One that is started anew takes it too.
    let process = replicas.processes.remove(0);
    process.kill().await;
    let again = replicas.installations[0].serve(&[]).await;
    replicas.processes.insert(0, again);
    assert_eq!(lists(&replicas.processes[0], &session, 5).await, 200);

    // Another key of the same workspace has nothing of it, anywhere.
    let made = ["key", "create", "--name", "other"];
    let other = replicas.installations[1].run(&made).await["key"]
        .as_str()
        .unwrap()
        .to_owned();
    for process in &replicas.processes {
        let list = json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/list" });
        let foreign = process.client.post(process.url("/mcp")).bearer_auth(&other);
        let foreign = foreign
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-session-id", &session)
            .body(list.to_string());
        assert_eq!(answer(foreign).await.status, 404);
    }

    // An idle stream at one gateway ends when the session is ended at another.
    let stream = request(&replicas.processes[1], Method::GET, Some(&session))
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    let ended = request(&replicas.processes[2], Method::DELETE, Some(&session));
    assert_eq!(answer(ended).await.status, 204);
    for (n, process) in (7..).zip(&replicas.processes) {
        assert_eq!(lists(process, &session, n).await, 404, "{}", process.base);
    }
    let mut stream = stream.bytes_stream();
    let over = async { while let Some(Ok(_)) = stream.next().await {} };
    let over = tokio::time::timeout(Duration::from_secs(10), over).await;
    assert!(over.is_ok(), "the stream goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_taken_back_through_another_replica() {
    let endless = Fixture::new("endless").invoke("(loop (br 0)) (call $ok)");
    let plugins = [("endless.wasm", endless.build())];
    let replicas = Replicas::start(&plugins, &["endless_run"]).await;
    let [one, two, _] = &replicas.processes[..] else {
        panic!("three gateways")
    };
    let session = open(one).await;
    let call = json!({ "jsonrpc": "2.0", "id": "long", "method": "tools/call", "params": {
        "name": "svc_execute_tool",
        "arguments": { "tool_name": "endless_run", "arguments": "{}" } } });
    let running = post(one, Some(&session), &call).send().await.unwrap();
    assert_eq!(running.status(), 200);
    let began = Instant::now();
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": "long", "reason": "enough" } });
    assert_eq!(answer(post(two, Some(&session), &cancel)).await.status, 202);
    let mut stream = running.bytes_stream();
    let mut said = Vec::new();
    while let Some(Ok(bytes)) = stream.next().await {
        said.extend_from_slice(&bytes);
    }
    // The call itself would end at its limit of processor time, with an answer.
    let said = String::from_utf8(said).unwrap();
    assert!(
        !said.contains("\"id\":\"long\""),
        "{:?}: {said}",
        began.elapsed()
    );
    wait("its id to be free", async || {
        lists(one, &session, 9).await == 200
    })
    .await;
}

/// Events of one gateway's stream are never given to somebody who asks another one for the rest.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_not_taken_for_the_one_of_another_replica() {
    let replicas = Replicas::start(&[], &[]).await;
    let [one, two, _] = &replicas.processes[..] else {
        panic!("three gateways")
    };
    let session = open(one).await;
    let list = json!({ "jsonrpc": "2.0", "id": "here", "method": "tools/list" });
    let here = answer(post(one, Some(&session), &list)).await.text;
    let list = json!({ "jsonrpc": "2.0", "id": "there", "method": "tools/list" });
    answer(post(two, Some(&session), &list)).await;
    let event = here
        .lines()
        .find_map(|line| line.strip_prefix("id: ").or(line.strip_prefix("id:")));
    let event = event.expect("an event has an id");
    let rest = request(two, Method::GET, Some(&session)).header("last-event-id", event);
    let rest = answer(rest).await;
    assert_eq!(rest.status, 200);
    assert!(!rest.text.contains("there"), "{}", rest.text);
}
