//! A key of a service that names no request for the account is tried with a tool that reads.

use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::upstream::Upstream;

use super::{Page, press, state};

const GOOD: &str = "key-that-the-provider-takes-0123456789";
const LIMITED: &str = "key-that-may-only-send-0123456789abcdef";
const UNLUCKY: &str = "key-of-a-provider-that-fails-0123456789";

/// Mistral in a test's hands. It says every key aloud.
async fn mistral() -> (TestGateway, Upstream) {
    let upstream = Upstream::start(|request| {
        let sent = request
            .headers
            .iter()
            .find_map(|(_, value)| value.strip_prefix("Bearer "))
            .unwrap_or_default()
            .to_owned();
        let (status, message) = match sent.as_str() {
            GOOD => (200, "fine"),
            LIMITED => (403, "this key may only send"),
            UNLUCKY => (500, "it is broken"),
            _ => (401, "unknown key"),
        };
        let body = json!({"data": [], "message": message, "detail": sent});
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap()
    })
    .await;
    let gateway = TestGateway::with_upstream("mistral", "api.mistral.ai", upstream.url()).await;
    (gateway, upstream)
}

async fn link(gateway: &TestGateway) -> (String, String) {
    let body = json!({"service": "mistral", "user_id": "ada"});
    let data = gateway.post("/v1/connections/link", &body).await.data();
    let text = |key: &str| data[key].as_str().unwrap().to_owned();
    (text("connect_url"), text("connection_id"))
}

fn says(page: &Page, status: u16, said: &str) {
    assert_eq!(page.status, status, "{}", page.text);
    assert!(page.text.contains(said), "{said}: {}", page.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_stays_on_the_form_and_a_right_one_is_connected() {
    let (gateway, upstream) = mistral().await;
    let (url, id) = link(&gateway).await;
    let wrong = "key-that-nobody-knows-0123456789abcdef";
    let page = press(&gateway, &url, &[("f_secret", wrong)]).await;
    says(&page, 422, "Mistral AI did not accept it");
    assert!(!page.text.contains(wrong), "{}", page.text);
    assert!(page.text.contains("type=\"password\""), "{}", page.text);
    assert_eq!(
        gateway.get(&format!("/v1/connections/{id}")).await.status,
        404
    );
    let page = press(&gateway, &url, &[("f_secret", GOOD)]).await;
    says(&page, 200, "is connected");
    assert_eq!(state(&gateway, &id).await, "active");
    let received = upstream.received();
    assert_eq!(received.len(), 2, "one request for each key");
    assert!(received.iter().all(|one| one.method == "GET"));
    let receipts = gateway
        .get("/v1/executions?kind=connection&service=mistral")
        .await
        .data();
    let statuses: Vec<_> = receipts["executions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["tool_name"].as_str().unwrap(),
                one["status"].as_str().unwrap(),
            )
        })
        .collect();
    let check = "host:account_check";
    assert_eq!(statuses, [(check, "success"), (check, "error")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_for_other_things_is_kept_by_who_says_so() {
    let (gateway, _upstream) = mistral().await;
    let (url, id) = link(&gateway).await;
    let page = press(&gateway, &url, &[("f_secret", LIMITED)]).await;
    says(&page, 422, "this key may only send");
    assert!(page.text.contains("name=\"unchecked\""), "{}", page.text);
    let form = [("f_secret", LIMITED), ("unchecked", "1")];
    let page = press(&gateway, &url, &form).await;
    says(&page, 200, "is saved");
    assert_eq!(state(&gateway, &id).await, "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_fails_says_nothing_of_the_key() {
    let (gateway, _upstream) = mistral().await;
    let (url, id) = link(&gateway).await;
    let page = press(&gateway, &url, &[("f_secret", UNLUCKY)]).await;
    says(&page, 200, "could not be checked");
    assert!(!page.text.contains("is connected"), "{}", page.text);
    assert_eq!(state(&gateway, &id).await, "active");
}

/// A language with an HTTP client of its own names no slot: the gateway finds the one for the address.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_tried_with_a_request_that_leaves_by_wasi_http() {
    let upstream = Upstream::start(|request| {
        let key = request.headers.iter().find(|(name, _)| name == "x-api-key");
        let status = match key {
            Some((_, key)) if key == GOOD => 200,
            _ => 401,
        };
        Response::builder()
            .status(status)
            .body(Body::from("it was read"))
            .unwrap()
    })
    .await;
    let gateway = TestGateway::with_upstream("door", "door.example.com", upstream.url()).await;
    let body = json!({"service": "door", "user_id": "ada"});
    let data = gateway.post("/v1/connections/link", &body).await.data();
    let url = data["connect_url"].as_str().unwrap();
    let wrong = press(&gateway, url, &[("f_secret", "a-wrong-key-0123456789")]).await;
    says(&wrong, 422, "did not accept it");
    let right = press(&gateway, url, &[("f_secret", GOOD)]).await;
    says(&right, 200, "is connected");
    let id = data["connection_id"].as_str().unwrap();
    assert_eq!(state(&gateway, id).await, "active");
    let asked: Vec<_> = upstream
        .received()
        .into_iter()
        .map(|it| it.target)
        .collect();
    assert_eq!(asked, ["/me", "/me"]);
}
