//! Files of the clients that need each other can only be read as one.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A file, and the files that it imports.
type Imports = BTreeMap<PathBuf, Vec<PathBuf>>;

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
    let arrows: usize = imports.values().map(Vec::len).sum();
    assert!(arrows > 10, "imports are read: {imports:?}");
    imports
}

/// Takes away files that import nothing, until only those of circles are left.
fn circles(mut imports: Imports) -> Vec<PathBuf> {
    loop {
        let before = imports.len();
        let known: Vec<PathBuf> = imports.keys().cloned().collect();
        imports.retain(|_, named| named.iter().any(|one| known.contains(one)));
        if imports.len() == before {
            return known;
        }
    }
}

#[test]
fn no_two_files_of_a_client_import_each_other() {
    for (folder, kind, read) in [
        ("sdk/node/src", "ts", typescript as fn(&Path, &str) -> _),
        ("sdk/python/src", "py", python),
    ] {
        let left = circles(imports(folder, kind, read));
        assert!(left.is_empty(), "{folder}: {left:?}");
    }
}

#[test]
fn a_circle_is_found() {
    let at = |name: &str| PathBuf::from(name);
    let mut arrows = Imports::from([
        (at("client"), vec![at("resources")]),
        (at("resources"), vec![at("pager")]),
        (at("pager"), vec![]),
    ]);
    assert!(circles(arrows.clone()).is_empty());
    arrows.insert(at("pager"), vec![at("client")]);
    assert_eq!(circles(arrows).len(), 3);
}
