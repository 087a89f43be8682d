//! Real processes: one, two on one PostgreSQL, one beside a command.

use std::path::Path;

use futures_util::future::join_all;
use tempfile::TempDir;
use toolgate_tests::postgres;
use toolgate_tests::process::Installation;
use toolgate_tests::provider::Provider;

use super::TOOL;
use super::real::{configure, connect, run};

/// An installation whose GitHub is the provider.
pub(super) fn installation(folder: &Path, provider: &Provider) -> Installation {
    let mut installation = Installation::new(folder, &["github"]);
    let upstream = provider.upstream.url();
    installation.allow_upstream = vec![
        format!("github.com={upstream}"),
        format!("api.github.com={upstream}"),
    ];
    installation
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_calls_to_one_process_on_an_expired_token_refresh_once() {
    let (provider, folder) = (Provider::start().await, TempDir::new().unwrap());
    let installation = installation(folder.path(), &provider);
    let process = installation.serve(&[TOOL]).await;
    configure(&installation).await;
    connect(&process, &provider, "ada").await;
    provider.expire_access_tokens();
    for answer in join_all((0..200).map(|_| run(&process, "ada"))).await {
        assert_eq!(answer["status"], "success", "{answer}");
    }
    assert_eq!(provider.memory().refresh_requests, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_master_key_is_rotated_by_the_command_while_calls_run() {
    let (provider, folder) = (Provider::start().await, TempDir::new().unwrap());
    let installation = installation(folder.path(), &provider);
    let process = installation.serve(&[TOOL]).await;
    configure(&installation).await;
    let key = folder.path().join("data/master.key");
    let mut keys = vec![std::fs::read(&key).unwrap()];
    // A user for each renewal: a token that was just renewed is not renewed again.
    for (user, boxes) in [("ada", 2), ("eve", 3)] {
        connect(&process, &provider, user).await;
        provider.expire_access_tokens();
        let calls = join_all((0..40).map(|_| run(&process, user)));
        let (answers, rotated) = tokio::join!(calls, installation.run(&["vault", "rotate"]));
        for answer in answers {
            assert_eq!(answer["status"], "success", "{answer}");
        }
        // The connections and the client secret.
        assert_eq!(rotated["boxes"], boxes, "{rotated}");
        keys.push(std::fs::read(&key).unwrap());
    }
    keys.dedup();
    assert_eq!(keys.len(), 3);
    // The keys of before are needed no more, by nobody.
    std::fs::remove_file(folder.path().join("data/master.key.previous")).unwrap();
    for user in ["bob", "kim"] {
        connect(&process, &provider, user).await;
    }
    provider.expire_access_tokens();
    assert_eq!(run(&process, "bob").await["status"], "success");
    process.kill().await;
    let process = installation.serve(&[TOOL]).await;
    assert_eq!(run(&process, "kim").await["status"], "success");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_calls_to_two_processes_on_an_expired_token_refresh_once() {
    let provider = Provider::start().await;
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folder = TempDir::new().unwrap();
    let installations = ["one", "two"].map(|name| {
        let mut installation = installation(&folder.path().join(name), &provider);
        installation.database_url = Some(url.clone());
        installation.master_key_file = Some(folder.path().join("master.key"));
        installation
    });
    let one = installations[0].serve(&[TOOL]).await;
    configure(&installations[0]).await;
    // Keys are shown once; the second process knows them from the database.
    std::fs::write(installations[1].folder.join("key"), &one.key).unwrap();
    let two = installations[1].serve(&[TOOL]).await;
    assert_ne!(one.base, two.base);
    for round in 1..=3 {
        let user = format!("ada-{round}");
        connect(&one, &provider, &user).await;
        provider.expire_access_tokens();
        let calls = (0..100).flat_map(|_| [run(&one, &user), run(&two, &user)]);
        for answer in join_all(calls).await {
            assert_eq!(answer["status"], "success", "{answer}");
        }
        assert_eq!(provider.memory().refresh_requests, round);
    }
}
