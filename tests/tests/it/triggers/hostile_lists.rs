//! What providers do to a list while it is read, one after the other: each new item becomes one event, and none of those
//! from before, for each kind of trigger.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolgate_core::clock::parse_rfc3339;
use toolgate_tests::gateway::TestGateway;

use super::{ListServer, PAGE, Widgets, item, patch, watching};

/// Those that are there before the trigger is made.
const BEFORE: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// The trigger that relies on the list's order.
const NEWEST_FIRST: &str = "untimed_item";
/// The time of all items with another offset.
const AT_ELSEWHERE: &str = "2026-11-20T11:00:00+02:00";
/// Polls that may pass until what is new has been found.
const POLLS_MAX: usize = 10;
/// Polls in which the whole list has been read once more.
const POLLS_AFTER: usize = 3;

impl Widgets {
    /// Changes the list once its first page was answered the next time.
    pub(super) fn meanwhile(&self, change: impl FnOnce(&mut ListServer) + Send + 'static) {
        self.server().meanwhile = Some(Box::new(change));
    }
}

/// One trigger, and what it has to tell of.
struct Watched {
    widgets: Widgets,
    gateway: TestGateway,
    kind: &'static str,
    trigger: String,
    expected: BTreeSet<String>,
}

impl Watched {
    async fn start(kind: &'static str) -> Self {
        let widgets = Widgets::start(&BEFORE).await;
        let gateway = widgets.gateway(widgets.options()).await;
        let body = json!({"service": "widgets", "trigger": kind});
        let trigger = watching(&gateway, &body).await;
        Self {
            widgets,
            gateway,
            kind,
            trigger,
            expected: BTreeSet::new(),
        }
    }

    /// So many new items, the newest first.
    fn new_items(&mut self, count: usize) -> Vec<Value> {
        let first = self.expected.len();
        let ids = (first..first + count).map(|n| format!("new-{n}"));
        let ids: Vec<String> = ids.collect();
        let items = ids.iter().rev().map(|id| item(id)).collect();
        self.expected.extend(ids);
        items
    }

    fn add(&mut self, count: usize) {
        let items = self.new_items(count);
        self.widgets.server().items.splice(0..0, items);
    }

    /// The same between the first page of the next reading and its second one.
    fn add_while_read(&mut self, count: usize) {
        let items = self.new_items(count);
        self.while_read(move |server| {
            server.items.splice(0..0, items);
        });
    }

    fn while_read(&self, change: impl FnOnce(&mut ListServer) + Send + 'static) {
        self.widgets.meanwhile(change);
    }

    /// Lists the first two items twice on the first page and the second one.
    fn repeat(&self) {
        let mut server = self.widgets.server();
        for (from, to) in [(0, PAGE - 1), (1, PAGE + 1)] {
            let again = server.items[from].clone();
            server.items.insert(to, again);
        }
    }

    /// Writes all times that are there with another offset.
    fn move_times(&self) {
        for item in &mut self.widgets.server().items {
            item["at"] = json!(AT_ELSEWHERE);
        }
    }

    /// Adds items at the front, in the middle and at the end, and lists all in another order.
    fn scatter(&mut self) {
        let items = self.new_items(3);
        let mut server = self.widgets.server();
        for (n, item) in items.into_iter().enumerate() {
            let at = server.items.len() * n / 2;
            server.items.insert(at, item);
        }
        let third = server.items.len() / 3;
        server.items.rotate_left(third);
        server.items.reverse();
    }

    async fn shown(&self) -> Value {
        let path = format!("/v1/triggers/{}", self.trigger);
        self.gateway.get(&path).await.data()
    }

    /// Waits for the end of the poll that begins now.
    async fn polled(&self) -> Value {
        let now = toolgate_core::clock::rfc3339(self.widgets.clock.now_ms());
        self.gateway
            .wait("the poll that is due", async || {
                let shown = self.shown().await;
                shown["last_poll_at"].as_str() == Some(now.as_str())
                    && shown["next_poll_at"].as_str() > Some(now.as_str())
            })
            .await;
        self.shown().await
    }

    /// Lets the trigger be polled at once.
    async fn poll(&self) -> Value {
        self.widgets.clock.advance_ms(1_000);
        let same = json!({"interval_s": 60});
        patch(&self.gateway, &self.trigger, same).await;
        self.polled().await
    }

    /// Lets the time pass until the next poll is due by itself.
    async fn poll_when_due(&self) -> Value {
        let next = self.shown().await["next_poll_at"].clone();
        let next_ms = parse_rfc3339(next.as_str().unwrap()).unwrap();
        let wait_ms = next_ms - self.widgets.clock.now_ms();
        self.widgets.clock.advance_ms(wait_ms.max(1_000));
        self.polled().await
    }

    /// The ids of the events with which each item arrived.
    fn told(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for delivery in self.widgets.hooks.received() {
            let event: Value = serde_json::from_str(&delivery.body).unwrap();
            assert_eq!(event["type"], format!("trigger.widgets.{}", self.kind));
            let mut headers = delivery.headers.iter();
            let id = headers.find(|(name, _)| name == "webhook-id").unwrap();
            let item = event["data"]["event"]["id"].as_str().unwrap();
            let ids = told.entry(item.to_owned()).or_default();
            ids.insert(id.1.clone());
        }
        told
    }

    /// Polls until what is new has been found and the list has been read to its end, and compares it with what arrived.
    async fn settles(&self, phase: &str) {
        let expected = self.expected.len();
        let mut found = self.poll().await["items_found"].clone();
        for _ in 1..POLLS_MAX {
            if found == expected {
                break;
            }
            found = self.poll().await["items_found"].clone();
        }
        assert_eq!(found, expected, "{} after: {phase}", self.kind);
        for _ in 0..POLLS_AFTER {
            found = self.poll().await["items_found"].clone();
            assert_eq!(found, expected, "{} after: {phase}", self.kind);
        }
        self.gateway
            .wait("the items at the webhook", async || {
                self.told().len() >= expected
            })
            .await;
        let told = self.told();
        let items: BTreeSet<String> = told.keys().cloned().collect();
        assert_eq!(items, self.expected, "{} after: {phase}", self.kind);
        let once = told.values().all(|ids| ids.len() == 1);
        assert!(once, "{} after: {phase}: {told:?}", self.kind);
    }
}

async fn each_item_once(kind: &'static str) {
    let mut watched = Watched::start(kind).await;

    watched.add(2);
    watched.repeat();
    watched.settles("items on two pages").await;

    watched.add(2 * PAGE);
    watched.add_while_read(PAGE);
    watched.settles("a shift by a whole page").await;

    watched.add(2 * PAGE + 1);
    watched.while_read(|server| drop(server.items.remove(0)));
    watched
        .settles("an item taken out of a page that was read")
        .await;

    watched.add(1);
    let between = watched.new_items(1);
    watched.while_read(move |server| {
        server.items.splice(1..1, between);
    });
    watched
        .settles("an item put into a page that was read")
        .await;

    watched.move_times();
    watched.add(1);
    watched.settles("times with another offset").await;

    watched.add(2 * PAGE);
    watched.while_read(|server| server.refuses = Some((429, "600")));
    let shown = watched.poll().await;
    assert_eq!(shown["state"], "failing", "{shown}");
    watched.widgets.server().refuses = None;
    watched.add(PAGE);
    let shown = watched.poll_when_due().await;
    assert_eq!(shown["state"], "active", "{shown}");
    watched.settles("429 behind the first page").await;

    watched.add(2 * PAGE);
    watched.while_read(|server| server.key = "key-of-widgets-2");
    let shown = watched.poll().await;
    assert_eq!(shown["state"], "waiting_for_connection", "{shown}");
    watched.add(PAGE);
    watched.widgets.connect(&watched.gateway).await;
    let shown = watched.poll_when_due().await;
    assert_eq!(shown["state"], "active", "{shown}");
    watched
        .settles("401 behind the first page and a new key")
        .await;

    // A trigger that knows the newest first takes the provider at its word.
    if kind != NEWEST_FIRST {
        watched.scatter();
        watched.settles("another order").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_in_any_order_is_told_of_once_whatever_its_provider_does() {
    each_item_once("new_item").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_with_the_newest_first_is_told_of_once_whatever_its_provider_does() {
    each_item_once(NEWEST_FIRST).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_of_once_although_the_offset_of_their_times_changes() {
    each_item_once("changed_item").await;
}
