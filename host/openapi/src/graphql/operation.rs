//! One query or mutation as an operation of an OpenAPI document: its variables as the body, its document as
//! `x-toolgate: graphql`.

use serde_json::{Map, Value, json};

use super::inputs::{InputComponents, is_endless, is_kept, property};
use super::schema::{GraphqlSchema, InputField, NamedForm, OutputField, TypeReference};
use super::selection::{ConnectionItems, DOCUMENT_BYTES_MAX, connection, select};
use crate::words;

/// Bytes of a selection beside arguments that fill a document by themselves.
const SELECTION_BYTES_MIN: usize = 200;
/// Bytes of a document around its selection: the mark of a page and the braces.
const PAGE_BYTES: usize = 90;
/// Items of a page where the caller names no number: some servers refuse a connection without one.
const PAGE_ITEMS_DEFAULT: u64 = 25;
/// Verbs with which the name of a query may begin; any other gets one.
const ASKING: [&str; 15] = [
    "get", "list", "search", "find", "fetch", "lookup", "count", "check", "query", "read",
    "resolve", "validate", "describe", "preview", "export",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    Query,
    Mutation,
}

impl OperationKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Mutation => "mutation",
        }
    }
}

/// An operation of an OpenAPI document, and what a reader should know of it.
pub struct ComposedOperation {
    pub value: Value,
    pub notes: Vec<String>,
}

/// The operation of a root field. The error says why it cannot become one.
pub fn compose(
    schema: &GraphqlSchema,
    kind: OperationKind,
    field: &OutputField,
    depth: usize,
    components: &mut InputComponents,
) -> Result<ComposedOperation, String> {
    check_types(schema, field)?;
    let mut notes = Vec::new();
    let request = RootRequest::new(schema, kind, field);
    let (document, is_reduced) = request.document(depth);
    if is_reduced {
        notes.push(format!(
            "`{}` has more fields than are asked for: choose with --depth, or write the document in an overlay",
            field.name
        ));
    }
    let mut own = Map::new();
    own.insert("graphql".to_owned(), json!(document));
    let at = format!("/data/{}", field.name);
    if request.pages.is_some() {
        own.insert(
            "paginated".to_owned(),
            json!({
                "style": "cursor",
                "param": "after",
                "next": format!("{at}/pageInfo/endCursor"),
                "more": format!("{at}/pageInfo/hasNextPage"),
            }),
        );
        own.insert("result".to_owned(), json!({"at": at, "drop": ["pageInfo"]}));
    } else {
        own.insert("result".to_owned(), json!(at));
    }
    let flattened = request.flattened();
    if let Some(argument) = flattened {
        own.insert("flatten".to_owned(), json!(argument));
    }
    let body = request.body(components);
    let mut value = json!({
        "operationId": operation_id(kind, field, request.pages.is_some()),
        "summary": words::title(&words::snake(&field.name)),
        "x-toolgate": own,
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "The answer", "content": {"application/json": {}}}},
    });
    if !field.description.is_empty() {
        value["description"] = json!(field.description);
    }
    if field.deprecated {
        value["deprecated"] = json!(true);
    }
    Ok(ComposedOperation { value, notes })
}

/// Refuses a field whose types are not in the schema, and one that needs an argument that nobody can write.
fn check_types(schema: &GraphqlSchema, field: &OutputField) -> Result<(), String> {
    if !schema.knows(field.of.name()) {
        return Err(format!(
            "its type `{}` is not in the schema",
            field.of.name()
        ));
    }
    for argument in &field.arguments {
        if !schema.knows(argument.of.name()) && argument.is_required() {
            return Err(format!(
                "the type of its argument `{}` is not in the schema",
                argument.name
            ));
        }
        if argument.is_required() && is_endless(schema, &argument.of) {
            return Err(format!(
                "its argument `{}` needs an input object that needs another of its own type without an end",
                argument.name
            ));
        }
    }
    Ok(())
}

struct RootRequest<'s> {
    schema: &'s GraphqlSchema,
    kind: OperationKind,
    field: &'s OutputField,
    /// Arguments that a caller gives.
    arguments: Vec<&'s InputField>,
    /// Where the items of its pages are, if the caller can turn them.
    pages: Option<ConnectionItems>,
}

impl<'s> RootRequest<'s> {
    fn new(schema: &'s GraphqlSchema, kind: OperationKind, field: &'s OutputField) -> Self {
        let turns = field.arguments.iter().any(|argument| {
            argument.name == "after" && !argument.is_required() && !argument.of.is_list()
        });
        let found = connection(schema, field.of.name());
        let pages = found.filter(|_| turns && !field.of.is_list());
        let of_pages = |name: &str| matches!(name, "after" | "before" | "last");
        let arguments = field.arguments.iter().filter(|argument| {
            is_kept(argument)
                && schema.knows(argument.of.name())
                && (pages.is_none() || argument.is_required() || !of_pages(&argument.name))
        });
        Self {
            schema,
            kind,
            field,
            arguments: arguments.collect(),
            pages,
        }
    }

    /// The number of items of a page gets a default where the schema has none.
    fn page_items(&self, argument: &InputField) -> Option<u64> {
        let counts = argument.name == "first" && argument.of.name() == "Int";
        let counts = counts && argument.default.is_none() && !argument.of.is_list();
        (self.pages.is_some() && counts).then_some(PAGE_ITEMS_DEFAULT)
    }

    /// The document, and whether it asks for less than was wanted.
    fn document(&self, depth: usize) -> (String, bool) {
        let mut variables: Vec<String> = Vec::new();
        let mut given: Vec<String> = Vec::new();
        for argument in &self.arguments {
            // A variable that is left out gives the argument's own default only if it may be left out.
            let of = match argument.default {
                Some(_) => argument.of.nullable(),
                None => &argument.of,
            };
            let default = self.page_items(argument);
            let default = default.map_or_else(String::new, |items| format!(" = {items}"));
            variables.push(format!("${}: {of}{default}", argument.name));
            given.push(format!("{0}: ${0}", argument.name));
        }
        if self.pages.is_some() {
            let after = self.field.arguments.iter().find(|one| one.name == "after");
            let of = after.map_or_else(|| "String".to_owned(), |one| one.of.nullable().to_string());
            variables.push(format!("$after: {of}"));
            given.push("after: $after".to_owned());
        }
        let in_brackets = |list: &[String]| match list.is_empty() {
            true => String::new(),
            false => format!("({})", list.join(", ")),
        };
        let (kind, name) = (self.kind.as_str(), &self.field.name);
        let head = format!(
            "{kind} {name}{} {{ {name}{}",
            in_brackets(&variables),
            in_brackets(&given)
        );
        let left = DOCUMENT_BYTES_MAX.saturating_sub(head.len() + PAGE_BYTES);
        match self.selection(depth, left.max(SELECTION_BYTES_MIN)) {
            None => (format!("{head} }}"), false),
            Some((selected, is_reduced)) => (format!("{head} {{ {selected} }} }}"), is_reduced),
        }
    }

    fn selection(&self, depth: usize, bytes: usize) -> Option<(String, bool)> {
        let of = self.field.of.name();
        let Some(items) = self.pages else {
            // What a mutation answers is an object around the one that was changed.
            let depth = match self.kind {
                OperationKind::Query => depth,
                OperationKind::Mutation => depth + 1,
            };
            let found = select(self.schema, &self.field.of, depth, bytes)?;
            return Some((found.text, found.is_reduced));
        };
        let node = match items {
            ConnectionItems::Nodes => &self.schema.field(of, "nodes")?.of,
            ConnectionItems::Edges => {
                let edges = &self.schema.field(of, "edges")?.of;
                &self.schema.field(edges.name(), "node")?.of
            }
        };
        let found = select(self.schema, node, depth, bytes)?;
        let text = match items {
            ConnectionItems::Nodes => format!("nodes {{ {} }}", found.text),
            ConnectionItems::Edges => format!("edges {{ node {{ {} }} }}", found.text),
        };
        let count = self.schema.field(of, "totalCount");
        let count = count.filter(|count| count.is_plain() && count.of.name() == "Int");
        let count = count.map_or("", |_| " totalCount");
        let text = format!("{text}{count} pageInfo {{ hasNextPage endCursor }}");
        Some((text, found.is_reduced))
    }

    /// The only argument, if it is an input object whose fields can be arguments instead.
    fn flattened(&self) -> Option<&'s str> {
        let [only] = self.arguments.as_slice() else {
            return None;
        };
        let TypeReference::NonNull(inner) = &only.of else {
            return None;
        };
        let TypeReference::Named(name) = &**inner else {
            return None;
        };
        match self.schema.types.get(name).map(|found| &found.form) {
            Some(NamedForm::Input {
                fields,
                one_of: false,
            }) if fields.iter().any(is_kept) && only.is_required() => Some(&only.name),
            _ => None,
        }
    }

    /// The schema of the variables.
    fn body(&self, components: &mut InputComponents) -> Value {
        let may_be_null = self.kind == OperationKind::Mutation;
        let mut properties = Map::new();
        let mut required = Vec::new();
        for argument in &self.arguments {
            let mut made = property(self.schema, argument, may_be_null, components);
            let items = self.page_items(argument);
            if let Some(items) = items {
                made["default"] = json!(items);
            }
            properties.insert(argument.name.clone(), made);
            if argument.is_required() && items.is_none() {
                required.push(argument.name.clone());
            }
        }
        json!({"type": "object", "properties": properties, "required": required})
    }
}

/// The name of a root field with a verb in front: `issues` is `list_issues`.
fn operation_id(kind: OperationKind, field: &OutputField, has_pages: bool) -> String {
    let name = words::snake(&field.name);
    let first = name.split('_').next().unwrap_or_default();
    if kind == OperationKind::Mutation || ASKING.contains(&first) {
        return name;
    }
    let verb = match has_pages || field.of.is_list() {
        true => "list",
        false => "get",
    };
    format!("{verb}_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::sdl;

    const TEXT: &str = "
        type Query {
          issues(first: Int, after: String, last: Int, before: String, state: State! = OPEN): IssueConnection!
          issue(id: ID!): Issue
          searchText(text: String!): [String!]!
        }
        type Mutation { issueCreate(input: NewIssue!): IssuePayload  drop(a: Loop!): Int  lost(a: Gone!): Int }
        input NewIssue { title: String!  body: String } enum State { OPEN CLOSED }
        input Loop { again: Loop! }
        type Issue { id: ID!  title: String!  author: User }
        type User { name: String }
        type IssuePayload { issue: Issue  ok: Boolean! }
        type IssueConnection { nodes: [Issue!]!  totalCount: Int!  pageInfo: PageInfo! }
        type PageInfo { hasNextPage: Boolean!  endCursor: String }";

    fn composed(kind: OperationKind, name: &str, depth: usize) -> Result<Value, String> {
        let schema = sdl::read(TEXT).unwrap();
        let root = match kind {
            OperationKind::Query => "Query",
            OperationKind::Mutation => "Mutation",
        };
        let field = schema.field(root, name).unwrap();
        let mut components = InputComponents::default();
        compose(&schema, kind, field, depth, &mut components).map(|made| made.value)
    }

    #[test]
    fn a_connection_has_pages_and_a_number_of_items() {
        let made = composed(OperationKind::Query, "issues", 2).unwrap();
        assert_eq!(made["operationId"], "list_issues");
        let own = &made["x-toolgate"];
        assert_eq!(
            own["graphql"],
            "query issues($first: Int = 25, $state: State, $after: String) { issues(first: $first, state: $state, after: \
             $after) { nodes { id title author { name } } totalCount pageInfo { hasNextPage endCursor } } }"
        );
        assert_eq!(own["paginated"]["param"], "after");
        assert_eq!(own["result"]["at"], "/data/issues");
        let body = &made["requestBody"]["content"]["application/json"]["schema"];
        let names: Vec<&String> = body["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["first", "state"]);
        assert_eq!(body["required"], json!([]));
    }

    #[test]
    fn one_object_and_plain_values_are_the_result() {
        let made = composed(OperationKind::Query, "issue", 1).unwrap();
        assert_eq!(
            made["x-toolgate"]["graphql"],
            "query issue($id: ID!) { issue(id: $id) { id title } }"
        );
        assert_eq!(made["x-toolgate"]["result"], "/data/issue");
        let made = composed(OperationKind::Query, "searchText", 1).unwrap();
        assert_eq!(made["operationId"], "search_text");
        assert_eq!(
            made["x-toolgate"]["graphql"],
            "query searchText($text: String!) { searchText(text: $text) }"
        );
    }

    #[test]
    fn the_fields_of_a_mutations_only_input_are_its_arguments() {
        let made = composed(OperationKind::Mutation, "issueCreate", 1).unwrap();
        let own = &made["x-toolgate"];
        assert_eq!(own["flatten"], "input");
        assert_eq!(
            own["graphql"],
            "mutation issueCreate($input: NewIssue!) { issueCreate(input: $input) { issue { id title } ok } }"
        );
    }

    #[test]
    fn what_cannot_be_called_is_left_out_with_a_reason() {
        let refused = composed(OperationKind::Mutation, "drop", 1).unwrap_err();
        assert!(refused.contains("without an end"), "{refused}");
        let refused = composed(OperationKind::Mutation, "lost", 1).unwrap_err();
        assert!(refused.contains("is not in the schema"), "{refused}");
    }
}
