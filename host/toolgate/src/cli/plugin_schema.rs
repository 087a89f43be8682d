//! `toolgate plugin schema`: the JSON Schema of the manifest.

use super::output::document;

const SCHEMA: &str = include_str!("../../../../docs/manifest.schema.json");

/// Prints the schema; it is JSON with and without `--json`.
pub(super) fn run() -> anyhow::Result<()> {
    document(SCHEMA)
}
