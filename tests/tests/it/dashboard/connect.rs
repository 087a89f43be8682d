//! The pages behind connect links in a real browser.

use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use toolgate_tests::gateway::built_plugin;
use toolgate_tests::upstream::Upstream;

use super::{World, dist};

const TOKEN: &str = "ghp_a_personal_access_token";

#[tokio::test(flavor = "multi_thread")]
async fn a_user_connects_an_account_in_the_browser() {
    dist();
    let provider = Upstream::start(|request| {
        let bearer = format!("Bearer {TOKEN}");
        let known = request.headers.iter().any(|(_, value)| *value == bearer);
        let (status, body) = if known {
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
    let upstream = format!("api.github.com={}", provider.url());
    let github = [("github.wasm", built_plugin("github").unwrap())];
    let world = World::start_with(&github, &["--allow-upstream", &upstream]).await;
    let shots = std::env::var("TOOLGATE_SHOTS").ok();
    let asked = json!({ "token": TOKEN, "shots": shots });
    let printed = world.walk("connect.mjs", asked).await;
    assert_eq!(printed.lines().count(), 3, "{printed}");
}
