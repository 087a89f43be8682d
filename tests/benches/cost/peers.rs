//! Other gateways beside toolgate: one REST tool of the same upstream, called over MCP Streamable HTTP in the version of
//! 2025-06-18, each a program of its own, in turns. `-- peers` prints it, after `tests/peers/setup.sh`.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use toolgate_tests::gateway::client;
use toolgate_tests::ports::free_port;
use toolgate_tests::process::wait;

use crate::bare::Server;
use crate::real_calls::{Target, Turn, median, start_toolgate, turn};
use crate::requests::{Request, session_call};

const CONNECTIONS: [usize; 2] = [1, 16];
const TURNS: usize = 5;
const PASSWORD: &str = "Vx7-Kq2zPm9w-Lt4";

/// One gateway and what it cost in each turn.
struct Peer {
    name: &'static str,
    target: Target,
    turns: Vec<Turn>,
}

pub async fn compare() -> anyhow::Result<()> {
    let upstream = Server::program("upstream").await?;
    let folder = tempfile::tempdir()?;
    let toolgate = start_toolgate(&folder.path().join("toolgate"), &upstream).await?;
    let text = json!({ "query": "up" }).to_string();
    let ours = session_call(
        format!("{}/mcp", toolgate.base),
        "svc_execute_tool",
        json!({ "tool_name": "prometheus_query", "arguments": text }),
        Some(&toolgate.key),
    );
    let url = format!("http://{}", upstream.address);
    let (fastmcp, fastmcp_call) = fastmcp(&url).await?;
    let (contextforge, contextforge_call) = contextforge(folder.path(), &url).await?;
    let mut peers = vec![
        Peer::new("toolgate", ours, toolgate.id())?,
        Peer::new("FastMCP", fastmcp_call, fastmcp.id())?,
        Peer::new("ContextForge", contextforge_call, contextforge.id())?,
    ];
    println!(
        "| one REST tool over MCP | connections | calls/s | p50 ms | p99 ms | processor us a call |\n|---|---|---|---|---|---|"
    );
    for connections in CONNECTIONS {
        for peer in &mut peers {
            peer.turns.clear();
        }
        for _ in 0..TURNS {
            for peer in &mut peers {
                peer.turns.push(turn(&peer.target, connections).await?);
            }
        }
        for peer in &peers {
            peer.print_row(connections);
        }
    }
    toolgate.kill().await;
    Ok(())
}

impl Peer {
    fn new(name: &'static str, request: Request, process_id: Option<u32>) -> anyhow::Result<Self> {
        Ok(Self {
            name,
            target: Target::new(request, process_id)?,
            turns: Vec::new(),
        })
    }

    fn print_row(&self, connections: usize) {
        let of = |value: &dyn Fn(&Turn) -> f64| median(self.turns.iter().map(value));
        println!(
            "| {} | {connections} | {:.0} | {:.2} | {:.2} | {:.0} |",
            self.name,
            of(&Turn::per_second),
            of(&|turn| turn.percentile_ms(50.0)),
            of(&|turn| turn.percentile_ms(99.0)),
            of(&|turn| turn.cpu_us_per_call),
        );
    }
}

async fn fastmcp(upstream: &str) -> anyhow::Result<(Child, Request)> {
    let port = free_port();
    let child = Command::new(tools().join("fastmcp/bin/python"))
        .arg(sources().join("fastmcp_server.py"))
        .args([upstream, &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .context("FastMCP: run tests/peers/setup.sh first")?;
    wait("FastMCP", async || listens(port).await).await;
    let call = session_call(
        format!("http://127.0.0.1:{port}/mcp"),
        "query",
        json!({ "query": "up" }),
        None,
    );
    Ok((child, call))
}

async fn contextforge(folder: &Path, upstream: &str) -> anyhow::Result<(Child, Request)> {
    let port = free_port();
    let base = format!("http://127.0.0.1:{port}");
    let child = Command::new(sources().join("contextforge.sh"))
        .args([&port.to_string(), PASSWORD])
        .env("TOOLGATE_TEST_TOOLS", tools().parent().context("a folder")?)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .context("ContextForge: run tests/peers/setup.sh first")?;
    let health = format!("{base}/health");
    wait("ContextForge", async || {
        client()
            .get(&health)
            .send()
            .await
            .is_ok_and(|answer| answer.status() == 200)
    })
    .await;
    let sign_in = json!({ "email": "admin@example.com", "password": PASSWORD });
    let answer = post(&format!("{base}/auth/email/login"), None, &sign_in).await?;
    let token = answer["access_token"].as_str().context("a token")?;
    let tool = json!({
        "tool": {
            "name": "query",
            "url": format!("{upstream}/api/v1/query"),
            "integration_type": "REST",
            "request_type": "GET",
            "input_schema": { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] },
        },
        "visibility": "public",
    });
    post(&format!("{base}/tools"), Some(token), &tool).await?;
    let call = session_call(
        format!("{base}/mcp"),
        "query",
        json!({ "query": "up" }),
        Some(token),
    );
    Ok((child, call))
}

async fn post(url: &str, token: Option<&str>, body: &Value) -> anyhow::Result<Value> {
    let mut request = client()
        .post(url)
        .header("content-type", "application/json")
        .body(body.to_string());
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    ensure!(status.is_success(), "{url}: {status}: {text}");
    Ok(serde_json::from_str(&text)?)
}

async fn listens(port: u16) -> bool {
    tokio::net::TcpStream::connect(("127.0.0.1", port))
        .await
        .is_ok()
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

fn tools() -> PathBuf {
    let tools = std::env::var_os("TOOLGATE_TEST_TOOLS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/test-tools"),
        PathBuf::from,
    );
    tools.join("peers")
}
