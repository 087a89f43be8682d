//! Toolsets in the dashboard, and the cards that clients render of calls.

use serde_json::json;
use toolgate_tests::component::locked;

use super::{World, dist, words};

#[tokio::test(flavor = "multi_thread")]
async fn toolsets_are_made_changed_and_deleted_in_the_browser() {
    dist();
    let words = [("words.wasm", std::fs::read(words()).unwrap())];
    let world = World::start_with(&words, &[]).await;
    let printed = world.walk("toolsets.mjs", json!({})).await;
    assert_eq!(printed.lines().count(), 4, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_shows_what_became_of_a_call_and_leads_a_person_on() {
    let plugins = [
        ("locked.wasm", locked().build()),
        ("words.wasm", std::fs::read(words()).unwrap()),
    ];
    let world = World::start_with(&plugins, &[]).await;
    let printed = world.walk("card.mjs", json!({})).await;
    assert_eq!(printed.lines().count(), 5, "{printed}");
}
