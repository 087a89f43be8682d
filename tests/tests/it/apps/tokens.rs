//! What the token endpoint refuses: codes and refresh tokens that are copied, late, of somebody else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use toolgate_core::clock::Clock;
use toolgate_gateway::identity::apps::{authorize, tokens};
use toolgate_store::Role;
use toolgate_tests::gateway::{Answer, Options, TestGateway};

use super::way::{
    App, AppTokens, MemberBrowser, REDIRECT, VERIFIER, call_at, error_of, form, gateway,
    gateway_with, is_let_in, register,
};
use super::whole::actions;

fn is_refused(answer: &Answer, error: &str) {
    assert_eq!(error_of(answer).1, error, "{}", answer.text);
    assert_eq!(answer.headers["cache-control"], "no-store");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_exchanged_by_its_client_for_what_was_authorized() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let (app, other) = (App::new(gateway).await, App::new(gateway).await);
    let code = app.code(&person, &[]).await;
    let elsewhere = gateway.url("/mcp/key");
    let long = "v".repeat(43);
    for (changed, error) in [
        (("code_verifier", Some(long.as_str())), "invalid_grant"),
        (("code_verifier", None), "invalid_request"),
        (
            ("redirect_uri", Some("http://127.0.0.1:6666/callback")),
            "invalid_grant",
        ),
        (("redirect_uri", None), "invalid_request"),
        (("resource", Some(elsewhere.as_str())), "invalid_target"),
        (("client_id", Some(other.id.as_str())), "invalid_grant"),
        (("client_id", Some("tgc_unknown")), "invalid_client"),
        (("client_id", None), "invalid_client"),
        (("client_secret", Some("made up")), "invalid_client"),
        (("code", Some("made up")), "invalid_grant"),
        (("code", None), "invalid_request"),
        (("grant_type", Some("password")), "unsupported_grant_type"),
        (("grant_type", None), "invalid_request"),
    ] {
        is_refused(&app.exchange(&code, &[changed]).await, error);
    }
    let twice = form(&[("code", code.as_str()), ("code", code.as_str())]);
    is_refused(&app.post("/oauth/token", twice).await, "invalid_request");
    let request = gateway.client.post(gateway.url("/oauth/token"));
    let request = request
        .header("content-type", "application/json")
        .body("{}");
    is_refused(
        &Answer::read(request.send().await.unwrap()).await,
        "invalid_request",
    );
    // What was presented by others is written down, and none of it has spent the code.
    let told = actions(gateway).await;
    let refused = told
        .iter()
        .filter(|(action, _)| action == "apps.refuse_token");
    assert_eq!(refused.count(), 3, "{told:?}");
    let got = AppTokens::read(&app.exchange(&code, &[]).await);
    assert!(is_let_in(gateway, &got.access).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_that_comes_back_ends_what_it_was_exchanged_for() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let code = app.code(&person, &[]).await;
    let got = AppTokens::read(&app.exchange(&code, &[]).await);
    assert!(is_let_in(gateway, &got.access).await);
    is_refused(&app.exchange(&code, &[]).await, "invalid_grant");
    assert!(!is_let_in(gateway, &got.access).await);
    is_refused(&app.refresh(&got.refresh, &[]).await, "invalid_grant");
    assert_eq!(person.apps().await.len(), 0);
    let told = actions(gateway).await;
    assert!(told.iter().any(|(action, _)| action == "apps.code_reused"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_token_that_comes_back_ends_the_whole_family() {
    let clock = Clock::manual(1_795_167_030_000);
    let options = Options {
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let bystander = app.connect(&person).await;
    let first = app.connect(&person).await;
    let second = AppTokens::read(&app.refresh(&first.refresh, &[]).await);
    let third = AppTokens::read(&app.refresh(&second.refresh, &[]).await);
    assert!(is_let_in(gateway, &third.access).await);
    clock.advance_ms(tokens::OVERLAP_MS + 1);
    is_refused(&app.refresh(&first.refresh, &[]).await, "invalid_grant");
    for tokens in [&first, &second, &third] {
        assert!(!is_let_in(gateway, &tokens.access).await);
        is_refused(&app.refresh(&tokens.refresh, &[]).await, "invalid_grant");
    }
    // What the same member granted in another round is another family.
    assert!(is_let_in(gateway, &bystander.access).await);
    let told = actions(gateway).await;
    assert!(
        told.iter()
            .any(|(action, _)| action == "apps.refresh_reused")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_gives_its_own_client_what_was_granted_or_less() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let (app, other) = (App::new(gateway).await, App::new(gateway).await);
    let scope = [("scope", Some("tools:read tools:execute"))];
    let code = app.code(&person, &scope).await;
    let got = AppTokens::read(&app.exchange(&code, &[]).await);
    for (changed, error) in [
        (("client_id", Some(other.id.as_str())), "invalid_grant"),
        (
            ("resource", Some("https://evil.test/mcp")),
            "invalid_target",
        ),
        (("scope", Some("skills:read")), "invalid_scope"),
        (
            ("refresh_token", Some(got.access.as_str())),
            "invalid_grant",
        ),
        (("refresh_token", None), "invalid_request"),
    ] {
        is_refused(&app.refresh(&got.refresh, &[changed]).await, error);
    }
    is_refused(&other.revoke(&got.refresh).await, "invalid_grant");
    let less = [("scope", Some("tools:read skills:read admin openid"))];
    let narrow = AppTokens::read(&app.refresh(&got.refresh, &less).await);
    let refused = needs_more(gateway, &narrow.access).await;
    assert_eq!(refused.code(), "scope_denied");
    // The next one has again what was granted.
    let wide = AppTokens::read(&app.refresh(&narrow.refresh, &[("resource", None)]).await);
    assert!(is_let_in(gateway, &wide.access).await);
}

/// A call with a token that lacks `tools:execute`.
async fn needs_more(gateway: &TestGateway, token: &str) -> Answer {
    let arguments = json!({ "tool_name": "demo_run", "arguments": "{}" });
    let refused = call_at(gateway, "/mcp", Some(token), "svc_execute_tool", arguments).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let challenge = refused.headers["www-authenticate"].to_str().unwrap();
    for part in [
        "error=\"insufficient_scope\"",
        "scope=\"tools:read tools:execute skills:read skills:write\"",
        "resource_metadata=\"http://",
    ] {
        assert!(challenge.contains(part), "{challenge}");
    }
    refused
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_needs_another_scope_says_all_scopes_at_once() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Owner).await;
    let app = App::new(gateway).await;
    let code = app.code(&person, &[("scope", Some("tools:read"))]).await;
    let got = AppTokens::read(&app.exchange(&code, &[]).await);
    needs_more(gateway, &got.access).await;
    let search = json!({ "query": "test" });
    let called = call_at(
        gateway,
        "/mcp",
        Some(&got.access),
        "svc_search_tools",
        search,
    )
    .await;
    assert_eq!(called.status, 200, "{}", called.text);
    for (tool, arguments) in [
        ("svc_list_skills", json!({})),
        (
            "svc_create_skill",
            json!({ "name": "a", "description": "b", "body": "c" }),
        ),
    ] {
        let refused = call_at(gateway, "/mcp", Some(&got.access), tool, arguments).await;
        assert_eq!(refused.status, 403, "{tool}: {}", refused.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_and_tokens_end_when_their_time_is_over() {
    let clock = Clock::manual(1_795_167_030_000);
    let options = Options {
        clock: Some(clock.clone()),
        ..Options::default()
    };
    let gateway = &gateway_with(options).await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let late = app.code(&person, &[]).await;
    clock.advance_ms(authorize::CODE_LIFE_MS);
    is_refused(&app.exchange(&late, &[]).await, "invalid_grant");
    let asked = app.ask(&[]).await;
    let got = app.connect(&person).await;
    clock.advance_ms(tokens::ACCESS_LIFE_MS - 1);
    assert!(is_let_in(gateway, &got.access).await);
    clock.advance_ms(1);
    assert!(!is_let_in(gateway, &got.access).await);
    let person = MemberBrowser::sign_in(gateway, "ada@example.com").await;
    assert_eq!(person.decide(&asked, true).await.status, 404, "too late");
    let next = AppTokens::read(&app.refresh(&got.refresh, &[]).await);
    assert!(is_let_in(gateway, &next.access).await);
    clock.advance_ms(tokens::IDLE_MS);
    is_refused(&app.refresh(&next.refresh, &[]).await, "invalid_grant");
    let person = MemberBrowser::sign_in(gateway, "ada@example.com").await;
    assert_eq!(person.apps().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_secret_proves_itself_as_it_has_registered() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    for method in ["client_secret_basic", "client_secret_post"] {
        let metadata = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": method });
        let registered = register(gateway, &metadata).await.json();
        let id = registered["client_id"].as_str().unwrap().to_owned();
        let secret = registered["client_secret"].as_str().unwrap();
        let app = App { gateway, id };
        let code = app.code(&person, &[]).await;
        let exchange = async |in_form: Option<&str>, in_header: Option<&str>| {
            let resource = app.resource();
            let mut pairs = vec![
                ("grant_type", "authorization_code"),
                ("code", &code),
                ("redirect_uri", REDIRECT),
                ("code_verifier", VERIFIER),
                ("resource", &resource),
            ];
            match in_header {
                Some(_) => {}
                None => pairs.push(("client_id", &app.id)),
            }
            pairs.extend(in_form.map(|secret| ("client_secret", secret)));
            let mut request = gateway
                .client
                .post(gateway.url("/oauth/token"))
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form(&pairs));
            if let Some(secret) = in_header {
                let pair = STANDARD.encode(format!("{}:{secret}", app.id));
                request = request.header("authorization", format!("Basic {pair}"));
            }
            Answer::read(request.send().await.unwrap()).await
        };
        is_refused(&exchange(None, None).await, "invalid_client");
        is_refused(
            &exchange(Some("tg_ocs_wrong"), None).await,
            "invalid_client",
        );
        let in_header = exchange(None, Some("tg_ocs_wrong")).await;
        is_refused(&in_header, "invalid_client");
        assert_eq!(in_header.status, 401);
        assert!(in_header.headers.contains_key("www-authenticate"));
        is_refused(
            &exchange(Some(secret), Some(secret)).await,
            "invalid_request",
        );
        let got = match method {
            "client_secret_basic" => {
                is_refused(&exchange(Some(secret), None).await, "invalid_client");
                exchange(None, Some(secret)).await
            }
            _ => {
                is_refused(&exchange(None, Some(secret)).await, "invalid_client");
                exchange(Some(secret), None).await
            }
        };
        assert!(is_let_in(gateway, &AppTokens::read(&got).access).await);
    }
}
