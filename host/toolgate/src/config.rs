//! Settings in two stages: [`Settings`] as written (flags, environment, file), [`Config`] checked.
//!
//! Flags win, then `TOOLGATE_...`, then `toolgate.toml`, then the default. The three name the same
//! settings, so the file is the same struct with dashes.

mod settings;
#[cfg(test)]
mod tests;
mod values;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

pub use settings::Settings;
pub use values::LogFormat;
pub(crate) use values::read_secret;
use values::{
    assertion_issuer, base_address, collector, connections, database_connections, days,
    group_rules, guest_memory, host, network, origin, trace_origin,
};

use toolgate_core::client_address::TrustedProxies;
use toolgate_egress::AllowUpstream;
use toolgate_gateway::config::{
    AppClientsConfig, GatewayConfig, ModelSettings, OidcConfig, Retention,
};
use toolgate_mcp::McpAuth;
use toolgate_search::embeddings::files;

/// Settings ready to use.
#[derive(Clone, Debug)]
pub struct Config {
    pub gateway: GatewayConfig,
    /// Whether the settings name the public address; else it is the address that is listened on.
    pub has_public_url: bool,
    pub listen: SocketAddr,
    pub inbound: InboundSettings,
    /// Certificate and key of the address that is listened on; plain HTTP without.
    pub tls: Option<TlsSettings>,
    pub metrics_listen: Option<SocketAddr>,
    /// Whether the main address has `/metrics`.
    pub metrics_public: bool,
    /// Base address of the OpenTelemetry collector, without a trailing slash.
    pub otlp_endpoint: Option<String>,
    /// `name` or `name:port`, beside loopback and the public one.
    pub mcp_hosts: Vec<String>,
    /// `scheme://host:port`, beside loopback and the public one.
    pub mcp_origins: Vec<String>,
    pub mcp_auth: McpAuth,
    /// Between the signal to stop and the end of accepting connections.
    pub drain_delay: Duration,
    pub drain: Duration,
    pub log_format: LogFormat,
}

/// The files of a certificate and its key, in PEM form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsSettings {
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// Who connects, and how often at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InboundSettings {
    pub trusted_proxies: TrustedProxies,
    /// Whether connections of trusted proxies begin with a PROXY protocol header.
    pub proxy_protocol: bool,
    pub connections_max: Option<usize>,
    pub connections_per_client: Option<usize>,
}

/// A turn's time where the settings name none, in seconds.
const MODEL_SECONDS: u64 = 120;

/// How often MCP servers are asked for their tools where the settings do not say, in seconds.
const MCP_REFRESH_SECONDS: u64 = 6 * 60 * 60;

/// The file read when `--config` names none; it may be absent.
pub const DEFAULT_FILE: &str = "toolgate.toml";

const DEFAULT_PLUGINS_DIR: &str = "./plugins/dist";

/// Folders of plugins beside the folder of the program: of the archive, and of the Debian package.
const INSTALLED_PLUGINS_DIRS: [&str; 2] = ["plugins", "share/toolgate/plugins"];
/// The same for the sentence model.
const INSTALLED_MODEL_DIRS: [&str; 2] = ["model", "share/toolgate/model"];

impl Settings {
    /// Fills what flags and environment leave open from the file, then the defaults.
    /// `file`: the path of `--config`, which must exist, or none for [`DEFAULT_FILE`], which need not.
    pub fn resolve(self, file: Option<&Path>) -> anyhow::Result<Config> {
        let written = match file {
            Some(path) => read_file(path)?,
            None if Path::new(DEFAULT_FILE).exists() => read_file(Path::new(DEFAULT_FILE))?,
            None => Self::default(),
        };
        self.or(written).check()
    }

    fn or(self, file: Self) -> Self {
        let listed = |own: Vec<String>, file| if own.is_empty() { file } else { own };
        Self {
            listen: self.listen.or(file.listen),
            public_url: self.public_url.or(file.public_url),
            data_dir: self.data_dir.or(file.data_dir),
            database_url: self.database_url.or(file.database_url),
            database_connections: self.database_connections.or(file.database_connections),
            plugins_dir: self.plugins_dir.or(file.plugins_dir),
            allow_large_plugins: self.allow_large_plugins.or(file.allow_large_plugins),
            guest_memory: self.guest_memory.or(file.guest_memory),
            upgrades: self.upgrades.or(file.upgrades),
            mcp_refresh_seconds: self.mcp_refresh_seconds.or(file.mcp_refresh_seconds),
            master_key_file: self.master_key_file.or(file.master_key_file),
            trusted_proxy: listed(self.trusted_proxy, file.trusted_proxy),
            proxy_protocol: self.proxy_protocol.or(file.proxy_protocol),
            connections_max: self.connections_max.or(file.connections_max),
            connections_per_client: self.connections_per_client.or(file.connections_per_client),
            tls_cert: self.tls_cert.or(file.tls_cert),
            tls_key: self.tls_key.or(file.tls_key),
            metrics_listen: self.metrics_listen.or(file.metrics_listen),
            metrics_public: self.metrics_public.or(file.metrics_public),
            allow_upstream: listed(self.allow_upstream, file.allow_upstream),
            otlp_endpoint: self.otlp_endpoint.or(file.otlp_endpoint),
            trace_upstream: listed(self.trace_upstream, file.trace_upstream),
            oidc_issuer: self.oidc_issuer.or(file.oidc_issuer),
            oidc_client_id: self.oidc_client_id.or(file.oidc_client_id),
            oidc_client_secret_file: self
                .oidc_client_secret_file
                .or(file.oidc_client_secret_file),
            oidc_name: self.oidc_name.or(file.oidc_name),
            oidc_group_role: listed(self.oidc_group_role, file.oidc_group_role),
            oidc_groups_claim: self.oidc_groups_claim.or(file.oidc_groups_claim),
            id_jag_issuer: listed(self.id_jag_issuer, file.id_jag_issuer),
            no_client_registration: self.no_client_registration.or(file.no_client_registration),
            no_client_documents: self.no_client_documents.or(file.no_client_documents),
            mcp_allow_host: listed(self.mcp_allow_host, file.mcp_allow_host),
            mcp_allow_origin: listed(self.mcp_allow_origin, file.mcp_allow_origin),
            mcp_auth: self.mcp_auth.or(file.mcp_auth),
            model_url: self.model_url.or(file.model_url),
            model: self.model.or(file.model),
            model_key_file: self.model_key_file.or(file.model_key_file),
            model_seconds: self.model_seconds.or(file.model_seconds),
            no_model: self.no_model.or(file.no_model),
            no_search_learning: self.no_search_learning.or(file.no_search_learning),
            no_repeat_guard: self.no_repeat_guard.or(file.no_repeat_guard),
            keep_receipts_days: self.keep_receipts_days.or(file.keep_receipts_days),
            keep_audit_days: self.keep_audit_days.or(file.keep_audit_days),
            drain_delay: self.drain_delay.or(file.drain_delay),
            drain_seconds: self.drain_seconds.or(file.drain_seconds),
            log_format: self.log_format.or(file.log_format),
        }
    }

    fn model_settings(&self) -> anyhow::Result<Option<ModelSettings>> {
        let url = self.model_url.as_ref();
        let url = url
            .map(|url| base_address("--model-url", url))
            .transpose()?;
        Ok(match (url, &self.model) {
            (Some(url), Some(name)) if !name.trim().is_empty() => Some(ModelSettings {
                url,
                name: name.clone(),
                key_file: self.model_key_file.clone(),
                turn: Duration::from_secs(self.model_seconds.unwrap_or(MODEL_SECONDS)),
            }),
            (None, None) => None,
            _ => anyhow::bail!("--model-url and --model belong together"),
        })
    }

    fn oidc_config(&self) -> anyhow::Result<Option<OidcConfig>> {
        let groups = group_rules(&self.oidc_group_role, self.oidc_groups_claim.clone())?;
        Ok(match (&self.oidc_issuer, &self.oidc_client_id) {
            (None, _) if !groups.rules.is_empty() => {
                anyhow::bail!("--oidc-group-role needs --oidc-issuer")
            }
            (None, _) => None,
            (Some(_), None) => anyhow::bail!("--oidc-issuer needs --oidc-client-id"),
            (Some(issuer), Some(client_id)) => Some(OidcConfig {
                issuer: issuer.as_str().trim_end_matches('/').to_owned(),
                client_id: client_id.clone(),
                client_secret: self
                    .oidc_client_secret_file
                    .as_deref()
                    .map(read_secret)
                    .transpose()?,
                name: self
                    .oidc_name
                    .clone()
                    .unwrap_or_else(|| issuer.host_str().unwrap_or("OpenID Connect").to_owned()),
                groups,
            }),
        })
    }

    fn inbound_settings(&self) -> anyhow::Result<InboundSettings> {
        let trusted_proxies = self.trusted_proxy.iter().map(|text| network(text));
        let trusted_proxies = trusted_proxies.collect::<anyhow::Result<Vec<_>>>()?;
        let proxy_protocol = self.proxy_protocol.unwrap_or_default();
        if proxy_protocol && trusted_proxies.is_empty() {
            anyhow::bail!("--proxy-protocol needs --trusted-proxy: who may send the header");
        }
        Ok(InboundSettings {
            trusted_proxies: TrustedProxies::new(trusted_proxies),
            proxy_protocol,
            connections_max: connections(self.connections_max, "connections-max")?,
            connections_per_client: connections(
                self.connections_per_client,
                "connections-per-client",
            )?,
        })
    }

    fn allowed_upstreams(&self) -> anyhow::Result<Vec<AllowUpstream>> {
        let named = self.allow_upstream.iter();
        named
            .map(|text| {
                AllowUpstream::parse(text).with_context(|| format!("--allow-upstream {text}"))
            })
            .collect()
    }

    fn app_clients(&self) -> anyhow::Result<AppClientsConfig> {
        let issuers = self.id_jag_issuer.iter().map(assertion_issuer);
        Ok(AppClientsConfig {
            documents: !self.no_client_documents.unwrap_or_default(),
            registration: !self.no_client_registration.unwrap_or_default(),
            id_jag_issuers: issuers.collect::<anyhow::Result<_>>()?,
        })
    }

    fn check(self) -> anyhow::Result<Config> {
        let data_dir = self.data_dir.clone();
        let data_dir = data_dir.unwrap_or_else(|| PathBuf::from("./data"));
        let public_url = match &self.public_url {
            Some(url) => Some(base_address("--public-url", url)?),
            None => None,
        };
        let model = self.model_settings()?;
        let oidc = self.oidc_config()?;
        let inbound = self.inbound_settings()?;
        let allow_upstreams = self.allowed_upstreams()?;
        let trace_origins = self.trace_upstream.iter();
        let trace_origins = trace_origins
            .map(|text| trace_origin(text))
            .collect::<anyhow::Result<_>>()?;
        let app_clients = self.app_clients()?;
        let otlp_endpoint = self.otlp_endpoint.map(collector).transpose()?;
        let tls = match (self.tls_cert, self.tls_key) {
            (Some(cert), Some(key)) => Some(TlsSettings { cert, key }),
            (None, None) => None,
            _ => anyhow::bail!("--tls-cert and --tls-key belong together"),
        };
        let mcp_hosts = self.mcp_allow_host.iter().map(|text| host(text));
        let mcp_origins = self.mcp_allow_origin.iter().map(|text| origin(text));
        let listen = self
            .listen
            .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080)));
        Ok(Config {
            has_public_url: public_url.is_some(),
            gateway: GatewayConfig {
                public_url: public_url.unwrap_or_else(|| base_url(listen, tls.as_ref())),
                loopback_pages: false,
                oidc,
                app_clients,
                database_url: self.database_url.unwrap_or_else(|| {
                    format!("sqlite://{}", data_dir.join("toolgate.db").display())
                }),
                database_connections: database_connections(self.database_connections)?,
                plugins_dir: self.plugins_dir.unwrap_or_else(default_plugins_dir),
                allow_large_plugins: self.allow_large_plugins.unwrap_or_default(),
                guest_memory_bytes: guest_memory(self.guest_memory)?,
                learn_from_use: !self.no_search_learning.unwrap_or_default(),
                hold_back_repeats: !self.no_repeat_guard.unwrap_or_default(),
                search_by_embedding: !self.no_model.unwrap_or_default(),
                shipped_model_dir: shipped_model_dir(),
                compiler: None,
                upgrades: self.upgrades.unwrap_or_default(),
                refresh_servers: refresh_servers(self.mcp_refresh_seconds),
                master_key_file: self
                    .master_key_file
                    .unwrap_or_else(|| data_dir.join("master.key")),
                allow_upstreams,
                trace_origins,
                model,
                keep: Retention {
                    receipts_ms: days(self.keep_receipts_days),
                    audit_ms: days(self.keep_audit_days),
                },
                data_dir,
            },
            listen,
            mcp_hosts: mcp_hosts.collect::<anyhow::Result<_>>()?,
            mcp_auth: self.mcp_auth.unwrap_or_default(),
            mcp_origins: mcp_origins.collect::<anyhow::Result<_>>()?,
            inbound,
            tls,
            metrics_listen: self.metrics_listen,
            metrics_public: self.metrics_public.unwrap_or_default(),
            otlp_endpoint,
            drain_delay: Duration::from_secs(self.drain_delay.unwrap_or_default()),
            drain: Duration::from_secs(self.drain_seconds.unwrap_or(60)),
            log_format: self.log_format.unwrap_or_default(),
        })
    }
}

/// How often MCP servers are asked for their tools; none for never.
fn refresh_servers(seconds: Option<u64>) -> Option<Duration> {
    let seconds = seconds.unwrap_or(MCP_REFRESH_SECONDS);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// Where plugins are where the settings name no folder: in a checkout, in an unpacked archive (`bin/toolgate` beside
/// `plugins`), or where the Debian package puts them.
fn default_plugins_dir() -> PathBuf {
    let checkout = PathBuf::from(DEFAULT_PLUGINS_DIR);
    if checkout.is_dir() {
        return checkout;
    }
    installed(INSTALLED_PLUGINS_DIRS, holds_plugins).unwrap_or(checkout)
}

/// The sentence model of the archive, the Debian package or the image.
pub(crate) fn shipped_model_dir() -> Option<PathBuf> {
    installed(INSTALLED_MODEL_DIRS, |folder| files::look(folder).is_some())
}

/// The first of these folders beside the program's own that holds what is looked for.
fn installed(folders: [&str; 2], is_there: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let root = program.parent()?.parent()?;
    folders
        .into_iter()
        .map(|folder| root.join(folder))
        .find(|folder| is_there(folder))
}

fn holds_plugins(folder: &Path) -> bool {
    let is_plugin = |file: &Path| file.extension().is_some_and(|kind| kind == "wasm");
    std::fs::read_dir(folder).is_ok_and(|files| {
        files
            .filter_map(Result::ok)
            .any(|file| is_plugin(&file.path()))
    })
}

/// The address of the gateway where the settings name none.
pub fn base_url(listen: SocketAddr, tls: Option<&TlsSettings>) -> String {
    let scheme = if tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{listen}")
}

/// An address of this machine for one on which all are listened on.
pub(crate) fn reachable(mut listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        listen.set_ip(match listen.is_ipv4() {
            true => Ipv4Addr::LOCALHOST.into(),
            false => Ipv6Addr::LOCALHOST.into(),
        });
    }
    listen
}

fn read_file(path: &Path) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings file {} cannot be read", path.display()))?;
    toml::from_str(&text)
        .with_context(|| format!("the settings file {} has a mistake", path.display()))
}
