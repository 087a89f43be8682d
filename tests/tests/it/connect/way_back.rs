//! Where the browser goes once a link has ended: back to the application's page, or out of a popup.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::provider::query_of;

use super::{Page, allow_pages, come_back, follow, open, press, state, world};

const RETURN_URL: &str = "https://app.test/settings?tab=accounts";

/// A link with more in its request; its address, and the connection's id.
async fn link_with(gateway: &TestGateway, more: Value) -> (String, String) {
    allow_pages(gateway).await;
    let mut body = json!({"service": "github", "user_id": "ada"});
    let all = body.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    let answer = gateway.post("/v1/connections/link", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let data = answer.data();
    let text = |key: &str| data[key].as_str().unwrap().to_owned();
    (text("connect_url"), text("connection_id"))
}

/// Where the page sends the browser, with how the link ended.
fn returned(page: &Page) -> (String, BTreeMap<String, String>) {
    let url = page.leads_to();
    let base = url.split('?').next().unwrap().to_owned();
    (base, query_of(&url))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_returns_to_the_application_whether_connected_or_cancelled() {
    let (gateway, provider) = world().await;
    let (url, id) = link_with(&gateway, json!({"return_url": RETURN_URL})).await;
    let cancelled = press(&gateway, &url, &[("cancel", "1")]).await;
    let (base, query) = returned(&cancelled);
    assert_eq!(
        (base.as_str(), query["tab"].as_str()),
        ("https://app.test/settings", "accounts")
    );
    assert_eq!(query["connect_status"], "cancelled");
    assert_eq!(query["connection_id"], id);
    // Nothing has happened to the link.
    let connected = follow(&gateway, &provider, &url).await;
    let (_, query) = returned(&connected);
    assert_eq!(query["connect_status"], "connected");
    assert_eq!(state(&gateway, &id).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cancels_without_an_application_may_still_connect() {
    let (gateway, provider) = world().await;
    let (url, id) = link_with(&gateway, json!({})).await;
    let page = press(&gateway, &url, &[("cancel", "1")]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("Nothing was connected"), "{}", page.text);
    assert!(!page.text.contains("<script"), "{}", page.text);
    assert_eq!(open(&gateway, &url).await.status, 200);
    follow(&gateway, &provider, &url).await;
    assert_eq!(state(&gateway, &id).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_of_the_provider_leaves_a_way_back() {
    let (gateway, provider) = world().await;
    let (url, _) = link_with(&gateway, json!({"return_url": RETURN_URL})).await;
    let left = press(&gateway, &url, &[]).await;
    let mut back = provider.consent(&left.leads_to());
    back.remove("code");
    back.insert("error".to_owned(), "invalid_scope".to_owned());
    let page = come_back(&gateway, left.cookie().as_deref(), &back).await;
    assert_eq!(page.status, 502, "{}", page.text);
    let (base, query) = returned(&page);
    assert_eq!(base, "https://app.test/settings");
    assert_eq!(query["connect_status"], "failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirmation_comes_before_the_return() {
    let (gateway, provider) = world().await;
    let more = json!({"return_url": RETURN_URL, "confirm_url": "https://app.test/confirm"});
    let (url, _) = link_with(&gateway, more).await;
    let (base, query) = returned(&follow(&gateway, &provider, &url).await);
    assert_eq!(base, "https://app.test/confirm");
    assert!(query.contains_key("connect_code") && !query.contains_key("connect_status"));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_page_of_the_named_origin_is_told_how_a_popup_ended() {
    let (gateway, provider) = world().await;
    let more = json!({"popup_origin": "https://app.test"});
    let (url, id) = link_with(&gateway, more).await;
    let page = follow(&gateway, &provider, &url).await;
    assert!(
        page.text.contains("data-origin=\"https://app.test\""),
        "{}",
        page.text
    );
    let message = json!({"type": "toolgate.connect", "status": "connected", "connection_id": id, "service": "github"});
    let written = message.to_string().replace('"', "&quot;");
    assert!(page.text.contains(&written), "{}", page.text);
    for bad in [
        "*",
        "null",
        "http://app.test",
        "https://app.test/page",
        "https://app.test?x=1",
        "https://a@app.test",
        "app.test",
    ] {
        let ask = json!({"service": "github", "popup_origin": bad});
        let refused = gateway.post("/v1/connections/link", &ask).await;
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "invalid_request"),
            "{bad}"
        );
    }
    for bad in ["javascript:alert(1)", "//evil.test", "http://evil.test/"] {
        let ask = json!({"service": "github", "return_url": bad});
        let refused = gateway.post("/v1/connections/link", &ask).await;
        assert_eq!(refused.status, 400, "{bad}: {}", refused.text);
    }
}
