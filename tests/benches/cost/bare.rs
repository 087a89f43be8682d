//! The servers that toolgate's answers are held against: the same work and nothing around it. One runs
//! in the process of the loader or as a program of its own, as toolgate does beside it.
//!
//! `echo` and `mcp` compute. `relay` and `mcp-relay` ask an `upstream` for their answer, as a tool does:
//! they parse it and wrap it, without key, receipt and sandbox.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

/// A running server. Ends with this.
pub struct Server {
    pub address: SocketAddr,
    /// Aborted when this goes.
    _here: JoinSet<anyhow::Result<()>>,
    program: Option<Child>,
}

impl Server {
    /// Of any app, on the threads of this process.
    pub async fn start(app: Router) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let mut here = JoinSet::new();
        here.spawn(serve_on(listener, app));
        Ok(Self {
            address,
            _here: here,
            program: None,
        })
    }

    /// A bare one: this program, started again. `upstream`: whom a relay asks.
    pub async fn program(name: &str, upstream: Option<SocketAddr>) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(format!("serve-{name}"))
            .envs(upstream.map(|address| (UPSTREAM, address.to_string())))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let first = BufReader::new(stdout).lines().next_line().await?;
        let address = first.context("a server prints its address")?.parse()?;
        Ok(Self {
            address,
            _here: JoinSet::new(),
            program: Some(child),
        })
    }

    /// Of a program.
    pub fn process_id(&self) -> Option<u32> {
        self.program.as_ref().and_then(Child::id)
    }
}

/// What the process of a bare server does: prints its address and serves until it is killed.
pub async fn serve(name: &str) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    serve_on(listener, app(name)?).await
}

/// Of a bare server.
pub fn app(name: &str) -> anyhow::Result<Router> {
    Ok(match name {
        "echo" => Router::new().route("/", post(echo)),
        "mcp" => Router::new().route_service("/mcp", mcp(None)),
        "relay" => Router::new()
            .route("/", post(relay))
            .with_state(Upstream::from_env()?),
        "mcp-relay" => Router::new().route_service("/mcp", mcp(Some(Upstream::from_env()?))),
        "upstream" => Router::new().fallback(get(|| answer(Duration::ZERO))),
        "slow-upstream" => Router::new().fallback(get(|| answer(SLOW))),
        _ => bail!("unknown server {name}"),
    })
}

async fn serve_on(listener: TcpListener, app: Router) -> anyhow::Result<()> {
    let listener = listener.tap_io(|io| drop(io.set_nodelay(true)));
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, app).await?)
}

async fn echo(Json(body): Json<Value>) -> Json<Value> {
    let text = body["arguments"]["text"].as_str().unwrap_or_default();
    Json(toolgate_plugin_words::counted(text, 2))
}

/// The environment variable that names the upstream of a relay.
const UPSTREAM: &str = "BENCH_UPSTREAM";
/// How long the slow upstream takes for an answer.
const SLOW: Duration = Duration::from_millis(50);
/// What Prometheus answers to a query for one number.
const VECTOR: &str = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","instance":"localhost:9090","job":"prometheus"},"value":[1790000000.123,"1"]}]}}"#;

async fn answer(after: Duration) -> impl IntoResponse {
    if !after.is_zero() {
        tokio::time::sleep(after).await;
    }
    ([(header::CONTENT_TYPE, "application/json")], VECTOR)
}

/// Whom a relay asks.
#[derive(Clone)]
struct Upstream {
    client: reqwest::Client,
    url: String,
}

impl Upstream {
    fn from_env() -> anyhow::Result<Self> {
        let address = std::env::var(UPSTREAM).context(UPSTREAM)?;
        Ok(Self {
            client: toolgate_tests::gateway::client(),
            url: format!("http://{address}/api/v1/query"),
        })
    }

    async fn ask(&self, arguments: &Value) -> anyhow::Result<Value> {
        let query = arguments["query"].as_str().context("a query")?;
        let mut url = reqwest::Url::parse(&self.url)?;
        url.query_pairs_mut().append_pair("query", query);
        let answer = self.client.get(url).send().await?.error_for_status()?;
        Ok(serde_json::from_slice(&answer.bytes().await?)?)
    }
}

async fn relay(
    State(upstream): State<Upstream>,
    Json(body): Json<Value>,
) -> Result<Json<Value>, (StatusCode, String)> {
    let answer = upstream.ask(&body["arguments"]).await;
    let answer = answer.map_err(|cause| (StatusCode::BAD_GATEWAY, cause.to_string()))?;
    Ok(Json(
        json!({ "data": { "status": "success", "result": answer["data"] } }),
    ))
}

fn mcp(upstream: Option<Upstream>) -> StreamableHttpService<Bare, LocalSessionManager> {
    StreamableHttpService::new(
        move || {
            Ok(Bare {
                upstream: upstream.clone(),
            })
        },
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(true),
    )
}

/// A server of one tool, which counts words or asks the upstream.
#[derive(Clone)]
struct Bare {
    upstream: Option<Upstream>,
}

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
        let answer = match &self.upstream {
            Some(upstream) => match upstream.ask(&arguments).await {
                Ok(answer) => answer["data"].to_string(),
                Err(cause) => return Err(ErrorData::internal_error(cause.to_string(), None)),
            },
            None => {
                let text = arguments["text"].as_str().unwrap_or_default();
                toolgate_plugin_words::counted(text, 2).to_string()
            }
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(answer)]).into())
    }
}
