//! What an admin reads of other users is in the audit log, and what a user reads of their own is not.

use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::{TestGateway, new_key};

/// A tool that answers its arguments, and one that fails.
async fn start() -> TestGateway {
    let mut run = tool("run");
    run["triggers"] = json!([{
        "name": "run_ended", "title": "Run ended", "description": "A run has ended.",
        "items": "/runs", "id": ["/id"],
    }]);
    let echo = Fixture::new("echo")
        .with("tools", json!([run]))
        .invoke("(call $answer (local.get $arguments) (local.get $arguments_bytes))");
    TestGateway::with_plugin("echo.wasm", echo.build()).await
}

async fn send(gateway: &TestGateway, key: &str, path: &str, body: &Value) -> Value {
    let body = Some(body.to_string());
    let sent = gateway.send(reqwest::Method::POST, path, Some(key), body);
    sent.await.data()
}

/// The entries of one action: subject and users.
async fn entries(gateway: &TestGateway, action: &str) -> Vec<(String, Value)> {
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let all = store.list_audit_entries(&workspace.id, None, 200).await;
    let of_action = all
        .unwrap()
        .items
        .into_iter()
        .filter(|one| one.action == action);
    let shown = of_action.map(|one| {
        let details: Value = serde_json::from_str(&one.details).unwrap();
        assert!(!one.details.contains("planted"), "{}", one.details);
        (one.subject, details["users"].clone())
    });
    shown.collect()
}

/// Defence: `host/gateway/src/audit/readings.rs`, asked by each reading before it answers.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_admin_reads_of_another_user_leaves_an_entry() {
    let gateway = start().await;
    let admin = gateway.key.clone();
    let run = "/v1/tools/echo_run/execute";
    let long = json!({ "text": "planted ".repeat(200) });
    let body = json!({ "arguments": long, "user_id": "bob", "max_result_bytes": 256 });
    let kept = send(&gateway, &admin, run, &body).await;
    let result = kept["truncated"]["result_id"].as_str().unwrap().to_owned();
    let begun = json!({ "prompt": "planted", "user_id": "bob" });
    let session = send(&gateway, &admin, "/v1/sessions", &begun).await;
    let session = session["session_id"].as_str().unwrap().to_owned();
    let file = send(&gateway, &admin, "/v1/files?user_id=bob", &json!("planted")).await;
    let file = file["file_id"].as_str().unwrap().to_owned();
    let body = json!({ "service": "echo", "trigger": "run_ended", "config": { "text": "planted" }, "user_id": "bob" });
    let trigger = send(&gateway, &admin, "/v1/triggers", &body).await;
    let trigger = trigger["trigger_id"].as_str().unwrap().to_owned();
    let on = Some(json!({ "enabled": true }).to_string());
    let on = gateway.send(reqwest::Method::PUT, "/v1/code-mode", Some(&admin), on);
    assert_eq!(on.await.status, 200);
    let body = json!({ "script": "export default 'planted'", "user_id": "bob" });
    let script = send(&gateway, &admin, "/v1/scripts/run", &body).await;
    let script = script["run_id"].as_str().unwrap().to_owned();
    let rule = Some(json!({ "permission": "ask" }).to_string());
    let path = "/v1/permissions/users/bob/tools/echo_run";
    let set = gateway.send(reqwest::Method::PATCH, path, Some(&admin), rule);
    assert_eq!(set.await.status, 200);
    let body = json!({ "arguments": { "text": "planted" }, "user_id": "bob" });
    let asked = send(&gateway, &admin, run, &body).await;
    let approval = asked["approval_id"].as_str().unwrap().to_owned();
    let allow = Some(json!({ "permission": "allow" }).to_string());
    gateway
        .send(reqwest::Method::PATCH, path, Some(&admin), allow)
        .await
        .data();

    let bobs = json!(["bob"]);
    for (path, action, subject) in [
        (format!("/v1/results/{result}"), "results.read", &result),
        (format!("/v1/sessions/{session}"), "sessions.read", &session),
        (format!("/v1/files/{file}/content"), "files.read", &file),
        (format!("/v1/triggers/{trigger}"), "triggers.read", &trigger),
        (
            format!("/v1/scripts/runs/{script}"),
            "scripts.read",
            &script,
        ),
        (
            format!("/v1/approvals/{approval}"),
            "approvals.read",
            &approval,
        ),
    ] {
        assert_eq!(entries(&gateway, action).await, [], "{path}");
        for _ in 0..2 {
            assert_eq!(gateway.get(&path).await.status, 200, "{path}");
        }
        let left = entries(&gateway, action).await;
        assert_eq!(left, [(subject.clone(), bobs.clone())], "{path}");
    }
    // Lists show the same texts, and what was read lately is known.
    for path in ["/v1/sessions", "/v1/approvals"] {
        gateway.get(path).await.data();
    }
    assert_eq!(entries(&gateway, "sessions.read").await.len(), 1);
    let messages = format!("/v1/sessions/{session}/messages");
    gateway.get(&messages).await.data();
    assert_eq!(entries(&gateway, "sessions.read").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_an_admin_reads_leaves_one_entry_for_its_users() {
    let gateway = start().await;
    let admin = gateway.key.clone();
    for user in ["bob", "eve"] {
        let begun = json!({ "prompt": "planted", "user_id": user });
        send(&gateway, &admin, "/v1/sessions", &begun).await;
    }
    gateway.get("/v1/sessions").await.data();
    let left = entries(&gateway, "sessions.read").await;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].1, json!(["bob", "eve"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_key_reads_of_its_own_user_leaves_none() {
    let gateway = start().await;
    let scopes = [Scope::ToolsExecute, Scope::Sessions, Scope::ToolsRead];
    let own = new_key(&gateway.gateway, "own", &scopes).await.unwrap();
    let begun = send(
        &gateway,
        &own,
        "/v1/sessions",
        &json!({ "prompt": "planted" }),
    )
    .await;
    let session = begun["session_id"].as_str().unwrap();
    let path = format!("/v1/sessions/{session}");
    let read = gateway.send(reqwest::Method::GET, &path, Some(&own), None);
    assert_eq!(read.await.status, 200);
    // The admin's key acts for the same user by default.
    gateway.get(&path).await.data();
    assert_eq!(entries(&gateway, "sessions.read").await, []);
}
