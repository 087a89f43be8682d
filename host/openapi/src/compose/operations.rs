//! Which operations of a description become tools, and which server each of them has.

use std::collections::BTreeSet;

use toolgate_openapi_table::Base;

use crate::document::{Documents, Node};
use crate::keys::{self, DocumentKeys, OperationKeys};
use crate::operation::{self, OperationLocation};
use crate::problem::{Notes, Problem, below};
use crate::servers::{ServerHosts, Servers};
use crate::{METHODS, TOOLS_MAX, words};

/// An operation with its own `x-toolgate`.
pub(super) type ChosenOperation<'d> = (OperationLocation<'d>, OperationKeys);

/// The operations that become tools, in the order of the description.
pub(super) fn choose<'d>(
    docs: &'d Documents,
    keys: &DocumentKeys,
    notes: &mut Notes,
) -> Result<Vec<ChosenOperation<'d>>, Problem> {
    let mut operations = Vec::new();
    for place in locate(docs, keys, notes)? {
        let own: OperationKeys = keys::read(docs.name(), &place.pointer, place.node)?;
        if !own.skip {
            operations.push((place, own));
        }
    }
    operation::note_missing_references(docs, &operations, notes);
    if operations.len() > TOOLS_MAX {
        return Err(Problem::new(
            docs.name(),
            "/paths",
            format!(
                "{} operations; at most {TOOLS_MAX} fit into one plugin: choose with `x-toolgate: {{ operations: [...] }}`, in the description or an overlay",
                operations.len()
            ),
        ));
    }
    Ok(operations)
}

/// Every operation that `x-toolgate.operations` lists, or every operation where it lists none.
fn locate<'d>(
    docs: &'d Documents,
    keys: &DocumentKeys,
    notes: &mut Notes,
) -> Result<Vec<OperationLocation<'d>>, Problem> {
    let root = docs.root();
    let paths = root.value.get("paths");
    if paths.is_some_and(|paths| !paths.is_object()) {
        return Err(Problem::new(
            docs.name(),
            "/paths",
            "write an object: each path with its operations",
        ));
    }
    let mut listed: BTreeSet<&str> = keys.operations.iter().map(String::as_str).collect();
    let mut places = Vec::new();
    for (path, item) in root.members("paths") {
        if path.starts_with("x-") {
            continue;
        }
        let pointer = below("/paths", path);
        let item = match docs.resolve(item) {
            Ok(item) => item,
            Err(why) => {
                notes.left_out(&pointer, why);
                continue;
            }
        };
        for method in METHODS {
            let Some(node) = item.get(method).filter(|node| node.value.is_object()) else {
                continue;
            };
            if !keys.operations.is_empty() {
                let full = format!("{} {path}", method.to_uppercase());
                let by_id = node.text("operationId").is_some_and(|id| listed.remove(id));
                if !by_id && !listed.remove(full.as_str()) {
                    continue;
                }
            }
            places.push(OperationLocation {
                path,
                method,
                item,
                node,
                pointer: below(&pointer, method),
            });
        }
    }
    if let Some(missing) = listed.first() {
        return Err(Problem::new(
            docs.name(),
            "/x-toolgate/operations",
            format!(
                "`{}` is neither an operationId nor a `METHOD /path` of this description",
                words::clean(missing, 100)
            ),
        ));
    }
    Ok(places)
}

/// The base address of each operation, from the nearest `servers`, and all hosts and parameters of them.
pub(super) fn bases<'d>(
    docs: &'d Documents,
    keys: &DocumentKeys,
    title: &str,
    operations: &[ChosenOperation<'d>],
    notes: &mut Notes,
) -> Result<(ServerHosts, Vec<Base>), Problem> {
    let mut reach = ServerHosts::default();
    let servers = Servers {
        file: docs.name(),
        title,
    };
    let mut root: Option<Base> = None;
    let mut bases = Vec::new();
    for (place, _) in operations {
        let own: Vec<Node<'d>> = place.node.elements("servers").collect();
        let item: Vec<Node<'d>> = place.item.elements("servers").collect();
        let base = if let Some(own_address) = &keys.api_base {
            reach.own_address(&own_address.title)
        } else if !own.is_empty() {
            let at = below(&place.pointer, "servers");
            servers.base(&own, &at, &mut reach, notes)?
        } else if !item.is_empty() {
            servers.base(&item, &place.pointer, &mut reach, notes)?
        } else if let Some(base) = &root {
            base.clone()
        } else {
            let list: Vec<Node<'d>> = docs.root().elements("servers").collect();
            let base = servers.base(&list, "/servers", &mut reach, notes)?;
            root.insert(base).clone()
        };
        bases.push(base);
    }
    Ok((reach, bases))
}
