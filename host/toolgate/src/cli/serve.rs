//! `toolgate serve`: bind, open, answer, drain.

mod first_start;
mod plugins_folder;
mod progress;

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use opentelemetry_sdk::logs::SdkLoggerProvider;
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
use crate::log::{LastLines, LogOutput};
use crate::memory;
use crate::signals::{self, StopSignals};
use crate::telemetry::{self, Telemetry};
use first_start::{Banner, FirstStart};
use progress::Progress;
use toolgate_core::clock::Clock;
use toolgate_gateway::Gateway;
use toolgate_http::{authorization, connect, internal, rest};
use toolgate_mcp as mcp;

/// Connections at one time to the address that serves metrics alone.
const METRICS_CONNECTIONS_MAX: usize = 32;

/// After running executions have ended, open connections get this long, and then the database is closed.
const CONNECTIONS_DRAIN: Duration = Duration::from_secs(2);

/// Lines of the log come before the banner if their reader takes them within this time.
const LOG_BEFORE_BANNER: Duration = Duration::from_millis(500);

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// On the first start also make an owner and a key and print them once; connect links may lead to every page of
    /// this machine
    #[arg(long)]
    dev: bool,
}

impl Serve {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let progress = Progress::on_terminal(output, config.log_format);
        let telemetry = Telemetry::open(config.otlp_endpoint.as_deref())?;
        let logs = telemetry.as_ref().and_then(Telemetry::logs);
        let log = start_log(config.log_format, default_log(progress.as_ref()), logs)?;
        let log = &log.0;
        log.take_panics();
        if let Some(telemetry) = &telemetry {
            telemetry.record_spans();
        }
        prepare_process(config)?;
        let listeners = Listeners::bind(config).await?;
        let config = self.completed(config, &listeners);
        let public_url = config.gateway.public_url.clone();
        // Beside the gateway; its first user waits for it.
        drop(tokio::task::spawn_blocking(rest::prepare));
        let gateway = Gateway::open(&config.gateway, Clock::system()).await?;
        if let Some(telemetry) = &telemetry {
            telemetry.watch(gateway.metrics());
        }
        let first = FirstStart::make(&gateway, &public_url, self.dev).await?;
        let mut stop = StopSignals::open().context("signals cannot be received")?;
        let banner = Banner {
            output,
            public_url: &public_url,
            first,
        };
        // A program that reads it must not wait for plugins.
        if progress.is_none() {
            log.flush(LOG_BEFORE_BANNER);
            banner.print(None)?;
        }

        let app = app(&gateway, &config, &public_url);
        let closing = CancellationToken::new();
        if let Some(listener) = listeners.metrics {
            serve_metrics(listener, &gateway, closing.clone());
        }
        let tls = listeners.tls;
        // A terminal that is closed ends what was started in it, unless there is something to reload.
        let reloads = tls.is_some() || !std::io::stdin().is_terminal();
        let reloading = reloads.then(|| tokio::spawn(reload_at_hangup(tls.clone())));
        let inbound = Inbound::open_with_tls(&config.inbound, tls);
        let connections_max = inbound.limits().connections_max;
        sample_process(&gateway, &inbound, log);
        let address = listeners.address;
        tracing::info!(%address, connections_max, "serve.listening");
        let workers = CoreWorkers::open(listeners.main, &app, &inbound)
            .context("the threads that serve cannot start")?;
        let stopped = match progress {
            None => false,
            Some(progress) => {
                // Requests are answered meanwhile.
                let stopped = tokio::select! {
                    () = progress.until_loaded(&gateway, log) => false,
                    () = stop.next() => true,
                };
                log.progress("");
                log.flush(LOG_BEFORE_BANNER);
                banner.print(Some(gateway.plugin_loading()))?;
                stopped
            }
        };
        if !stopped {
            stop.next().await;
        }
        drain(&gateway, &config, workers, &mut stop).await;
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

    /// The settings with what is known once the address is bound.
    fn completed(&self, config: &Config, listeners: &Listeners) -> Config {
        let mut config = config.clone();
        if !config.has_public_url {
            config.gateway.public_url = base_url(listeners.address, config.tls.as_ref());
        }
        config.gateway.compiler = this_program();
        config.gateway.loopback_pages = self.dev;
        config
    }
}

/// What is bound before the gateway opens, so that an address that is taken ends the start at once.
struct Listeners {
    main: TcpListener,
    /// Where the main listener is: the port that the system chose, if the settings say 0.
    address: SocketAddr,
    metrics: Option<TcpListener>,
    tls: Option<ServerTls>,
}

impl Listeners {
    async fn bind(config: &Config) -> anyhow::Result<Self> {
        let main = TcpListener::bind(config.listen).await.with_context(|| {
            format!(
                "cannot listen on {}; choose another address with --listen",
                config.listen
            )
        })?;
        Ok(Self {
            address: main.local_addr()?,
            main,
            metrics: match config.metrics_listen {
                Some(address) => Some(metrics_listener(address).await?),
                None => None,
            },
            tls: config.tls.as_ref().map(ServerTls::open).transpose()?,
        })
    }
}

/// The limits of the process, and the folder without which nothing is served.
fn prepare_process(config: &Config) -> anyhow::Result<()> {
    descriptors::raise();
    signals::survive_file_limit();
    plugins_folder::check(&config.gateway.plugins_dir)?;
    half_the_cores_for_compiling();
    memory::small_pages();
    Ok(())
}

/// What the metrics tell of the process beside the gateway.
fn sample_process(gateway: &Gateway, inbound: &Inbound, log: &LogOutput) {
    let (counted, logged) = (inbound.clone(), log.clone());
    gateway.metrics().sample(move |metrics| {
        metrics.set_connections(counted.connections());
        metrics.set_log_lines_lost(logged.lost());
    });
}

/// Lets what runs end in its time: new connections are refused, executions finish, the database is closed.
async fn drain(
    gateway: &Arc<Gateway>,
    config: &Config,
    workers: CoreWorkers,
    stop: &mut StopSignals,
) {
    gateway.announce_stop();
    if !config.drain_delay.is_zero() {
        tracing::info!(seconds = config.drain_delay.as_secs(), "serve.drain_delay");
        // A second signal does not wait for balancers.
        let _ = timeout(config.drain_delay, stop.next()).await;
    }
    tracing::info!("serve.draining");
    workers.close();
    gateway.drain(config.drain).await;
    workers.drain(CONNECTIONS_DRAIN).await;
    // Executions have had their time.
    gateway.close(Duration::ZERO).await;
}

/// Everything that is served: REST, MCP with the sign-in of its apps, the connect pages and the
/// dashboard over one gateway.
pub fn app(gateway: &Arc<Gateway>, config: &Config, public_url: &str) -> axum::Router {
    let options = rest::RestOptions {
        metrics: gateway.metrics().clone(),
        metrics_here: config.metrics_public,
    };
    let mut mcp_options = mcp::McpOptions {
        auth: config.mcp_auth,
        icon_path: toolgate_http::logo_path,
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
        .merge(toolgate_http::guide::router(super::reference::pages))
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

/// What is logged where `TOOLGATE_LOG` says nothing. On a terminal a line for each request would scroll
/// away the password and the key, which are shown once.
fn default_log(progress: Option<&Progress>) -> &'static str {
    match progress {
        Some(_) => "warn",
        None => "info",
    }
}

/// `default`: what is logged where `TOOLGATE_LOG` says nothing. `sent`: where lines go beside standard error.
/// Keep what it answers until the command ends.
pub(super) fn start_log(
    format: LogFormat,
    default: &str,
    sent: Option<&SdkLoggerProvider>,
) -> anyhow::Result<LastLines> {
    let output =
        LogOutput::start(format == LogFormat::Json).context("the log cannot be written")?;
    let filter =
        EnvFilter::try_from_env("TOOLGATE_LOG").unwrap_or_else(|_| EnvFilter::new(default));
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
        .with_writer({
            let output = output.clone();
            move || output.lines()
        });
    // A second subscriber can only come from an embedding program, which has set its own.
    let sent = sent.map(telemetry::lines);
    let _ = match format {
        LogFormat::Text => builder.compact().finish().with(sent).try_init(),
        LogFormat::Json => builder.json().finish().with(sent).try_init(),
    };
    Ok(LastLines(output))
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
