//! The folders of three machines are three doors to one folder.

use std::time::{Duration, Instant};

use serde_json::json;
use toolgate_store::Store;
use toolgate_tests::component::{Fixture, tool};
use toolgate_tests::process::{Process, wait};

use super::Replicas;

/// What one gateway takes in, the others serve after this long at most.
const EVERYWHERE_WITHIN: Duration = Duration::from_secs(5);

fn version(version: &str) -> Vec<u8> {
    let mut run = tool("run");
    run["description"] = json!(format!("Is of version {version}."));
    let shared = Fixture::new("shared").with("version", json!(version));
    shared.with("tools", json!([run])).build()
}

/// The version that a gateway serves, and whose tool runs there.
async fn serves(process: &Process) -> Option<String> {
    let answer = process.get("/v1/tools/shared_run/schema").await;
    if answer.status != 200 {
        return None;
    }
    let description = answer.data()["description"].as_str()?.to_owned();
    let run = json!({ "arguments": {} });
    let ran = process.post("/v1/tools/shared_run/execute", &run).await;
    let said = description
        .strip_prefix("Is of version ")?
        .strip_suffix('.')?;
    (ran.status == 200 && ran.data()["status"] == "success").then(|| said.to_owned())
}

/// Waits until every gateway serves this, and answers how long it took from `since`.
async fn everywhere(replicas: &Replicas, version: Option<&str>, since: Instant) -> Duration {
    loop {
        let mut found = Vec::new();
        for process in &replicas.processes {
            found.push(serves(process).await);
        }
        if found.iter().all(|found| found.as_deref() == version) {
            return since.elapsed();
        }
        let log = || {
            replicas
                .installations
                .iter()
                .map(|one| one.log())
                .collect::<Vec<_>>()
                .join("\n--\n")
        };
        assert!(
            since.elapsed() < Duration::from_secs(30),
            "{found:?} instead of {version:?}\n{}",
            log()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A file appears whole in the folder.
fn put(replicas: &Replicas, n: usize, bytes: &[u8]) -> Instant {
    let file = replicas.plugin_file(n, "shared.wasm");
    let part = file.with_extension("part");
    std::fs::write(&part, bytes).unwrap();
    std::fs::rename(&part, &file).unwrap();
    Instant::now()
}

/// How often an action is in the audit log.
async fn entries(replicas: &Replicas, action: &str) -> usize {
    let store = Store::open(&replicas.database_url).await.unwrap();
    let first = store.first_workspace().await.unwrap().unwrap();
    let found = store
        .list_audit_entries(&first.id, None, 100)
        .await
        .unwrap();
    found
        .items
        .iter()
        .filter(|entry| entry.action == action)
        .count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_dropped_at_one_machine_is_served_by_all() {
    let mut replicas = Replicas::start_under_patroni(&[], &[]).await;
    let since = put(&replicas, 0, &version("1.0.0"));
    let took = everywhere(&replicas, Some("1.0.0"), since).await;
    println!("dropped at one, served by three after {took:?}");
    assert!(took < EVERYWHERE_WITHIN, "{took:?}");

    // An upgrade at another machine.
    let since = put(&replicas, 1, &version("2.0.0"));
    let took = everywhere(&replicas, Some("2.0.0"), since).await;
    println!("upgraded at one, served by three after {took:?}");
    assert!(took < EVERYWHERE_WITHIN, "{took:?}");

    // The first machine still has the old file in its folder: a start brings nothing back.
    let process = replicas.processes.remove(0);
    process.kill().await;
    let again = replicas.installations[0].serve(&["shared_run"]).await;
    replicas.processes.insert(0, again);
    everywhere(&replicas, Some("2.0.0"), Instant::now()).await;
    // Nor does one whose data folder is lost.
    let process = replicas.processes.remove(0);
    process.kill().await;
    std::fs::remove_dir_all(replicas.installations[0].folder.join("data")).unwrap();
    let again = replicas.installations[0].serve(&["shared_run"]).await;
    replicas.processes.insert(0, again);
    everywhere(&replicas, Some("2.0.0"), Instant::now()).await;
    let log = replicas.installations[0].log();
    assert!(log.contains("plugins.file_superseded"), "{log}");

    // Written again, it is what the operator wants.
    let since = put(&replicas, 0, &version("1.0.0"));
    let took = everywhere(&replicas, Some("1.0.0"), since).await;
    println!("rolled back at one, served by three after {took:?}");
    assert!(took < EVERYWHERE_WITHIN, "{took:?}");
    // Each change was made once, by whichever gateway was first.
    assert_eq!(entries(&replicas, "plugins.activate").await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_goes_from_one_machine_goes_from_all() {
    let plugins = [("shared.wasm", version("1.0.0"))];
    let replicas = Replicas::start(&plugins, &["shared_run"]).await;
    // A machine serves what another has put in before it has taken its own file, which has to settle first.
    // One that did so only after the removal would take the file that is written again for the one removed.
    for machine in &replicas.installations {
        let memory = machine.folder.join("data/plugins-folder.json");
        wait("the machine to know its file", async || {
            std::fs::read_to_string(&memory).is_ok_and(|text| text.contains("shared.wasm"))
        })
        .await;
    }
    let since = Instant::now();
    std::fs::remove_file(replicas.plugin_file(1, "shared.wasm")).unwrap();
    let took = everywhere(&replicas, None, since).await;
    println!("removed at one, served by none after {took:?}");
    assert!(took < EVERYWHERE_WITHIN, "{took:?}");
    assert!(
        replicas.plugin_file(0, "shared.wasm").exists(),
        "the other folders are left alone"
    );
    assert_eq!(entries(&replicas, "plugins.drop").await, 1);

    // It is back when one machine writes it again.
    let since = put(&replicas, 2, &version("1.0.0"));
    everywhere(&replicas, Some("1.0.0"), since).await;

    // The command line of a machine that has no such file removes it from all.
    let since = Instant::now();
    let removed = replicas.installations[1]
        .run(&["plugin", "remove", "shared"])
        .await;
    assert_eq!(removed["file"], "shared.wasm", "{removed}");
    everywhere(&replicas, None, since).await;
}

/// A folder that is away is not a folder from which everything was deleted.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_away_removes_nothing() {
    let plugins = [("shared.wasm", version("1.0.0"))];
    let mut replicas = Replicas::start(&plugins, &["shared_run"]).await;
    let folder = replicas.installations[2].folder.join("plugins");
    std::fs::rename(&folder, folder.with_extension("away")).unwrap();
    // Another change shows that the gateway has looked.
    let since = put(&replicas, 0, &version("2.0.0"));
    everywhere(&replicas, Some("2.0.0"), since).await;
    // An empty folder in its place is one that was not seen before.
    std::fs::create_dir(&folder).unwrap();
    let since = put(&replicas, 0, &version("3.0.0"));
    everywhere(&replicas, Some("3.0.0"), since).await;
    let process = replicas.processes.remove(2);
    process.kill().await;
    let again = replicas.installations[2].serve(&["shared_run"]).await;
    replicas.processes.push(again);
    everywhere(&replicas, Some("3.0.0"), Instant::now()).await;
}
