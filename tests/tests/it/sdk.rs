//! The clients in other languages, each installed into a clean place and made to act out one shared
//! file of cases, `tests/sdk/cases.json`, against a real gateway, real plugins and a service that
//! records what reaches it. The dashboard's types are generated with theirs.

mod door;
mod driver;
mod story;
mod world;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use driver::Driver;
use tokio::process::Command;
use toolgate_catalog::Tool;
use toolgate_runtime::inspect;
use toolgate_tests::tools;
use world::World;

/// Longest run of one language's own tests.
const SUITE_MAX: Duration = Duration::from_secs(300);

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_does_what_the_cases_say() {
    prove("python", &["sync", "async"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_node_client_does_what_the_cases_say() {
    prove("node", &["async"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_go_client_does_what_the_cases_say() {
    prove("go", &["go"]).await;
}

/// `make sdk` was run after the last change of the document.
#[tokio::test]
async fn the_types_of_the_dashboard_are_those_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let document = written_document(folder.path());
    let sdk = tools().join("sdk");
    let mut command = Command::new(sdk.join("python/bin/python"));
    command
        .arg(beside("../../sdk/clients/generate.py"))
        .arg(&document)
        .arg(&sdk)
        .args(["--check", "dashboard"])
        .env("PATH", tools::path().unwrap());
    run(&mut command).await;
}

async fn prove(language: &str, modes: &[&str]) {
    let clean = prepared(language).await;
    let world = World::start().await;
    for mode in modes {
        act(&clean, &world, mode).await;
    }
    suite(language, &clean, &world).await;
}

/// A folder with the language's client, installed as a user installs it.
async fn prepared(language: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let script = beside(language).join("prepare.sh");
    run(Command::new("bash").arg(script).arg(folder.path())).await;
    folder
}

/// Acts out every case, each in a place of its own.
async fn act(clean: &tempfile::TempDir, world: &World, mode: &str) {
    let mut driver = Driver::start(clean.path(), mode);
    let (mut failed, mut keys) = (String::new(), Vec::new());
    for case in &story::cases() {
        let place = world.place(case).await;
        if let Err(failure) = story::act(case, &place, &mut driver).await {
            failed += &format!("\n{mode}: {}: {failure:#}", case.name);
        }
        keys.extend(place.keys().cloned());
    }
    let said = driver.end().await;
    assert!(failed.is_empty(), "{failed}\n{said}");
    for key in keys {
        assert!(
            !said.contains(&key),
            "{mode}: a key is in what was said: {said}"
        );
    }
}

/// The language's own tests: types against the document, webhook vectors, adapters, quick start.
async fn suite(language: &str, clean: &tempfile::TempDir, world: &World) {
    let document = written_document(clean.path());
    std::fs::write(clean.path().join("catalog.json"), catalog()).unwrap();
    let script = beside(language).join("suite.sh");
    let mut command = Command::new("bash");
    command
        .arg(script)
        .arg(clean.path())
        .arg(&document)
        .env("TOOLGATE_URL", world.gateway.url(""))
        .env("TOOLGATE_API_KEY", &world.gateway.key);
    let said = run(&mut command).await;
    assert!(
        said.rsplit_once("quick start: ")
            .is_some_and(|(_, result)| result.contains("Gateways in Rust")),
        "the quick start ends with a tool's result: {said}"
    );
}

/// The OpenAPI document as a file of `folder`.
fn written_document(folder: &Path) -> PathBuf {
    let document = folder.join("openapi.json");
    let text = serde_json::to_string(&toolgate_http::rest::document()).unwrap();
    std::fs::write(&document, text).unwrap();
    document
}

/// Every tool that ships, as the server describes it.
fn catalog() -> String {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/dist");
    let files = std::fs::read_dir(dist).expect("`make plugins described` has built plugins/dist");
    let mut tools = Vec::new();
    for file in files.map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|ending| ending != "wasm") {
            continue;
        }
        let inspected = inspect::read(&std::fs::read(&file).unwrap()).unwrap();
        let (manifest, sha256) = (Arc::new(inspected.manifest), Arc::from(inspected.sha256));
        for tool in Tool::from_manifest(&manifest, &sha256) {
            tools.push(serde_json::json!({
                "name": tool.name,
                "description": tool.spec().description,
                "inputSchema": tool.input_schema,
            }));
        }
    }
    serde_json::to_string(&tools).unwrap()
}

async fn run(command: &mut Command) -> String {
    let output = command
        .env("TOOLGATE_TEST_TOOLS", tools())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(SUITE_MAX, output)
        .await
        .expect("the language's own tools end in time")
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}\n{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

/// Where `tests/sdk/setup.sh` installs compilers, generators and what the clients depend on.
fn tools() -> PathBuf {
    let folder = tools::installed("sdk", "sdk").unwrap();
    folder.parent().unwrap().to_owned()
}

/// A file of `tests/sdk`.
fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sdk").join(name)
}
