//! Approvals of tools of servers that keep sessions: what a person approves is the call, and the session that it is
//! made in.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::TestGateway;

use super::hostile::{of, one_tool, result, server};
use super::{gateway_of, in_session};

const TOOL: &str = "odd_do_it";

/// A gateway with a server of sessions whose one tool asks a person first.
async fn asking() -> (TestGateway, toolgate_tests::upstream::Upstream) {
    let server = server(
        |_| one_tool(),
        |_, message| {
            let text = json!({"content": [{"type": "text", "text": "done"}]});
            result(message, &text)
        },
    )
    .await;
    let gateway = gateway_of(&of(&server)).await;
    let rule = json!({ "permission": "ask" }).to_string();
    let path = format!("/v1/permissions/users/default/tools/{TOOL}");
    let set = gateway.send(Method::PATCH, &path, Some(&gateway.key), Some(rule));
    assert_eq!(set.await.status, 200);
    (gateway, server)
}

fn calls(server: &toolgate_tests::upstream::Upstream) -> Vec<Value> {
    let received = server.received();
    let messages = received
        .iter()
        .filter_map(|request| serde_json::from_str::<Value>(&request.body).ok());
    messages
        .filter(|message| message["method"] == "tools/call")
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_reads_the_call_to_a_server_of_sessions_and_it_is_what_runs() {
    let (gateway, server) = asking().await;
    let arguments = json!({ "what": "one thing" });
    let asked = gateway.execute(TOOL, arguments.clone()).await;
    assert_eq!(asked["status"], "approval_required", "{asked}");
    let requests = asked["requests"].as_array().unwrap();
    assert_eq!(requests.len(), 1, "the handshake is not shown: {asked}");
    let body: Value = serde_json::from_str(requests[0]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["method"], "tools/call");
    let meta = json!({ "progressToken": body["id"] });
    assert_eq!(
        body["params"],
        json!({ "name": "do_it", "arguments": arguments, "_meta": meta })
    );
    assert!(calls(&server).is_empty(), "nothing was called");
    let decided = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let ran = gateway.execute(TOOL, arguments).await;
    assert_eq!(ran["result"], "done", "{ran}");
    let sent = calls(&server);
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0], body, "what was approved is what was sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_asked_for_in_one_session_runs_in_no_other() {
    let (gateway, server) = asking().await;
    let asked = gateway.execute(TOOL, json!({})).await;
    let decided = gateway.decide(&asked["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let elsewhere = in_session(&gateway, "prod", TOOL, json!({})).await;
    assert_eq!(elsewhere["status"], "approval_required", "{elsewhere}");
    assert!(calls(&server).is_empty(), "nothing was called");
    let decided = gateway.decide(&elsewhere["approval_id"], "approve").await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let other = in_session(&gateway, "test", TOOL, json!({})).await;
    assert_eq!(other["status"], "approval_required", "{other}");
    let ran = in_session(&gateway, "prod", TOOL, json!({})).await;
    assert_eq!(ran["result"], "done", "{ran}");
    assert_eq!(calls(&server).len(), 1);
}
