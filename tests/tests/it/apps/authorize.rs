//! What is refused before a member is asked, and what clients may register.

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_gateway::identity::apps::REQUESTS_PER_MINUTE;
use toolgate_gateway::identity::apps::register::REGISTRATIONS_PER_MINUTE;
use toolgate_store::Role;

use super::way::{App, MemberBrowser, REDIRECT, error_of, gateway, param, register};
use super::whole::actions;

#[tokio::test(flavor = "multi_thread")]
async fn no_browser_is_sent_to_an_address_that_no_client_has_registered() {
    let gateway = &gateway().await;
    let app = App::new(gateway).await;
    for changed in [
        &[("client_id", None)][..],
        &[("client_id", Some("tgc_unknown"))],
        &[("client_id", Some("https://unknown.invalid/client.json"))],
        &[("redirect_uri", None)],
        &[("redirect_uri", Some("https://evil.test/callback"))],
        &[("redirect_uri", Some("http://127.0.0.1:5555/other"))],
        &[("redirect_uri", Some("http://127.0.0.1:5555/callback?x=y"))],
        &[("redirect_uri", Some("http://localhost:5555/callback"))],
        &[(
            "redirect_uri",
            Some("http://127.0.0.1:5555@evil.test/callback"),
        )],
        &[("redirect_uri", Some("http://127.0.0.1.evil.test/callback"))],
        &[("redirect_uri", Some("javascript:alert(1)"))],
    ] {
        let query = app.query(changed);
        let (status, location) = app.open(&query).await;
        assert_eq!((status, location.as_str()), (400, ""), "{changed:?}");
    }
    let twice = format!("{}&redirect_uri=https%3A%2F%2Fevil.test", app.query(&[]));
    assert_eq!(app.open(&twice).await, (400, String::new()));
    let large = format!("{}&x={}", app.query(&[]), "x".repeat(20_000));
    assert_eq!(app.open(&large).await.0, 400);
    // The nearest that is allowed: another port of the person's own computer.
    let other_port = [("redirect_uri", Some("http://127.0.0.1:41000/callback"))];
    app.ask(&other_port).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_refusals_go_to_the_client_with_state_and_issuer() {
    let gateway = &gateway().await;
    let app = App::new(gateway).await;
    let elsewhere = gateway.url("/mcp/key");
    for (changed, error) in [
        (
            ("response_type", Some("token")),
            "unsupported_response_type",
        ),
        (("response_type", None), "invalid_request"),
        (("code_challenge_method", Some("plain")), "invalid_request"),
        (("code_challenge_method", None), "invalid_request"),
        (("code_challenge", None), "invalid_request"),
        (("code_challenge", Some("short")), "invalid_request"),
        (("resource", None), "invalid_target"),
        (
            ("resource", Some("https://evil.test/mcp")),
            "invalid_target",
        ),
        (("resource", Some(elsewhere.as_str())), "invalid_target"),
        (("scope", Some("tools:read admin")), "invalid_scope"),
        (("prompt", Some("none")), "consent_required"),
        (("request", Some("x.y.z")), "request_not_supported"),
    ] {
        let (status, location) = app.open(&app.query(&[changed])).await;
        assert_eq!(status, 303, "{changed:?}");
        assert!(location.starts_with(REDIRECT), "{location}");
        let said = |name: &str| param(&location, name);
        assert_eq!(said("error").as_deref(), Some(error), "{changed:?}");
        assert_eq!(said("state").as_deref(), Some("st&te"));
        assert_eq!(said("iss"), Some(gateway.url("/oauth")));
        assert_eq!(said("code"), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_registers_only_where_its_answers_may_go() {
    let gateway = &gateway().await;
    let with = |field: &str, value: Value| {
        let mut metadata =
            json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
        metadata[field] = value;
        metadata
    };
    for (metadata, error) in [
        (json!({}), "invalid_redirect_uri"),
        (with("redirect_uris", json!([])), "invalid_redirect_uri"),
        (
            with("redirect_uris", json!([REDIRECT, "http://evil.test/cb"])),
            "invalid_redirect_uri",
        ),
        (
            with("redirect_uris", json!(["https://app.example/cb#x"])),
            "invalid_redirect_uri",
        ),
        (
            with("redirect_uris", json!(["javascript:alert(1)"])),
            "invalid_redirect_uri",
        ),
        (
            with("redirect_uris", json!(vec![REDIRECT; 21])),
            "invalid_redirect_uri",
        ),
        (with("redirect_uris", json!("x")), "invalid_client_metadata"),
        (
            with("token_endpoint_auth_method", json!("private_key_jwt")),
            "invalid_client_metadata",
        ),
        (
            with("grant_types", json!(["client_credentials"])),
            "invalid_client_metadata",
        ),
        (
            with("response_types", json!(["token"])),
            "invalid_client_metadata",
        ),
    ] {
        let refused = register(gateway, &metadata).await;
        assert_eq!(error_of(&refused), (400, error.to_owned()), "{metadata}");
    }
    let request = gateway.client.post(gateway.url("/oauth/register"));
    let request = request.header("content-type", "application/json");
    let answer = toolgate_tests::gateway::Answer::read(request.body("[]").send().await.unwrap());
    assert_eq!(
        error_of(&answer.await),
        (400, "invalid_client_metadata".into())
    );

    let named = with("client_name", json!("Evil\u{202e}\nname"));
    let registered = register(gateway, &named).await;
    assert_eq!(registered.json()["client_name"], "Evil\\u{202e}\\u{a}name");
    assert_eq!(registered.json()["client_secret"], Value::Null);
    let secret = with("token_endpoint_auth_method", json!("client_secret_post"));
    let registered = register(gateway, &secret).await.json();
    assert!(registered["client_secret"].as_str().unwrap().len() > 40);
    assert_eq!(registered["client_secret_expires_at"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_registrations_or_requests_is_stopped_by_its_address() {
    let gateway = &gateway().await;
    let app = App::new(gateway).await;
    let metadata = json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none" });
    let mut refused = None;
    for _ in 0..2 * REGISTRATIONS_PER_MINUTE + 1 {
        let answer = register(gateway, &metadata).await;
        if answer.status != 201 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("a minute has room for this many");
    assert_eq!(error_of(&refused), (429, "temporarily_unavailable".into()));
    assert!(refused.headers.contains_key("retry-after"));

    let mut statuses = Vec::new();
    for _ in 0..2 * REQUESTS_PER_MINUTE + 1 {
        statuses.push(app.open(&app.query(&[])).await.0);
    }
    assert!(statuses.starts_with(&[303]), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_decides_once_on_a_page_that_no_other_site_can_use() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    let app = App::new(gateway).await;
    let page = gateway.client.get(gateway.url("/authorize?request=areq_x"));
    let page = page.send().await.unwrap();
    assert_eq!(page.headers()["x-frame-options"], "DENY");
    let policy = page.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");

    let request_id = app.ask(&[]).await;
    let path = format!("/internal/app-requests/{request_id}");
    let allow = json!({ "allow": true });
    let sent = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    let without_header = gateway
        .client
        .post(gateway.url(&path))
        .header("content-type", "application/json")
        .header("origin", gateway.url(""))
        .body(allow.to_string());
    assert_eq!(sent(without_header).await, 403);
    let elsewhere = person
        .request(Method::POST, &path, &allow)
        .header("origin", "https://evil.test");
    assert_eq!(sent(elsewhere).await, 403, "two origins");
    let stranger = gateway
        .client
        .post(gateway.url(&path))
        .header("x-toolgate-dashboard", "1")
        .header("origin", gateway.url(""))
        .header("content-type", "application/json")
        .body(allow.to_string());
    assert_eq!(sent(stranger).await, 401);

    let decided = person.decide(&request_id, true).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    for allow in [true, false] {
        let again = person.decide(&request_id, allow).await;
        assert_eq!((again.status, again.code().as_str()), (404, "not_found"));
    }
    let shown = person.ask(Method::GET, &path, Value::Null).await;
    assert_eq!(shown.status, 404);

    let request_id = app.ask(&[]).await;
    let url = person.decide(&request_id, false).await.data()["url"].clone();
    let url = url.as_str().unwrap();
    assert_eq!(param(url, "error").as_deref(), Some("access_denied"));
    assert_eq!(param(url, "state").as_deref(), Some("st&te"));
    assert_eq!(param(url, "code"), None);
    let told = actions(gateway).await;
    assert_eq!(told[0].0, "apps.refuse", "{told:?}");
}
