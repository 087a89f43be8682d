//! The crates, by the paths in their source outside of tests.
//!
//! A name that a module re-exports belongs to the file that defines it, and the re-export itself is not a dependency. A
//! submodule may use what the modules above it define.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, UseTree, Visibility};

use super::{Imports, circles};
use crate::house::packages;

/// Names from the outside in, as they are written.
type Names = Vec<String>;

/// More re-exports of one name than there are: beyond it the test goes round in a circle of them.
const REEXPORTS_MAX: usize = 8;

#[derive(Default)]
struct Module {
    file: PathBuf,
    /// What is defined here.
    items: BTreeSet<String>,
    /// What is imported here, by its name here.
    imports: BTreeMap<String, Names>,
    /// Modules all of whose names are imported here.
    globs: Vec<Names>,
    /// Every path that its code needs.
    needs: Vec<Names>,
}

/// The modules of a crate by their place in it.
#[derive(Default)]
pub(super) struct Crate(BTreeMap<Names, Module>);

impl Crate {
    pub(super) fn read(root: &Path) -> Self {
        let mut modules = Self::default();
        modules.add_file(&[], root, root.parent().unwrap());
        modules
    }

    /// `folder` is where the modules below this one are.
    fn add_file(&mut self, at: &[String], file: &Path, folder: &Path) {
        let text = std::fs::read_to_string(file);
        let text = text.unwrap_or_else(|error| panic!("{file:?}: {error}"));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"));
        self.add(at, file, folder, &parsed.items);
    }

    fn add(&mut self, at: &[String], file: &Path, folder: &Path, items: &[Item]) {
        let mut module = Module {
            file: file.to_path_buf(),
            ..Module::default()
        };
        for item in items {
            if let Item::Mod(below) = item {
                if is_test(&below.attrs) {
                    continue;
                }
                let name = below.ident.to_string();
                let inside = joined(at, &name);
                let inner = folder.join(&name);
                match &below.content {
                    Some((_, items)) => self.add(&inside, file, &inner, items),
                    None => self.add_file(&inside, &folder.join(format!("{name}.rs")), &inner),
                }
            } else {
                module.items.extend(name_of(item));
                module.visit_item(item);
            }
        }
        self.0.insert(at.to_vec(), module);
    }

    /// The module that `path`, written in `at`, leads to, and the name in it; none outside of the crate.
    fn resolve(&self, at: &Names, path: &[String], reexports: usize) -> Option<(Names, String)> {
        assert!(reexports < REEXPORTS_MAX, "{path:?} in {at:?}");
        let first = path.first()?;
        let mut place = at.clone();
        let mut rest = path;
        match first.as_str() {
            "crate" => {
                place.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    place.pop()?;
                    rest = &rest[1..];
                }
            }
            _ if self.has(at, first) => {}
            _ => return None,
        }
        for (count, name) in rest.iter().enumerate() {
            let below = joined(&place, name);
            if self.0.contains_key(&below) {
                place = below;
                continue;
            }
            let module = &self.0[&place];
            if module.items.contains(name) {
                return Some((place, name.clone()));
            }
            if let Some(imported) = module.imports.get(name) {
                let path = [imported, &rest[count + 1..]].concat();
                return self.resolve(&place, &path, reexports + 1);
            }
            return module.globs.iter().find_map(|glob| {
                let path = [glob, &rest[count..]].concat();
                self.resolve(&place, &path, reexports + 1)
            });
        }
        None
    }

    /// Whether a path in a module may begin with this name.
    fn has(&self, at: &Names, name: &String) -> bool {
        let below = joined(at, name);
        let module = &self.0[at];
        self.0.contains_key(&below)
            || module
                .imports
                .get(name)
                .is_some_and(|path| path[0] != *name)
    }

    pub(super) fn files(&self) -> BTreeSet<PathBuf> {
        self.0.values().map(|module| module.file.clone()).collect()
    }

    /// The file below the root that defines a type, or what it is made of, as the root writes it.
    pub(super) fn place_in_root(&self, of: &syn::Type) -> Option<PathBuf> {
        let mut paths = Module::default();
        paths.visit_type(of);
        let root = Names::new();
        let places = paths
            .needs
            .iter()
            .filter_map(|path| self.resolve(&root, path, 0));
        let mut files = places.map(|(place, _)| self.0[&place].file.clone());
        files.find(|file| *file != self.0[&root].file)
    }

    pub(super) fn arrows(&self) -> Imports {
        let mut arrows = Imports::new();
        for (at, module) in &self.0 {
            let needed = module.needs.iter();
            let needed = needed.filter_map(|path| self.resolve(at, path, 0));
            let needed = needed.filter(|(place, _)| !at.starts_with(place));
            let files = needed.map(|(place, _)| self.0[&place].file.clone());
            let files = files.filter(|file| *file != module.file);
            arrows.entry(module.file.clone()).or_default().extend(files);
        }
        arrows
    }
}

impl Module {
    /// The names that one `use` brings.
    fn import(&mut self, before: &[String], tree: &UseTree, reexport: bool) {
        let with = |name: &syn::Ident| joined(before, &name.to_string());
        let (path, here) = match tree {
            UseTree::Path(path) => return self.import(&with(&path.ident), &path.tree, reexport),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(before, tree, reexport);
                }
                return;
            }
            UseTree::Glob(_) => return self.globs.push(before.to_vec()),
            UseTree::Name(name) if name.ident == "self" => {
                (before.to_vec(), before.last().cloned())
            }
            UseTree::Name(name) => (with(&name.ident), Some(name.ident.to_string())),
            UseTree::Rename(renamed) => (with(&renamed.ident), Some(renamed.rename.to_string())),
        };
        if !reexport {
            self.needs.push(path.clone());
        }
        self.imports.insert(here.unwrap(), path);
    }

    /// Paths in what a macro is given.
    fn read_tokens(&mut self, tokens: proc_macro2::TokenStream) {
        let mut path = Names::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.needs.push(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                proc_macro2::TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    self.needs.push(std::mem::take(&mut path));
                    colons = 0;
                    if let proc_macro2::TokenTree::Group(group) = other {
                        self.read_tokens(group.stream());
                    }
                }
            }
        }
        self.needs.push(path);
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let reexport = !matches!(item.vis, Visibility::Inherited);
        self.import(&[], &item.tree, reexport);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|one| one.ident.to_string());
        self.needs.push(names.collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.read_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

fn joined(at: &[String], name: &str) -> Names {
    let mut names = at.to_vec();
    names.push(name.to_owned());
    names
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    let mut conditions = attributes.iter().filter(|one| one.path().is_ident("cfg"));
    conditions.any(|one| {
        let syn::Meta::List(list) = &one.meta else {
            return false;
        };
        list.tokens
            .to_string()
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "test")
    })
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Macro(item) => item.ident.as_ref()?.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// The first file of each library and program in the workspace.
fn roots() -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for package in packages() {
        for target in package["targets"].as_array().unwrap() {
            let kind = target["kind"][0].as_str().unwrap();
            if !["bench", "custom-build", "example", "test"].contains(&kind) {
                roots.push(PathBuf::from(target["src_path"].as_str().unwrap()));
            }
        }
    }
    roots
}

#[test]
fn no_file_of_a_crate_needs_itself_through_others() {
    let mut arrows = 0;
    let mut found = Imports::new();
    for root in roots() {
        let imports = Crate::read(&root).arrows();
        arrows += imports.values().map(BTreeSet::len).sum::<usize>();
        found.extend(circles(&imports));
    }
    assert!(arrows > 1000, "{arrows} imports are read");
    assert!(found.is_empty(), "{found:#?}");
}

/// The files in circles of a crate with these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let found = circles(&Crate::read(&folder.path().join("lib.rs")).arrows());
    let names = found
        .keys()
        .map(|file| file.strip_prefix(folder.path()).unwrap());
    names.map(|name| name.display().to_string()).collect()
}

#[test]
fn a_name_belongs_to_the_file_that_defines_it() {
    let rooms = "mod hall; mod kitchen { pub mod pot; } pub use kitchen::pot::Pot;";
    let hall = (
        "hall.rs",
        "use crate::Pot; pub struct Hall; fn cook(_: Pot) {}",
    );
    let alone = ("kitchen/pot.rs", "pub struct Pot;");
    assert_eq!(circles_of(&[("lib.rs", rooms), hall, alone]), [""; 0]);
    for pot in [
        "pub struct Pot(crate::hall::Hall);",
        "use super::super::hall; pub struct Pot; fn here() { hall::ring(); }",
        "pub struct Pot; fn here() { println!(\"{}\", crate::hall::NAME); }",
    ] {
        let hall = format!("{} pub fn ring() {{}} pub const NAME: &str = \"\";", hall.1);
        let files = [
            ("lib.rs", rooms),
            ("hall.rs", &hall),
            ("kitchen/pot.rs", pot),
        ];
        assert_eq!(circles_of(&files), ["hall.rs", "kitchen/pot.rs"], "{pot}");
    }
}

#[test]
fn a_submodule_and_the_module_above_it_are_one_and_tests_do_not_count() {
    let above = "mod room; pub struct Key; fn open() { room::open(Key); }";
    let room = "use super::Key; pub fn open(_: Key) {}";
    assert_eq!(circles_of(&[("lib.rs", above), ("room.rs", room)]), [""; 0]);
    let beside = "mod hall; mod room;";
    let hall = "pub struct Key; #[cfg(test)] mod tests { use crate::room::open; }";
    let room = "use super::hall::Key; pub fn open(_: Key) {}";
    let files = [("lib.rs", beside), ("hall.rs", hall), ("room.rs", room)];
    assert_eq!(circles_of(&files), [""; 0]);
}
