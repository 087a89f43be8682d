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

/// What is wrong with a request, and the OAuth error that it is.
fn refused_requests(elsewhere: &str) -> Vec<((&'static str, Option<&str>), &'static str)> {
    vec![
        (
            ("response_type", Some("token")),
            "unsupported_response_type",
        ),
        (("response_type", None), "invalid_request"),
        (("code_challenge_method", Some("plain")), "invalid_request"),
        (("code_challenge_method", None), "invalid_request"),
        (("code_challenge", None), "invalid_request"),
        (("code_challenge", Some("short")), "invalid_request"),
        (
            ("resource", Some("https://evil.test/mcp")),
            "invalid_target",
        ),
        (("resource", Some(elsewhere)), "invalid_target"),
        (("prompt", Some("none")), "consent_required"),
        (("request", Some("x.y.z")), "request_not_supported"),
    ]
}

/// Anybody can register: a redirect with an error would lead from here to any address.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_of_a_client_that_nobody_has_named_ends_on_a_page() {
    let gateway = &gateway().await;
    let app = App::new(gateway).await;
    let elsewhere = gateway.url("/mcp/key");
    for (changed, _) in refused_requests(&elsewhere) {
        let (status, location) = app.open(&app.query(&[changed])).await;
        assert_eq!((status, location.as_str()), (400, ""), "{changed:?}");
    }
    // The page names the address that is wrong and the one that is right.
    let query = app.query(&[("resource", Some("https://evil.test/mcp"))]);
    let url = gateway.url(&format!("/oauth/authorize?{query}"));
    let page = gateway.client.get(url).send().await.unwrap();
    assert!(
        page.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    let page = page.text().await.unwrap();
    assert!(page.contains("https://evil.test/mcp"), "{page}");
    assert!(page.contains(&gateway.url("/mcp")), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_of_a_named_client_goes_to_it_with_state_and_issuer() {
    let gateway = &gateway().await;
    let admin = MemberBrowser::new(gateway, "eve@example.com", Role::Admin).await;
    let body = json!({ "name": "Desk", "redirect_uris": [REDIRECT], "public": true });
    let named = admin.ask(Method::POST, "/internal/app-clients", body).await;
    let id = named.data()["client_id"].as_str().unwrap().to_owned();
    let app = App { gateway, id };
    let elsewhere = gateway.url("/mcp/key");
    for (changed, error) in refused_requests(&elsewhere) {
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
async fn a_program_registers_its_own_scheme_and_the_person_sees_it() {
    let gateway = &gateway().await;
    let person = MemberBrowser::new(gateway, "ada@example.com", Role::Member).await;
    for (uri, scheme) in [
        ("warp://mcp/oauth2callback", "warp"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor"),
        ("kiro://kiro.oauth/callback", "kiro"),
        ("vscode://vscode.mcp/oauth/callback", "vscode"),
        ("com.example.app:/cb", "com.example.app"),
    ] {
        let metadata = json!({ "client_name": "p", "redirect_uris": [uri], "token_endpoint_auth_method": "none" });
        let registered = register(gateway, &metadata).await;
        assert_eq!(registered.status, 201, "{}", registered.text);
        let id = registered.json()["client_id"].as_str().unwrap().to_owned();
        let app = App { gateway, id };
        let request_id = app.ask(&[("redirect_uri", Some(uri))]).await;
        let path = format!("/internal/app-requests/{request_id}");
        let shown = person.ask(Method::GET, &path, Value::Null).await.data();
        let expected = json!({ "kind": "program", "name": scheme });
        assert_eq!(shown["goes_to"], expected, "{shown}");
        // Only what was registered.
        let other = format!("{uri}2");
        let query = app.query(&[("redirect_uri", Some(other.as_str()))]);
        assert_eq!(app.open(&query).await, (400, String::new()), "{other}");
    }
    for uri in [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "blob:https://app.example/1",
        "about:blank",
        "ws://127.0.0.1/cb",
        "mailto:a@b.example",
        "intent://x/y",
        "chrome-extension://abc/cb",
        "tel:/1",
        "http://app.example/cb",
        "web+app://x/cb",
    ] {
        let metadata = json!({ "redirect_uris": [uri], "token_endpoint_auth_method": "none" });
        let refused = register(gateway, &metadata).await;
        assert_eq!(
            error_of(&refused),
            (400, "invalid_redirect_uri".into()),
            "{uri}"
        );
        assert!(refused.text.contains("redirect_uris"), "{}", refused.text);
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
