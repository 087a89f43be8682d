//! From the first call to the last: connect, use, recover, end.

use std::fs;

use reqwest::Method;
use serde_json::json;
use toolgate_tests::bytes;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};

use super::{connect, follow, link, open, press, run, state, world};

#[tokio::test(flavor = "multi_thread")]
async fn a_call_asks_for_a_connection_lives_on_it_and_asks_again_when_it_is_revoked() {
    let (gateway, provider) = world().await;
    let first = run(&gateway, "ada").await;
    assert_eq!(first["status"], "auth_required", "{first}");
    assert_eq!(
        (&first["reason"], &first["auth_type"]),
        (&json!("auth_required"), &json!("oauth2"))
    );
    let url = first["connect_url"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&gateway.url("/connect/")), "{url}");
    let page = follow(&gateway, &provider, &url).await;
    assert!(page.text.contains("octo-ada"), "{}", page.text);

    let second = run(&gateway, "ada").await;
    assert_eq!(second["status"], "success", "{second}");
    assert_eq!(second["result"]["login"], "octo-ada");
    let listed = gateway.get("/v1/connections?user_id=ada").await.data();
    let connection = listed["connections"][0].clone();
    assert_eq!(
        (&connection["account"], &connection["state"]),
        (&json!("octo-ada"), &json!("active"))
    );

    let path = format!(
        "/v1/executions/{}",
        second["execution_id"].as_str().unwrap()
    );
    let receipt = gateway.get(&path).await.data();
    assert_eq!(receipt["connection_id"], connection["connection_id"]);
    assert_eq!(receipt["requests"][0]["credential_slot"], "user");

    provider.expire_access_tokens();
    let third = run(&gateway, "ada").await;
    assert_eq!(third["status"], "success", "{third}");
    assert_eq!(provider.memory().refreshes, 1);

    provider.revoke_everything();
    let fourth = run(&gateway, "ada").await;
    assert_eq!(fourth["status"], "auth_expired", "{fourth}");
    let id = connection["connection_id"].as_str().unwrap();
    assert_eq!(state(&gateway, id).await, "reauth_needed");
    let requests = provider.memory().refresh_requests;
    let fifth = run(&gateway, "ada").await;
    assert_eq!(fifth["status"], "auth_expired");
    assert_eq!(
        provider.memory().refresh_requests,
        requests,
        "a dead connection is left in peace"
    );

    follow(&gateway, &provider, fifth["connect_url"].as_str().unwrap()).await;
    let sixth = run(&gateway, "ada").await;
    assert_eq!(sixth["status"], "success", "{sixth}");
    let listed = gateway.get("/v1/connections?user_id=ada").await.data();
    assert_eq!(listed["connections"].as_array().unwrap().len(), 1);
    assert_eq!(listed["connections"][0]["connection_id"], id);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_says_whether_a_tool_is_connected() {
    let (gateway, provider) = world().await;
    let states = async || {
        let path = "/v1/tools/search?query=authenticated+user&service=github&user_id=ada";
        gateway.get(path).await.data()["tools"][0]["connection"].clone()
    };
    assert_eq!(states().await, "not_connected");
    connect(&gateway, &provider, "ada").await;
    assert_eq!(states().await, "connected");
    provider.revoke_everything();
    run(&gateway, "ada").await;
    assert_eq!(states().await, "expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_callers_choice_among_several_connections_is_used() {
    let (gateway, provider) = world().await;
    let first = connect(&gateway, &provider, "ada").await;
    let second = connect(&gateway, &provider, "ada").await;
    let theirs = connect(&gateway, &provider, "eve").await;
    let used = async |id: &str| {
        let body = json!({"arguments": {}, "user_id": "ada", "connection_id": id});
        gateway
            .post(&format!("/v1/tools/{}/execute", super::TOOL), &body)
            .await
    };
    for id in [&first, &second] {
        assert_eq!(used(id).await.data()["status"], "success");
    }
    let refused = used(&theirs).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "not_found")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_needs_more_rights_asks_for_them_under_the_same_id() {
    let (gateway, provider) = world().await;
    let store = gateway.gateway.store();
    let app = store
        .find_oauth_app("any", "github")
        .await
        .unwrap()
        .unwrap();
    let fewer = toolgate_store::OAuthApp {
        scopes: Some(r#"["read:user"]"#.to_owned()),
        ..app
    };
    store.change_oauth_app(&fewer, false, &[]).await.unwrap();
    provider.memory().scope = Some("read:user".to_owned());
    let id = connect(&gateway, &provider, "ada").await;
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    let body = json!({"arguments": {"owner": "octo", "repo": "hello", "path": "README.md"}, "user_id": "ada"});
    let path = "/v1/tools/github_get_file_contents/execute";
    let asked = gateway.post(path, &body).await.data();
    assert_eq!(asked["status"], "auth_required", "{asked}");
    assert!(
        asked["message"].as_str().unwrap().contains("lacks rights"),
        "{asked}"
    );
    let url = asked["connect_url"].as_str().unwrap();
    let page = open(&gateway, url).await;
    assert!(page.text.contains("<code>repo</code>") && page.text.contains("This renews"));
    provider.memory().scope = None;
    follow(&gateway, &provider, url).await;
    let shown = gateway.get(&format!("/v1/connections/{id}")).await.data();
    assert_eq!(shown["scopes"], json!(["read:user", "repo"]), "{shown}");
    assert_eq!(run(&gateway, "ada").await["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_connection_is_gone() {
    let (gateway, provider) = world().await;
    let id = connect(&gateway, &provider, "ada").await;
    let path = format!("/v1/connections/{id}");
    let deleted = gateway
        .send(Method::DELETE, &path, Some(&gateway.key), None)
        .await;
    assert_eq!(deleted.data()["deleted"], true);
    assert_eq!(gateway.get(&path).await.status, 404);
    assert_eq!(run(&gateway, "ada").await["status"], "auth_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_shows_the_slot_and_sends_nothing() {
    let (gateway, provider) = world().await;
    connect(&gateway, &provider, "ada").await;
    let before = provider.upstream.received().len();
    let body = json!({"arguments": {}, "user_id": "ada", "dry_run": true});
    let data = gateway
        .post(&format!("/v1/tools/{}/execute", super::TOOL), &body)
        .await
        .data();
    assert_eq!(data["status"], "dry_run", "{data}");
    let shown = data["requests"][0]["headers"].to_string();
    assert!(shown.contains("Bearer [slot user]"), "{shown}");
    assert_eq!(provider.upstream.received().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_plans_what_an_unconnected_user_would_send() {
    let (gateway, provider) = world().await;
    let before = provider.upstream.received().len();
    let path = format!("/v1/tools/{}/execute", super::TOOL);
    let body = json!({"arguments": {}, "user_id": "ada", "dry_run": true});
    let data = gateway.post(&path, &body).await.data();
    assert_eq!(data["status"], "dry_run", "{data}");
    let request = &data["requests"][0];
    assert_eq!(request["url"], "https://api.github.com/user", "{data}");
    let headers = request["headers"].to_string();
    assert!(headers.contains("Bearer [slot user]"), "{headers}");

    // A connection that no longer works is planned with, too; a live call asks to renew it.
    connect(&gateway, &provider, "ada").await;
    provider.expire_access_tokens();
    provider.revoke_everything();
    assert_eq!(run(&gateway, "ada").await["status"], "auth_expired");
    let calls = provider.upstream.received().len();
    assert!(calls > before, "the live call was sent");
    let data = gateway.post(&path, &body).await.data();
    assert_eq!(data["status"], "dry_run", "{data}");
    assert_eq!(provider.upstream.received().len(), calls);
    let live = json!({"arguments": {}, "user_id": "bob"});
    assert_eq!(
        gateway.post(&path, &live).await.data()["status"],
        "auth_required"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_stands_something_in_for_what_a_connection_would_say() {
    let gateway = TestGateway::start(Options {
        plugins: vec![("jira.wasm".to_owned(), built_plugin("jira").unwrap())],
        ..Options::default()
    })
    .await;
    let body = json!({"arguments": {"issue": "ED-1"}, "dry_run": true});
    let path = "/v1/tools/jira_get_issue/execute";
    let data = gateway.post(path, &body).await.data();
    assert_eq!(data["status"], "dry_run", "{data}");
    let request = &data["requests"][0];
    let url = request["url"].as_str().unwrap();
    let site = "https://example.atlassian.net/rest/api/3/issue/ED-1";
    assert!(url.starts_with(site), "{url}");
    let headers = request["headers"].to_string();
    assert!(headers.contains("[slot user]"), "{headers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_token_is_found_where_it_should_not_be() {
    let (gateway, provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let token = url.rsplit('/').next().unwrap().to_owned();
    let mut seen = open(&gateway, &url).await.text;
    seen.push_str(&follow(&gateway, &provider, &url).await.text);
    // The provider echoes the credential in its answer.
    let answer = run(&gateway, "ada").await;
    assert_eq!(answer["status"], "success");
    seen.push_str(&answer.to_string());
    provider.expire_access_tokens();
    seen.push_str(&run(&gateway, "ada").await.to_string());
    for path in ["/v1/connections", "/v1/executions", "/metrics"] {
        seen.push_str(&gateway.get(path).await.text);
    }
    press(&gateway, &url, &[]).await;
    let mut files = Vec::new();
    for entry in fs::read_dir(&gateway.config.gateway.data_dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && !path.ends_with("master.key") {
            files.extend(fs::read(path).unwrap());
        }
    }
    let mut secrets = provider.secrets();
    secrets.extend(["the-client-secret".to_owned(), token]);
    for secret in secrets {
        assert!(!seen.contains(&secret), "{secret} is in an answer");
        assert!(
            !bytes::contains(&files, &secret),
            "{secret} is in the data folder"
        );
    }
}
