//! `toolgate plugin refresh`: the list of an MCP server again, offered to the usual review of rights.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use super::output::OutputFormat;
use super::plugin_build::mcp::{read_saved, way_out, write_plugin};
use super::secret_file::read_secret;
use crate::config::Config;
use toolgate_catalog::rights::{self, Difference};
use toolgate_gateway::plugins;
use toolgate_mcp_upstream::{SavedList, ServerNote, ServerSource, source_of};
use toolgate_store::Store;

/// Ask the MCP server of a plugin for its tools again, and offer what has changed
///
/// The new file takes the place of the old one in the plugins folder. As with every upgrade, what asks for less goes in
/// by itself; a new tool, another schema, another effect or another text waits for `toolgate plugin approve`, and until
/// then the old version serves. The server that is asked is the one of the version that serves; a file that was made of
/// another one is refused.
#[derive(Debug, Args)]
pub(super) struct Refresh {
    /// Name of the service
    service: String,
    /// File with a token or key for asking the server now
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A saved answer to `tools/list`, where the server cannot be asked
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// The version of MCP that the server of --tools speaks
    #[arg(
        long,
        value_name = "VERSION",
        default_value = "2025-11-25",
        requires = "tools"
    )]
    protocol: String,
    /// Show the difference and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask URL in place of HOST, as the gateway does that is started with the same flag (repeatable)
    #[arg(long, value_name = "HOST=URL")]
    allow_upstream: Vec<String>,
}

/// What came of it.
#[derive(Debug, Serialize)]
struct RefreshReport {
    service: String,
    file: PathBuf,
    /// Whether the file was written.
    written: bool,
    /// Whether the new version waits for approval.
    waits: bool,
    difference: Difference,
    notes: Vec<ServerNote>,
}

impl Refresh {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let file = plugin_file(&store, &config.gateway.plugins_dir, &self.service).await?;
        let old = plugins::manifest(&store, &self.service).await?;
        let source = ServerSource {
            // The name stays, whatever the server calls itself now.
            service: Some(self.service.clone()),
            ..read_source(&file)?
        };
        plugins::mcp_servers::check_address(&store, &source, &old).await?;
        let token = self.token_file.as_deref().map(read_secret).transpose()?;
        let saved = self.tools.as_deref().map(read_saved).transpose()?;
        let saved = saved.as_deref().map(|text| SavedList {
            text,
            version: &self.protocol,
        });
        let egress = way_out(config.gateway.allow_upstreams.clone(), &self.allow_upstream)?;
        let composed = source.build_again(&egress, token, saved).await?;
        let (had, offered) = (rights::normal(&old), rights::normal(&composed.manifest));
        let difference = Difference::between(&had, &offered, config.gateway.upgrades);
        let written = !difference.is_empty() && !self.dry_run;
        if written {
            write_plugin(&composed, &source, Some(file.clone())).await?;
        }
        let refreshed = RefreshReport {
            service: self.service,
            file,
            written,
            waits: difference.waits(),
            difference,
            notes: composed.notes,
        };
        output.print(&refreshed, RefreshReport::text)
    }
}

impl RefreshReport {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        if self.difference.is_empty() {
            lines.push(format!(
                "{}: the server offers what it offered before.",
                self.service
            ));
        } else {
            lines.push(format!("{} would", self.service));
            lines.push(self.difference.to_string().trim_end().to_owned());
        }
        let left_out = self.notes.iter().filter(|note| note.left_out);
        lines.extend(left_out.map(|note| format!("left out {note}")));
        if self.written {
            lines.push(match self.waits {
                true => format!(
                    "The old version serves until you say: toolgate plugin approve {}",
                    self.service
                ),
                false => "The new version goes in by itself.".to_owned(),
            });
        }
        lines.join("\n")
    }
}

/// The file of a service in the plugins folder.
async fn plugin_file(store: &Store, folder: &Path, service: &str) -> anyhow::Result<PathBuf> {
    let row = store.find_plugin(service).await?;
    let name = row.and_then(|row| row.file_name);
    let name = name.with_context(|| format!("{service} has no file in the plugins folder"))?;
    Ok(folder.join(name))
}

fn read_source(file: &Path) -> anyhow::Result<ServerSource> {
    let bytes =
        std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    match source_of(&bytes) {
        Some(source) => Ok(source),
        None => bail!(
            "{} was not made of an MCP server; build it again from what it was made of",
            file.display()
        ),
    }
}
