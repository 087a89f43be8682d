//! A connect link asks for what the operator knows of, from the person whom it names.

use serde_json::json;
use toolgate_gateway::Scope;
use toolgate_tests::gateway::new_key;
use toolgate_tests::upstream::Upstream;

use super::spy;
use crate::connect::{allow_pages, get, press, press_unseen, world};

/// Defence: `host/gateway/src/connections/apps.rs` (`scope_ceiling`), asked in `host/gateway/src/connections/link.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_asks_a_link_for_no_scope_that_nobody_has_named() {
    let (gateway, _provider) = world().await;
    let scopes = [Scope::Connections];
    let key = new_key(&gateway.gateway, "agent", &scopes).await.unwrap();
    for (scopes, status) in [
        (json!(["admin:everything"]), 400),
        (json!(["repo", "delete_repo"]), 400),
        (json!(["REPO"]), 400),
        (json!(["repo"]), 201),
        (json!([]), 201),
    ] {
        let body = json!({"service": "github", "scopes": scopes}).to_string();
        let path = "/v1/connections/link";
        let answer = gateway.send(reqwest::Method::POST, path, Some(&key), Some(body));
        let answer = answer.await;
        assert_eq!(answer.status, status, "{scopes}: {}", answer.text);
        if status == 400 {
            assert_eq!(answer.code(), "invalid_request");
            let named = answer.json()["error"]["message"]
                .as_str()
                .unwrap()
                .to_owned();
            let above = scopes.as_array().unwrap().last().unwrap();
            assert!(named.contains(above.as_str().unwrap()), "{named}");
        }
    }
}

/// Defence: `host/http/src/connect/pages.rs` asks who sits before the browser, where no application does.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_was_passed_on_asks_whether_the_reader_is_who_it_is_for() {
    let (gateway, _provider) = world().await;
    allow_pages(&gateway).await;
    let page = async |confirm_url: Option<&str>| {
        let body = json!({"service": "github", "user_id": "ada", "confirm_url": confirm_url});
        let link = gateway.post("/v1/connections/link", &body).await.data();
        let url = link["connect_url"].as_str().unwrap().to_owned();
        let page = gateway.client.get(&url).send().await.unwrap();
        (page.text().await.unwrap(), url)
    };
    let (asks, url) = page(None).await;
    assert!(
        asks.contains("Are you <strong>ada</strong> of the workspace"),
        "{asks}"
    );
    assert!(asks.contains("Yes, that is me"), "{asks}");
    let (confirmed, _) = page(Some("https://app.example.com/connected")).await;
    assert!(!confirmed.contains("Are you "), "the application asks");
    let left = press(&gateway, &url, &[]).await;
    assert_eq!(left.status, 200, "{}", left.text);
}

/// Defence: `host/gateway/src/connections/flow/binding.rs`: what the form carries follows from the cookie and the link. The
/// page of the attacker's own link was shown to the browser; the form is sent to the link of somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_one_link_sends_no_form_to_another() {
    let upstream = Upstream::start(|_| spy::answers("application/json", "{}")).await;
    let paths = json!({ "/things": spy::reads("things", json!([])) });
    let gateway = spy::gateway(&spy::description(&spy::bearer(), paths), &upstream).await;
    let link = async |user: &str| {
        let body = json!({ "service": "spy", "user_id": user });
        let made = gateway.post("/v1/connections/link", &body).await.data();
        made["connect_url"].as_str().unwrap().to_owned()
    };
    let (own, other) = (link("mallory").await, link("ada").await);
    let shown = get(&gateway, &own, None).await;
    let (cookie, field) = (shown.cookie().unwrap(), shown.page_field());
    // Also under the name that the cookie of the other link has.
    let named = get(&gateway, &other, None).await.cookie().unwrap();
    let name = named.split('=').next().unwrap();
    let (_, value) = cookie.split_once('=').unwrap();
    let renamed = format!("{name}={value}");
    for cookie in [cookie.clone(), renamed] {
        let form = [("f_secret", spy::TOKEN)];
        let sent = press_unseen(&gateway, &other, Some(&cookie), field.as_ref(), &form).await;
        assert_eq!(sent.status, 403, "{}", sent.text);
    }
    let listed = gateway.get("/v1/connections?user_id=ada").await.data();
    assert_eq!(listed["connections"], json!([]), "nothing is connected");
}
