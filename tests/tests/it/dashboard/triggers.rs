//! Triggers from the form to what they find, in a real browser.

use axum::body::Body;
use axum::http::Response;
use serde_json::json;
use toolgate_tests::upstream::Upstream;

use super::{World, dist};
use crate::triggers::{Widgets, item};

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_is_made_tested_paused_and_deleted_in_the_browser() {
    dist();
    let widgets = Widgets::start(&["a", "b"]).await;
    let server = widgets.server.clone();
    // The provider has one item more with each request here.
    let add = Upstream::start(move |_| {
        server.lock().unwrap().items.push(item("c"));
        Response::new(Body::empty())
    })
    .await;
    let plugins = [("widgets.wasm", widgets.component.clone())];
    let upstream = format!("api.widgets.io={}", widgets.api.url());
    let world = World::start_with(&plugins, &["--allow-upstream", &upstream]).await;
    let asked = json!({ "add": add.url(), "secret": "key-of-widgets-1" });
    let printed = world.walk("triggers.mjs", asked).await;
    assert_eq!(printed.lines().count(), 7, "{printed}");
}
