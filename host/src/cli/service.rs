//! `toolgate service`: what an operator sets for an integration.

use clap::{Args, Subcommand};
use serde_json::json;

use super::output::{Output, table};
use crate::catalog::manifest::Manifest;
use crate::clock::Clock;
use crate::config::Config;
use crate::gateway::{plugins, services};
use crate::store::{ALL_WORKSPACES, Store};

#[derive(Debug, Subcommand)]
pub enum Service {
    /// Set values for a service; a running gateway uses them at once
    Configure(Configure),
    /// Services with their settings
    List,
}

#[derive(Debug, Args)]
pub struct Configure {
    /// Name of the service, as `toolgate plugin list` shows it
    service: String,
    /// KEY=VALUE (repeatable); the service's keys are shown when one is wrong
    #[arg(long = "set", value_name = "KEY=VALUE", required = true, value_parser = parse_setting)]
    set: Vec<(String, String)>,
    /// Only for this workspace [default: for all]
    #[arg(long, value_name = "NAME")]
    workspace: Option<String>,
}

impl Service {
    pub async fn run(self, config: &Config, output: Output) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        match self {
            Self::Configure(configure) => configure.run(&store, output).await,
            Self::List => list(&store, output).await,
        }
    }
}

impl Configure {
    async fn run(self, store: &Store, output: Output) -> anyhow::Result<()> {
        let now_ms = Clock::system().now_ms();
        let manifest = plugins::manifest(store, &self.service).await?;
        let workspace_id = match &self.workspace {
            Some(name) => super::workspace(store, Some(name), now_ms).await?.id,
            None => ALL_WORKSPACES.to_owned(),
        };
        let set = services::configure(store, &manifest, &workspace_id, &self.set, now_ms).await?;
        let document = json!({ "service": self.service, "workspace": self.workspace, "set": set });
        output.print(&document, |_| {
            let keys: Vec<&str> = set.keys().map(String::as_str).collect();
            format!("{}: {} set.", self.service, keys.join(", "))
        })
    }
}

async fn list(store: &Store, output: Output) -> anyhow::Result<()> {
    let settings = store.list_service_config().await?;
    let mut listed = Vec::new();
    for manifest in plugins::manifests(store).await? {
        let set: Vec<_> = settings
            .iter()
            .filter(|row| row.service == manifest.service)
            .collect();
        listed.push(json!({
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
        let rows: Vec<Vec<String>> = listed
            .iter()
            .map(|row| {
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
                    settings,
                ]
            })
            .collect();
        table(&["SERVICE", "TITLE", "AUTH", "TOOLS", "SETTINGS"], &rows)
    })
}

fn auth_type(manifest: &Manifest) -> &'static str {
    manifest
        .auth
        .first()
        .map_or("none", |slot| slot.kind.as_str())
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a setting is KEY=VALUE".to_owned()),
    }
}
