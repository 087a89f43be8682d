//! The reference of the REST interface in a real browser.

use serde_json::json;

use super::{World, dist};

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_shows_samples_and_sends_a_request_with_a_key() {
    dist();
    let world = World::start_with(&[], &[]).await;
    let printed = world.walk("reference.mjs", json!({})).await;
    assert_eq!(printed.lines().count(), 6, "{printed}");
}
