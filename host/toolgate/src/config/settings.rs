//! Settings as written: one struct for flags, environment and file.

use clap::builder::{FalseyValueParser, PossibleValuesParser, TypedValueParser as _};
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;
use url::Url;

use super::values::LogFormat;
use toolgate_catalog::rights::Upgrades;
use toolgate_mcp::McpAuth;

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
    /// Base of connect links and OAuth callbacks [default: http://LISTEN, or https://LISTEN with --tls-cert]
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
    /// sqlite://PATH or postgres://... (TLS: ?sslmode=verify-full&sslrootcert=FILE) [default: sqlite://DATA_DIR/toolgate.db]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true,
        help_heading = "Settings"
    )]
    pub database_url: Option<String>,
    /// Connections to PostgreSQL, which the gateway keeps; fewer where the server has no more free [default: 16]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_DATABASE_CONNECTIONS",
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=1_000),
        help_heading = "Settings"
    )]
    pub database_connections: Option<u32>,
    /// Watched folder of plugin files [default: ./plugins/dist, else the one that came with the program]
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
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub allow_large_plugins: Option<bool>,
    /// Memory that all running plugins may have together, in MiB [default: half of the memory of the machine or cgroup]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_GUEST_MEMORY",
        value_name = "MIB",
        value_parser = clap::value_parser!(u32).range(128..=16_777_216),
        help_heading = "Settings"
    )]
    pub guest_memory: Option<u32>,
    /// Which changes of a new plugin version go in without approval: strict (texts only) or schemas (new optional arguments too) [default: strict]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_UPGRADES",
        value_name = "RULE",
        value_parser = PossibleValuesParser::new(Upgrades::NAMES).try_map(|name| name.parse::<Upgrades>()),
        help_heading = "Settings"
    )]
    pub upgrades: Option<Upgrades>,
    /// Seconds after which the MCP servers of plugins are asked for their tools again; 0: never [default: 21600, six hours]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MCP_REFRESH_SECONDS",
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(0..=2_592_000),
        help_heading = "Settings"
    )]
    pub mcp_refresh_seconds: Option<u64>,
    /// File of 32 bytes that encrypts credentials at rest; created on first start [default: DATA_DIR/master.key]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MASTER_KEY_FILE",
        value_name = "FILE",
        help_heading = "Settings"
    )]
    pub master_key_file: Option<PathBuf>,
    /// Take the client's address from Forwarded or X-Forwarded-For where a request comes from this network (repeatable) [default: none]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_TRUSTED_PROXY",
        value_name = "CIDR",
        value_delimiter = ',',
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub trusted_proxy: Vec<String>,
    /// Connections of trusted proxies begin with a PROXY protocol header, version 2
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_PROXY_PROTOCOL",
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub proxy_protocol: Option<bool>,
    /// Connections at one time [default: 10000, or what file descriptors allow]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_CONNECTIONS_MAX",
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Settings"
    )]
    pub connections_max: Option<u32>,
    /// Connections at one time from one address, unless it is a trusted proxy [default: 512]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_CONNECTIONS_PER_CLIENT",
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Settings"
    )]
    pub connections_per_client: Option<u32>,
    /// Certificate chain in PEM form: serve HTTPS without a proxy; read again at SIGHUP [default: none, plain HTTP]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_TLS_CERT",
        value_name = "FILE",
        help_heading = "Settings"
    )]
    pub tls_cert: Option<PathBuf>,
    /// Its private key in PEM form
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_TLS_KEY",
        value_name = "FILE",
        help_heading = "Settings"
    )]
    pub tls_key: Option<PathBuf>,
    /// Serve /metrics on this address, which is to be private [default: nowhere]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_METRICS_LISTEN",
        value_name = "ADDRESS:PORT",
        help_heading = "Settings"
    )]
    pub metrics_listen: Option<SocketAddr>,
    /// Serve /metrics on the main address, to everybody who reaches it
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_METRICS_PUBLIC",
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub metrics_public: Option<bool>,
    /// Send requests for HOST to URL, even if it is private, with their credentials (repeatable): tests, on-premise servers
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
    /// Send traces, metrics and logs to this OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318; OTEL_EXPORTER_OTLP_ENDPOINT says the same [default: none]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OTLP_ENDPOINT",
        value_name = "URL",
        help_heading = "Settings"
    )]
    pub otlp_endpoint: Option<Url>,
    /// Tell upstreams of this origin which trace a request belongs to (traceparent); only with a collector (repeatable) [default: none]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_TRACE_UPSTREAM",
        value_name = "ORIGIN",
        value_delimiter = ',',
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub trace_upstream: Vec<String>,
    /// OpenID Connect provider that members sign in with, exactly as it names itself
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OIDC_ISSUER",
        value_name = "URL",
        help_heading = "Settings"
    )]
    pub oidc_issuer: Option<Url>,
    /// Client id there; register the callback PUBLIC_URL/internal/oidc/callback
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
    /// Map an identity-provider group to a role: GROUP=ROLE in the first workspace, GROUP=WORKSPACE/ROLE in another
    /// (repeatable; separated by semicolons in the environment). A person who signs in to that workspace only with
    /// the provider then needs a mapped group [default: none, members are invited]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OIDC_GROUP_ROLE",
        value_name = "RULE",
        value_delimiter = ';',
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub oidc_group_role: Vec<String>,
    /// The claim that lists a person's groups; a JSON Pointer if it begins with a slash [default: groups]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_OIDC_GROUPS_CLAIM",
        value_name = "NAME",
        help_heading = "Settings"
    )]
    pub oidc_groups_claim: Option<String>,
    /// Accept identity assertions (ID-JAG) from this issuer, written exactly as in its metadata, instead of user
    /// consent to an MCP client, for members of the workspace, or of all workspaces where none is named; the e-mail
    /// address in an assertion is trusted too (repeatable) [default: none]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_ID_JAG_ISSUER",
        value_name = "[WORKSPACE=]URL",
        value_delimiter = ',',
        help_heading = "Settings"
    )]
    #[serde(default)]
    pub id_jag_issuer: Vec<String>,
    /// Do not let MCP clients register themselves
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_NO_CLIENT_REGISTRATION",
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub no_client_registration: Option<bool>,
    /// Do not read the metadata documents of MCP clients
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_NO_CLIENT_DOCUMENTS",
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub no_client_documents: Option<bool>,
    /// Additional `Host` header that /mcp accepts (repeatable) [default: loopback and the host of --public-url]
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
    /// What /mcp accepts: API keys, OAuth access tokens of members' apps, or both; /mcp/key accepts only keys [default: both]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_MCP_AUTH",
        value_name = "WAY",
        value_parser = PossibleValuesParser::new(McpAuth::NAMES).try_map(|name| name.parse::<McpAuth>()),
        help_heading = "Settings"
    )]
    pub mcp_auth: Option<McpAuth>,
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
    /// Search only by words, even where the sentence model is installed
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_NO_MODEL",
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub no_model: Option<bool>,
    /// Do not move tools up in search that the workspace executed after similar searches
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_NO_SEARCH_LEARNING",
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub no_search_learning: Option<bool>,
    /// Send a write again without holding it back once, although the outcome of the same write was not seen
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_NO_REPEAT_GUARD",
        value_name = "BOOL",
        value_parser = FalseyValueParser::new(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        hide_possible_values = true,
        help_heading = "Settings"
    )]
    pub no_repeat_guard: Option<bool>,
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
    /// How long requests are still taken after SIGTERM while /readyz answers 503, in seconds, so that balancers send no more [default: 0]
    #[arg(
        long,
        global = true,
        env = "TOOLGATE_DRAIN_DELAY",
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(0..=3_600),
        help_heading = "Settings"
    )]
    pub drain_delay: Option<u64>,
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
