//! Arguments as models write them, and numbers digit by digit: over REST, MCP and toolsets, to the provider and back.

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::upstream::{Received, Upstream};

use crate::described::built;

/// What the service answers: ids of Discord, X and Meta, a number beyond 64 bits, a coordinate, amounts.
const DATA: &str = r#"{"ad":120330000123456789,"amounts":[1099,19.90,0.1000000000000000055511151231257827],"big":36893488147419103232,"id":725653563933458432,"p":1234567890.123456789,"tweet":{"id":1212092628029698048}}"#;

async fn start() -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|_: &Received| {
        Response::builder()
            .header("content-type", "application/json")
            .body(Body::from(format!(r#"{{"data":{DATA}}}"#)))
            .unwrap()
    })
    .await;
    let answers = json!({ "200": { "description": "ok" } });
    let body = |properties: Value| {
        let schema = json!({ "type": "object", "properties": properties });
        json!({ "content": { "application/json": { "schema": schema } } })
    };
    let issue = json!({
        "labels": { "type": "array", "items": { "type": "string" } },
        "limit": { "type": "integer" },
        "draft": { "type": "boolean" },
        "body": { "type": "object", "properties": { "a": { "type": "integer" } } },
        "note": { "type": "string" },
        "amount": { "type": "number" },
        "ids": { "type": "array", "items": { "type": "integer" } },
    });
    let id =
        json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } });
    let after = json!({ "name": "after", "in": "query", "schema": { "type": "integer" } });
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Demo", "version": "1.0.0", "description": "A service for tests." },
        "servers": [{ "url": "https://api.goodsvc.com" }],
        "x-toolgate": { "service": "demo" },
        "paths": {
            "/i": { "post": { "operationId": "make_issue", "summary": "make issue", "responses": answers, "requestBody": body(issue) } },
            "/items/{id}": { "delete": { "operationId": "delete_item", "summary": "delete item", "responses": answers, "parameters": [id] } },
            "/data": { "get": { "operationId": "get_data", "summary": "get data", "responses": answers, "parameters": [after],
                "x-toolgate": { "result": "/data" } } },
        },
    });
    let folder = tempfile::tempdir().unwrap();
    let description = folder.path().join("demo.json");
    std::fs::write(&description, document.to_string()).unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("demo.wasm".to_owned(), built(description).await)],
        allow_upstream: vec![format!("api.goodsvc.com={}", upstream.url())],
        ..Options::default()
    })
    .await;
    (gateway, upstream)
}

/// A call whose arguments are this JSON text, as part of the body.
async fn over_rest(gateway: &TestGateway, tool: &str, arguments: &str) -> Answer {
    let path = format!("/v1/tools/{tool}/execute");
    let body = format!(r#"{{"arguments":{arguments}}}"#);
    gateway
        .send(Method::POST, &path, Some(&gateway.key), Some(body))
        .await
}

/// A call over MCP, as a message of this very text.
async fn over_mcp(gateway: &TestGateway, path: &str, name: &str, arguments: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{meta}}}}}"#
    );
    let request = gateway
        .client
        .post(gateway.url(path))
        .bearer_auth(&gateway.key);
    let request = request
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", name);
    let answer = Answer::read(request.body(message).send().await.unwrap()).await;
    let mut answer = answer.json();
    assert!(answer["result"].is_object(), "{answer}");
    answer["result"].take()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// The target and body of the last request.
fn last(upstream: &Upstream) -> (String, String) {
    let last = upstream.received().pop().unwrap();
    (last.target, last.body)
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_the_declared_kind_are_taken_as_it_and_the_answer_says_which() {
    let (gateway, upstream) = start().await;
    let given =
        r#"{"labels":"[\"bug\"]","limit":"5","draft":"false","body":"{\"a\":1}","note":"[1]"}"#;
    let sent = r#"{"labels":["bug"],"limit":5,"draft":false,"body":{"a":1},"note":"[1]"}"#;
    let places = ["/labels", "/limit", "/draft", "/body"];
    let answer = over_rest(&gateway, "demo_make_issue", given).await.data();
    assert_eq!(answer["coerced"], json!(places), "{answer}");
    assert_eq!(last(&upstream).1, sent);
    let named = json!({ "tool_name": "demo_make_issue", "arguments": given });
    let toolset = json!({ "name": "own", "tools": ["demo_make_issue"] });
    assert_eq!(gateway.post("/v1/toolsets", &toolset).await.status, 201);
    for (path, name, arguments) in [
        ("/mcp", "svc_execute_tool", named.to_string()),
        ("/mcp/t/own", "demo_make_issue", given.to_owned()),
    ] {
        let before = upstream.received().len();
        let result = over_mcp(&gateway, path, name, &arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        let line = format!("Coerced: {} (", places.join(", "));
        assert!(text(&result).contains(&line), "{result}");
        assert_eq!(
            (upstream.received().len(), last(&upstream).1.as_str()),
            (before + 1, sent)
        );
    }
    // Nothing is said where nothing was changed, null for something optional is nothing.
    let answer = over_rest(&gateway, "demo_make_issue", r#"{"limit":5,"draft":null}"#)
        .await
        .data();
    assert!(answer.get("coerced").is_none(), "{answer}");
    assert_eq!(last(&upstream).1, r#"{"limit":5}"#);
    // What could mean something else is refused as it is.
    for ambiguous in [
        r#"{"limit":"5.0"}"#,
        r#"{"limit":"05"}"#,
        r#"{"draft":"yes"}"#,
        r#"{"labels":"bug"}"#,
        r#"{"body":"{\"a\":1,\"a\":2}"}"#,
    ] {
        let refused = over_rest(&gateway, "demo_make_issue", ambiguous).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "invalid_arguments")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_and_decimals_reach_the_provider_digit_by_digit() {
    let (gateway, upstream) = start().await;
    let toolset = json!({ "name": "own", "tools": ["demo_delete_item", "demo_make_issue"] });
    assert_eq!(gateway.post("/v1/toolsets", &toolset).await.status, 201);
    for id in [
        "36893488147419103232",
        "1212092628029698048",
        "725653563933458432",
    ] {
        let arguments = format!(r#"{{"id":{id}}}"#);
        let target = format!("/items/{id}");
        let as_text = format!(r#"{{"id":"{id}"}}"#);
        for arguments in [&arguments, &as_text] {
            let answer = over_rest(&gateway, "demo_delete_item", arguments).await;
            assert_eq!(answer.data()["status"], "success", "{}", answer.text);
            assert_eq!(last(&upstream).0, target);
        }
        let texts = json!({ "tool_name": "demo_delete_item", "arguments": arguments });
        let object = format!(r#"{{"tool_name":"demo_delete_item","arguments":{arguments}}}"#);
        for (path, name, arguments) in [
            ("/mcp", "svc_execute_tool", texts.to_string()),
            ("/mcp", "svc_execute_tool", object),
            ("/mcp/t/own", "demo_delete_item", arguments),
        ] {
            let before = upstream.received().len();
            let result = over_mcp(&gateway, path, name, &arguments).await;
            assert_eq!(result["isError"], false, "{result}");
            assert_eq!(
                (upstream.received().len(), last(&upstream).0.as_str()),
                (before + 1, target.as_str())
            );
        }
    }
    let before = upstream.received().len();
    for rounded in [
        "3.6893488147419103e+19",
        "36893488147419103232.0",
        "\"3.6893488147419103e+19\"",
    ] {
        let refused = over_rest(
            &gateway,
            "demo_delete_item",
            &format!(r#"{{"id":{rounded}}}"#),
        )
        .await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "invalid_arguments"),
            "{rounded}"
        );
    }
    assert_eq!(upstream.received().len(), before, "nothing was sent");
    let body = r#"{"amount":1234567890.123456789,"ids":[9007199254740993,36893488147419103233]}"#;
    over_rest(&gateway, "demo_make_issue", body).await.data();
    assert_eq!(last(&upstream).1, body);
    over_mcp(&gateway, "/mcp/t/own", "demo_make_issue", body).await;
    assert_eq!(last(&upstream).1, body);
    over_rest(
        &gateway,
        "demo_get_data",
        r#"{"after":36893488147419103232}"#,
    )
    .await
    .data();
    assert_eq!(last(&upstream).0, "/data?after=36893488147419103232");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_keeps_every_digit_also_where_parts_of_it_are_asked_for() {
    let (gateway, _upstream) = start().await;
    let whole = over_rest(&gateway, "demo_get_data", "{}").await;
    assert!(
        whole.text.contains(&format!(r#""result":{DATA}"#)),
        "{}",
        whole.text
    );
    let asked = json!({ "tool_name": "demo_get_data", "arguments": "{}" });
    let said = over_mcp(&gateway, "/mcp", "svc_execute_tool", &asked.to_string()).await;
    assert!(text(&said).ends_with(DATA), "{said}");
    let body = json!({ "fields": ["/big", "/p", "/tweet", "/amounts/2"] });
    let picked = gateway.post("/v1/tools/demo_get_data/execute", &body).await;
    let parts = r#"{"/big":36893488147419103232,"/p":1234567890.123456789,"/tweet":{"id":1212092628029698048},"/amounts/2":0.1000000000000000055511151231257827}"#;
    assert!(picked.text.contains(parts), "{}", picked.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_ids_that_round_to_one_are_two_for_approvals_and_keys() {
    let (gateway, upstream) = start().await;
    let keyed = async |id: &str| {
        let request = gateway
            .client
            .post(gateway.url("/v1/tools/demo_delete_item/execute"));
        let request = request
            .bearer_auth(&gateway.key)
            .header("idempotency-key", "once");
        let request = request.header("content-type", "application/json");
        let body = format!(r#"{{"arguments":{{"id":{id}}}}}"#);
        Answer::read(request.body(body).send().await.unwrap()).await
    };
    assert_eq!(keyed("36893488147419103232").await.status, 200);
    assert_eq!(keyed("36893488147419103232").await.status, 200);
    assert_eq!(
        keyed("36893488147419103233").await.code(),
        "idempotency_conflict"
    );
    assert_eq!(upstream.received().len(), 1);

    let rule = json!({ "permission": "ask" }).to_string();
    let path = "/v1/permissions/users/default/tools/demo_delete_item";
    let set = gateway.send(Method::PATCH, path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    let run = async |id: &str| {
        let arguments = format!(r#"{{"id":{id}}}"#);
        let answer = over_rest(&gateway, "demo_delete_item", &arguments).await;
        answer.data()
    };
    let asked = run("36893488147419103232").await;
    assert_eq!(asked["status"], "approval_required", "{asked}");
    let id = asked["approval_id"].as_str().unwrap();
    let shown = gateway.get(&format!("/v1/approvals/{id}")).await.data();
    assert_eq!(
        shown["arguments_text"],
        "{\n  \"id\": 36893488147419103232\n}"
    );
    assert_eq!(
        gateway
            .decide(&asked["approval_id"], "approve")
            .await
            .status,
        200
    );
    assert_eq!(
        run("36893488147419103233").await["status"],
        "approval_required"
    );
    assert_eq!(run("36893488147419103232").await["status"], "success");
    assert_eq!(last(&upstream).0, "/items/36893488147419103232");
}
