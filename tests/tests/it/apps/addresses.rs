//! The address that tokens are for, in the ways in which clients write it; the names of this computer; and the session
//! that a client keeps when its member signs in anew.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway};

use super::way::{
    App, AppTokens, MemberBrowser, error_of, gateway, gateway_with, is_let_in, param,
};

#[tokio::test(flavor = "multi_thread")]
async fn one_address_in_every_way_of_writing_it_is_granted_exchanged_and_refreshed() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let own = gateway.url("/mcp");
    let written = [
        Some(gateway.url("/mcp/")),
        Some(gateway.url("")),
        Some(gateway.url("/")),
        Some(own.replace("http://127.0.0.1", "HTTP://LocalHost")),
        Some(own.clone()),
        None,
    ];
    for resource in &written {
        let named = [("resource", resource.as_deref())];
        let code = app.code(&person, &named).await;
        // Nothing else than what the member has granted.
        let other = gateway.url("/mcp/t/desk");
        let refused = app.exchange(&code, &[("resource", Some(&other))]).await;
        assert_eq!(error_of(&refused), (400, "invalid_target".into()));
        assert!(
            refused.text.contains(&other) && refused.text.contains(&own),
            "{}",
            refused.text
        );
        let got = AppTokens::read(&app.exchange(&code, &named).await);
        assert!(is_let_in(gateway, &got.access).await, "{resource:?}");
        let renewed = AppTokens::read(&app.refresh(&got.refresh, &named).await);
        assert!(is_let_in(gateway, &renewed.access).await, "{resource:?}");
        let refused = app.refresh(
            &renewed.refresh,
            &[("resource", Some("https://evil.test/mcp"))],
        );
        assert_eq!(error_of(&refused.await), (400, "invalid_target".into()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_that_cannot_be_had_are_left_out_at_every_step() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let all = "tools:read tools:execute skills:read skills:write";
    for (asked, granted) in [
        ("tools:read offline_access openid profile", "tools:read"),
        ("openid", all),
        ("tools:read email", "tools:read"),
        (
            "tools:read tools:execute admin users:any",
            "tools:read tools:execute",
        ),
        ("claudeai", "tools:read"),
    ] {
        let scope = [("scope", Some(asked))];
        let code = app.code(&person, &scope).await;
        let exchanged = app.exchange(&code, &scope).await;
        assert_eq!(exchanged.json()["scope"], granted, "{asked}");
        let got = AppTokens::read(&exchanged);
        let renewed = app.refresh(&got.refresh, &scope).await;
        assert_eq!(
            renewed.json()["scope"],
            granted,
            "{asked}: {}",
            renewed.text
        );
        AppTokens::read(&renewed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_is_found_in_each_form_and_place() {
    let gateway = &gateway().await;
    let read = async |path: &str| {
        let url = gateway.url(path);
        Answer::read(gateway.client.get(url).send().await.unwrap()).await
    };
    let oauth = read("/.well-known/oauth-authorization-server/oauth")
        .await
        .json();
    assert_eq!(
        read("/oauth/.well-known/oauth-authorization-server")
            .await
            .json(),
        oauth
    );
    for path in [
        "/.well-known/openid-configuration/oauth",
        "/oauth/.well-known/openid-configuration",
    ] {
        let openid = read(path).await;
        assert_eq!(openid.status, 200, "{path}");
        assert_eq!(openid.headers["access-control-allow-origin"], "*");
        let openid = openid.json();
        for (name, value) in oauth.as_object().unwrap() {
            assert_eq!(openid[name], *value, "{path} {name}");
        }
        // Without these clients do not read it.
        assert_eq!(openid["subject_types_supported"], json!(["public"]));
        assert!(openid["id_token_signing_alg_values_supported"].is_array());
        let keys = openid["jwks_uri"].as_str().unwrap();
        let keys = Answer::read(gateway.client.get(keys).send().await.unwrap()).await;
        assert_eq!(keys.json(), json!({ "keys": [] }));
    }
    let methods = oauth["token_endpoint_auth_methods_supported"]
        .as_array()
        .unwrap();
    assert!(methods.contains(&json!("private_key_jwt")), "{methods:?}");
    // A whole host has none: the address for keys alone must not lead to a sign-in.
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        assert_eq!(read(path).await.status, 404, "{path}");
    }
}

/// A client that was given `localhost`, or whatever the host says, at a gateway whose address is 127.0.0.1.
async fn described_to(gateway: &TestGateway, path: &str, host: &str) -> Value {
    let request = gateway.client.get(gateway.url(path)).header("host", host);
    Answer::read(request.send().await.unwrap()).await.json()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_was_given_another_name_of_this_computer_finds_that_name() {
    let gateway = &gateway().await;
    let own = gateway.url("");
    let port = own.rsplit_once(':').unwrap().1.to_owned();
    let (resource, issuer) = (
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server/oauth",
    );
    for (host, seen) in [
        (
            format!("localhost:{port}"),
            format!("http://localhost:{port}"),
        ),
        (format!("127.0.0.1:{port}"), own.clone()),
        ("localhost:1".to_owned(), own.clone()),
        (format!("evil.test:{port}"), own.clone()),
    ] {
        let found = described_to(gateway, resource, &host).await;
        assert_eq!(found["resource"], format!("{seen}/mcp"), "{host}");
        assert_eq!(
            found["authorization_servers"],
            json!([format!("{seen}/oauth")])
        );
        let found = described_to(gateway, issuer, &host).await;
        assert_eq!(found["issuer"], format!("{seen}/oauth"), "{host}");
        assert_eq!(found["token_endpoint"], format!("{seen}/oauth/token"));
        let refused = gateway
            .client
            .post(gateway.url("/mcp"))
            .header("host", &host);
        let refused = refused.send().await.unwrap();
        let challenge = refused.headers()["www-authenticate"].to_str().unwrap();
        assert!(
            challenge.contains(&format!("resource_metadata=\"{seen}{resource}\"")),
            "{challenge}"
        );
    }
    // The issuer in the answer is the one that the client has found.
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let named = format!("http://localhost:{port}/mcp");
    let query = app.query(&[("resource", Some(named.as_str()))]);
    let request = gateway
        .client
        .get(gateway.url(&format!("/oauth/authorize?{query}")));
    let opened = request
        .header("host", format!("localhost:{port}"))
        .send()
        .await
        .unwrap();
    let page = opened.headers()["location"].to_str().unwrap().to_owned();
    let decided = person
        .decide(&param(&page, "request").unwrap(), true)
        .await
        .data();
    let back = decided["url"].as_str().unwrap();
    assert_eq!(
        param(back, "iss"),
        Some(format!("http://localhost:{port}/oauth"))
    );
    let code = param(back, "code").unwrap();
    let named = [("resource", Some(named.as_str()))];
    let tokens = AppTokens::read(&app.exchange(&code, &named).await);
    assert!(is_let_in(gateway, &tokens.access).await);
}

async fn session_request(
    gateway: &TestGateway,
    path: &str,
    token: &str,
    session: Option<&str>,
    body: Value,
) -> Answer {
    let request = gateway.client.post(gateway.url(path)).bearer_auth(token);
    let request = request
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2025-11-25");
    let request = match session {
        Some(session) => request.header("mcp-session-id", session),
        None => request,
    };
    Answer::read(request.body(body.to_string()).send().await.unwrap()).await
}

async fn open_session(gateway: &TestGateway, token: &str) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let opened = session_request(gateway, "/mcp", token, None, initialize).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    opened.headers["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned()
}

async fn lists(gateway: &TestGateway, path: &str, token: &str, session: &str) -> u16 {
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    session_request(gateway, path, token, Some(session), list)
        .await
        .status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sign_in_anew_or_a_wider_grant_keeps_the_session() {
    let gateway = &gateway_with(Options::default()).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let narrow = [("scope", Some("tools:read"))];
    let code = app.code(&person, &narrow).await;
    let first = AppTokens::read(&app.exchange(&code, &[]).await);
    let session = open_session(gateway, &first.access).await;
    assert_eq!(lists(gateway, "/mcp", &first.access, &session).await, 200);
    // A wider grant, and one after the first was ended.
    let wider = app.connect(&person).await;
    assert_eq!(lists(gateway, "/mcp", &wider.access, &session).await, 200);
    for one in person.apps().await {
        let path = format!("/internal/apps/{}", one["app_id"].as_str().unwrap());
        let ended = person.ask(Method::DELETE, &path, Value::Null).await;
        assert_eq!(ended.status, 200, "{}", ended.text);
    }
    assert_eq!(lists(gateway, "/mcp", &wider.access, &session).await, 401);
    let again = app.connect(&person).await;
    assert_eq!(lists(gateway, "/mcp", &again.access, &session).await, 200);
    // Of another member, client, key or address it is not.
    let eve = MemberBrowser::new(gateway, "eve@example.com", Role::Member).await;
    let other_member = app.connect(&eve).await;
    assert_eq!(
        lists(gateway, "/mcp", &other_member.access, &session).await,
        404
    );
    let other_client = App::new(gateway).await.connect(&person).await;
    assert_eq!(
        lists(gateway, "/mcp", &other_client.access, &session).await,
        404
    );
    assert_eq!(lists(gateway, "/mcp", &gateway.key, &session).await, 404);
    let body = json!({ "name": "desk", "tools": ["demo_run"] });
    assert_eq!(gateway.post("/v1/toolsets", &body).await.status, 201);
    let desk = gateway.url("/mcp/t/desk");
    let at_desk = [("resource", Some(desk.as_str()))];
    let code = app.code(&person, &at_desk).await;
    let at_desk = AppTokens::read(&app.exchange(&code, &at_desk).await);
    assert_eq!(
        lists(gateway, "/mcp/t/desk", &at_desk.access, &session).await,
        404
    );
}
