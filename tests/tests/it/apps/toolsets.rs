//! Signing in at the address of a toolset: its tokens are good for it alone.

use serde_json::{Value, json};
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, TestGateway};

use super::way::{App, AppTokens, MemberBrowser, call_at, gateway};

async fn metadata(gateway: &TestGateway, path: &str) -> Answer {
    let url = gateway.url(&format!("/.well-known/oauth-protected-resource{path}"));
    Answer::read(gateway.client.get(url).send().await.unwrap()).await
}

async fn make(gateway: &TestGateway, name: &str) {
    let body = json!({ "name": name, "title": "Support desk", "tools": ["demo_run"] });
    let made = gateway.post("/v1/toolsets", &body).await;
    assert_eq!(made.status, 201, "{}", made.text);
}

/// Whether the token is good for the tool of `demo` at this path.
async fn runs_at(gateway: &TestGateway, path: &str, token: &str) -> bool {
    let (tool, arguments) = match path {
        "/mcp" => {
            let asked = json!({ "tool_name": "demo_run", "arguments": r#"{"text":"hello"}"# });
            ("svc_execute_tool", asked)
        }
        _ => ("demo_run", json!({ "text": "hello" })),
    };
    let answer = call_at(gateway, path, Some(token), tool, arguments).await;
    match answer.status {
        200 => {
            assert!(answer.text.contains("hello"), "{path}: {}", answer.text);
            true
        }
        401 => {
            let challenge = answer.headers["www-authenticate"].to_str().unwrap();
            let there = gateway.url(&format!("/.well-known/oauth-protected-resource{path}"));
            assert!(challenge.contains(&format!("\"{there}\"")), "{challenge}");
            false
        }
        other => panic!("{other}: {}", answer.text),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_possible_toolset_has_metadata_and_nothing_else_has() {
    let gateway = &gateway().await;
    make(gateway, "support").await;
    // Whether there is such a toolset is not for strangers.
    for name in ["support", "none-of-ours"] {
        let path = format!("/mcp/t/{name}");
        let body = metadata(gateway, &path).await.json();
        assert_eq!(body["resource"], gateway.url(&path));
        assert_eq!(
            body["authorization_servers"],
            json!([gateway.url("/oauth")])
        );
    }
    for path in [
        "/mcp/t",
        "/mcp/t/",
        "/mcp/t/Support",
        "/mcp/t/a/b",
        "/mcp/t/%22%0d%0a",
        "/mcp/t/%ff",
        "/mcp/key",
        "/mcp/key/t/support",
        "/t/support",
    ] {
        assert_eq!(metadata(gateway, path).await.status, 404, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_good_at_the_address_that_it_was_granted_for() {
    let gateway = &gateway().await;
    make(gateway, "support").await;
    make(gateway, "other").await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let paths = ["/mcp", "/mcp/t/support", "/mcp/t/other"];
    for granted in paths {
        let resource = gateway.url(granted);
        let changed = [("resource", Some(resource.as_str()))];
        let code = app.code(&person, &changed).await;
        for wrong in paths.into_iter().filter(|path| *path != granted) {
            let wrong = gateway.url(wrong);
            let refused = app
                .exchange(&code, &[("resource", Some(wrong.as_str()))])
                .await;
            assert_eq!(refused.json()["error"], "invalid_target", "{granted}");
        }
        let mut tokens = AppTokens::read(&app.exchange(&code, &changed).await);
        for _ in 0..2 {
            for path in paths {
                let runs = runs_at(gateway, path, &tokens.access).await;
                assert_eq!(runs, path == granted, "{granted} at {path}");
            }
            tokens = AppTokens::read(&app.refresh(&tokens.refresh, &changed).await);
        }
        let key_only = granted.replace("/mcp", "/mcp/key");
        let refused = call_at(
            gateway,
            &key_only,
            Some(&tokens.access),
            "demo_run",
            json!({}),
        );
        assert_eq!(refused.await.status, 401, "{key_only}");
    }
    let apps = person.apps().await;
    let toolsets: Vec<&Value> = apps.iter().map(|app| &app["toolset"]).collect();
    assert_eq!(toolsets, [&json!("other"), &json!("support"), &Value::Null]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_member_sees_the_toolset_and_cannot_grant_one_that_is_not_there() {
    let gateway = &gateway().await;
    make(gateway, "support").await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    for (name, title, status) in [
        ("support", json!("Support desk"), 200),
        ("none", Value::Null, 409),
    ] {
        let resource = gateway.url(&format!("/mcp/t/{name}"));
        let request_id = app.ask(&[("resource", Some(resource.as_str()))]).await;
        let path = format!("/internal/app-requests/{request_id}");
        let shown = person
            .ask(reqwest::Method::GET, &path, Value::Null)
            .await
            .data();
        assert_eq!(
            (&shown["toolset"]["name"], &shown["toolset"]["title"]),
            (&json!(name), &title)
        );
        let decided = person.decide(&request_id, true).await;
        assert_eq!(decided.status, status, "{}", decided.text);
        if status == 409 {
            assert!(
                decided.text.contains("has no toolset none"),
                "{}",
                decided.text
            );
            assert_eq!(person.decide(&request_id, false).await.status, 200);
        }
    }
    let plain = app.ask(&[]).await;
    let path = format!("/internal/app-requests/{plain}");
    let shown = person
        .ask(reqwest::Method::GET, &path, Value::Null)
        .await
        .data();
    assert!(shown.get("toolset").is_none(), "{shown}");
}
