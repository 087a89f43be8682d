//! SIGKILL between the provider's answer and ours, on the real program.

use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use toolgate_core::clock::Clock;
use toolgate_openapi::{self as openapi, BuildInput};
use toolgate_tests::gateway::{Answer, Options, PATIENCE, TestGateway, client};
use toolgate_tests::process::{Installation, wait};
use toolgate_tests::upstream::Upstream;

use crate::serving::serve_with;

/// A provider that takes every write and holds back the end of its answer until it is let go.
pub(crate) struct Provider {
    pub(crate) address: std::net::SocketAddr,
    /// One permit for each write that was done.
    pub(crate) done: Arc<Semaphore>,
    pub(crate) let_go: Arc<Notify>,
}

pub(crate) async fn provider() -> Provider {
    let (done, let_go) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let (seen, wait) = (done.clone(), let_go.clone());
    let app = axum::Router::new().fallback(move || {
        let (seen, wait) = (seen.clone(), wait.clone());
        async move {
            let opened = wait.clone();
            let begin = futures_util::stream::once(async {
                Ok::<_, std::io::Error>(Bytes::from_static(b"{\"id\":7,"))
            });
            let end = futures_util::stream::once(async move {
                seen.add_permits(1);
                opened.notified().await;
                Ok(Bytes::from_static(b"\"ok\":true}"))
            });
            let body = Body::from_stream(futures_util::StreamExt::chain(begin, end));
            axum::http::Response::builder()
                .header("content-type", "application/json")
                .body(body)
                .unwrap()
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    Provider {
        address,
        done,
        let_go,
    }
}

/// A plugin `notes` with a write that is not idempotent, one that is, and a read.
pub(crate) async fn plugin(folder: &Path) -> Vec<u8> {
    let operation =
        |id: &str| json!({ "operationId": id, "responses": { "200": { "description": "Done." } } });
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Notes", "version": "1.0.0" },
        "servers": [{ "url": "https://api.notes.io" }],
        "paths": { "/notes": { "post": operation("create_note"), "get": operation("list_notes") },
                   "/board": { "put": operation("replace_board") } },
    });
    let description = folder.join("notes.json");
    std::fs::write(&description, document.to_string()).unwrap();
    let handle = tokio::runtime::Handle::current();
    let input = BuildInput {
        description,
        ..BuildInput::default()
    };
    let built = tokio::task::spawn_blocking(move || handle.block_on(openapi::build(&input)));
    built.await.unwrap().unwrap().wasm
}

async fn post(rest: &str, key: &str, tool: &str, body: &Value) -> reqwest::Result<Answer> {
    let request = client()
        .post(format!("{rest}/tools/{tool}/execute"))
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("idempotency-key", format!("once-{tool}"))
        .body(body.to_string());
    let response = request.send().await?;
    Ok(Answer {
        status: response.status().as_u16(),
        headers: response.headers().clone(),
        text: response.text().await?,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_gateway_never_sends_a_write_twice_and_tells_what_left() {
    let folder = tempfile::tempdir().unwrap();
    let provider = provider().await;
    let wasm = plugin(folder.path()).await;
    let upstream = format!("api.notes.io=http://{}", provider.address);
    let arguments = ["--allow-upstream", &upstream];
    let (mut child, first) = serve_with(folder.path(), "notes.wasm", &wasm, &arguments).await;
    let rest = first["rest"].as_str().unwrap().to_owned();
    let key = first["key"].as_str().unwrap().to_owned();
    let body = json!({ "arguments": {} });
    let serves = tokio::time::timeout(PATIENCE, async {
        let dry = json!({ "arguments": {}, "dry_run": true });
        while post(&rest, &key, "notes_create_note", &dry)
            .await
            .unwrap()
            .status
            != 200
        {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    });
    serves.await.expect("the plugin serves");

    // Both writes reach the provider, which has done them and has begun to say so.
    let mut calls = Vec::new();
    for tool in ["notes_create_note", "notes_replace_board"] {
        let (rest, key, body) = (rest.clone(), key.clone(), body.clone());
        calls.push(tokio::spawn(async move {
            post(&rest, &key, tool, &body).await.map(drop)
        }));
        let done = tokio::time::timeout(PATIENCE, provider.done.acquire()).await;
        done.expect("the provider is asked").unwrap().forget();
    }
    child.start_kill().unwrap();
    child.wait().await.unwrap();
    for call in calls {
        assert!(call.await.unwrap().is_err(), "nobody was answered");
    }

    // Another process on the same data, once the dead one's time is over.
    provider.let_go.notify_waiters();
    let now_ms = Clock::system().now_ms();
    let clock = Clock::manual(now_ms);
    let gateway = TestGateway::start(Options {
        data_dir: Some(folder.path().join("data")),
        plugins_dir: Some(folder.path().join("plugins")),
        allow_upstream: vec![upstream.clone()],
        clock: Some(clock.clone()),
        ..Options::default()
    })
    .await;
    // The dead process has left word that the file is active; this one has yet to take it.
    let serves = async || {
        let schema = "/v1/tools/notes_replace_board/schema";
        gateway.get(schema).await.status == 200
    };
    gateway.wait("the plugin to serve again", serves).await;
    let rest = gateway.url("/v1");
    let again = async |tool: &str, body: &Value| post(&rest, &key, tool, body).await.unwrap();
    let early = again("notes_create_note", &body).await;
    assert_eq!((early.status, &*early.code()), (409, "in_progress"));
    clock.advance_ms(120_000);

    for _ in 0..2 {
        let unknown = again("notes_create_note", &body).await;
        assert_eq!((unknown.status, &*unknown.code()), (409, "outcome_unknown"));
        let error = unknown.json()["error"].clone();
        assert!(
            error["hint"].as_str().unwrap().contains("retry_unknown"),
            "{error}"
        );
        let receipt = &error["details"]["receipt"];
        assert_eq!(receipt["status"], "interrupted");
        assert_eq!(receipt["tool_name"], "notes_create_note");
        let left = &receipt["requests"][0];
        assert_eq!(
            (&left["method"], &left["host"], &left["path"]),
            (&json!("POST"), &json!("api.notes.io"), &json!("/notes"))
        );
        let id = error["details"]["execution_id"].as_str().unwrap();
        let path = format!("/v1/executions/{id}");
        let read = gateway.send(Method::GET, &path, Some(&key), None);
        assert_eq!(read.await.data()["requests"], receipt["requests"]);
    }
    assert_eq!(
        provider.done.available_permits(),
        0,
        "nothing was sent again"
    );

    let sent_again = async |tool: &str, body: &Value| {
        let answer = again(tool, body);
        let release = async {
            let done = tokio::time::timeout(PATIENCE, provider.done.acquire()).await;
            done.expect("the provider is asked").unwrap().forget();
            // The waiter registers when it is polled, which may be after this.
            loop {
                provider.let_go.notify_waiters();
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            answer = answer => answer,
            never = release => never,
        }
    };
    // An idempotent tool simply runs, and so does a caller who knows.
    let ran = sent_again("notes_replace_board", &body).await;
    assert_eq!(ran.data()["status"], "success", "{}", ran.text);
    let knowing = json!({ "arguments": {}, "retry_unknown": true });
    let ran = sent_again("notes_create_note", &knowing).await;
    assert_eq!(ran.data()["status"], "success", "{}", ran.text);
    let kept = again("notes_create_note", &body).await;
    assert_eq!(kept.data()["execution_id"], ran.data()["execution_id"]);
}

/// The rows of answered calls may not be in the database yet; their receipts are in the log.
#[tokio::test(flavor = "multi_thread")]
async fn every_answered_call_has_its_receipt_after_a_kill() {
    const CALLS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let vector = json!({"status": "success", "data": {"resultType": "vector", "result": []}});
    let upstream =
        Upstream::start(move |_| axum::http::Response::new(Body::from(vector.to_string()))).await;
    let installation = Installation::new(folder.path(), &["prometheus"]);
    let process = installation.serve(&["prometheus_query"]).await;
    let base = format!("api_base={}", upstream.url());
    let set = ["service", "configure", "prometheus", "--set", &base];
    installation.run(&set).await;
    let path = "/v1/tools/prometheus_query/execute";
    let body = json!({ "arguments": { "query": "up" } });
    wait("the setting to be in use", async || {
        process.post(path, &body).await.status == 200
    })
    .await;
    let calls = (0..CALLS).map(|_| process.post(path, &body));
    let answers = futures_util::future::join_all(calls).await;
    process.kill().await;

    let ids = answers.iter().map(|answer| {
        assert_eq!(answer.status, 200, "{}", answer.text);
        let data = answer.data();
        data["execution_id"].as_str().unwrap().to_owned()
    });
    let ids: Vec<String> = ids.collect();
    let process = installation.serve(&["prometheus_query"]).await;
    for id in &ids {
        let receipt = process.get(&format!("/v1/executions/{id}")).await;
        assert_eq!(receipt.status, 200, "{id}: {}", receipt.text);
        assert_eq!(receipt.data()["status"], "success");
        assert_eq!(receipt.data()["requests"][0]["method"], "GET");
    }
    // What is in the database is in the log no more.
    wait("an empty log", async || {
        let files = std::fs::read_dir(folder.path().join("data/receipts")).unwrap();
        files
            .into_iter()
            .all(|file| file.unwrap().metadata().unwrap().len() == 0)
    })
    .await;
    process.kill().await;
}
