//! Who is refused at the address of a toolset, and where.

use reqwest::Method;
use serde_json::json;
use toolgate_core::ids::UserId;
use toolgate_gateway::identity::keys::{self, NewKey};
use toolgate_gateway::{Caller, Scope};
use toolgate_store::Plan;
use toolgate_tests::gateway::{Answer, new_key};

use super::{INITIALIZE, gateway, list_at, make, names, sent, stateless};

#[tokio::test(flavor = "multi_thread")]
async fn a_toolset_of_another_workspace_is_not_there() {
    let gateway = gateway().await;
    make(&gateway, json!({ "name": "ours", "tools": ["demo_run"] })).await;
    let store = gateway.gateway.store();
    let theirs = store
        .create_workspace("theirs", Plan::Enterprise, None, 1)
        .await
        .unwrap();
    let caller = Caller::operator(&theirs);
    let new = NewKey {
        name: "theirs".to_owned(),
        user: UserId::parse("ada").unwrap(),
        scopes: Scope::ALL.to_vec(),
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let key = keys::create(store, &caller, new, 1).await.unwrap();
    let (key, own) = (key.key.expose(), gateway.key.as_str());
    for (path, key) in [
        ("/mcp/t/ours", key),
        ("/mcp/key/t/ours", key),
        ("/mcp/t/none", own),
        ("/mcp/t/Ours", own),
        ("/mcp/t/..%2fours", own),
        ("/mcp/t/our%73x", own),
        ("/mcp/t/%00", own),
        ("/mcp/t/%ff", own),
    ] {
        for method in ["tools/list", "server/discover"] {
            let refused = sent(stateless(&gateway, path, method, json!({})), key).await;
            assert_eq!(
                (refused.status, &*refused.code()),
                (404, "not_found"),
                "{path}"
            );
        }
        let opened = gateway
            .client
            .post(gateway.url(path))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(INITIALIZE);
        assert_eq!(sent(opened, key).await.status, 404, "{path}");
    }
    for path in ["/mcp/t", "/mcp/t/", "/mcp/t/ours/more"] {
        let request = stateless(&gateway, path, "tools/list", json!({}));
        assert_eq!(sent(request, &gateway.key).await.status, 404, "{path}");
    }
    assert_eq!(names(&list_at(&gateway, "/mcp/t/ours").await), ["demo_run"]);
    assert_eq!(
        names(&list_at(&gateway, "/mcp/key/t/ours").await),
        ["demo_run"]
    );
    let deleted = gateway.send(
        Method::DELETE,
        "/v1/toolsets/ours",
        Some(&gateway.key),
        None,
    );
    assert_eq!(deleted.await.status, 200);
    let gone = stateless(&gateway, "/mcp/t/ours", "tools/list", json!({}));
    assert_eq!(sent(gone, &gateway.key).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_toolset_takes_no_one_whom_the_main_address_would_not_take() {
    let gateway = gateway().await;
    make(&gateway, json!({ "name": "ours", "tools": ["demo_run"] })).await;
    let metadata = gateway.url("/.well-known/oauth-protected-resource/mcp/t/ours");
    for (path, leads_on) in [("/mcp/t/ours", true), ("/mcp/key/t/ours", false)] {
        let request = stateless(&gateway, path, "tools/list", json!({}));
        let refused = Answer::read(request.send().await.unwrap()).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (401, "api_key_required")
        );
        let challenge = refused.headers["www-authenticate"].to_str().unwrap();
        assert_eq!(challenge.contains(&metadata), leads_on, "{challenge}");
    }
    let runner = new_key(&gateway.gateway, "runner", &[Scope::ToolsExecute])
        .await
        .unwrap();
    let request = stateless(&gateway, "/mcp/t/ours", "tools/list", json!({}));
    let refused = sent(request, &runner).await;
    assert_eq!(
        refused.json()["error"]["data"]["code"],
        "scope_denied",
        "{}",
        refused.text
    );

    // A session answers where it was opened, and there alone.
    let opened = gateway
        .client
        .post(gateway.url("/mcp/t/ours"))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(INITIALIZE);
    let opened = sent(opened, &gateway.key).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    let session = opened.headers["mcp-session-id"].to_str().unwrap();
    for (path, status) in [
        ("/mcp", 404),
        ("/mcp/key/t/ours", 404),
        ("/mcp/t/ours", 200),
    ] {
        let listed = gateway
            .client
            .post(gateway.url(path))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-session-id", session)
            .body(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        assert_eq!(sent(listed, &gateway.key).await.status, status, "{path}");
    }
}
