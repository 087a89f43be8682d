//! The clients in TypeScript and Python.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Imports, circles};

fn files(folder: &Path, kind: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, kind, found);
        } else if path.extension().is_some_and(|one| one == kind) {
            found.push(path);
        }
    }
}

/// Without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// `from "./outcomes.js"` is the file `outcomes.ts`.
fn typescript(file: &Path, line: &str) -> Option<PathBuf> {
    let (_, rest) = line.split_once(" from ")?;
    let name = rest.trim_end_matches(';').trim_matches(['"', '\'']);
    let name = name.strip_suffix(".js").unwrap_or(name);
    name.starts_with('.')
        .then(|| normal(&file.parent().unwrap().join(format!("{name}.ts"))))
}

/// `from ..outcomes import` is the file `outcomes.py` of the folder above.
fn python(file: &Path, line: &str) -> Option<PathBuf> {
    let (module, _) = line.trim().strip_prefix("from .")?.split_once(" import")?;
    let up = module.chars().take_while(|c| *c == '.').count();
    let name = module[up..].replace('.', "/");
    let mut folder = file.parent().unwrap();
    for _ in 0..up {
        folder = folder.parent().unwrap();
    }
    (!name.is_empty()).then(|| folder.join(format!("{name}.py")))
}

fn imports(folder: &str, kind: &str, read: fn(&Path, &str) -> Option<PathBuf>) -> Imports {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let mut found = Vec::new();
    files(&normal(&folder), kind, &mut found);
    let imports: Imports = found
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            let named = text.lines().filter_map(|line| read(&file, line)).collect();
            (file, named)
        })
        .collect();
    let arrows: usize = imports.values().map(BTreeSet::len).sum();
    assert!(arrows > 10, "imports are read: {imports:?}");
    imports
}

#[test]
fn no_two_files_of_a_client_import_each_other() {
    for (folder, kind, read) in [
        (
            "sdk/clients/node/src",
            "ts",
            typescript as fn(&Path, &str) -> _,
        ),
        ("sdk/clients/python/src", "py", python),
    ] {
        let left = circles(&imports(folder, kind, read));
        assert!(left.is_empty(), "{folder}: {left:#?}");
    }
}
