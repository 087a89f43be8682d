//! What a gateway is opened with.

use std::path::PathBuf;
use std::time::Duration;

use toolgate_catalog::rights::Upgrades;
use toolgate_egress::{AllowUpstream, Origin};
pub use toolgate_identity::config::{
    AppClientsConfig, AssertionIssuer, GroupRule, GroupRules, OidcConfig,
};

/// What a gateway is opened with. [`GatewayConfig::in_folders`] has the defaults of everything else.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Base of the links that people open, without a trailing slash.
    pub public_url: String,
    /// Whether connect links may lead to every page of the browser's own machine, registered or not: on a machine where
    /// one person develops.
    pub loopback_pages: bool,
    pub data_dir: PathBuf,
    pub database_url: String,
    /// Most connections to PostgreSQL.
    pub database_connections: u32,
    pub plugins_dir: PathBuf,
    /// Whether plugins of the large size may serve.
    pub allow_large_plugins: bool,
    /// Memory of all running plugins together, in bytes; half of what this process may have where absent.
    pub guest_memory_bytes: Option<u64>,
    /// This program, whose processes compile plugins; without it they are compiled in this process.
    pub compiler: Option<PathBuf>,
    /// Which changes of a new plugin version go in without approval.
    pub upgrades: Upgrades,
    /// How often the MCP servers of plugins are asked for their tools again; never if absent.
    pub refresh_servers: Option<Duration>,
    pub master_key_file: PathBuf,
    pub allow_upstreams: Vec<AllowUpstream>,
    /// Upstreams that learn which trace a request belongs to.
    pub trace_origins: Vec<Origin>,
    /// The provider that members sign in with.
    pub oidc: Option<OidcConfig>,
    /// Which MCP clients may ask to be let in.
    pub app_clients: AppClientsConfig,
    /// The model that sessions converse through.
    pub model: Option<ModelSettings>,
    pub keep: Retention,
    /// Whether what a workspace executes after its searches moves up in its searches.
    pub learn_from_use: bool,
    /// Whether a write that is repeated after an unclear end is held back once.
    pub hold_back_repeats: bool,
    /// Whether the sentence model ranks too, once it is installed.
    pub search_by_embedding: bool,
    /// The sentence model that came with the program; one in `data_dir` goes before it.
    pub shipped_model_dir: Option<PathBuf>,
}

impl GatewayConfig {
    /// SQLite and the master key in `data_dir`, plugins in `plugins_dir`, no upstream beyond the
    /// public ones, nothing forgotten.
    pub fn in_folders(data_dir: impl Into<PathBuf>, plugins_dir: impl Into<PathBuf>) -> Self {
        let data_dir = data_dir.into();
        Self {
            public_url: "http://127.0.0.1:8080".to_owned(),
            loopback_pages: false,
            database_url: format!("sqlite://{}", data_dir.join("toolgate.db").display()),
            database_connections: toolgate_store::CONNECTIONS_MAX,
            plugins_dir: plugins_dir.into(),
            allow_large_plugins: false,
            guest_memory_bytes: None,
            compiler: None,
            upgrades: Upgrades::default(),
            refresh_servers: None,
            master_key_file: data_dir.join("master.key"),
            allow_upstreams: Vec::new(),
            trace_origins: Vec::new(),
            oidc: None,
            app_clients: AppClientsConfig::default(),
            model: None,
            keep: Retention::default(),
            learn_from_use: true,
            hold_back_repeats: true,
            search_by_embedding: true,
            shipped_model_dir: None,
            data_dir,
        }
    }
}

/// How long what was written down is kept; for ever if absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    pub receipts_ms: Option<i64>,
    pub audit_ms: Option<i64>,
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
