//! Starts that are refused: the sentence names what is wrong and what to do, and nothing has changed.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;
use std::process::Output;

use sqlx::{Connection as _, SqliteConnection};
use tokio::process::Command;
use toolgate_tests::pooler::Pooler;
use toolgate_tests::postgres;
use toolgate_tests::process::program;

/// Every file below a folder with its content, and its mode and owner.
fn content(folder: &Path) -> BTreeMap<String, (u32, u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::metadata(&path).unwrap();
            let bytes = match metadata.is_dir() {
                true => {
                    left.push(path.clone());
                    Vec::new()
                }
                false => std::fs::read(&path).unwrap(),
            };
            let name = path.display().to_string();
            found.insert(name, (metadata.mode(), metadata.uid(), bytes));
        }
    }
    found
}

async fn serve(folder: &Path, arguments: &[&str]) -> Output {
    let names_folder = arguments.iter().any(|one| one.starts_with("--data-dir="));
    let serving = Command::new(program())
        .args(["serve", "--plugins-dir=plugins"])
        .args((!names_folder).then_some("--data-dir=data"))
        .args(arguments)
        .current_dir(folder)
        .kill_on_drop(true)
        .output();
    let ended = tokio::time::timeout(toolgate_tests::gateway::PATIENCE, serving).await;
    ended.expect("the start is refused").unwrap()
}

/// An installation with a database, which no process uses.
async fn installation() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    let made = Command::new(program())
        .args(["migrate", "--data-dir=data"])
        .current_dir(folder.path())
        .output();
    assert!(made.await.unwrap().status.success());
    folder
}

async fn refuses(folder: &Path, arguments: &[&str], says: &[&str]) {
    let before = content(folder);
    let refused = serve(folder, arguments).await;
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {told}");
    for word in says {
        assert!(told.contains(word), "{arguments:?}: no {word} in {told}");
    }
    let after = content(folder);
    for (name, file) in &before {
        assert_eq!(after.get(name), Some(file), "{arguments:?}: {name}");
    }
    assert_eq!(after.len(), before.len(), "{arguments:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_setting_and_an_address_in_use_are_refused_before_anything_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::create_dir(path.join("plugins")).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let free = "--listen=127.0.0.1:0";
    let listen = format!("--listen={taken}");
    let metrics = format!("--metrics-listen={taken}");
    for (arguments, says) in [
        (vec![free, "--public-url=ftp://x"], vec!["--public-url"]),
        (vec![free, "--trusted-proxy=here"], vec!["--trusted-proxy"]),
        (
            vec![free, "--trace-upstream=https://a.example/path"],
            vec!["--trace-upstream", "https://api.example.com"],
        ),
        (
            vec![free, "--otlp-endpoint=ftp://collector"],
            vec!["--otlp-endpoint"],
        ),
        (
            vec![free, "--otlp-endpoint=http://user:word@collector:4318"],
            vec!["--otlp-endpoint", "OTEL_EXPORTER_OTLP_HEADERS"],
        ),
        (
            vec![free, "--tls-cert=none.pem", "--tls-key=none.key"],
            vec!["none.pem", "cannot be read"],
        ),
        (vec![&listen], vec![&taken, "--listen"]),
        (vec![free, &metrics], vec![&taken, "--metrics-listen"]),
    ] {
        refuses(path, &arguments, &says).await;
    }
    std::fs::write(path.join("toolgate.toml"), "listn = \"127.0.0.1:1\"\n").unwrap();
    refuses(path, &[free], &["toolgate.toml", "listn"]).await;
    assert!(!path.join("data").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_program_refuses_the_database_of_a_newer_one() {
    let folder = installation().await;
    let database = folder.path().join("data/toolgate.db");
    let url = format!("sqlite://{}", database.display());
    let mut db = SqliteConnection::connect(&url).await.unwrap();
    sqlx::query("UPDATE _sqlx_migrations SET version = 9999 WHERE version = (SELECT max(version) FROM _sqlx_migrations)")
        .execute(&mut db)
        .await
        .unwrap();
    db.close().await.unwrap();
    let says = ["newer toolgate"];
    // The first refusal opens the database, which rewrites its log.
    serve(folder.path(), &["--listen=127.0.0.1:0"]).await;
    refuses(folder.path(), &["--listen=127.0.0.1:0"], &says).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_of_another_user_is_refused() {
    let folder = installation().await;
    let data = folder.path().join("data");
    // Only root gives a folder away, and could write into it. Others cannot write into one of root.
    let (settings, says) = match chown(&data, Some(65_533), None) {
        Ok(()) => (
            &["--listen=127.0.0.1:0"][..],
            &["another user", "chown"][..],
        ),
        Err(_) => (
            &["--listen=127.0.0.1:0", "--data-dir=/var/lib"][..],
            &["/var/lib", "os error 13"][..],
        ),
    };
    refuses(folder.path(), settings, says).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_loses_prepared_statements_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let pooler = Pooler::start_in_transaction_mode(&url, 0).await;
    let database = format!("--database-url={}", pooler.url);
    let refused = serve(folder.path(), &["--listen=127.0.0.1:0", &database]).await;
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(told.contains("max_prepared_statements above 0"), "{told}");
}
