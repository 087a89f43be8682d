//! Databases of released versions, as their programs left them, in the hands of this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process};

fn databases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("databases")
}

/// The folder of each version.
fn versions() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(databases())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

fn unpacked(file: &Path) -> Vec<u8> {
    let output = Command::new("gzip")
        .args(["-dc"])
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", file.display());
    output.stdout
}

/// An installation over the database of `version` with the key that its program made.
fn installation(folder: &Path, version: &Path, kind: &str) -> Installation {
    let installation = Installation::new(folder, &[]);
    let data = folder.join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::copy(version.join("master.key"), data.join("master.key")).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(data.join("master.key"), private).unwrap();
    std::fs::copy(version.join(format!("{kind}.key")), folder.join("key")).unwrap();
    installation
}

/// Everything that was there before is there after.
async fn holds(process: &Process, version: &Path) {
    let shown = version.display();
    let listed = process.get("/v1/executions").await.data();
    assert_eq!(
        listed["executions"][0]["tool_name"], "kept_run",
        "{shown}: {listed}"
    );
    let listed = process.get("/v1/skills").await.data();
    assert_eq!(listed["skills"][0]["name"], "Kept", "{shown}: {listed}");
    let found = process
        .get("/v1/knowledge/search?query=kept+sentence")
        .await;
    assert!(
        found.data().to_string().contains("A kept sentence."),
        "{}",
        found.text
    );
    // Its secret is sealed under the master key of then.
    let listed = process.get("/v1/webhooks").await.data();
    let webhook = &listed["webhooks"][0];
    assert_eq!(
        webhook["url"], "https://hooks.example.com/kept",
        "{shown}: {listed}"
    );
    let health = process.get("/readyz").await;
    assert_eq!(health.status, 200, "{}", health.text);
    // And new things find a place beside it.
    let skill = serde_json::json!({ "name": "New", "summary": "Of now.", "instructions": "Read." });
    let made = process.post("/v1/skills", &skill).await;
    assert_eq!(made.status, 201, "{}", made.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sqlite_database_of_every_released_version_is_migrated_and_served() {
    let versions = versions();
    assert!(!versions.is_empty());
    for version in versions {
        let folder = tempfile::tempdir().unwrap();
        let installation = installation(folder.path(), &version, "sqlite");
        let database = unpacked(&version.join("sqlite.db.gz"));
        std::fs::write(folder.path().join("data/toolgate.db"), database).unwrap();
        let process = installation.serve(&[]).await;
        holds(&process, &version).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_database_of_every_released_version_is_migrated_and_served() {
    for version in versions() {
        let folder = tempfile::tempdir().unwrap();
        let mut installation = installation(folder.path(), &version, "postgres");
        let dump = unpacked(&version.join("postgres.sql.gz"));
        let url = tokio::task::spawn_blocking(move || {
            let url = postgres::fresh_url();
            postgres::load(&url, &dump);
            url
        });
        installation.database_url = Some(url.await.unwrap());
        let process = installation.serve(&[]).await;
        holds(&process, &version).await;
    }
}
