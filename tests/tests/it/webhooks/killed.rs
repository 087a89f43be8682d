//! Nothing is lost when the process is killed: many events to five endpoints while the sending
//! process dies again and again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use toolgate_core::states::DeliveryStatus;
use toolgate_store::Store;
use toolgate_tests::gateway::client;
use toolgate_tests::postgres;
use toolgate_tests::process::program;
use toolgate_tests::receiver::Receiver;

/// How many events, unless `TOOLGATE_WEBHOOK_EVENTS` says another number.
const EVENTS: usize = 1_000;
const KILLS: usize = 5;
const HEALTHY: [&str; 3] = ["/ok/a", "/ok/b", "/slow/c"];
/// For everything; a machine that is slower than this shows nothing either way.
const PATIENCE: Duration = Duration::from_secs(900);

fn events() -> usize {
    std::env::var("TOOLGATE_WEBHOOK_EVENTS").map_or(EVENTS, |number| {
        number.parse().expect("TOOLGATE_WEBHOOK_EVENTS is a number")
    })
}

/// A gateway process that can be killed.
struct Process {
    child: Child,
    rest: String,
    key: Option<String>,
}

impl Process {
    async fn start(data: &Path, database_url: Option<&str>, upstream: &str) -> Self {
        std::fs::create_dir_all(data.join("plugins")).unwrap();
        let mut command = Command::new(program());
        command
            .args(["--json", "serve", "--dev", "--listen", "127.0.0.1:0"])
            .args(["--allow-upstream", upstream])
            .arg("--master-key-file")
            .arg(data.with_file_name("master.key"))
            .arg("--data-dir")
            .arg(data.join("data"))
            .arg("--plugins-dir")
            .arg(data.join("plugins"));
        if let Some(url) = database_url {
            command.args(["--database-url", url]);
        }
        let mut child = command
            .env("TOOLGATE_LOG", "error")
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdout = child.stdout.take().unwrap();
        let mut lines = BufReader::new(stdout).lines();
        let mut announced = String::new();
        let announced: Value = loop {
            let line = lines.next_line().await.unwrap();
            announced.push_str(&line.expect("it says where it serves"));
            if let Ok(whole) = serde_json::from_str(&announced) {
                break whole;
            }
        };
        Self {
            child,
            rest: announced["rest"].as_str().unwrap().to_owned(),
            key: announced["key"].as_str().map(str::to_owned),
        }
    }

    /// As the kernel kills: at once, without a word.
    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

async fn post(rest: &str, key: &str, path: &str, body: &Value) -> Option<Value> {
    let answer = client()
        .post(format!("{rest}{path}"))
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .ok()?;
    serde_json::from_str(&answer.text().await.ok()?).ok()
}

async fn make_webhook(receiver: &Receiver, rest: &str, key: &str, path: &str) -> String {
    let body = json!({
        "url": format!("https://hooks.example.test{path}"),
        "events": ["skill.created"],
    });
    let made = post(rest, key, "/webhooks", &body).await.unwrap();
    let secret = made["data"]["secret"].as_str().expect("a secret");
    receiver.trust(path, &[secret]).await.unwrap();
    made["data"]["webhook_id"].as_str().unwrap().to_owned()
}

/// Changes that make events, whoever serves at the moment; a change whose answer a kill swallowed
/// may have happened or not, and so may its event.
async fn make_changes(
    mut rest: tokio::sync::watch::Receiver<String>,
    key: String,
    made: Arc<AtomicUsize>,
    wanted: usize,
) {
    while made.load(Ordering::SeqCst) < wanted {
        let now = rest.borrow_and_update().clone();
        let body = json!({ "name": "n", "summary": "s", "instructions": "i" });
        match post(&now, &key, "/skills", &body).await {
            Some(answer) if answer["success"] == true => {
                made.fetch_add(1, Ordering::SeqCst);
            }
            Some(other) => panic!("{other}"),
            // Until the next process says where it serves.
            None => rest.changed().await.expect("the test goes on"),
        }
    }
}

async fn nothing_is_lost(database_url: Option<String>) {
    let started = std::time::Instant::now();
    let wanted = events();
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(0.005).await.unwrap();
    let upstream = receiver.upstream();
    let home = folder.path().join("one");
    let start = || Process::start(&home, database_url.as_deref(), &upstream);
    let mut process = start().await;
    let key = process.key.clone().expect("the first start makes a key");

    let mut ids = BTreeMap::new();
    for path in HEALTHY.into_iter().chain(["/failing/d", "/gone/e"]) {
        let id = make_webhook(&receiver, &process.rest, &key, path).await;
        ids.insert(path, id);
    }
    let (told, rest) = tokio::sync::watch::channel(process.rest.clone());
    let made = Arc::new(AtomicUsize::new(0));
    let makers: Vec<_> = (0..4)
        .map(|_| {
            tokio::spawn(make_changes(
                rest.clone(),
                key.clone(),
                made.clone(),
                wanted,
            ))
        })
        .collect();

    let received = async || {
        let all = receiver.arrived().await.unwrap();
        let of = |path: &str| all.get(path).map_or(0, Vec::len);
        HEALTHY.into_iter().map(of).min().unwrap_or_default()
    };
    for kill in 1..=KILLS {
        // Spread over the whole, and while something is under way at each healthy endpoint.
        let at = wanted * kill / (KILLS + 1);
        wait("deliveries to kill in", async || received().await >= at).await;
        process.kill().await;
        process = start().await;
        told.send(process.rest.clone()).unwrap();
    }
    for maker in makers {
        maker.await.unwrap();
    }

    let url = match &database_url {
        Some(url) => url.clone(),
        None => format!("sqlite://{}", home.join("data/toolgate.db").display()),
    };
    let store = Store::open(&url).await.unwrap();
    let workspace = store.first_workspace().await.unwrap().unwrap();
    let changed = skills(&store, &workspace.id).await;
    assert!(changed.len() >= wanted);
    all_arrived(&receiver, &HEALTHY, &changed).await;

    let all = receiver.arrived().await.unwrap();
    let mut report = Vec::new();
    for path in HEALTHY {
        let arrived = &all[path];
        assert!(arrived.iter().all(|one| one.verified == [true]), "{path}");
        let mut by_id: HashMap<&str, usize> = HashMap::new();
        let mut in_order: Vec<&str> = Vec::new();
        for one in arrived {
            let times = by_id.entry(&one.id).or_default();
            *times += 1;
            if *times == 1 {
                in_order.push(&one.id);
            }
        }
        let skills: BTreeSet<String> = arrived
            .iter()
            .map(|one| one.event["data"]["skill_id"].as_str().unwrap().to_owned())
            .collect();
        // Each change that is in the database arrived, as one event; nothing else did.
        assert_eq!(skills, changed, "{path}");
        assert_eq!(by_id.len(), changed.len(), "{path}");
        // One delivery was under way at each kill.
        let twice = arrived.len() - by_id.len();
        assert!(twice <= KILLS, "{path}: {twice} duplicates");
        report.push(format!("{path}: {} events, {twice} twice", by_id.len()));
        // What one process wrote arrives in its order; SQLite has one writer at a time.
        if database_url.is_none() {
            let rows = order_of(&store, &workspace.id, &ids[path]).await;
            assert_eq!(in_order, rows, "{path}");
        }
    }
    let gone = store.find_webhook(&workspace.id, &ids["/gone/e"]).await;
    let gone = gone.unwrap().unwrap();
    assert_eq!(
        (gone.enabled, gone.disabled_reason.as_deref()),
        (false, Some("gone"))
    );
    assert_eq!(all["/gone/e"].len(), 1, "410 is the last word");
    let failing = store.find_webhook(&workspace.id, &ids["/failing/d"]).await;
    let failing = failing.unwrap().unwrap();
    assert!(failing.enabled && failing.failing_since_ms.is_some());
    println!(
        "{} changes, {KILLS} kills, {} s; {}; /failing/d: {} attempts; /gone/e: {} attempt",
        changed.len(),
        started.elapsed().as_secs(),
        report.join("; "),
        all["/failing/d"].len(),
        all["/gone/e"].len(),
    );
    process.kill().await;
    store.close().await;
}

/// What was really changed.
async fn skills(store: &Store, workspace_id: &str) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    loop {
        let page = store.list_skills(workspace_id, "", 1_000, changed.len());
        let (skills, total) = page.await.unwrap();
        changed.extend(skills.into_iter().map(|skill| skill.id));
        if changed.len() == usize::try_from(total).unwrap() {
            return changed;
        }
    }
}

/// Returns once every endpoint has heard of every change.
async fn all_arrived(receiver: &Receiver, paths: &[&str], changed: &BTreeSet<String>) {
    wait("every event at every healthy endpoint", async || {
        let all = receiver.arrived().await.unwrap();
        paths.iter().all(|path| {
            let of = all.get(*path).map_or(&[][..], Vec::as_slice);
            let skills: BTreeSet<&str> = of
                .iter()
                .filter_map(|one| one.event["data"]["skill_id"].as_str())
                .collect();
            skills.len() >= changed.len()
        })
    })
    .await;
}

/// Event ids in the order in which they were written for a webhook.
async fn order_of(store: &Store, workspace_id: &str, webhook_id: &str) -> Vec<String> {
    let mut rows = Vec::new();
    let mut after = None;
    loop {
        let page = store.list_deliveries(workspace_id, webhook_id, None, after.as_ref(), 1_000);
        let page = page.await.unwrap();
        rows.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    rows.sort_by_key(|row| row.seq);
    rows.into_iter().map(|row| row.event_id).collect()
}

async fn wait(what: &str, holds: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    assert!(waited.is_ok(), "waited in vain for {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_on_sqlite() {
    nothing_is_lost(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    nothing_is_lost(Some(url)).await;
}

/// Of the shared queue: long enough at each delivery that a lease is seen.
const SHARED: [&str; 4] = ["/slow/a", "/slow/b", "/slow/c", "/slow/d"];
const SLOW_S: f64 = 0.02;
/// Changes on each process after both have been seen to send.
const CHANGES: usize = 60;

/// Who sends at the moment, by the leases in the database.
async fn senders(store: &Store, workspace_id: &str, seen: &mut BTreeSet<String>) {
    let webhooks = store.list_webhooks(workspace_id).await.unwrap();
    seen.extend(webhooks.into_iter().filter_map(|row| row.lease_owner));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_share_one_queue_and_one_of_them_is_killed() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let receiver = Receiver::start(SLOW_S).await.unwrap();
    let upstream = receiver.upstream();
    let start = async |name: &str| {
        let home = folder.path().join(name);
        Process::start(&home, Some(&url), &upstream).await
    };
    let one = start("one").await;
    let key = one.key.clone().expect("the first start makes a key");
    let two = start("two").await;
    for path in SHARED {
        make_webhook(&receiver, &one.rest, &key, path).await;
    }
    let store = Store::open(&url).await.unwrap();
    let workspace = store.first_workspace().await.unwrap().unwrap();

    // Changes now here, now there, until both processes have been seen to send.
    let (mut seen, mut made) = (BTreeSet::new(), 0);
    let body = json!({ "name": "n", "summary": "s", "instructions": "i" });
    let both = tokio::time::timeout(PATIENCE, async {
        while seen.len() < 2 {
            let rest = if made % 2 == 0 { &one.rest } else { &two.rest };
            let answer = post(rest, &key, "/skills", &body).await.unwrap();
            assert_eq!(answer["success"], true, "{answer}");
            made += 1;
            let path = SHARED[0];
            while receiver.at(path).await.len() < made {
                senders(&store, &workspace.id, &mut seen).await;
            }
        }
    });
    assert!(both.await.is_ok(), "one alone sent all {made}: {seen:?}");

    // Both make changes at once; one dies while something is under way.
    let makers: Vec<_> = [&one, &two]
        .map(|process| {
            let (told, rest) = tokio::sync::watch::channel(process.rest.clone());
            let count = Arc::new(AtomicUsize::new(0));
            let making = make_changes(rest, key.clone(), count, CHANGES);
            (told, tokio::spawn(making))
        })
        .into();
    wait("a third to have arrived", async || {
        receiver.at(SHARED[0]).await.len() >= made + CHANGES / 3
    })
    .await;
    two.kill().await;
    // Whoever asked the dead one goes on asking the other.
    for (told, maker) in makers {
        let _ = told.send(one.rest.clone());
        maker.await.unwrap();
    }
    let changed = skills(&store, &workspace.id).await;
    assert!(changed.len() >= made + 2 * CHANGES);
    all_arrived(&receiver, &SHARED, &changed).await;
    wait("the queue to be empty", async || {
        let states = states(&store, &workspace.id).await;
        states
            .iter()
            .all(|state| *state == DeliveryStatus::Delivered)
    })
    .await;

    let all = receiver.arrived().await.unwrap();
    let mut report = Vec::new();
    for path in SHARED {
        let arrived = &all[path];
        assert!(arrived.iter().all(|one| one.verified == [true]), "{path}");
        let ids: BTreeSet<&str> = arrived.iter().map(|one| one.id.as_str()).collect();
        let skills: BTreeSet<String> = arrived
            .iter()
            .map(|one| one.event["data"]["skill_id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(skills, changed, "{path}");
        assert_eq!(ids.len(), changed.len(), "{path}");
        // The one delivery that was under way.
        let twice = arrived.len() - ids.len();
        assert!(twice <= 1, "{path}: {twice} duplicates");
        report.push(format!("{path}: {} events, {twice} twice", ids.len()));
    }
    println!(
        "two processes, {made} changes by turns and {} at once, one killed; {}",
        changed.len() - made,
        report.join("; ")
    );
    one.kill().await;
    store.close().await;
}

/// What became of every delivery.
async fn states(store: &Store, workspace_id: &str) -> Vec<DeliveryStatus> {
    let mut states = Vec::new();
    for webhook in store.list_webhooks(workspace_id).await.unwrap() {
        let mut after = None;
        loop {
            let page =
                store.list_deliveries(workspace_id, &webhook.id, None, after.as_ref(), 1_000);
            let page = page.await.unwrap();
            states.extend(page.items.into_iter().map(|row| row.state));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    states
}
