//! `/readyz` tells a balancer when to begin and when to stop sending requests here.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use toolgate_tests::component::Fixture;
use toolgate_tests::process::{Installation, wait};

const RUN: &str = "/v1/tools/plain_run/execute";

#[tokio::test(flavor = "multi_thread")]
async fn a_start_is_ready_once_every_plugin_file_is_judged() {
    let folder = TempDir::new().unwrap();
    // Compiling takes a while; a file that is not a component holds up nothing.
    let installation = Installation::new(folder.path(), &["github", "prometheus"]);
    std::fs::write(folder.path().join("plugins/bad.wasm"), "no component").unwrap();
    let process = installation.serve(&[]).await;
    wait("readyz to be 200", async || {
        let status = process.get("/readyz").await.status;
        if status == 200 {
            // The first request after it finds the whole catalog.
            for tool in ["github_get_authenticated_user", "prometheus_query"] {
                let schema = process.get(&format!("/v1/tools/{tool}/schema")).await;
                assert_eq!(schema.status, 200, "{tool}: {}", schema.text);
            }
            let health = process.get("/v1/health").await.data();
            assert_eq!(health["plugins"]["quarantined"], 1, "{health}");
        }
        status == 200
    })
    .await;
    process.kill().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_is_announced_before_the_listener_closes() {
    const DELAY: Duration = Duration::from_secs(8);
    let folder = TempDir::new().unwrap();
    let mut installation = Installation::new(folder.path(), &[]);
    let plugin = Fixture::new("plain").build();
    std::fs::write(folder.path().join("plugins/plain.wasm"), plugin).unwrap();
    let delay = (
        "TOOLGATE_DRAIN_DELAY".to_owned(),
        DELAY.as_secs().to_string(),
    );
    installation.environment = vec![delay];
    let process = installation.serve(&["plain_run"]).await;
    wait("readyz to be 200", async || {
        process.get("/readyz").await.status == 200
    })
    .await;

    process.signal("TERM").await;
    let began = Instant::now();
    wait("readyz to be 503", async || {
        process.get("/readyz").await.status == 503
    })
    .await;
    // Whoever has not noticed yet is served, on new connections too.
    let call = json!({ "arguments": {} });
    let mut calls = 0;
    while began.elapsed() < DELAY - Duration::from_secs(1) {
        let fresh = toolgate_tests::gateway::client().post(process.url(RUN));
        let fresh = fresh.header("authorization", format!("Bearer {}", process.key));
        let fresh = fresh.header("content-type", "application/json");
        let answer = fresh.body(call.to_string()).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200);
        calls += 1;
    }
    assert!(calls > 0);
    process.ended().await;
    assert!(began.elapsed() >= DELAY, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_the_wait() {
    let folder = TempDir::new().unwrap();
    let mut installation = Installation::new(folder.path(), &[]);
    let delay = ("TOOLGATE_DRAIN_DELAY".to_owned(), "600".to_owned());
    installation.environment = vec![delay];
    let process = installation.serve(&[]).await;
    wait("readyz to be 200", async || {
        process.get("/readyz").await.status == 200
    })
    .await;
    process.signal("TERM").await;
    wait("readyz to be 503", async || {
        process.get("/readyz").await.status == 503
    })
    .await;
    process.signal("TERM").await;
    process.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_that_is_moved_or_takes_no_files_is_not_ready() {
    let folder = TempDir::new().unwrap();
    let mut installation = Installation::new(folder.path(), &[]);
    // Permissions bind root too, without this capability.
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        let bound = ["setpriv", "--bounding-set=-dac_override"];
        installation.launcher = bound.map(str::to_owned).into();
    }
    let process = installation.serve(&[]).await;
    let is_ready = async |status: u16| {
        wait(&format!("readyz to be {status}"), async || {
            process.get("/readyz").await.status == status
        })
        .await;
    };
    is_ready(200).await;
    let data = folder.path().join("data");
    let mode = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&data, mode).unwrap();
    };
    mode(0o500);
    is_ready(503).await;
    mode(0o700);
    is_ready(200).await;
    let aside = folder.path().join("aside");
    std::fs::rename(&data, &aside).unwrap();
    is_ready(503).await;
    assert_eq!(process.get("/healthz").await.status, 200);
    std::fs::rename(&aside, &data).unwrap();
    is_ready(200).await;
    process.kill().await;
}
