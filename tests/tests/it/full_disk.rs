//! A disk that takes no more: what is refused, what is not sent, and that it heals by itself.

use axum::body::Body;
use serde_json::{Value, json};
use toolgate_tests::process::{Installation, wait};
use toolgate_tests::upstream::Upstream;

use crate::crash;

const RUN: &str = "/v1/tools/notes_create_note/execute";

fn skill(name: &str) -> Value {
    json!({ "name": name, "summary": "x", "instructions": "x" })
}

/// A gateway with the plugin `notes`, whose provider is `upstream`. Its log is a file, so it cannot be
/// written either.
fn installation(folder: &std::path::Path, wasm: &[u8], upstream: &Upstream) -> Installation {
    let mut installation = Installation::new(folder, &[]);
    std::fs::write(folder.join("plugins/notes.wasm"), wasm).unwrap();
    installation.allow_upstream = vec![format!("api.notes.io={}", upstream.url())];
    installation
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_refuses_what_it_cannot_keep_and_heals_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let upstream =
        Upstream::start(|_| axum::http::Response::new(Body::from("{\"ok\":true}"))).await;
    let wasm = crash::plugin(folder.path()).await;
    let installation = installation(folder.path(), &wasm, &upstream);
    let process = installation.serve(&["notes_create_note"]).await;
    let call = json!({ "arguments": {} });
    let mut receipts = Vec::new();
    let ran = process.post(RUN, &call).await.data();
    assert_eq!(ran["status"], "success", "{ran}");
    receipts.push(ran["execution_id"].as_str().unwrap().to_owned());
    assert_eq!(
        process.post("/v1/skills", &skill("before")).await.status,
        201
    );
    assert_eq!(process.get("/readyz").await.status, 200);
    let sent = upstream.received().len();

    process.limit_files("0").await;
    for again in 0..3 {
        let refused = process.post("/v1/skills", &skill("full")).await;
        assert_eq!(refused.status, 503, "{again}: {}", refused.text);
        assert_eq!(refused.code(), "overloaded");
        assert_eq!(refused.json()["error"]["details"]["reason"], "database");
        assert!(refused.headers.contains_key("retry-after"));
    }
    // The last probe may be a second old.
    wait("readyz to say so", async || {
        process.get("/readyz").await.status == 503
    })
    .await;
    assert_eq!(process.get("/healthz").await.status, 200);
    let health = process.get("/v1/health").await.data();
    assert_eq!(health["status"], "degraded", "{health}");
    assert_eq!(process.get("/v1/skills").await.status, 200, "reading works");
    // A write that cannot be written down does not leave; after the first one no call starts.
    for again in 0..3 {
        let refused = process.post(RUN, &call).await;
        let ran = refused.status == 200 && refused.data()["status"] == "success";
        assert!(!ran, "{again}: {}", refused.text);
    }
    wait("no call to start", async || {
        process.post(RUN, &call).await.status == 503
    })
    .await;
    assert_eq!(upstream.received().len(), sent, "nothing left");

    process.limit_files("unlimited").await;
    let made = process.post("/v1/skills", &skill("after")).await;
    assert_eq!(made.status, 201, "the first write is taken: {}", made.text);
    wait("readyz to say so", async || {
        process.get("/readyz").await.status == 200
    })
    .await;
    wait("calls to run again", async || {
        let answer = process.post(RUN, &call).await;
        if answer.status == 200 {
            assert_eq!(answer.data()["status"], "success", "{}", answer.text);
        }
        answer.status == 200
    })
    .await;
    for _ in 0..5 {
        let ran = process.post(RUN, &call).await.data();
        assert_eq!(ran["status"], "success", "{ran}");
        receipts.push(ran["execution_id"].as_str().unwrap().to_owned());
    }
    process.kill().await;

    // Nothing that was acknowledged is lost, before, after and in the log alone.
    let process = installation.serve(&["notes_create_note"]).await;
    for id in &receipts {
        let receipt = process.get(&format!("/v1/executions/{id}")).await;
        assert_eq!(receipt.status, 200, "{id}: {}", receipt.text);
        assert_eq!(receipt.data()["status"], "success");
    }
    let skills = process.get("/v1/skills").await.data();
    let mut names: Vec<&str> = skills["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["after", "before"]);
    process.kill().await;
}
