//! The properties of an object, from all parts of its schema.

use serde_json::Value;

use super::names;
use crate::document::{Documents, Node};

/// Steps through references, `allOf` and alternatives while looking for an object's properties.
const SHAPE_STEPS_MAX: usize = 2_000;
/// Alternatives within alternatives.
const ALTERNATIVES_DEPTH_MAX: usize = 8;

/// The properties that an object schema has after references and `allOf`. Where it has properties
/// of its own, those of its alternatives (`oneOf`, `anyOf`) are among them, and never required.
#[derive(Debug, Default)]
pub struct Shape<'d> {
    pub properties: Vec<(&'d str, Node<'d>)>,
    pub required: Vec<String>,
    /// It is something else besides an object with properties.
    pub other: bool,
    /// What an object of this schema may be beyond its properties.
    pub beyond: OtherFields,
}

/// From least to most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherFields {
    #[default]
    Nothing,
    /// Alternatives add further properties to its own.
    Alternatives,
    /// Fields of any name and type: `additionalProperties` is true or an empty schema, as it is in many schemas.
    Anything,
    /// One property has another form in each alternative.
    Forms,
    /// Fields of names that the caller chooses, in a form that the schema gives.
    Names,
}

/// Looks for the properties of a schema.
pub fn shape<'d>(docs: &'d Documents, node: Node<'d>) -> Shape<'d> {
    let mut search = Search { docs, steps: 0 };
    let mut seen = Vec::new();
    let (mut shape, choices) = search.own(node, &mut seen);
    // A schema that is nothing but alternatives is described better as a whole.
    if !shape.properties.is_empty() {
        for choice in choices {
            search.alternatives(&choice, &mut shape, &seen, 0);
        }
    }
    shape
}

struct Search<'d> {
    docs: &'d Documents,
    steps: usize,
}

impl<'d> Search<'d> {
    /// The shape by the schema itself and the parts of its `allOf`, and its lists of alternatives.
    fn own(&mut self, node: Node<'d>, seen: &mut Vec<usize>) -> (Shape<'d>, Vec<Vec<Node<'d>>>) {
        let mut shape = Shape::default();
        let mut choices = Vec::new();
        let mut todo = vec![node];
        while let Some(node) = todo.pop() {
            self.steps += 1;
            if self.steps > SHAPE_STEPS_MAX {
                break;
            }
            let Ok(node) = self.docs.resolve(node) else {
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
            shape.beyond = shape.beyond.max(open(node));
            for key in ["oneOf", "anyOf"] {
                let branches: Vec<Node<'d>> = node.elements(key).collect();
                if !branches.is_empty() {
                    choices.push(branches);
                }
            }
            let mut parts: Vec<Node<'d>> = node.elements("allOf").collect();
            parts.reverse();
            todo.extend(parts);
        }
        (shape, choices)
    }

    /// Adds the properties of alternatives to a shape that has its own.
    fn alternatives(
        &mut self,
        choice: &[Node<'d>],
        shape: &mut Shape<'d>,
        seen: &[usize],
        depth: usize,
    ) {
        let mut added: Vec<(&'d str, Node<'d>)> = Vec::new();
        for branch in choice {
            let mut on_the_way = seen.to_vec();
            let (mut inner, deeper) = self.own(*branch, &mut on_the_way);
            for choice in deeper {
                if depth < ALTERNATIVES_DEPTH_MAX && self.steps <= SHAPE_STEPS_MAX {
                    self.alternatives(&choice, &mut inner, &on_the_way, depth + 1);
                } else {
                    inner.beyond = inner.beyond.max(OtherFields::Forms);
                }
            }
            if inner.other {
                // An object or `null` is an optional object.
                if branch.text("type") != Some("null") {
                    shape.beyond = shape.beyond.max(OtherFields::Forms);
                }
                continue;
            }
            shape.beyond = shape.beyond.max(inner.beyond);
            for (name, property) in inner.properties {
                if shape.properties.iter().any(|(own, _)| *own == name) {
                    // Its own form applies in every alternative.
                    continue;
                }
                match added.iter().find(|(known, _)| *known == name) {
                    None => added.push((name, property)),
                    Some((_, known)) if self.same(*known, property) => {}
                    Some(_) => shape.beyond = shape.beyond.max(OtherFields::Forms),
                }
            }
            if choice.len() == 1 {
                for name in inner.required {
                    if !shape.required.contains(&name) {
                        shape.required.push(name);
                    }
                }
            }
        }
        if !added.is_empty() && choice.len() > 1 {
            shape.beyond = shape.beyond.max(OtherFields::Alternatives);
        }
        shape.properties.extend(added);
    }

    /// Whether two schemas accept the same values: their descriptions may differ.
    fn same(&self, a: Node<'d>, b: Node<'d>) -> bool {
        let plain = |node: Node<'d>| {
            let mut value = self.docs.resolve(node).unwrap_or(node).value.clone();
            if let Some(map) = value.as_object_mut() {
                for words in ["title", "description", "example", "examples", "default"] {
                    map.shift_remove(words);
                }
            }
            value
        };
        plain(a) == plain(b)
    }
}

/// What fields a schema allows besides those that it names.
fn open(node: Node<'_>) -> OtherFields {
    let patterns = node.members("patternProperties").next().is_some();
    let further =
        ["additionalProperties", "unevaluatedProperties"].map(|key| match node.value.get(key) {
            Some(Value::Object(schema)) if !schema.is_empty() => OtherFields::Names,
            Some(Value::Object(_) | Value::Bool(true)) => OtherFields::Anything,
            _ => OtherFields::Nothing,
        });
    let further = further[0].max(further[1]);
    if patterns {
        OtherFields::Names
    } else {
        further
    }
}
