//! What providers send: signed deliveries become trigger events at a subscriber, everything else is
//! refused and noted.

use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use toolgate_store::NewConnection;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin};
use toolgate_tests::receiver::Receiver;

use super::webhook;

const BODY: &str = r#"{"action":"opened","number":7,"repository":{"full_name":"ada/engine"}}"#;

fn signed(secret: &str, content: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(content.as_bytes());
    let digits = mac.finalize().into_bytes();
    digits.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

struct World {
    receiver: Receiver,
    gateway: TestGateway,
    connection: String,
}

impl World {
    /// A connection of a service whose plugin takes events, and a subscriber to its triggers.
    async fn open(service: &str, plugin: Vec<u8>) -> Self {
        let receiver = Receiver::start(0.0).await.unwrap();
        let gateway = TestGateway::start(Options {
            plugins: vec![(format!("{service}.wasm"), plugin)],
            allow_upstream: vec![receiver.upstream()],
            ..Options::default()
        })
        .await;
        let reason = gateway
            .wait_for_file(&format!("{service}.wasm"), "active")
            .await;
        assert_eq!(reason, "");
        let wanted = json!({ "events": [format!("trigger.{service}.*")] });
        webhook(&gateway, &receiver, "/ok/a", wanted).await;
        let store = gateway.gateway.store();
        let workspace = store.first_workspace().await.unwrap().unwrap();
        let connection = NewConnection {
            workspace_id: workspace.id,
            id: format!("con_{service}"),
            user_id: "ada".to_owned(),
            service: service.to_owned(),
            slot: "user".to_owned(),
            auth_type: "bearer".to_owned(),
            account: None,
            scopes: Vec::new(),
            parameters: Default::default(),
            sealed: "box".to_owned(),
            token_expires_at_ms: None,
            refresh_end: None,
            refreshable: false,
        };
        store.connect(&connection, 0).await.unwrap();
        Self {
            receiver,
            gateway,
            connection: connection.id,
        }
    }

    /// Opens the hook and answers its secret.
    async fn hook(&self, body: Value) -> Value {
        let path = format!("/v1/connections/{}/hook", self.connection);
        let key = Some(self.gateway.key.as_str());
        let put = self
            .gateway
            .send(Method::PUT, &path, key, Some(body.to_string()));
        let put = put.await;
        assert_eq!(put.status, 200, "{}", put.text);
        put.data()
    }

    async fn deliver(&self, headers: &[(&str, String)], body: &str) -> (u16, Value) {
        let url = self.gateway.url(&format!("/hooks/{}", self.connection));
        let mut request = self.gateway.client.post(url).body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap())
    }

    async fn shown(&self) -> Value {
        let path = format!("/v1/connections/{}/hook", self.connection);
        self.gateway.get(&path).await.data()
    }

    async fn arrived(&self, count: usize) -> Vec<Value> {
        self.gateway
            .wait("the trigger events", async || {
                self.receiver.at("/ok/a").await.len() >= count
            })
            .await;
        let arrived = self.receiver.at("/ok/a").await;
        assert_eq!(arrived.len(), count);
        assert!(arrived.iter().all(|one| one.verified == [true]));
        arrived.into_iter().map(|one| one.event).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_of_github_becomes_a_trigger_and_a_forged_one_is_refused() {
    let world = World::open("github", built_plugin("github").unwrap()).await;
    let hook = world.hook(json!({})).await;
    let secret = hook["secret"].as_str().unwrap();
    assert_eq!(
        hook["url"],
        world.gateway.url(&format!("/hooks/{}", world.connection))
    );
    let event = ("x-github-event", "pull_request".to_owned());
    let good = format!("sha256={}", signed(secret, BODY));
    let signature = |text: &str| ("x-hub-signature-256", text.to_owned());

    let forged = format!("sha256={}", signed("another secret", BODY));
    for (headers, body) in [
        (vec![event.clone(), signature(&forged)], BODY),
        (
            vec![event.clone(), signature(&good)],
            r#"{"action":"closed"}"#,
        ),
        (vec![event.clone()], BODY),
    ] {
        let (status, said) = world.deliver(&headers, body).await;
        assert_eq!(status, 401, "{said}");
    }
    let shown = world.shown().await;
    assert_eq!(
        (&shown["accepted"], &shown["refused"]),
        (&json!(0), &json!(3))
    );
    assert_eq!(
        shown["last_refusal"],
        "the header with the signature is missing"
    );
    assert!(!shown.to_string().contains(secret));

    let headers = [event.clone(), signature(&good)];
    assert_eq!(world.deliver(&headers, BODY).await.0, 200);
    // The same again, under whatever header, is not taken twice.
    let again = [
        event,
        signature(&good),
        ("x-github-delivery", "other".to_owned()),
    ];
    assert_eq!(world.deliver(&again, BODY).await.0, 200);
    let other = r#"{"zen":"Keep it logically awesome."}"#;
    let ping = [
        ("x-github-event", "ping".to_owned()),
        signature(&format!("sha256={}", signed(secret, other))),
    ];
    assert_eq!(world.deliver(&ping, other).await.0, 200);
    let events = world.arrived(2).await;
    assert_eq!(events[0]["type"], "trigger.github.pull_request.opened");
    let data = &events[0]["data"];
    assert_eq!(data["user_id"], "ada");
    assert_eq!(data["connection_id"], world.connection);
    assert_eq!(data["event"]["repository"]["full_name"], "ada/engine");
    assert_eq!(events[1]["type"], "trigger.github.ping");
    assert_eq!(world.shown().await["accepted"], 2);

    let large = "x".repeat((1 << 20) + 1);
    assert_eq!(world.deliver(&[], &large).await.0, 413);
    let path = format!("/v1/connections/{}/hook", world.connection);
    let key = Some(world.gateway.key.as_str());
    let closed = world.gateway.send(Method::DELETE, &path, key, None).await;
    assert_eq!(closed.status, 200);
    assert_eq!(world.deliver(&headers, BODY).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn slack_is_answered_its_question_and_old_deliveries_are_refused() {
    let world = World::open("slack", built_plugin("slack").unwrap()).await;
    let secret = "8f742231b10e8888abcd99yyyzzz85a5";
    let hook = world.hook(json!({ "secret": secret })).await;
    assert_eq!(hook["secret"], Value::Null, "the caller has it already");
    let headers = |body: &str, at_s: u64| {
        let signature = signed(secret, &format!("v0:{at_s}:{body}"));
        [
            ("x-slack-signature", format!("v0={signature}")),
            ("x-slack-request-timestamp", at_s.to_string()),
        ]
    };
    let question = r#"{"type":"url_verification","challenge":"3eZbrw1aB"}"#;
    let (status, said) = world.deliver(&headers(question, now_s()), question).await;
    assert_eq!((status, &said["challenge"]), (200, &json!("3eZbrw1aB")));
    let forged = [("x-slack-signature", "v0=00".to_owned())];
    assert_eq!(world.deliver(&forged, question).await.0, 401);

    let body =
        r#"{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention","text":"hi"}}"#;
    let (status, said) = world.deliver(&headers(body, now_s() - 400), body).await;
    assert_eq!(
        (status, said["error"].as_str().unwrap().contains("300 s")),
        (401, true)
    );
    assert_eq!(world.deliver(&headers(body, now_s()), body).await.0, 200);
    // Slack's own repetition has another time and the same id.
    assert_eq!(
        world.deliver(&headers(body, now_s() - 5), body).await.0,
        200
    );
    let events = world.arrived(1).await;
    assert_eq!(events[0]["type"], "trigger.slack.app_mention");
    assert_eq!(events[0]["data"]["event"]["text"], "hi");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_of_stripe_becomes_a_trigger() {
    let world = World::open("stripe", built_plugin("stripe").unwrap()).await;
    let secret = "whsec_stripe_test_secret";
    world.hook(json!({ "secret": secret })).await;
    let body = r#"{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1"}}}"#;
    let at_s = now_s();
    let good = signed(secret, &format!("{at_s}.{body}"));
    let signature = |text: String| [("stripe-signature", text)];
    let forged = signature(format!("t={at_s},v1={}", "0".repeat(64)));
    assert_eq!(world.deliver(&forged, body).await.0, 401);
    let rotated = signature(format!("t={at_s},v1={},v1={good}", "0".repeat(64)));
    assert_eq!(world.deliver(&rotated, body).await.0, 200);
    let events = world.arrived(1).await;
    assert_eq!(events[0]["type"], "trigger.stripe.invoice.paid");
    assert_eq!(events[0]["data"]["event"]["id"], "in_1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_reads_what_its_manifest_cannot() {
    let signature = json!({"signature": {"header": "x-signature", "signed": "{body}"}});
    let plugin = Fixture::new("acme")
        .hook()
        .with("webhook", signature.clone());
    let world = World::open("acme", plugin.build()).await;
    let secret = world.hook(json!({})).await["secret"].clone();
    let good = [("x-signature", signed(secret.as_str().unwrap(), BODY))];
    assert_eq!(world.deliver(&good, BODY).await.0, 200);
    let events = world.arrived(1).await;
    assert_eq!(events[0]["type"], "trigger.acme.pinged");

    // Nobody could read this one.
    let blind = Fixture::new("blind").with("webhook", signature).build();
    world.gateway.drop_file("blind.wasm", &blind);
    let reason = world
        .gateway
        .wait_for_file("blind.wasm", "quarantined")
        .await;
    assert!(reason.contains("toolgate:plugin/webhook"), "{reason}");
}
