//! What a call, a start and a request cost, each beside the same work without toolgate, in one run
//! and printed as ratios: absolute times are the machine's, ratios travel.
//!
//! `make bench` runs it on an optimised build; a word (`call`, `start`, `http`, `mcp`) runs one part
//! alone. Nothing here passes or fails.

mod start;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::Json;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use toolgate::egress::{
    CallLimits, Credentials, Egress, EgressConfig, Failure, FailureKind, Grant, Injection, Mode,
    Scope,
};
use toolgate::runtime::{
    Call, Ended, Entry, KeyValue, KeyValueError, Plugin, Random, Runtime, Size,
};
use toolgate_tests::gateway::{TestGateway, built_plugin, client};

const CONNECTIONS: usize = 16;
const LOAD: Duration = Duration::from_secs(4);
const TEXT: &str = "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer \
    the slings and arrows of outrageous fortune, or to take arms against a sea of troubles.";

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    toolgate::memory::small_pages();
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|one| one == part);
    println!("| what | toolgate | beside it | ratio |\n|---|---|---|---|");
    if wants("call") {
        fresh_store_call().await?;
    }
    if wants("start") {
        start::with(Some(100)).await?;
        start::with(None).await?;
    }
    if wants("http") {
        execute_over_http().await?;
    }
    if wants("mcp") {
        execute_over_mcp().await?;
    }
    Ok(())
}

fn row(what: &str, ours: &str, theirs: &str, ratio: f64) {
    println!("| {what} | {ours} | {theirs} | {ratio:.2} |");
}

/// One call in a fresh store, against the same function in native code, both built for speed.
async fn fresh_store_call() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("words.wasm");
    let component = built_plugin("words")?;
    std::fs::write(&file, &component)?;
    let runtime = Runtime::open(
        &folder.path().join("code"),
        [7; 32],
        Egress::new(EgressConfig::default())?,
    )?;
    let inspected = runtime.inspect(component.clone()).await?;
    let plugin = Plugin::new("words", &inspected.sha256, Size::Ordinary, &file);
    let arguments = json!({ "text": TEXT, "shortest": 2 }).to_string();

    let once = || async { runtime.invoke(&plugin, call(&arguments)).await };
    ensure!(
        matches!(once().await?, Ended::Returned(_)),
        "the plugin answers"
    );
    let ours = median_us(2_000, || async {
        once().await.map(|_| ()).map_err(Into::into)
    })
    .await?;
    let theirs = median_us(20_000, || async {
        let arguments: Value = serde_json::from_str(&arguments)?;
        let text = arguments["text"].as_str().context("a text")?;
        let shortest = u32::try_from(arguments["shortest"].as_u64().context("a number")?)?;
        std::hint::black_box(toolgate_plugin_words::counted(text, shortest).to_string());
        Ok(())
    })
    .await?;
    row(
        &format!("fresh-store call ({} KB plugin)", component.len() >> 10),
        &format!("{ours:.1} us"),
        &format!("{theirs:.1} us native"),
        ours / theirs,
    );
    Ok(())
}

/// Execute over HTTP with key, schema check and receipt, against a bare axum echo doing the same
/// JSON work.
async fn execute_over_http() -> anyhow::Result<()> {
    let gateway = TestGateway::with_plugin("words.wasm", built_plugin("words")?).await;
    let body = json!({ "arguments": { "text": TEXT, "shortest": 2 } }).to_string();
    let url = gateway.url("/v1/tools/words_count/execute");
    let ours = load(&url, &[authorization(&gateway)], &body).await?;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address: SocketAddr = listener.local_addr()?;
    let echo = axum::Router::new().route(
        "/",
        post(|Json(body): Json<Value>| async move {
            let text = body["arguments"]["text"].as_str().unwrap_or_default();
            Json(toolgate_plugin_words::counted(text, 2))
        }),
    );
    let server = tokio::spawn(async move { axum::serve(listener, echo).await });
    let theirs = load(&format!("http://{address}/"), &[], &body).await?;
    server.abort();
    row(
        &format!("execute over HTTP, {CONNECTIONS} connections"),
        &format!("{ours:.0}/s"),
        &format!("{theirs:.0}/s bare echo"),
        ours / theirs,
    );
    gateway.stop().await;
    Ok(())
}

fn authorization(gateway: &TestGateway) -> (&'static str, String) {
    ("authorization", format!("Bearer {}", gateway.key))
}

/// `svc_execute_tool` over MCP (2026-07-28), against a bare rmcp server whose one tool does the same
/// work in native code.
async fn execute_over_mcp() -> anyhow::Result<()> {
    let arguments = json!({ "text": TEXT, "shortest": 2 }).to_string();
    let call = |name: &str, arguments: Value| {
        json!({
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
        })
        .to_string()
    };
    let headers = |name: &str| {
        vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", "2026-07-28".to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", name.to_owned()),
        ]
    };
    let gateway = TestGateway::with_plugin("words.wasm", built_plugin("words")?).await;
    let mut with_key = headers("svc_execute_tool");
    with_key.push(authorization(&gateway));
    let asked = call(
        "svc_execute_tool",
        json!({ "tool_name": "words_count", "arguments": arguments }),
    );
    let ours = load(&gateway.url("/mcp"), &with_key, &asked).await?;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let bare = StreamableHttpService::new(
        || Ok(Bare),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(true),
    );
    let app = axum::Router::new().route_service("/mcp", bare);
    let server = tokio::spawn(async move {
        axum::serve(listener.tap_io(|io| drop(io.set_nodelay(true))), app).await
    });
    let asked = call("count", json!({ "arguments": arguments }));
    let theirs = load(&format!("http://{address}/mcp"), &headers("count"), &asked).await?;
    server.abort();
    row(
        &format!("svc_execute_tool over MCP, {CONNECTIONS} connections"),
        &format!("{ours:.0}/s"),
        &format!("{theirs:.0}/s bare rmcp"),
        ours / theirs,
    );
    gateway.stop().await;
    Ok(())
}

/// A server of one tool and nothing around it.
#[derive(Clone)]
struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let arguments: Value = arguments
            .get("arguments")
            .and_then(Value::as_str)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default();
        let text = arguments["text"].as_str().unwrap_or_default();
        let answer = toolgate_plugin_words::counted(text, 2).to_string();
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
    }
}

/// Requests a second over [`CONNECTIONS`] connections.
async fn load(url: &str, headers: &[(&'static str, String)], body: &str) -> anyhow::Result<f64> {
    let done = Arc::new(AtomicU64::new(0));
    let warm_up = Duration::from_millis(500);
    let began = Instant::now();
    let mut workers = Vec::new();
    for _ in 0..CONNECTIONS {
        let (client, url, body, done) = (client(), url.to_owned(), body.to_owned(), done.clone());
        let headers = headers.to_vec();
        workers.push(tokio::spawn(async move {
            while began.elapsed() < LOAD + warm_up {
                let mut request = client
                    .post(&url)
                    .header("content-type", "application/json")
                    .body(body.clone());
                for (name, value) in &headers {
                    request = request.header(*name, value);
                }
                let response = request.send().await?;
                ensure!(response.status() == 200, "{}", response.status());
                response.bytes().await?;
                if began.elapsed() > warm_up {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }
            anyhow::Ok(())
        }));
    }
    for worker in workers {
        worker.await??;
    }
    Ok(done.load(Ordering::Relaxed) as f64 / LOAD.as_secs_f64())
}

/// Median microseconds of one run of `work`.
async fn median_us<F: Future<Output = anyhow::Result<()>>>(
    runs: usize,
    work: impl Fn() -> F,
) -> anyhow::Result<f64> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let began = Instant::now();
        work().await?;
        times.push(began.elapsed());
    }
    times.sort();
    Ok(times[runs / 2].as_secs_f64() * 1e6)
}

fn call(arguments: &str) -> Call {
    let scope = Scope::new(
        Arc::new(Grant::default()),
        BTreeMap::new(),
        Arc::new(Nothing),
        CallLimits::default(),
        Mode::Live,
    );
    Call {
        tool: "count".to_owned(),
        arguments: arguments.to_owned(),
        session: None,
        cursor: None,
        meta: "{}".to_owned(),
        scope: Arc::new(scope),
        kv: Arc::new(Nothing),
        config: Arc::default(),
        timeout: Duration::from_secs(10),
        memory_bytes_max: 64 << 20,
        response_bytes_max: 1 << 20,
        now_ms: 0,
        random: Random::System,
    }
}

/// A call without credentials and without a session.
struct Nothing;

impl Credentials for Nothing {
    fn fetch<'a>(
        &'a self,
        _slot: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, Failure>> {
        let failure = Failure {
            kind: FailureKind::AuthRequired,
            message: String::new(),
            sent: false,
        };
        std::future::ready(Err(failure)).boxed()
    }

    fn connected(&self, _slot: &str) -> bool {
        false
    }

    fn slot_for_origin(&self, _origin: &str) -> Option<String> {
        None
    }
}

impl KeyValue for Nothing {
    fn get<'a>(&'a self, _key: &'a str) -> BoxFuture<'a, Result<Option<Entry>, KeyValueError>> {
        std::future::ready(Ok(None)).boxed()
    }

    fn set<'a>(
        &'a self,
        _key: &'a str,
        _value: &'a [u8],
        _ttl_seconds: Option<u32>,
        _if_version: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>> {
        std::future::ready(Err(KeyValueError::Unavailable)).boxed()
    }

    fn delete<'a>(&'a self, _key: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>> {
        std::future::ready(Ok(())).boxed()
    }

    fn list<'a>(
        &'a self,
        _prefix: &'a str,
        _cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(Vec<String>, Option<String>), KeyValueError>> {
        std::future::ready(Ok((Vec::new(), None))).boxed()
    }
}
