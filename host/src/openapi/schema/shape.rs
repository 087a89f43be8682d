//! The properties of an object, wherever in a schema they stand.

use super::names;
use crate::openapi::document::{Documents, Node};

/// Steps through references and `allOf` while looking for an object's properties.
const SHAPE_STEPS_MAX: usize = 2_000;

/// The properties that an object schema has after references and `allOf`.
#[derive(Debug, Default)]
pub struct Shape<'d> {
    pub properties: Vec<(&'d str, Node<'d>)>,
    pub required: Vec<String>,
    /// It is something else besides an object with properties.
    pub other: bool,
}

/// Looks for the properties of a schema.
pub fn shape<'d>(docs: &'d Documents, node: Node<'d>) -> Shape<'d> {
    let mut shape = Shape::default();
    let mut steps = 0;
    let mut seen = Vec::new();
    let mut todo = vec![node];
    while let Some(node) = todo.pop() {
        steps += 1;
        if steps > SHAPE_STEPS_MAX {
            break;
        }
        let Ok(node) = docs.resolve(node) else {
            shape.other = true;
            continue;
        };
        if seen.contains(&node.identity()) {
            continue;
        }
        seen.push(node.identity());
        for (name, property) in node.members("properties") {
            if property.value.is_object()
                && !shape.properties.iter().any(|(known, _)| *known == name)
            {
                shape.properties.push((name, property));
            }
        }
        for name in names(node.value.get("required")) {
            if !shape.required.contains(&name) {
                shape.required.push(name);
            }
        }
        let typed = node.text("type").is_some_and(|kind| kind != "object");
        shape.other |= typed;
        let mut parts: Vec<Node<'d>> = node.elements("allOf").collect();
        parts.reverse();
        todo.extend(parts);
    }
    shape
}
