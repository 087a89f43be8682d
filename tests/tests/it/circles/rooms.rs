//! The rooms of a crate that is one object: its top modules, by what they call of each other.
//!
//! An object with a method in every module hides who needs whom: `self.search_tools()` names no module. Here a room
//! needs another one where it names a path in it, calls a method that it adds to the object, or uses a field of the
//! object whose type it defines. The root module, which declares the object, belongs to no room.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Expr, ImplItem, Item, ItemImpl, Member, Type};

use super::rust::{Crate, attributes, is_test};
use super::{Imports, circles};

/// Rooms that are one operation: a call needs a permission and a connection, an approval shows the call that it is
/// about, and a connection that is missing or refused is the call's outcome. Three files of shapes between them would
/// be read together all the same.
const ONE_OPERATION: [&str; 3] = ["access", "connections", "tools"];

/// The rooms that each room needs.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// The rooms of the crate with this first file, whose object is the type `owner`.
fn rooms_of(root: &Path, owner: &str) -> Rooms {
    let modules = Crate::read(root);
    let folder = root.parent().unwrap();
    let room_of = |file: &Path| room_of(folder, file);
    let files = modules.files();
    let mut rooms: Rooms = files
        .iter()
        .filter_map(|file| room_of(file))
        .map(empty)
        .collect();
    for (file, named) in modules.arrows() {
        let Some(room) = room_of(&file) else { continue };
        rooms
            .get_mut(&room)
            .unwrap()
            .extend(named.iter().filter_map(|one| room_of(one)));
    }
    let parsed: Vec<(Option<String>, syn::File)> = files
        .iter()
        .map(|file| (room_of(file), parse(file)))
        .collect();
    let mut parts = Parts::default();
    for (room, file) in &parsed {
        parts.read(owner, room.as_deref(), file, &modules, &room_of);
    }
    for (room, file) in &parsed {
        let Some(room) = room else { continue };
        let mut uses = Uses::new(owner);
        uses.visit_file(file);
        let needed = uses.names.iter().filter_map(|name| parts.0.get(name));
        rooms.get_mut(room).unwrap().extend(needed.cloned());
    }
    for (room, needed) in &mut rooms {
        needed.remove(room);
    }
    rooms
}

fn empty(room: String) -> (String, BTreeSet<String>) {
    (room, BTreeSet::new())
}

/// The top module that a file belongs to; none for the root.
fn room_of(folder: &Path, file: &Path) -> Option<String> {
    let first = file.strip_prefix(folder).ok()?.components().next()?;
    let first = Path::new(first.as_os_str()).with_extension("");
    let name = first.to_str()?.to_owned();
    (!["lib", "main"].contains(&name.as_str())).then_some(name)
}

fn parse(file: &Path) -> syn::File {
    let text = std::fs::read_to_string(file).unwrap();
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{file:?}: {error}"))
}

/// The room of each method and of each field of the object. Both are asked for by name alone: an object has at most
/// one of each, and a field whose name is a method's is read as either.
#[derive(Default)]
struct Parts(BTreeMap<String, String>);

impl Parts {
    fn read(
        &mut self,
        owner: &str,
        room: Option<&str>,
        file: &syn::File,
        modules: &Crate,
        room_of: &dyn Fn(&Path) -> Option<String>,
    ) {
        for item in file.items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                Item::Impl(item) if is_of(item, owner) => {
                    let Some(room) = room else { continue };
                    for method in &item.items {
                        if let ImplItem::Fn(method) = method {
                            let name = format!("{}()", method.sig.ident);
                            self.0.insert(name, room.to_owned());
                        }
                    }
                }
                Item::Struct(item) if room.is_none() && item.ident == owner => {
                    for field in &item.fields {
                        let place = modules.place_in_root(&field.ty);
                        let room = place.and_then(|file| room_of(&file));
                        if let (Some(name), Some(room)) = (&field.ident, room) {
                            self.0.insert(name.to_string(), room);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether it is `impl Owner` and not of a trait.
fn is_of(item: &ItemImpl, owner: &str) -> bool {
    item.trait_.is_none() && is_type(&item.self_ty, owner)
}

fn is_type(of: &Type, owner: &str) -> bool {
    matches!(of, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == owner))
}

/// What a file uses of the object: `name()` for a method, `name` for a field.
struct Uses<'a> {
    owner: &'a str,
    /// What the object is called where it is not `self`.
    called: String,
    /// Whether `self` is the object here.
    inside: bool,
    names: BTreeSet<String>,
}

impl<'a> Uses<'a> {
    fn new(owner: &'a str) -> Self {
        Self {
            owner,
            called: owner.to_lowercase(),
            inside: false,
            names: BTreeSet::new(),
        }
    }

    fn is_object(&self, name: &str) -> bool {
        name == self.called || (name == "self" && self.inside)
    }

    /// Whether an expression is the object: `self`, `gateway`, `self.gateway`, `gateway.clone()`.
    fn is_object_expr(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|name| self.is_object(&name.to_string())),
            Expr::Field(field) => {
                matches!(&field.member, Member::Named(name) if *name == self.called)
            }
            Expr::MethodCall(call) => call.method == "clone" && self.is_object_expr(&call.receiver),
            Expr::Paren(inner) => self.is_object_expr(&inner.expr),
            Expr::Reference(inner) => self.is_object_expr(&inner.expr),
            _ => false,
        }
    }

    /// What a macro is given is no expression yet: `gateway . name` there.
    fn read_tokens(&mut self, tokens: proc_macro2::TokenStream) {
        use proc_macro2::TokenTree::{Group, Ident, Punct};
        let tokens: Vec<_> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            if let Group(group) = token {
                self.read_tokens(group.stream());
            }
            let [Ident(object), Punct(dot), Ident(name)] = &tokens[at..(at + 3).min(tokens.len())]
            else {
                continue;
            };
            if dot.as_char() == '.' && self.is_object(&object.to_string()) {
                let called = matches!(tokens.get(at + 3), Some(Group(_)));
                self.names
                    .insert(format!("{name}{}", if called { "()" } else { "" }));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let before = std::mem::replace(&mut self.inside, is_type(&item.self_ty, self.owner));
        visit::visit_item_impl(self, item);
        self.inside = before;
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.is_object_expr(&call.receiver) {
            self.names.insert(format!("{}()", call.method));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        if let Member::Named(name) = &field.member
            && self.is_object_expr(&field.base)
        {
            self.names.insert(name.to_string());
        }
        visit::visit_expr_field(self, field);
    }

    /// `Gateway::name(..)`.
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|one| one.ident.to_string())
            .collect();
        if let [.., of, name] = &names[..]
            && (of == self.owner || (of == "Self" && self.inside))
        {
            self.names.insert(format!("{name}()"));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.read_tokens(call.tokens.clone());
    }
}

/// The rooms that need themselves through others.
fn in_circles(rooms: &Rooms) -> Vec<String> {
    let path = |room: &String| PathBuf::from(room);
    let imports: Imports = rooms
        .iter()
        .map(|(room, needed)| (path(room), needed.iter().map(path).collect()))
        .collect();
    let found = circles(&imports);
    found
        .keys()
        .map(|room| room.display().to_string())
        .collect()
}

fn host(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../host")
        .join(file)
}

#[test]
fn the_rooms_of_the_gateway_call_each_other_one_way() {
    let rooms = rooms_of(&host("gateway/src/lib.rs"), "Gateway");
    let calls: usize = rooms.values().map(BTreeSet::len).sum();
    assert!(calls > 30, "calls are read: {rooms:#?}");
    assert_eq!(in_circles(&rooms), ONE_OPERATION, "{rooms:#?}");
}

#[test]
fn the_rooms_of_identity_call_each_other_one_way() {
    let rooms = rooms_of(&host("identity/src/lib.rs"), "Identity");
    let calls: usize = rooms.values().map(BTreeSet::len).sum();
    assert!(calls > 8, "calls are read: {rooms:#?}");
    assert_eq!(in_circles(&rooms), [""; 0], "{rooms:#?}");
}

/// A row for each room: its name, what it is for, the rooms that it may call.
#[test]
fn the_architecture_says_what_a_room_may_call() {
    let page = std::fs::read_to_string(host("../ARCHITECTURE.md")).unwrap();
    let (_, section) = page.split_once("\n## The rooms of the gateway\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let quoted = |text: &str| {
        text.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let mut stated = Rooms::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').collect();
        let [_, room, _, may_call, _] = cells[..] else {
            panic!("{row}")
        };
        stated.insert(room.trim().trim_matches('`').to_owned(), quoted(may_call));
    }
    let rooms = rooms_of(&host("gateway/src/lib.rs"), "Gateway");
    for (room, needed) in &rooms {
        let may: BTreeSet<String> = stated.get(room).cloned().unwrap_or_default();
        let (more, less) = (needed - &may, &may - needed);
        assert!(
            stated.contains_key(room),
            "ARCHITECTURE.md has no row of {room}"
        );
        assert!(
            more.is_empty(),
            "{room} calls {more:?}: ARCHITECTURE.md does not say so"
        );
        assert!(
            less.is_empty(),
            "{room} calls no {less:?}: ARCHITECTURE.md says so"
        );
    }
    let gone: Vec<&String> = stated
        .keys()
        .filter(|room| !rooms.contains_key(*room))
        .collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md has rows of {gone:?}");
}

/// The rooms in circles of a crate with these files; its object is `Gateway`.
fn planted(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    in_circles(&rooms_of(&folder.path().join("lib.rs"), "Gateway"))
}

#[test]
fn a_circle_of_calls_is_seen_in_each_form_of_a_call() {
    let root = "mod hall; mod kitchen; pub struct Gateway { stove: kitchen::Stove }";
    let hall = "use crate::Gateway; impl Gateway { pub fn ring(&self) { self.cook(); } }";
    let kitchen = |more: &str| {
        let cook = "impl Gateway { pub fn cook(&self) {} }";
        format!("use crate::Gateway; pub struct Stove; {cook} {more}")
    };
    let circle = |more: &str| {
        let kitchen = kitchen(more);
        planted(&[
            ("lib.rs", root),
            ("hall.rs", hall),
            ("kitchen.rs", &kitchen),
        ])
    };
    assert_eq!(circle(""), [""; 0]);
    for call in [
        "impl Gateway { fn serve(&self) { self.ring(); } }",
        "fn serve(gateway: &Gateway) { gateway.ring(); }",
        "fn serve(gateway: &Gateway) { (&gateway).clone().ring(); }",
        "fn serve(gateway: &Gateway) { Gateway::ring(gateway); }",
        "fn serve(gateway: &Gateway) { println!(\"{:?}\", gateway.ring()); }",
        "struct Cook { gateway: Gateway } impl Cook { fn serve(&self) { self.gateway.ring(); } }",
        "fn serve() { crate::hall::bell(); }",
    ] {
        let hall = format!("{hall} pub fn bell() {{}}");
        let kitchen = kitchen(call);
        let files = [
            ("lib.rs", root),
            ("hall.rs", &*hall),
            ("kitchen.rs", &kitchen),
        ];
        assert_eq!(planted(&files), ["hall", "kitchen"], "{call}");
    }
    for other in [
        "struct Bell; impl Bell { fn ring(&self) {} fn serve(&self) { self.ring(); } }",
        "#[cfg(test)] mod tests { fn serve(gateway: &super::Gateway) { gateway.ring(); } }",
    ] {
        assert_eq!(circle(other), [""; 0], "{other}");
    }
}

#[test]
fn the_use_of_a_field_counts_for_the_room_of_its_type() {
    let root =
        "mod hall; mod kitchen; use kitchen::Stove; pub struct Gateway { stove: Vec<Stove> }";
    let hall =
        "use crate::Gateway; impl Gateway { pub fn ring(&self) -> usize { self.stove.len() } }";
    let kitchen =
        "use crate::Gateway; pub struct Stove; fn serve(gateway: &Gateway) { gateway.ring(); }";
    let files = [("lib.rs", root), ("hall.rs", hall), ("kitchen.rs", kitchen)];
    assert_eq!(planted(&files), ["hall", "kitchen"]);
}
