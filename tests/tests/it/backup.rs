//! Backups: made while the gateway writes, restored elsewhere, refused before anything changes.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection};
use tokio::process::Command;
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, program, wait};
use toolgate_tests::upstream::Upstream;

const PASSPHRASE: &str = "correct horse battery staple";

fn passphrase_file(folder: &Path, text: &str) -> String {
    let file = folder.join("passphrase");
    std::fs::write(&file, format!("{text}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file.display().to_string()
}

/// An installation on SQLite that has been started once, with a plugin file and a backup of it.
struct BackedUp {
    folder: tempfile::TempDir,
    source: Installation,
    archive: PathBuf,
    passphrase: String,
}

impl BackedUp {
    async fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Installation::new(&folder.path().join("source"), &["prometheus"]);
        source.serve(&["prometheus_query"]).await.kill().await;
        let archive = folder.path().join("backup.tar.gz");
        let passphrase = passphrase_file(folder.path(), PASSPHRASE);
        let made = Self {
            folder,
            source,
            archive,
            passphrase,
        };
        made.back_up(&made.archive).await;
        made
    }

    async fn back_up(&self, archive: &Path) -> Value {
        let archive = archive.display().to_string();
        let arguments = ["backup", &archive, "--passphrase-file", &self.passphrase];
        self.source.run(&arguments).await
    }

    /// Another place with nothing in it.
    fn target(&self, name: &str) -> Installation {
        Installation::new(&self.folder.path().join(name), &[])
    }

    async fn restore(&self, target: &Installation, further: &[&str]) -> Result<Value, String> {
        let archive = self.archive.display().to_string();
        restore(target, &archive, further).await
    }
}

async fn restore(target: &Installation, archive: &str, further: &[&str]) -> Result<Value, String> {
    let output = Command::new(program())
        .args(["restore", archive, "--json"])
        .arg("--data-dir")
        .arg(target.folder.join("data"))
        .arg("--plugins-dir")
        .arg(target.folder.join("plugins"))
        .args(further)
        .output()
        .await
        .unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    match output.status.success() {
        true => Ok(document),
        false => Err(document["error"]["message"].as_str().unwrap().to_owned()),
    }
}

/// Every file below a folder with its content.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.insert(path.clone(), Vec::new());
                folders.push(path);
            } else {
                found.insert(path.clone(), std::fs::read(path).unwrap());
            }
        }
    }
    found
}

async fn count(database: &Path, query: &'static str) -> i64 {
    let url = format!("sqlite://{}", database.display());
    let mut db = SqliteConnection::connect(&url).await.unwrap();
    sqlx::query_scalar(query).fetch_one(&mut db).await.unwrap()
}

/// Paths at which the gateway has answered that something is written.
type Written = Arc<Mutex<Vec<String>>>;

/// Writes ten times a second: a Skill, which is a transaction with its audit entry, and a call with its
/// receipt, by turns.
async fn write(process: Arc<Process>, writer: usize, written: Written) {
    for number in 0.. {
        let path = if number % 2 == 0 {
            let name = format!("skill-{writer}-{number}");
            let body = json!({ "name": name, "summary": "A test.", "instructions": "Do it." });
            let made = process.post("/v1/skills", &body).await.data();
            format!("/v1/skills/{}", made["skill_id"].as_str().unwrap())
        } else {
            let body = json!({ "arguments": { "query": "up" } });
            let path = "/v1/tools/prometheus_query/execute";
            let ran = process.post(path, &body).await.data();
            format!("/v1/executions/{}", ran["execution_id"].as_str().unwrap())
        };
        written.lock().unwrap().push(path);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_50_writes_a_second_holds_all_that_was_answered_and_its_books_are_equal() {
    let upstream = Upstream::start(|_| {
        let result =
            json!({ "status": "success", "data": { "resultType": "vector", "result": [] } });
        Response::builder()
            .header("content-type", "application/json")
            .body(Body::from(result.to_string()))
            .unwrap()
    })
    .await;
    let made = BackedUp::make().await;
    let source = &made.source;
    let set = format!("api_base={}", upstream.url());
    source
        .run(&["service", "configure", "prometheus", "--set", &set])
        .await;
    source
        .run(&["workspace", "set", "default", "--plan", "enterprise"])
        .await;
    let process = Arc::new(source.serve(&["prometheus_query"]).await);

    let written = Written::default();
    let writers: Vec<_> = (0..5)
        .map(|writer| tokio::spawn(write(process.clone(), writer, written.clone())))
        .collect();
    let more_than = |count: usize| {
        let written = written.clone();
        async move || written.lock().unwrap().len() > count
    };
    wait("writes", more_than(50)).await;
    let answered_before = written.lock().unwrap().clone();
    let archive = made.folder.path().join("busy.tar.gz");
    let report = made.back_up(&archive).await;
    let mark = made.source.folder.join("data/last-backup");
    assert!(mark.is_file(), "the dashboard learns of the backup");
    let during = written.lock().unwrap().len() - answered_before.len();
    wait(
        "more writes",
        more_than(answered_before.len() + during + 10),
    )
    .await;
    assert!(during > 0, "the gateway wrote while the backup was made");
    for writer in &writers {
        assert!(!writer.is_finished(), "a write failed");
        writer.abort();
    }
    assert_eq!(report["database"], "sqlite");

    let target = made.target("busy");
    let (archive, passphrase) = (archive.display().to_string(), &made.passphrase);
    restore(&target, &archive, &["--passphrase-file", passphrase])
        .await
        .unwrap();
    let (here, there) = (source.folder.join("data"), target.folder.join("data"));
    let key = |data: &Path| std::fs::read(data.join("master.key")).unwrap();
    assert_eq!(key(&here), key(&there));
    std::fs::copy(source.folder.join("key"), target.folder.join("key")).unwrap();
    let restored = target.serve(&["prometheus_query"]).await;
    for path in &answered_before {
        assert_eq!(restored.get(path).await.status, 200, "{path}");
    }
    restored.kill().await;

    let database = there.join("toolgate.db");
    let skills = count(&database, "SELECT count(*) FROM skills").await;
    let told = "SELECT count(*) FROM audit_log WHERE action = 'skills.create'";
    assert_eq!(skills, count(&database, told).await, "each with its entry");
    assert!(skills > 0);
    assert_eq!(
        count(&database, "SELECT count(*) FROM pragma_foreign_key_check").await,
        0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_installation_serves_its_plugins_with_its_keys() {
    let made = BackedUp::make().await;
    let target = made.target("target");
    let with = ["--passphrase-file", made.passphrase.as_str()];
    made.restore(&target, &with).await.unwrap();
    let mode = |name: &str| {
        let about = std::fs::metadata(target.folder.join("data").join(name)).unwrap();
        about.permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    assert_eq!((mode("toolgate.db"), mode("master.key")), (0o600, 0o600));
    assert!(!target.folder.join("data/.restoring").exists());
    std::fs::copy(made.source.folder.join("key"), target.folder.join("key")).unwrap();
    target.serve(&["prometheus_query"]).await.kill().await;
}

#[tokio::test]
async fn the_archive_holds_no_key() {
    let made = BackedUp::make().await;
    let unpacked = made.folder.path().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    let tar = Command::new("tar")
        .arg("-xzf")
        .args([made.archive.as_path(), Path::new("-C"), &unpacked])
        .status();
    assert!(tar.await.unwrap().success());
    let files = content(&unpacked);
    assert!(files.keys().any(|path| path.ends_with("toolgate.db")));
    let key = std::fs::read(made.source.folder.join("data/master.key")).unwrap();
    assert!(key.len() >= 32, "the key file holds a key");
    let written = [key.clone(), hex::encode(&key).into_bytes()];
    for (path, bytes) in files {
        assert!(!path.ends_with("master.key"), "{}", path.display());
        for key in &written {
            let found = bytes.windows(key.len()).any(|part| part == key);
            assert!(!found, "{}", path.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_restored_is_refused_and_changes_nothing() {
    let made = BackedUp::make().await;
    let folder = made.folder.path();
    let whole = std::fs::read(&made.archive).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    let keys = folder.join("backup.tar.gz.keys.age").display().to_string();
    let cut_keys = std::fs::read(&keys).unwrap();
    let cut_keys = file("cut.keys.age", &cut_keys[..cut_keys.len() - 7]);
    let mut flipped = whole.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x40;
    let (cut, flipped) = (
        file("cut.tar.gz", &whole[..whole.len() - 20]),
        file("flipped.tar.gz", &flipped),
    );
    let foreign = file("foreign.tar.gz", b"no archive");
    std::fs::create_dir(folder.join("wrong")).unwrap();
    let wrong = passphrase_file(&folder.join("wrong"), "correct horse battery");

    let other = BackedUp::make().await;
    let other_keys = other.folder.path().join("backup.tar.gz.keys.age");
    let other_keys = other_keys.display().to_string();

    // A later program's database.
    let database = made.source.folder.join("data/toolgate.db");
    let mut db = SqliteConnection::connect(&format!("sqlite://{}", database.display()))
        .await
        .unwrap();
    sqlx::query("UPDATE _sqlx_migrations SET version = 9999 WHERE version = (SELECT max(version) FROM _sqlx_migrations)")
        .execute(&mut db)
        .await
        .unwrap();
    db.close().await.unwrap();
    let newer = folder.join("newer.tar.gz");
    made.back_up(&newer).await;
    let newer = newer.display().to_string();
    let newer_keys = format!("{newer}.keys.age");

    let archive = made.archive.display().to_string();
    let right = made.passphrase.as_str();
    for (archive, keys, passphrase, said) in [
        (&archive, &keys, wrong.as_str(), "the passphrase is wrong"),
        (&archive, &cut_keys, right, "damaged or cut off"),
        (&archive, &other_keys, right, "not those of this backup"),
        (&archive, &foreign, right, "damaged or cut off"),
        (&cut, &keys, right, "cut off"),
        (&flipped, &keys, right, "backup is"),
        (&foreign, &keys, right, "backup"),
        (&newer, &newer_keys, right, "newer toolgate"),
    ] {
        for exists in [false, true] {
            let name = format!("refused-{exists}");
            let target = made.target(&name);
            if exists {
                std::fs::create_dir_all(target.folder.join("data")).unwrap();
            }
            let before = content(&target.folder);
            let further = ["--keys", keys, "--passphrase-file", passphrase];
            let refused = restore(&target, archive, &further).await.unwrap_err();
            assert!(refused.contains(said), "{said}: {refused}");
            assert_eq!(content(&target.folder), before, "{said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_and_a_backup_replace_no_file() {
    let made = BackedUp::make().await;
    let with = ["--passphrase-file", made.passphrase.as_str()];
    for occupied in ["data/a", "plugins/a.wasm"] {
        let target = made.target(&occupied.replace('/', "-"));
        let path = target.folder.join(occupied);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "mine").unwrap();
        let before = content(&target.folder);
        let refused = made.restore(&target, &with).await.unwrap_err();
        assert!(refused.contains("is there already"), "{refused}");
        assert_eq!(content(&target.folder), before, "{occupied}");
    }
    let target = made.target("own-plugins");
    std::fs::write(target.folder.join("plugins/a.wasm"), "mine").unwrap();
    let further = ["--no-plugins", with[0], with[1]];
    made.restore(&target, &further).await.unwrap();

    let before = std::fs::read(&made.archive).unwrap();
    let again = Command::new(program())
        .arg("backup")
        .arg(&made.archive)
        .args(with)
        .arg("--data-dir")
        .arg(made.source.folder.join("data"))
        .output()
        .await
        .unwrap();
    assert_eq!(again.status.code(), Some(1));
    assert_eq!(std::fs::read(&made.archive).unwrap(), before);
    let names = std::fs::read_dir(made.folder.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<_> = names.filter(|name| name.contains(".part")).collect();
    assert_eq!(left, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_database_is_not_in_the_backup_and_the_report_says_so() {
    let url = tokio::task::spawn_blocking(postgres::fresh_url)
        .await
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut source = Installation::new(&folder.path().join("source"), &[]);
    source.database_url = Some(url.clone());
    source.serve(&[]).await.kill().await;
    let passphrase = passphrase_file(folder.path(), PASSPHRASE);
    let archive = folder.path().join("backup.tar.gz").display().to_string();
    let with = ["--passphrase-file", passphrase.as_str()];
    let report = source.run(&["backup", &archive, with[0], with[1]]).await;
    assert_eq!(report["database"], "postgres");
    assert!(source.log().contains("pg_dump"), "{}", source.log());

    let target = Installation::new(&folder.path().join("target"), &[]);
    let refused = restore(&target, &archive, &with).await.unwrap_err();
    assert!(refused.contains("--database-url"), "{refused}");
    let further = [with[0], with[1], "--database-url", &url];
    restore(&target, &archive, &further).await.unwrap();
    assert!(target.folder.join("data/master.key").exists());
    assert!(!target.folder.join("data/toolgate.db").exists());
}
