//! Section 8: limits. Exact windows and headers are in the file `limits.rs` beside this folder.

use serde_json::json;
use toolgate_core::ids::UserId;
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_gateway::limits::workspace_rpm;
use toolgate_store::{Plan, Workspace, WorkspaceSettings};
use toolgate_tests::gateway::Answer;

use super::{gateway, get, send, there};
use crate::parity::say;

/// A key with limits of its own.
pub async fn key(rpm: Option<u32>, rpd: Option<u32>) -> String {
    made(rpm, rpd).await.expect("within the bounds")
}

async fn made(rpm: Option<u32>, rpd: Option<u32>) -> Option<String> {
    there(async move {
        let store = gateway().gateway.store();
        let workspace = store.first_workspace().await.unwrap().unwrap();
        let new = keys::NewKey {
            name: "limited row".to_owned(),
            user: UserId::parse("ada").unwrap(),
            scopes: Scope::ALL.to_vec(),
            rpm,
            rpd,
            expires_at_ms: None,
            networks: Vec::new(),
        };
        let now_ms = gateway().gateway.clock().now_ms();
        let created = keys::create(
            store,
            &toolgate_gateway::Caller::operator(&workspace),
            new,
            now_ms,
        )
        .await
        .ok()?;
        Some(created.key.expose().to_owned())
    })
    .await
}

/// The answer to a request beyond a limit of one, also where a minute has just begun.
pub async fn second_of_a_window(key: &str) -> Answer {
    let first = send("GET", "/v1/status", Some(key), None).await;
    if first.status == 429 {
        return first;
    }
    send("GET", "/v1/status", Some(key), None).await
}

fn workspace(plan: Plan, rpm: Option<i64>) -> Workspace {
    Workspace {
        id: "ws_1".to_owned(),
        name: "a".to_owned(),
        plan,
        rpm,
        settings: WorkspaceSettings::default(),
        created_at_ms: 0,
    }
}

#[test]
fn the_free_plan_has_10_requests_a_minute() {
    assert_eq!(workspace_rpm(&workspace(Plan::Free, None)), Some(10));
}

#[test]
fn the_pro_plan_has_100_requests_a_minute() {
    assert_eq!(workspace_rpm(&workspace(Plan::Pro, None)), Some(100));
}

#[test]
fn the_enterprise_plan_has_as_many_as_is_set() {
    assert_eq!(workspace_rpm(&workspace(Plan::Enterprise, None)), None);
    assert_eq!(
        workspace_rpm(&workspace(Plan::Enterprise, Some(5_000))),
        Some(5_000)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keys_requests_per_minute_are_configurable_up_to_1_000() {
    assert!(made(Some(1_000), None).await.is_some());
    for bad in [0, 1_001] {
        assert!(made(Some(bad), None).await.is_none(), "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keys_requests_per_day_are_configurable_up_to_1_000_000() {
    assert!(made(None, Some(1_000_000)).await.is_some());
    for bad in [0, 1_000_001] {
        assert!(made(None, Some(bad)).await.is_none(), "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_search_limit_is_20_by_default_and_100_at_most() {
    for (limit, fits) in [(1, true), (100, true), (0, false), (101, false)] {
        let said = say(
            gateway(),
            "svc_search_tools",
            json!({ "query": "widget", "limit": limit }),
        )
        .await;
        assert_eq!(!said.is_error, fits, "{limit}: {}", said.text);
    }
    let schema = tools_list().await;
    let limit = &schema["svc_search_tools"]["properties"]["limit"];
    assert_eq!(
        (&limit["minimum"], &limit["maximum"]),
        (&json!(1), &json!(100))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_skill_list_limit_is_20_by_default_and_100_at_most() {
    assert_eq!(get("/v1/skills").await.data()["limit"], 20);
    for (limit, fits) in [(1, true), (100, true), (0, false), (101, false)] {
        let said = say(gateway(), "svc_list_skills", json!({ "limit": limit })).await;
        assert_eq!(!said.is_error, fits, "{limit}: {}", said.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_skill_list_offset_is_0_by_default() {
    let said = say(gateway(), "svc_list_skills", json!({})).await;
    assert!(said.text.contains("(offset=0)"), "{}", said.text);
    assert_eq!(get("/v1/skills").await.data()["offset"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_limit_is_3_by_default_and_0_to_5() {
    for (limit, status) in [("0", 200), ("5", 200), ("6", 400)] {
        let path = format!("/v1/tools/search?query=widget&schema_limit={limit}");
        assert_eq!(get(&path).await.status, status, "{limit}");
    }
    // The third of the best is named by reference only because its schema exceeds the budget.
    let found = get("/v1/tools/search?query=test+wants+done").await.data();
    let inline = found["tools"].as_array().unwrap().iter();
    let inline = inline
        .filter(|tool| tool.get("inputSchema").is_some())
        .count();
    assert!((1..=3).contains(&inline), "{inline}");
}

#[tokio::test(flavor = "multi_thread")]
async fn inlined_schemas_stay_within_24_000_bytes_together() {
    let found = get("/v1/tools/search?query=paint+widget+colour&service=wide&schema_limit=5")
        .await
        .data();
    let bytes: usize = found["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| Some(tool.get("inputSchema")?.to_string().len()))
        .sum();
    assert!(bytes > 0 && bytes <= 24_000, "{bytes}");
}

async fn tools_list() -> serde_json::Map<String, serde_json::Value> {
    let client = toolgate_tests::gateway::client();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    } } });
    let request = client
        .post(gateway().url("/mcp"))
        .bearer_auth(&gateway().key)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/list")
        .body(body.to_string());
    let text = request.send().await.unwrap().text().await.unwrap();
    let said: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tools = said["result"]["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| {
            (
                tool["name"].as_str().unwrap().to_owned(),
                tool["inputSchema"].clone(),
            )
        })
        .collect()
}
