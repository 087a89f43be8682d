//! Connections without a key: many of them, slow ones, some that never read.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use toolgate::inbound::descriptors;
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{Options, TestGateway, client};
use toolgate_tests::process::{program, serve_as};

/// What normal requests may take beside an attack; alone they take a few milliseconds.
const NORMAL_MAX: Duration = Duration::from_secs(1);

/// The program with this many file descriptors, soft and hard, and where it answers.
async fn program_with(folder: &std::path::Path, soft: u32, hard: u32) -> (Child, String) {
    let limits = format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$0\" \"$@\"");
    std::fs::create_dir_all(folder.join("plugins")).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &limits]).arg(program());
    let (child, first) = serve_as(command, folder, &[]).await;
    let rest = first["rest"].as_str().unwrap();
    (child, rest.trim_end_matches("/v1").to_owned())
}

async fn normal_request(base: &str) -> Duration {
    let began = Instant::now();
    let answer = client().get(format!("{base}/healthz")).send();
    let answer = tokio::time::timeout(Duration::from_secs(20), answer).await;
    let answer = answer.expect("an answer").expect("a connection");
    assert_eq!(answer.status(), 200);
    began.elapsed()
}

/// Opens connections that each send the beginning of a request, and keeps those that stay open.
async fn crowd(base: &str, count: usize, beginning: &str) -> Vec<TcpStream> {
    let address = base.strip_prefix("http://").unwrap();
    let mut crowd = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _ = stream.write_all(beginning.as_bytes()).await;
        crowd.push(stream);
    }
    crowd
}

/// Defence: `host/toolgate/src/inbound/admission.rs` makes room; `host/toolgate/src/inbound/limits.rs` keeps descriptors back.
#[tokio::test(flavor = "multi_thread")]
async fn eleven_hundred_slow_connections_stop_nobody() {
    descriptors::raise();
    for (soft, hard, beginning) in [
        (
            1024,
            1024,
            "GET /healthz HTTP/1.1\r\nhost: here\r\nx-slow: ",
        ),
        (
            1024,
            4096,
            "GET /healthz HTTP/1.1\r\nhost: here\r\nx-slow: ",
        ),
        (
            1024,
            1024,
            "POST /hooks/con_x HTTP/1.1\r\nhost: here\r\ncontent-length: 1000\r\n\r\n",
        ),
        (1024, 1024, ""),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (_child, base) = program_with(folder.path(), soft, hard).await;
        normal_request(&base).await;
        let mut slow = crowd(&base, 1_100, beginning).await;
        for _ in 0..5 {
            for stream in &mut slow {
                // A byte now and then; some of them have been closed.
                let _ = stream.try_write(b"x");
            }
            let took = normal_request(&base).await;
            assert!(took < NORMAL_MAX, "{took:?} beside {beginning:?}");
        }
        // What asks the database needs descriptors of its own.
        let answer = client().get(format!("{base}/readyz")).send().await.unwrap();
        assert_eq!(answer.status(), 200);
    }
}

/// Defence: `host/toolgate/src/inbound/activity.rs` and `host/toolgate/src/inbound/sweeper.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_takes_too_long_ends_its_connection() {
    let gateway = TestGateway::start(Options::default()).await;
    let mut slow = TcpStream::connect(gateway.address).await.unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nhost: ")
        .await
        .unwrap();
    let (mut reads, mut writes) = slow.into_split();
    let dribble = tokio::spawn(async move {
        while writes.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(30), reads.read_to_end(&mut answer));
    let _ = ended.await.expect("the gateway ends it");
    assert!(!answer.starts_with(b"HTTP/1.1 200"));
    dribble.abort();
    // Nobody else was disturbed, and a body in its own time is read.
    assert_eq!(gateway.get("/healthz").await.status, 200);
}

/// Defence: `host/toolgate/src/inbound/activity.rs` leaves a connection alone while the gateway is at work for it.
#[tokio::test(flavor = "multi_thread")]
async fn streams_and_waiting_requests_make_no_room() {
    let endless = Fixture::new("endless").invoke("(loop (br 0)) (call $ok)");
    let gateway = TestGateway::start(Options {
        plugins: vec![("endless.wasm".to_owned(), endless.build())],
        connections_per_client: Some(8),
        ..Options::default()
    })
    .await;
    // A stream of MCP, and a call that computes until its time is over.
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let opened = client()
        .post(gateway.url("/mcp"))
        .bearer_auth(&gateway.key)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(initialize.to_string())
        .send()
        .await
        .unwrap();
    let session = opened.headers()["mcp-session-id"].clone();
    let stream = client()
        .get(gateway.url("/mcp"))
        .bearer_auth(&gateway.key)
        .header("accept", "text/event-stream")
        .header("mcp-session-id", session)
        .send();
    let mut stream = stream.await.unwrap();
    assert_eq!(stream.status(), 200);
    let running = client()
        .post(gateway.url("/v1/tools/endless_run/execute"))
        .bearer_auth(&gateway.key)
        .header("content-type", "application/json")
        .body(json!({ "arguments": {} }).to_string())
        .send();
    let running = tokio::spawn(running);
    gateway
        .wait("the call to run", async || {
            let text = gateway.gateway.metrics().render();
            text.lines()
                .any(|line| line.starts_with("toolgate_executions_running 1"))
        })
        .await;
    let base = gateway.url("");
    let _crowd = crowd(&base, 200, "GET /healthz HTTP/1.1\r\n").await;
    assert!(normal_request(&base).await < NORMAL_MAX);
    assert_eq!(running.await.unwrap().unwrap().status(), 200);
    // A sign of life comes every 15 seconds.
    let sign = tokio::time::timeout(Duration::from_secs(40), stream.chunk()).await;
    assert!(sign.expect("in time").expect("the stream stands").is_some());
}

/// Defence: `host/toolgate/src/inbound/admission.rs` refuses at once where everyone is being served.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_whose_connections_are_all_at_work_is_told_at_once() {
    let gateway = TestGateway::start(Options {
        connections_per_client: Some(4),
        ..Options::default()
    })
    .await;
    // One that is refused, because the question below came first, asks again.
    let ask = async || loop {
        let waits = client()
            .get(gateway.url("/v1/connections?wait=10"))
            .bearer_auth(&gateway.key);
        let _ = waits.send().await;
    };
    let waiting = futures_util::future::join_all((0..4).map(|_| ask()));
    let refused = gateway.wait("a refusal", async || {
        let answer = client().get(gateway.url("/healthz")).send().await;
        let Ok(answer) = answer else { return false };
        if answer.status() != 503 {
            return false;
        }
        assert!(answer.headers().contains_key("retry-after"));
        answer.text().await.unwrap().contains("overloaded")
    });
    tokio::select! {
        _ = waiting => unreachable!("they ask without end"),
        () = refused => {}
    }
}
