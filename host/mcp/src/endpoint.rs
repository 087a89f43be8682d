//! `/mcp`, `/mcp/key` and the toolsets below either as HTTP routes: who may speak, how much, and to which
//! session.
//!
//! In this order: the page that asks ([`super::cors`]), the key or access token
//! ([`super::credentials`], before any byte of the body is read), the body's type, size and soundness, the session's owner; then rmcp's transport, which checks host and origin against DNS
//! rebinding, the protocol's headers against the body, and runs the handler. Refusals before the
//! protocol are REST's: same statuses, headers and bodies.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, Request};
use axum::response::Response;
use axum::routing::any;
use rmcp::model::RequestStateCodec;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use super::conversation::Endpoint;
use super::cors::{self, Origins, RequestOrigin};
use super::credentials::{EndpointCredentials, McpAuth};
use super::message::forbidden;
use super::server::{McpServer, ToolOffer};
use super::sessions::{Requests, Sessions, follow, forget_idle, handshake};
use super::toolset::ServiceIcons;
use toolgate_core::ids;
use toolgate_gateway::Gateway;
use toolgate_gateway::toolsets::TOOLSETS_PATH;
use toolgate_http_kit::BODY_BYTES_MAX;
use toolgate_http_kit::answer::write_headers;
use toolgate_http_kit::client::{address_of, host_of};
use toolgate_http_kit::envelope::{ApiFailure, failure_response};
use toolgate_http_kit::span;

/// A sign of life on streams that have nothing to say, for the proxies in between.
const SSE_KEEP_ALIVE: Duration = Duration::from_secs(15);

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
    pub auth: McpAuth,
    /// The path of a service's icon below the public address, where it has one.
    pub icon_path: fn(&str) -> Option<String>,
    /// Once cancelled, running calls end and then every session and stream is closed.
    pub shutdown: CancellationToken,
}

impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOptions")
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("state_key", &"[sealed]")
            .field("auth", &self.auth)
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
            auth: McpAuth::default(),
            icon_path: |_| None,
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
    let icons = ServiceIcons {
        base_url: gateway.public_url().to_owned(),
        path_of: options.icon_path,
    };
    let server = McpServer::new(gateway.clone(), Arc::new(codec), Arc::new(icons));
    let requests = Arc::<Requests>::default();
    let sessions = Arc::new(Sessions::open(gateway.clone(), requests.clone()));
    let origins = Origins::new(&options.allowed_origins);
    let calls = TaskTracker::new();
    let close = close_after(options.shutdown, calls.clone());
    tokio::spawn(follow(Arc::downgrade(&sessions), close.clone()));
    tokio::spawn(forget_idle(Arc::downgrade(&sessions), close.clone()));
    let counted = Arc::downgrade(&sessions);
    gateway.metrics().sample(move |metrics| {
        let sessions = counted.upgrade();
        metrics.set_mcp_sessions(sessions.map_or(0, |sessions| sessions.in_memory()));
    });
    let mut config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(options.allowed_hosts)
        .with_allowed_origins(options.allowed_origins)
        .enforce_origin_validation()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY_BYTES_MAX)
        .with_sse_keep_alive(Some(SSE_KEEP_ALIVE))
        .with_cancellation_token(close);
    config.session_store = Some(Arc::new(handshake::SealedHandshakes));
    let serving = |offer: ToolOffer| {
        let server = server.offering(offer);
        let (sessions, config) = (sessions.clone(), config.clone());
        StreamableHttpService::new(move || Ok(server.clone()), sessions, config)
    };
    let (generic, toolsets) = (serving(ToolOffer::Generic), serving(ToolOffer::Toolset));
    let main = EndpointCredentials::for_main(options.auth, &gateway);
    let endpoint = Arc::new(Endpoint {
        gateway,
        generic,
        toolsets,
        sessions,
        requests,
        origins,
        calls,
    });
    // Where the main address takes no keys, no other does.
    let keys = options
        .auth
        .takes_keys()
        .then(EndpointCredentials::for_keys);
    let router = Router::new();
    std::iter::once(main)
        .chain(keys)
        .fold(router, |router, credentials| {
            let path = credentials.route;
            let toolsets = format!("{path}{TOOLSETS_PATH}/{{toolset_name}}");
            let credentials = Arc::new(credentials);
            let (here, taken) = (endpoint.clone(), credentials.clone());
            let handler = move |request| answer(here.clone(), taken.clone(), request);
            let here = endpoint.clone();
            let at_toolset = move |name: Result<Path<String>, PathRejection>, request| {
                let here = here.clone();
                // What is not text is not a name.
                let name = name.map(|Path(name)| name).unwrap_or_default();
                let credentials = credentials.for_toolset(&here.gateway, &name);
                answer(here, Arc::new(credentials), request)
            };
            router
                .route(path, any(handler))
                .route(&toolsets, any(at_toolset))
        })
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

async fn answer(
    endpoint: Arc<Endpoint>,
    credentials: Arc<EndpointCredentials>,
    mut request: Request,
) -> Response {
    let started = Instant::now();
    let request_id = ids::ulid("req");
    let method = request.method().clone();
    let client = address_of(request.extensions());
    let host = host_of(request.uri(), request.headers());
    let mut span = span::serve(request.headers(), &method, credentials.route);

    let shared_with = match endpoint.origins.check(request.headers()) {
        RequestOrigin::Allowed(origin) => Some(origin.clone()),
        RequestOrigin::None | RequestOrigin::Refused => None,
    };
    let answered = if cors::is_preflight(&method, request.headers()) {
        Ok(match shared_with {
            Some(_) => cors::preflight(),
            None => forbidden(),
        })
    } else {
        if let Some(context) = span.context() {
            // The handler may run elsewhere.
            request.extensions_mut().insert(context.clone());
        }
        let conversing = endpoint.converse(&credentials, request, &request_id);
        span.scope(conversing).await
    };
    let (mut answer, code) = match answered {
        Ok(answer) => (answer, None),
        Err(failure) => {
            if let Some(cause) = failure.cause() {
                tracing::error!(request_id, error.chain = cause, "request failed");
            }
            let mut refusal = failure_response(&failure, &request_id);
            if let ApiFailure::Gateway(error) = &failure {
                let headers = refusal.headers_mut();
                credentials.challenge(&endpoint.gateway, host.as_deref(), error, headers);
            }
            (refusal, Some(failure.code()))
        }
    };

    write_headers(answer.headers_mut(), &request_id);
    cors::share(answer.headers_mut(), shared_with);
    let took = started.elapsed();
    let status = answer.status().as_u16();
    let metrics = endpoint.gateway.metrics();
    metrics.http_request(&method, credentials.route, status, took);
    span::answered(&mut span, status, &request_id, code);
    tracing::info!(
        http.method = method.as_str(),
        http.route = credentials.route,
        http.status = status,
        request_id,
        client.address = client.map(tracing::field::display),
        duration_ms = took.as_secs_f64() * 1_000.0,
        error.code = code,
        "request"
    );
    answer
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
