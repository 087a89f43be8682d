//! The dashboard in a real browser, served by the real program: the walk of an operator, every page
//! looked at by axe-core and Lighthouse, and what is sent to the browser.
//! The walks themselves are `tests/dashboard/*.mjs`.

mod address;
mod connect;
mod decide;
mod describe;
mod explorer;
mod first_hour;
mod reference;
mod toolsets;
mod triggers;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, mpsc};
use toolgate_gateway::identity::members;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::built_plugin;
use toolgate_tests::model::{self, Line, Model};
use toolgate_tests::oidc::Server;
use toolgate_tests::pdf;
use toolgate_tests::postgres;
use toolgate_tests::receiver::Receiver;
use toolgate_tests::tools;
use toolgate_tests::upstream::Upstream;

use super::serving::program;

/// Nobody takes longer for all pages, however slow the machine.
const WALK_MAX: Duration = Duration::from_secs(600);
/// Everything that the pages are made of, as it travels.
const BUNDLE_BYTES_MAX: u64 = 400 * 1024;
/// The script that every page begins with, in brotli.
const MAIN_BYTES_MAX: u64 = 110_000;

/// The program on an empty data folder, with the authorization server in GitHub's place where one
/// was asked for.
struct World {
    /// `http://127.0.0.1:PORT`.
    base: String,
    setup_url: String,
    provider: Option<Server>,
    process: Mutex<Child>,
    /// What `serve` was given beside its address and folders.
    more: Vec<String>,
    folders: TempDir,
}

impl World {
    async fn start(plugins: &[(&str, Vec<u8>)]) -> Self {
        let mut provider = Server::start().await.unwrap();
        let upstream = format!("api.github.com={}", provider.url());
        let world = Self::start_with(plugins, &["--allow-upstream", &upstream]).await;
        let callback = format!("{}/oauth/callback/github", world.base);
        provider.register(&callback, 3600).await.unwrap();
        Self {
            provider: Some(provider),
            ..world
        }
    }

    /// Without an authorization server, and with more arguments.
    async fn start_with(plugins: &[(&str, Vec<u8>)], more: &[&str]) -> Self {
        let folders = tempfile::tempdir().unwrap();
        let plugins_dir = folders.path().join("plugins");
        std::fs::create_dir(&plugins_dir).unwrap();
        for (name, bytes) in plugins {
            std::fs::write(plugins_dir.join(name), bytes).unwrap();
        }
        let more: Vec<String> = more.iter().map(|&text| text.to_owned()).collect();
        let mut process = serve(folders.path(), "127.0.0.1:0", &more);
        let said = first_value(&mut process).await;
        let setup_url = said["setup_url"].as_str().unwrap().to_owned();
        let base = setup_url.split("/setup").next().unwrap().to_owned();
        Self {
            base,
            setup_url,
            provider: None,
            process: Mutex::new(process),
            more,
            folders,
        }
    }

    /// As an operator's supervisor does it: SIGTERM, and the same again at the same address.
    async fn restart(&self) {
        let mut process = self.process.lock().await;
        let id = process.id().unwrap().to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status().await;
        assert!(killed.unwrap().success());
        process.wait().await.unwrap();
        let address = self.base.trim_start_matches("http://");
        *process = serve(self.folders.path(), address, &self.more);
        first_value(&mut process).await;
    }

    /// Runs another command of the program on the same installation.
    async fn command(&self, arguments: &[&str]) {
        let mut command = Command::new(program());
        let output = command
            .args(arguments)
            .arg("--data-dir")
            .arg(self.folders.path().join("data"))
            .output();
        let output = output.await.unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// Runs one of `tests/dashboard/*.mjs` to its end; answers what it printed.
    async fn walk(&self, script: &str, more: Value) -> String {
        let mut asked = json!({
            "tools": tools(),
            "base": self.base,
            "setup_url": self.setup_url,
            "provider": self.provider.as_ref().map(Server::url),
        });
        let all = asked.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        let child = tools::node()
            .unwrap()
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

/// `toolgate serve` on the folders `data` and `plugins` of `folder`.
fn serve(folder: &Path, listen: &str, more: &[String]) -> Child {
    Command::new(program())
        .args(["serve", "--json", "--listen", listen])
        .arg("--data-dir")
        .arg(folder.join("data"))
        .arg("--plugins-dir")
        .arg(folder.join("plugins"))
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
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
    tools::installed("dashboard", "dashboard").unwrap()
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
    assert_eq!(printed.lines().count(), 11, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn members_sign_in_with_an_openid_connect_provider_in_the_browser() {
    dist();
    let mut provider = Server::start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "the-client-secret\n").unwrap();
    let issuer = provider.issuer();
    let more = [
        "--oidc-issuer",
        &issuer,
        "--oidc-client-id",
        "the-client",
        "--oidc-client-secret-file",
        secret.to_str().unwrap(),
        "--oidc-name",
        "the Example company",
    ];
    let world = World::start_with(&[], &more).await;
    let callback = format!("{}{}", world.base, members::oidc::OIDC_CALLBACK_PATH);
    provider.register_sign_in(&callback).await.unwrap();
    let printed = world.walk("oidc.mjs", json!({ "issuer": issuer })).await;
    assert_eq!(printed.lines().count(), 8, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_lets_an_app_in_and_disconnects_it() {
    dist();
    let words = [("words.wasm", std::fs::read(words()).unwrap())];
    let world = World::start_with(&words, &[]).await;
    let printed = world.walk("apps.mjs", json!({})).await;
    assert_eq!(printed.lines().count(), 5, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_remote_gets_from_the_address_to_an_executed_tool() {
    dist();
    let words = [("words.wasm", std::fs::read(words()).unwrap())];
    let world = World::start_with(&words, &[]).await;
    let home = tempfile::tempdir().unwrap();
    let program = "mcp_remote/node_modules/mcp-remote/dist/proxy.js";
    let remote = tools::installed(program, "mcp").unwrap();
    let more = json!({ "remote": remote, "home": home.path() });
    let printed = world.walk("remote.mjs", more).await;
    assert_eq!(printed.lines().count(), 4, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn admins_and_members_have_their_own_views_and_a_member_approves_on_postgresql() {
    dist();
    let words = [("words.wasm", std::fs::read(words()).unwrap())];
    let url = tokio::task::spawn_blocking(postgres::fresh_url);
    let url = url.await.unwrap();
    let world = World::start_with(&words, &["--database-url", &url]).await;
    let printed = world.walk("people.mjs", json!({})).await;
    assert_eq!(printed.lines().count(), 7, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_is_upgraded_and_brought_back_in_the_browser() {
    dist();
    let folder = tempfile::tempdir().unwrap();
    let keep = |name: &str, bytes: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let region = json!([{"key": "region", "title": "Region", "schema": {"type": "string"}}]);
    let first = Fixture::new("grow").with("config", region);
    let second = first
        .clone()
        .with("version", json!("2.0.0"))
        .with("hosts", json!(["api.example.com"]))
        .with("capabilities", json!(["egress"]));
    let files = json!({
        "first": keep("first.wasm", first.build()),
        "second": keep("second.wasm", second.build()),
        "bad": keep("bad.wasm", b"\0asm no plugin at all".to_vec()),
    });
    let world = World::start_with(&[], &[]).await;
    let printed = world.walk("upgrade.mjs", files).await;
    assert_eq!(printed.lines().count(), 7, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_added_watched_and_deleted_in_the_browser() {
    dist();
    let receiver = Receiver::start(0.0).await.unwrap();
    let world = World::start_with(&[], &["--allow-upstream", &receiver.upstream()]).await;
    let hooks = format!("http://127.0.0.1:{}", receiver.port);
    let printed = world.walk("webhooks.mjs", json!({ "hooks": hooks })).await;
    assert_eq!(printed.lines().count(), 5, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_searched_and_a_session_converses_in_the_browser() {
    dist();
    let count = json!({"tool_name": "words_count", "arguments": {"text": "How many words has"}});
    let model = Arc::new(
        Model::start([
            model::text("**Hello** there."),
            model::call("execute_tool", count.clone()),
            Line::Gated(Box::new(model::text("It has four words."))),
            model::call("execute_tool", count),
            model::text("Counted after all."),
        ])
        .await,
    );
    let opened = model.clone();
    let gate = Upstream::start(move |_| {
        opened.open_gate();
        Response::new(Body::empty())
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let pdf = folder.path().join("manual.pdf");
    std::fs::write(
        &pdf,
        pdf::pages(&["How the mill is oiled.", "How it is stopped."]),
    )
    .unwrap();
    let words = [("words.wasm", std::fs::read(words()).unwrap())];
    let url = model.url();
    let world = World::start_with(&words, &["--model-url", &url, "--model", "scripted"]).await;
    let asked = json!({ "pdf": pdf, "folder": folder.path(), "gate": gate.url() });
    let printed = world.walk("talk.mjs", asked).await;
    assert_eq!(printed.lines().count(), 6, "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_page_survives_a_restart_and_catches_up_in_the_browser() {
    dist();
    let world = World::start_with(&[("words.wasm", std::fs::read(words()).unwrap())], &[]).await;
    let (ask, mut asked) = mpsc::unbounded_channel();
    let door = Upstream::start(move |_| {
        let _ = ask.send(());
        Response::new(Body::empty())
    })
    .await;
    let restarts = async {
        while asked.recv().await.is_some() {
            world.restart().await;
        }
    };
    let urls = json!({ "restart": door.url() });
    tokio::select! {
        printed = world.walk("live.mjs", urls) => {
            assert_eq!(printed.lines().count(), 6, "{printed}");
        }
        () = restarts => unreachable!("the door stays open"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_is_kept_and_sent_as_it_was_meant_in_the_browser() {
    dist();
    let properties = json!({
        "ratio": {"type": "number"},
        "count": {"type": "integer"},
        "parts": {"type": "array", "items": {"type": "number"}},
    });
    let input = json!({"type": "object", "properties": properties, "additionalProperties": false});
    let mut figures = Fixture::new("figures");
    figures.manifest["tools"][0]["input"] = input;
    let region = json!([{"key": "region", "title": "Region", "schema": {"type": "string"}}]);
    let figures = figures.with("config", region);
    let plugins = [
        ("figures.wasm", figures.build()),
        ("github.wasm", built_plugin("github").unwrap()),
    ];
    let world = World::start_with(&plugins, &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let keep = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let tenant = json!({"email": "eve@example.com", "password": "another mill turns slowly"});
    let password = keep("password", b"another mill turns slowly\n");
    world.command(&["workspace", "create", "Tenant"]).await;
    let (path, email) = (password.to_str().unwrap(), "eve@example.com");
    let person = ["--email", email, "--role", "admin", "--password-file", path];
    let create = ["member", "create", "--workspace", "Tenant"];
    world.command(&[&create[..], &person[..]].concat()).await;
    let asked = json!({
        "tenant": tenant,
        "picture": keep("picture.png", b"no document"),
        "other": keep("other.png", b"none either"),
        "note": keep("note.md", b"# Travel policy\n\nTrains before planes.\n"),
    });
    let printed = world.walk("forms.mjs", asked).await;
    assert_eq!(printed.lines().count(), 7, "{printed}");
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

/// What the dashboard decides without a page: its own tests, beside its sources.
#[tokio::test]
async fn the_unit_tests_of_the_dashboard_pass() {
    let folder = here().join("../host/dashboard");
    assert!(
        folder.join("node_modules").exists(),
        "host/dashboard/node_modules is missing: run `make dashboard` first"
    );
    let mut command = tools::npm().unwrap();
    let output = command.arg("test").current_dir(folder).output();
    let output = output.await.unwrap();
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_bundle_is_small_and_holds_nothing_inline_and_no_foreign_address() {
    let dist = dist();
    let mut compressed = 0;
    let mut scripts = 0;
    let mut folders = vec![dist.join("assets")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(std::ffi::OsStr::to_str) {
                _ if path.is_dir() => folders.push(path),
                Some("gz") => compressed += path.metadata().unwrap().len(),
                Some("js") => {
                    scripts += 1;
                    assert!(gz(&path).exists(), "{} is not compressed", path.display());
                }
                _ => {}
            }
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
    let (_, main) = page.split_once("src=\"/").unwrap();
    let (main, _) = main.split_once('"').unwrap();
    let main = dist.join(format!("{main}.br")).metadata().unwrap().len();
    assert!(main < MAIN_BYTES_MAX, "{main} bytes of the main script");
}

fn gz(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    PathBuf::from(name)
}
