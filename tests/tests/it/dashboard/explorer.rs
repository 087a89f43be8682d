//! Executions that failed, found and understood in a real browser.

use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use toolgate_tests::gateway::built_plugin;
use toolgate_tests::upstream::Upstream;

use super::{World, dist};

const TOKEN: &str = "ghp_a_personal_access_token";
const WORDS: &str = "Validation Failed: the title is too short";

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_learns_in_the_browser_why_a_call_failed() {
    dist();
    let provider = Upstream::start(|request| {
        let (status, body) = if request.method == "POST" {
            (422, json!({"message": WORDS}))
        } else {
            (200, json!({"login": "octo-ada"}))
        };
        Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap()
    })
    .await;
    let upstream = format!("api.github.com={}", provider.url());
    let github = [("github.wasm", built_plugin("github").unwrap())];
    let world = World::start_with(&github, &["--allow-upstream", &upstream]).await;
    let shots = std::env::var("TOOLGATE_SHOTS").ok();
    let asked = json!({ "token": TOKEN, "words": WORDS, "shots": shots });
    let printed = world.walk("explorer.mjs", asked).await;
    assert_eq!(printed.lines().count(), 5, "{printed}");
}
