//! Streams of events: resumed where they ended, and ended with the key.

use reqwest::Response;
use serde_json::{Value, json};
use toolgate_gateway::Scope;
use toolgate_gateway::identity::keys;
use toolgate_tests::gateway::{Options, PATIENCE, TestGateway, new_key, operator};

use super::{begin, cursor};
use crate::mcp::wire::stateless;

/// A stream that is read as it comes.
pub struct Heard {
    response: Response,
    text: String,
}

/// One event of a stream.
#[derive(Debug)]
pub struct HeardEvent {
    /// The field `event`; the method of a notification.
    pub name: String,
    pub id: Option<String>,
    pub data: Value,
}

impl Heard {
    /// The stream of `/v1/events`.
    pub async fn of(
        gateway: &TestGateway,
        key: &str,
        query: &str,
        last_event_id: Option<&str>,
    ) -> Self {
        let request = gateway
            .client
            .get(gateway.url(&format!("/v1/events?{query}")));
        let request = request
            .bearer_auth(key)
            .header("accept", "text/event-stream");
        let request = match last_event_id {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let kind = &response.headers()["content-type"];
        assert_eq!(kind, "text/event-stream; charset=utf-8");
        let mut heard = Self {
            response,
            text: String::new(),
        };
        // The place where it begins, before any event.
        let first = heard.piece().await.unwrap();
        assert!(first.starts_with("id: "), "{first}");
        heard
    }

    /// The stream of `events/stream`, once it is active.
    pub async fn pushed(gateway: &TestGateway, params: Value) -> Self {
        let request = stateless(gateway, "events/stream", None, params);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let mut heard = Self {
            response,
            text: String::new(),
        };
        let first = heard.next("notifications/events/active").await;
        assert_eq!(first.data["params"]["truncated"], false);
        heard
    }

    /// The lines up to the next empty one. `None`: the stream has ended.
    async fn piece(&mut self) -> Option<String> {
        loop {
            if let Some((piece, rest)) = self.text.split_once("\n\n") {
                let piece = piece.to_owned();
                self.text = rest.to_owned();
                return Some(piece);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            // A connection that was cut is an end too.
            let chunk = chunk.expect("something, or the end").ok()??;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event with this name; others are passed over.
    pub async fn next(&mut self, name: &str) -> HeardEvent {
        loop {
            let piece = self.piece().await;
            let piece = piece.unwrap_or_else(|| panic!("the stream ended without {name}"));
            let field = |field: &str| {
                let value = piece.lines().find_map(|line| line.strip_prefix(field));
                value.map(|value| value.trim().to_owned())
            };
            let Some(data) = field("data:").filter(|data| data.starts_with('{')) else {
                continue;
            };
            let data: Value = serde_json::from_str(&data).unwrap();
            let method = data["method"].as_str().map(str::to_owned);
            let event = HeardEvent {
                name: method.or_else(|| field("event:")).unwrap_or_default(),
                id: field("id:"),
                data,
            };
            if event.name == name {
                return event;
            }
        }
    }

    /// Reads on until the stream ends.
    pub async fn ends(mut self) {
        while self.piece().await.is_some() {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_comes_back_goes_on_after_the_last_event_that_it_has_seen() {
    let gateway = TestGateway::start(Options::default()).await;
    cursor(&gateway).await;
    let mut stream = Heard::of(&gateway, &gateway.key, "types=session.created", None).await;
    let first = begin(&gateway, "default").await;
    let heard = stream.next("event").await;
    assert_eq!(heard.data["data"]["session_id"], first);
    assert_eq!(heard.data["cursor"], heard.id.as_deref().unwrap());
    drop(stream);
    let missed = [
        begin(&gateway, "default").await,
        begin(&gateway, "eve").await,
    ];
    let mut again = Heard::of(
        &gateway,
        &gateway.key,
        // The header is the newer place.
        "types=session.created&cursor=0",
        heard.id.as_deref(),
    )
    .await;
    let last = begin(&gateway, "default").await;
    for expected in missed.into_iter().chain([last]) {
        assert_eq!(
            again.next("event").await.data["data"]["session_id"],
            expected
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_with_their_key() {
    let gateway = TestGateway::start(Options::default()).await;
    let scopes = [Scope::Sessions, Scope::ToolsRead];
    let key = new_key(&gateway.gateway, "agent", &scopes).await.unwrap();
    let other = new_key(&gateway.gateway, "other", &scopes).await.unwrap();
    let mut ending = Heard::of(&gateway, &key, "", None).await;
    let mut going_on = Heard::of(&gateway, &other, "", None).await;
    begin(&gateway, "default").await;
    ending.next("event").await;
    going_on.next("event").await;
    let request = stateless(
        &gateway,
        "events/stream",
        None,
        json!({ "name": "session.created" }),
    );
    let mut request = request.build().unwrap();
    let value = format!("Bearer {key}").parse().unwrap();
    request.headers_mut().insert("authorization", value);
    let mut pushed = Heard {
        response: gateway.client.execute(request).await.unwrap(),
        text: String::new(),
    };
    pushed.next("notifications/events/active").await;

    let admin = operator(&gateway.gateway).await.unwrap();
    let (store, now_ms) = (gateway.gateway.store(), gateway.gateway.clock().now_ms());
    keys::revoke(store, &admin, "agent", now_ms).await.unwrap();
    ending.ends().await;
    pushed.ends().await;
    begin(&gateway, "default").await;
    going_on.next("event").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_end_when_the_gateway_stops() {
    let gateway = TestGateway::start(Options::default()).await;
    let stream = Heard::of(&gateway, &gateway.key, "", None).await;
    let pushed = Heard::pushed(&gateway, json!({ "name": "session.created" })).await;
    tokio::join!(gateway.stop(), stream.ends(), pushed.ends());
}
