//! `toolgate plugin rights` and `toolgate plugin approve`: what a plugin asks for, and the operator's
//! yes to exactly what was shown.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use super::output::{OutputFormat, note};
use crate::config::Config;
use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::rights::{self, Rights};
use toolgate_core::clock::Clock;
use toolgate_core::visible::visible_line;
use toolgate_gateway::{Error, plugins};
use toolgate_runtime::inspect;
use toolgate_store::Store;

/// Everything that a plugin asks for, and what a version that waits would change
#[derive(Debug, Args)]
pub(super) struct ShowRights {
    /// Name of a service, or a plugin file (.wasm) that is not installed yet
    plugin: String,
}

/// Let in the version of a service that waits, after looking at what it changes
#[derive(Debug, Args)]
pub(super) struct Approve {
    /// Name of the service
    service: String,
    /// SHA-256 of the file that was looked at, as `toolgate plugin rights` shows it; without it the difference is shown and a question asked
    #[arg(long, value_name = "HASH", value_parser = parse_sha256)]
    sha256: Option<String>,
}

fn parse_sha256(text: &str) -> Result<String, String> {
    let fits = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    fits.then(|| text.to_ascii_lowercase())
        .ok_or_else(|| "a SHA-256 is 64 hexadecimal digits".to_owned())
}

/// What is shown before anything is granted.
#[derive(Debug, Serialize)]
struct ShownRights {
    service: String,
    title: String,
    version: String,
    sha256: String,
    rights: Rights,
    /// The version that waits, or the file that was named, beside the version that serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<plugins::PendingVersion>,
}

impl ShowRights {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let file = Path::new(&self.plugin);
        let shown = if self.plugin.ends_with(".wasm") || file.is_file() {
            file_rights(config, file.to_owned()).await?
        } else {
            service_rights(&super::open_store(config).await?, &self.plugin).await?
        };
        output.print(&shown, text)
    }
}

/// Beside what serves, where there is an installation.
async fn file_rights(config: &Config, file: PathBuf) -> anyhow::Result<ShownRights> {
    let inspected = tokio::task::spawn_blocking(move || {
        let bytes = std::fs::read(&file)
            .with_context(|| format!("the file {} cannot be read", file.display()))?;
        let inspected = inspect::read(&bytes);
        inspected.map_err(|rejected| Error::InvalidRequest(rejected.reason()).into())
    });
    let inspected: inspect::Inspected = inspected.await?.map_err(|cause: anyhow::Error| cause)?;
    let (manifest, sha256) = (inspected.manifest, inspected.sha256);
    if !super::is_installed(config) {
        return Ok(shown(&manifest, sha256, None));
    }
    let store = super::open_store(config).await?;
    let row = store.find_plugin(&manifest.service).await?;
    let mut pending = None;
    let replaced = row.filter(|row| {
        row.active_sha256
            .as_ref()
            .is_some_and(|served| *served != sha256)
    });
    if let Some(row) = replaced {
        let asked = rights::normal(&manifest);
        pending = Some(plugins::PendingVersion {
            version: Some(manifest.version.clone()),
            sha256: sha256.clone(),
            difference: plugins::change_by(&store, &row, &asked, config.gateway.upgrades).await?,
        });
    }
    Ok(shown(&manifest, sha256, pending))
}

async fn service_rights(store: &Store, service: &str) -> anyhow::Result<ShownRights> {
    let manifest = plugins::manifest(store, service).await?;
    let row = store.find_plugin(service).await?;
    let sha256 = row.and_then(|row| row.active_sha256).unwrap_or_default();
    let pending = plugins::waiting(store, service).await.ok();
    Ok(shown(&manifest, sha256, pending))
}

fn shown(
    manifest: &Manifest,
    sha256: String,
    pending: Option<plugins::PendingVersion>,
) -> ShownRights {
    ShownRights {
        service: manifest.service.clone(),
        title: manifest.title.clone(),
        version: manifest.version.clone(),
        sha256,
        rights: Rights::from_manifest(manifest),
        pending,
    }
}

fn text(shown: &ShownRights) -> String {
    let mut text = format!(
        "{} {} (service {}, sha256 {}) asks to:\n{}",
        visible_line(&shown.title),
        visible_line(&shown.version),
        shown.service,
        shown.sha256,
        shown.rights
    );
    if let Some(pending) = &shown.pending {
        text.push('\n');
        text.push_str(&difference(&shown.service, pending));
    }
    text
}

fn difference(service: &str, pending: &plugins::PendingVersion) -> String {
    let version = pending.version.as_deref().unwrap_or("another version");
    format!(
        "Version {} of {service} (sha256 {}) in place of the one that serves\n{}",
        visible_line(version),
        pending.sha256,
        pending.difference
    )
}

impl Approve {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let service = self.service.as_str();
        let sha256 = match self.sha256 {
            Some(sha256) => sha256,
            None => {
                let pending = plugins::waiting(&store, service).await?;
                let asks = !output.json && io::stdin().is_terminal();
                if !output.json {
                    note(&difference(service, &pending));
                }
                if !asks {
                    return Err(Error::InvalidRequest(format!(
                        "say which file you have looked at: `toolgate plugin approve {service} --sha256 {}`; \
                         `toolgate plugin rights {service}` shows what it changes",
                        pending.sha256
                    ))
                    .into());
                }
                if !confirmed(service)? {
                    return Err(Error::Conflict(format!("{service} was not approved")).into());
                }
                pending.sha256
            }
        };
        let now_ms = Clock::system().now_ms();
        let caller = super::operator(&store, now_ms).await?;
        let approved = plugins::approve(&store, &caller, service, Some(&sha256), now_ms).await?;
        output.print(&approved, |approved| {
            format!(
                "{} {} is approved; a running gateway takes it up within seconds.",
                approved.service, approved.sha256
            )
        })
    }
}

fn confirmed(service: &str) -> io::Result<bool> {
    note(&format!("Let this version of {service} serve? [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
