//! What no official client sends: other keys, other origins, other sessions, broken bodies.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{Answer, Options, TestGateway, new_key};

use super::gateway;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

/// A request as a session client sends it, with the gateway's first key.
fn post(gateway: &TestGateway, body: &str) -> RequestBuilder {
    bare(gateway, Method::POST)
        .bearer_auth(&gateway.key)
        .header("content-type", "application/json")
        .body(body.to_owned())
}

fn bare(gateway: &TestGateway, method: Method) -> RequestBuilder {
    gateway
        .client
        .request(method, gateway.url("/mcp"))
        .header("accept", "application/json, text/event-stream")
}

pub async fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().await.expect("the gateway answers");
    Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.text().await.expect("text"),
    }
}

/// Opens a session of `revision` with a key.
pub(crate) async fn open_session(
    gateway: &TestGateway,
    key: &str,
    revision: &str,
) -> (String, Value) {
    let body = INITIALIZE.replace("2025-11-25", revision);
    let opened = answer(
        bare(gateway, Method::POST)
            .bearer_auth(key)
            .header("content-type", "application/json")
            .body(body),
    )
    .await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    let id = opened.headers["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    (id, last_event(&opened.text))
}

/// The JSON of the last event of a stream.
fn last_event(stream: &str) -> Value {
    let data = stream
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("data: {"));
    serde_json::from_str(&format!("{{{}", data.expect("an event"))).expect("JSON")
}

/// A request of revision 2026-07-28: the headers repeat what the body says.
pub fn stateless(
    gateway: &TestGateway,
    method: &str,
    name: Option<&str>,
    mut params: Value,
) -> RequestBuilder {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = post(gateway, &body.to_string())
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    match name {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_speaks_without_a_valid_key() {
    let gateway = gateway().await;
    for method in [Method::POST, Method::GET, Method::DELETE, Method::PUT] {
        let request = |key: Option<&str>| {
            let request = bare(&gateway, method.clone());
            let request = request
                .header("content-type", "application/json")
                .body(INITIALIZE);
            key.map_or_else(
                || request.try_clone(),
                |key| Some(request.try_clone()?.bearer_auth(key)),
            )
            .expect("a text body can be sent twice")
        };
        for (key, code) in [
            (None, "api_key_required"),
            (
                Some("tg_live_0000000000000000000000000000000000000000000"),
                "invalid_api_key",
            ),
            (Some("nonsense"), "invalid_api_key"),
        ] {
            let refused = answer(request(key)).await;
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (401, code),
                "{method}"
            );
            let challenge = refused.headers["www-authenticate"].to_str().unwrap();
            assert!(
                challenge.starts_with("Bearer ") && challenge.contains("resource_metadata="),
                "{challenge}"
            );
            let id = refused.json()["meta"]["request_id"].clone();
            assert_eq!(refused.headers["x-request-id"], id.as_str().unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_without_the_scope_is_told_so_in_the_result() {
    let gateway = gateway().await;
    let key = new_key(&gateway.gateway, "reader", &[Scope::ToolsRead])
        .await
        .unwrap();
    let (session, _) = open_session(&gateway, &key, "2025-11-25").await;
    let body = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "svc_execute_tool", "arguments": { "tool_name": "demo_run", "arguments": "{}" } } });
    let said = answer(
        bare(&gateway, Method::POST)
            .bearer_auth(&key)
            .header("content-type", "application/json")
            .header("mcp-session-id", session)
            .body(body.to_string()),
    )
    .await;
    let result = &last_event(&said.text)["result"];
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("Error Code: scope_denied"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_other_origins_and_rebound_names_are_refused() {
    let gateway = gateway().await;
    let port = gateway.address.port();
    for (origin, status) in [
        (format!("http://127.0.0.1:{port}"), 200),
        ("http://localhost:5173".to_owned(), 200),
        ("https://evil.example".to_owned(), 403),
        ("http://127.0.0.1.evil.example".to_owned(), 403),
        ("null".to_owned(), 403),
        ("nonsense".to_owned(), 403),
    ] {
        let said = answer(post(&gateway, INITIALIZE).header("origin", &origin)).await;
        assert_eq!(said.status, status, "{origin}");
    }
    for (host, status) in [
        (format!("localhost:{port}"), 200),
        ("evil.example".to_owned(), 403),
        (format!("127.0.0.1.evil.example:{port}"), 403),
    ] {
        let said = answer(post(&gateway, INITIALIZE).header("host", &host)).await;
        assert_eq!(said.status, status, "{host}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_may_name_further_hosts_and_origins() {
    let gateway = TestGateway::start(Options {
        mcp_allow: (
            vec!["tools.internal".to_owned()],
            vec!["https://app.example".to_owned()],
        ),
        ..Options::default()
    })
    .await;
    for (host, origin, status) in [
        (Some("tools.internal"), None, 200),
        (Some("tools.internal:8443"), None, 200),
        (Some("other.internal"), None, 403),
        (None, Some("https://app.example"), 200),
        (None, Some("https://app.example:444"), 403),
        (None, Some("http://app.example"), 403),
    ] {
        let mut request = post(&gateway, INITIALIZE);
        if let Some(host) = host {
            request = request.header("host", host);
        }
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        assert_eq!(answer(request).await.status, status, "{host:?} {origin:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_of_one_master_key_take_up_what_another_gave_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let key = async |data: &str| {
        let gateway = TestGateway::start(Options {
            data_dir: Some(folder.path().join(data)),
            ..Options::default()
        })
        .await;
        let key = gateway.gateway.state_key();
        gateway.stop().await;
        key
    };
    let first = key("a").await;
    assert_eq!(first, key("a").await, "after a restart");
    assert_ne!(first, key("b").await, "another gateway");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_answers_to_the_key_that_opened_it() {
    let gateway = gateway().await;
    let other = new_key(&gateway.gateway, "other", Scope::ALL)
        .await
        .unwrap();
    let (session, _) = open_session(&gateway, &gateway.key, "2025-11-25").await;

    let with = |key: &str, method: Method, id: &str| {
        let request = bare(&gateway, method)
            .bearer_auth(key)
            .header("content-type", "application/json")
            .header("mcp-session-id", id);
        async move { answer(request.body(LIST)).await }
    };
    for method in [Method::POST, Method::GET, Method::DELETE] {
        assert_eq!(
            with(&other, method.clone(), &session).await.status,
            404,
            "{method}"
        );
        assert_eq!(
            with(&gateway.key, method.clone(), "invented").await.status,
            404,
            "{method}"
        );
    }
    let own = with(&gateway.key, Method::POST, &session).await;
    assert_eq!(own.status, 200, "{}", own.text);
    assert!(last_event(&own.text)["result"]["tools"].is_array());

    assert_eq!(
        with(&gateway.key, Method::DELETE, &session).await.status,
        204
    );
    assert_eq!(with(&gateway.key, Method::POST, &session).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_session_revision_is_spoken_as_asked() {
    let gateway = gateway().await;
    for (asked, spoken) in [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // No such session revision: the newest one is offered instead.
        ("2024-11-05", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let (_, said) = open_session(&gateway, &gateway.key, asked).await;
        assert_eq!(said["result"]["protocolVersion"], spoken, "{asked}: {said}");
        assert_eq!(said["result"]["serverInfo"]["name"], "toolgate");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stateless_revision_states_its_type_and_its_freshness() {
    let gateway = gateway().await;
    let said = answer(stateless(&gateway, "server/discover", None, json!({})))
        .await
        .json();
    let versions = said["result"]["supportedVersions"]
        .as_array()
        .expect("versions")
        .clone();
    assert!(
        versions.contains(&json!("2026-07-28")) && !versions.contains(&json!("2024-11-05")),
        "{said}"
    );

    let listed = answer(stateless(&gateway, "tools/list", None, json!({})))
        .await
        .json();
    assert_eq!(listed["result"]["resultType"], "complete", "{listed}");
    assert!(
        listed["result"]["ttlMs"]
            .as_u64()
            .is_some_and(|ttl| ttl > 0),
        "{listed}"
    );

    let call = json!({ "name": "svc_health_check", "arguments": {} });
    let said = answer(stateless(
        &gateway,
        "tools/call",
        Some("svc_health_check"),
        call,
    ))
    .await;
    assert!(!said.headers.contains_key("mcp-session-id"));
    let result = said.json()["result"].clone();
    assert_eq!(result["resultType"], "complete");
    assert!(result.get("structuredContent").is_none(), "{result}");
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_that_contradict_the_body_are_refused() {
    let gateway = gateway().await;
    let call = || json!({ "name": "svc_health_check", "arguments": {} });
    for (method, name) in [
        ("tools/call", "svc_execute_tool"),
        ("tools/list", "svc_health_check"),
    ] {
        let mut request = stateless(&gateway, "tools/call", None, call())
            .build()
            .unwrap();
        request
            .headers_mut()
            .insert("mcp-method", method.parse().unwrap());
        request
            .headers_mut()
            .insert("mcp-name", name.parse().unwrap());
        let said = gateway.client.execute(request).await.unwrap();
        assert_eq!(said.status().as_u16(), 400, "{method} {name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_request_state_is_a_protocol_error() {
    let gateway = gateway().await;
    for state in ["", "rs1.AAAA.BBBB", "x".repeat(5_000).as_str()] {
        let call = json!({
            "name": "svc_execute_tool",
            "arguments": { "tool_name": "locked_run", "arguments": "{}" },
            "inputResponses": { "connect": { "action": "accept" } },
            "requestState": state,
        });
        let said = answer(stateless(
            &gateway,
            "tools/call",
            Some("svc_execute_tool"),
            call,
        ))
        .await
        .json();
        assert_eq!(said["error"]["code"], -32602, "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_bodies_are_refused_before_they_mean_anything() {
    let gateway = gateway().await;
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
            -32700,
        ),
        ("7", -32600),
        ("{}", -32600),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32600,
        ),
    ] {
        let said = answer(post(&gateway, body)).await;
        assert_eq!(said.status, 400, "{body}: {}", said.text);
        assert_eq!(said.json()["error"]["code"], code, "{body}: {}", said.text);
    }
    let deep = "[".repeat(200_000);
    assert_eq!(answer(post(&gateway, &deep)).await.status, 400);

    let large = format!("{{\"pad\":\"{}\"}}", "x".repeat(1 << 20));
    let said = answer(post(&gateway, &large)).await;
    assert_eq!(
        (said.status, said.code().as_str()),
        (413, "payload_too_large")
    );

    let text = bare(&gateway, Method::POST)
        .bearer_auth(&gateway.key)
        .header("content-type", "text/plain")
        .body(INITIALIZE);
    let said = answer(text).await;
    assert_eq!(
        (said.status, said.code().as_str()),
        (415, "unsupported_media_type")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_may_be_the_object_itself_and_numbers_may_be_texts() {
    let gateway = gateway().await;
    let call = json!({
        "name": "svc_execute_tool",
        "arguments": { "tool_name": "demo_run", "arguments": { "text": "hi" }, "session_id": "" },
    });
    let said = answer(stateless(
        &gateway,
        "tools/call",
        Some("svc_execute_tool"),
        call,
    ))
    .await
    .json();
    assert_eq!(said["result"]["isError"], false, "{said}");
    let call = json!({
        "name": "svc_search_tools",
        "arguments": { "query": "test", "service": null, "limit": "1" },
    });
    let said = answer(stateless(
        &gateway,
        "tools/call",
        Some("svc_search_tools"),
        call,
    ))
    .await
    .json();
    let text = said["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text.matches("\n- **").count(), 1, "{text}");
}
