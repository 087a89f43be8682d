//! From the address alone to an executed tool, and what the gateway knows of it afterwards.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_store::{Cursor, Role};
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::postgres;

use super::way::{App, AppTokens, MemberBrowser, call_at, execute, gateway_with, is_let_in, param};

async fn get(gateway: &TestGateway, url: &str) -> Answer {
    Answer::read(gateway.client.get(url).send().await.unwrap()).await
}

/// A parameter of `WWW-Authenticate`.
fn challenged(answer: &Answer, name: &str) -> Option<String> {
    let challenge = answer.headers["www-authenticate"].to_str().unwrap();
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    let (_, rest) = challenge.split_once(&format!("{name}=\""))?;
    Some(rest.split('"').next().unwrap().to_owned())
}

async fn goes_all_the_way(database_url: Option<String>) {
    let options = Options {
        database_url,
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;

    // What a client finds that knows the address alone.
    let refused = call_at(gateway, "/mcp", None, "svc_health_check", json!({})).await;
    assert_eq!(refused.status, 401);
    assert_eq!(challenged(&refused, "error"), None);
    let scopes = "tools:read tools:execute skills:read skills:write";
    assert_eq!(challenged(&refused, "scope").as_deref(), Some(scopes));
    let found = challenged(&refused, "resource_metadata").unwrap();
    let at_path = gateway.url("/.well-known/oauth-protected-resource/mcp");
    assert_eq!(found, at_path);
    let resource = get(gateway, &found).await;
    assert_eq!(resource.headers["access-control-allow-origin"], "*");
    let resource = resource.json();
    assert_eq!(resource["resource"], gateway.url("/mcp"));
    assert_eq!(
        resource["authorization_servers"],
        json!([gateway.url("/oauth")])
    );
    let issuer = gateway.url("/.well-known/oauth-authorization-server/oauth");
    let issuer = get(gateway, &issuer).await.json();
    for (name, expected) in [
        ("issuer", json!(gateway.url("/oauth"))),
        (
            "authorization_endpoint",
            json!(gateway.url("/oauth/authorize")),
        ),
        ("token_endpoint", json!(gateway.url("/oauth/token"))),
        (
            "registration_endpoint",
            json!(gateway.url("/oauth/register")),
        ),
        ("revocation_endpoint", json!(gateway.url("/oauth/revoke"))),
        ("code_challenge_methods_supported", json!(["S256"])),
        (
            "authorization_response_iss_parameter_supported",
            json!(true),
        ),
        ("client_id_metadata_document_supported", json!(true)),
        ("response_types_supported", json!(["code"])),
    ] {
        assert_eq!(issuer[name], expected, "{name}");
    }

    // A member lets it in.
    let app = App::new(gateway).await;
    let request_id = app.ask(&[]).await;
    let path = format!("/internal/app-requests/{request_id}");
    let asked = person.ask(Method::GET, &path, Value::Null).await.data();
    assert_eq!(asked["client_name"], "Test client");
    assert_eq!(asked["verified_host"], Value::Null);
    assert_eq!(asked["goes_to"], json!({ "kind": "this_computer" }));
    assert_eq!(asked["user_id"], "ada@example.com");
    assert_eq!(asked["scopes"].as_array().unwrap().len(), 4);
    assert_eq!(person.apps().await.len(), 0);
    let url = person.decide(&request_id, true).await.data()["url"].clone();
    let code = param(url.as_str().unwrap(), "code").unwrap();
    assert_eq!(person.apps().await.len(), 0, "a code is not an app yet");
    let exchanged = app.exchange(&code, &[]).await;
    assert_eq!(exchanged.json()["expires_in"], 3_600);
    assert_eq!(exchanged.json()["scope"], scopes);
    let tokens = AppTokens::read(&exchanged);

    // It calls a tool; the receipt names client and user.
    let ran = execute(gateway, &tokens.access).await;
    assert_eq!(ran.status, 200, "{}", ran.text);
    assert!(ran.text.contains("hello"), "{}", ran.text);
    let receipts = gateway.get("/v1/executions?limit=1").await.data();
    let receipt = &receipts["executions"][0];
    assert_eq!(receipt["user_id"], "ada@example.com", "{receipt}");
    assert_eq!(receipt["key"]["name"], "Test client", "{receipt}");
    // Elsewhere the token opens nothing.
    let rest = gateway
        .send(
            Method::GET,
            "/v1/tools/search?query=x",
            Some(&tokens.access),
            None,
        )
        .await;
    assert_eq!(
        (rest.status, rest.code().as_str()),
        (401, "invalid_api_key")
    );
    let keys_alone = call_at(
        gateway,
        "/mcp/key",
        Some(&tokens.access),
        "svc_health_check",
        json!({}),
    );
    assert_eq!(keys_alone.await.status, 401);

    // It renews, and goes on with the new token; the old one lives on until its hour is over.
    let renewed = AppTokens::read(&app.refresh(&tokens.refresh, &[]).await);
    assert!(is_let_in(gateway, &renewed.access).await);
    assert!(is_let_in(gateway, &tokens.access).await);
    assert_ne!(renewed.refresh, tokens.refresh);

    let apps = person.apps().await;
    assert_eq!(apps.len(), 1, "{apps:?}");
    assert_eq!(apps[0]["client_name"], "Test client");
    assert_eq!(apps[0]["member_name"], "ada");

    // It gives its tokens back.
    assert_eq!(app.revoke(&renewed.access).await.status, 200);
    assert!(!is_let_in(gateway, &renewed.access).await);
    assert!(is_let_in(gateway, &tokens.access).await);
    assert_eq!(app.revoke(&renewed.refresh).await.status, 200);
    assert!(!is_let_in(gateway, &tokens.access).await);
    assert_eq!(
        app.revoke(&renewed.refresh).await.status,
        200,
        "gone is gone"
    );
    assert_eq!(person.apps().await.len(), 0);
    let again = app.refresh(&renewed.refresh, &[]).await;
    assert_eq!(super::way::error_of(&again), (400, "invalid_grant".into()));

    let told = actions(gateway).await;
    let expected = [
        "apps.revoke",
        "apps.revoke_token",
        "apps.enter",
        "apps.connect",
    ];
    let of_apps: Vec<&str> = told
        .iter()
        .map(|(action, _)| action.as_str())
        .filter(|action| action.starts_with("apps."))
        .collect();
    assert_eq!(of_apps, expected);
    let (_, actor) = &told.iter().find(|(one, _)| one == "apps.connect").unwrap();
    assert!(actor.starts_with("member:"), "{actor}");
    let (_, actor) = &told.iter().find(|(one, _)| one == "apps.revoke").unwrap();
    assert!(actor.starts_with("app:"), "{actor}");
}

/// What the audit log says, newest first: action and actor.
pub async fn actions(gateway: &TestGateway) -> Vec<(String, String)> {
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let none: Option<&Cursor> = None;
    let page = store.list_audit_entries(&workspace.id, none, 200).await;
    let rows = page.unwrap().items.into_iter();
    rows.map(|row| (row.action, row.actor)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_gets_from_the_address_to_an_executed_tool_on_sqlite() {
    goes_all_the_way(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_gets_from_the_address_to_an_executed_tool_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    goes_all_the_way(Some(url.await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_lead_nowhere_answer_not_found() {
    let gateway = &gateway_with(Options::default()).await;
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp/key",
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/mcp",
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
        "/register",
    ] {
        let answer = get(gateway, &gateway.url(path)).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (404, "not_found"),
            "{path}"
        );
    }
    let refused = call_at(gateway, "/mcp/key", None, "svc_health_check", json!({})).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    let key = Some(gateway.key.as_str());
    for path in ["/mcp", "/mcp/key"] {
        let called = call_at(gateway, path, key, "svc_health_check", json!({})).await;
        assert_eq!(called.status, 200, "{path}: {}", called.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_chooses_what_the_endpoint_takes() {
    let start = async |name: &str| {
        let options = Options {
            mcp_auth: Some(name.parse().unwrap()),
            ..Options::default()
        };
        gateway_with(options).await
    };
    let keys = &start("keys").await;
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server/oauth",
        "/oauth/authorize",
        "/oauth/token",
        "/oauth/register",
    ] {
        assert_eq!(get(keys, &keys.url(path)).await.status, 404, "{path}");
    }
    let refused = call_at(keys, "/mcp", None, "svc_health_check", json!({})).await;
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    let key = Some(keys.key.as_str());
    let called = call_at(keys, "/mcp", key, "svc_health_check", json!({})).await;
    assert_eq!(called.status, 200);

    let oauth = &start("oauth").await;
    let key = Some(oauth.key.as_str());
    let refused = call_at(oauth, "/mcp", key, "svc_health_check", json!({})).await;
    assert_eq!(refused.code(), "invalid_access_token");
    let refused = call_at(oauth, "/mcp", None, "svc_health_check", json!({})).await;
    assert_eq!(refused.code(), "access_token_required");
    assert!(challenged(&refused, "resource_metadata").is_some());
    let absent = call_at(oauth, "/mcp/key", key, "svc_health_check", json!({})).await;
    assert_eq!(absent.status, 404);
    let person = MemberBrowser::new(oauth, "ada@example.com", Role::Member).await;
    let tokens = App::new(oauth).await.connect(&person).await;
    assert!(is_let_in(oauth, &tokens.access).await);
}
