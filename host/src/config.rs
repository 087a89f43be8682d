//! Settings in two stages: [`Settings`] as written (flags, environment, file), [`Config`] checked.
//!
//! Flags win, then `TOOLGATE_...`, then `toolgate.toml`, then the default. The three name the same
//! settings, so the file is the same struct with dashes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde::Deserialize;
use url::Url;

use crate::egress::AllowUpstream;
use crate::vault::Secret;

/// Settings as a person wrote them; every field may be absent.
#[derive(Clone, Debug, Default, clap::Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_LISTEN",
        value_name = "ADDRESS:PORT",
        help_heading = "Settings"
    )]
    pub listen: Option<SocketAddr>,
    /// Base of connect links and OAuth callbacks [default: http://<listen>]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_PUBLIC_URL",
        value_name = "URL",
        help_heading = "Settings"
    )]
    pub public_url: Option<Url>,
    /// Folder of the SQLite file, the compiled-code cache and generated secrets [default: ./data]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_DATA_DIR",
        value_name = "DIR",
        help_heading = "Settings"
    )]
    pub data_dir: Option<PathBuf>,
    /// sqlite://PATH or postgres://... (TLS: ?sslmode=verify-full&sslrootcert=FILE) [default: sqlite://<data-dir>/toolgate.db]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true,
        help_heading = "Settings"
    )]
    pub database_url: Option<String>,
    /// Watched folder of plugin files [default: ./plugins/dist]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_PLUGINS_DIR",
        value_name = "DIR",
        help_heading = "Settings"
    )]
    pub plugins_dir: Option<PathBuf>,
    /// Let plugins serve that bring an interpreter (JavaScript, Python): files up to 48 MiB, up to 256 MiB of memory a call
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_ALLOW_LARGE_PLUGINS",
        value_parser = clap::builder::FalseyValueParser::new(),
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub allow_large_plugins: bool,
    /// File of 32 bytes that encrypts credentials at rest; made on first start [default: <data-dir>/master.key]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MASTER_KEY_FILE",
        value_name = "FILE",
        help_heading = "Settings"
    )]
    pub master_key_file: Option<PathBuf>,
    /// Serve /metrics on this address instead of the main one
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_METRICS_LISTEN",
        value_name = "ADDRESS:PORT",
        help_heading = "Settings"
    )]
    pub metrics_listen: Option<SocketAddr>,
    /// Send what is meant for HOST to URL, private or not, credentials and all (repeatable): tests, on-premise servers
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_ALLOW_UPSTREAM",
        value_name = "HOST=URL",
        value_delimiter = ',',
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub allow_upstream: Vec<String>,
    /// OpenID Connect provider that members sign in with, exactly as it names itself
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OIDC_ISSUER",
        value_name = "URL",
        help_heading = "Settings"
    )]
    pub oidc_issuer: Option<Url>,
    /// Client id there; register the callback <public-url>/internal/oidc/callback
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OIDC_CLIENT_ID",
        value_name = "ID",
        help_heading = "Settings"
    )]
    pub oidc_client_id: Option<String>,
    /// File that holds its client secret [default: none, a public client]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OIDC_CLIENT_SECRET_FILE",
        value_name = "FILE",
        help_heading = "Settings"
    )]
    pub oidc_client_secret_file: Option<PathBuf>,
    /// What the button for it says [default: the issuer's host]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OIDC_NAME",
        value_name = "NAME",
        help_heading = "Settings"
    )]
    pub oidc_name: Option<String>,
    /// Another name under which MCP clients may ask for this gateway (repeatable) [default: loopback and the host of --public-url]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MCP_ALLOW_HOST",
        value_name = "HOST[:PORT]",
        value_delimiter = ',',
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub mcp_allow_host: Vec<String>,
    /// Web pages of this origin may call /mcp (repeatable) [default: loopback and the origin of --public-url]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MCP_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ',',
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub mcp_allow_origin: Vec<String>,
    /// Base address of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1: sessions then converse through its chat completions
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MODEL_URL",
        value_name = "URL",
        help_heading = "Settings"
    )]
    pub model_url: Option<Url>,
    /// Name of the model there
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MODEL",
        value_name = "NAME",
        help_heading = "Settings"
    )]
    pub model: Option<String>,
    /// File with the API key for the model's address (mode 0600); none is sent if absent
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MODEL_KEY_FILE",
        value_name = "FILE",
        help_heading = "Settings"
    )]
    pub model_key_file: Option<PathBuf>,
    /// How long one message to a session may be worked on, in seconds [default: 120]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MODEL_SECONDS",
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..=900),
        help_heading = "Settings"
    )]
    pub model_seconds: Option<u64>,
    /// How long receipts of calls are kept, in days; 0 for ever [default: 0]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_KEEP_RECEIPTS_DAYS",
        value_name = "N",
        help_heading = "Settings"
    )]
    pub keep_receipts_days: Option<u32>,
    /// How long entries of the audit log are kept, in days; 0 for ever [default: 0]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_KEEP_AUDIT_DAYS",
        value_name = "N",
        help_heading = "Settings"
    )]
    pub keep_audit_days: Option<u32>,
    /// How long a shutdown waits for running calls, in seconds [default: 60]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_DRAIN_SECONDS",
        value_name = "N",
        help_heading = "Settings"
    )]
    pub drain_seconds: Option<u64>,
    /// Log as text or json [default: text]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_LOG_FORMAT",
        value_name = "FORMAT",
        help_heading = "Settings"
    )]
    pub log_format: Option<LogFormat>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Settings ready to use.
#[derive(Clone, Debug)]
pub struct Config {
    pub listen: SocketAddr,
    /// Without a trailing slash; `None` until the bound port is known.
    pub public_url: Option<String>,
    pub data_dir: PathBuf,
    pub database_url: String,
    pub plugins_dir: PathBuf,
    /// Whether plugins of the large size may serve.
    pub allow_large_plugins: bool,
    pub master_key_file: PathBuf,
    pub metrics_listen: Option<SocketAddr>,
    pub allow_upstreams: Vec<AllowUpstream>,
    /// The provider that members sign in with.
    pub oidc: Option<OidcConfig>,
    /// `name` or `name:port`, beside loopback and the public one.
    pub mcp_hosts: Vec<String>,
    /// `scheme://host:port`, beside loopback and the public one.
    pub mcp_origins: Vec<String>,
    /// The model that sessions converse through.
    pub model: Option<ModelSettings>,
    pub keep: Keep,
    pub drain: Duration,
    pub log_format: LogFormat,
}

/// How long what was written down is kept; for ever if absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    pub receipts_ms: Option<i64>,
    pub audit_ms: Option<i64>,
}

/// An OpenID Connect provider that members sign in with.
#[derive(Clone, Debug)]
pub struct OidcConfig {
    /// Without a trailing slash, else exactly as the provider names itself.
    pub issuer: String,
    pub client_id: String,
    /// Absent for a public client.
    pub client_secret: Option<Secret>,
    /// On the button.
    pub name: String,
}

/// Where a model answers and how long a turn with it may take.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// Without a trailing slash.
    pub url: String,
    pub name: String,
    pub key_file: Option<PathBuf>,
    pub turn: Duration,
}

/// A turn's time where the settings name none, in seconds.
const MODEL_SECONDS: u64 = 120;

/// The file read when `--config` names none; it may be absent.
pub const DEFAULT_FILE: &str = "toolgate.toml";

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
            allow_large_plugins: self.allow_large_plugins || file.allow_large_plugins,
            master_key_file: self.master_key_file.or(file.master_key_file),
            metrics_listen: self.metrics_listen.or(file.metrics_listen),
            allow_upstream: if self.allow_upstream.is_empty() {
                file.allow_upstream
            } else {
                self.allow_upstream
            },
            oidc_issuer: self.oidc_issuer.or(file.oidc_issuer),
            oidc_client_id: self.oidc_client_id.or(file.oidc_client_id),
            oidc_client_secret_file: self
                .oidc_client_secret_file
                .or(file.oidc_client_secret_file),
            oidc_name: self.oidc_name.or(file.oidc_name),
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
            model_url: self.model_url.or(file.model_url),
            model: self.model.or(file.model),
            model_key_file: self.model_key_file.or(file.model_key_file),
            model_seconds: self.model_seconds.or(file.model_seconds),
            keep_receipts_days: self.keep_receipts_days.or(file.keep_receipts_days),
            keep_audit_days: self.keep_audit_days.or(file.keep_audit_days),
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
        let oidc = match (&self.oidc_issuer, &self.oidc_client_id) {
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
            }),
        };
        let mcp_hosts = self.mcp_allow_host.iter().map(|text| host(text));
        let mcp_origins = self.mcp_allow_origin.iter().map(|text| origin(text));
        Ok(Config {
            mcp_hosts: mcp_hosts.collect::<anyhow::Result<_>>()?,
            mcp_origins: mcp_origins.collect::<anyhow::Result<_>>()?,
            oidc,
            listen: self
                .listen
                .unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080))),
            public_url,
            database_url: self
                .database_url
                .unwrap_or_else(|| format!("sqlite://{}", data_dir.join("toolgate.db").display())),
            plugins_dir: self
                .plugins_dir
                .unwrap_or_else(|| PathBuf::from("./plugins/dist")),
            allow_large_plugins: self.allow_large_plugins,
            master_key_file: self
                .master_key_file
                .unwrap_or_else(|| data_dir.join("master.key")),
            metrics_listen: self.metrics_listen,
            allow_upstreams,
            model,
            keep: Keep {
                receipts_ms: days(self.keep_receipts_days),
                audit_ms: days(self.keep_audit_days),
            },
            drain: Duration::from_secs(self.drain_seconds.unwrap_or(60)),
            log_format: self.log_format.unwrap_or_default(),
            data_dir,
        })
    }
}

/// Days in milliseconds; 0 and nothing mean for ever.
fn days(count: Option<u32>) -> Option<i64> {
    let count = count.filter(|count| *count > 0)?;
    Some(i64::from(count) * 24 * 60 * 60 * 1_000)
}

/// The first line of a secret's file.
fn read_secret(path: &Path) -> anyhow::Result<Secret> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file_and_the_file_over_defaults() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("t.toml");
        std::fs::write(
            &file,
            "listen = \"127.0.0.1:1\"\ndata-dir = \"/d\"\npublic-url = \"https://x.test/\"\n",
        )
        .expect("written");
        let flags = Settings {
            listen: Some("127.0.0.1:2".parse().expect("an address")),
            ..Settings::default()
        };
        let config = flags.resolve(Some(&file)).expect("good settings");
        assert_eq!(config.listen.port(), 2);
        assert_eq!(config.database_url, "sqlite:///d/toolgate.db");
        assert_eq!(config.public_url.as_deref(), Some("https://x.test"));
        assert_eq!(config.plugins_dir, Path::new("./plugins/dist"));
    }

    #[test]
    fn hosts_and_origins_of_mcp_clients_are_checked() {
        let with = |hosts: &[&str], origins: &[&str]| {
            let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            Settings {
                mcp_allow_host: all(hosts),
                mcp_allow_origin: all(origins),
                ..Settings::default()
            }
            .check()
        };
        let config = with(&["Tools.example:8443", "[::1]"], &["https://app.example"]);
        let config = config.expect("good settings");
        assert_eq!(config.mcp_hosts, ["tools.example:8443", "[::1]"]);
        assert_eq!(config.mcp_origins, ["https://app.example:443"]);
        for bad in ["", "a/b", "a/", "u@a", "a b", "http://a"] {
            assert!(with(&[bad], &[]).is_err(), "{bad}");
        }
        for bad in [
            "",
            "*",
            "null",
            "app.example",
            "ftp://a",
            "https://a/b",
            "https://u@a",
        ] {
            assert!(with(&[], &[bad]).is_err(), "{bad}");
        }
    }

    #[test]
    fn receipts_and_the_audit_log_are_kept_for_ever_unless_days_are_given() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("t.toml");
        let day_ms = 86_400_000;
        for (text, flag, receipts_ms, audit_ms) in [
            ("", None, None, None),
            ("keep-receipts-days = 0\n", None, None, None),
            ("keep-receipts-days = 30\n", Some(0), None, None),
            ("keep-audit-days = 400\n", None, None, Some(400 * day_ms)),
            (
                "keep-audit-days = 9\n",
                Some(1),
                Some(day_ms),
                Some(9 * day_ms),
            ),
        ] {
            std::fs::write(&file, text).expect("written");
            let flags = Settings {
                keep_receipts_days: flag,
                ..Settings::default()
            };
            let keep = flags.resolve(Some(&file)).expect("good settings").keep;
            let expected = Keep {
                receipts_ms,
                audit_ms,
            };
            assert_eq!(keep, expected, "{text}");
        }
        std::fs::write(&file, "keep-audit-days = -1\n").expect("written");
        assert!(Settings::default().resolve(Some(&file)).is_err());
    }

    #[test]
    fn mistakes_in_settings_are_named() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("t.toml");
        std::fs::write(&file, "listne = \"127.0.0.1:1\"\n").expect("written");
        let error = format!(
            "{:#}",
            Settings::default()
                .resolve(Some(&file))
                .expect_err("a typo")
        );
        assert!(error.contains("listne"), "{error}");
        let error = Settings::default()
            .resolve(Some(Path::new("/nowhere.toml")))
            .expect_err("no file");
        assert!(error.to_string().contains("/nowhere.toml"));
        let odd = Settings {
            public_url: Some(Url::parse("ftp://x").expect("a url")),
            ..Settings::default()
        };
        assert!(odd.resolve(Some(&file)).is_err());
    }

    #[test]
    fn a_model_has_an_address_and_a_name() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("t.toml");
        let of = |text: &str| {
            std::fs::write(&file, text).expect("written");
            Settings::default().resolve(Some(&file))
        };
        let both = of("model-url = \"http://127.0.0.1:1/v1/\"\nmodel = \"m\"\n").expect("good");
        let model = both.model.expect("a model");
        assert_eq!((&*model.url, &*model.name), ("http://127.0.0.1:1/v1", "m"));
        assert_eq!(model.turn, Duration::from_secs(120));
        assert!(of("").expect("good").model.is_none());
        for bad in [
            "model = \"m\"",
            "model-url = \"http://x/v1\"",
            "model-url = \"http://x/v1\"\nmodel = \" \"",
            "model-url = \"ftp://x\"\nmodel = \"m\"",
            "model-url = \"http://x?a=b\"\nmodel = \"m\"",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
    }
}
