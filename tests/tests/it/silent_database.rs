//! A PostgreSQL that is not there yet, that stops answering, and that many processes find empty.

use std::path::Path;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::Answer;
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};

use crate::crash;

const RUN: &str = "/v1/tools/plain_run/execute";
/// Processes that start at the same time.
const PROCESSES: usize = 24;

fn installation(folder: &Path, url: &str) -> Installation {
    let mut installation = Installation::new(folder, &[]);
    let plugin = Fixture::new("plain").build();
    std::fs::write(folder.join("plugins/plain.wasm"), plugin).unwrap();
    installation.database_url = Some(url.to_owned());
    installation.environment = vec![("TOOLGATE_DRAIN_SECONDS".to_owned(), "5".to_owned())];
    installation
}

/// The answer and how long it took.
async fn timed(answer: impl Future<Output = Answer>) -> (Answer, Duration) {
    let began = Instant::now();
    let answer = tokio::time::timeout(Duration::from_secs(60), answer).await;
    (answer.expect("there is an answer"), began.elapsed())
}

async fn ready(process: &Process, status: u16) {
    wait(&format!("readyz to be {status}"), async || {
        let (answer, took) = timed(process.get("/readyz")).await;
        assert!(took < Duration::from_secs(15), "readyz took {took:?}");
        answer.status == status
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_that_is_late_is_waited_for_and_one_that_falls_silent_is_not() {
    let own = tokio::task::spawn_blocking(postgres::Own::prepare);
    let own = own.await.unwrap();
    let folder = TempDir::new().unwrap();
    let installation = installation(folder.path(), &own.url);
    let late = async {
        wait("the start to say what it waits for", async || {
            installation.log().contains("database.not_there")
        })
        .await;
        tokio::task::block_in_place(|| own.start());
    };
    let (process, ()) = tokio::join!(installation.serve(&["plain_run"]), late);
    ready(&process, 200).await;
    let call = json!({ "arguments": {} });
    assert_eq!(process.post(RUN, &call).await.status, 200);

    let frozen = own.freeze();
    ready(&process, 503).await;
    assert_eq!(process.get("/healthz").await.status, 200);
    // More than the pool has connections.
    let asked = (0..40).map(|_| timed(process.get("/v1/status")));
    let called = (0..10).map(|_| timed(process.post(RUN, &call)));
    let (asked, called) = tokio::join!(join_all(asked), join_all(called));
    for (answer, took) in asked.into_iter().chain(called) {
        assert_eq!(answer.status, 503, "{}", answer.text);
        assert_eq!(answer.json()["error"]["details"]["reason"], "database");
        // 20 s by its limits; the rest is for a machine that does other work too.
        assert!(took < Duration::from_secs(35), "{took:?}");
    }
    drop(frozen);
    ready(&process, 200).await;
    wait("calls to run again", async || {
        process.post(RUN, &call).await.status == 200
    })
    .await;

    let _frozen = own.freeze();
    process.signal("TERM").await;
    let began = Instant::now();
    process.ended().await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(30), "the end took {took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_processes_that_find_an_empty_postgresql_all_serve_and_one_makes_the_first_key() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folder = TempDir::new().unwrap();
    let installations: Vec<Installation> = (0..PROCESSES)
        .map(|number| {
            let mut one = Installation::new(&folder.path().join(number.to_string()), &[]);
            one.database_url = Some(url.clone());
            one.master_key_file = Some(folder.path().join("master.key"));
            one
        })
        .collect();
    let processes = join_all(installations.iter().map(|one| one.serve(&[]))).await;
    let keys: Vec<&str> = processes
        .iter()
        .map(|process| process.key.as_str())
        .filter(|key| !key.is_empty())
        .collect();
    assert_eq!(keys.len(), 1, "one first key is shown");
    for process in &processes {
        let request = process.client.get(process.url("/v1/status"));
        let request = request.header("authorization", format!("Bearer {}", keys[0]));
        let answer = Answer::read(request.send().await.unwrap()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let data: Value = answer.data();
        assert_eq!(data["workspace"], "default");
    }
    for process in processes {
        process.kill().await;
    }
}

/// Calls that run when the database stops taking writes.
const IN_FLIGHT: usize = 40;

fn takes_writes(own: &postgres::Own, takes: bool) {
    let set = if takes { "off" } else { "on" };
    let set = format!("ALTER SYSTEM SET default_transaction_read_only = {set}");
    for statement in [set.as_str(), "SELECT pg_reload_conf()"] {
        postgres::ask(&own.url, statement);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_in_flight_answer_while_the_database_takes_no_writes_and_none_is_lost() {
    let own = tokio::task::spawn_blocking(postgres::Own::prepare);
    let own = own.await.unwrap();
    tokio::task::block_in_place(|| own.start());
    let folder = TempDir::new().unwrap();
    let provider = crash::provider().await;
    let mut installation = installation(folder.path(), &own.url);
    let notes = crash::plugin(folder.path()).await;
    std::fs::write(folder.path().join("plugins/notes.wasm"), notes).unwrap();
    let upstream = format!("api.notes.io=http://{}", provider.address);
    installation.allow_upstream = vec![upstream];
    let process = installation.serve(&["notes_create_note"]).await;
    let call = json!({ "arguments": {} });
    let calls =
        (0..IN_FLIGHT).map(|_| timed(process.post("/v1/tools/notes_create_note/execute", &call)));
    let stops = async {
        let all = provider
            .done
            .acquire_many(u32::try_from(IN_FLIGHT).unwrap());
        all.await.unwrap().forget();
        tokio::task::block_in_place(|| takes_writes(&own, false));
        ready(&process, 503).await;
        provider.let_go.notify_waiters();
    };
    let (ran, ()) = tokio::join!(join_all(calls), stops);
    let mut receipts = Vec::new();
    for (answer, took) in ran {
        // It is done: a call must not be taken for one that failed because its receipt comes later.
        let data = answer.data();
        assert_eq!(data["status"], "success", "{}", answer.text);
        receipts.push(data["execution_id"].as_str().unwrap().to_owned());
        assert!(took < Duration::from_secs(35), "{took:?}");
    }
    let metrics = process.get("/metrics").await.text;
    assert!(
        metrics.contains("toolgate_executions_running 0"),
        "{metrics}"
    );
    // Nothing leaves meanwhile.
    let (refused, _) = timed(process.post("/v1/tools/notes_create_note/execute", &call)).await;
    assert_eq!(refused.status, 503, "{}", refused.text);

    tokio::task::block_in_place(|| takes_writes(&own, true));
    ready(&process, 200).await;
    for id in receipts {
        wait("the receipt to be written", async || {
            let receipt = process.get(&format!("/v1/executions/{id}")).await;
            receipt.status == 200 && receipt.data()["status"] == "success"
        })
        .await;
    }
    process.kill().await;
}
