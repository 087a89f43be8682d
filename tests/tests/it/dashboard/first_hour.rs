//! The first hour of a workspace, in a real browser.

use serde_json::json;

use super::{World, dist, words};

#[tokio::test(flavor = "multi_thread")]
async fn a_new_workspace_is_led_through_its_first_steps_in_the_browser() {
    dist();
    let words = [("words.wasm", std::fs::read(words()).unwrap())];
    let world = World::start_with(&words, &[]).await;
    let printed = world.walk("first-hour.mjs", json!({})).await;
    assert_eq!(printed.lines().count(), 6, "{printed}");
}
