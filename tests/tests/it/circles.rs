//! Files that need each other can only be read as one: there are none, in the crates and in the clients. [`rooms`] says
//! it of the modules of a crate that is one object.

mod clients;
mod rooms;
mod rust;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A file, and the files that it imports.
type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The files that import themselves through others, each with its imports that lead back to it.
fn circles(imports: &Imports) -> Imports {
    let reach: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = imports
        .keys()
        .map(|file| (file, reachable(imports, file)))
        .collect();
    let mut circles = Imports::new();
    for (file, named) in imports {
        let back = named
            .iter()
            .filter(|one| reach.get(one).is_some_and(|all| all.contains(file)));
        let back: BTreeSet<PathBuf> = back.cloned().collect();
        if !back.is_empty() {
            circles.insert(file.clone(), back);
        }
    }
    circles
}

/// What a file imports, and what that imports, and so on.
fn reachable<'a>(imports: &'a Imports, file: &PathBuf) -> BTreeSet<&'a PathBuf> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&PathBuf> = imports[file].iter().collect();
    while let Some(one) = next.pop() {
        if found.insert(one) {
            next.extend(imports.get(one).into_iter().flatten());
        }
    }
    found
}

#[test]
fn a_circle_is_found() {
    let at = |name: &str| PathBuf::from(name);
    let mut arrows = Imports::from([
        (at("client"), [at("resources")].into()),
        (at("resources"), [at("pager")].into()),
        (at("pager"), [].into()),
        (at("main"), [at("client")].into()),
    ]);
    assert!(circles(&arrows).is_empty());
    arrows.insert(at("pager"), [at("client")].into());
    assert_eq!(circles(&arrows).len(), 3);
}
