//! Secrets that a command reads from a file, so that none is an argument that other users of the machine see.

use std::path::Path;

use anyhow::Context as _;

use toolgate_vault::Secret;

/// The first line of a secret's file.
pub(super) fn read_secret(path: &Path) -> anyhow::Result<Secret> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the file {} cannot be read", path.display()))?;
    let text = zeroize::Zeroizing::new(text);
    Ok(Secret::new(text.trim_end_matches(['\r', '\n'])))
}
