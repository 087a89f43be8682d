//! `toolgate plugin catalog`: the plugin files of a folder as one page to read.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;
use serde::Serialize;

use super::output::OutputFormat;
use toolgate_catalog::Manifest;
use toolgate_catalog::overview;
use toolgate_runtime::inspect;

/// Print the plugin files of a folder as a Markdown page: services, tools, credentials, scopes
///
/// `docs/integrations.md` is this page for the plugins that ship. Needs no gateway and no database.
#[derive(Debug, Args)]
#[command(name = "catalog")]
pub(super) struct CatalogPage {
    /// Folder of plugin files
    #[arg(default_value = "plugins/dist")]
    folder: PathBuf,
}

/// The same as JSON.
#[derive(Serialize)]
struct CatalogDocument {
    categories: std::collections::BTreeMap<String, overview::Count>,
    services: Vec<Manifest>,
}

impl CatalogPage {
    pub(super) fn run(self, output: OutputFormat) -> anyhow::Result<()> {
        let shown = self.folder.display();
        let mut services = Vec::new();
        let entries = std::fs::read_dir(&self.folder).with_context(|| {
            format!("{shown} cannot be read; name the folder of your *.wasm files")
        })?;
        for entry in entries {
            let file = entry?.path();
            if file.extension().is_some_and(|ending| ending == "wasm") {
                let read = inspect::read(&std::fs::read(&file)?)
                    .with_context(|| file.display().to_string())?;
                services.push(read.manifest);
            }
        }
        ensure!(!services.is_empty(), "{shown} has no *.wasm file");
        services.sort_by(|a, b| a.service.cmp(&b.service));
        let counts = services
            .iter()
            .map(|service| (&*service.categories, service.tools.len()));
        let document = CatalogDocument {
            categories: overview::by_category(counts),
            services,
        };
        output.print(&document, |document| overview::markdown(&document.services))
    }
}
