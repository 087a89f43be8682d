//! SIGKILL of gateways again and again under a mixed load, and the loss of the database's primary; then the
//! books are checked: what was acknowledged is there, and no write reached the service twice.
//!
//! `make kills KILLS=200` kills more often than a run of all tests, and waits at the end until nothing is
//! in progress any more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use axum::body::Body;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use toolgate_openapi::{self as openapi, BuildInput};
use toolgate_tests::gateway::{Answer, client};
use toolgate_tests::patroni::Patroni;
use toolgate_tests::pooler::Pooler;
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};
use toolgate_tests::upstream::Upstream;

/// Kills of a run of all tests.
const KILLS: usize = 5;
const CLIENTS: usize = 6;
/// Between two requests of a client, so that checking keeps up with the load.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a claim of a dead process is held, and a little more.
const CLAIMS_END_WITHIN: Duration = Duration::from_secs(200);
const WRITE: &str = "notes_create_note";

/// What the clients were told.
#[derive(Default)]
struct Books {
    /// Answered executions whose receipt has not been looked at yet.
    executions: BTreeSet<String>,
    /// Answered Skills that have not been looked at yet.
    skills: Vec<String>,
    /// Writes by their Idempotency-Key that got no answer, or not a final one.
    open: BTreeSet<String>,
    /// Answered writes, with the execution that did each.
    written: BTreeMap<String, String>,
    /// Writes of which the gateway says that it does not know what became of them.
    unknown: BTreeSet<String>,
    wrong: Vec<String>,
}

#[derive(Clone, Default)]
struct SharedBooks(Arc<Mutex<Books>>);

impl SharedBooks {
    fn open(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap()
    }
}

/// A service `notes` whose writes name themselves in their path, so that receipts and the service can
/// be compared.
async fn plugin(folder: &TempDir) -> Vec<u8> {
    let answer = json!({ "200": { "description": "Done." } });
    let id =
        json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } });
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Notes", "version": "1.0.0" },
        "servers": [{ "url": "https://api.notes.io" }],
        "paths": {
            "/notes": { "get": { "operationId": "list_notes", "responses": answer } },
            "/notes/{id}": { "post": { "operationId": "create_note", "parameters": [id], "responses": answer } },
        },
    });
    let description = folder.path().join("notes.json");
    std::fs::write(&description, document.to_string()).unwrap();
    let input = BuildInput {
        description,
        ..BuildInput::default()
    };
    let handle = tokio::runtime::Handle::current();
    let built = tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input)));
    built.await.unwrap().unwrap().wasm
}

/// One client of one gateway.
struct LoadClient {
    base: String,
    key: String,
    books: SharedBooks,
    client: reqwest::Client,
}

impl LoadClient {
    /// Nothing: the process was killed before it had answered.
    async fn send(
        &self,
        path: &str,
        idempotency_key: Option<&str>,
        body: &Value,
    ) -> Option<Answer> {
        let mut request = self
            .client
            .post(format!("{}{path}", self.base))
            .bearer_auth(&self.key)
            .header("content-type", "application/json");
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let response = request.body(body.to_string()).send().await.ok()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.ok()?;
        Some(Answer {
            status,
            headers,
            text,
        })
    }

    async fn write(&self, id: &str) {
        self.books.open().open.insert(id.to_owned());
        let path = format!("/v1/tools/{WRITE}/execute");
        let body = json!({ "arguments": { "id": id } });
        let Some(answer) = self.send(&path, Some(id), &body).await else {
            return;
        };
        let mut books = self.books.open();
        match answer.status {
            200 => {
                let data = answer.data();
                let execution = data["execution_id"].as_str().unwrap().to_owned();
                if data["status"] != "success" {
                    books.wrong.push(format!("{id}: {}", answer.text));
                }
                books.open.remove(id);
                books.executions.insert(execution.clone());
                books.written.insert(id.to_owned(), execution);
            }
            409 if answer.code() == "outcome_unknown" => {
                books.open.remove(id);
                books.unknown.insert(id.to_owned());
            }
            409 if answer.code() == "in_progress" => {}
            // Plugins are loading, or the gateway leaves.
            404 | 503 => {}
            _ => books.wrong.push(format!("{id}: {}", answer.text)),
        }
    }

    async fn read(&self) {
        let path = "/v1/tools/notes_list_notes/execute";
        let answer = self.send(path, None, &json!({ "arguments": {} })).await;
        let Some(answer) = answer else { return };
        let mut books = self.books.open();
        match answer.status {
            200 => {
                let data = answer.data();
                let execution = data["execution_id"].as_str().unwrap().to_owned();
                books.executions.insert(execution);
            }
            404 | 503 => {}
            _ => books.wrong.push(answer.text),
        }
    }

    async fn make_skill(&self, name: &str) {
        let body = json!({ "name": name, "summary": "For a test", "instructions": "Look." });
        let Some(answer) = self.send("/v1/skills", None, &body).await else {
            return;
        };
        let mut books = self.books.open();
        match answer.status {
            201 => {
                let id = answer.data()["skill_id"].as_str().unwrap().to_owned();
                books.skills.push(id);
            }
            503 => {}
            _ => books.wrong.push(format!("{name}: {}", answer.text)),
        }
    }
}

struct World {
    installations: Vec<Installation>,
    processes: Vec<Process>,
    upstream: Upstream,
    books: SharedBooks,
    _folder: TempDir,
}

impl World {
    /// With the service's own file in the folder of each gateway.
    async fn start(database_url: Option<String>, gateways: usize) -> Self {
        let folder = TempDir::new().unwrap();
        let upstream = Upstream::start(|_| axum::http::Response::new(Body::from("{}"))).await;
        let plugin = plugin(&folder).await;
        let installations = (0..gateways).map(|n| {
            let mut installation = Installation::new(&folder.path().join(n.to_string()), &[]);
            let file = installation.folder.join("plugins/notes.wasm");
            std::fs::write(file, &plugin).unwrap();
            installation.database_url.clone_from(&database_url);
            if gateways > 1 {
                installation.master_key_file = Some(folder.path().join("master.key"));
            }
            installation.allow_upstream = vec![format!("api.notes.io={}", upstream.url())];
            installation
        });
        let installations: Vec<Installation> = installations.collect();
        let mut processes: Vec<Process> = Vec::new();
        for installation in &installations {
            if let Some(first) = processes.first() {
                // Keys are shown once; the others know them from the database.
                std::fs::write(installation.folder.join("key"), &first.key).unwrap();
            }
            processes.push(installation.serve(&[WRITE]).await);
        }
        Self {
            installations,
            processes,
            upstream,
            books: SharedBooks::default(),
            _folder: folder,
        }
    }

    fn client(&self, n: usize) -> LoadClient {
        let process = &self.processes[n % self.processes.len()];
        LoadClient {
            base: process.base.clone(),
            key: process.key.clone(),
            books: self.books.clone(),
            client: client(),
        }
    }

    async fn kill(&mut self, n: usize) {
        let process = self.processes.remove(n);
        process.kill().await;
        let again = self.installations[n].serve(&[WRITE]).await;
        self.processes.insert(n, again);
    }

    /// Looks for everything that was acknowledged since the last time, at the gateway that was killed.
    async fn check(&self, n: usize) {
        let process = &self.processes[n];
        let (executions, skills, open) = {
            let mut books = self.books.open();
            let executions = std::mem::take(&mut books.executions);
            let skills = std::mem::take(&mut books.skills);
            (executions, skills, books.open.clone())
        };
        let executions = Mutex::new(executions);
        // What the dead process had only in its log is in the database in a moment.
        wait("the receipts of answered calls", async || {
            self.find(n, &executions).await;
            executions.lock().unwrap().is_empty()
        })
        .await;
        for id in skills {
            let path = format!("/v1/skills/{id}");
            let kept = process.get(&path).await;
            assert_eq!(kept.status, 200, "{id}: {}", kept.text);
            let deleted = process.send(Method::DELETE, &path, None).await;
            assert_eq!(deleted.status, 200, "{id}: {}", deleted.text);
        }
        let client = self.client(n);
        for id in open {
            client.write(&id).await;
        }
        let wrong = std::mem::take(&mut self.books.open().wrong);
        let begin = &wrong[..wrong.len().min(5)];
        assert!(wrong.is_empty(), "{begin:#?}\n{}", self.errors());
    }

    /// Takes those out whose receipts are listed, looking at the newest ones first.
    async fn find(&self, n: usize, executions: &Mutex<BTreeSet<String>>) {
        let mut next = String::new();
        while !executions.lock().unwrap().is_empty() {
            let path = format!("/v1/executions?limit=100&status=success{next}");
            let page = self.processes[n].get(&path).await.data();
            let mut wanted = executions.lock().unwrap();
            for receipt in page["executions"].as_array().unwrap() {
                wanted.remove(receipt["execution_id"].as_str().unwrap());
            }
            match page["next_cursor"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => return,
            }
        }
    }

    /// Lines of the gateways' logs that tell of an error.
    fn errors(&self) -> String {
        let logs = self.installations.iter().map(Installation::log);
        let logs: Vec<String> = logs.collect();
        let lines = logs.iter().flat_map(|log| log.lines());
        let lines = lines.filter(|line| line.contains("ERROR")).take(20);
        lines.collect::<Vec<_>>().join("\n")
    }

    /// How often each write reached the service.
    fn arrived(&self) -> BTreeMap<String, usize> {
        let mut arrived = BTreeMap::new();
        for request in self.upstream.received() {
            if request.method == "POST" {
                *arrived.entry(request.target).or_default() += 1;
            }
        }
        arrived
    }

    /// The paths of all receipts of writes.
    async fn receipts(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        let mut next = String::new();
        loop {
            let path = format!("/v1/executions?tool_name={WRITE}&limit=100{next}");
            let page = self.processes[0].get(&path).await.data();
            for receipt in page["executions"].as_array().unwrap() {
                let requests = receipt["requests"].as_array().unwrap();
                paths.extend(
                    requests
                        .iter()
                        .map(|it| it["path"].as_str().unwrap().to_owned()),
                );
            }
            match page["next_cursor"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => return paths,
            }
        }
    }
}

/// Clients that call until they are told to stop.
struct Load {
    stop: Arc<AtomicBool>,
    sent: Arc<AtomicUsize>,
    clients: Vec<JoinHandle<()>>,
}

impl Load {
    fn start(world: &World) -> Self {
        let (stop, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let clients = (0..CLIENTS).map(|n| {
            let (client, stop, sent) = (world.client(n), stop.clone(), sent.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let n = sent.fetch_add(1, Ordering::Relaxed);
                    match n % 8 {
                        0..4 => client.write(&format!("note-{n}")).await,
                        4..7 => client.read().await,
                        _ => client.make_skill(&format!("Skill {n}")).await,
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            })
        });
        let clients = clients.collect();
        Self {
            stop,
            sent,
            clients,
        }
    }

    /// Ends the clients and balances the books; says what is in them. `settled`: only once no write is
    /// in progress.
    async fn end(self, world: &World, settled: bool) -> String {
        self.stop.store(true, Ordering::Relaxed);
        for client in self.clients {
            client.await.unwrap();
        }
        for n in 0..world.processes.len() {
            world.check(n).await;
        }
        let end = Instant::now() + CLAIMS_END_WITHIN;
        while settled && !world.books.open().open.is_empty() {
            assert!(Instant::now() < end, "{:?}", world.books.open().open);
            tokio::time::sleep(Duration::from_secs(2)).await;
            world.check(0).await;
        }
        let arrived = world.arrived();
        let twice: Vec<_> = arrived.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        let receipts = world.receipts().await;
        let without = arrived.keys().filter(|path| !receipts.contains(*path));
        let without: Vec<_> = without.collect();
        assert!(without.is_empty(), "left without a receipt: {without:?}");
        let books = world.books.open();
        for id in books.written.keys() {
            let path = format!("/notes/{id}");
            assert_eq!(arrived.get(&path), Some(&1), "{id} was answered");
        }
        assert!(books.written.len() > 10, "the test was about something");
        format!(
            "{} requests of clients: {} writes answered, each done once and with its receipt; of {} the outcome is unknown, {} in progress",
            self.sent.load(Ordering::Relaxed),
            books.written.len(),
            books.unknown.len(),
            books.open.len(),
        )
    }
}

/// Kills gateways in turn while clients of all of them go on.
async fn run(mut world: World) {
    let asked = std::env::var("TOOLGATE_TEST_KILLS").ok();
    let kills = asked.as_ref().map_or(KILLS, |text| text.parse().unwrap());
    let load = Load::start(&world);
    for kill in 0..kills {
        // At another point of the work each time.
        let after = Duration::from_millis(100 + (kill as u64 * 37) % 200);
        tokio::time::sleep(after).await;
        let n = kill % world.processes.len();
        world.kill(n).await;
        world.check(n).await;
    }
    let books = load.end(&world, asked.is_some()).await;
    println!("{kills} kills, {books}");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_on_sqlite() {
    run(World::start(None, 1).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    run(World::start(Some(url.await.unwrap()), 2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_behind_pgbouncer() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let pooler = Pooler::start(&url).await;
    run(World::start(Some(pooler.url.clone()), 2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_gateways_lose_nothing_and_write_nothing_twice_behind_pgbouncer_in_transaction_mode()
{
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let pooler = Pooler::start_in_transaction_mode(&url, 200).await;
    run(World::start(Some(pooler.url.clone()), 2).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_primary_of_postgresql_loses_nothing_and_gateways_go_on_by_themselves() {
    let cluster = Patroni::start().await;
    let world = World::start(Some(cluster.url.clone()), 3).await;
    let load = Load::start(&world);
    let written = || world.books.open().written.len();
    wait("writes", async || written() > 50).await;
    cluster.lose_primary().await;
    let lost = Instant::now();
    // What was under way may still be answered.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = written();
    wait("writes after the loss", async || written() > before + 50).await;
    let recovered = lost.elapsed();
    let settled = std::env::var_os("TOOLGATE_TEST_KILLS").is_some();
    let books = load.end(&world, settled).await;
    println!("writes went on {recovered:.1?} after the loss of the primary; {books}");
}
