//! Planted tokens are looked for in everything that a real process leaves behind: its log at trace
//! level, its database and a dump of it, its answers, its crash.

use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use toolgate_tests::bytes;
use toolgate_tests::mcp::{Call, Client, Job, converse};
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process};
use toolgate_tests::provider::Provider;

use super::bait::{BAIT, echo, forms, hunt};
use super::real::{configure, follow, link, run};
use super::{TOOL, page_of, submit};

/// What a person or an agent can read of it.
async fn answers(process: &Process, provider: &Provider) -> (String, Vec<String>) {
    let mut seen = String::new();
    let mut secrets = Vec::new();
    let (url, _) = link(process, "ada").await;
    secrets.push(url.rsplit('/').next().unwrap().to_owned());
    seen.push_str(&page_of(process.client.get(&url)).await.text);
    seen.push_str(&follow(process, provider, &url).await.text);
    seen.push_str(&run(process, "ada").await.to_string());
    provider.expire_access_tokens();
    let renewed = run(process, "ada").await;
    assert_eq!(renewed["result"]["login"], "octo-ada", "{renewed}");
    seen.push_str(&renewed.to_string());

    let body = json!({"service": "hunter"});
    let asked = process.post("/v1/connections/link", &body).await.data();
    let url = asked["connect_url"].as_str().unwrap();
    let page = submit(&process.client, url, &[("f_secret", BAIT)]).await;
    assert_eq!(page.status, 200, "{}", page.text);
    seen.push_str(&page.text);
    for (tool, arguments, dry_run) in [
        ("hunt", hunt("/echo", false), false),
        ("hunt", hunt("/chunks", true), false),
        ("hunt", hunt("/redirect", false), false),
        ("hunt", hunt("/echo", false), true),
        ("crash", json!({"path": "/encoded"}), false),
    ] {
        let body = json!({"arguments": arguments, "dry_run": dry_run});
        let path = format!("/v1/tools/hunter_{tool}/execute");
        let data = process.post(&path, &body).await.data();
        let id = data["execution_id"].as_str().unwrap_or_default();
        seen.push_str(&process.get(&format!("/v1/executions/{id}")).await.text);
        seen.push_str(&data.to_string());
    }
    let call = |tool: &str, arguments: serde_json::Value| Call {
        name: "svc_execute_tool",
        arguments: json!({"tool_name": tool, "arguments": arguments.to_string()}),
    };
    let job = Job {
        url: &process.url("/mcp"),
        key: &process.key,
        command: None,
        skills: false,
        opens_urls: false,
        calls: vec![
            call("hunter_hunt", hunt("/encoded", false)),
            call("hunter_crash", json!({"path": "/refuse"})),
        ],
    };
    let said = converse(Client::JavaScript("2026-07-28"), &job)
        .await
        .unwrap();
    assert!(said.results[0].text().contains("Result:"), "{said:?}");
    seen.push_str(&format!("{said:?}"));
    for path in [
        "/v1/connections",
        "/v1/executions",
        "/v1/health",
        "/v1/status",
        "/metrics",
    ] {
        seen.push_str(&process.get(path).await.text);
    }
    (seen, secrets)
}

/// Every file below a folder, but for those that are keys.
fn files(folder: &Path, into: &mut Vec<u8>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            files(&path, into);
        } else if !name.ends_with(".key") {
            into.extend(std::fs::read(&path).unwrap());
        }
    }
}

fn assert_absent(place: &str, kept: &[u8], secret: &str) {
    for form in forms(secret) {
        if let Some(at) = bytes::position(kept, &form) {
            let around = &kept[at.saturating_sub(200)..(at + 100).min(kept.len())];
            panic!(
                "{form} is in the {place}: {}",
                String::from_utf8_lossy(around)
            );
        }
    }
}

async fn nothing_is_found(database_url: Option<String>) {
    let (provider, upstream) = (Provider::start().await, echo().await);
    let folder = TempDir::new().unwrap();
    let mut installation = Installation::new(folder.path(), &["github", "hunter"]);
    installation.database_url = database_url.clone();
    let (id, api) = (provider.upstream.url(), upstream.url());
    installation.allow_upstream = vec![
        format!("github.com={id}"),
        format!("api.github.com={id}"),
        format!("api.hunter.test={api}"),
        format!("elsewhere.hunter.test={api}"),
    ];
    let environment = [
        ("RUST_LOG", "trace"),
        ("TOOLGATE_LOG", "trace"),
        ("RUST_BACKTRACE", "full"),
    ];
    installation.environment = environment
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let process = installation.serve(&[TOOL, "hunter_hunt"]).await;
    configure(&installation).await;
    let (seen, mut secrets) = answers(&process, &provider).await;
    let key = process.key.clone();
    process.signal("ABRT").await;
    process.ended().await;

    let log = installation.log();
    assert!(
        log.contains("TRACE") && log.contains("wasm backtrace"),
        "it says a lot"
    );
    assert!(
        seen.contains("octo-ada") && seen.contains("decoy-"),
        "it was looked at"
    );
    let mut kept = Vec::new();
    match &database_url {
        Some(url) => kept.extend(postgres::dump(url)),
        None => files(&folder.path().join("data"), &mut kept),
    }
    assert!(
        bytes::contains(&kept, "hunter_hunt") && bytes::contains(&kept, "octo-ada"),
        "the database was looked at"
    );
    secrets.extend(provider.secrets());
    secrets.extend(["the-client-secret".to_owned(), BAIT.to_owned(), key]);
    assert!(secrets.len() > 6, "{}", secrets.len());
    for secret in secrets {
        assert_absent("answers", seen.as_bytes(), &secret);
        assert_absent("log", log.as_bytes(), &secret);
        assert_absent("database", &kept, &secret);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_token_is_in_no_answer_log_or_sqlite_file() {
    nothing_is_found(None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_token_is_in_no_answer_log_or_postgresql_dump() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    nothing_is_found(Some(url)).await;
}
