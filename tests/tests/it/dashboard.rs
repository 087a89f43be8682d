//! The dashboard in a real browser, served by the real program: the walk of an operator, every page
//! looked at by axe-core and Lighthouse, and what is sent to the browser.
//! The walks themselves are `tests/dashboard/*.mjs`.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use toolgate::gateway::connections::apps;
use toolgate_tests::gateway::built_plugin;
use toolgate_tests::oidc::Server;

use super::serving::program;

/// Nobody takes longer for all pages, however slow the machine.
const WALK_MAX: Duration = Duration::from_secs(600);
/// Everything that the pages are made of, as it travels.
const BUNDLE_BYTES_MAX: u64 = 400 * 1024;

/// The program on an empty data folder, with the authorization server in GitHub's place.
struct World {
    /// `http://127.0.0.1:PORT`.
    base: String,
    setup_url: String,
    provider: Server,
    _process: Child,
    _folders: TempDir,
}

impl World {
    async fn start(plugins: &[(&str, Vec<u8>)]) -> Self {
        let folders = tempfile::tempdir().unwrap();
        let plugins_dir = folders.path().join("plugins");
        std::fs::create_dir(&plugins_dir).unwrap();
        for (name, bytes) in plugins {
            std::fs::write(plugins_dir.join(name), bytes).unwrap();
        }
        let mut provider = Server::start().await.unwrap();
        let mut process = Command::new(program())
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .arg("--data-dir")
            .arg(folders.path().join("data"))
            .arg("--plugins-dir")
            .arg(&plugins_dir)
            .arg("--allow-upstream")
            .arg(format!("api.github.com={}", provider.url()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let said = first_value(&mut process).await;
        let setup_url = said["setup_url"].as_str().unwrap().to_owned();
        let base = setup_url.split("/setup").next().unwrap().to_owned();
        let callback = format!("{base}{}", apps::CALLBACK_PATH);
        provider.register(&callback, 3600).await.unwrap();
        Self {
            base,
            setup_url,
            provider,
            _process: process,
            _folders: folders,
        }
    }

    /// Runs one of `tests/dashboard/*.mjs` to its end; answers what it printed.
    async fn walk(&self, script: &str, more: Value) -> String {
        let mut asked = json!({
            "tools": tools(),
            "base": self.base,
            "setup_url": self.setup_url,
            "provider": self.provider.url(),
        });
        let all = asked.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        let child = Command::new("node")
            .arg(beside(script))
            .arg(asked.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let output = tokio::time::timeout(WALK_MAX, child.wait_with_output())
            .await
            .unwrap_or_else(|_| panic!("{script} does not end"))
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{script} failed after\n{printed}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{printed}");
        printed
    }
}

/// The JSON value that `serve --json` prints first, on one line or several.
async fn first_value(process: &mut Child) -> Value {
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut text = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        text.push_str(&line);
        if let Ok(value) = serde_json::from_str(&text) {
            return value;
        }
    }
    panic!("the program ended after {text:?}");
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn beside(name: &str) -> PathBuf {
    here().join("dashboard").join(name)
}

fn words() -> PathBuf {
    here().join("plugins/dist/words.wasm")
}

/// Where `tests/dashboard/setup.sh` puts the browser driver.
fn tools() -> PathBuf {
    let tools = std::env::var_os("TOOLGATE_TEST_TOOLS")
        .map_or_else(|| here().join("../target/test-tools"), PathBuf::from)
        .join("dashboard");
    assert!(
        tools.join(".installed").exists(),
        "{} is missing: run tests/dashboard/setup.sh first",
        tools.display()
    );
    tools
}

/// The pages as they were built.
fn dist() -> PathBuf {
    let dist = here().join("../host/dashboard/dist");
    assert!(
        dist.join("index.html").exists(),
        "host/dashboard/dist is missing: run `make dashboard` first"
    );
    dist
}

fn furnished() -> [(&'static str, Vec<u8>); 2] {
    [
        ("github.wasm", built_plugin("github").unwrap()),
        ("words.wasm", std::fs::read(words()).unwrap()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_does_everything_in_the_browser() {
    dist();
    let world = World::start(&[("github.wasm", built_plugin("github").unwrap())]).await;
    let printed = world.walk("walk.mjs", json!({ "upload": words() })).await;
    assert_eq!(printed.lines().count(), 10, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_accessible_in_both_themes_and_fits_a_telephone() {
    dist();
    let world = World::start(&furnished()).await;
    world.walk("look.mjs", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lighthouse_gives_at_least_95() {
    dist();
    let world = World::start(&furnished()).await;
    world.walk("lighthouse.mjs", json!({})).await;
}

#[test]
fn the_bundle_is_small_and_holds_nothing_inline_and_no_foreign_address() {
    let dist = dist();
    let mut compressed = 0;
    let mut scripts = 0;
    for entry in std::fs::read_dir(dist.join("assets")).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(std::ffi::OsStr::to_str) {
            Some("gz") => compressed += path.metadata().unwrap().len(),
            Some("js") => {
                scripts += 1;
                assert!(gz(&path).exists(), "{} is not compressed", path.display());
            }
            _ => {}
        }
    }
    assert!(scripts > 10, "{scripts} scripts");
    assert!(
        compressed < BUNDLE_BYTES_MAX,
        "{compressed} bytes, compressed"
    );
    println!("{compressed} bytes, compressed");

    let page = std::fs::read_to_string(dist.join("index.html")).unwrap();
    for inline in ["<style", " style=", "onload=", "http://", "https://"] {
        assert!(!page.contains(inline), "{inline} in index.html");
    }
    let scripts = page.matches("<script").count();
    assert_eq!(page.matches("src=\"/assets/").count(), scripts, "{page}");
}

fn gz(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    PathBuf::from(name)
}
