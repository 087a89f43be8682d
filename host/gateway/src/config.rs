//! What a gateway is opened with.

use std::path::PathBuf;
use std::time::Duration;

use toolgate_catalog::rights::Upgrades;
use toolgate_egress::AllowUpstream;
use toolgate_vault::Secret;

/// What a gateway is opened with. [`GatewayConfig::in_folders`] has the defaults of everything else.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Base of the links that people open, without a trailing slash.
    pub public_url: String,
    pub data_dir: PathBuf,
    pub database_url: String,
    pub plugins_dir: PathBuf,
    /// Whether plugins of the large size may serve.
    pub allow_large_plugins: bool,
    /// This program, whose processes compile plugins; without it they are compiled in this process.
    pub compiler: Option<PathBuf>,
    /// Which changes of a new plugin version go in without approval.
    pub upgrades: Upgrades,
    pub master_key_file: PathBuf,
    pub allow_upstreams: Vec<AllowUpstream>,
    /// The provider that members sign in with.
    pub oidc: Option<OidcConfig>,
    /// The model that sessions converse through.
    pub model: Option<ModelSettings>,
    pub keep: Retention,
    /// Whether what a workspace executes after its searches moves up in its searches.
    pub learn_from_use: bool,
    /// Whether the sentence model ranks too, once it is installed.
    pub search_by_meaning: bool,
}

impl GatewayConfig {
    /// SQLite and the master key in `data_dir`, plugins in `plugins_dir`, no upstream beyond the
    /// public ones, nothing forgotten.
    pub fn in_folders(data_dir: impl Into<PathBuf>, plugins_dir: impl Into<PathBuf>) -> Self {
        let data_dir = data_dir.into();
        Self {
            public_url: "http://127.0.0.1:8080".to_owned(),
            database_url: format!("sqlite://{}", data_dir.join("toolgate.db").display()),
            plugins_dir: plugins_dir.into(),
            allow_large_plugins: false,
            compiler: None,
            upgrades: Upgrades::default(),
            master_key_file: data_dir.join("master.key"),
            allow_upstreams: Vec::new(),
            oidc: None,
            model: None,
            keep: Retention::default(),
            learn_from_use: true,
            search_by_meaning: true,
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
