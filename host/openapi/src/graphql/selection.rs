//! What a tool asks for: the fields of the type that it returns, down to a depth, within the bytes that the manifest
//! shows of a document.

use std::collections::{BTreeMap, BTreeSet};

use super::schema::{GraphqlSchema, NamedForm, TypeReference};

/// Largest document, in bytes: what the manifest shows of one whole, so that a review sees all that is asked.
pub const DOCUMENT_BYTES_MAX: usize = 1_800;
/// Deepest nesting of objects below what a tool returns.
pub const DEPTH_MAX: usize = 5;
/// Object types of an interface or union whose own fields are asked for.
const POSSIBLE_MAX: usize = 8;
/// Fields that are looked at for one selection, also those of the types below it.
const STEPS_MAX: usize = 20_000;

/// A selection set without its braces, and whether it has less than was wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectedFields {
    pub text: String,
    pub is_reduced: bool,
}

/// How a field gives its pages (the cursor connections of Relay).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionItems {
    /// `nodes { ... }`
    Nodes,
    /// `edges { node { ... } }`
    Edges,
}

/// Whether a type is a connection, and where its items are.
pub fn connection(schema: &GraphqlSchema, of: &str) -> Option<ConnectionItems> {
    let info = schema.field(of, "pageInfo").filter(|f| f.is_plain())?;
    let has = |name: &str| schema.field(info.of.name(), name).is_some();
    if !has("hasNextPage") || !has("endCursor") {
        return None;
    }
    let items = |name: &str| {
        let field = schema.field(of, name).filter(|field| field.is_plain());
        field.filter(|field| field.of.is_list() && schema.is_composite(field.of.name()))
    };
    if items("nodes").is_some() {
        return Some(ConnectionItems::Nodes);
    }
    let node = schema.field(items("edges")?.of.name(), "node")?;
    let composite = schema.is_composite(node.of.name());
    composite.then_some(ConnectionItems::Edges)
}

/// The largest selection of what `of` names that fits into `bytes`. `None`: the type has no fields, and takes no
/// selection.
pub fn select(
    schema: &GraphqlSchema,
    of: &TypeReference,
    depth: usize,
    bytes: usize,
) -> Option<SelectedFields> {
    let name = of.name();
    if !schema.is_composite(name) {
        return None;
    }
    let wanted = depth.clamp(1, DEPTH_MAX);
    for depth in (1..=wanted).rev() {
        let mut selection = FieldSelection::new(schema);
        let text = selection.items(name, depth).join(" ");
        if !selection.is_over && text.len() <= bytes {
            return Some(SelectedFields {
                text,
                is_reduced: selection.is_cut || depth < wanted,
            });
        }
    }
    // Even the plain fields are too many: the first ones.
    let mut left = bytes;
    let items = FieldSelection::new(schema).items(name, 1);
    let fits = items.into_iter().take_while(|item| {
        let fits = item.len() < left;
        left = left.saturating_sub(item.len() + 1);
        fits
    });
    let text = fits.collect::<Vec<_>>().join(" ");
    Some(SelectedFields {
        text: match text.is_empty() {
            true => "__typename".to_owned(),
            false => text,
        },
        is_reduced: true,
    })
}

struct FieldSelection<'s> {
    schema: &'s GraphqlSchema,
    steps: usize,
    /// More fields than are looked at.
    is_over: bool,
    /// Object types were left out of an interface or union.
    is_cut: bool,
    /// The types around the current one, which are not entered again.
    path: Vec<&'s str>,
}

impl<'s> FieldSelection<'s> {
    fn new(schema: &'s GraphqlSchema) -> Self {
        Self {
            schema,
            steps: 0,
            is_over: false,
            is_cut: false,
            path: Vec::new(),
        }
    }

    /// What is selected of a type, with objects below it down to `depth`. Never empty: a selection set has a field.
    fn items(&mut self, name: &'s str, depth: usize) -> Vec<String> {
        let mut items = Vec::new();
        let is_abstract = matches!(
            self.schema.types.get(name).map(|found| &found.form),
            Some(NamedForm::Interface { .. } | NamedForm::Union { .. })
        );
        if is_abstract {
            items.push("__typename".to_owned());
        }
        self.path.push(name);
        // The form of each response key, which two fragments may not give differently (GraphQL, section 5.3.2).
        let mut keys = BTreeMap::new();
        items.extend(self.fields(name, depth, &mut keys, &BTreeSet::new()));
        if is_abstract {
            let shared: BTreeSet<&str> = keys.keys().copied().collect();
            let possible = self.schema.possible(name);
            self.is_cut |= possible.len() > POSSIBLE_MAX;
            for object in possible.iter().take(POSSIBLE_MAX) {
                // The objects below are those that every type of the interface has.
                let own = self.fields(object, 1, &mut keys, &shared);
                if !own.is_empty() {
                    items.push(format!("... on {object} {{ {} }}", own.join(" ")));
                }
            }
        }
        self.path.pop();
        if items.is_empty() {
            items.push("__typename".to_owned());
        }
        items
    }

    /// The fields of an object or interface that need no argument and are not deprecated, without those that are in
    /// `shared`, or that have another form in `keys`.
    fn fields(
        &mut self,
        name: &'s str,
        depth: usize,
        keys: &mut BTreeMap<&'s str, &'s TypeReference>,
        shared: &BTreeSet<&'s str>,
    ) -> Vec<String> {
        let schema = self.schema;
        let mut items = Vec::new();
        for field in schema.fields(name) {
            self.steps += 1;
            if self.steps > STEPS_MAX {
                self.is_over = true;
                break;
            }
            let inner = field.of.name();
            let name = field.name.as_str();
            let conflicts = keys.get(name).is_some_and(|other| **other != field.of);
            let asked = field.is_plain() && !field.deprecated && schema.knows(inner);
            if !asked || conflicts || shared.contains(name) {
                continue;
            }
            if !schema.is_composite(inner) {
                keys.insert(name, &field.of);
                items.push(field.name.clone());
                continue;
            }
            let again = self.path.contains(&inner);
            self.steps += schema.fields(inner).len();
            // Pages within a result would have no way to the next one.
            if depth > 1 && !again && connection(schema, inner).is_none() {
                keys.insert(name, &field.of);
                let below = self.items(inner, depth - 1).join(" ");
                items.push(format!("{} {{ {below} }}", field.name));
            }
        }
        items
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::sdl;

    const TEXT: &str = "
        type Query { user: User  any: [Any!]!  pages: UserConnection! }
        scalar Date
        type User { id: ID!  name: String  old: String @deprecated  born: Date  photo(size: Int!): String
                    boss: User  team: Team  friends(first: Int): UserConnection }
        type Team { id: ID!  lead: User  floor: Floor  gone: Nowhere }
        type Floor { number: Int  building: Building }
        type Building { city: String }
        type UserConnection { nodes: [User]  edges: [UserEdge]  totalCount: Int!  pageInfo: PageInfo! }
        type UserEdge { node: User }
        type PageInfo { hasNextPage: Boolean!  endCursor: String }
        union Any = User | Car | Empty
        type Car { id: Int!  wheels: Int }
        type Empty { photo(size: Int!): String }";

    fn selected(field: &str, depth: usize, bytes: usize) -> SelectedFields {
        let schema = sdl::read(TEXT).unwrap();
        let of = schema.field("Query", field).unwrap().of.clone();
        select(&schema, &of, depth, bytes).unwrap()
    }

    #[test]
    fn objects_are_selected_down_to_the_depth_and_not_within_themselves() {
        let text = |depth| selected("user", depth, 1_000).text;
        assert_eq!(text(1), "id name born");
        assert_eq!(text(2), "id name born team { id }");
        let three = "id name born team { id floor { number } }";
        assert_eq!(text(3), three);
        // Where a user is inside the team of a user, nothing is asked of it again.
        assert!(!text(5).contains("lead"), "{}", text(5));
        assert!(!text(5).contains("friends"), "{}", text(5));
    }

    #[test]
    fn what_does_not_fit_is_less_deep_and_said() {
        let less = selected("user", 3, 30);
        assert_eq!(less.text, "id name born team { id }");
        assert!(less.is_reduced);
        let least = selected("user", 3, 8);
        assert_eq!((least.text.as_str(), least.is_reduced), ("id name", true));
    }

    /// `id` of a user is an ID and that of a car an Int: both in one answer would be refused by the server.
    #[test]
    fn alternatives_are_fragments_whose_keys_do_not_conflict() {
        assert_eq!(
            selected("any", 1, 1_000).text,
            "__typename ... on User { id name born } ... on Car { wheels }"
        );
    }

    #[test]
    fn a_connection_has_a_mark_and_items() {
        let schema = sdl::read(TEXT).unwrap();
        let found = connection(&schema, "UserConnection");
        assert_eq!(found, Some(ConnectionItems::Nodes));
        assert_eq!(connection(&schema, "Team"), None);
        let edges = TEXT.replace("nodes: [User]", "");
        let schema = sdl::read(&edges).unwrap();
        let found = connection(&schema, "UserConnection");
        assert_eq!(found, Some(ConnectionItems::Edges));
    }
}
