//! The servers that toolgate's answers are held against: the same work and nothing around it. One runs
//! in the process of the loader or as a program of its own, as toolgate does beside it.
//!
//! `echo` and `mcp` compute, `mcp-server` offers one tool and answers it at once, with what `upstream` answers.
//! `relay` and `mcp-relay` ask an `upstream` for their answer, as a tool does:
//! they parse it and wrap it, without key, receipt and sandbox.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::real_calls::TRUSTED;

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

    /// A bare one: this program, started again.
    pub async fn program(name: &str) -> anyhow::Result<Self> {
        Self::spawn(name, Vec::new()).await
    }

    /// A relay that asks the upstream at this URL and trusts this certificate.
    pub async fn relay(
        name: &str,
        upstream: &str,
        certificate: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let mut settings = vec![(UPSTREAM, upstream.into())];
        settings.extend(certificate.map(|file| (TRUSTED, file.into())));
        Self::spawn(name, settings).await
    }

    /// An upstream with TLS and HTTP/2, whose certificate for `localhost` is written to `folder`.
    pub async fn with_tls(folder: &Path) -> anyhow::Result<Self> {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
        std::fs::write(folder.join("cert.pem"), made.cert.pem())?;
        std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())?;
        Self::spawn("tls-upstream", vec![(CERTIFICATE, folder.into())]).await
    }

    async fn spawn(name: &str, settings: Vec<(&str, OsString)>) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(format!("serve-{name}"))
            .envs(settings)
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
    let tls = match name {
        "tls-upstream" => Some(acceptor()?),
        _ => None,
    };
    println!("{}", listener.local_addr()?);
    match tls {
        Some(tls) => serve_tls(listener, tls, app(name)?).await,
        None => serve_on(listener, app(name)?).await,
    }
}

/// With the certificate of [`CERTIFICATE`], HTTP/2 first.
fn acceptor() -> anyhow::Result<TlsAcceptor> {
    let folder = PathBuf::from(std::env::var_os(CERTIFICATE).context(CERTIFICATE)?);
    let chain =
        CertificateDer::pem_file_iter(folder.join("cert.pem"))?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem"))?;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve_tls(listener: TcpListener, tls: TlsAcceptor, app: Router) -> anyhow::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (tls, app) = (tls.clone(), app.clone());
        tokio::spawn(async move {
            let stream = tls.accept(stream).await?;
            let service = TowerToHyperService::new(app);
            let server = auto::Builder::new(TokioExecutor::new());
            let served = server.serve_connection(TokioIo::new(stream), service);
            served.await.map_err(|cause| anyhow!(cause))
        });
    }
}

/// Of a bare server.
pub fn app(name: &str) -> anyhow::Result<Router> {
    Ok(match name {
        "echo" => Router::new().route("/", post(echo)),
        "mcp" => Router::new().route_service("/mcp", mcp(None)),
        "relay" => Router::new()
            .route("/", post(relay))
            .with_state(Upstream::from_env()?),
        "mcp-server" => Router::new().route_service("/mcp", mcp_server()),
        "mcp-relay" => Router::new().route_service("/mcp", mcp(Some(Upstream::from_env()?))),
        "upstream" | "tls-upstream" => Router::new().fallback(get(|| answer(Duration::ZERO))),
        // An empty body is the answer of OTLP that accepts all.
        "collector" => Router::new().fallback(post(|_: Bytes| async { StatusCode::OK })),
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
/// The environment variable that names the folder of the certificate of an upstream with TLS.
const CERTIFICATE: &str = "BENCH_CERTIFICATE";
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
        let base = std::env::var(UPSTREAM).context(UPSTREAM)?;
        Ok(Self {
            client: toolgate_tests::gateway::client(),
            url: format!("{base}/api/v1/query"),
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

/// The one tool of `mcp-server`.
pub const SERVED_TOOL: &str = "lookup";

fn mcp_server() -> StreamableHttpService<Served, LocalSessionManager> {
    StreamableHttpService::new(
        || Ok(Served),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(true),
    )
}

/// A server of which a plugin can be made.
#[derive(Clone)]
struct Served;

impl ServerHandler for Served {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = json!({
            "name": SERVED_TOOL,
            "description": "Answers the newest value of a metric.",
            "inputSchema": {
                "type": "object",
                "properties": { "metric": { "type": "string", "description": "Its name." } },
                "required": ["metric"],
            },
            "annotations": { "readOnlyHint": true },
        });
        let tool: Tool = serde_json::from_value(tool)
            .map_err(|cause| ErrorData::internal_error(cause.to_string(), None))?;
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(VECTOR)]).into())
    }
}
