//! Webhooks from the change to the receiver, who is a process of its own with the reference
//! verifier.

mod documented;
mod events;
mod inbound;
mod killed;

use reqwest::Method;
use serde_json::{Value, json};
use toolgate_tests::gateway::{Answer, Options, TestGateway};
use toolgate_tests::receiver::Receiver;

/// A gateway that may send to the receiver.
async fn start(receiver: &Receiver) -> TestGateway {
    TestGateway::start(Options {
        allow_upstream: vec![receiver.upstream()],
        ..Options::default()
    })
    .await
}

/// Makes a webhook for an address of the receiver, which then trusts its secret. Answers its id and
/// secret.
async fn webhook(
    gateway: &TestGateway,
    receiver: &Receiver,
    path: &str,
    wanted: Value,
) -> (String, String) {
    let mut body = json!({ "url": format!("https://hooks.example.test{path}") });
    let fields = body.as_object_mut().unwrap();
    fields.extend(wanted.as_object().unwrap().clone());
    let answer = gateway.post("/v1/webhooks", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let made = answer.data();
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    let (id, secret) = (text("webhook_id"), text("secret"));
    receiver.trust(path, &[&secret]).await.unwrap();
    (id, secret)
}

async fn patch(gateway: &TestGateway, path: &str, body: Value) -> Answer {
    let key = Some(gateway.key.as_str());
    gateway
        .send(Method::PATCH, path, key, Some(body.to_string()))
        .await
}

async fn skill(gateway: &TestGateway, name: &str) -> String {
    let body = json!({ "name": name, "summary": "s", "instructions": "i" });
    let answer = gateway.post("/v1/skills", &body).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.data()["skill_id"].as_str().unwrap().to_owned()
}

/// The types that arrived at an address, in order.
async fn types(receiver: &Receiver, path: &str) -> Vec<String> {
    let arrived = receiver.at(path).await;
    let kind =
        |one: &toolgate_tests::receiver::Arrived| one.event["type"].as_str().unwrap().to_owned();
    arrived.iter().map(kind).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_arrives_signed_in_order_and_only_where_it_is_wanted() {
    let receiver = Receiver::start(0.0).await.unwrap();
    let gateway = start(&receiver).await;
    webhook(&gateway, &receiver, "/ok/all", json!({"events": ["*"]})).await;
    let deleted = json!({"events": ["skill.deleted", "tool.*"]});
    webhook(&gateway, &receiver, "/ok/deleted", deleted).await;
    let eve = json!({"events": ["*"], "filters": {"user_ids": ["eve"]}});
    webhook(&gateway, &receiver, "/ok/eve", eve).await;

    let id = skill(&gateway, "first").await;
    let path = format!("/v1/skills/{id}");
    let key = Some(gateway.key.as_str());
    let body = Some(json!({"summary": "better"}).to_string());
    assert_eq!(
        gateway.send(Method::PUT, &path, key, body).await.status,
        200
    );
    assert_eq!(
        gateway.send(Method::DELETE, &path, key, None).await.status,
        200
    );
    for user in ["ada", "eve"] {
        let body = json!({"permission": "deny"});
        let path = format!("/v1/permissions/users/{user}/services/nobody");
        let answer = patch(&gateway, &path, body).await;
        assert!(matches!(answer.status, 200 | 404), "{}", answer.text);
        let body = json!({"prompt": "hello", "user_id": user});
        assert_eq!(gateway.post("/v1/sessions", &body).await.status, 201);
    }

    gateway
        .wait("the sessions' events", async || {
            let all = types(&receiver, "/ok/all").await;
            all.iter().filter(|kind| *kind == "session.created").count() == 2
                && !types(&receiver, "/ok/eve").await.is_empty()
        })
        .await;
    let all = receiver.at("/ok/all").await;
    assert!(all.iter().all(|one| one.verified == [true]), "{all:?}");
    assert_eq!(
        types(&receiver, "/ok/all").await[..3],
        ["skill.created", "skill.updated", "skill.deleted"]
    );
    assert_eq!(all[1].event["data"]["skill_id"], id);
    assert_eq!(all[1].event["data"]["version"], 2);
    assert!(all[0].event["timestamp"].is_string());
    assert_eq!(types(&receiver, "/ok/deleted").await, ["skill.deleted"]);
    // One event, one id, wherever it goes.
    assert_eq!(receiver.at("/ok/deleted").await[0].id, all[2].id);
    let eves = receiver.at("/ok/eve").await;
    assert!(eves.iter().all(|one| one.event["data"]["user_id"] == "eve"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_is_sent_and_a_delivery_is_sent_once_more_by_hand() {
    let receiver = Receiver::start(0.0).await.unwrap();
    let gateway = start(&receiver).await;
    let wanted = json!({"events": ["skill.created"]});
    let (id, _) = webhook(&gateway, &receiver, "/ok/a", wanted).await;
    let path = format!("/v1/webhooks/{id}/test");
    let key = Some(gateway.key.as_str());
    let tested = gateway.send(Method::POST, &path, key, None).await;
    assert_eq!(tested.status, 200, "{}", tested.text);
    let delivery = tested.data();
    let list = format!("/v1/webhooks/{id}/deliveries?status=delivered");
    gateway
        .wait("the test to be delivered", async || {
            gateway.get(&list).await.data()["deliveries"][0]["delivery_id"]
                == delivery["delivery_id"]
        })
        .await;
    let listed = gateway.get(&list).await.data()["deliveries"][0].clone();
    assert_eq!(listed["type"], "webhook.test");
    assert_eq!(listed["response_status"], 204);
    assert_eq!(listed["attempts"], 1);

    let again = format!(
        "/v1/webhooks/{id}/deliveries/{}/resend",
        delivery["delivery_id"].as_str().unwrap()
    );
    let again = gateway
        .send(Method::POST, &again, Some(&gateway.key), None)
        .await;
    assert_eq!(again.status, 200, "{}", again.text);
    assert_eq!(again.data()["event_id"], delivery["event_id"]);
    gateway
        .wait("the second sending", async || {
            receiver.at("/ok/a").await.len() == 2
        })
        .await;
    let arrived = receiver.at("/ok/a").await;
    assert_eq!(arrived[0].id, arrived[1].id);
    assert!(arrived.iter().all(|one| one.verified == [true]));
    let nothing = format!("/v1/webhooks/{id}/deliveries/dlv_x/resend");
    let nothing = gateway
        .send(Method::POST, &nothing, Some(&gateway.key), None)
        .await;
    assert_eq!((nothing.status, &*nothing.code()), (404, "not_found"));
}

#[tokio::test(flavor = "multi_thread")]
async fn both_secrets_sign_while_they_overlap() {
    let receiver = Receiver::start(0.0).await.unwrap();
    let gateway = start(&receiver).await;
    let wanted = json!({"events": ["skill.*"]});
    let (id, old) = webhook(&gateway, &receiver, "/ok/a", wanted).await;
    let rotate = format!("/v1/webhooks/{id}/rotate");
    let rotated = gateway
        .post(&rotate, &json!({"overlap_hours": 1}))
        .await
        .data();
    let new = rotated["secret"].as_str().unwrap().to_owned();
    assert_ne!(new, old);
    receiver.trust("/ok/a", &[&old, &new]).await.unwrap();
    skill(&gateway, "overlapping").await;
    gateway
        .wait("the event", async || receiver.at("/ok/a").await.len() == 1)
        .await;
    assert_eq!(receiver.at("/ok/a").await[0].verified, [true, true]);

    let ended = gateway
        .post(&rotate, &json!({"overlap_hours": 0}))
        .await
        .data();
    let newest = ended["secret"].as_str().unwrap();
    receiver
        .trust("/ok/a", &[&old, &new, newest])
        .await
        .unwrap();
    skill(&gateway, "alone").await;
    gateway
        .wait("the event", async || receiver.at("/ok/a").await.len() == 2)
        .await;
    assert_eq!(receiver.at("/ok/a").await[1].verified, [false, false, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_delivery_is_tried_again_and_the_order_is_kept() {
    let receiver = Receiver::start(0.0).await.unwrap();
    let gateway = start(&receiver).await;
    let wanted = json!({"events": ["skill.created"]});
    let (id, _) = webhook(&gateway, &receiver, "/again/a", wanted).await;
    let first = skill(&gateway, "first").await;
    gateway
        .wait("the refused attempt", async || {
            !receiver.at("/again/a").await.is_empty()
        })
        .await;
    gateway
        .wait("the failure to be shown", async || {
            let webhook = gateway.get(&format!("/v1/webhooks/{id}")).await.data();
            webhook["failing_since"].is_string()
        })
        .await;
    let waiting = gateway
        .get(&format!("/v1/webhooks/{id}/deliveries"))
        .await
        .data();
    assert_eq!(waiting["deliveries"][0]["status"], "pending");
    assert_eq!(waiting["deliveries"][0]["response_status"], 503);
    gateway
        .wait("the second attempt", async || {
            receiver.at("/again/a").await.len() == 2
        })
        .await;
    let arrived = receiver.at("/again/a").await;
    assert_eq!(arrived[0].id, arrived[1].id);
    assert_eq!(arrived[1].event["data"]["skill_id"], first);
    gateway
        .wait("the webhook to be well", async || {
            let webhook = gateway.get(&format!("/v1/webhooks/{id}")).await.data();
            webhook["failing_since"].is_null()
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_gone_is_switched_off_and_others_are_told() {
    let receiver = Receiver::start(0.0).await.unwrap();
    let gateway = start(&receiver).await;
    let wanted = json!({"events": ["skill.created"]});
    let (id, _) = webhook(&gateway, &receiver, "/gone/a", wanted).await;
    let told = json!({"events": ["webhook.disabled"]});
    webhook(&gateway, &receiver, "/ok/told", told).await;
    skill(&gateway, "first").await;
    gateway
        .wait("the news", async || {
            !receiver.at("/ok/told").await.is_empty()
        })
        .await;
    let news = receiver.at("/ok/told").await.remove(0);
    assert_eq!(news.event["data"]["webhook_id"], id);
    assert_eq!(news.event["data"]["reason"], "gone");
    let webhook = gateway.get(&format!("/v1/webhooks/{id}")).await.data();
    assert_eq!(webhook["enabled"], false);
    assert_eq!(webhook["disabled_reason"], "gone");
    let failed = format!("/v1/webhooks/{id}/deliveries?status=failed");
    let failed = gateway.get(&failed);
    assert_eq!(
        failed.await.data()["deliveries"].as_array().unwrap().len(),
        1
    );

    // Nothing is written for it while it is off.
    skill(&gateway, "second").await;
    let all = gateway
        .get(&format!("/v1/webhooks/{id}/deliveries"))
        .await
        .data();
    assert_eq!(all["deliveries"].as_array().unwrap().len(), 1);
    let on = patch(
        &gateway,
        &format!("/v1/webhooks/{id}"),
        json!({"enabled": true}),
    )
    .await;
    assert_eq!(on.data()["enabled"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_the_operator_did_not_name_is_refused() {
    let gateway = TestGateway::start(Options::default()).await;
    for url in [
        "http://hooks.example.test/in",
        "https://127.0.0.1/in",
        "https://localhost.example@169.254.169.254/in",
    ] {
        let body = json!({"url": url, "events": ["*"]});
        let refused = gateway.post("/v1/webhooks", &body).await;
        assert_eq!(
            (refused.status, &*refused.code()),
            (400, "invalid_request"),
            "{url}"
        );
    }
    // A name is only known to be private once it is looked up: at the sending.
    let body = json!({"url": "https://localhost/in", "events": ["skill.created"]});
    let made = gateway.post("/v1/webhooks", &body).await.data();
    skill(&gateway, "first").await;
    let id = made["webhook_id"].as_str().unwrap();
    let list = format!("/v1/webhooks/{id}/deliveries");
    gateway
        .wait("the refused attempt", async || {
            gateway.get(&list).await.data()["deliveries"][0]["attempts"] == 1
        })
        .await;
    let delivery = gateway.get(&list).await.data()["deliveries"][0].clone();
    assert_eq!(delivery["status"], "pending");
    let why = delivery["last_error"].as_str().unwrap();
    assert!(why.contains("no public address"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_does_not_wait_until_a_paused_webhook_has_rested_and_a_pause_can_be_ended() {
    let receiver = Receiver::start(0.0).await.unwrap();
    let gateway = start(&receiver).await;
    let wanted = json!({"events": ["skill.created"]});
    let (id, _) = webhook(&gateway, &receiver, "/busy/a", wanted).await;
    let path = format!("/v1/webhooks/{id}");
    skill(&gateway, "first").await;
    gateway
        .wait("the pause", async || {
            gateway.get(&path).await.data()["paused_until"].is_string()
        })
        .await;
    // What happens meanwhile waits, and says until when.
    skill(&gateway, "second").await;
    let paused = gateway.get(&path).await.data()["paused_until"].clone();
    let list = gateway.get(&format!("{path}/deliveries")).await.data();
    assert_eq!(list["deliveries"][0]["next_attempt_at"], paused, "{list}");

    let test = format!("{path}/test");
    let key = Some(gateway.key.as_str());
    let tested = gateway.send(Method::POST, &test, key, None).await;
    assert_eq!(tested.status, 200, "{}", tested.text);
    gateway
        .wait("the outcome of the test", async || {
            let list = gateway.get(&format!("{path}/deliveries")).await.data();
            list["deliveries"][0]["response_status"] == 503
        })
        .await;
    let arrived = receiver.at("/busy/a").await;
    assert_eq!(arrived[1].event["type"], "webhook.test", "it goes first");

    let resumed = patch(&gateway, &path, json!({"enabled": true})).await;
    assert_eq!(resumed.status, 200, "{}", resumed.text);
    assert!(resumed.data()["paused_until"].is_null(), "{}", resumed.text);
    gateway
        .wait("what waits", async || {
            receiver.at("/busy/a").await.len() >= 3
        })
        .await;
    let arrived = receiver.at("/busy/a").await;
    assert_eq!(arrived[2].id, arrived[0].id, "in its order");
}
