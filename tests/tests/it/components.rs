//! What the SDK for Rust gives every component: minimal imports, memory, a log of panics and files that are
//! written in pieces. Also which versions of the contract run.

use std::path::Path;

use axum::body::Body;
use axum::http::Response;
use base64::Engine as _;
use serde_json::json;
use toolgate_tests::gateway::{TestGateway, built_plugin};
use toolgate_tests::process::{Installation, wait};
use toolgate_tests::upstream::{Received, Upstream};

/// What may do nothing but compute cannot even write to the log; what may do more says what.
#[test]
fn a_plugin_without_capabilities_imports_no_function() {
    let imports = |service: &str, interface: &str| {
        let component = built_plugin(service).unwrap();
        String::from_utf8_lossy(&component).contains(&format!("toolgate:plugin/{interface}@"))
    };
    for interface in ["call", "egress", "kv"] {
        assert!(!imports("words", interface), "{interface}");
    }
    assert!(imports("stumbler", "call"), "a panic is told");
    assert!(imports("github", "egress"));
}

/// What WASI offers could be taken for granted by a plugin, so none that ships asks for any of it.
#[test]
fn no_plugin_that_ships_imports_wasi() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/dist");
    let names_wasi = |file: &Path| {
        let bytes = std::fs::read(file).unwrap();
        String::from_utf8_lossy(&bytes).contains("wasi:")
    };
    let files: Vec<_> = std::fs::read_dir(&folder)
        .expect("`make plugins described` has built plugins/dist")
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!files.is_empty());
    let with: Vec<_> = files.iter().filter(|file| names_wasi(file)).collect();
    assert!(with.is_empty(), "{with:?}");
    // One that does is told apart.
    let door = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugins/dist/door.wasm");
    assert!(names_wasi(&door));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_panic_says_is_in_the_log_and_not_in_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &["stumbler"]);
    let process = installation.serve(&["stumbler_stumble"]).await;
    let arguments = json!({ "arguments": { "message": "the third step is missing" } });
    let answer = process
        .post("/v1/tools/stumbler_stumble/execute", &arguments)
        .await;
    let answer = answer.data();
    assert_eq!(answer["reason"], "plugin_crashed", "{answer}");
    assert!(!answer.to_string().contains("third step"), "{answer}");
    // The log is written a little after the answer.
    wait("the panic to be in the log", async || {
        installation.log().contains("the third step is missing")
    })
    .await;
    process.kill().await;
    let log = installation.log();
    let line = log
        .lines()
        .find(|line| line.contains("the third step is missing"))
        .unwrap_or_else(|| panic!("not in the log: {log}"));
    for part in ["stumbler", "src/lib.rs", "ERROR"] {
        assert!(line.contains(part), "no {part} in {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_holds_what_was_written_within_its_first_room_and_far_beyond() {
    let component = built_plugin("stumbler").unwrap();
    let gateway = TestGateway::with_plugin("stumbler.wasm", component).await;
    for (texts, bytes, rounds) in [
        (3, 100, 1),
        // Around the size of the room, in one piece and in many.
        (1, 131_072, 2),
        (100, 1_300, 3),
        // Many times the room, but written anew: what is given back is used again.
        (40, 50_000, 20),
    ] {
        let arguments = json!({ "texts": texts, "bytes": bytes, "rounds": rounds });
        let answer = gateway.execute("stumbler_fill", arguments.clone()).await;
        assert_eq!(answer["status"], "success", "{arguments}: {answer}");
        assert_eq!(answer["result"]["sound"], texts * rounds, "{arguments}");
    }
    // More than a plugin may hold is refused, not given.
    let arguments = json!({ "texts": 100, "bytes": 1_000_000, "rounds": 1 });
    let answer = gateway.execute("stumbler_fill", arguments).await;
    assert_eq!(answer["reason"], "limit_exceeded", "{answer}");
}

/// A service with pages of `bytes` bytes, and a plugin that writes them into one file.
async fn collector(bytes: usize) -> (TestGateway, Upstream) {
    let upstream = Upstream::start(move |received: &Received| {
        let page = received.target.strip_prefix("/pages/").unwrap_or_default();
        Response::new(Body::from(page.repeat(bytes)))
    })
    .await;
    let gateway = TestGateway::with_upstream("walker", "api.walker.test", upstream.url()).await;
    (gateway, upstream)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_grows_on_the_host_before_and_after_it_is_sent() {
    let (gateway, upstream) = collector(3).await;
    let answer = gateway
        .execute("walker_collect", json!({ "pages": 4 }))
        .await;
    assert_eq!(answer["result"]["size"], 18, "{answer}");
    let file = &answer["files"][0];
    assert_eq!(file["name"], "pages.txt");
    let content = file["content"].as_str().unwrap();
    let content = base64::engine::general_purpose::STANDARD.decode(content);
    assert_eq!(content.unwrap(), b"111222333444, sent");
    let received = upstream.received();
    let sent = received.iter().find(|request| request.target == "/file");
    assert_eq!(sent.unwrap().body, "111222333444");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_grows_is_bounded_like_any_other() {
    let (gateway, upstream) = collector(1_000_000).await;
    let answer = gateway
        .execute("walker_collect", json!({ "pages": 9 }))
        .await;
    let sent = |target: &str| upstream.received().iter().any(|one| one.target == target);
    assert!(sent("/file"), "{answer}");
    let answer = gateway
        .execute("walker_collect", json!({ "pages": 40 }))
        .await;
    assert_eq!(answer["reason"], "limit_exceeded", "{answer}");
    assert!(sent("/pages/20") && !sent("/pages/40"));
}

fn replaced(component: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "lengths stand before names");
    let mut other = component.to_vec();
    for at in 0..component.len() - from.len() {
        if component[at..].starts_with(from.as_bytes()) {
            other[at..at + from.len()].copy_from_slice(to.as_bytes());
        }
    }
    assert_ne!(other, component);
    other
}

/// The same file as if it had been built for another version of the plugin contract.
fn built_for(service: &str, version: &str) -> Vec<u8> {
    replaced(&built_plugin(service).unwrap(), "@0.1.1", version)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_built_for_a_later_0_1_runs_and_one_for_0_2_is_refused() {
    let gateway = TestGateway::with_plugin("stumbler.wasm", built_for("stumbler", "@0.1.7")).await;
    let arguments = json!({ "texts": 1, "bytes": 3, "rounds": 2 });
    let answer = gateway.execute("stumbler_fill", arguments).await;
    assert_eq!(answer["result"]["sound"], 2, "{answer}");

    gateway.drop_file("walker.wasm", &built_for("walker", "@0.2.0"));
    let reason = gateway.wait_for_file("walker.wasm", "quarantined").await;
    assert!(
        reason.contains("version 0.2.0 of the plugin contract"),
        "{reason}"
    );

    // A file that uses a function of a later version is refused.
    let later = built_for("walker", "@0.1.2");
    let needs_more = replaced(&later, "[method]blob.append", "[method]blob.insert");
    gateway.drop_file("needs_more.wasm", &needs_more);
    let reason = gateway
        .wait_for_file("needs_more.wasm", "quarantined")
        .await;
    for part in [
        "version 0.1.2 of the plugin contract",
        "this gateway has 0.1.1",
        "blob.insert",
    ] {
        assert!(reason.contains(part), "no {part} in {reason}");
    }
}
