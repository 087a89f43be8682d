//! `toolgate serve`: bind, open, answer, drain.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::output::OutputFormat;
use crate::config::{Config, InboundSettings, LogFormat, base_url};
use crate::core_workers::CoreWorkers;
use crate::inbound::tls::ServerTls;
use crate::inbound::{Inbound, descriptors};
use crate::memory;
use crate::signals::{self, StopSignals};
use crate::telemetry::{self, Telemetry};
use toolgate_core::clock::Clock;
use toolgate_core::ids::UserId;
use toolgate_core::visible::Lines;
use toolgate_gateway::identity::keys;
use toolgate_gateway::identity::members::links;
use toolgate_gateway::{Caller, Gateway, Scope};
use toolgate_http::{authorization, connect, internal, rest};
use toolgate_mcp as mcp;
use toolgate_store::Role;
use toolgate_vault::Secret;

const DEV_PASSWORD_CHARS: usize = 20;

/// Connections at one time to the address that serves metrics alone.
const METRICS_CONNECTIONS_MAX: usize = 32;

/// After running executions have ended, open connections get this long.
const CONNECTIONS_DRAIN: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// On the first start also make an owner and a key and print them once
    #[arg(long)]
    dev: bool,
}

impl Serve {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let telemetry = Telemetry::open(config.otlp_endpoint.as_deref())?;
        let logs = telemetry.as_ref().and_then(Telemetry::logs);
        start_log(config.log_format, logs);
        if let Some(telemetry) = &telemetry {
            telemetry.record_spans();
        }
        descriptors::raise();
        signals::outlive_file_limit();
        half_the_cores_for_compiling();
        memory::small_pages();
        let listener = TcpListener::bind(config.listen).await.with_context(|| {
            format!(
                "cannot listen on {}; choose another address with --listen",
                config.listen
            )
        })?;
        let metrics_listener = match config.metrics_listen {
            Some(address) => Some(metrics_listener(address).await?),
            None => None,
        };
        let address = listener.local_addr()?;
        let tls = config.tls.as_ref().map(ServerTls::open).transpose()?;
        let mut config = config.clone();
        if !config.has_public_url {
            config.gateway.public_url = base_url(address, config.tls.as_ref());
        }
        let public_url = config.gateway.public_url.clone();
        config.gateway.compiler = this_program();
        // Beside the gateway; whoever needs it first waits for it.
        drop(tokio::task::spawn_blocking(rest::prepare));
        let gateway = Gateway::open(&config.gateway, Clock::system()).await?;
        if let Some(telemetry) = &telemetry {
            telemetry.watch(gateway.metrics());
        }
        let first = FirstStart::make(&gateway, &public_url, self.dev).await?;
        let mut stop = StopSignals::open().context("signals cannot be received")?;
        announce(output, &public_url, &first)?;

        let app = app(&gateway, &config, &public_url);
        let closing = CancellationToken::new();
        if let Some(listener) = metrics_listener {
            serve_metrics(listener, &gateway, closing.clone());
        }
        // A terminal that is closed ends what was started in it, unless there is something to reload.
        let reloads = tls.is_some() || !std::io::stdin().is_terminal();
        let reloading = reloads.then(|| tokio::spawn(reload_at_hangup(tls.clone())));
        let inbound = Inbound::open_with_tls(&config.inbound, tls);
        let connections_max = inbound.limits().connections_max;
        let counted = inbound.clone();
        let metrics = gateway.metrics();
        metrics.sample(move |metrics| metrics.set_connections(counted.connections()));
        tracing::info!(%address, connections_max, "serve.listening");
        let workers = CoreWorkers::open(listener, &app, &inbound)
            .context("the threads that serve cannot start")?;
        stop.next().await;
        gateway.announce_stop();
        if !config.drain_delay.is_zero() {
            tracing::info!(seconds = config.drain_delay.as_secs(), "serve.drain_delay");
            // A second signal does not wait for balancers.
            let _ = timeout(config.drain_delay, stop.next()).await;
        }
        tracing::info!("serve.draining");
        workers.close();
        gateway.close(config.drain).await;
        workers.end(CONNECTIONS_DRAIN).await;
        closing.cancel();
        if let Some(reloading) = reloading {
            reloading.abort();
        }
        tracing::info!("serve.stopped");
        if let Some(telemetry) = telemetry {
            telemetry.close().await;
        }
        Ok(())
    }
}

/// Everything that is served: REST, MCP with the sign-in of its apps, the connect pages and the
/// dashboard over one gateway.
pub fn app(gateway: &Arc<Gateway>, config: &Config, public_url: &str) -> axum::Router {
    let options = rest::RestOptions {
        metrics: gateway.metrics().clone(),
        metrics_here: config.metrics_listen.is_none(),
    };
    let mut mcp_options = mcp::McpOptions {
        auth: config.mcp_auth,
        shutdown: gateway.stopping().clone(),
        ..mcp::McpOptions::new(public_url, gateway.state_key())
    };
    let dashboard = internal::InternalOptions {
        rest: options.clone(),
        public_url: public_url.to_owned(),
    };
    mcp_options
        .allowed_hosts
        .extend_from_slice(&config.mcp_hosts);
    mcp_options
        .allowed_origins
        .extend_from_slice(&config.mcp_origins);
    let authorization = if config.mcp_auth.takes_tokens() {
        authorization::router(gateway.clone())
    } else {
        axum::Router::new()
    };
    let proxies = Arc::new(config.inbound.trusted_proxies.clone());
    rest::router(gateway.clone(), options)
        .merge(internal::router(gateway.clone(), dashboard))
        .merge(mcp::router(gateway.clone(), mcp_options))
        .merge(connect::router(gateway.clone()))
        .merge(authorization)
        .layer(axum::middleware::from_fn_with_state(
            proxies,
            toolgate_http_kit::client::around,
        ))
}

async fn metrics_listener(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!(
            "cannot listen on {address} for metrics; choose another address with --metrics-listen"
        )
    })
}

/// Scrapers come straight to this address: no proxy, few connections.
fn serve_metrics(listener: TcpListener, gateway: &Gateway, closing: CancellationToken) {
    let inbound = Inbound::open(&InboundSettings {
        connections_max: Some(METRICS_CONNECTIONS_MAX),
        ..InboundSettings::default()
    });
    let app = rest::metrics_router(gateway.metrics().clone());
    tokio::spawn(async move { inbound.serve(listener, app, closing).await });
}

/// The address that `--dev` gives the first owner.
const DEV_EMAIL: &str = "owner@localhost";

/// What is made on the first start and shown once.
#[derive(Default)]
struct FirstStart {
    key: Option<Secret>,
    /// With `--dev`: the owner's password.
    password: Option<Secret>,
    /// Otherwise, while there is no member: where the first owner is made.
    setup_url: Option<Secret>,
}

impl FirstStart {
    async fn make(gateway: &Gateway, public_url: &str, dev: bool) -> anyhow::Result<Self> {
        let (store, now_ms) = (gateway.store(), gateway.clock().now_ms());
        // Of processes that start at the same time one makes all of it.
        let _alone = store.lock_set_up().await?;
        let workspace = super::first_workspace(store, now_ms).await?;
        if !dev {
            let caller = Caller::operator(&workspace);
            let link = links::first_owner(store, &caller, public_url, now_ms).await?;
            return Ok(Self {
                setup_url: link.map(|link| link.url),
                ..Self::default()
            });
        }
        let key = if store.list_keys(&workspace.id).await?.is_empty() {
            Some(first_key(gateway, &Caller::operator(&workspace)).await?)
        } else {
            None
        };
        let password = if store.has_members().await? {
            None
        } else {
            let password = keys::random_base62(DEV_PASSWORD_CHARS);
            let email = DEV_EMAIL.to_owned();
            let (role, kept) = (Role::Owner, password.clone());
            super::member::with_password(store, &workspace, email, "Owner", role, kept, now_ms)
                .await?;
            Some(password)
        };
        Ok(Self {
            key,
            password,
            setup_url: None,
        })
    }
}

/// An agent's key: every scope but those of the people who watch over agents.
async fn first_key(gateway: &Gateway, caller: &Caller) -> anyhow::Result<Secret> {
    let new = keys::NewKey {
        name: "dev".to_owned(),
        user: UserId::parse("default")?,
        scopes: Scope::ALL
            .iter()
            .copied()
            .filter(|scope| {
                !matches!(
                    scope,
                    Scope::Approvals | Scope::PermissionsWrite | Scope::Admin
                )
            })
            .collect(),
        rpm: None,
        rpd: None,
        expires_at_ms: None,
        networks: Vec::new(),
    };
    let now_ms = gateway.clock().now_ms();
    let created = keys::create(gateway.store(), caller, new, now_ms).await?;
    Ok(created.key)
}

fn announce(output: OutputFormat, public_url: &str, first: &FirstStart) -> anyhow::Result<()> {
    let shown = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
    let (key, password) = (shown(&first.key), shown(&first.password));
    let setup_url = shown(&first.setup_url);
    let document = json!({
        "dashboard": format!("{public_url}/"),
        "rest": format!("{public_url}/v1"),
        "mcp": format!("{public_url}/mcp"),
        "docs": format!("{public_url}/docs"),
        "key": key,
        "owner": password.as_ref().map(|password| json!({ "email": DEV_EMAIL, "password": password })),
        "setup_url": setup_url,
    });
    output.print(&document, |_| {
        let mut text = format!(
            "toolgate\n  dashboard  {public_url}/\n  REST       {public_url}/v1\n  MCP        {public_url}/mcp\n  docs       {public_url}/docs\n"
        );
        if let Some(setup_url) = setup_url {
            text.push_str(&format!(
                "\nNobody can sign in yet. Become the first owner here, once:\n  {setup_url}\n"
            ));
        }
        if let Some(password) = password {
            text.push_str(&format!(
                "\nSign in to the dashboard, shown once:\n  {DEV_EMAIL}  {password}\n"
            ));
        }
        if let Some(key) = key {
            text.push_str(&format!(
                "\nAPI key, shown once:\n  {key}\n\nTry it:\n  curl -H 'Authorization: Bearer {key}' '{public_url}/v1/tools/search?query=list+items'\n"
            ));
        }
        text
    })
}

/// `sent`: where lines go beside standard error.
pub(super) fn start_log(format: LogFormat, sent: Option<&SdkLoggerProvider>) {
    let filter = EnvFilter::try_from_env("TOOLGATE_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    // Below warnings the protocol's library logs whole messages, arguments and results included; the
    // compiler's traces would bury everything else.
    let quiet = [
        "rmcp=warn",
        "cranelift_codegen=info",
        "regalloc2=info",
        "wasmtime=info",
    ];
    let filter = quiet.into_iter().fold(filter, |filter, directive| {
        filter.add_directive(directive.parse().expect("a target and a level"))
    });
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        // Told on standard error too, which panics where that is a file on the same full disk.
        .log_internal_errors(false)
        .with_writer(move || Lines {
            to: std::io::stderr(),
            json: format == LogFormat::Json,
        });
    // A second subscriber can only come from an embedding program, which has set its own.
    let sent = sent.map(telemetry::lines);
    let _ = match format {
        LogFormat::Text => builder.compact().finish().with(sent).try_init(),
        LogFormat::Json => builder.json().finish().with(sent).try_init(),
    };
}

/// The running program, also where its file was replaced meanwhile.
fn this_program() -> Option<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    match running.exists() {
        true => Some(running),
        false => std::env::current_exe().ok(),
    }
}

/// Compilation is parallel; serving must keep the other half of the machine.
fn half_the_cores_for_compiling() {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let _ = rayon::ThreadPoolBuilder::new()
        .num_threads((cores / 2).max(1))
        .build_global();
}

/// Reads the certificate again at each SIGHUP. Without one the signal changes nothing: plugins, the master
/// key and what the command line sets are followed without it.
async fn reload_at_hangup(tls: Option<ServerTls>) {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(hangups) => hangups,
        Err(cause) => return tracing::warn!(error = %cause, "serve.no_hangup_signal"),
    };
    while hangups.recv().await.is_some() {
        match tls.as_ref().map(ServerTls::reload) {
            Some(Ok(())) => tracing::info!("serve.certificate_reloaded"),
            Some(Err(cause)) => {
                let cause = anyhow::Error::new(cause);
                tracing::error!(
                    error = format!("{cause:#}"),
                    "serve.certificate_not_reloaded"
                );
            }
            None => tracing::info!("serve.nothing_to_reload"),
        }
    }
}
