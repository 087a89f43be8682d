//! SIGKILL of gateways again and again in the middle of polls, while the list grows with each page that is read; then
//! the books are checked: each item that came became one event, at the webhook and in the log, and none of those from
//! before did.
//!
//! `make kills KILLS=100` kills 100 times over 1,000 items.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use rand::RngExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_tests::gateway::PATIENCE;
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};
use toolgate_tests::settings::number;
use toolgate_tests::upstream::{Received, Upstream};

use super::{answered, built_of, description, item};

/// Kills of a run of all tests.
const KILLS: u64 = 3;
/// Items that come between two kills.
const ITEMS_PER_KILL: usize = 10;
/// Items that are there before the triggers are made: three pages.
const BEFORE: usize = 100;
/// Items of a page; a reading of 100 pages reaches all items of 300 kills.
const PAGE: usize = 40;
/// How long a page takes.
const PAGE_DELAY: Duration = Duration::from_millis(10);
/// A kill comes so many milliseconds after its item at most: within the request, the transaction or the next request.
const KILL_WITHIN_MS: u64 = 40;
const TOOL: &str = "widgets_list_items";
/// One that relies on nothing, and one that relies on the newest being first.
const TRIGGERS: [&str; 2] = ["new_item", "untimed_item"];

/// A list with the newest first in pages by place: they shift while they are read.
#[derive(Default)]
struct GrowingList {
    /// The oldest first. All have the same time.
    items: Vec<Value>,
    /// How many more come, in small numbers, each time a page was read.
    to_come: usize,
    pages_read: usize,
    /// How often the last page was read.
    ends_read: usize,
}

impl GrowingList {
    fn new(items: usize) -> Self {
        let mut list = Self {
            to_come: items,
            ..Self::default()
        };
        while list.to_come > 0 {
            list.grow();
        }
        list
    }

    fn answer(&mut self, request: &Received) -> Response<Body> {
        let after = request.target.split("after=").nth(1);
        let after = after.map(|text| text.split('&').next().unwrap_or(text));
        let from: usize = after.map_or(0, |text| text.parse().unwrap());
        let page: Vec<&Value> = self.items.iter().rev().skip(from).take(PAGE).collect();
        let end = from + page.len();
        let next = (end < self.items.len()).then(|| end.to_string());
        let body = json!({"items": page, "next": next});
        self.pages_read += 1;
        self.ends_read += usize::from(next.is_none());
        self.grow();
        answered(200, None, &body)
    }

    fn grow(&mut self) {
        let come = self.to_come.min(1 + self.pages_read % 3);
        self.to_come -= come;
        for _ in 0..come {
            let id = format!("item-{}", self.items.len());
            self.items.push(item(&id));
        }
    }
}

/// The ids of the events with which each item arrived, by its [`subject`].
type Told = BTreeMap<String, BTreeSet<String>>;

/// The type of an event and the id of its item, at the webhook and in the log.
fn subject(event: &Value) -> String {
    let kind = event["type"].as_str().unwrap();
    let item = event["data"]["event"]["id"].as_str().unwrap();
    format!("{kind} {item}")
}

struct World {
    installations: Vec<Installation>,
    processes: Vec<Process>,
    list: Arc<Mutex<GrowingList>>,
    told: Arc<Mutex<Told>>,
    /// The ids of the triggers.
    triggers: Vec<String>,
    /// Where the log began.
    cursor: String,
    _folder: TempDir,
}

impl World {
    /// Gateways with one database, and triggers that have read what is there although their process was killed meanwhile.
    async fn start(database_url: Option<String>, gateways: usize) -> Self {
        let folder = TempDir::new().unwrap();
        let list = Arc::new(Mutex::new(GrowingList::new(BEFORE)));
        let told = Arc::<Mutex<Told>>::default();
        let provider = provider(list.clone()).await;
        let hooks = receiver(told.clone()).await;
        let plugin = plugin().await;
        let installations = (0..gateways).map(|n| {
            let mut installation = Installation::new(&folder.path().join(n.to_string()), &[]);
            let file = installation.folder.join("plugins/widgets.wasm");
            std::fs::write(file, &plugin).unwrap();
            installation.database_url.clone_from(&database_url);
            if gateways > 1 {
                installation.master_key_file = Some(folder.path().join("master.key"));
            }
            installation.allow_upstream = vec![
                format!("api.widgets.io={}", provider.url()),
                format!("hooks.example.test={}", hooks.url()),
            ];
            installation
        });
        let installations: Vec<Installation> = installations.collect();
        let mut processes: Vec<Process> = Vec::new();
        for installation in &installations {
            if let Some(first) = processes.first() {
                // Keys are shown once; the others know them from the database.
                std::fs::write(installation.folder.join("key"), &first.key).unwrap();
            }
            processes.push(installation.serve(&[TOOL]).await);
        }
        let mut world = Self {
            installations,
            processes,
            list,
            told,
            triggers: Vec::new(),
            cursor: String::new(),
            _folder: folder,
        };
        world.watch().await;
        world
    }

    /// Makes the webhook and the triggers, switches the log on, and kills a process in the first reading.
    async fn watch(&mut self) {
        let process = &self.processes[0];
        let log = process.get("/v1/events").await.data();
        self.cursor = log["cursor"].as_str().unwrap().to_owned();
        let hook = json!({"url": "https://hooks.example.test/in", "events": ["trigger.*"]});
        let made = process.post("/v1/webhooks", &hook).await;
        assert_eq!(made.status, 201, "{}", made.text);
        for name in TRIGGERS {
            let body = json!({"service": "widgets", "trigger": name, "interval_s": 60});
            let made = process.post("/v1/triggers", &body).await;
            assert_eq!(made.status, 201, "{}", made.text);
            let id = made.data()["trigger_id"].as_str().unwrap().to_owned();
            self.triggers.push(id);
        }
        wait("the first reading", async || self.list().pages_read > 1).await;
        self.kill(0).await;
        wait("the end of the first reading", async || {
            self.hurry(0).await;
            let shown = self.shown(0).await;
            shown.iter().all(|one| one["watching_since"].is_string())
        })
        .await;
    }

    fn list(&self) -> MutexGuard<'_, GrowingList> {
        self.list.lock().unwrap()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap()
    }

    async fn shown(&self, n: usize) -> Vec<Value> {
        let mut shown = Vec::new();
        for id in &self.triggers {
            let path = format!("/v1/triggers/{id}");
            shown.push(self.processes[n].get(&path).await.data());
        }
        shown
    }

    /// Makes a trigger due at once, also one that a dead process has leased, and wakes the gateway that is asked.
    async fn make_due(&self, n: usize, id: &str) {
        let path = format!("/v1/triggers/{id}");
        let same = json!({"interval_s": 60});
        let process = &self.processes[n];
        let changed = process.send(Method::PATCH, &path, Some(&same)).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
    }

    /// Does so with the triggers whose poll has ended: only a change makes one due at the time of the change.
    async fn hurry(&self, n: usize) {
        for shown in self.shown(n).await {
            let id = shown["trigger_id"].as_str().unwrap();
            if shown["next_poll_at"] != shown["updated_at"] {
                self.make_due(n, id).await;
            }
        }
    }

    async fn kill(&mut self, n: usize) {
        let process = self.processes.remove(n);
        process.kill().await;
        let again = self.installations[n].serve(&[TOOL]).await;
        self.processes.insert(n, again);
        // The dead process keeps its leases for two minutes otherwise.
        for id in &self.triggers {
            self.make_due(n, id).await;
        }
    }

    /// Kills a gateway while it reads what has just come.
    async fn kill_in_poll(&mut self, n: usize) {
        let left = rand::rng().random_range(0..ITEMS_PER_KILL);
        self.list().to_come += ITEMS_PER_KILL;
        wait("the list to grow", async || {
            self.hurry(n).await;
            self.list().to_come <= left
        })
        .await;
        let after_ms = rand::rng().random_range(0..=KILL_WITHIN_MS);
        tokio::time::sleep(Duration::from_millis(after_ms)).await;
        self.kill(n).await;
    }

    /// Polls until the webhook has received this many items, then once more to the end of the list.
    async fn settle(&self, expected: usize) {
        wait("all items to come", async || {
            self.hurry(0).await;
            self.list().to_come == 0
        })
        .await;
        // As long as more arrives there is no need to give up.
        let (mut told, mut since, mut turn) = (0, Instant::now(), 0);
        while told < expected {
            let goes_on = since.elapsed() < PATIENCE;
            assert!(goes_on, "{told} of {expected} arrived");
            turn += 1;
            self.hurry(turn % self.processes.len()).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
            let now = self.told().len();
            if now > told {
                (told, since) = (now, Instant::now());
            }
        }
        let ends = self.list().ends_read + 2;
        wait("the list to be read again", async || {
            self.hurry(0).await;
            self.list().ends_read >= ends
        })
        .await;
    }

    /// Everything that the log has of the triggers.
    async fn logged(&self) -> BTreeMap<String, Vec<String>> {
        let mut logged: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut cursor = self.cursor.clone();
        loop {
            let path = format!("/v1/events?types=trigger.*&limit=100&cursor={cursor}");
            let page = self.processes[0].get(&path).await.data();
            assert_eq!(page["truncated"], false, "{path}");
            for event in page["events"].as_array().unwrap() {
                let id = event["event_id"].as_str().unwrap().to_owned();
                logged.entry(subject(event)).or_default().push(id);
            }
            if page["has_more"] == false {
                return logged;
            }
            cursor = page["cursor"].as_str().unwrap().to_owned();
        }
    }

    /// Compares what came with what was told.
    async fn check(&self) {
        let mut expected = BTreeSet::new();
        for item in &self.list().items[BEFORE..] {
            let id = item["id"].as_str().unwrap();
            expected.extend(TRIGGERS.map(|name| format!("trigger.widgets.{name} {id}")));
        }
        let told = self.told().clone();
        let logged = self.logged().await;
        let heard: BTreeSet<String> = told.keys().cloned().collect();
        let lost: Vec<&String> = expected.difference(&heard).collect();
        let from_before: Vec<&String> = heard.difference(&expected).collect();
        assert!(lost.is_empty(), "{lost:?}");
        assert!(from_before.is_empty(), "{from_before:?}");
        let twice: Vec<_> = told.iter().filter(|(_, ids)| ids.len() > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let told = told.into_iter();
        let told = told.map(|(item, ids)| (item, Vec::from_iter(ids)));
        let told: BTreeMap<String, Vec<String>> = told.collect();
        assert_eq!(logged, told, "the log and the webhook are told the same");
        let each = expected.len() / TRIGGERS.len();
        for shown in self.shown(0).await {
            assert_eq!(shown["items_found"], each, "{shown}");
        }
    }
}

async fn provider(list: Arc<Mutex<GrowingList>>) -> Upstream {
    let answering = move |request: &Received| {
        tokio::task::block_in_place(|| std::thread::sleep(PAGE_DELAY));
        list.lock().unwrap().answer(request)
    };
    Upstream::start(answering).await
}

/// Takes every delivery, and notes under which id each item came.
async fn receiver(told: Arc<Mutex<Told>>) -> Upstream {
    let noting = move |request: &Received| {
        let event: Value = serde_json::from_str(&request.body).unwrap();
        let mut headers = request.headers.iter();
        let id = headers.find(|(name, _)| name == "webhook-id").unwrap();
        let mut told = told.lock().unwrap();
        let ids = told.entry(subject(&event)).or_default();
        ids.insert(id.1.clone());
        answered(200, None, &json!({}))
    };
    Upstream::start(noting).await
}

/// The service without a sign-in.
async fn plugin() -> Vec<u8> {
    let mut open = description();
    let fields = open.as_object_mut().unwrap();
    fields.remove("security");
    fields.remove("components");
    built_of(&open).await
}

async fn run(mut world: World) {
    let kills = number("TOOLGATE_TEST_KILLS", KILLS);
    for kill in 0..kills {
        let n = kill as usize % world.processes.len();
        world.kill_in_poll(n).await;
    }
    let came = kills as usize * ITEMS_PER_KILL;
    world.settle(came * TRIGGERS.len()).await;
    world.check().await;
    println!("{kills} kills, {came} items: each told of once by {TRIGGERS:?}, none from before");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_tell_of_each_item_once_on_sqlite() {
    run(World::start(None, 1).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_tell_of_each_item_once_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    run(World::start(Some(url.await.unwrap()), 2).await).await;
}
