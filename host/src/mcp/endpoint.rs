//! `/mcp` as an HTTP route: who may speak, how much, and to which session.
//!
//! In this order: the API key (before any byte of the body is read), the body's type, size and
//! soundness, the session's owner; then rmcp's transport, which checks host and origin against DNS
//! rebinding, the protocol's headers against the body, and runs the handler. Refusals before the
//! protocol are REST's: same statuses, headers and bodies.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use axum::routing::any;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use rmcp::model::{ErrorData, JsonRpcError, RequestStateCodec};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{
    SessionManager as _, StreamableHttpServerConfig, StreamableHttpService,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use url::Url;

use super::server::Server;
use super::sessions::{Owners, SESSION_IDLE_MAX};
use crate::gateway::Gateway;
use crate::ids;
use crate::rest::body::{self, BODY_BYTES_MAX, BODY_TIMEOUT};
use crate::rest::envelope::{Failure, failure_response};
use crate::rest::layer::write_headers;

/// Where the edge is mounted.
pub const PATH: &str = "/mcp";

/// A sign of life on streams that have nothing to say, for the proxies in between.
const SSE_KEEP_ALIVE: Duration = Duration::from_secs(15);

const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// What the edge needs beside the gateway.
pub struct McpOptions {
    /// Hosts a client may have asked for (`name`, `name:port` or an address); any port where none is
    /// given. Everything else is 403.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call: `scheme://host:port`, `*` for any port. Clients that are no
    /// web page send none. Everything else is 403.
    pub allowed_origins: Vec<String>,
    /// Seals what clients carry from one call to its repetition. Processes that share their clients
    /// share the key.
    pub state_key: [u8; 32],
    /// Once cancelled, running calls end and then every session and stream is closed.
    pub shutdown: CancellationToken,
}

impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOptions")
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("state_key", &"[sealed]")
            .finish_non_exhaustive()
    }
}

impl McpOptions {
    /// Loopback and the host and origin of `public_url` are allowed.
    pub fn new(public_url: &str, state_key: [u8; 32]) -> Self {
        let mut allowed_hosts = Vec::from(["localhost", "127.0.0.1", "::1"].map(String::from));
        let mut allowed_origins = Vec::new();
        for host in ["localhost", "127.0.0.1", "[::1]"] {
            allowed_origins.push(format!("http://{host}:*"));
            allowed_origins.push(format!("https://{host}:*"));
        }
        if let Ok(url) = Url::parse(public_url)
            && let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default())
        {
            allowed_hosts.push(host.to_owned());
            allowed_origins.push(format!("{}://{host}:{port}", url.scheme()));
        }
        Self {
            allowed_hosts,
            allowed_origins,
            state_key,
            shutdown: CancellationToken::new(),
        }
    }
}

/// The route, to be served with `into_make_service_with_connect_info::<SocketAddr>()`.
///
/// # Panics
/// Outside a tokio runtime.
pub fn router(gateway: Arc<Gateway>, options: McpOptions) -> Router {
    let codec = RequestStateCodec::try_new(options.state_key).expect("32 bytes are enough");
    let server = Server::new(gateway.clone(), Arc::new(codec));
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE_MAX);
    let sessions = Arc::new(sessions);
    let calls = TaskTracker::new();
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(options.allowed_hosts)
        .with_allowed_origins(options.allowed_origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
        .with_sse_keep_alive(Some(SSE_KEEP_ALIVE))
        .with_cancellation_token(close_after(options.shutdown, calls.clone()));
    let protocol = StreamableHttpService::new(move || Ok(server.clone()), sessions.clone(), config);
    let endpoint = Endpoint {
        gateway,
        protocol,
        sessions,
        owners: Owners::default(),
        calls,
    };
    Router::new()
        .route(PATH, any(answer))
        .with_state(Arc::new(endpoint))
}

/// A token that falls once `shutdown` has and the last running call is answered.
fn close_after(shutdown: CancellationToken, calls: TaskTracker) -> CancellationToken {
    let close = CancellationToken::new();
    let done = close.clone();
    tokio::spawn(async move {
        shutdown.cancelled().await;
        calls.close();
        calls.wait().await;
        done.cancel();
    });
    close
}

struct Endpoint {
    gateway: Arc<Gateway>,
    protocol: StreamableHttpService<Server, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    owners: Owners,
    /// Every POST until its answer has left.
    calls: TaskTracker,
}

async fn answer(State(endpoint): State<Arc<Endpoint>>, request: Request) -> Response {
    let started = Instant::now();
    let request_id = ids::ulid("req");
    let method = request.method().clone();

    let (mut answer, code) = match endpoint.converse(request, &request_id).await {
        Ok(answer) => (answer, None),
        Err(failure) => {
            if let Some(cause) = failure.cause() {
                tracing::error!(request_id, error.chain = cause, "request failed");
            }
            (
                failure_response(&failure, &request_id),
                Some(failure.code()),
            )
        }
    };

    write_headers(answer.headers_mut(), &request_id);
    let took = started.elapsed();
    let status = answer.status().as_u16();
    let metrics = endpoint.gateway.metrics();
    metrics.http_request(&method, PATH, status, took);
    tracing::info!(
        http.method = method.as_str(),
        http.route = PATH,
        http.status = status,
        request_id,
        duration_ms = took.as_secs_f64() * 1_000.0,
        error.code = code,
        "request"
    );
    answer
}

impl Endpoint {
    async fn converse(&self, request: Request, request_id: &str) -> Result<Response, Failure> {
        let (mut parts, body) = request.into_parts();
        let key = crate::rest::bearer(&parts.headers)?;
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let address = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
        let caller = self
            .gateway
            .authenticate(key, request_id.to_owned(), address)
            .await?;
        let key_id = caller.key_id.clone();

        let mut running = None;
        let mut body = body;
        if parts.method == Method::POST {
            running = Some(self.calls.token());
            if !body::is_json(&parts.headers) {
                return Err(Failure::UnsupportedMediaType);
            }
            let bytes = body::read(body, BODY_BYTES_MAX, BODY_TIMEOUT).await?;
            if let Err(problem) = crate::json::check(&bytes) {
                let sentence = format!("Parse error: {problem}");
                return Ok(malformed(ErrorData::parse_error(sentence, None)));
            }
            body = bytes.into();
        }
        let session = session_of(&parts.headers);
        if let Some(session) = &session
            && !self.owners.owns(&key_id, session)
        {
            return Ok(no_session());
        }
        let ends = parts.method == Method::DELETE;
        // The key has done its work; what follows keeps the headers and may log them.
        parts.headers.remove(header::AUTHORIZATION);
        parts.extensions.insert(caller);

        let request = Request::from_parts(parts, body);
        // Kept apart: what it needs while it runs would travel with every move of this future.
        let answer = Box::pin(self.protocol.handle(request)).await;
        let mut answer = answer.map(Body::new);
        if ends && answer.status() == StatusCode::ACCEPTED {
            // Nothing is left to do, and clients look for 200 or 204.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        match (session, session_of(answer.headers())) {
            (Some(session), _) if ends || answer.status() == StatusCode::NOT_FOUND => {
                self.owners.remove(&session);
            }
            (None, Some(opened)) => self.bind_session(&key_id, &opened).await,
            _ => {}
        }
        // The type was right, so this is a body that holds no message of the protocol.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let sentence = "Invalid Request: the body is not one JSON-RPC message of this protocol";
            return Ok(malformed(ErrorData::invalid_request(sentence, None)));
        }
        Ok(held_until_sent(answer, running))
    }

    /// Gives a new session to the key that opened it.
    async fn bind_session(&self, key_id: &str, opened: &str) {
        if let Some(oldest) = self.owners.add(key_id, opened)
            && let Err(problem) = self.sessions.close_session(&oldest.into()).await
        {
            tracing::warn!(error = %problem, "mcp.session.close_failed");
        }
    }
}

fn session_of(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(&SESSION_HEADER)?;
    Some(String::from_utf8_lossy(id.as_bytes()).into_owned())
}

/// A session of another key looks like one that never was: 404, so that the client starts anew.
fn no_session() -> Response {
    let sentence = "Session not found; start a new one with initialize";
    let mut answer = malformed(ErrorData::invalid_request(sentence, None));
    *answer.status_mut() = StatusCode::NOT_FOUND;
    answer
}

/// A JSON-RPC error for a message that has no id to answer to.
fn malformed(error: ErrorData) -> Response {
    let body = serde_json::to_vec(&JsonRpcError::new(None, error))
        .expect("an error without data is strings and numbers");
    let mut answer = Response::new(Body::from(body));
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    answer.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    answer
}

/// Counts a call as running until the last event of its stream has left. An answer in one piece
/// needs no such care: the server finishes writing it before it closes.
fn held_until_sent(answer: Response, running: Option<TaskTrackerToken>) -> Response {
    let streams = answer
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    match running {
        Some(token) if streams => answer.map(|body| {
            Body::from_stream(body.into_data_stream().map(move |event| {
                let _held = &token;
                event
            }))
        }),
        _ => answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_address_is_allowed_beside_loopback() {
        for (public_url, host, origin) in [
            (
                "https://tools.example.com",
                "tools.example.com",
                "https://tools.example.com:443",
            ),
            (
                "http://[2001:db8::1]:8080",
                "[2001:db8::1]",
                "http://[2001:db8::1]:8080",
            ),
        ] {
            let options = McpOptions::new(public_url, [0; 32]);
            assert!(
                options.allowed_hosts.contains(&host.to_owned()),
                "{options:?}"
            );
            assert!(
                options.allowed_origins.contains(&origin.to_owned()),
                "{options:?}"
            );
            assert!(options.allowed_hosts.contains(&"localhost".to_owned()));
        }
    }

    #[tokio::test]
    async fn streams_close_when_the_last_call_is_answered() {
        let (shutdown, calls) = (CancellationToken::new(), TaskTracker::new());
        let close = close_after(shutdown.clone(), calls.clone());
        let running = calls.token();
        shutdown.cancel();
        tokio::task::yield_now().await;
        assert!(!close.is_cancelled());
        drop(running);
        close.cancelled().await;
    }
}
