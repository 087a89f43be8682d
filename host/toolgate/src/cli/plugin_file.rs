//! Writing plugin files.

use std::path::Path;

use anyhow::Context as _;

/// Writes beside and renames, so that a watched folder never shows half a file.
pub(super) fn write_whole(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if let Some(folder) = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let beside = file.with_extension(format!("wasm.{}.part", std::process::id()));
    std::fs::write(&beside, bytes)
        .with_context(|| format!("{} cannot be written", beside.display()))?;
    std::fs::rename(&beside, file).with_context(|| format!("{} cannot be written", file.display()))
}
