//! Every file of Rust belongs to a crate: one that no `mod` names is neither compiled nor tested, and nobody notices.

use std::path::{Path, PathBuf};

const FOLDERS: [&str; 4] = ["host", "plugins", "sdk/plugins/rust", "tests"];
/// Files that a crate or another program uses without `mod`: targets of Cargo, and templates of `plugin new`.
const OTHERWISE: [&str; 6] = [
    "/bin/",
    "/benches/",
    "/examples/",
    "build.rs",
    "/cli/new/",
    "/target/",
];

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        if path.is_dir() && !hidden && name != "target" && name != "node_modules" {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// Whether a file that may be above it declares the module.
fn is_declared(file: &Path) -> bool {
    let folder = file.parent().unwrap();
    let stem = file.file_stem().unwrap().to_string_lossy();
    let beside = folder.with_extension("rs");
    let inside = ["lib.rs", "main.rs", "mod.rs"].map(|name| folder.join(name));
    let declared = format!("mod {stem};");
    let parents = std::iter::once(beside).chain(inside);
    let mut texts = parents.filter_map(|parent| std::fs::read_to_string(parent).ok());
    texts.any(|text| text.contains(&declared))
}

#[test]
fn every_file_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in FOLDERS {
        rust_files(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "{} files", files.len());
    let target = |file: &PathBuf| {
        let name = file.file_name().unwrap().to_string_lossy();
        let in_tests = file
            .parent()
            .is_some_and(|folder| folder.ends_with("tests"));
        let of_cargo = file
            .parent()
            .and_then(Path::parent)
            .is_some_and(|above| above.join("Cargo.toml").exists());
        let text = file.to_string_lossy();
        ["lib.rs", "main.rs"].contains(&&*name)
            || (in_tests && of_cargo)
            || OTHERWISE.iter().any(|part| text.contains(part))
    };
    let lost: Vec<&PathBuf> = files
        .iter()
        .filter(|file| !target(file) && !is_declared(file))
        .collect();
    assert!(lost.is_empty(), "no `mod` names {lost:?}");
}
