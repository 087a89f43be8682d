//! The main job over REST: search, list, schema, execute, receipts.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::upstream::Upstream;

fn strict_tool() -> Value {
    let mut strict = tool("run");
    strict["input"] = json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer", "minimum": 1, "description": "How many." },
            "name": { "type": "string", "description": "Whose." },
        },
        "required": ["count", "name"],
        "additionalProperties": false,
    });
    strict
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_of_an_idempotent_write_says_that_it_may_run_again() {
    let declared = |name: &str, effect: &str, idempotent: bool| {
        let mut declared = tool(name);
        declared["effect"] = json!(effect);
        declared["idempotent"] = json!(idempotent);
        declared
    };
    let tools = json!([
        declared("put", "write", true),
        declared("post", "write", false),
        declared("get", "read", true),
    ]);
    let plugin = Fixture::new("kept").with("tools", tools).build();
    let gateway = TestGateway::with_plugin("kept.wasm", plugin).await;
    for (name, says) in [("put", true), ("post", false), ("get", false)] {
        let path = format!("/v1/tools/kept_{name}/schema");
        let schema = gateway.get(&path).await.data();
        let description = schema["description"].as_str().unwrap();
        assert_eq!(description.contains("may run again"), says, "{schema}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_violation_of_the_schema_is_reported_with_its_place() {
    let plugin = Fixture::new("strict")
        .with("tools", json!([strict_tool()]))
        .build();
    let gateway = TestGateway::with_plugin("strict.wasm", plugin).await;
    let bad = json!({ "arguments": { "count": 0, "extra": true } });
    let answer = gateway.post("/v1/tools/strict_run/execute", &bad).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "invalid_arguments")
    );
    let violations = answer.json()["error"]["details"]["violations"].clone();
    let paths: Vec<&str> = violations
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(violations.as_array().unwrap().len(), 3, "{violations}");
    assert!(paths.contains(&"/count"), "{violations}");
    let good = json!({ "arguments": { "count": 1, "name": "ada" } });
    assert_eq!(
        gateway
            .post("/v1/tools/strict_run/execute", &good)
            .await
            .data()["status"],
        "success"
    );
    let text = json!({ "arguments": "{\"count\": 1, \"name\": \"ada\"}" });
    assert_eq!(
        gateway
            .post("/v1/tools/strict_run/execute", &text)
            .await
            .data()["status"],
        "success"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_get_the_contracts_errors_and_never_a_500() {
    let gateway = TestGateway::with_plugin("plain.wasm", Fixture::new("plain").build()).await;
    let run = "/v1/tools/plain_run/execute";
    for (path, body, status, code) in [
        (run, "{", 400, "invalid_json"),
        (run, "[]", 400, "invalid_request"),
        (run, r#"{"arguments": 7}"#, 400, "invalid_request"),
        (run, r#"{"arguments": "nope"}"#, 400, "invalid_json"),
        (
            run,
            r#"{"arguments": {}, "surprise": 1}"#,
            400,
            "invalid_request",
        ),
        (
            run,
            r#"{"arguments": {}, "user_id": "a b"}"#,
            400,
            "invalid_request",
        ),
        (
            run,
            r#"{"arguments": {"text": 7}}"#,
            400,
            "invalid_arguments",
        ),
        (
            "/v1/tools/nobody_run/execute",
            r#"{"arguments": {}}"#,
            404,
            "tool_not_found",
        ),
        ("/v1/nowhere", "{}", 404, "not_found"),
        ("/v1/tools/search", "{}", 405, "method_not_allowed"),
    ] {
        let answer = gateway
            .send(
                Method::POST,
                path,
                Some(&gateway.key),
                Some(body.to_owned()),
            )
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{path} {body}: {}",
            answer.text
        );
    }
    let large = json!({ "arguments": { "text": "x".repeat(1 << 20) } });
    let answer = gateway.post(run, &large).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (413, "payload_too_large")
    );
    let form = gateway
        .client
        .post(gateway.url(run))
        .header("authorization", format!("Bearer {}", gateway.key))
        .header("content-type", "text/plain")
        .body("{}")
        .send()
        .await
        .unwrap();
    assert_eq!(form.status(), 415);
    for path in [
        "/v1/tools/search?query=",
        "/v1/tools/search?query=x&limit=0",
        "/v1/tools/search?query=x&limit=101",
        "/v1/tools/search?query=x&schema_limit=6",
        "/v1/tools/search?query=x&limit=many",
        "/v1/tools/search",
        "/v1/executions?cursor=nonsense",
    ] {
        let answer = gateway.get(path).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "invalid_request"),
            "{path}: {}",
            answer.text
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn search_inlines_schemas_only_within_its_budget() {
    let mut large = tool("alpha");
    let properties: serde_json::Map<String, Value> = (0..100)
        .map(|n| {
            (
                format!("field_{n}"),
                json!({ "type": "string", "description": "d".repeat(100) }),
            )
        })
        .collect();
    large["input"]["properties"] = properties.into();
    large["description"] = json!("Weighs the widget.");
    let mut second = large.clone();
    second["name"] = json!("beta");
    let plugin = Fixture::new("widgets")
        .with("tools", json!([large, second]))
        .build();
    let gateway = TestGateway::with_plugin("widgets.wasm", plugin).await;
    let found = gateway
        .get("/v1/tools/search?query=weigh+widget&schema_limit=5")
        .await
        .data();
    let tools = found["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2, "{found}");
    assert!(tools[0].get("inputSchema").is_some(), "the first fits");
    assert_eq!(
        tools[1]["schemaRef"],
        format!("/v1/tools/{}/schema", tools[1]["name"].as_str().unwrap())
    );
    let none = gateway
        .get("/v1/tools/search?query=weigh+widget&schema_limit=0")
        .await
        .data();
    assert!(
        none["tools"]
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool.get("schemaRef").is_some())
    );
    let nothing = gateway
        .get("/v1/tools/search?query=zebra+crossing")
        .await
        .data();
    // The nearest tools all the same, each of which says that it does not fit.
    assert_eq!(nothing["confidence"], "none", "{nothing}");
    assert_eq!(
        (&nothing["service"], &nothing["total"]),
        (&Value::Null, &json!(2))
    );
    assert_eq!(nothing["suggestions"], json!(["widgets"]));
    let nearest = nothing["tools"].as_array().unwrap();
    assert_eq!(nearest.len(), 2, "{nothing}");
    assert!(
        nearest.iter().all(|tool| tool["confidence"] == "none"),
        "{nothing}"
    );
    let elsewhere = gateway
        .get("/v1/tools/search?query=zebra+crossing&service=nowhere")
        .await
        .data();
    assert_eq!(
        (&elsewhere["tools"], &elsewhere["service"]),
        (&json!([]), &json!("nowhere"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_answers_through_the_sandbox_and_leaves_a_receipt() {
    let upstream = Upstream::start(|_| {
        axum::http::Response::builder()
            .header("content-type", "application/json")
            .body(r#"{"status":"success","data":{"resultType":"scalar","result":[1,"42"]}}"#.into())
            .unwrap()
    })
    .await;
    let gateway =
        TestGateway::with_plugin("prometheus.wasm", built_plugin("prometheus").unwrap()).await;
    let unset = gateway
        .execute("prometheus_query", json!({ "query": "42" }))
        .await;
    assert_eq!(unset["status"], "error");
    assert_eq!(unset["reason"], "not_configured", "{unset}");
    let next_step = unset["error"]["suggested_fix"].as_str().unwrap();
    assert!(next_step.contains("toolgate service configure"), "{unset}");

    let set = [("api_base".to_owned(), upstream.url())];
    toolgate_tests::gateway::configure(&gateway.gateway, "prometheus", &set)
        .await
        .unwrap();
    let answer = gateway
        .execute("prometheus_query", json!({ "query": "42" }))
        .await;
    assert_eq!(
        answer["status"], "success",
        "taken up while serving: {answer}"
    );
    assert!(answer["session_id"].as_str().unwrap().starts_with("tool_"));

    let id = answer["execution_id"].as_str().unwrap();
    let receipt = gateway.get(&format!("/v1/executions/{id}")).await.data();
    assert_eq!(receipt["tool_name"], "prometheus_query");
    assert_eq!(receipt["plugin"]["service"], "prometheus");
    assert_eq!(receipt["requests"].as_array().unwrap().len(), 1);
    assert_eq!(receipt["requests"][0]["status"], 200);
    assert_eq!(upstream.received().len(), 1);

    let dry = gateway
        .post(
            "/v1/tools/prometheus_query/execute",
            &json!({ "arguments": { "query": "1" }, "dry_run": true }),
        )
        .await
        .data();
    assert_eq!(dry["status"], "dry_run", "{dry}");
    assert!(
        dry["requests"][0]["url"]
            .as_str()
            .unwrap()
            .contains("/api/v1/query"),
        "{dry}"
    );
    assert_eq!(upstream.received().len(), 1, "a dry run sends nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_whose_service_is_not_connected_asks_for_the_connection() {
    let gateway = TestGateway::with_plugin("github.wasm", built_plugin("github").unwrap()).await;
    let answer = gateway
        .get("/v1/tools/search?query=create+an+issue+on+github")
        .await
        .data();
    let first = answer["tools"][0].clone();
    assert_eq!(first["name"], "github_create_issue", "{answer}");
    assert_eq!(first["connection"], "not_connected");
    let arguments = json!({ "owner": "octo", "repo": "hello", "title": "Bug" });
    let asked = gateway.execute("github_create_issue", arguments).await;
    assert_eq!(asked["status"], "auth_required", "{asked}");
    assert_eq!(asked["reason"], "auth_required");
    // The operator has registered no OAuth application, so the user connects with a token.
    assert_eq!(asked["auth_type"], "bearer");
    let link = asked["connect_url"].as_str().unwrap();
    assert!(link.starts_with(&gateway.url("/connect/")), "{link}");
    assert!(asked["message"].as_str().unwrap().contains("GitHub"));
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_are_ordered_and_paged() {
    let tools: Vec<Value> = ["c", "a", "b"].iter().map(|name| tool(name)).collect();
    let gateway = TestGateway::start(Options {
        plugins: vec![(
            "abc.wasm".to_owned(),
            Fixture::new("abc").with("tools", tools.into()).build(),
        )],
        ..Options::default()
    })
    .await;
    let first = gateway.get("/v1/tools/list?limit=2").await.data();
    let names: Vec<&str> = first["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["abc_a", "abc_b"]);
    let next = first["next_cursor"].as_str().unwrap();
    let last = gateway
        .get(&format!("/v1/tools/list?limit=2&cursor={next}"))
        .await
        .data();
    assert_eq!(last["tools"].as_array().unwrap().len(), 1);
    assert_eq!(last["next_cursor"], Value::Null);
}
