//! Triggers from the provider's list to the webhook: each new item once, whatever the list and the processes do.

mod changed;
mod hostile_lists;
mod killed;
mod refusals;
mod shipped;
mod tested;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use reqwest::Method;
use serde_json::{Value, json};
use toolgate_core::clock::Clock;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::postgres;
use toolgate_tests::upstream::{Received, Upstream};

use crate::connect::press;
use crate::described::built;

/// Time of the first items, which all have the same one.
const AT: &str = "2026-11-20T09:00:00Z";
const NOW_MS: i64 = 1_795_167_030_000;
const MINUTE_MS: i64 = 60_000;
/// Items of a page.
const PAGE: usize = 3;

type Change = Box<dyn FnOnce(&mut ListServer) + Send>;

/// What the provider lists.
pub(crate) struct ListServer {
    pub(crate) items: Vec<Value>,
    /// The key that is taken.
    key: &'static str,
    /// Every request is refused with this status and `Retry-After`.
    refuses: Option<(u16, &'static str)>,
    /// Made once the next first page was answered: the list changes while it is read.
    meanwhile: Option<Change>,
    /// How long a request waits for its answer.
    delay: Duration,
    /// What was asked for, before it is answered.
    asked: Vec<String>,
}

impl ListServer {
    fn answer(&mut self, request: &Received) -> Response<Body> {
        let header = |name: &str| request.headers.iter().find(|(known, _)| known == name);
        let key = header("x-key").map(|(_, value)| value.as_str());
        if key != Some(self.key) {
            return answered(401, None, &json!({"message": "the key is not valid"}));
        }
        if let Some((status, retry_after)) = self.refuses {
            return answered(status, Some(retry_after), &json!({"message": "not now"}));
        }
        if request.target.starts_with("/me") {
            return answered(200, None, &json!({"name": "ada"}));
        }
        let after = request.target.split("after=").nth(1);
        let after = after.map(|text| text.split('&').next().unwrap_or(text));
        let from: usize = after.map_or(0, |text| text.parse().unwrap());
        let end = (from + PAGE).min(self.items.len());
        let page = &self.items[from.min(end)..end];
        let next = (end < self.items.len()).then(|| end.to_string());
        let body = json!({"items": page, "next": next});
        if from == 0
            && let Some(change) = self.meanwhile.take()
        {
            change(self);
        }
        answered(200, None, &body)
    }
}

fn answered(status: u16, retry_after: Option<&str>, body: &Value) -> Response<Body> {
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    if let Some(seconds) = retry_after {
        response = response.header("retry-after", seconds);
    }
    response.body(Body::from(body.to_string())).unwrap()
}

pub(crate) fn item(id: &str) -> Value {
    json!({"id": id, "at": AT, "text": format!("The item {id}.")})
}

/// A provider, a receiver of webhooks, and a clock that the gateways share.
pub(crate) struct Widgets {
    pub(crate) server: Arc<Mutex<ListServer>>,
    pub(crate) api: Upstream,
    hooks: Upstream,
    clock: Clock,
    pub(crate) component: Vec<u8>,
}

impl Widgets {
    pub(crate) async fn start(items: &[&str]) -> Self {
        let server = Arc::new(Mutex::new(ListServer {
            items: items.iter().map(|id| item(id)).collect(),
            key: "key-of-widgets-1",
            refuses: None,
            meanwhile: None,
            delay: Duration::ZERO,
            asked: Vec::new(),
        }));
        let answering = server.clone();
        let api = Upstream::start(move |request| {
            let delay = {
                let mut server = answering.lock().unwrap();
                server.asked.push(request.target.clone());
                server.delay
            };
            if !delay.is_zero() {
                tokio::task::block_in_place(|| std::thread::sleep(delay));
            }
            answering.lock().unwrap().answer(request)
        });
        let api = api.await;
        let hooks = Upstream::start(|_| answered(200, None, &json!({}))).await;
        Self {
            server,
            api,
            hooks,
            clock: Clock::manual(NOW_MS),
            component: built_of(&description()).await,
        }
    }

    fn server(&self) -> MutexGuard<'_, ListServer> {
        self.server.lock().unwrap()
    }

    fn options(&self) -> Options {
        Options {
            plugins: vec![("widgets.wasm".to_owned(), self.component.clone())],
            allow_upstream: vec![
                format!("api.widgets.io={}", self.api.url()),
                format!("hooks.example.test={}", self.hooks.url()),
            ],
            clock: Some(self.clock.clone()),
            ..Options::default()
        }
    }

    /// A gateway with a webhook for all triggers, whose user is connected.
    async fn gateway(&self, options: Options) -> TestGateway {
        let gateway = TestGateway::start(options).await;
        let wanted = json!({"url": "https://hooks.example.test/in", "events": ["trigger.*"]});
        let made = gateway.post("/v1/webhooks", &wanted).await;
        assert_eq!(made.status, 201, "{}", made.text);
        self.connect(&gateway).await;
        gateway
    }

    async fn connect(&self, gateway: &TestGateway) {
        let link = gateway
            .post("/v1/connections/link", &json!({"service": "widgets"}))
            .await;
        let link = link.data();
        let key = self.server().key;
        let url = link["connect_url"].as_str().unwrap();
        let page = press(gateway, url, &[("f_secret", key)]).await;
        assert!(page.text.contains("Connected"), "{}", page.text);
    }

    /// The ids of the events with which each item arrived at the webhook. A delivery may be repeated under its id: the
    /// clock moves past the lease of one that is under way.
    fn arrived(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for delivery in self.hooks.received() {
            let event: Value = serde_json::from_str(&delivery.body).unwrap();
            assert_eq!(event["type"], "trigger.widgets.new_item", "{event}");
            let id = delivery
                .headers
                .iter()
                .find(|(name, _)| name == "webhook-id");
            let item = event["data"]["event"]["id"].as_str().unwrap().to_owned();
            assert_eq!(event["data"]["event_id"], item, "{event}");
            all.entry(item).or_default().insert(id.unwrap().1.clone());
        }
        all
    }

    /// Lets one interval pass and waits for the poll that is due then.
    async fn pass(&self, gateway: &TestGateway, trigger: &str) {
        self.clock.advance_ms(MINUTE_MS);
        let now = toolgate_core::clock::rfc3339(self.clock.now_ms());
        let path = format!("/v1/triggers/{trigger}");
        gateway
            .wait("the poll that is due", async || {
                let shown = gateway.get(&path).await.data();
                shown["last_poll_at"].as_str() == Some(now.as_str())
                    && shown["next_poll_at"].as_str() > Some(now.as_str())
            })
            .await;
    }

    /// Waits until exactly these items have arrived, each as one event.
    async fn wait_for(&self, gateway: &TestGateway, items: &[&str]) {
        gateway
            .wait("the items at the webhook", async || {
                self.arrived().len() >= items.len()
            })
            .await;
        let arrived = self.arrived();
        let mut expected: Vec<&str> = items.to_vec();
        expected.sort_unstable();
        assert_eq!(arrived.keys().collect::<Vec<_>>(), expected);
        assert!(arrived.values().all(|ids| ids.len() == 1), "{arrived:?}");
    }
}

/// A description of the list, with a trigger that is told nothing about its order, one that knows it, and one of changes.
fn description() -> Value {
    let trigger = |name: &str, more: Value| {
        let mut trigger = json!({
            "name": name, "title": "New item", "description": "An item was added.",
            "items": "/items", "id": ["/id"], "interval_s": 60,
        });
        trigger
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        trigger
    };
    let key = json!({
        "type": "apiKey", "in": "header", "name": "x-key",
        "x-toolgate": {"account": {"request": "GET https://api.widgets.io/me", "label": "/name"}},
    });
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Widgets", "version": "1.0.0", "description": "A service for tests."},
        "servers": [{"url": "https://api.widgets.io"}],
        "x-toolgate": {"service": "widgets"},
        "paths": {"/items": {"get": {
            "operationId": "list_items", "summary": "List items", "description": "Lists the items of a folder.",
            "parameters": [
                {"name": "folder", "in": "query", "description": "Only of this folder.", "schema": {"type": "string"}},
                {"name": "size", "in": "query", "description": "Of at least this size.", "schema": {"type": "integer"}},
                {"name": "kind", "in": "query", "description": "Only of this kind.", "schema": {"type": "string"}},
            ],
            "x-toolgate": {
                "paginated": {"style": "cursor", "param": "after", "next": "/next", "items": "/items"},
                "triggers": [
                    trigger("new_item", json!({"time": "/at", "arguments": {"kind": "any"}})),
                    trigger("untimed_item", json!({"order": "newest_first"})),
                    trigger("changed_item", json!({"id": ["/id", "/at"]})),
                ],
            },
            "responses": {"200": {"description": "The items."}},
        }}},
        "components": {"securitySchemes": {"key": key}},
        "security": [{"key": []}],
    })
}

async fn built_of(description: &Value) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("openapi.json");
    std::fs::write(&file, description.to_string()).unwrap();
    built(file).await
}

/// Makes a trigger and waits until it has read what is there.
async fn watching(gateway: &TestGateway, body: &Value) -> String {
    let made = gateway.post("/v1/triggers", body).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let id = made.data()["trigger_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/triggers/{id}");
    gateway
        .wait("the first reading", async || {
            let shown = gateway.get(&path).await.data();
            let (last, next) = (&shown["last_poll_at"], &shown["next_poll_at"]);
            shown["watching_since"].is_string() && next.as_str() > last.as_str()
        })
        .await;
    id
}

async fn patch(gateway: &TestGateway, id: &str, body: Value) -> Value {
    let path = format!("/v1/triggers/{id}");
    let key = Some(gateway.key.as_str());
    let body = Some(body.to_string());
    gateway.send(Method::PATCH, &path, key, body).await.data()
}

fn new_item() -> Value {
    json!({"service": "widgets", "trigger": "new_item", "config": {"folder": "inbox"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn each_new_item_arrives_once_whatever_the_list_does_and_after_a_restart() {
    let widgets = Widgets::start(&["a", "b", "c", "d", "e", "f", "g"]).await;
    let folder = tempfile::tempdir().unwrap();
    let options = || Options {
        data_dir: Some(folder.path().join("data")),
        plugins_dir: Some(folder.path().join("plugins")),
        ..widgets.options()
    };
    let gateway = widgets.gateway(options()).await;
    let trigger = watching(&gateway, &new_item()).await;

    // At the end, at the front and twice, all with the time of those that were there.
    {
        let mut server = widgets.server();
        server.items.push(item("last"));
        server.items.insert(0, item("first"));
        server.items.insert(4, item("twice"));
        server.items.push(item("twice"));
    }
    widgets.pass(&gateway, &trigger).await;
    // The pages shift while they are read: one item is read twice, and the new one is found the next time.
    widgets.meanwhile(|server| server.items.insert(0, item("shifted")));
    widgets.pass(&gateway, &trigger).await;
    widgets.server().items.reverse();
    widgets.pass(&gateway, &trigger).await;
    let so_far = ["last", "first", "twice", "shifted"];
    widgets.wait_for(&gateway, &so_far).await;
    gateway.stop().await;

    let gateway = TestGateway::start(options()).await;
    widgets.server().items.push(item("later"));
    widgets.pass(&gateway, &trigger).await;
    widgets
        .wait_for(&gateway, &["last", "first", "twice", "shifted", "later"])
        .await;
    let shown = gateway.get(&format!("/v1/triggers/{trigger}")).await.data();
    assert_eq!(shown["items_found"], 5, "{shown}");
    assert_eq!(shown["config"], json!({"folder": "inbox"}));
    let asked = widgets.api.received();
    let targets = asked.iter().map(|one| one.target.as_str());
    let polls = targets.filter(|target| target.contains("folder=inbox"));
    assert!(polls.clone().all(|target| target.contains("kind=any")));
    assert!(polls.count() > 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_on_postgresql_tell_of_each_item_once() {
    let widgets = Widgets::start(&["a", "b"]).await;
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = || Options {
        database_url: Some(url.clone()),
        master_key_file: Some(folder.path().join("master.key")),
        ..widgets.options()
    };
    let one = widgets.gateway(options()).await;
    let two = TestGateway::start(options()).await;
    let trigger = watching(&one, &new_item()).await;
    let mut expected = Vec::new();
    for round in 0..4 {
        let ids: Vec<String> = (0..5).map(|n| format!("{round}-{n}")).collect();
        widgets.server().items.extend(ids.iter().map(|id| item(id)));
        expected.extend(ids);
        let gateway = if round % 2 == 0 { &one } else { &two };
        widgets.pass(gateway, &trigger).await;
    }
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    widgets.wait_for(&two, &expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_asks_to_wait_is_waited_for() {
    let widgets = Widgets::start(&["a"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    let trigger = watching(&gateway, &new_item()).await;
    let path = format!("/v1/triggers/{trigger}");
    widgets.server().refuses = Some((429, "600"));
    widgets.server().items.push(item("b"));
    widgets.pass(&gateway, &trigger).await;
    let shown = gateway.get(&path).await.data();
    assert_eq!(shown["state"], "failing", "{shown}");
    assert_eq!(shown["failures"], 1, "{shown}");
    assert!(
        shown["last_error"].as_str().unwrap().contains("429"),
        "{shown}"
    );
    let again_ms = widgets.clock.now_ms() + 600_000;
    let at = toolgate_core::clock::parse_rfc3339(shown["next_poll_at"].as_str().unwrap());
    assert!(at.unwrap() >= again_ms, "{shown}");

    widgets.server().refuses = None;
    widgets.clock.advance_ms(600_000);
    widgets.wait_for(&gateway, &["b"]).await;
    gateway
        .wait("the trigger to be well", async || {
            gateway.get(&path).await.data()["state"] == "active"
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trigger_waits_for_the_connection_and_goes_on_by_itself() {
    let widgets = Widgets::start(&["a"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    let trigger = watching(&gateway, &new_item()).await;
    let path = format!("/v1/triggers/{trigger}");
    widgets.server().key = "key-of-widgets-2";
    widgets.server().items.push(item("b"));
    widgets.pass(&gateway, &trigger).await;
    let shown = gateway.get(&path).await.data();
    assert_eq!(shown["state"], "waiting_for_connection", "{shown}");
    assert!(widgets.arrived().is_empty());

    widgets.connect(&gateway).await;
    widgets.clock.advance_ms(2 * MINUTE_MS);
    widgets.wait_for(&gateway, &["b"]).await;
    gateway
        .wait("the trigger to be well", async || {
            gateway.get(&path).await.data()["state"] == "active"
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_trigger_calls_nothing_and_tells_of_what_has_come_when_it_goes_on() {
    let widgets = Widgets::start(&["a"]).await;
    let gateway = widgets.gateway(widgets.options()).await;
    let trigger = watching(&gateway, &new_item()).await;
    let other = json!({"service": "widgets", "trigger": "untimed_item"});
    let other = watching(&gateway, &other).await;
    let paused = patch(&gateway, &trigger, json!({"paused": true})).await;
    assert_eq!(paused["state"], "paused", "{paused}");
    assert_eq!(paused["next_poll_at"], Value::Null, "{paused}");
    widgets.server().items.push(item("b"));
    let deleted = format!("/v1/triggers/{other}");
    let key = Some(gateway.key.as_str());
    let gone = gateway.send(Method::DELETE, &deleted, key, None).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(gateway.get(&deleted).await.code(), "not_found");

    // A third one is polled meanwhile, so that the loop has looked.
    let third = json!({"service": "widgets", "trigger": "new_item", "config": {"folder": "third"}});
    let before = calls_for(&widgets, "folder=inbox");
    watching(&gateway, &third).await;
    widgets.clock.advance_ms(MINUTE_MS);
    gateway
        .wait("a poll of the third one", async || {
            calls_for(&widgets, "folder=third") > 1
        })
        .await;
    assert_eq!(calls_for(&widgets, "folder=inbox"), before);

    let resumed = patch(&gateway, &trigger, json!({"paused": false})).await;
    assert_eq!(resumed["state"], "active", "{resumed}");
    widgets.wait_for(&gateway, &["b"]).await;
}

fn calls_for(widgets: &Widgets, part: &str) -> usize {
    let asked = widgets.api.received();
    asked.iter().filter(|one| one.target.contains(part)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wanted_from_a_time_on_arrives_although_it_was_there() {
    let widgets = Widgets::start(&["a"]).await;
    let mut old = item("old");
    old["at"] = json!("2026-11-18T09:00:00Z");
    widgets.server().items.push(old);
    let gateway = widgets.gateway(widgets.options()).await;
    let mut body = new_item();
    body["since"] = json!("2026-11-19T00:00:00Z");
    watching(&gateway, &body).await;
    widgets.wait_for(&gateway, &["a"]).await;
}
