//! A reader of standard error that stops: a full pipe, a journal that hangs, a terminal after Ctrl-S.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolgate_tests::process::{Installation, Process, wait};

/// A pipe of Linux holds 64 KiB: some 300 lines.
const REQUESTS: usize = 1_000;
/// Without a drain; generous for a machine that does other work.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// A gateway whose standard error is a pipe, and the pipe's end, of which nobody reads.
fn installation(folder: &Path) -> (Installation, File) {
    let mut installation = Installation::new(folder, &[]);
    let pipe = installation.log_into_pipe();
    // For writing too, so that opening it waits for nobody.
    let end = File::options().read(true).write(true).open(&pipe).unwrap();
    installation.environment = vec![("TOOLGATE_LOG".to_owned(), "trace".to_owned())];
    (installation, end)
}

async fn lost(process: &Process) -> u64 {
    let metrics = process.get("/metrics").await.text;
    let lost = metrics
        .lines()
        .find_map(|line| line.strip_prefix("toolgate_log_lines_lost_total "));
    lost.expect("the metric").trim().parse().unwrap()
}

/// Has lines written until the queue is full.
async fn until_more_are_lost_than(process: &Process, before: u64) {
    wait("lines to be lost", async || {
        let asked = (0..50).map(|_| process.get("/v1/health"));
        for answer in futures_util::future::join_all(asked).await {
            assert_eq!(answer.status, 200);
        }
        lost(process).await > before
    })
    .await;
}

/// Reads the pipe until the line that says how many lines were lost.
async fn read_until_reported(end: &File) {
    let mut end = end.try_clone().unwrap();
    let reading = tokio::task::spawn_blocking(move || {
        let (mut text, mut bytes) = (Vec::new(), [0; 64 << 10]);
        loop {
            let read = end.read(&mut bytes).unwrap();
            text.extend_from_slice(&bytes[..read]);
            if String::from_utf8_lossy(&text).contains("log.lines_lost") {
                return;
            }
            let keep = text.len().saturating_sub(1_000);
            text.drain(..keep);
        }
    });
    let read = tokio::time::timeout(toolgate_tests::gateway::PATIENCE, reading).await;
    read.expect("the log says what was lost").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_reader_of_the_log_holds_up_no_request_and_not_the_end() {
    let folder = TempDir::new().unwrap();
    let (installation, end) = installation(folder.path());
    let process = installation.serve(&[]).await;
    for n in 0..REQUESTS {
        let path = ["/healthz", "/v1/health", "/metrics"][n % 3];
        let answer = tokio::time::timeout(ENDS_WITHIN, process.get(path)).await;
        let answer = answer.unwrap_or_else(|_| panic!("request {n} has no answer"));
        assert_eq!(answer.status, 200, "{path}");
    }
    until_more_are_lost_than(&process, 0).await;
    // It flows again, and says what is missing.
    read_until_reported(&end).await;

    let before = lost(&process).await;
    until_more_are_lost_than(&process, before).await;
    process.signal("TERM").await;
    let began = Instant::now();
    process.ended().await;
    let took = began.elapsed();
    assert!(took < ENDS_WITHIN, "the end took {took:?}");
}
