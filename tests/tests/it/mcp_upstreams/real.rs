//! Servers of others that speak Streamable HTTP, each by another implementation of the protocol.

use serde_json::{Value, json};
use toolgate_catalog::manifest::Effect;
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::mcp_upstream::{self, composed, source};

use super::{gateway_of, in_session};

fn succeeded(answer: &Value) -> &Value {
    assert_eq!(answer["status"], "success", "{answer}");
    &answer["result"]
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_server_of_every_feature_serves_through_the_gateway() {
    let server = mcp_upstream::everything().await.unwrap();
    let source = source(&server.mcp(), "everything");
    let made = composed(&source, None, &[]).await.unwrap();
    assert!(made.manifest.tools.len() >= 8, "{:?}", made.notes);
    let gateway = gateway_of(&source).await;
    let echo = gateway
        .execute("everything_echo", json!({"message": "grüß dich"}))
        .await;
    assert!(
        succeeded(&echo).as_str().unwrap().contains("grüß dich"),
        "{echo}"
    );
    let sum = gateway
        .execute("everything_get_sum", json!({"a": 2, "b": 3}))
        .await;
    assert!(succeeded(&sum).as_str().unwrap().contains('5'), "{sum}");
    let wrong = gateway
        .post(
            "/v1/tools/everything_get_sum/execute",
            &json!({"arguments": {"a": "x"}}),
        )
        .await;
    assert_eq!(wrong.code(), "invalid_arguments", "{}", wrong.text);
    let image = gateway
        .execute("everything_get_tiny_image", json!({}))
        .await;
    succeeded(&image);
    assert_eq!(image["files"][0]["media_type"], "image/png", "{image}");
    let structured = gateway
        .execute(
            "everything_get_structured_content",
            json!({"location": "New York"}),
        )
        .await;
    assert!(
        succeeded(&structured)["temperature"].is_number(),
        "{structured}"
    );
    let links = gateway
        .execute("everything_get_resource_links", json!({"count": 2}))
        .await;
    let blocks = succeeded(&links)["content"].as_array().unwrap();
    let links = blocks
        .iter()
        .filter(|block| block["type"] == "resource_link");
    assert_eq!(links.count(), 2, "{blocks:?}");
}

/// The sessions that the server has seen: those of a named session are kept, all others are ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_kept_where_the_caller_names_one() {
    let server = mcp_upstream::everything().await.unwrap();
    let gateway = gateway_of(&source(&server.mcp(), "everything")).await;
    for _ in 0..2 {
        let echo = in_session(
            &gateway,
            "tool_kept",
            "everything_echo",
            json!({"message": "x"}),
        )
        .await;
        succeeded(&echo);
    }
    let methods = |receipt: &Value| -> Vec<String> {
        let requests = receipt["requests"].as_array().unwrap().iter();
        requests
            .map(|one| one["method"].as_str().unwrap().to_owned())
            .collect()
    };
    let kept = receipts(&gateway, 2).await;
    let mut seen: Vec<Vec<String>> = kept.iter().map(methods).collect();
    seen.sort_by_key(Vec::len);
    // The first one opened the session, the second one only called.
    assert_eq!(seen, [vec!["POST"], vec!["POST", "POST", "POST"]]);
    succeeded(
        &gateway
            .execute("everything_echo", json!({"message": "x"}))
            .await,
    );
    let own = methods(&receipts(&gateway, 1).await[0]);
    assert_eq!(own, ["POST", "POST", "POST", "DELETE"]);
}

/// The newest receipts, whole.
async fn receipts(gateway: &TestGateway, count: usize) -> Vec<Value> {
    let list = gateway
        .get(&format!("/v1/executions?limit={count}"))
        .await
        .data();
    let mut whole = Vec::new();
    for one in list["executions"].as_array().unwrap() {
        let id = one["execution_id"].as_str().unwrap();
        whole.push(gateway.get(&format!("/v1/executions/{id}")).await.data());
    }
    whole
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_two_other_frameworks_serve() {
    for stateless in [false, true] {
        let server = mcp_upstream::fast_npm(stateless).await.unwrap();
        let source = source(&server.mcp(), "fast");
        let made = composed(&source, None, &[]).await.unwrap();
        assert_eq!(made.manifest.tools[0].effect, Effect::Read);
        assert_eq!(made.table.tools["add_numbers"].name, "add-numbers");
        let gateway = gateway_of(&source).await;
        let sum = gateway
            .execute("fast_add_numbers", json!({"a": 20, "b": 22}))
            .await;
        assert_eq!(succeeded(&sum), "42", "stateless: {stateless}");
        let drawn = gateway.execute("fast_draw", json!({})).await;
        succeeded(&drawn);
        assert_eq!(drawn["files"][0]["media_type"], "image/png", "{drawn}");
    }
    let server = mcp_upstream::fast_python().await.unwrap();
    let gateway = gateway_of(&source(&server.mcp(), "python")).await;
    let counted = gateway
        .execute(
            "python_word_count",
            json!({"text": "a b a", "ignore": ["b"]}),
        )
        .await;
    assert_eq!(succeeded(&counted)["a"], 2, "{counted}");
    let failed = gateway
        .execute("python_divide", json!({"a": 1, "b": 0}))
        .await;
    assert_eq!(failed["status"], "error", "{failed}");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("divided by zero"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_the_call_and_an_approved_call_is_the_one_that_was_shown() {
    let server = mcp_upstream::fast_python().await.unwrap();
    let gateway = gateway_of(&source(&server.mcp(), "python")).await;
    let body = json!({"arguments": {"a": 6, "b": 3}, "dry_run": true});
    let planned = gateway
        .post("/v1/tools/python_divide/execute", &body)
        .await
        .data();
    let requests = planned["planned_requests"]
        .as_array()
        .or_else(|| planned["requests"].as_array());
    let requests = requests.unwrap_or_else(|| panic!("{planned}"));
    assert_eq!(requests.len(), 1, "{planned}");
    let sent: Value = serde_json::from_str(requests[0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(sent["params"]["name"], "divide", "{sent}");
    let ran = gateway
        .execute("python_divide", json!({"a": 6, "b": 3}))
        .await;
    succeeded(&ran);
}
