//! A test of a trigger: what it would have found, without telling anybody.

use serde_json::{Value, json};

use super::{Widgets, item, new_item, watching};

#[tokio::test(flavor = "multi_thread")]
async fn a_test_answers_what_is_listed_and_tells_nobody() {
    let widgets = Widgets::start(&["a", "b"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    let trigger = watching(&gateway, &new_item()).await;
    let path = format!("/v1/triggers/{trigger}");
    widgets.server().items.insert(0, item("c"));
    let found = gateway
        .post(&format!("{path}/test"), &json!({}))
        .await
        .data();
    assert_eq!(found["status"], "found", "{found}");
    assert_eq!(found["listed"], 3, "{found}");
    assert_eq!(found["found"], 3, "{found}");
    assert_eq!(found["since"], "2026-11-19T09:30:30.000Z", "{found}");
    assert_eq!(found["complete"], true, "{found}");
    assert_eq!(found["items"][0]["event"]["id"], "c", "{found}");
    assert_eq!(gateway.get(&path).await.data()["items_found"], 0);

    widgets.pass(&gateway, &trigger).await;
    widgets.wait_for(&gateway, &["c"]).await;
    // The event has the id that the test said.
    let arrived = widgets.arrived();
    assert_eq!(json!(arrived["c"]), json!([found["items"][0]["event_id"]]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_answers_the_items_since_a_time_from_several_pages() {
    let widgets = Widgets::start(&["a"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    let trigger = watching(&gateway, &new_item()).await;
    let untimed = json!({"service": "widgets", "trigger": "untimed_item"});
    let untimed = watching(&gateway, &untimed).await;
    let at = |id: &str, time: &str| json!({"id": id, "at": time});
    // Two pages, and a newer item behind an older one.
    widgets.server().items = vec![
        at("new", "2026-11-20T09:20:00Z"),
        at("old", "2026-11-18T09:00:00Z"),
        at("older", "2026-11-17T09:00:00Z"),
        at("late", "2026-11-20T09:10:00Z"),
    ];
    let test = async |trigger: &str, query: &str| {
        let path = format!("/v1/triggers/{trigger}/test{query}");
        gateway.post(&path, &json!({})).await
    };
    let ids = |found: &Value| {
        let items = found["items"].as_array().unwrap().iter();
        let ids = items.map(|item| item["event"]["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let found = test(&trigger, "").await.data();
    assert_eq!(ids(&found), ["new", "late"], "{found}");
    assert_eq!((&found["listed"], &found["found"]), (&json!(4), &json!(2)));
    assert_eq!(found["complete"], true, "{found}");
    let found = test(&trigger, "?since=2026-11-18T00:00:00Z").await.data();
    assert_eq!(ids(&found), ["new", "old", "late"], "{found}");
    for (time, refused) in [
        ("2026-10-01T00:00:00Z", "within the last 30 days"),
        ("2026-11-21T00:00:00Z", "within the last 30 days"),
    ] {
        let answer = test(&trigger, &format!("?since={time}")).await;
        assert_eq!(answer.code(), "invalid_request", "{time}");
        assert!(answer.text.contains(refused), "{}", answer.text);
    }

    // Without times, what is listed now is answered, and that is said.
    let found = test(&untimed, "").await.data();
    assert_eq!(ids(&found), ["new", "old", "older"], "{found}");
    assert_eq!(found["listed"], 3, "one page");
    assert_eq!(
        (&found["since"], &found["found"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(found["complete"], false, "{found}");
    let refused = test(&untimed, "?since=2026-11-20T00:00:00Z").await;
    assert_eq!(refused.code(), "invalid_request", "{}", refused.text);

    // More pages than a test reads.
    widgets.server().items = (0..16).map(|n| item(&format!("{n}"))).collect();
    let found = test(&trigger, "").await.data();
    assert_eq!(
        (&found["listed"], &found["complete"]),
        (&json!(15), &json!(false))
    );
}
