//! Sessions that a gateway restores after a restart, when their clients go on with several requests at once.

use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use toolgate_tests::gateway::{Options, TestGateway, client};

use super::wire;

const SESSIONS: usize = 40;

async fn start(folder: &std::path::Path) -> TestGateway {
    TestGateway::start(Options {
        data_dir: Some(folder.join("data")),
        plugins_dir: Some(folder.join("plugins")),
        ..Options::default()
    })
    .await
}

fn request(gateway: &TestGateway, method: Method, key: &str, session: &str) -> RequestBuilder {
    client()
        .request(method, gateway.url("/mcp"))
        .bearer_auth(key)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-session-id", session)
}

fn list(gateway: &TestGateway, key: &str, session: &str, id: usize) -> RequestBuilder {
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
    request(gateway, Method::POST, key, session)
        .header("content-type", "application/json")
        .body(body.to_string())
}

/// A client that opens its stream and sends requests meanwhile, as the official ones do.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_at_once_after_a_restart_are_all_answered() {
    let folder = tempfile::tempdir().unwrap();
    let before = start(folder.path()).await;
    let key = before.key.clone();
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(wire::open_session(&before, &key, "2025-11-25").await.0);
    }
    before.stop().await;

    let gateway = start(folder.path()).await;
    let asked = sessions.iter().map(async |session| {
        let stream = request(&gateway, Method::GET, &key, session).send();
        let lists = (0..4).map(|id| wire::answer(list(&gateway, &key, session, id)));
        let (stream, lists) = tokio::join!(stream, join_all(lists));
        assert_eq!(stream.unwrap().status(), 200);
        for one in lists {
            assert_eq!(one.status, 200, "{}", one.text);
            assert!(one.text.contains("svc_execute_tool"), "{}", one.text);
        }
    });
    join_all(asked).await;
}

/// The request that restores a session is given up by its client; the next one restores it.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_while_its_session_is_restored_finds_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let before = start(folder.path()).await;
    let key = before.key.clone();
    let (session, _) = wire::open_session(&before, &key, "2025-11-25").await;
    before.stop().await;

    for micros in (0..20_000).step_by(1_000) {
        let gateway = start(folder.path()).await;
        let abandoned = list(&gateway, &key, &session, 1).send();
        let within = std::time::Duration::from_micros(micros);
        let _ = tokio::time::timeout(within, abandoned).await;
        let next = wire::answer(list(&gateway, &key, &session, 2)).await;
        assert_eq!(next.status, 200, "after {within:?}: {}", next.text);
        gateway.stop().await;
    }
}
