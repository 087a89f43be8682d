//! What a request costs: throughput of the program beside that of a bare server, under one loader.
//!
//! The two take turns, so that a machine that slows down or speeds up does so for both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use axum::http;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_tests::gateway::{TestGateway, built_plugin, client};
use toolgate_tests::process::{Installation, Process};

use crate::bare::{self, Server};
use crate::{TEXT, row};

const CONNECTIONS: usize = 16;
const TURNS: u32 = 4;
const TURN: Duration = Duration::from_secs(2);
const WARM_UP: Duration = Duration::from_millis(500);
/// Of MCP, of the era with sessions.
const SESSION_VERSION: &str = "2025-06-18";

/// What one connection sends, over and over.
pub struct Request {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    pub method: http::Method,
    /// A part of each answer.
    pub expected: &'static str,
    /// What a connection sends before; the answer names the session of what follows.
    pub handshake: Option<String>,
}

/// A part of the upstream's answer.
const OF_UPSTREAM: &str = "localhost:9090";

impl Request {
    pub fn post(url: String, headers: Vec<(&'static str, String)>, body: String) -> Self {
        Self {
            url,
            headers,
            body,
            method: http::Method::POST,
            expected: OF_UPSTREAM,
            handshake: None,
        }
    }

    pub fn get(url: String, headers: Vec<(&'static str, String)>, expected: &'static str) -> Self {
        Self {
            method: http::Method::GET,
            expected,
            ..Self::post(url, headers, String::new())
        }
    }
}

/// Where the servers run.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    /// With the loader, all on the same threads: what a request costs. Nothing is logged.
    OneProcess,
    /// Each in its own, as they are used, toolgate with its workers and its log: what a client sees
    /// that shares the machine.
    Programs,
}

const BOTH: [Where; 2] = [Where::OneProcess, Where::Programs];

/// Execute over HTTP with key, schema check and receipt, against a bare axum echo doing the same
/// JSON work.
pub async fn over_http() -> anyhow::Result<()> {
    for place in BOTH {
        let toolgate = Toolgate::start(place).await?;
        let body = json!({ "arguments": { "text": TEXT, "shortest": 2 } }).to_string();
        let ours = Request::post(
            format!("{}/v1/tools/words_count/execute", toolgate.base),
            vec![toolgate.authorization()],
            body.clone(),
        );
        let server = place.bare("echo").await?;
        let theirs = Request::post(format!("http://{}/", server.address), Vec::new(), body);
        compare("execute over HTTP", "bare echo", place, ours, theirs).await?;
        toolgate.stop().await;
    }
    Ok(())
}

/// `svc_execute_tool` over MCP (2026-07-28), against a bare rmcp server whose one tool does the same
/// work in native code.
pub async fn over_mcp() -> anyhow::Result<()> {
    for place in BOTH {
        let toolgate = Toolgate::start(place).await?;
        let arguments = json!({ "text": TEXT, "shortest": 2 }).to_string();
        let mut ours = tool_call(
            format!("{}/mcp", toolgate.base),
            "svc_execute_tool",
            json!({ "tool_name": "words_count", "arguments": arguments }),
        );
        ours.headers.push(toolgate.authorization());
        let server = place.bare("mcp").await?;
        let theirs = tool_call(
            format!("http://{}/mcp", server.address),
            "count",
            json!({ "arguments": arguments }),
        );
        compare(
            "svc_execute_tool over MCP",
            "bare rmcp",
            place,
            ours,
            theirs,
        )
        .await?;
        toolgate.stop().await;
    }
    Ok(())
}

impl Where {
    fn as_str(self) -> &'static str {
        match self {
            Self::OneProcess => "one process",
            Self::Programs => "programs",
        }
    }

    async fn bare(self, name: &str) -> anyhow::Result<Server> {
        match self {
            Self::OneProcess => Server::start(bare::app(name)?).await,
            Self::Programs => Server::program(name).await,
        }
    }
}

/// With the plugin of words and a key without a limit.
struct Toolgate {
    base: String,
    key: String,
    running: Running,
}

enum Running {
    Here(Box<(TestGateway, Server)>),
    Program(Box<Process>, TempDir),
}

impl Toolgate {
    async fn start(place: Where) -> anyhow::Result<Self> {
        Ok(match place {
            Where::OneProcess => {
                let component = built_plugin("words")?;
                let gateway = TestGateway::with_plugin("words.wasm", component).await;
                let app = toolgate::cli::app(&gateway.gateway, &gateway.config, "http://localhost");
                let server = Server::start(app).await?;
                Self {
                    base: format!("http://{}", server.address),
                    key: gateway.key.clone(),
                    running: Running::Here(Box::new((gateway, server))),
                }
            }
            Where::Programs => {
                let folder = tempfile::tempdir()?;
                let installation = Installation::new(folder.path(), &["words"]);
                let process = installation.serve(&["words_count"]).await;
                Self {
                    base: process.base.clone(),
                    key: process.key.clone(),
                    running: Running::Program(Box::new(process), folder),
                }
            }
        })
    }

    fn authorization(&self) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", self.key))
    }

    async fn stop(self) {
        match self.running {
            Running::Here(both) => both.0.stop().await,
            Running::Program(process, _folder) => process.kill().await,
        }
    }
}

pub fn tool_call(url: String, name: &str, arguments: Value) -> Request {
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": name,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
            },
        },
    });
    let headers = vec![
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", "2026-07-28".to_owned()),
        ("mcp-method", "tools/call".to_owned()),
        ("mcp-name", name.to_owned()),
    ];
    Request::post(url, headers, body.to_string())
}

/// The same in a session of the version of 2025-06-18.
pub fn session_call(url: String, name: &str, arguments: Value, token: Option<&str>) -> Request {
    let initialize = json!({
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": SESSION_VERSION,
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        },
    });
    let body = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": name, "arguments": arguments },
    });
    let mut headers = vec![
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", SESSION_VERSION.to_owned()),
    ];
    if let Some(token) = token {
        headers.push(("authorization", format!("Bearer {token}")));
    }
    Request {
        handshake: Some(initialize.to_string()),
        ..Request::post(url, headers, body.to_string())
    }
}

/// Both in turns; prints the requests a second of all turns together.
async fn compare(
    what: &str,
    beside: &str,
    place: Where,
    ours: Request,
    theirs: Request,
) -> anyhow::Result<()> {
    let (ours, theirs) = (Arc::new(ours), Arc::new(theirs));
    let (mut done, mut beside_done) = (0.0, 0.0);
    for _ in 0..TURNS {
        done += load(&ours).await? / f64::from(TURNS);
        beside_done += load(&theirs).await? / f64::from(TURNS);
    }
    row(
        &format!("{what}, {CONNECTIONS} connections, {}", place.as_str()),
        &format!("{done:.0}/s"),
        &format!("{beside_done:.0}/s {beside}"),
        done / beside_done,
    );
    Ok(())
}

/// Requests a second over [`CONNECTIONS`] connections.
async fn load(request: &Arc<Request>) -> anyhow::Result<f64> {
    let done = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let mut workers = Vec::new();
    for _ in 0..CONNECTIONS {
        let (client, request, done) = (client(), request.clone(), done.clone());
        workers.push(tokio::spawn(async move {
            while began.elapsed() < TURN + WARM_UP {
                let mut sent = client
                    .post(&request.url)
                    .header("content-type", "application/json")
                    .body(request.body.clone());
                for (name, value) in &request.headers {
                    sent = sent.header(*name, value);
                }
                let response = sent.send().await?;
                ensure!(response.status() == 200, "{}", response.status());
                response.bytes().await?;
                if began.elapsed() > WARM_UP {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }
            anyhow::Ok(())
        }));
    }
    for worker in workers {
        worker.await??;
    }
    Ok(done.load(Ordering::Relaxed) as f64 / TURN.as_secs_f64())
}
