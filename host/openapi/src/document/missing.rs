//! References that lead nowhere, wherever below an operation they are.
//!
//! The tool lacks what such a reference describes. Published descriptions have them, so the other operations become
//! tools all the same; each reference is reported with its place.

use std::collections::HashSet;

use serde_json::Value;

use super::{Documents, Node};
use crate::problem::below;

/// Most values that are looked at.
const VALUES_MAX: usize = 5_000_000;
/// Members whose values are data and no part of the description.
const DATA: [&str; 5] = ["example", "examples", "default", "enum", "const"];

/// A reference that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingReference {
    /// JSON Pointer to the `$ref`; behind the file's name where it is not in the description itself.
    pub pointer: String,
    pub why: String,
}

impl Documents {
    /// The references below these places that lead nowhere, each place once, in order.
    pub fn missing_references<'d>(
        &'d self,
        places: impl IntoIterator<Item = (Node<'d>, String)>,
    ) -> Vec<MissingReference> {
        let mut todo: Vec<(Node<'d>, String)> = places.into_iter().collect();
        todo.reverse();
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        while let Some((node, pointer)) = todo.pop() {
            if seen.len() >= VALUES_MAX || !seen.insert(node.identity()) {
                continue;
            }
            let mut inner: Vec<(Node<'d>, String)> = Vec::new();
            match node.value {
                Value::Object(map) => {
                    if let Some(Value::String(reference)) = map.get("$ref") {
                        match self.follow(node.file, reference) {
                            Ok(target) => inner.push((target, self.place_of(target, reference))),
                            Err(why) => found.push(MissingReference {
                                pointer: below(&pointer, "$ref"),
                                why,
                            }),
                        }
                    }
                    for (key, value) in map {
                        if !DATA.contains(&key.as_str()) && !key.starts_with("x-") {
                            inner.push((node.at(value), below(&pointer, key)));
                        }
                    }
                }
                Value::Array(items) => {
                    let items = items.iter().enumerate();
                    inner.extend(
                        items.map(|(index, item)| {
                            (node.at(item), below(&pointer, &index.to_string()))
                        }),
                    );
                }
                _ => continue,
            }
            inner.reverse();
            todo.extend(inner);
        }
        found
    }

    /// Where a reference leads, as a pointer for a reader.
    fn place_of(&self, target: Node<'_>, reference: &str) -> String {
        let (_, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        match target.file {
            0 => pointer.to_owned(),
            file => format!("{}#{pointer}", self.files[file].name),
        }
    }
}
