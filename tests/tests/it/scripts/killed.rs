//! SIGKILL of gateways in the middle of scripts with ten writes, and again while the run is resumed; then the books are
//! checked: each write reached the provider once, or the script was told that its outcome is unknown.
//!
//! `TOOLGATE_TEST_KILLS=100` kills 100 times.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rand::RngExt as _;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_tests::gateway::{Answer, PATIENCE};
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};
use toolgate_tests::settings::number;
use toolgate_tests::upstream::Upstream;

use super::{RUN, WRITE, answer, built_of, path_of, shop, written};

/// Kills of a run of all tests.
const KILLS: u64 = 3;
/// Writes of a script.
const WRITES: usize = 10;
/// How long the provider takes for one.
const WRITE_DELAY: Duration = Duration::from_millis(10);
/// A kill comes so many milliseconds after its write at most: within the call, its receipt, the journal or the next call.
const KILL_WITHIN_MS: u64 = 40;
/// Half of the writes wait for each other, the others do not.
const SCRIPT: &str = r#"async function write(n) {
  try {
    await shop.createNote({ text: `${args.name} ${n}` });
    return "done";
  } catch (error) {
    return error.code;
  }
}
const ends = [];
for (let n = 0; n < args.writes / 2; n++) ends.push(await write(n));
const rest = Array.from({ length: args.writes / 2 }, (_, n) => write(n + args.writes / 2));
export default [...ends, ...(await Promise.all(rest))];
"#;

struct KilledWorld {
    installations: Vec<Installation>,
    processes: Vec<Process>,
    api: Upstream,
    /// SQLite in the data folder where absent.
    database_url: Option<String>,
    runs: usize,
    unknown: usize,
    _folder: TempDir,
}

impl KilledWorld {
    /// Gateways with one database, and code mode on.
    async fn start(database_url: Option<String>, gateways: usize) -> Self {
        let folder = TempDir::new().unwrap();
        let api = Upstream::start(|request| {
            tokio::task::block_in_place(|| std::thread::sleep(WRITE_DELAY));
            answer(request)
        })
        .await;
        let plugin = built_of("shop", &shop()).await;
        let installations = (0..gateways).map(|n| {
            let mut installation = Installation::new(&folder.path().join(n.to_string()), &[]);
            let file = installation.folder.join("plugins/shop.wasm");
            std::fs::write(file, &plugin).unwrap();
            installation.database_url.clone_from(&database_url);
            if gateways > 1 {
                installation.master_key_file = Some(folder.path().join("master.key"));
            }
            installation.allow_upstream = vec![format!("api.shop.io={}", api.url())];
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
        let create = ["key", "create", "--name", "admin", "--scopes", "admin"];
        let admin = installations[0].run(&create).await;
        let admin = admin["key"].as_str().unwrap().to_owned();
        let own = std::mem::replace(&mut processes[0].key, admin);
        let body = json!({"enabled": true});
        let on = processes[0].send(Method::PUT, "/v1/code-mode", Some(&body));
        let on = on.await;
        assert_eq!(on.status, 200, "{}", on.text);
        processes[0].key = own;
        Self {
            installations,
            processes,
            api,
            database_url,
            runs: 0,
            unknown: 0,
            _folder: folder,
        }
    }

    /// How many writes of this name have arrived.
    fn arrived(&self, name: &str) -> usize {
        let written = written(&self.api).into_iter();
        let begin = format!("{name} ");
        written.filter(|(text, _)| text.starts_with(&begin)).count()
    }

    /// Kills a gateway once so many writes of this name are there or the request has ended, lets the time of its claims
    /// pass and starts it again. Answers what the request answered, if it did.
    async fn kill(
        &mut self,
        n: usize,
        name: &str,
        at: usize,
        path: &str,
        body: &Value,
    ) -> Option<Value> {
        let request = self.processes[n].client.post(self.processes[n].url(path));
        let request = request
            .bearer_auth(&self.processes[n].key)
            .header("content-type", "application/json")
            .body(body.to_string());
        let asked = tokio::spawn(async move {
            let response = request.send().await.ok()?;
            let status = response.status();
            let text = response.text().await.ok()?;
            Some((status, text))
        });
        wait("the writes before the kill", async || {
            asked.is_finished() || self.arrived(name) >= at
        })
        .await;
        let after_ms = rand::rng().random_range(0..=KILL_WITHIN_MS);
        tokio::time::sleep(Duration::from_millis(after_ms)).await;
        self.processes.remove(n).kill().await;
        self.pass_time().await;
        let again = self.installations[n].serve(&[WRITE]).await;
        self.processes.insert(n, again);
        let (status, text) = asked.await.unwrap()?;
        if [409, 503].contains(&status.as_u16()) {
            return None;
        }
        assert_eq!(status, 200, "{text}");
        let body: Value = serde_json::from_str(&text).unwrap();
        Some(body["data"].clone())
    }

    /// What minutes would do: nobody waits any more for the process that died. All of its claims have ended.
    async fn pass_time(&self) {
        for statement in [
            "UPDATE script_runs SET lease_until_ms = 1 WHERE lease_until_ms > 1",
            "UPDATE idempotency SET deadline_ms = 1 WHERE answer IS NULL AND deadline_ms > 1",
        ] {
            match &self.database_url {
                Some(url) => {
                    let url = url.clone();
                    let asked = tokio::task::spawn_blocking(move || postgres::ask(&url, statement));
                    asked.await.unwrap();
                }
                None => {
                    let path: PathBuf = self.installations[0].folder.join("data/toolgate.db");
                    let url = format!("sqlite://{}", path.display());
                    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
                    sqlx::query(statement).execute(&pool).await.unwrap();
                    pool.close().await;
                }
            }
        }
    }

    /// The run that the dead process began; none if it is not in the database.
    async fn open_run(&self, n: usize) -> Option<Value> {
        let listed = self.processes[n]
            .get("/v1/scripts/runs?limit=1")
            .await
            .data();
        let newest = &listed["items"][0];
        let open = newest["status"] == "running" || newest["status"] == "paused";
        open.then(|| newest.clone())
    }

    /// Resumes a run until it has ended. Answers the run.
    async fn finish(&self, n: usize, run: &Value) -> Value {
        let began = Instant::now();
        loop {
            let resumed = self.processes[n]
                .post(&path_of(run, "/resume"), &json!({}))
                .await;
            match resumed.status {
                200 => {
                    let ran = resumed.data();
                    if ran["status"] != "running" {
                        return ran;
                    }
                }
                _ => assert_may_wait(&resumed, began),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Compares what the script was told with what arrived.
    fn check(&mut self, name: &str, ran: &Value) {
        assert_eq!(ran["status"], "done", "{ran}");
        let ends = ran["result"].as_array().unwrap();
        assert_eq!(ends.len(), WRITES, "{ran}");
        let written = written(&self.api);
        for (n, end) in ends.iter().enumerate() {
            let text = format!("{name} {n}");
            let times = written.get(&text).copied().unwrap_or_default();
            match end.as_str() {
                Some("done") => assert_eq!(times, 1, "{text}: {ran}"),
                Some("outcome_unknown") => {
                    assert!(times <= 1, "{text} arrived {times} times: {ran}");
                    self.unknown += 1;
                }
                _ => panic!("{text} ended with {end}: {ran}"),
            }
        }
        self.runs += 1;
    }

    async fn run(mut self) {
        let kills = number("TOOLGATE_TEST_KILLS", KILLS);
        let mut open: Option<(String, Value)> = None;
        for kill in 0..kills {
            let n = kill as usize % self.processes.len();
            let (name, path, body) = match &open {
                Some((name, run)) => (name.clone(), path_of(run, "/resume"), json!({})),
                None => {
                    let name = format!("run-{kill}");
                    let arguments = json!({"name": name, "writes": WRITES});
                    let body = json!({"script": SCRIPT, "arguments": arguments});
                    (name, RUN.to_owned(), body)
                }
            };
            let least = (self.arrived(&name) + 1).min(WRITES);
            let at = rand::rng().random_range(least..=WRITES);
            let answered = self.kill(n, &name, at, &path, &body).await;
            // Any of the processes goes on with it.
            let other = rand::rng().random_range(0..self.processes.len());
            let ran = match (answered, &open) {
                (Some(ran), _) => Some(ran),
                (None, Some((_, run))) => Some(run.clone()),
                (None, None) => self.open_run(other).await,
            };
            let Some(ran) = ran else {
                // It ended and was not answered, or it was never begun.
                let listed = self.processes[other].get("/v1/scripts/runs?limit=1").await;
                let newest = listed.data()["items"][0].clone();
                match newest["status"].as_str() {
                    Some("done") if self.arrived(&name) > 0 => {
                        let ran = self.processes[other].get(&path_of(&newest, "")).await;
                        self.check(&name, &ran.data());
                    }
                    _ => assert_eq!(self.arrived(&name), 0, "{newest}"),
                }
                continue;
            };
            let killed_again = kill + 1 < kills && rand::rng().random_bool(0.5);
            if ran["status"] != "done" && killed_again {
                open = Some((name, ran));
                continue;
            }
            let ran = match ran["status"] == "done" && !ran["result"].is_null() {
                true => ran,
                false => self.finish(other, &ran).await,
            };
            self.check(&name, &ran);
            open = None;
        }
        let written = written(&self.api);
        let twice: Vec<_> = written.iter().filter(|(_, times)| **times > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        println!(
            "{kills} kills, {} runs of {WRITES} writes: each write once; of {} the outcome is unknown",
            self.runs, self.unknown
        );
        assert!(self.runs > 0, "the test was about something");
    }
}

/// Plugins are loading, or a claim is not known to have ended.
fn assert_may_wait(answer: &Answer, began: Instant) {
    assert!([409, 503].contains(&answer.status), "{}", answer.text);
    assert!(began.elapsed() < PATIENCE, "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_scripts_make_each_write_once_on_sqlite() {
    KilledWorld::start(None, 1).await.run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_scripts_make_each_write_once_on_postgresql() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    KilledWorld::start(Some(url.await.unwrap()), 2)
        .await
        .run()
        .await;
}
