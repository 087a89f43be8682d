//! The servers that toolgate's answers are held against: the same work and nothing around it. One runs
//! in the process of the loader or as a program of its own, as toolgate does beside it.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use axum::routing::post;
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
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

/// A running server. Ends with this.
pub struct Server {
    pub address: SocketAddr,
    /// Aborted when this goes.
    _here: JoinSet<anyhow::Result<()>>,
    _program: Option<Child>,
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
            _program: None,
        })
    }

    /// A bare one: this program, started again.
    pub async fn program(name: &str) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(format!("serve-{name}"))
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdout = child.stdout.take().context("a pipe was asked for")?;
        let first = BufReader::new(stdout).lines().next_line().await?;
        let address = first.context("a server prints its address")?.parse()?;
        Ok(Self {
            address,
            _here: JoinSet::new(),
            _program: Some(child),
        })
    }
}

/// What the process of a bare server does: prints its address and serves until it is killed.
pub async fn serve(name: &str) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    serve_on(listener, app(name)?).await
}

/// Of a bare server: `echo` or `mcp`.
pub fn app(name: &str) -> anyhow::Result<Router> {
    Ok(match name {
        "echo" => Router::new().route("/", post(echo)),
        "mcp" => Router::new().route_service("/mcp", mcp()),
        _ => bail!("there is no bare server {name}: echo or mcp"),
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

fn mcp() -> StreamableHttpService<Bare, LocalSessionManager> {
    StreamableHttpService::new(
        || Ok(Bare),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(true),
    )
}

/// A server of one tool.
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
