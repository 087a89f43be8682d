//! A trigger that is changed while it is polled.

use std::time::Duration;

use serde_json::json;

use super::{Widgets, new_item, patch};

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_that_is_under_way_stores_nothing_after_the_trigger_was_changed() {
    let widgets = Widgets::start(&["a", "b", "c", "d", "e", "f", "g"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    widgets.server().delay = Duration::from_millis(400);
    let made = gateway.post("/v1/triggers", &new_item()).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let id = made.data()["trigger_id"].as_str().unwrap().to_owned();
    let asked_for = |part: &str| {
        let server = widgets.server();
        server.asked.iter().filter(|one| one.contains(part)).count()
    };
    gateway
        .wait("the first request", async || asked_for("folder=inbox") > 0)
        .await;
    patch(&gateway, &id, json!({"config": {"folder": "other"}})).await;
    let path = format!("/v1/triggers/{id}");
    gateway
        .wait("the reading of the other folder", async || {
            let shown = gateway.get(&path).await.data();
            let (last, next) = (&shown["last_poll_at"], &shown["next_poll_at"]);
            shown["watching_since"].is_string() && next.as_str() > last.as_str()
        })
        .await;
    assert_eq!(asked_for("folder=inbox"), 1);
    assert_eq!(asked_for("folder=other"), 3);

    widgets.server().delay = Duration::ZERO;
    widgets.pass(&gateway, &id).await;
    assert_eq!(gateway.get(&path).await.data()["items_found"], 0);
    assert!(widgets.arrived().is_empty());
}
