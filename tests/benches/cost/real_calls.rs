//! What the call costs that reaches a service: `prometheus_query` with key, schema check, sandbox and
//! receipt, beside a bare relay that asks the same upstream. Each part is a program of its own.
//!
//! Toolgate and relay take turns, so that a machine that slows down or speeds up does so for both. The
//! ratios are those of one turn each; a row shows their median and how far they spread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::body::{Body, to_bytes};
use axum::http;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process, wait};

use crate::bare::Server;
use crate::requests::{Request, tool_call};

const CONNECTIONS: [usize; 3] = [1, 16, 64];
const TURNS: usize = 5;
const TURN: Duration = Duration::from_secs(2);
const WARM_UP: Duration = Duration::from_millis(300);
/// Of the clock in which Linux counts processor time for programs (USER_HZ).
const TICKS_PER_SECOND: f64 = 100.0;

/// One server under load and what it cost.
pub(crate) struct Target {
    request: Arc<Request>,
    process_id: u32,
}

impl Target {
    pub(crate) fn new(request: Request, process_id: Option<u32>) -> anyhow::Result<Self> {
        Ok(Self {
            request: Arc::new(request),
            process_id: process_id.context("it runs")?,
        })
    }
}

/// What one turn came to.
pub(crate) struct Turn {
    calls: usize,
    /// Sorted.
    latencies_us: Vec<u32>,
    cpu_us_per_call: f64,
}

impl Turn {
    pub(crate) fn per_second(&self) -> f64 {
        self.calls as f64 / TURN.as_secs_f64()
    }

    pub(crate) fn percentile_ms(&self, percent: f64) -> f64 {
        let last = self.latencies_us.len().saturating_sub(1);
        let at = (last as f64 * percent / 100.0).round() as usize;
        f64::from(self.latencies_us.get(at).copied().unwrap_or_default()) / 1e3
    }
}

/// REST on both databases, MCP, and an upstream that takes its time.
pub async fn compare_all() -> anyhow::Result<()> {
    println!(
        "| real call | connections | calls/s (relay) | ratio (spread) | p50 ms | p95 | p99 | p99.9 | p99 ratio | \
         processor us a call (relay) | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|"
    );
    compare("REST, SQLite", Edge::Rest, "upstream", None, &CONNECTIONS).await?;
    compare("MCP, SQLite", Edge::Mcp, "upstream", None, &CONNECTIONS).await?;
    let url = postgres::fresh_url();
    compare(
        "REST, PostgreSQL",
        Edge::Rest,
        "upstream",
        Some(url),
        &CONNECTIONS,
    )
    .await?;
    compare(
        "REST, SQLite, upstream takes 50 ms",
        Edge::Rest,
        "slow-upstream",
        None,
        &[64],
    )
    .await?;
    Ok(())
}

/// How calls come in.
#[derive(Clone, Copy)]
enum Edge {
    Rest,
    /// `svc_execute_tool` of version 2026-07-28, against a bare rmcp server.
    Mcp,
}

async fn compare(
    what: &str,
    edge: Edge,
    upstream: &str,
    database_url: Option<String>,
    connections: &[usize],
) -> anyhow::Result<()> {
    let upstream = Server::program(upstream, None).await?;
    let folder = tempfile::tempdir()?;
    let toolgate = start_toolgate(folder.path(), &upstream, database_url).await?;
    let (ours, relay, theirs) = match edge {
        Edge::Rest => {
            let ours = rest_call(&toolgate);
            let body = ours.body.clone();
            let relay = Server::program("relay", Some(upstream.address)).await?;
            let url = format!("http://{}/", relay.address);
            let headers = Vec::new();
            (ours, relay, Request { url, headers, body })
        }
        Edge::Mcp => {
            let text = json!({ "query": "up" }).to_string();
            let mut ours = tool_call(
                format!("{}/mcp", toolgate.base),
                "svc_execute_tool",
                json!({ "tool_name": "prometheus_query", "arguments": text }),
            );
            ours.headers.push(authorization(&toolgate));
            let relay = Server::program("mcp-relay", Some(upstream.address)).await?;
            let url = format!("http://{}/mcp", relay.address);
            let theirs = tool_call(url, "query", json!({ "arguments": text }));
            (ours, relay, theirs)
        }
    };
    let ours = Target::new(ours, toolgate.id())?;
    let theirs = Target::new(theirs, relay.process_id())?;
    for connections in connections {
        let mut turns = Vec::new();
        for _ in 0..TURNS {
            turns.push((
                turn(&ours, *connections).await?,
                turn(&theirs, *connections).await?,
            ));
        }
        print_row(what, *connections, &turns);
    }
    toolgate.kill().await;
    Ok(())
}

/// The call over REST.
pub(crate) fn rest_call(toolgate: &Process) -> Request {
    Request {
        url: format!("{}/v1/tools/prometheus_query/execute", toolgate.base),
        headers: vec![authorization(toolgate)],
        body: json!({ "arguments": { "query": "up" } }).to_string(),
    }
}

fn authorization(toolgate: &Process) -> (&'static str, String) {
    ("authorization", format!("Bearer {}", toolgate.key))
}

pub(crate) async fn start_toolgate(
    folder: &std::path::Path,
    upstream: &Server,
    database_url: Option<String>,
) -> anyhow::Result<Process> {
    let mut installation = Installation::new(folder, &["prometheus"]);
    installation.database_url = database_url;
    start_with(&installation, upstream).await
}

pub(crate) async fn start_with(
    installation: &Installation,
    upstream: &Server,
) -> anyhow::Result<Process> {
    let toolgate = installation.serve(&["prometheus_query"]).await;
    let base = format!("api_base=http://{}", upstream.address);
    installation
        .run(&["service", "configure", "prometheus", "--set", &base])
        .await;
    let body = json!({ "arguments": { "query": "up" } });
    wait("the first call", async || {
        let path = "/v1/tools/prometheus_query/execute";
        toolgate.post(path, &body).await.data()["status"] == "success"
    })
    .await;
    Ok(toolgate)
}

fn print_row(what: &str, connections: usize, turns: &[(Turn, Turn)]) {
    let median = |of: &dyn Fn(&(Turn, Turn)) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let ratio = |(ours, theirs): &(Turn, Turn)| ours.per_second() / theirs.per_second();
    let ratios = turns.iter().map(ratio);
    let (least, most) = ratios.fold((f64::MAX, 0.0_f64), |(least, most), one| {
        (least.min(one), most.max(one))
    });
    let percentile = |percent: f64| median(&|(ours, _)| ours.percentile_ms(percent));
    println!(
        "| {what} | {connections} | {:.0} ({:.0}) | {:.2} ({least:.2} to {most:.2}) | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {:.0} ({:.0}) | {:.1} |",
        median(&|(ours, _)| ours.per_second()),
        median(&|(_, theirs)| theirs.per_second()),
        median(&ratio),
        percentile(50.0),
        percentile(95.0),
        percentile(99.0),
        percentile(99.9),
        median(&|(ours, theirs)| ours.percentile_ms(99.0) / theirs.percentile_ms(99.0)),
        median(&|(ours, _)| ours.cpu_us_per_call),
        median(&|(_, theirs)| theirs.cpu_us_per_call),
        median(&|(ours, theirs)| ours.cpu_us_per_call / theirs.cpu_us_per_call),
    );
}

/// Loads one server over so many connections, each with one call at a time.
pub(crate) async fn turn(target: &Target, connections: usize) -> anyhow::Result<Turn> {
    let began = Instant::now();
    let mut workers = Vec::new();
    for _ in 0..connections {
        workers.push(tokio::spawn(work(target.request.clone(), began)));
    }
    tokio::time::sleep_until((began + WARM_UP).into()).await;
    let cpu_before = cpu_time(target.process_id)?;
    tokio::time::sleep_until((began + WARM_UP + TURN).into()).await;
    let cpu = cpu_time(target.process_id)? - cpu_before;
    let mut latencies_us = Vec::new();
    for worker in workers {
        latencies_us.extend(worker.await??);
    }
    latencies_us.sort_unstable();
    ensure!(!latencies_us.is_empty(), "no call ended");
    Ok(Turn {
        calls: latencies_us.len(),
        cpu_us_per_call: cpu.as_secs_f64() * 1e6 / latencies_us.len() as f64,
        latencies_us,
    })
}

/// How long each call took that ended within the turn.
async fn work(request: Arc<Request>, began: Instant) -> anyhow::Result<Vec<u32>> {
    let mut client = Client::connect(request).await?;
    let mut latencies_us = Vec::new();
    while began.elapsed() < WARM_UP + TURN {
        let called = Instant::now();
        client.call().await?;
        if called.duration_since(began) > WARM_UP && began.elapsed() < WARM_UP + TURN {
            latencies_us.push(u32::try_from(called.elapsed().as_micros())?);
        }
    }
    Ok(latencies_us)
}

/// One kept connection that makes the same call again and again.
pub(crate) struct Client {
    request: Arc<Request>,
    url: http::Uri,
    sender: SendRequest<Body>,
}

impl Client {
    pub(crate) async fn connect(request: Arc<Request>) -> anyhow::Result<Self> {
        let url: http::Uri = request.url.parse()?;
        let authority = url.authority().context("an address")?;
        let stream = TcpStream::connect(authority.as_str()).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self {
            request,
            url,
            sender,
        })
    }

    pub(crate) async fn call(&mut self) -> anyhow::Result<()> {
        let authority = self.url.authority().context("an address")?;
        let mut sent = http::Request::post(self.url.path())
            .header("host", authority.as_str())
            .header("content-type", "application/json");
        for (name, value) in &self.request.headers {
            sent = sent.header(*name, value);
        }
        self.sender.ready().await?;
        let body = Body::from(self.request.body.clone());
        let answer = self.sender.send_request(sent.body(body)?).await?;
        let status = answer.status();
        let body = to_bytes(Body::new(answer.into_body()), 1 << 20).await?;
        let body = String::from_utf8_lossy(&body);
        ensure!(status == 200, "{status}: {body}");
        ensure!(
            body.contains("localhost:9090"),
            "no answer of the upstream: {body}"
        );
        Ok(())
    }
}

/// Of all threads of a process since it began.
fn cpu_time(process_id: u32) -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process_id}/stat"))?;
    let (_, after_name) = stat.rsplit_once(") ").context("a name in parentheses")?;
    let fields: Vec<&str> = after_name.split(' ').collect();
    let ticks =
        |at: usize| -> anyhow::Result<f64> { Ok(fields.get(at).context("a field")?.parse()?) };
    // Fields 14 (user) and 15 (system); the name was the second.
    Ok(Duration::from_secs_f64(
        (ticks(11)? + ticks(12)?) / TICKS_PER_SECOND,
    ))
}
