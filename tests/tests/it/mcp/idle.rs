//! Sessions that nobody uses: they leave the memory, and answer when they are used again.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use toolgate_core::clock::Clock;
use toolgate_gateway::Scope;
use toolgate_tests::gateway::{Options, TestGateway, built_plugin, configure, new_key};
use toolgate_tests::holding::Holding;

use super::wire;

/// 2026-11-20T09:30:30.250Z.
const NOW_MS: i64 = 1_795_167_030_250;
/// Longer than an idle session stays.
const LONG_MS: i64 = 61_000;

async fn start(clock: &Clock) -> TestGateway {
    TestGateway::start(Options {
        clock: Some(clock.clone()),
        ..Options::default()
    })
    .await
}

fn in_memory(gateway: &TestGateway) -> usize {
    let text = gateway.gateway.metrics().render();
    let mut lines = text.lines();
    let count = lines.find_map(|line| line.strip_prefix("toolgate_mcp_sessions "));
    count.and_then(|count| count.parse().ok()).unwrap()
}

async fn list(gateway: &TestGateway, key: &str, session: &str) -> u16 {
    let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let request = gateway
        .client
        .post(gateway.url("/mcp"))
        .bearer_auth(key)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-session-id", session)
        .body(body.to_string());
    let answer = wire::answer(request).await;
    assert!(
        answer.status != 200 || answer.text.contains("svc_execute_tool"),
        "{}",
        answer.text
    );
    answer.status
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_session_leaves_the_memory_and_answers_again() {
    let clock = Clock::manual(NOW_MS);
    let gateway = start(&clock).await;
    let (idle, _) = wire::open_session(&gateway, &gateway.key, "2025-11-25").await;
    let (streaming, _) = wire::open_session(&gateway, &gateway.key, "2025-11-25").await;
    let stream = gateway
        .client
        .request(Method::GET, gateway.url("/mcp"))
        .bearer_auth(&gateway.key)
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &streaming)
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), 200);
    assert_eq!(in_memory(&gateway), 2);
    clock.advance_ms(LONG_MS);
    gateway
        .wait("the idle session to leave", async || {
            in_memory(&gateway) == 1
        })
        .await;
    // The one with a stream stays, and both answer.
    for session in [&idle, &streaming] {
        assert_eq!(list(&gateway, &gateway.key, session).await, 200);
    }
    assert_eq!(in_memory(&gateway), 2);
    drop(stream);
    gateway
        .wait("both to leave", async || {
            clock.advance_ms(LONG_MS);
            in_memory(&gateway) == 0
        })
        .await;
    assert_eq!(list(&gateway, &gateway.key, &streaming).await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_call_runs_is_not_idle() {
    let clock = Clock::manual(NOW_MS);
    let holding = Holding::start().await;
    let component = built_plugin("prometheus").unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("prometheus.wasm".to_owned(), component)],
        clock: Some(clock.clone()),
        ..Options::default()
    })
    .await;
    let set = [("api_base".to_owned(), format!("http://{}", holding.address))];
    let configured = configure(&gateway.gateway, "prometheus", &set).await;
    configured.unwrap();
    let (session, _) = wire::open_session(&gateway, &gateway.key, "2025-11-25").await;
    wire::open_session(&gateway, &gateway.key, "2025-11-25").await;
    let body = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "svc_execute_tool",
        "arguments": { "tool_name": "prometheus_query", "arguments": "{\"query\":\"up\"}" } } });
    let call = gateway
        .client
        .post(gateway.url("/mcp"))
        .bearer_auth(&gateway.key)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-session-id", &session)
        .body(body.to_string());
    let beside = async {
        holding.arrived.acquire().await.unwrap().forget();
        clock.advance_ms(LONG_MS);
        gateway
            .wait("the other session to leave", async || {
                in_memory(&gateway) == 1
            })
            .await;
        holding.open.notify_waiters();
    };
    let (answer, ()) = tokio::join!(wire::answer(call), beside);
    assert!(answer.text.contains("42"), "{}", answer.text);
}

/// The library numbers the streams of a session from zero each time that the session is made.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_from_before_is_not_taken_for_one_of_the_session_made_anew() {
    let clock = Clock::manual(NOW_MS);
    let holding = Holding::start().await;
    let component = built_plugin("prometheus").unwrap();
    let gateway = TestGateway::start(Options {
        plugins: vec![("prometheus.wasm".to_owned(), component)],
        clock: Some(clock.clone()),
        ..Options::default()
    })
    .await;
    let set = [("api_base".to_owned(), format!("http://{}", holding.address))];
    let configured = configure(&gateway.gateway, "prometheus", &set).await;
    configured.unwrap();
    let (session, _) = wire::open_session(&gateway, &gateway.key, "2025-11-25").await;
    let request = |method: Method| {
        gateway
            .client
            .request(method, gateway.url("/mcp"))
            .bearer_auth(&gateway.key)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-session-id", &session)
    };
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let before = wire::answer(request(Method::POST).body(list.to_string())).await;
    let event = before
        .text
        .lines()
        .find_map(|line| line.strip_prefix("id:"));
    let event = event.expect("an event has an id").trim().to_owned();
    clock.advance_ms(LONG_MS);
    gateway
        .wait("the session to leave", async || in_memory(&gateway) == 0)
        .await;

    // Its first stream again.
    let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "svc_execute_tool",
        "arguments": { "tool_name": "prometheus_query", "arguments": "{\"query\":\"up\"}" } } });
    let beside = async {
        holding.arrived.acquire().await.unwrap().forget();
        let resumed = wire::answer(request(Method::GET).header("last-event-id", &event));
        let resumed = tokio::time::timeout(std::time::Duration::from_secs(20), resumed).await;
        holding.open.notify_waiters();
        resumed.expect("a stream that is not there ends at once")
    };
    let call = wire::answer(request(Method::POST).body(call.to_string()));
    let (answer, resumed) = tokio::join!(call, beside);
    assert!(answer.text.contains("42"), "{}", answer.text);
    assert!(!resumed.text.contains("42"), "{}", resumed.text);
}

/// Sessions that are open at one time and leave together.
const ROUND: usize = 400;
const ROUNDS: usize = 5;
/// A session in memory takes 88 KiB. What stays is of the database, the allocator and the test: 11 KiB were measured.
const IDLE_BYTES_MAX: usize = 16 << 10;
/// Set in the process that measures.
const ALONE: &str = "TOOLGATE_TEST_ALONE";

/// What this process holds of the machine's memory.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let kib = lines.find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB"));
    kib.unwrap().trim().parse::<usize>().unwrap() << 10
}

/// Opens sessions and lets them become idle; answers one of them with its key.
async fn round(gateway: &TestGateway, clock: &Clock) -> (String, String) {
    let key = new_key(&gateway.gateway, "many", Scope::ALL).await.unwrap();
    let mut last = String::new();
    for _ in 0..ROUND / 20 {
        let opened = (0..20).map(|_| wire::open_session(gateway, &key, "2025-11-25"));
        last = join_all(opened).await.pop().unwrap().0;
    }
    clock.advance_ms(LONG_MS);
    gateway
        .wait("all to leave", async || in_memory(gateway) == 0)
        .await;
    (last, key)
}

/// The first round is not counted: what one round needs at a time is there for the next ones.
async fn measure() {
    let clock = Clock::manual(NOW_MS);
    let gateway = start(&clock).await;
    let (session, key) = round(&gateway, &clock).await;
    let before = resident_bytes();
    for _ in 0..ROUNDS {
        round(&gateway, &clock).await;
    }
    let grown = resident_bytes().saturating_sub(before);
    let each = grown / (ROUND * ROUNDS);
    assert!(each < IDLE_BYTES_MAX, "{each} bytes for each session");
    assert_eq!(list(&gateway, &key, &session).await, 200, "still open");
}

/// In a process of its own, because other tests of this one take memory meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_session_costs_a_fraction_of_one_in_memory() {
    if std::env::var_os(ALONE).is_some() {
        return measure().await;
    }
    let mut alone = tokio::process::Command::new(std::env::current_exe().unwrap());
    alone
        .args([
            "--exact",
            "mcp::idle::an_idle_session_costs_a_fraction_of_one_in_memory",
        ])
        .env(ALONE, "1")
        .env("MALLOC_ARENA_MAX", "2")
        .kill_on_drop(true);
    let ended = alone.output().await.unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}
