//! Calls that wait for a person, decided in a real browser.

use serde_json::json;
use toolgate_tests::component::Fixture;

use super::{World, dist, words};

#[tokio::test(flavor = "multi_thread")]
async fn a_person_reviews_and_decides_waiting_calls_in_the_browser() {
    dist();
    let mut purge = Fixture::new("purge");
    purge.manifest["tools"][0]["effect"] = json!("destructive");
    let tool = purge.manifest["tools"][0]["name"].as_str().unwrap();
    let tool = format!("purge_{tool}");
    let plugins = [
        ("words.wasm", std::fs::read(words()).unwrap()),
        ("purge.wasm", purge.build()),
    ];
    let world = World::start_with(&plugins, &[]).await;
    let shots = std::env::var("TOOLGATE_SHOTS").ok();
    let asked = json!({ "purge": tool, "shots": shots });
    let printed = world.walk("decide.mjs", asked).await;
    assert_eq!(printed.lines().count(), 8, "{printed}");
}
