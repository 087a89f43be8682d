//! Two real processes on one PostgreSQL.

use futures_util::future::join_all;
use tempfile::TempDir;
use toolgate_tests::postgres;
use toolgate_tests::process::Installation;
use toolgate_tests::provider::Provider;

use super::TOOL;
use super::real::{configure, connect, run};

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_calls_to_two_processes_on_an_expired_token_refresh_once() {
    let provider = Provider::start().await;
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folder = TempDir::new().unwrap();
    let installations = ["one", "two"].map(|name| {
        let mut installation = Installation::new(&folder.path().join(name), &["github"]);
        installation.database_url = Some(url.clone());
        installation.master_key_file = Some(folder.path().join("master.key"));
        let upstream = provider.upstream.url();
        installation.allow_upstream = vec![
            format!("github.com={upstream}"),
            format!("api.github.com={upstream}"),
        ];
        installation
    });
    let one = installations[0].serve(&[TOOL]).await;
    configure(&installations[0]).await;
    // Keys are shown once; the second process knows them from the database.
    std::fs::write(installations[1].folder.join("key"), &one.key).unwrap();
    let two = installations[1].serve(&[TOOL]).await;
    assert_ne!(one.base, two.base);
    connect(&one, &provider, "ada").await;
    for round in 1..=3 {
        provider.expire_access_tokens();
        let calls = (0..100).flat_map(|_| [run(&one, "ada"), run(&two, "ada")]);
        for answer in join_all(calls).await {
            assert_eq!(answer["status"], "success", "{answer}");
        }
        assert_eq!(provider.memory().refresh_requests, round);
    }
}
