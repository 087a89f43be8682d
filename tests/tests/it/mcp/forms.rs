//! Clients that name one form of answers, any or none; streams that readers of lines take apart; tools that have left a
//! list; and streams whose key was revoked.

use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, Options, TestGateway};

/// A second, and what a busy machine adds.
const REVOKED_ENDS_MAX: Duration = Duration::from_secs(3);

async fn gateway() -> TestGateway {
    let demo = Fixture::new("demo")
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    TestGateway::start(Options {
        plugins: vec![("demo.wasm".to_owned(), demo.build())],
        ..Options::default()
    })
    .await
}

pub(crate) fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } })
}

pub(crate) async fn post(
    gateway: &TestGateway,
    path: &str,
    accept: Option<&str>,
    session: Option<&str>,
    body: &Value,
) -> Response {
    let request = gateway
        .client
        .post(gateway.url(path))
        .bearer_auth(&gateway.key);
    let mut request = request.header("content-type", "application/json");
    if let Some(accept) = accept {
        request = request.header("accept", accept);
    }
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
        request = request.header("mcp-protocol-version", "2025-11-25");
    }
    request.body(body.to_string()).send().await.unwrap()
}

pub(crate) async fn open(gateway: &TestGateway, path: &str) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let opened = post(gateway, path, Some("*/*"), None, &initialize).await;
    assert_eq!(opened.status(), 200);
    let session = opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let taken = post(gateway, path, None, Some(&session), &ready).await;
    assert_eq!(taken.status(), 202);
    session
}

/// The message of an answer, in whichever form.
pub(crate) fn message(kind: &str, text: &str) -> Value {
    match kind.starts_with("text/event-stream") {
        false => serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}")),
        true => {
            let mut data = text.lines().filter_map(|line| line.strip_prefix("data: {"));
            let last = data.next_back().unwrap_or_else(|| panic!("{text}"));
            serde_json::from_str(&format!("{{{last}")).unwrap()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_answered_in_the_form_that_it_takes() {
    let gateway = &gateway().await;
    let session = open(gateway, "/mcp").await;
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" });
    for (accept, kind) in [
        (None, ""),
        (Some("*/*"), ""),
        (Some("application/json, text/event-stream"), ""),
        (Some("application/json"), "application/json"),
        (Some("application/*;q=0.8"), "application/json"),
        (
            Some("text/event-stream"),
            "text/event-stream; charset=utf-8",
        ),
    ] {
        let answer = post(gateway, "/mcp", accept, Some(&session), &list).await;
        assert_eq!(answer.status(), 200, "{accept:?}");
        let given = answer.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(given.starts_with(kind), "{accept:?}: {given}");
        let message = message(&given, &answer.text().await.unwrap());
        assert_eq!(
            message["result"]["tools"].as_array().unwrap().len(),
            9,
            "{message}"
        );
    }
    for accept in ["text/html", "application/xml, image/*", "*/*;q=0"] {
        let answer = post(gateway, "/mcp", Some(accept), Some(&session), &list).await;
        assert_eq!(answer.status(), 406, "{accept}");
        assert_eq!(answer.headers()["content-type"], "application/json");
        let said: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        assert!(said["error"]["message"].is_string(), "{said}");
    }
    // The stream of a session is a stream.
    let stream = gateway
        .client
        .get(gateway.url("/mcp"))
        .bearer_auth(&gateway.key);
    let stream = stream
        .header("mcp-session-id", &session)
        .header("accept", "application/json");
    assert_eq!(stream.send().await.unwrap().status(), 406);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_lines_gets_each_event_on_one_line() {
    let gateway = &gateway().await;
    let text = "日本x\u{2028}y\u{2029}z\u{85} é€";
    let arguments = json!({ "text": text });
    let session = open(gateway, "/mcp").await;
    let execute = call(
        "svc_execute_tool",
        &json!({ "tool_name": "demo_run", "arguments": arguments.to_string() }),
    );
    let over_mcp = post(
        gateway,
        "/mcp",
        Some("text/event-stream"),
        Some(&session),
        &execute,
    );
    let rest = json!({ "arguments": arguments });
    let path = "/v1/tools/demo_run/execute";
    let over_rest = post(gateway, path, Some("text/event-stream"), None, &rest);
    for answer in [over_mcp.await, over_rest.await] {
        assert_eq!(answer.status(), 200);
        assert_eq!(
            answer.headers()["content-type"],
            "text/event-stream; charset=utf-8"
        );
        let body = answer.text().await.unwrap();
        for raw in ['\u{85}', '\u{2028}', '\u{2029}'] {
            assert!(!body.contains(raw), "{raw:?}: {body}");
        }
        let message = message("text/event-stream", &body);
        // The text is within a text of the answer, or its result.
        let told = message["result"]["content"][0]["text"].as_str();
        let told = told.map_or_else(|| message["data"]["result"].to_string(), str::to_owned);
        assert!(told.contains(text), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_has_left_the_list_is_answered_with_what_to_do() {
    let gateway = &gateway().await;
    let body = json!({ "name": "ts", "tools": ["demo_run"], "generic_tools": true });
    assert_eq!(gateway.post("/v1/toolsets", &body).await.status, 201);
    let session = open(gateway, "/mcp/t/ts").await;
    let run = call("demo_run", &json!({ "text": "hello" }));
    let read = async || {
        let answer = post(gateway, "/mcp/t/ts", None, Some(&session), &run).await;
        let kind = answer.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        message(&kind, &answer.text().await.unwrap())
    };
    assert!(read().await["result"].is_object());
    let change = json!({ "tools": [], "services": [] });
    let left = gateway.send(
        Method::PATCH,
        "/v1/toolsets/ts",
        Some(&gateway.key),
        Some(change.to_string()),
    );
    let left = left.await;
    let said = match left.status {
        200 => read().await,
        // A toolset is never empty: the user may no longer use the tool.
        _ => {
            let deny = json!({ "permission": "deny" }).to_string();
            let path = "/v1/permissions/users/default/tools/demo_run";
            let denied = gateway
                .send(Method::PATCH, path, Some(&gateway.key), Some(deny))
                .await;
            assert_eq!(denied.status, 200, "{}", denied.text);
            read().await
        }
    };
    let said = said["error"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("{said}"))
        .to_owned();
    for part in [
        "demo_run",
        "ts",
        "changed",
        "tools/list",
        "ChatGPT",
        "Refresh",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_no_list_has_given_is_refused() {
    let gateway = &gateway().await;
    let session = open(gateway, "/mcp").await;
    for cursor in ["garbage", "1", "ZGVtb19ydW4"] {
        let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": { "cursor": cursor } });
        let answer = post(gateway, "/mcp", None, Some(&session), &list).await;
        let kind = answer.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        let said = message(&kind, &answer.text().await.unwrap());
        assert_eq!(said["error"]["code"], -32602, "{cursor}: {said}");
        let path = format!("/v1/tools/list?cursor={cursor}");
        let refused = gateway.get(&path).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "invalid_request"),
            "{cursor}"
        );
    }
    let first = gateway.get("/v1/tools/list?limit=1").await.data();
    assert!(first["tools"].as_array().unwrap().len() == 1, "{first}");
}

/// The session's stream of a key, and how it ends.
async fn stream_of(gateway: &TestGateway, key: &str, session: &str) -> Response {
    let stream = gateway.client.get(gateway.url("/mcp")).bearer_auth(key);
    let stream = stream.header("mcp-session-id", session);
    let stream = stream
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn the_streams_of_a_revoked_key_end_and_those_of_others_go_on() {
    let gateway = &gateway().await;
    let other =
        toolgate_tests::gateway::new_key(&gateway.gateway, "other", toolgate_gateway::Scope::ALL);
    let other = other.await.unwrap();
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let opened = gateway.client.post(gateway.url("/mcp")).bearer_auth(&other);
    let opened = opened
        .header("content-type", "application/json")
        .body(initialize.to_string());
    let opened = opened.send().await.unwrap();
    let theirs = opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    let ours = open(gateway, "/mcp").await;
    let mut revoked = stream_of(gateway, &other, &theirs).await;
    let kept = stream_of(gateway, &gateway.key, &ours).await;
    let listed = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    let keys = gateway.gateway.identity().keys(&listed).await.unwrap();
    let id = keys
        .iter()
        .find(|key| key.name == "other")
        .unwrap()
        .key_id
        .clone();
    gateway
        .gateway
        .identity()
        .revoke_key(&listed, &id)
        .await
        .unwrap();
    let ended = async { while revoked.chunk().await.is_ok_and(|piece| piece.is_some()) {} };
    let ends = tokio::time::timeout(REVOKED_ENDS_MAX, ended);
    ends.await.expect("the stream ends with its key");
    // The other one still hears of what its client calls.
    let ping = json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" });
    let answer = post(gateway, "/mcp", None, Some(&ours), &ping);
    assert_eq!(answer.await.status(), 200);
    drop(kept);
    let refused = gateway.client.get(gateway.url("/mcp")).bearer_auth(&other);
    let refused = refused
        .header("mcp-session-id", &theirs)
        .header("accept", "text/event-stream");
    let refused = Answer::read(refused.send().await.unwrap()).await;
    assert_eq!(refused.status, 401, "{}", refused.text);
}
