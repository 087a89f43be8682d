//! The search scoreboard: judged queries against the shipped catalog and against foreign ones, and what a
//! ranking scores.
//!
//! The queries are in `tests/search`. Half of them, by a hash of their text, is for tuning; numbers that
//! are reported and held by a floor come from the other half.

mod connected;
mod foreign;
mod judged;
mod plain;
mod rankings;
mod scores;
mod times;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use toolgate_catalog::{Catalog, PluginTools};

pub use connected::{CONNECTED_USERS, ConnectedScores, ConnectedUser, score_connected};
pub use judged::{Half, Judged};
pub use plain::PlainBm25;
pub use rankings::{Hybrid, by_words, installed_model, model_folder, results_by_words};
pub use scores::{Answer, Floor, Scores, dropped, floor, score};
pub use times::print_times;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// Hits that a ranking is asked for.
pub const DEPTH: usize = 10;

/// A catalog and its sets of judged queries. Embedding the tools takes longer than all the queries, so
/// do it once for all sets.
pub struct JudgedCatalog {
    pub catalog: Catalog,
    pub sets: Vec<QuerySet>,
}

/// Judged queries that are scored together.
pub struct QuerySet {
    pub name: String,
    pub queries: Vec<Judged>,
}

/// The shipped catalog with its queries: those of agents and people, and vague ones.
pub fn judged_shipped_catalog() -> anyhow::Result<JudgedCatalog> {
    let catalog = shipped_catalog()?;
    let mut sets = Vec::new();
    for (name, file) in [("shipped", "queries.txt"), ("vague", "vague.txt")] {
        sets.push(QuerySet {
            name: name.to_owned(),
            queries: judged::read_queries(file, &catalog)?,
        });
    }
    Ok(JudgedCatalog { catalog, sets })
}

/// Catalogs of third-party tools, built from published OpenAPI descriptions.
pub fn judged_foreign_catalogs() -> anyhow::Result<Vec<JudgedCatalog>> {
    foreign::judged_catalogs()
}

/// The catalog of `plugins/dist`, as a gateway would load it.
pub fn shipped_catalog() -> anyhow::Result<Catalog> {
    let folder = Path::new(HERE).join("../plugins/dist");
    let mut plugins = Vec::new();
    let entries = std::fs::read_dir(&folder)
        .context("plugins/dist is missing: `make plugins described` builds it")?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "wasm") {
            let read = toolgate_runtime::inspect::read(&std::fs::read(&path)?)
                .with_context(|| path.display().to_string())?;
            plugins.push(PluginTools {
                manifest: Arc::new(read.manifest),
                sha256: read.sha256,
            });
        }
    }
    ensure!(plugins.len() > 100, "plugins/dist is not the whole catalog");
    Ok(Catalog::build(plugins))
}
