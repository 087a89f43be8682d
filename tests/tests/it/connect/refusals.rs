//! What is refused on the way from a link to a connection, each by its name.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::json;
use toolgate_tests::provider::query_of;

use super::{
    allow_pages, browse, come_back, connect, follow, link, open, press, run, state, world,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_good_for_one_return() {
    let (gateway, provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let left = press(&gateway, &url, &[]).await;
    let back = provider.consent(&left.leads_to());
    let cookie = left.cookie();
    let first = come_back(&gateway, cookie.as_deref(), &back).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let replayed = come_back(&gateway, cookie.as_deref(), &back).await;
    assert_eq!(replayed.status, 410);
    assert!(replayed.text.contains("has been used"), "{}", replayed.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_replayed_under_another_state_is_refused() {
    let (gateway, provider) = world().await;
    let (one, _) = link(&gateway, "ada").await;
    let left = press(&gateway, &one, &[]).await;
    let spent = provider.consent(&left.leads_to());
    come_back(&gateway, left.cookie().as_deref(), &spent).await;
    let (two, id) = link(&gateway, "eve").await;
    let left = press(&gateway, &two, &[]).await;
    let mut back = provider.consent(&left.leads_to());
    back.insert("code".to_owned(), spent["code"].clone());
    let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 502, "{}", page.text);
    assert!(page.text.contains("invalid_grant"), "{}", page.text);
    assert_eq!(
        gateway.get(&format!("/v1/connections/{id}")).await.status,
        404
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_injected_into_another_users_flow_fails_at_pkce() {
    let (gateway, provider) = world().await;
    let (one, _) = link(&gateway, "eve").await;
    let theirs = press(&gateway, &one, &[]).await;
    let stolen = provider.consent(&theirs.leads_to());
    let (two, _) = link(&gateway, "ada").await;
    let left = press(&gateway, &two, &[]).await;
    let mut back = provider.consent(&left.leads_to());
    back.insert("code".to_owned(), stolen["code"].clone());
    let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 502, "{}", page.text);
    assert_eq!(run(&gateway, "ada").await["status"], "auth_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn mixed_up_users_are_kept_apart() {
    let (gateway, provider) = world().await;
    // The page says for whom it is.
    let (url, _) = link(&gateway, "ada").await;
    let page = open(&gateway, &url).await;
    assert!(page.text.contains("<strong>ada</strong>"), "{}", page.text);
    // A connection of one user is not renewed, used or found under another.
    let id = connect(&gateway, &provider, "ada").await;
    let body = json!({"service": "github", "user_id": "eve", "connection_id": id});
    let refused = gateway.post("/v1/connections/link", &body).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "not_found")
    );
    assert_eq!(run(&gateway, "eve").await["status"], "auth_required");
    // A browser that the application knows as somebody else ends the flow.
    allow_pages(&gateway).await;
    let ask =
        json!({"service": "github", "user_id": "ada", "confirm_url": "https://app.test/done?x=1"});
    let asked = gateway.post("/v1/connections/link", &ask).await.data();
    let page = follow(&gateway, &provider, asked["connect_url"].as_str().unwrap()).await;
    let to = page.leads_to();
    assert!(
        to.starts_with("https://app.test/done?x=1&connect_code="),
        "{to}"
    );
    let code = query_of(&to)["connect_code"].clone();
    let id = asked["connection_id"].as_str().unwrap();
    assert_eq!(
        gateway.get(&format!("/v1/connections/{id}")).await.status,
        404
    );
    let confirm = json!({"code": code, "user_id": "eve"});
    let refused = gateway.post("/v1/connections/confirm", &confirm).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "permission_denied")
    );
    let confirm = json!({"code": code, "user_id": "ada"});
    assert_eq!(
        gateway
            .post("/v1/connections/confirm", &confirm)
            .await
            .status,
        404
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_user_gets_the_connection() {
    let (gateway, provider) = world().await;
    allow_pages(&gateway).await;
    let ask =
        json!({"service": "github", "user_id": "ada", "confirm_url": "https://app.test/done"});
    let asked = gateway.post("/v1/connections/link", &ask).await.data();
    let page = follow(&gateway, &provider, asked["connect_url"].as_str().unwrap()).await;
    let code = query_of(&page.leads_to())["connect_code"].clone();
    assert_eq!(run(&gateway, "ada").await["status"], "auth_required");
    let confirm = json!({"code": code, "user_id": "ada"});
    let confirmed = gateway
        .post("/v1/connections/confirm", &confirm)
        .await
        .data();
    assert_eq!(confirmed["account"], "octo-ada");
    assert_eq!(run(&gateway, "ada").await["status"], "success");
    assert_eq!(
        gateway
            .post("/v1/connections/confirm", &confirm)
            .await
            .status,
        404
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_redirect_is_refused() {
    let (gateway, _provider) = world().await;
    for bad in [
        "javascript:alert(1)",
        "//evil.test",
        "http://evil.test/",
        "https://a@evil.test/",
    ] {
        let ask = json!({"service": "github", "confirm_url": bad});
        let refused = gateway.post("/v1/connections/link", &ask).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "invalid_request"),
            "{bad}"
        );
    }
    let (url, _) = link(&gateway, "ada").await;
    let left = press(
        &gateway,
        &format!("{url}?redirect_uri=https://evil.test/&next=https://evil.test/"),
        &[],
    )
    .await;
    assert_eq!(
        query_of(&left.leads_to())["redirect_uri"],
        gateway.url("/oauth/callback/github")
    );
    assert!(!left.text.contains("evil.test"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_used_once() {
    let (gateway, provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    follow(&gateway, &provider, &url).await;
    for page in [open(&gateway, &url).await, press(&gateway, &url, &[]).await] {
        assert_eq!(page.status, 410);
        assert!(page.text.contains("has been used"), "{}", page.text);
    }
    let unknown = open(&gateway, &gateway.url("/connect/never-made")).await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_was_started_again_leads_nowhere() {
    let (gateway, provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let first = press(&gateway, &url, &[]).await;
    let second = press(&gateway, &url, &[]).await;
    let back = provider.consent(&first.leads_to());
    let page = come_back(&gateway, first.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 400, "{}", page.text);
    let back = provider.consent(&second.leads_to());
    let page = come_back(&gateway, second.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 200, "{}", page.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_without_the_browsers_cookie_is_refused() {
    let (gateway, provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let left = press(&gateway, &url, &[]).await;
    let back = provider.consent(&left.leads_to());
    let cookie = left.cookie().unwrap();
    let (name, _) = cookie.split_once('=').unwrap();
    for wrong in [
        None,
        Some(format!("{name}=guess")),
        Some("other=1".to_owned()),
    ] {
        let page = come_back(&gateway, wrong.as_deref(), &back).await;
        assert_eq!(page.status, 400, "{}", page.text);
        assert!(page.text.contains("another browser"), "{}", page.text);
    }
    // Whoever tried has not spoilt it for the right browser.
    let page = come_back(&gateway, Some(&cookie), &back).await;
    assert_eq!(page.status, 200, "{}", page.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_provider_ends_the_link_readably() {
    let (gateway, provider) = world().await;
    for (error, status, said) in [
        ("server_error", 502, "refused the connection (server_error)"),
        ("<script>alert(1)</script>", 502, "(provider_error)"),
    ] {
        let (url, id) = link(&gateway, "ada").await;
        let left = press(&gateway, &url, &[]).await;
        let back = provider.consent(&left.leads_to());
        let back = BTreeMap::from([
            ("state".to_owned(), back["state"].clone()),
            ("error".to_owned(), error.to_owned()),
        ]);
        let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
        assert_eq!(page.status, status, "{}", page.text);
        assert!(
            page.text.contains(said) && !page.text.contains("<script"),
            "{}",
            page.text
        );
        let again = come_back(&gateway, left.cookie().as_deref(), &back).await;
        assert_eq!(again.status, 410);
        assert_eq!(
            gateway.get(&format!("/v1/connections/{id}")).await.status,
            404
        );
    }
    let guessed = BTreeMap::from([
        ("state".to_owned(), "guess".to_owned()),
        ("code".to_owned(), "c".to_owned()),
    ]);
    assert_eq!(come_back(&gateway, None, &guessed).await.status, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_agree_at_the_provider_tries_again_with_the_same_link() {
    let (gateway, provider) = world().await;
    let (url, id) = link(&gateway, "ada").await;
    let left = press(&gateway, &url, &[]).await;
    let agreed = provider.consent(&left.leads_to());
    let denied = BTreeMap::from([
        ("state".to_owned(), agreed["state"].clone()),
        ("error".to_owned(), "access_denied".to_owned()),
    ]);
    let cookie = left.cookie();
    let page = come_back(&gateway, cookie.as_deref(), &denied).await;
    assert_eq!((page.status, page.leads_to()), (200, url.clone()));
    let offered = open(&gateway, &url).await;
    assert_eq!(offered.status, 200, "{}", offered.text);
    let said = "You did not agree at GitHub, so nothing was connected.";
    assert!(offered.text.contains(said), "{}", offered.text);
    // The state of the first try is spent, with whatever answer and in the same browser.
    for replayed in [&denied, &agreed] {
        let page = come_back(&gateway, cookie.as_deref(), replayed).await;
        assert_eq!(page.status, 400, "{}", page.text);
    }
    assert_eq!(
        gateway.get(&format!("/v1/connections/{id}")).await.status,
        404
    );
    let page = follow(&gateway, &provider, &url).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(state(&gateway, &id).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_another_provider_is_refused_before_its_code_is_shown_to_anybody() {
    let (gateway, provider) = world().await;
    let gone = async |id: &str| gateway.get(&format!("/v1/connections/{id}")).await.status == 404;
    for foreign in [
        "https://evil.test",
        "https://github.com.evil.test",
        "https://github.com@evil.test/login/oauth",
        "http://github.com",
        "github.com",
        "",
    ] {
        for answer in ["code", "error"] {
            let (url, id) = link(&gateway, "ada").await;
            let left = press(&gateway, &url, &[]).await;
            let mut back = provider.consent(&left.leads_to());
            if answer == "error" {
                back.remove("code");
                back.insert("error".to_owned(), "access_denied".to_owned());
            }
            back.insert("iss".to_owned(), foreign.to_owned());
            let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
            assert_eq!(page.status, 400, "{foreign}: {}", page.text);
            assert!(page.text.contains("another provider"), "{}", page.text);
            assert!(!page.text.contains("evil.test"), "{}", page.text);
            assert!(gone(&id).await);
            // The link has ended; taking the issuer away does not help.
            back.remove("iss");
            let again = come_back(&gateway, left.cookie().as_deref(), &back).await;
            assert_eq!(again.status, 410, "{}", again.text);
        }
    }
    assert!(
        provider.memory().clients.is_empty(),
        "no code was exchanged"
    );
    let (url, _) = link(&gateway, "ada").await;
    let left = press(&gateway, &url, &[]).await;
    let mut back = provider.consent(&left.leads_to());
    back.insert(
        "iss".to_owned(),
        "https://github.com/login/oauth".to_owned(),
    );
    let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(run(&gateway, "ada").await["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pkce_downgrade_is_refused() {
    let (gateway, provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let left = press(&gateway, &url, &[]).await;
    let to = left.leads_to();
    let asked = query_of(&to);
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["code_challenge"].len(), 43);
    // Somebody on the way replaces the challenge by one of a verifier that he knows.
    let weaker = to.replace(
        &asked["code_challenge"],
        "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
    );
    let back = provider.consent(&weaker);
    let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 502, "{}", page.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_ends_after_fifteen_minutes() {
    let (gateway, _provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let body = json!({"service": "github", "user_id": "ada"});
    let made = gateway.post("/v1/connections/link", &body).await.data();
    let expires =
        toolgate_core::clock::parse_rfc3339(made["expires_at"].as_str().unwrap()).unwrap();
    let now = gateway.gateway.clock().now_ms();
    assert!((14 * 60_000..=15 * 60_000).contains(&(expires - now)));
    // The row is moved into the past, as the clock of this gateway cannot be.
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query("UPDATE connect_flows SET expires_at_ms = 1")
        .execute(&pool)
        .await
        .unwrap();
    for page in [open(&gateway, &url).await, press(&gateway, &url, &[]).await] {
        assert_eq!(page.status, 410);
        assert!(page.text.contains("has expired"), "{}", page.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_return_after_the_link_has_ended_is_refused() {
    let (gateway, provider) = world().await;
    let (url, id) = link(&gateway, "ada").await;
    let left = press(&gateway, &url, &[]).await;
    let back = provider.consent(&left.leads_to());
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query("UPDATE connect_flows SET expires_at_ms = 1")
        .execute(&pool)
        .await
        .unwrap();
    let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 410);
    assert!(page.text.contains("has expired"), "{}", page.text);
    let path = format!("/v1/connections/{id}");
    assert_eq!(gateway.get(&path).await.status, 404);
    assert!(
        provider.memory().clients.is_empty(),
        "no code was exchanged"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_needs_a_key_with_the_scope_and_a_service_that_is_set_up() {
    let (gateway, provider) = world().await;
    let id = connect(&gateway, &provider, "ada").await;
    let weak = toolgate_tests::gateway::new_key(
        &gateway.gateway,
        "weak",
        &[toolgate_gateway::Scope::ToolsExecute],
    )
    .await
    .unwrap();
    let body = Some(json!({"service": "github"}).to_string());
    let refused = gateway
        .send(Method::POST, "/v1/connections/link", Some(&weak), body)
        .await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (403, "scope_denied")
    );
    for (method, path) in [
        (Method::GET, "/v1/connections".to_owned()),
        (Method::GET, format!("/v1/connections/{id}")),
        (Method::DELETE, format!("/v1/connections/{id}")),
    ] {
        let refused = gateway.send(method, &path, Some(&weak), None).await;
        assert_eq!(refused.code(), "scope_denied");
    }
    assert_eq!(state(&gateway, &id).await, "active");
    let body = json!({"service": "nowhere"});
    let refused = gateway.post("/v1/connections/link", &body).await;
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (404, "service_not_found")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_can_neither_be_framed_nor_scripted_nor_named_as_referrer() {
    let (gateway, _provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    for page in [
        open(&gateway, &url).await,
        press(&gateway, &url, &[]).await,
        open(&gateway, &gateway.url("/connect/x")).await,
        open(&gateway, &gateway.url("/oauth/callback")).await,
        open(&gateway, &gateway.url("/oauth/callback/github")).await,
    ] {
        let header = |name: &str| page.headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("referrer-policy"), "no-referrer");
        assert_eq!(header("cache-control"), "no-store");
        let policy = header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; style-src 'nonce-"),
            "{policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert!(!page.text.contains("<script"));
    }
    let left = press(&gateway, &url, &[]).await;
    let cookie = left.headers["set-cookie"].to_str().unwrap();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_from_another_site_is_refused() {
    let (gateway, _provider) = world().await;
    let (url, _) = link(&gateway, "ada").await;
    let response = gateway
        .client
        .post(&url)
        .header("sec-fetch-site", "cross-site")
        .header("content-type", "application/x-www-form-urlencoded")
        .send()
        .await
        .unwrap();
    assert_eq!(response.status().as_u16(), 403);
    let page = browse(&gateway, Method::GET, &url, None).await;
    assert_eq!(page.status, 200);
}
