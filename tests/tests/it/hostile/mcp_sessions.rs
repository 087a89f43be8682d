//! Sessions of the Model Context Protocol: refused endings, doubled ids, parameters of the wrong type,
//! pages of other origins.

use std::time::Duration;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Answer, Options, TestGateway};

const ORIGIN: &str = "https://app.example";

async fn gateway() -> TestGateway {
    let endless = Fixture::new("endless").invoke("(loop (br 0)) (call $ok)");
    TestGateway::start(Options {
        plugins: vec![("endless.wasm".to_owned(), endless.build())],
        mcp_allow: (Vec::new(), vec![ORIGIN.to_owned()]),
        ..Options::default()
    })
    .await
}

fn request(gateway: &TestGateway, method: Method, session: Option<&str>) -> RequestBuilder {
    let request = gateway.client.request(method, gateway.url("/mcp"));
    let request = request.bearer_auth(&gateway.key);
    let request = request.header("accept", "application/json, text/event-stream");
    match session {
        Some(session) => request.header("mcp-session-id", session),
        None => request,
    }
}

fn post(gateway: &TestGateway, session: Option<&str>, body: &Value) -> RequestBuilder {
    let request = request(gateway, Method::POST, session);
    let request = request.header("content-type", "application/json");
    request.body(body.to_string())
}

async fn answer(request: RequestBuilder) -> Answer {
    Answer::read(request.send().await.expect("the gateway answers")).await
}

async fn open(gateway: &TestGateway) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let opened = answer(post(gateway, None, &initialize)).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    opened.headers["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned()
}

fn message(answer: &Answer) -> Value {
    let data = answer.text.lines().rev();
    let mut data = data.filter_map(|line| line.strip_prefix("data: {"));
    match data.next() {
        Some(data) => serde_json::from_str(&format!("{{{data}")).unwrap(),
        None => answer.json(),
    }
}

fn list(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/list" })
}

/// Defence: `host/mcp/src/endpoint.rs` ends a session in the database where a DELETE was accepted, and nowhere else.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_delete_leaves_the_session_and_its_owner() {
    let gateway = gateway().await;
    let session = open(&gateway).await;
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("host", "evil.example", 403),
        ("mcp-protocol-version", "2026-07-28", 405),
        ("mcp-protocol-version", "1999-01-01", 400),
    ] {
        let refused = request(&gateway, Method::DELETE, Some(&session)).header(name, value);
        assert_eq!(answer(refused).await.status, status, "{name}: {value}");
        let still = answer(post(&gateway, Some(&session), &list(2))).await;
        assert_eq!(still.status, 200, "after {name}: {value}: {}", still.text);
    }
    // A 404 of another kind: a method that the stateless protocol does not know.
    let unknown = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/drop", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" } } } });
    let unknown = post(&gateway, Some(&session), &unknown)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/drop");
    assert!(answer(unknown).await.status >= 400);
    let still = answer(post(&gateway, Some(&session), &list(2))).await;
    assert_eq!(still.status, 200, "{}", still.text);

    let ended = answer(request(&gateway, Method::DELETE, Some(&session))).await;
    assert_eq!(ended.status, 204);
    let gone = answer(post(&gateway, Some(&session), &list(2))).await;
    assert_eq!(gone.status, 404);
}

/// Defence: `host/identity/src/client_sessions.rs` counts the open sessions of a key in the database, so that
/// opening and refused endings stay below the bound of one key.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_opened_and_badly_ended_stay_within_the_bound_of_a_key() {
    use toolgate_gateway::identity::client_sessions::CLIENT_SESSIONS_PER_KEY_MAX;
    let gateway = gateway().await;
    let first = open(&gateway).await;
    let kept = open(&gateway).await;
    for _ in 0..CLIENT_SESSIONS_PER_KEY_MAX - 2 {
        let session = open(&gateway).await;
        let refused = request(&gateway, Method::DELETE, Some(&session));
        let refused = refused.header("origin", "https://evil.example");
        assert_eq!(answer(refused).await.status, 403);
    }
    let used = answer(post(&gateway, Some(&kept), &list(2))).await;
    assert_eq!(used.status, 200, "{}", used.text);
    open(&gateway).await;
    let evicted = answer(post(&gateway, Some(&first), &list(2))).await;
    assert_eq!(
        evicted.status, 404,
        "the one used longest ago: {}",
        evicted.text
    );
    let used = answer(post(&gateway, Some(&kept), &list(2))).await;
    assert_eq!(used.status, 200, "{}", used.text);
}

/// Defence: `host/mcp/src/endpoint.rs`, `Requests::begin`.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_request_under_an_id_in_progress_is_an_error() {
    let gateway = gateway().await;
    let session = open(&gateway).await;
    let call = json!({ "jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {
        "name": "svc_execute_tool",
        "arguments": { "tool_name": "endless_run", "arguments": "{}" } } });
    let first = tokio::spawn(answer(post(&gateway, Some(&session), &call)));
    gateway
        .wait("the first call to run", async || {
            let text = gateway.gateway.metrics().render();
            text.lines()
                .any(|line| line.starts_with("toolgate_executions_running 1"))
        })
        .await;
    let second = answer(post(&gateway, Some(&session), &list("same"))).await;
    assert_eq!(second.status, 400, "{}", second.text);
    let said = second.json();
    assert_eq!(
        (&said["error"]["code"], &said["id"]),
        (&json!(-32600), &json!("same"))
    );
    // Another id, another spelling of it and another session are other requests.
    for other in [list("other"), list(1)] {
        assert_eq!(
            answer(post(&gateway, Some(&session), &other)).await.status,
            200
        );
    }
    let elsewhere = open(&gateway).await;
    let fine = answer(post(&gateway, Some(&elsewhere), &list("same"))).await;
    assert_eq!(fine.status, 200);
    let first = tokio::time::timeout(Duration::from_secs(60), first).await;
    let first = first.expect("no hang").unwrap();
    assert_eq!(message(&first)["id"], "same", "{}", first.text);
    // Over: the id is free again.
    let again = answer(post(&gateway, Some(&session), &list("same"))).await;
    assert_eq!(message(&again)["id"], "same", "{}", again.text);
}

/// Defence: `host/mcp/src/endpoint.rs`; whatever the timing, each of two requests under one id is answered.
#[tokio::test(flavor = "multi_thread")]
async fn requests_under_one_id_side_by_side_never_hang() {
    let gateway = gateway().await;
    let session = open(&gateway).await;
    for _ in 0..50 {
        let both = (0..4).map(|_| tokio::spawn(answer(post(&gateway, Some(&session), &list(7)))));
        for one in both.collect::<Vec<_>>() {
            let said = tokio::time::timeout(Duration::from_secs(30), one).await;
            let said = said.expect("no hang").unwrap();
            assert!([200, 400].contains(&said.status), "{}", said.text);
            assert_eq!(message(&said)["id"], 7, "{}", said.text);
        }
    }
}

/// Defence: `host/mcp/src/unfit.rs` says which parameter does not fit.
#[tokio::test(flavor = "multi_thread")]
async fn parameters_of_the_wrong_type_are_named() {
    let gateway = gateway().await;
    let session = open(&gateway).await;
    for (method, params, named) in [
        ("tools/call", json!({}), "name"),
        ("tools/call", json!({ "name": 7 }), "name"),
        (
            "tools/call",
            json!({ "name": "svc_health_check", "arguments": "{}" }),
            "arguments",
        ),
        (
            "tools/call",
            json!({ "name": "svc_health_check", "arguments": [] }),
            "arguments",
        ),
        ("resources/read", json!({ "uri": 1 }), "uri"),
        ("tools/list", json!({ "cursor": {} }), "cursor"),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": params });
        let in_session = answer(post(&gateway, Some(&session), &body)).await;
        let mut alone = params.clone();
        alone["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 5, "method": method, "params": alone });
        let request = post(&gateway, None, &body)
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        let request = match params["name"].as_str().or(params["uri"].as_str()) {
            Some(name) => request.header("mcp-name", name),
            None => request,
        };
        for said in [in_session, answer(request).await] {
            let error = message(&said)["error"].clone();
            assert_eq!(error["code"], -32602, "{method} {params}: {}", said.text);
            let text = error["message"].as_str().unwrap();
            assert!(text.contains(named), "{method} {params}: {text}");
        }
    }
    let body = json!({ "jsonrpc": "2.0", "id": 5, "method": "initialize", "params": {} });
    let said = message(&answer(post(&gateway, None, &body)).await);
    assert_eq!(said["error"]["code"], -32602, "{said}");
    let body = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/drop" });
    let said = message(&answer(post(&gateway, Some(&session), &body)).await);
    assert_eq!(said["error"]["code"], -32601, "{said}");
}

fn allowed(answer: &Answer) -> Option<&str> {
    let header = answer.headers.get("access-control-allow-origin");
    header.map(|origin| origin.to_str().unwrap())
}

/// Defence: `host/mcp/src/cors.rs` answers browsers before the key is asked for, for allowed origins alone.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_an_allowed_origin_can_call_and_others_cannot() {
    let gateway = gateway().await;
    let preflight = |origin: &str| {
        let request = gateway.client.request(Method::OPTIONS, gateway.url("/mcp"));
        let request = request.header("origin", origin);
        let request = request.header("access-control-request-method", "POST");
        request.header(
            "access-control-request-headers",
            "authorization,content-type,mcp-protocol-version",
        )
    };
    let said = answer(preflight(ORIGIN)).await;
    assert_eq!(said.status, 204, "{}", said.text);
    assert_eq!(allowed(&said), Some(ORIGIN));
    let header = |name: &str| said.headers[name].to_str().unwrap().to_lowercase();
    for method in ["get", "post", "delete"] {
        assert!(header("access-control-allow-methods").contains(method));
    }
    for name in [
        "authorization",
        "content-type",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
        "last-event-id",
    ] {
        assert!(
            header("access-control-allow-headers").contains(name),
            "{name}"
        );
    }
    assert!(header("access-control-max-age").parse::<u32>().unwrap() > 0);
    assert!(header("vary").contains("origin"));
    assert!(
        !said
            .headers
            .contains_key("access-control-allow-credentials")
    );

    for evil in [
        "https://evil.example",
        "https://app.example.evil.test",
        "null",
    ] {
        let refused = answer(preflight(evil)).await;
        assert_eq!((refused.status, allowed(&refused)), (403, None), "{evil}");
        let refused = answer(post(&gateway, None, &list(1)).header("origin", evil)).await;
        assert_eq!((refused.status, allowed(&refused)), (403, None), "{evil}");
    }
    // A page sees refusals too.
    let bare = gateway
        .client
        .post(gateway.url("/mcp"))
        .header("origin", ORIGIN);
    let refused = answer(bare).await;
    assert_eq!((refused.status, allowed(&refused)), (401, Some(ORIGIN)));
    let exposed = refused.headers["access-control-expose-headers"]
        .to_str()
        .unwrap();
    assert!(exposed.contains("Mcp-Session-Id") && exposed.contains("WWW-Authenticate"));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "page", "version": "1" } } });
    let opened = answer(post(&gateway, None, &body).header("origin", ORIGIN)).await;
    assert_eq!((opened.status, allowed(&opened)), (200, Some(ORIGIN)));
}
