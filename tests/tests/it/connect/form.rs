//! Keys and parameters through the form, without any OAuth.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use toolgate_gateway::jobs::rotation;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::gateway::TestGateway;
use toolgate_tests::upstream::Upstream;
use toolgate_vault::Vault;

use super::{open, press};

const TOKEN: &str = "ghp_a_personal_access_token";

async fn github_without_oauth() -> (TestGateway, Upstream, Arc<AtomicBool>) {
    let valid = Arc::new(AtomicBool::new(true));
    let still_valid = valid.clone();
    let upstream = Upstream::start(move |request| {
        let bearer = format!("Bearer {TOKEN}");
        let known = request.headers.iter().any(|(_, value)| *value == bearer);
        let (status, body) = if known && still_valid.load(Ordering::SeqCst) {
            (200, json!({"login": "octo-ada"}))
        } else {
            (401, json!({"message": "Bad credentials"}))
        };
        Response::builder()
            .status(status)
            .body(Body::from(body.to_string()))
            .unwrap()
    })
    .await;
    let gateway = TestGateway::with_upstream("github", "api.github.com", upstream.url()).await;
    (gateway, upstream, valid)
}

/// Connects through the form and answers the connection's id.
async fn connect(gateway: &TestGateway) -> String {
    let body = json!({"service": "github"});
    let link = gateway.post("/v1/connections/link", &body).await.data();
    let url = link["connect_url"].as_str().unwrap();
    let page = press(gateway, url, &[("f_secret", TOKEN)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    link["connection_id"].as_str().unwrap().to_owned()
}

async fn run(gateway: &TestGateway) -> Value {
    gateway.execute(super::TOOL, json!({})).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_through_the_form_and_is_tried_before_it_is_kept() {
    let (gateway, _upstream, _valid) = github_without_oauth().await;
    let first = run(&gateway).await;
    assert_eq!(
        (&first["status"], &first["auth_type"]),
        (&json!("auth_required"), &json!("bearer"))
    );
    let url = first["connect_url"].as_str().unwrap();
    let page = open(&gateway, url).await;
    assert!(page.text.contains("type=\"password\""), "{}", page.text);
    let empty = press(&gateway, url, &[("f_secret", " ")]).await;
    assert_eq!(empty.status, 422);
    assert!(empty.text.contains("is missing"), "{}", empty.text);
    let wrong = press(&gateway, url, &[("f_secret", "ghp_wrong_token")]).await;
    assert_eq!(wrong.status, 422, "{}", wrong.text);
    assert!(wrong.text.contains("did not accept it") && !wrong.text.contains("ghp_wrong_token"));
    let right = press(&gateway, url, &[("f_secret", TOKEN)]).await;
    assert_eq!(right.status, 200, "{}", right.text);
    assert!(
        right.text.contains("octo-ada") && !right.text.contains(TOKEN),
        "{}",
        right.text
    );
    let second = run(&gateway).await;
    assert_eq!(
        (&second["status"], &second["result"]["login"]),
        (&json!("success"), &json!("octo-ada"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_the_provider_takes_back_is_asked_for_again_under_its_id() {
    let (gateway, upstream, valid) = github_without_oauth().await;
    let id = connect(&gateway).await;
    assert_eq!(run(&gateway).await["status"], "success");
    valid.store(false, Ordering::SeqCst);
    let refused = run(&gateway).await;
    assert_eq!(refused["status"], "auth_expired", "{refused}");
    assert_eq!(super::state(&gateway, &id).await, "reauth_needed");
    let asked = upstream.received().len();
    let again = run(&gateway).await;
    assert_eq!(again["status"], "auth_expired");
    assert_eq!(
        upstream.received().len(),
        asked,
        "a dead key is not tried again"
    );
    valid.store(true, Ordering::SeqCst);
    let url = again["connect_url"].as_str().unwrap();
    press(&gateway, url, &[("f_secret", TOKEN)]).await;
    assert_eq!(super::state(&gateway, &id).await, "active");
    assert_eq!(run(&gateway).await["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_given_to_another_user_does_not_open() {
    let (gateway, upstream, _valid) = github_without_oauth().await;
    let id = connect(&gateway).await;
    let store = gateway.gateway.store();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let row = store
        .find_connection(&workspace.id, &id)
        .await
        .unwrap()
        .unwrap();
    assert!(row.sealed.starts_with("tg1.") && !row.sealed.contains(TOKEN));
    let path = gateway.config.gateway.data_dir.join("toolgate.db");
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display()))
        .await
        .unwrap();
    sqlx::query("UPDATE connections SET user_id = 'eve'")
        .execute(&pool)
        .await
        .unwrap();
    let before = upstream.received().len();
    let body = json!({"arguments": {}, "user_id": "eve"});
    let path = format!("/v1/tools/{}/execute", super::TOOL);
    let answer = gateway.post(&path, &body).await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (500, "internal_error")
    );
    assert_eq!(upstream.received().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_master_key_is_rotated_under_a_serving_gateway() {
    let (gateway, _upstream, _valid) = github_without_oauth().await;
    connect(&gateway).await;
    let file = gateway.config.gateway.master_key_file.clone();
    let old = std::fs::read(&file).unwrap();
    let command = Vault::open(&file).unwrap();
    let operator = toolgate_tests::gateway::operator(&gateway.gateway)
        .await
        .unwrap();
    let rotated = rotation::rotate(gateway.gateway.store(), &command, &operator, 1)
        .await
        .unwrap();
    assert_eq!(rotated.boxes, 1);
    assert_ne!(std::fs::read(&file).unwrap(), old);
    assert_eq!(run(&gateway).await["status"], "success");
    // What is sealed from now on is under the new key, and the old one is needed no more.
    std::fs::remove_file(toolgate_vault::master::previous(&file)).unwrap();
    let id = connect(&gateway).await;
    assert_eq!(super::state(&gateway, &id).await, "active");
    let fresh = Vault::open(&file).unwrap();
    for sealed in gateway.gateway.store().list_sealed().await.unwrap() {
        assert!(sealed.sealed.contains(&fresh.key_id().unwrap()));
    }
    assert_eq!(run(&gateway).await["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_checked_against_their_pattern() {
    let mut run = tool("run");
    run["auth"] = json!(["key"]);
    let plugin = Fixture::new("desk")
        .with("hosts", json!(["{subdomain}.desk.test"]))
        .with("capabilities", json!(["egress"]))
        .with(
            "parameters",
            json!([{"key": "subdomain", "title": "Your subdomain", "pattern": "^[a-z0-9-]+$"}]),
        )
        .with(
            "auth",
            json!([{
                "slot": "key", "title": "Desk key", "type": "api_key",
                "placement": {"header": "x-key", "template": "{secret}"},
                "audience": ["https://{subdomain}.desk.test"]
            }]),
        )
        .with("tools", json!([run]))
        .build();
    let gateway = TestGateway::with_plugin("desk.wasm", plugin).await;
    let link = gateway
        .post("/v1/connections/link", &json!({"service": "desk"}))
        .await
        .data();
    let url = link["connect_url"].as_str().unwrap();
    for bad in ["", "evil.test/", "a.b", "x@evil"] {
        let page = press(
            &gateway,
            url,
            &[("p_subdomain", bad), ("f_secret", "key-of-desk")],
        )
        .await;
        assert_eq!(page.status, 422, "{bad}");
        assert!(page.text.contains("Your subdomain"), "{}", page.text);
    }
    let page = press(
        &gateway,
        url,
        &[("p_subdomain", "acme"), ("f_secret", "key-of-desk")],
    )
    .await;
    assert_eq!(page.status, 200, "{}", page.text);
    let id = link["connection_id"].as_str().unwrap();
    assert_eq!(super::state(&gateway, id).await, "active");
    let answer = gateway.execute("desk_run", json!({})).await;
    assert_eq!(answer["status"], "success");
}
