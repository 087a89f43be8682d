//! What the call costs that reaches a service: `prometheus_query` with key, schema check, sandbox and
//! receipt, beside a bare relay that asks the same upstream. Each part is a program of its own.
//!
//! Toolgate and relay take turns, so that a machine that slows down or speeds up does so for both. The
//! ratios are those of one turn each; a row shows their median and how far they spread.

use std::path::{Path, PathBuf};
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
use crate::requests::{Request, session_call, tool_call};

pub(crate) const CONNECTIONS: [usize; 3] = [1, 16, 64];
/// The header that names a session of MCP.
const SESSION_ID: &str = "mcp-session-id";
/// Which certificates a program trusts, instead of the machine's.
pub(crate) const TRUSTED: &str = "SSL_CERT_FILE";
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
    pub(crate) calls: usize,
    /// Sorted.
    latencies_us: Vec<u32>,
    pub(crate) cpu_us_per_call: f64,
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

/// REST on both databases, both versions of MCP, and upstreams with TLS and with time to take.
pub async fn compare_all() -> anyhow::Result<()> {
    print_head("real call", "relay");
    let at_once = Server::program("upstream").await?;
    let at_once = format!("http://{}", at_once.address);
    let sqlite = |edge| Setting {
        edge,
        upstream: &at_once,
        authority: None,
        database_url: None,
    };
    compare("REST, SQLite", sqlite(Edge::Rest), &CONNECTIONS).await?;
    compare("MCP 2026-07-28, SQLite", sqlite(Edge::Mcp), &CONNECTIONS).await?;
    let sessions = "MCP 2025-06-18, SQLite";
    compare(sessions, sqlite(Edge::McpSession), &CONNECTIONS).await?;
    let postgres = Setting {
        database_url: Some(postgres::fresh_url()),
        ..sqlite(Edge::Rest)
    };
    compare("REST, PostgreSQL", postgres, &CONNECTIONS).await?;
    let folder = tempfile::tempdir()?;
    let tls = Server::with_tls(folder.path()).await?;
    let tls = Setting {
        upstream: &format!("https://localhost:{}", tls.address.port()),
        authority: Some(folder.path().join("cert.pem")),
        ..sqlite(Edge::Rest)
    };
    compare(
        "REST, SQLite, upstream with TLS and HTTP/2",
        tls,
        &CONNECTIONS,
    )
    .await?;
    let slow = Server::program("slow-upstream").await?;
    let slow = Setting {
        upstream: &format!("http://{}", slow.address),
        ..sqlite(Edge::Rest)
    };
    compare("REST, SQLite, upstream takes 50 ms", slow, &[64]).await
}

/// How calls come in.
#[derive(Clone, Copy)]
enum Edge {
    Rest,
    /// `svc_execute_tool` of version 2026-07-28, against a bare rmcp server.
    Mcp,
    /// The same in a session a connection.
    McpSession,
}

/// What one row is measured with.
struct Setting<'a> {
    edge: Edge,
    upstream: &'a str,
    /// The certificate that both trust.
    authority: Option<PathBuf>,
    database_url: Option<String>,
}

async fn compare(what: &str, setting: Setting<'_>, connections: &[usize]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut installation = Installation::new(folder.path(), &["prometheus"]);
    installation.database_url = setting.database_url.clone();
    if let Some(authority) = &setting.authority {
        let file = authority.display().to_string();
        installation.environment.push((TRUSTED.to_owned(), file));
    }
    let toolgate = start_with(&installation, setting.upstream).await?;
    let (ours, relay, theirs) = match setting.edge {
        Edge::Rest => {
            let ours = rest_call(&toolgate);
            let body = ours.body.clone();
            let relay = Server::relay("relay", setting.upstream, setting.authority).await?;
            let url = format!("http://{}/", relay.address);
            (ours, relay, Request::post(url, Vec::new(), body))
        }
        Edge::Mcp => {
            let text = json!({ "query": "up" }).to_string();
            let mut ours = tool_call(
                format!("{}/mcp", toolgate.base),
                "svc_execute_tool",
                json!({ "tool_name": "prometheus_query", "arguments": text }),
            );
            ours.headers.push(authorization(&toolgate));
            let relay = Server::relay("mcp-relay", setting.upstream, setting.authority).await?;
            let url = format!("http://{}/mcp", relay.address);
            let theirs = tool_call(url, "query", json!({ "arguments": text }));
            (ours, relay, theirs)
        }
        Edge::McpSession => {
            let text = json!({ "query": "up" }).to_string();
            let ours = session_call(
                format!("{}/mcp", toolgate.base),
                "svc_execute_tool",
                json!({ "tool_name": "prometheus_query", "arguments": text }),
                Some(&toolgate.key),
            );
            let relay = Server::relay("mcp-relay", setting.upstream, setting.authority).await?;
            let url = format!("http://{}/mcp", relay.address);
            let theirs = session_call(url, "query", json!({ "arguments": text }), None);
            (ours, relay, theirs)
        }
    };
    let ours = Target::new(ours, toolgate.id())?;
    let theirs = Target::new(theirs, relay.process_id())?;
    take_turns(what, &ours, &theirs, connections).await?;
    toolgate.kill().await;
    Ok(())
}

/// Loads both in turns and prints a row for each number of connections.
pub(crate) async fn take_turns(
    what: &str,
    ours: &Target,
    theirs: &Target,
    connections: &[usize],
) -> anyhow::Result<()> {
    for connections in connections {
        let mut turns = Vec::new();
        for _ in 0..TURNS {
            turns.push((
                turn(ours, *connections).await?,
                turn(theirs, *connections).await?,
            ));
        }
        print_row(what, *connections, &turns);
    }
    Ok(())
}

/// The call over REST.
pub(crate) fn rest_call(toolgate: &Process) -> Request {
    Request::post(
        format!("{}/v1/tools/prometheus_query/execute", toolgate.base),
        vec![authorization(toolgate)],
        json!({ "arguments": { "query": "up" } }).to_string(),
    )
}

pub(crate) fn authorization(toolgate: &Process) -> (&'static str, String) {
    ("authorization", format!("Bearer {}", toolgate.key))
}

pub(crate) async fn start_toolgate(folder: &Path, upstream: &Server) -> anyhow::Result<Process> {
    let installation = Installation::new(folder, &["prometheus"]);
    start_with(&installation, &format!("http://{}", upstream.address)).await
}

pub(crate) async fn start_with(
    installation: &Installation,
    upstream: &str,
) -> anyhow::Result<Process> {
    let toolgate = installation.serve(&["prometheus_query"]).await;
    let base = format!("api_base={upstream}");
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

pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Of the rows of [`take_turns`]; `beside`: what toolgate is compared with.
pub(crate) fn print_head(what: &str, beside: &str) {
    println!(
        "| {what} | connections | calls/s ({beside}) | ratio (spread) | p50 ms | p95 | p99 | p99.9 | p99 ratio | \
         processor us a call ({beside}) | ratio |\n|---|---|---|---|---|---|---|---|---|---|---|"
    );
}

fn print_row(what: &str, connections: usize, turns: &[(Turn, Turn)]) {
    let median = |of: &dyn Fn(&(Turn, Turn)) -> f64| median(turns.iter().map(of));
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
    session_id: Option<http::HeaderValue>,
}

impl Client {
    pub(crate) async fn connect(request: Arc<Request>) -> anyhow::Result<Self> {
        let url: http::Uri = request.url.parse()?;
        let authority = url.authority().context("an address")?;
        let stream = TcpStream::connect(authority.as_str()).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let mut client = Self {
            request,
            url,
            sender,
            session_id: None,
        };
        if let Some(handshake) = client.request.handshake.clone() {
            let (answered, _) = client.send(handshake).await?;
            client.session_id = answered.get(SESSION_ID).cloned();
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            client.send(initialized.to_string()).await?;
        }
        Ok(client)
    }

    pub(crate) async fn call(&mut self) -> anyhow::Result<()> {
        let (_, body) = self.send(self.request.body.clone()).await?;
        let expected = self.request.expected;
        ensure!(body.contains(expected), "{expected} is missing: {body}");
        Ok(())
    }

    async fn send(&mut self, body: String) -> anyhow::Result<(http::HeaderMap, String)> {
        let authority = self.url.authority().context("an address")?;
        let path = self.url.path_and_query().context("a path")?;
        let mut sent = http::Request::builder()
            .method(&self.request.method)
            .uri(path.as_str())
            .header("host", authority.as_str())
            .header("content-type", "application/json");
        for (name, value) in &self.request.headers {
            sent = sent.header(*name, value);
        }
        if let Some(id) = &self.session_id {
            sent = sent.header(SESSION_ID, id);
        }
        self.sender.ready().await?;
        let answer = self
            .sender
            .send_request(sent.body(Body::from(body))?)
            .await?;
        let (head, body) = answer.into_parts();
        let body = to_bytes(Body::new(body), 1 << 20).await?;
        let body = String::from_utf8_lossy(&body).into_owned();
        ensure!(head.status.is_success(), "{}: {body}", head.status);
        Ok((head.headers, body))
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
