//! Databases of released versions, as their programs left them, in the hands of this program.

use std::path::{Path, PathBuf};
use std::process::Command;

use reqwest::Method;
use serde_json::json;
use toolgate_gateway::Scope;
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
    let skill = json!({ "name": "New", "summary": "Of now.", "instructions": "Read." });
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

/// What each request without a place in its path answers to a reader.
async fn read_all(process: &Process, paths: &[String]) -> Vec<(String, u16)> {
    let mut answers = Vec::new();
    for path in paths {
        answers.push((path.clone(), process.get(path).await.status));
    }
    answers
}

/// Rows that are written, changed and deleted, with the answers.
async fn write_some(process: &Process) -> Vec<u16> {
    let skill = json!({ "name": "Here", "summary": "For now.", "instructions": "Read." });
    let webhook = json!({ "url": "https://hooks.example.com/now", "events": ["*"] });
    let toolset = json!({ "name": "now", "title": "Now", "tools": ["hackernews_get_item"] });
    let mut statuses = Vec::new();
    for (path, id, body, (method, change)) in [
        ("/v1/skills", "skill_id", &skill, (Method::PUT, &skill)),
        (
            "/v1/webhooks",
            "webhook_id",
            &webhook,
            (Method::PATCH, &json!({ "description": "Later." })),
        ),
        (
            "/v1/toolsets",
            "name",
            &toolset,
            (Method::PATCH, &json!({ "title": "Later" })),
        ),
    ] {
        let made = process.post(path, body).await;
        statuses.push(made.status);
        let row = format!("{path}/{}", made.data()[id].as_str().unwrap());
        for (method, body) in [
            (method, Some(change)),
            (Method::GET, None),
            (Method::DELETE, None),
        ] {
            statuses.push(process.send(method, &row, body).await.status);
        }
    }
    statuses
}

/// Both versions run while replicas are replaced one after the other. PostgreSQL refuses a statement that was prepared
/// before if it answers another column now.
#[tokio::test(flavor = "multi_thread")]
async fn columns_that_a_newer_version_adds_do_not_disturb_one_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let mut installation = Installation::new(folder.path(), &["hackernews"]);
    installation.database_url = Some(url.clone());
    let mut process = installation.serve(&["hackernews_get_item"]).await;
    let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.into_str()).collect();
    let create = ["key", "create", "--name", "all", "--scopes"];
    let made = installation
        .run(&[&create[..], &[&scopes.join(",")]].concat())
        .await;
    process.key = made["key"].as_str().unwrap().to_owned();
    let document = process.get("/openapi.json").await.json();
    let paths: Vec<String> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(path, item)| item.get("get").is_some() && !path.contains('{'))
        .map(|(path, _)| path.clone())
        .collect();
    let (read, written) = (read_all(&process, &paths).await, write_some(&process).await);
    let answered = read.iter().filter(|(_, status)| *status == 200).count();
    assert!(answered >= 15, "{read:?}");
    assert!(
        written.iter().all(|status| (200..300).contains(status)),
        "{written:?}"
    );
    // So that each connection of the pool has prepared them.
    for _ in 0..20 {
        read_all(&process, &paths).await;
        write_some(&process).await;
    }
    let add = "SELECT string_agg(format('ALTER TABLE %I ADD COLUMN added_later TEXT', table_name), '; ') \
               FROM information_schema.tables WHERE table_schema = 'public'";
    tokio::task::spawn_blocking(move || {
        let statements = postgres::ask(&url, add);
        assert!(statements.contains("api_keys"), "{statements}");
        postgres::ask(&url, &statements);
    })
    .await
    .unwrap();
    for _ in 0..20 {
        assert_eq!(read_all(&process, &paths).await, read);
        assert_eq!(write_some(&process).await, written);
    }
}
