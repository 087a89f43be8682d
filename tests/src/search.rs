//! The search scoreboard: judged queries against the shipped catalog and against foreign ones, and what a
//! ranking scores.
//!
//! The queries are in `tests/search`. Half of them, by a hash of their text, is for tuning; numbers that
//! are reported and held by a floor come from the other half.

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

pub use judged::{Half, Judged};
pub use plain::PlainBm25;
pub use rankings::{Hybrid, by_words, installed_model, model_folder};
pub use scores::{Answer, Floor, Scores, dropped, floor, score};
pub use times::print_times;

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// Hits that a ranking is asked for.
pub const DEPTH: usize = 10;

/// A catalog and what it is asked.
pub struct JudgedSet {
    pub name: String,
    pub catalog: Catalog,
    pub queries: Vec<Judged>,
}

/// The shipped catalog with its queries: those of agents and people, and vague ones.
pub fn shipped_sets() -> anyhow::Result<Vec<JudgedSet>> {
    let mut sets = Vec::new();
    for (name, file) in [("shipped", "queries.txt"), ("vague", "vague.txt")] {
        let catalog = shipped_catalog()?;
        let queries = judged::read_queries(file, &catalog)?;
        sets.push(JudgedSet {
            name: name.to_owned(),
            catalog,
            queries,
        });
    }
    Ok(sets)
}

/// The sets of foreign tools, as OpenAPI descriptions of others make them.
pub fn foreign_sets() -> anyhow::Result<Vec<JudgedSet>> {
    foreign::sets()
}

/// The judged queries of the shipped catalog that agents and people ask.
pub fn judged(catalog: &Catalog) -> anyhow::Result<Vec<Judged>> {
    judged::read_queries("queries.txt", catalog)
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
