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
