//! What a schema says of one place of the arguments, through references and alternatives.
//!
//! Each look at the schema is paid for, as in [`crate::cost`]: a hostile schema has hundreds of subschemas for each of
//! many places. Once nothing is left, no more is said.

use std::cell::Cell;

use serde_json::Value;

/// Most subschemas that are looked at for one place, and longest way through references.
const SUBSCHEMAS_MAX: usize = 200;
const REFERENCES_MAX: usize = 32;

/// In units of [`crate::cost`]: one subschema looked at, one of its names, one value that it lists.
const LOOK_UNITS: u64 = 250;
const NAME_UNITS: u64 = 100;
const LISTED_UNITS: u64 = 20;

/// A schema, to be walked beside the arguments.
#[derive(Clone, Copy)]
pub(crate) struct SchemaPlaces<'s> {
    pub(super) root: &'s Value,
    /// What may still be spent.
    left: &'s Cell<u64>,
}

impl<'s> SchemaPlaces<'s> {
    /// `left`: units that the walk may cost; 0 afterwards if it would cost more.
    pub(crate) fn new(root: &'s Value, left: &'s Cell<u64>) -> Self {
        Self { root, left }
    }

    /// Whether so much was left.
    fn spend(self, units: u64) -> bool {
        self.left.set(self.left.get().saturating_sub(units));
        self.left.get() > 0
    }

    /// The schemas of one place with those that they refer to and their alternatives; none where they are too many.
    pub(super) fn open(self, place: &[&'s Value]) -> Vec<&'s Value> {
        let mut found: Vec<&'s Value> = Vec::new();
        let mut todo: Vec<(&'s Value, usize)> = place.iter().map(|schema| (*schema, 0)).collect();
        while let Some((schema, hops)) = todo.pop() {
            let units = LOOK_UNITS + found.len() as u64;
            if found.len() >= SUBSCHEMAS_MAX || hops > REFERENCES_MAX || !self.spend(units) {
                return Vec::new();
            }
            if found.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            found.push(schema);
            todo.extend(self.target(schema).map(|target| (target, hops + 1)));
            for key in ["allOf", "anyOf", "oneOf"] {
                todo.extend(branches(schema, key).map(|one| (one, hops + 1)));
            }
        }
        found
    }

    /// The kinds that one of the schemas of a place takes; all where none says.
    pub(super) fn kinds(self, place: &[&'s Value]) -> Kinds {
        let mut left = SUBSCHEMAS_MAX;
        let all = place.iter().map(|schema| self.taken(schema, 0, &mut left));
        all.reduce(Kinds::or).unwrap_or(Kinds::ALL)
    }

    fn taken(self, schema: &'s Value, hops: usize, left: &mut usize) -> Kinds {
        let listed = schema
            .get("enum")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        let units = LOOK_UNITS + LISTED_UNITS * listed as u64;
        if *left == 0 || hops > REFERENCES_MAX || !self.spend(units) {
            return Kinds::ALL;
        }
        *left -= 1;
        let mut kinds = own_kinds(schema);
        if let Some(target) = self.target(schema) {
            kinds = kinds.and(self.taken(target, hops + 1, left));
        }
        for branch in branches(schema, "allOf") {
            kinds = kinds.and(self.taken(branch, hops + 1, left));
        }
        for key in ["anyOf", "oneOf"] {
            let either = branches(schema, key).map(|branch| self.taken(branch, hops + 1, left));
            kinds = kinds.and(either.reduce(Kinds::or).unwrap_or(Kinds::ALL));
        }
        kinds
    }

    /// Whether one of the schemas of an object requires a member; where nothing is left, it may.
    pub(super) fn requires(self, open: &[&'s Value], name: &str) -> bool {
        open.iter().any(|schema| {
            let required = schema.get("required").and_then(Value::as_array);
            let required = required.map_or(&[][..], Vec::as_slice);
            let units = NAME_UNITS + LISTED_UNITS * required.len() as u64;
            !self.spend(units) || required.iter().any(|known| known == name)
        })
    }

    /// What the schemas of an object say of one member.
    pub(super) fn member(self, open: &[&'s Value], name: &str) -> Vec<&'s Value> {
        if !self.spend(NAME_UNITS * open.len() as u64) {
            return Vec::new();
        }
        let own: Vec<&Value> = open
            .iter()
            .filter_map(|schema| schema.get("properties")?.get(name))
            .collect();
        if !own.is_empty() {
            return own;
        }
        let others = open
            .iter()
            .filter_map(|schema| schema.get("additionalProperties"));
        others.filter(|schema| schema.is_object()).collect()
    }

    /// What the schemas of a list say of one item.
    pub(super) fn item(self, open: &[&'s Value], index: usize) -> Vec<&'s Value> {
        if !self.spend(NAME_UNITS * open.len() as u64) {
            return Vec::new();
        }
        let one = |schema: &&'s Value| {
            let first = schema.get("prefixItems").and_then(|items| items.get(index));
            first.or_else(|| schema.get("items").filter(|items| items.is_object()))
        };
        open.iter().filter_map(one).collect()
    }

    fn target(self, schema: &'s Value) -> Option<&'s Value> {
        let target = schema.get("$ref").and_then(Value::as_str)?;
        self.root.pointer(target.strip_prefix('#')?)
    }
}

fn branches<'s>(schema: &'s Value, key: &str) -> impl Iterator<Item = &'s Value> {
    let branches = schema.get(key).and_then(Value::as_array);
    branches.into_iter().flatten()
}

/// Kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    const ALL: Self = Self(0b0111_1111);
    const NAMES: [&str; 7] = [
        "array", "boolean", "integer", "null", "number", "object", "string",
    ];

    fn of(name: &str) -> Self {
        let at = Self::NAMES.iter().position(|known| *known == name);
        Self(at.map_or(0, |at| 1 << at))
    }

    fn and(self, other: Self) -> Self {
        // A whole number is one of the numbers.
        let whole = |kinds: Self| match kinds.has("number") {
            true => Self(kinds.0 | Self::of("integer").0),
            false => kinds,
        };
        Self(whole(self).0 & whole(other).0)
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn has(self, name: &str) -> bool {
        self.0 & Self::of(name).0 != 0
    }

    pub(super) fn may_be(self, kind: &str) -> bool {
        self.has(kind) || (kind == "integer" && self.has("number"))
    }

    /// Whether a number has to be a whole one.
    pub(super) fn wants_integer(self) -> bool {
        self.has("integer") && !self.has("number")
    }
}

fn own_kinds(schema: &Value) -> Kinds {
    let named = |names: &[Value]| {
        let names = names.iter().filter_map(Value::as_str).map(Kinds::of);
        names.fold(Kinds(0), Kinds::or)
    };
    match schema.get("type") {
        Some(Value::String(kind)) => return Kinds::of(kind),
        Some(Value::Array(kinds)) => return named(kinds),
        _ => {}
    }
    let fixed = schema.get("const").map(std::slice::from_ref);
    let listed = schema.get("enum").and_then(Value::as_array);
    match fixed.or(listed.map(Vec::as_slice)) {
        Some(values) => {
            let kinds = values.iter().map(super::kind_of).map(Kinds::of);
            kinds.fold(Kinds(0), Kinds::or)
        }
        None => Kinds::ALL,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_kinds_of_a_place_are_those_of_all_that_speaks_of_it() {
        let root = json!({"$defs": {
            "count": {"type": "integer"},
            "itself": {"$ref": "#/$defs/itself"}
        }});
        let left = Cell::new(u64::MAX);
        let places = SchemaPlaces::new(&root, &left);
        for (schema, kinds) in [
            (json!({"type": "integer"}), &["integer"][..]),
            (json!({"type": ["integer", "null"]}), &["integer", "null"]),
            (json!({"$ref": "#/$defs/count"}), &["integer"]),
            (
                json!({"allOf": [{"type": "number"}, {"type": "integer"}]}),
                &["integer"],
            ),
            (
                json!({"type": "integer", "anyOf": [{"minimum": 1}, {"const": -1}]}),
                &["integer"],
            ),
            (json!({"enum": [1, "a"]}), &["integer", "number", "string"]),
        ] {
            let expected = kinds.iter().copied().map(Kinds::of);
            let expected = expected.fold(Kinds(0), Kinds::or);
            assert_eq!(places.kinds(&[&schema]).or(expected), expected, "{schema}");
            for kind in kinds {
                assert!(places.kinds(&[&schema]).may_be(kind), "{schema}: {kind}");
            }
        }
        // One alternative that takes anything, and a reference without an end.
        for open in [
            json!({}),
            json!({"anyOf": [{"type": "integer"}, {"minLength": 3}]}),
            json!({"$ref": "#/$defs/itself"}),
        ] {
            assert_eq!(places.kinds(&[&open]), Kinds::ALL, "{open}");
        }
        assert_eq!(places.kinds(&[]), Kinds::ALL);
    }

    #[test]
    fn once_nothing_is_left_nothing_more_is_said() {
        let schema =
            json!({"anyOf": [{"type": "integer"}, {"type": "integer"}], "required": ["a"]});
        let left = Cell::new(4 * LOOK_UNITS);
        let places = SchemaPlaces::new(&schema, &left);
        assert!(!places.kinds(&[&schema]).may_be("string"));
        assert!(left.get() > 0);
        assert_eq!(places.open(&[&schema]), Vec::<&Value>::new());
        assert_eq!(left.get(), 0);
        assert_eq!(places.kinds(&[&schema]), Kinds::ALL);
        assert!(places.requires(&[&schema], "b") && places.member(&[&schema], "a").is_empty());
    }
}
