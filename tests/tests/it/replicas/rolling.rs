//! Each gateway in turn is stopped and started again while clients go on: not one request fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_tests::component::Fixture;
use toolgate_tests::process::wait;

use super::Replicas;

/// Clients that call at the same time.
const CLIENTS: usize = 8;
/// What they have to have called at the end, so that the test is about something; `make rolling` asks for more.
const REQUESTS_MIN: usize = 3_000;

/// One client of each kind of request, one after the other.
struct LoadClient {
    base: String,
    key: String,
    session: String,
    client: reqwest::Client,
}

impl LoadClient {
    async fn send(&self, n: usize) -> Result<(), String> {
        let request = match n % 4 {
            0 => self.client.get(format!("{}/v1/status", self.base)),
            1 => {
                let path = format!("{}/v1/tools/demo_run/execute", self.base);
                let request = self
                    .client
                    .post(path)
                    .header("content-type", "application/json");
                request.body(json!({ "arguments": {} }).to_string())
            }
            2 => self.mcp(
                json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
                "name": "svc_execute_tool",
                "arguments": { "tool_name": "demo_run", "arguments": "{}" } } }),
            ),
            _ => self.mcp(json!({ "jsonrpc": "2.0", "id": n, "method": "tools/list" })),
        };
        let answer = request.bearer_auth(&self.key).send().await;
        let answer = answer.map_err(|cause| format!("{n}: {cause:?}"))?;
        let status = answer.status().as_u16();
        let text = answer
            .text()
            .await
            .map_err(|cause| format!("{n}: {cause:?}"))?;
        // A call over MCP that was cut off ends its stream without an answer.
        let whole = n % 4 < 2 || text.contains("\"result\"");
        (status == 200 && whole)
            .then_some(())
            .ok_or(format!("{n}: {status} {text}"))
    }

    fn mcp(&self, body: Value) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}/mcp", self.base));
        request
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .header("mcp-session-id", &self.session)
            .body(body.to_string())
    }
}

/// Opens a session through the balancer.
async fn session(replicas: &Replicas) -> String {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let opened = Replicas::client().post(format!("{}/mcp", replicas.balancer.base));
    let opened = opened
        .bearer_auth(&replicas.key)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(initialize.to_string());
    let opened = opened.send().await.unwrap();
    opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned()
}

/// Stops a gateway as a supervisor does, starts it again and waits until the balancer sees it: before the
/// next one goes, it has to.
async fn restart(replicas: &mut Replicas, n: usize, sent: &AtomicUsize) {
    let process = replicas.processes.remove(n);
    process.signal("TERM").await;
    process.ended().await;
    let again = replicas.installations[n].serve(&["demo_run"]).await;
    wait("it to be ready again", async || {
        again.get("/readyz").await.status == 200
    })
    .await;
    replicas.processes.insert(n, again);
    let before = sent.load(Ordering::Relaxed);
    let begun = Instant::now();
    wait("the balancer to see it", async || {
        let more = sent.load(Ordering::Relaxed) > before + 100;
        more && begun.elapsed() > Duration::from_secs(2)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_restart_fails_not_one_request() {
    let plugins = [("demo.wasm", Fixture::new("demo").build())];
    let mut replicas = Replicas::start(&plugins, &["demo_run"]).await;
    let (stop, sent) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let caller = LoadClient {
            base: replicas.balancer.base.clone(),
            key: replicas.key.clone(),
            session: session(&replicas).await,
            client: toolgate_tests::gateway::client(),
        };
        let (stop, sent) = (stop.clone(), sent.clone());
        clients.push(tokio::spawn(async move {
            let mut failed = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let n = sent.fetch_add(1, Ordering::Relaxed);
                failed.extend(caller.send(n).await.err());
            }
            failed
        }));
    }
    let asked = std::env::var("TOOLGATE_TEST_REQUESTS");
    let requests_min = asked.map_or(REQUESTS_MIN, |text| text.parse().unwrap());
    let mut restarts = 0;
    while sent.load(Ordering::Relaxed) < requests_min || restarts < replicas.processes.len() {
        let n = restarts % replicas.processes.len();
        restart(&mut replicas, n, &sent).await;
        restarts += 1;
    }
    stop.store(true, Ordering::Relaxed);
    let mut failed = Vec::new();
    for client in clients {
        failed.extend(client.await.unwrap());
    }
    let sent = sent.load(Ordering::Relaxed);
    println!(
        "{} of {sent} requests failed in {restarts} restarts of three gateways",
        failed.len()
    );
    assert!(
        failed.is_empty(),
        "{} of {sent}: {:#?}",
        failed.len(),
        &failed[..failed.len().min(5)]
    );
}
