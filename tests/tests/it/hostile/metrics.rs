//! Metrics tell which services a company uses and how much: they are for its monitoring alone.

use std::net::TcpListener;
use std::path::Path;

use reqwest::StatusCode;
use tokio::process::Command;
use toolgate_tests::process::{program, serve_as};

/// The status and the text of `/metrics` at an address.
async fn metrics(base: &str) -> (StatusCode, String) {
    let answer = reqwest::get(format!("{base}/metrics")).await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

/// Serves with these settings; hands the main address to `look`.
async fn serving(folder: &Path, arguments: &[&str], look: impl AsyncFnOnce(&str)) {
    std::fs::create_dir_all(folder.join("plugins")).unwrap();
    let (mut child, first) = serve_as(Command::new(program()), folder, arguments).await;
    let dashboard = first["dashboard"]
        .as_str()
        .unwrap_or_else(|| panic!("{first}"));
    look(dashboard.trim_end_matches('/')).await;
    child.kill().await.unwrap();
}

/// Defence: `host/toolgate/src/cli/serve.rs` puts metrics on the main address only where a setting says so.
#[tokio::test(flavor = "multi_thread")]
async fn the_main_address_shows_no_metrics_unless_a_setting_says_so() {
    let folder = tempfile::tempdir().unwrap();
    serving(folder.path(), &[], async |main| {
        let (status, text) = metrics(main).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{text}");
        assert!(!text.contains("toolgate_"), "{text}");
    })
    .await;
    serving(folder.path(), &["--metrics-public"], async |main| {
        let (status, text) = metrics(main).await;
        assert_eq!(status, StatusCode::OK, "{text}");
        assert!(text.contains("toolgate_"), "{text}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_of_their_own_has_the_metrics_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = free.local_addr().unwrap();
    drop(free);
    let listen = format!("--metrics-listen={own}");
    serving(folder.path(), &[&listen], async |main| {
        let own = format!("http://{own}");
        let (status, text) = metrics(&own).await;
        assert_eq!(status, StatusCode::OK, "{text}");
        assert!(text.contains("toolgate_"), "{text}");
        assert_eq!(metrics(main).await.0, StatusCode::NOT_FOUND);
        for path in ["/", "/v1/tools/list", "/mcp", "/docs"] {
            let other = reqwest::get(format!("{own}{path}")).await.unwrap();
            assert_eq!(other.status(), StatusCode::NOT_FOUND, "{path}");
        }
    })
    .await;
}
