//! Settings in two stages: [`Settings`] as written (flags, environment, file), [`Config`] checked.
//!
//! Flags win, then `TOOLGATE_...`, then `toolgate.toml`, then the default. The three name the same
//! settings, so the file is the same struct with dashes.

mod settings;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use ipnet::IpNet;
use url::Url;

pub use settings::{LogFormat, Settings};

use toolgate_core::client_address::TrustedProxies;
use toolgate_egress::{AllowUpstream, Origin};
use toolgate_gateway::config::{
    AppClientsConfig, AssertionIssuer, GatewayConfig, GroupRule, GroupRules, ModelSettings,
    OidcConfig, Retention,
};
use toolgate_mcp::McpAuth;
use toolgate_search::embeddings::files;
use toolgate_vault::Secret;

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
        Self {
            listen: self.listen.or(file.listen),
            public_url: self.public_url.or(file.public_url),
            data_dir: self.data_dir.or(file.data_dir),
            database_url: self.database_url.or(file.database_url),
            plugins_dir: self.plugins_dir.or(file.plugins_dir),
            allow_large_plugins: self.allow_large_plugins.or(file.allow_large_plugins),
            upgrades: self.upgrades.or(file.upgrades),
            master_key_file: self.master_key_file.or(file.master_key_file),
            trusted_proxy: if self.trusted_proxy.is_empty() {
                file.trusted_proxy
            } else {
                self.trusted_proxy
            },
            proxy_protocol: self.proxy_protocol.or(file.proxy_protocol),
            connections_max: self.connections_max.or(file.connections_max),
            connections_per_client: self.connections_per_client.or(file.connections_per_client),
            tls_cert: self.tls_cert.or(file.tls_cert),
            tls_key: self.tls_key.or(file.tls_key),
            metrics_listen: self.metrics_listen.or(file.metrics_listen),
            allow_upstream: if self.allow_upstream.is_empty() {
                file.allow_upstream
            } else {
                self.allow_upstream
            },
            otlp_endpoint: self.otlp_endpoint.or(file.otlp_endpoint),
            trace_upstream: if self.trace_upstream.is_empty() {
                file.trace_upstream
            } else {
                self.trace_upstream
            },
            oidc_issuer: self.oidc_issuer.or(file.oidc_issuer),
            oidc_client_id: self.oidc_client_id.or(file.oidc_client_id),
            oidc_client_secret_file: self
                .oidc_client_secret_file
                .or(file.oidc_client_secret_file),
            oidc_name: self.oidc_name.or(file.oidc_name),
            oidc_group_role: if self.oidc_group_role.is_empty() {
                file.oidc_group_role
            } else {
                self.oidc_group_role
            },
            oidc_groups_claim: self.oidc_groups_claim.or(file.oidc_groups_claim),
            id_jag_issuer: if self.id_jag_issuer.is_empty() {
                file.id_jag_issuer
            } else {
                self.id_jag_issuer
            },
            no_client_registration: self.no_client_registration.or(file.no_client_registration),
            no_client_documents: self.no_client_documents.or(file.no_client_documents),
            mcp_allow_host: if self.mcp_allow_host.is_empty() {
                file.mcp_allow_host
            } else {
                self.mcp_allow_host
            },
            mcp_allow_origin: if self.mcp_allow_origin.is_empty() {
                file.mcp_allow_origin
            } else {
                self.mcp_allow_origin
            },
            mcp_auth: self.mcp_auth.or(file.mcp_auth),
            model_url: self.model_url.or(file.model_url),
            model: self.model.or(file.model),
            model_key_file: self.model_key_file.or(file.model_key_file),
            model_seconds: self.model_seconds.or(file.model_seconds),
            no_model: self.no_model.or(file.no_model),
            no_search_learning: self.no_search_learning.or(file.no_search_learning),
            keep_receipts_days: self.keep_receipts_days.or(file.keep_receipts_days),
            keep_audit_days: self.keep_audit_days.or(file.keep_audit_days),
            drain_delay: self.drain_delay.or(file.drain_delay),
            drain_seconds: self.drain_seconds.or(file.drain_seconds),
            log_format: self.log_format.or(file.log_format),
        }
    }

    fn check(self) -> anyhow::Result<Config> {
        let data_dir = self.data_dir.unwrap_or_else(|| PathBuf::from("./data"));
        let public_url = match self.public_url {
            Some(url) if !matches!(url.scheme(), "http" | "https") || url.query().is_some() => {
                anyhow::bail!("--public-url is an http or https address without a query, not {url}")
            }
            Some(url) => Some(url.as_str().trim_end_matches('/').to_owned()),
            None => None,
        };
        let model = match (self.model_url, self.model) {
            (Some(url), _)
                if !matches!(url.scheme(), "http" | "https") || url.query().is_some() =>
            {
                anyhow::bail!("--model-url is an http or https address without a query, not {url}")
            }
            (Some(url), Some(name)) if !name.trim().is_empty() => Some(ModelSettings {
                url: url.as_str().trim_end_matches('/').to_owned(),
                name,
                key_file: self.model_key_file,
                turn: Duration::from_secs(self.model_seconds.unwrap_or(MODEL_SECONDS)),
            }),
            (None, None) => None,
            _ => anyhow::bail!("--model-url and --model belong together"),
        };
        let allow_upstreams = self
            .allow_upstream
            .iter()
            .map(|text| {
                AllowUpstream::parse(text).with_context(|| format!("--allow-upstream {text}"))
            })
            .collect::<anyhow::Result<_>>()?;
        let groups = group_rules(&self.oidc_group_role, self.oidc_groups_claim)?;
        let trace_origins = self
            .trace_upstream
            .iter()
            .map(|text| trace_origin(text))
            .collect::<anyhow::Result<_>>()?;
        let otlp_endpoint = self.otlp_endpoint.map(collector).transpose()?;
        let oidc = match (&self.oidc_issuer, &self.oidc_client_id) {
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
        };
        let trusted_proxies = self.trusted_proxy.iter().map(|text| network(text));
        let trusted_proxies = trusted_proxies.collect::<anyhow::Result<Vec<_>>>()?;
        let proxy_protocol = self.proxy_protocol.unwrap_or_default();
        if proxy_protocol && trusted_proxies.is_empty() {
            anyhow::bail!("--proxy-protocol needs --trusted-proxy: who may send the header");
        }
        let inbound = InboundSettings {
            trusted_proxies: TrustedProxies::new(trusted_proxies),
            proxy_protocol,
            connections_max: connections(self.connections_max, "connections-max")?,
            connections_per_client: connections(
                self.connections_per_client,
                "connections-per-client",
            )?,
        };
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
                app_clients: AppClientsConfig {
                    documents: !self.no_client_documents.unwrap_or_default(),
                    registration: !self.no_client_registration.unwrap_or_default(),
                    id_jag_issuers: self
                        .id_jag_issuer
                        .iter()
                        .map(assertion_issuer)
                        .collect::<anyhow::Result<_>>()?,
                },
                database_url: self.database_url.unwrap_or_else(|| {
                    format!("sqlite://{}", data_dir.join("toolgate.db").display())
                }),
                plugins_dir: self.plugins_dir.unwrap_or_else(default_plugins_dir),
                allow_large_plugins: self.allow_large_plugins.unwrap_or_default(),
                learn_from_use: !self.no_search_learning.unwrap_or_default(),
                search_by_embedding: !self.no_model.unwrap_or_default(),
                shipped_model_dir: shipped_model_dir(),
                compiler: None,
                upgrades: self.upgrades.unwrap_or_default(),
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
            otlp_endpoint,
            drain_delay: Duration::from_secs(self.drain_delay.unwrap_or_default()),
            drain: Duration::from_secs(self.drain_seconds.unwrap_or(60)),
            log_format: self.log_format.unwrap_or_default(),
        })
    }
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

/// The rules for groups of the provider.
fn group_rules(rules: &[String], claim: Option<String>) -> anyhow::Result<GroupRules> {
    let rules = rules.iter().map(|text| text.trim().parse::<GroupRule>());
    let rules = rules
        .collect::<Result<Vec<_>, _>>()
        .map_err(|cause| anyhow::anyhow!("--oidc-group-role: {cause}"))?;
    let claim = claim.unwrap_or_else(|| GroupRules::CLAIM.to_owned());
    anyhow::ensure!(
        !claim.is_empty(),
        "--oidc-groups-claim is the name of a claim"
    );
    Ok(GroupRules { claim, rules })
}

/// An issuer of identity assertions: `URL`, or `WORKSPACE=URL`.
fn assertion_issuer(text: &String) -> anyhow::Result<AssertionIssuer> {
    let begins = |scheme: &str| text.starts_with(scheme);
    let (workspace, address) = match text.split_once('=') {
        Some((workspace, address)) if !begins("http://") && !begins("https://") => {
            (Some(workspace.to_owned()), address)
        }
        _ => (None, text.as_str()),
    };
    let url: Option<Url> = address.parse().ok();
    let url = url.filter(|url| {
        matches!(url.scheme(), "http" | "https")
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
    });
    let (Some(url), false) = (url, workspace.as_deref() == Some("")) else {
        anyhow::bail!(
            "--id-jag-issuer is an http or https address without a query, for one workspace after its name and =, not {text}"
        );
    };
    Ok(AssertionIssuer {
        issuer: url.as_str().trim_end_matches('/').to_owned(),
        workspace,
    })
}

/// Days in milliseconds; 0 and nothing mean for ever.
fn days(count: Option<u32>) -> Option<i64> {
    let count = count.filter(|count| *count > 0)?;
    Some(i64::from(count) * 24 * 60 * 60 * 1_000)
}

/// A number of connections; a file may hold what the flag would refuse.
fn connections(count: Option<u32>, name: &str) -> anyhow::Result<Option<usize>> {
    match count {
        Some(0) => anyhow::bail!("--{name} is 1 or more"),
        count => Ok(count.map(|count| count as usize)),
    }
}

/// A network in CIDR notation; an address alone is a network of one.
fn network(text: &str) -> anyhow::Result<IpNet> {
    let text = text.trim();
    let read = text.parse::<IpNet>();
    let alone = || text.parse::<IpAddr>().map(IpNet::from);
    read.or_else(|_| alone()).map_err(|_| {
        anyhow::anyhow!("--trusted-proxy is a network such as 10.0.0.0/8, not {text:?}")
    })
}

/// The first line of a secret's file.
pub(crate) fn read_secret(path: &Path) -> anyhow::Result<Secret> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the file {} cannot be read", path.display()))?;
    let text = zeroize::Zeroizing::new(text);
    Ok(Secret::new(text.lines().next().unwrap_or_default()))
}

/// A host as a client names it, with or without its port.
fn host(text: &str) -> anyhow::Result<String> {
    let read = Url::parse(&format!("http://{text}"));
    let plain = read
        .is_ok_and(|url| url.path() == "/" && url.query().is_none() && url.username().is_empty());
    if !plain || text.ends_with('/') {
        anyhow::bail!("--mcp-allow-host is a name or name:port, not {text}");
    }
    Ok(text.to_ascii_lowercase())
}

/// An origin whose upstream is told of traces.
fn trace_origin(text: &str) -> anyhow::Result<Origin> {
    let plain = Url::parse(text)
        .is_ok_and(|url| url.path() == "/" && url.query().is_none() && url.fragment().is_none());
    Origin::parse(text).ok().filter(|_| plain).with_context(|| {
        format!("--trace-upstream is an origin such as https://api.example.com, not {text}")
    })
}

/// The base address of a collector.
fn collector(url: Url) -> anyhow::Result<String> {
    let plain = matches!(url.scheme(), "http" | "https")
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    if !plain {
        anyhow::bail!(
            "--otlp-endpoint is an http or https address without user and query; credentials belong into \
             OTEL_EXPORTER_OTLP_HEADERS"
        );
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// An origin with its port (RFC 6454, section 6.2).
fn origin(text: &str) -> anyhow::Result<String> {
    let bad =
        || anyhow::anyhow!("--mcp-allow-origin is scheme://host or scheme://host:port, not {text}");
    let url = Url::parse(text).map_err(|_| bad())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty();
    match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) if plain => Ok(format!("{}://{host}:{port}", url.scheme())),
        _ => Err(bad()),
    }
}

fn read_file(path: &Path) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings file {} cannot be read", path.display()))?;
    toml::from_str(&text)
        .with_context(|| format!("the settings file {} has a mistake", path.display()))
}
