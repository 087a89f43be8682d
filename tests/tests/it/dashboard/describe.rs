//! Adding an integration from an OpenAPI description, in a real browser.

use serde_json::json;

use super::{World, dist};

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_adds_an_integration_from_its_description_in_the_browser() {
    dist();
    let world = World::start_with(&[], &[]).await;
    let printed = world.walk("describe.mjs", json!({})).await;
    assert_eq!(printed.lines().count(), 4, "{printed}");
}
