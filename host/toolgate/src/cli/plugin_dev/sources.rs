//! Whether the sources of a project have changed.
//!
//! Looked at again and again in place of asking the system to tell: editors save in many ways, and a
//! project has a few hundred files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Folders that builds and package managers fill.
const MADE: [&str; 8] = [
    "target",
    "node_modules",
    ".venv",
    ".git",
    "__pycache__",
    ".pytest_cache",
    "dist",
    "packages",
];
/// More is not a project of one plugin.
const FILES_MAX: usize = 20_000;

/// Every source file with when it was written and how large it is.
pub(super) type SourceFiles = BTreeMap<PathBuf, (SystemTime, u64)>;

pub(super) fn source_files(folder: &Path) -> SourceFiles {
    let mut found = SourceFiles::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let Ok(metadata) = std::fs::metadata(&path) else {
                continue;
            };
            if metadata.is_dir() {
                if !MADE.contains(&&*name) {
                    open.push(path);
                }
            } else if is_source(&name) && found.len() < FILES_MAX {
                let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.insert(path, (modified, metadata.len()));
            }
        }
    }
    found
}

/// What a build writes, and what editors keep beside a file, is not a source.
fn is_source(name: &str) -> bool {
    let made = name.contains(".wasm") || matches!(name, "Cargo.lock" | "package-lock.json");
    !made && !name.ends_with(['~', '#']) && !name.ends_with(".swp") && !name.starts_with(".#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_source_is_a_change_and_what_a_build_writes_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let write = |place: &str, text: &str| {
            let file = folder.path().join(place);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("src/lib.rs", "one");
        let before = source_files(folder.path());
        assert_eq!(before.len(), 1);
        for made in [
            "target/debug/x.d",
            "notes.wasm",
            "Cargo.lock",
            "src/lib.rs~",
            "node_modules/a/b.js",
        ] {
            write(made, "x");
            assert_eq!(source_files(folder.path()), before, "{made}");
        }
        write("src/lib.rs", "other");
        assert_ne!(source_files(folder.path()), before);
    }
}
