//! `toolgate service`: what an operator sets for an integration.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::output::{OutputFormat, table};
use super::secret_file::read_secret;
use super::service_register::RegisterService;
use crate::config::Config;
use toolgate_catalog::manifest::Manifest;
use toolgate_core::clock::Clock;
use toolgate_gateway::Caller;
use toolgate_gateway::connections::apps;
use toolgate_gateway::connections::callback::{self, CallbackAddress};
use toolgate_gateway::connections::services;
use toolgate_gateway::connections::setup;
use toolgate_gateway::jobs::master_key::open_vault;
use toolgate_gateway::plugins;
use toolgate_store::{ALL_WORKSPACES, Store};

#[derive(Debug, Subcommand)]
pub(super) enum ServiceCommand {
    /// Set values for a service; a running gateway uses them at once
    Configure(Box<Configure>),
    Register(RegisterService),
    /// Services with their settings
    List,
}

#[derive(Debug, Args)]
pub(super) struct Configure {
    /// Name of the service, as `toolgate plugin list` shows it
    service: String,
    /// KEY=VALUE (repeatable); the service's keys are shown when one is wrong
    #[arg(long = "set", value_name = "KEY=VALUE", required_unless_present_any = ["client_id", "callback", "scopes_max"], value_parser = parse_setting)]
    set: Vec<(String, String)>,
    /// Client id of the OAuth application that you registered at the provider
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// File that holds its client secret [default: none, a public client]
    #[arg(long, value_name = "FILE", requires = "client_id")]
    client_secret_file: Option<PathBuf>,
    /// Scopes to ask for in place of the service's own (comma-separated)
    #[arg(
        long,
        value_name = "SCOPE",
        value_delimiter = ',',
        requires = "client_id"
    )]
    scopes: Option<Vec<String>>,
    /// Scopes that a connect link may ask for beside those that the plugin names, separated by commas
    #[arg(long, value_delimiter = ',')]
    scopes_max: Vec<String>,
    /// Address of an on-premise server, in place of the provider's
    #[arg(long, value_name = "URL", requires = "client_id")]
    base_url: Option<String>,
    /// The provider's name of the callback address, where it asks for one: eBay's RuName
    #[arg(long, value_name = "NAME", requires = "client_id")]
    redirect_name: Option<String>,
    /// Organization that the application is registered for, where the provider has tenants: a Microsoft Entra tenant
    #[arg(long, value_name = "TENANT", requires = "client_id")]
    tenant: Option<String>,
    /// Which redirect address the application is registered with: `service` is the service's own; `shared` is
    /// /oauth/callback, for providers that name themselves (`iss`) in each answer; `shared-unproven` is the same for
    /// any provider, and lets a hostile one receive another's codes [default: as it is; `service` for a new one]
    #[arg(long, value_name = "WHICH", value_parser = parse_callback)]
    callback: Option<CallbackAddress>,
    /// Only for this workspace [default: for all]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

impl ServiceCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        match self {
            Self::Configure(configure) => configure.run(config, &store, output).await,
            Self::Register(register) => register.run(config, &store, output).await,
            Self::List => list(config, &store, output).await,
        }
    }
}

impl Configure {
    async fn run(self, config: &Config, store: &Store, output: OutputFormat) -> anyhow::Result<()> {
        let now_ms = Clock::system().now_ms();
        let manifest = plugins::manifest(store, &self.service).await?;
        let workspace = super::workspace(store, self.workspace.as_deref(), now_ms).await?;
        let caller = Caller::operator(&workspace);
        let workspace_id = match &self.workspace {
            Some(_) => &*workspace.id,
            None => ALL_WORKSPACES,
        };
        let set = match self.set.is_empty() {
            true => BTreeMap::new(),
            false => {
                let change = services::ChangeSettings {
                    manifest: &manifest,
                    workspace_id,
                    set: &self.set,
                    unset: &[],
                };
                services::configure(store, &caller, change, now_ms).await?
            }
        };
        let registered =
            self.client_id.is_some() || self.callback.is_some() || !self.scopes_max.is_empty();
        if let Some(client_id) = self.client_id {
            let new = apps::NewApp {
                client_id,
                client_secret: self
                    .client_secret_file
                    .as_deref()
                    .map(read_secret)
                    .transpose()?,
                scopes: self.scopes,
                scopes_max: self.scopes_max,
                base_url: self.base_url,
                redirect_name: self.redirect_name,
                tenant: self.tenant,
                callback: self.callback,
            };
            let vault = open_vault(store, &config.gateway.master_key_file).await?;
            apps::register(store, &vault, &caller, &manifest, workspace_id, new, now_ms).await?;
        } else {
            let service = &self.service;
            if let Some(callback) = self.callback {
                apps::move_callback(store, &caller, service, workspace_id, callback, now_ms)
                    .await?;
            }
            if !self.scopes_max.is_empty() {
                let scopes = &self.scopes_max;
                apps::allow_scopes(store, &caller, service, workspace_id, scopes, now_ms).await?;
            }
        }
        let app = match registered {
            true => store.find_oauth_app(workspace_id, &self.service).await?,
            false => None,
        };
        let base = &config.gateway.public_url;
        let callback_url = callback::callback_url(base, &self.service, app.as_ref());
        let document = json!({
            "service": self.service,
            "workspace": self.workspace,
            "set": set,
            "registered": registered,
            "callback_url": callback_url,
        });
        output.print(&document, |_| {
            let mut keys: Vec<&str> = set.keys().map(String::as_str).collect();
            if registered {
                keys.push("OAuth application");
            }
            let mut text = format!("{}: {} set.", self.service, keys.join(", "));
            if registered {
                text.push_str(&format!(
                    "\nRegister this callback URL at the provider: {callback_url}"
                ));
            }
            text
        })
    }
}

async fn list(config: &Config, store: &Store, output: OutputFormat) -> anyhow::Result<()> {
    let settings = store.list_service_config().await?;
    let applications = store.list_oauth_apps().await?;
    let base = &config.gateway.public_url;
    let mut listed = Vec::new();
    for manifest in plugins::manifests(store).await? {
        let set: Vec<_> = settings
            .iter()
            .filter(|row| row.service == manifest.service)
            .collect();
        let application = applications
            .iter()
            .find(|app| app.service == manifest.service);
        let is_set = |key: &str| set.iter().any(|row| row.key == key);
        let missing = match setup::needed_first(&manifest, is_set) {
            Some(key) => Some(format!("needs setup: --set {}=...", key.key)),
            None => apps::connectable(&manifest, application)
                .err()
                .map(str::to_owned),
        };
        let oauth = manifest.auth.iter().any(apps::needs_app);
        listed.push(json!({
            "connectable": missing.is_none(),
            "missing": missing,
            "callback_url": oauth.then(|| callback::callback_url(base, &manifest.service, application)),
            "service": manifest.service,
            "title": manifest.title,
            "auth_type": auth_type(&manifest),
            "tools": manifest.tools.len(),
            "settings": manifest.config.iter().map(|key| json!({
                "key": key.key,
                "title": key.title,
                "set": set.iter().any(|row| row.key == key.key),
            })).collect::<Vec<_>>(),
        }));
    }
    output.print(&json!({ "services": listed }), |_| {
        let rows: Vec<_> = listed.iter().map(service_row).collect();
        let own = CallbackAddress::Service.url(base, "SERVICE");
        format!(
            "{}\n\nCallback URL to register at OAuth providers: {own} (--json shows that of each service)",
            table(
                &[
                    "SERVICE",
                    "TITLE",
                    "AUTH",
                    "TOOLS",
                    "CONNECTABLE",
                    "SETTINGS"
                ],
                &rows
            )
        )
    })
}

/// One service of the list, which is JSON, as a row of the table.
fn service_row(row: &Value) -> Vec<String> {
    let settings = row["settings"].as_array().map_or(String::new(), |keys| {
        let keys: Vec<String> = keys
            .iter()
            .map(|key| {
                let set = if key["set"] == true { "set" } else { "not set" };
                format!("{} ({set})", key["key"].as_str().unwrap_or_default())
            })
            .collect();
        keys.join(", ")
    });
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    vec![
        text("service"),
        text("title"),
        text("auth_type"),
        row["tools"].to_string(),
        match row["missing"].as_str() {
            Some(missing) => format!("no: {missing}"),
            None => "yes".to_owned(),
        },
        settings,
    ]
}

fn auth_type(manifest: &Manifest) -> &'static str {
    manifest
        .auth
        .first()
        .map_or("none", |slot| slot.kind.as_str())
}

fn parse_callback(text: &str) -> Result<CallbackAddress, String> {
    text.parse().map_err(|_| {
        format!(
            "the callback is one of {}",
            CallbackAddress::WORDS.join(", ")
        )
    })
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a setting is KEY=VALUE".to_owned()),
    }
}
