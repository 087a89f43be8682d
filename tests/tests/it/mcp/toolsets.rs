//! Toolsets: what an official client lists and calls at the address of one, and who is refused there.

mod refusals;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use toolgate_tests::component::{Fixture, locked, tool};
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::mcp::{Client, ToolsetClient};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// `demo`: three tools that answer their arguments; the results of `typed` and `wrong` have a schema, which
/// only those of the first fit. `locked` needs an account that nobody has connected.
fn plugins() -> Vec<(String, Vec<u8>)> {
    let mut typed = tool("typed");
    typed["title"] = json!("A typed answer");
    typed["output"] = json!({
        "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"],
    });
    let mut wrong = tool("wrong");
    wrong["output"] = json!({ "type": "object", "required": ["never_there"] });
    let demo = Fixture::new("demo")
        .with("tools", json!([tool("run"), typed, wrong]))
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    vec![
        ("demo.wasm".to_owned(), demo.build()),
        ("locked.wasm".to_owned(), locked().build()),
    ]
}

async fn gateway() -> TestGateway {
    let options = Options {
        plugins: plugins(),
        ..Options::default()
    };
    TestGateway::start(options).await
}

async fn make(gateway: &TestGateway, toolset: Value) -> Value {
    let made = gateway.post("/v1/toolsets", &toolset).await;
    assert_eq!(made.status, 201, "{}", made.text);
    made.data()
}

async fn set(gateway: &TestGateway, tool: &str, permission: &str) {
    let path = format!("/v1/permissions/users/default/tools/{tool}");
    let body = json!({ "permission": permission }).to_string();
    let changed = gateway.send(Method::PATCH, &path, Some(&gateway.key), Some(body));
    assert_eq!(changed.await.status, 200);
}

/// A request of revision 2026-07-28 at this path.
fn stateless(gateway: &TestGateway, path: &str, method: &str, mut params: Value) -> RequestBuilder {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = gateway
        .client
        .post(gateway.url(path))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .body(body.to_string());
    match params["name"].as_str().or(params["uri"].as_str()) {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

async fn sent(request: RequestBuilder, key: &str) -> Answer {
    Answer::read(request.bearer_auth(key).send().await.unwrap()).await
}

async fn list_at(gateway: &TestGateway, path: &str) -> Value {
    let listed = sent(
        stateless(gateway, path, "tools/list", json!({})),
        &gateway.key,
    )
    .await;
    assert_eq!(listed.status, 200, "{}", listed.text);
    listed.json()["result"].take()
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap()).collect()
}

async fn an_official_client_uses_a_toolset(client: Client, protocol: &str, told: &str) {
    let gateway = gateway().await;
    let skill =
        json!({ "name": "Weekly report", "summary": "On Fridays", "instructions": "Begin." });
    let skill = gateway.post("/v1/skills", &skill).await.data();
    let tools = ["demo_run", "demo_typed", "demo_wrong", "locked_run"];
    let made = make(
        &gateway,
        json!({
            "name": "support", "title": "Support desk", "description": "What the desk needs.",
            "tools": tools, "skills": [skill["skill_id"]],
        }),
    )
    .await;
    let url = made["mcp_url"].as_str().unwrap();
    assert_eq!(url, gateway.url("/mcp/t/support"));
    let connecting = ToolsetClient::connect(client, url, &gateway.key);
    let (mut client, negotiated) = connecting.await.unwrap();
    assert_eq!(negotiated["protocol"], protocol);
    assert_eq!(negotiated["list_changed"], true, "{negotiated}");
    let instructions = negotiated["instructions"].as_str().unwrap();
    assert!(
        instructions.starts_with("Support desk: What the desk needs."),
        "{instructions}"
    );
    assert!(!instructions.contains("svc_"), "{instructions}");

    let listed = client.list().await.unwrap();
    let expected = [
        "skill_weekly_report",
        "demo_run",
        "demo_typed",
        "demo_wrong",
        "locked_run",
    ];
    assert_eq!(names(&listed), expected);
    let typed = &listed["tools"][2];
    assert_eq!(typed["title"], "A typed answer");
    assert_eq!(typed["outputSchema"]["required"], json!(["text"]));
    assert_eq!(typed["inputSchema"], tool("typed")["input"]);
    assert_eq!(typed["annotations"]["readOnlyHint"], true);
    assert_eq!(listed["tools"][1]["title"], "Test demo: run");
    assert!(listed["tools"][1].get("outputSchema").is_none());

    let said = client
        .call("demo_run", json!({ "text": "grüß dich" }))
        .await
        .unwrap();
    let (_, result) = said["text"]
        .as_str()
        .unwrap()
        .split_once("\nResult:\n")
        .unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(result).unwrap(),
        json!({ "text": "grüß dich" })
    );
    assert_eq!(
        (&said["is_error"], &said["structured"]),
        (&json!(false), &Value::Null)
    );
    let said = client
        .call("demo_typed", json!({ "text": "a" }))
        .await
        .unwrap();
    assert_eq!(said["structured"], json!({ "text": "a" }), "{said}");
    let said = client
        .call("demo_wrong", json!({ "text": "a" }))
        .await
        .unwrap();
    let text = said["text"].as_str().unwrap();
    assert!(
        said["is_error"] == true && text.contains("The call has run"),
        "{said}"
    );
    let said = client.call("locked_run", json!({})).await.unwrap();
    let text = said["text"].as_str().unwrap();
    assert!(text.starts_with("## Authentication Required\n"), "{text}");
    assert!(
        text.contains("call `locked_run` again") && !text.contains("svc_"),
        "{text}"
    );
    assert_eq!(said["is_error"], true);
    let said = client.call("demo_run", json!({ "text": 7 })).await.unwrap();
    let text = said["text"].as_str().unwrap();
    assert!(
        text.ends_with("Error Code: invalid_arguments") && !text.contains("svc_"),
        "{text}"
    );
    let said = client.call("skill_weekly_report", json!({})).await.unwrap();
    assert!(
        said["text"]
            .as_str()
            .unwrap()
            .contains("Instructions:\nBegin."),
        "{said}"
    );
    for outside in [
        "svc_execute_tool",
        "svc_search_tools",
        "demo_nope",
        "toolgate_read_result",
    ] {
        let said = client.call(outside, json!({})).await.unwrap();
        assert_eq!(said["code"], -32602, "{outside}: {said}");
    }

    // Each call has its receipt, as through svc_execute_tool.
    let receipts = gateway.get("/v1/executions?limit=100").await.data();
    let of = |name: &str| {
        let receipts = receipts["executions"].as_array().unwrap().iter();
        receipts
            .filter(|receipt| receipt["tool_name"] == name)
            .count()
    };
    assert_eq!(tools.map(of), [1, 1, 1, 1], "{receipts}");

    // A rule that asks: the call waits for a person, and then runs once.
    set(&gateway, "demo_run", "ask").await;
    let call = json!({ "text": "may I" });
    let said = client.call("demo_run", call.clone()).await.unwrap();
    let text = said["text"].as_str().unwrap();
    assert!(
        text.starts_with("## Approval Required\n") && said["is_error"] == true,
        "{said}"
    );
    let approval = text
        .lines()
        .find_map(|line| line.strip_prefix("Approval: "));
    let decided = gateway.decide(&json!(approval.unwrap()), "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let said = client.call("demo_run", call.clone()).await.unwrap();
    assert_eq!(said["is_error"], false, "{said}");
    let said = client.call("demo_run", call).await.unwrap();
    assert!(
        said["text"]
            .as_str()
            .unwrap()
            .starts_with("## Approval Required\n")
    );

    // A rule that denies: the client is told, the tool is gone and cannot be called.
    set(&gateway, "demo_run", "deny").await;
    assert_eq!(client.changed().await.unwrap()["changed"], told);
    let listed = client.list().await.unwrap();
    assert_eq!(
        names(&listed),
        [
            "skill_weekly_report",
            "demo_typed",
            "demo_wrong",
            "locked_run"
        ]
    );
    let said = client.call("demo_run", json!({})).await.unwrap();
    assert_eq!(said["code"], -32602, "{said}");

    // So is a change of the toolset.
    let body = json!({ "tools": [], "services": ["demo"], "skills": [] }).to_string();
    let path = "/v1/toolsets/support";
    let changed = gateway
        .send(Method::PATCH, path, Some(&gateway.key), Some(body))
        .await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert_eq!(client.changed().await.unwrap()["changed"], told);
    assert_eq!(
        names(&client.list().await.unwrap()),
        ["demo_typed", "demo_wrong"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_of_the_stateless_era_uses_a_toolset() {
    an_official_client_uses_a_toolset(Client::Python("auto"), "2026-07-28", "event").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_of_the_session_era_uses_a_toolset() {
    an_official_client_uses_a_toolset(Client::Python("legacy"), "2025-11-25", "notification").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_of_the_stateless_era_uses_a_toolset() {
    an_official_client_uses_a_toolset(Client::JavaScript("auto"), "2026-07-28", "listChanged")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_javascript_client_of_the_session_era_uses_a_toolset() {
    an_official_client_uses_a_toolset(Client::JavaScript("legacy"), "2025-11-25", "listChanged")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_tools_are_listed_in_the_same_bytes_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let tools: Vec<Value> = (0..60).rev().map(|n| tool(&format!("t{n:02}"))).collect();
    let many = Fixture::new("many").with("tools", json!(tools)).build();
    let mut bytes = Vec::new();
    for start in 0..2 {
        let plugins = match start {
            0 => vec![("many.wasm".to_owned(), many.clone())],
            _ => Vec::new(),
        };
        let gateway = TestGateway::start(Options {
            plugins,
            data_dir: Some(folder.path().join("data")),
            plugins_dir: Some(folder.path().join("plugins")),
            ..Options::default()
        })
        .await;
        gateway.wait_for_file("many.wasm", "active").await;
        if start == 0 {
            let named: Vec<String> = (0..50).map(|n| format!("many_t{n:02}")).collect();
            make(&gateway, json!({ "name": "fifty", "tools": named })).await;
        }
        // Plugins are read after the start.
        let loaded = async || names(&list_at(&gateway, "/mcp/t/fifty").await).len() == 50;
        gateway.wait("the toolset is whole", loaded).await;
        for _ in 0..2 {
            let request = stateless(&gateway, "/mcp/t/fifty", "tools/list", json!({}));
            let listed = sent(request, &gateway.key).await;
            let result = listed.json()["result"].clone();
            assert_eq!(names(&result).len(), 50);
            assert!(names(&result).is_sorted(), "{:?}", names(&result));
            assert_eq!(
                (&result["ttlMs"], &result["cacheScope"]),
                (&json!(60_000), &json!("private"))
            );
            bytes.push(listed.text);
        }
        gateway
            .gateway
            .close(std::time::Duration::from_secs(5))
            .await;
    }
    assert!(bytes.iter().all(|one| *one == bytes[0]), "{bytes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_holds_128_tools_and_says_how_many_it_leaves_out() {
    let tools: Vec<Value> = (0..140).map(|n| tool(&format!("t{n:03}"))).collect();
    let many = Fixture::new("many").with("tools", json!(tools)).build();
    let gateway = TestGateway::with_plugin("many.wasm", many).await;
    // What is named by itself is listed before what only comes with its service.
    let made = make(
        &gateway,
        json!({ "name": "all", "tools": ["many_t139"], "services": ["many"] }),
    )
    .await;
    assert_eq!(
        (&made["listed"], &made["left_out"]),
        (&json!(128), &json!(12))
    );
    let listed = list_at(&gateway, "/mcp/t/all").await;
    assert_eq!(names(&listed).len(), 128);
    assert_eq!(names(&listed).last(), Some(&"many_t139"));
    assert_eq!(listed["_meta"]["toolgate/leftOut"], 12);
    let request = stateless(&gateway, "/mcp/t/all", "server/discover", json!({}));
    let discovered = sent(request, &gateway.key).await;
    assert!(
        discovered
            .text
            .contains("12 more tools of this toolset are not listed"),
        "{}",
        discovered.text
    );
    let call = json!({ "name": "many_t138", "arguments": {} });
    let refused = sent(
        stateless(&gateway, "/mcp/t/all", "tools/call", call),
        &gateway.key,
    )
    .await;
    assert_eq!(refused.json()["error"]["code"], -32602, "{}", refused.text);
    // A denied tool makes room for another.
    set(&gateway, "many_t000", "deny").await;
    let listed = list_at(&gateway, "/mcp/t/all").await;
    assert!(names(&listed).contains(&"many_t127") && !names(&listed).contains(&"many_t000"));

    make(
        &gateway,
        json!({ "name": "both", "services": ["many"], "generic_tools": true }),
    )
    .await;
    // One place is kept for svc_run_script, which is listed where code mode is on.
    let listed = list_at(&gateway, "/mcp/t/both").await;
    assert_eq!(names(&listed).len(), 127);
    let on = Some(json!({ "enabled": true }).to_string());
    let on = gateway.send(Method::PUT, "/v1/code-mode", Some(&gateway.key), on);
    assert_eq!(on.await.status, 200);
    let listed = list_at(&gateway, "/mcp/t/both").await;
    assert_eq!(names(&listed).len(), 128);
    assert!(names(&listed).contains(&"svc_run_script"));
    assert_eq!(
        names(&listed)[..2],
        ["svc_health_check", "svc_search_tools"]
    );
    let call = json!({ "name": "svc_health_check", "arguments": {} });
    let request = stateless(&gateway, "/mcp/t/both", "tools/call", call);
    let said = sent(request, &gateway.key).await;
    assert!(said.text.contains("healthy"), "{}", said.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn skills_are_files_of_the_toolset_that_names_them() {
    let gateway = gateway().await;
    let mut ids = Vec::new();
    for name in ["One", "Two"] {
        let skill = json!({ "name": name, "summary": "S", "instructions": "I" });
        ids.push(gateway.post("/v1/skills", &skill).await.data()["skill_id"].clone());
    }
    make(&gateway, json!({ "name": "one", "skills": [ids[0]] })).await;
    let uris = async |path: &str| -> Vec<String> {
        let request = stateless(&gateway, path, "resources/list", json!({}));
        let listed = sent(request, &gateway.key).await.json();
        let resources = listed["result"]["resources"].as_array().unwrap().iter();
        resources
            .map(|one| one["uri"].as_str().unwrap().to_owned())
            .collect()
    };
    let (all, own) = (uris("/mcp").await, uris("/mcp/t/one").await);
    assert_eq!((all.len(), own.len()), (2, 1));
    assert!(own[0].contains(ids[0].as_str().unwrap()), "{own:?}");
    for uri in &all {
        let request = stateless(
            &gateway,
            "/mcp/t/one",
            "resources/read",
            json!({ "uri": uri }),
        );
        let read = sent(request, &gateway.key).await.json();
        assert_eq!(read["result"].is_object(), own.contains(uri), "{read}");
    }
}
