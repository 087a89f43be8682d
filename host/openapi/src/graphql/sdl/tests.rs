use super::*;

/// In the form of <https://docs.github.com/public/fpt/schema.docs.graphql> and of Apollo Federation's subgraphs.
const TEXT: &str = r#"
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key"])
    directive @preview(toggledBy: [String!]! = []) repeatable on SCALAR | OBJECT
    """An object with an ID."""
    interface Node { id: ID! }
    "A note."
    type Note implements Node & Titled @key(fields: "id") {
      id: ID!
      title(upper: Boolean = false): String! @deprecated(reason: "Use `heading`.")
    }
    interface Titled { title: String! }
    union Found = | Note | Folder
    type Folder { notes(first: Int! = 10, order: [Order!] = [{field: NAME}]): [Note!]! } enum Order { NAME "By day." DAY @deprecated }
    input NewNote @oneOf { text: String, copy: ID }
    scalar DateTime @specifiedBy(url: "https://example.com")
    type Query { note(id: ID!): Note }
    extend type Query { found: [Found] }
"#;

#[test]
fn definitions_and_extensions_are_read() {
    let schema = read(TEXT).unwrap();
    assert_eq!(schema.query.as_deref(), Some("Query"));
    assert_eq!(schema.mutation, None);
    assert_eq!(schema.fields("Query").len(), 2);
    assert_eq!(schema.possible("Node"), ["Note"]);
    assert_eq!(schema.possible("Titled"), ["Note"]);
    assert_eq!(schema.possible("Found"), ["Note", "Folder"]);
    assert!(schema.field("Note", "title").unwrap().deprecated);
    let notes = schema.field("Folder", "notes").unwrap();
    assert_eq!(notes.of.to_string(), "[Note!]!");
    assert_eq!(
        notes.arguments[1].default.as_deref(),
        Some("[{field: NAME}]")
    );
    assert!(notes.is_plain());
    let NamedForm::Input { one_of, .. } = schema.types["NewNote"].form else {
        panic!("an input");
    };
    assert!(one_of);
}

#[test]
fn a_text_that_is_no_schema_is_refused_with_its_line() {
    for (text, said) in [
        (
            "type Query {\n a String }",
            "line 2: expected `:`, found `String`",
        ),
        ("type Query {", "line 1: expected a name, found the end"),
        ("query { a }", "line 1: expected a definition"),
    ] {
        let refused = read(text).unwrap_err();
        assert!(refused.starts_with(said), "{refused}");
    }
    let deep = format!("type Query {{ a: {}", "[".repeat(100_000));
    assert!(read(&deep).unwrap_err().contains("fewer lists"));
}

#[test]
fn the_schema_language_is_told_from_yaml() {
    for text in [
        TEXT,
        "# note\nschema {",
        "\"\"\"A.\"\"\"\ntype A @x {",
        "\"A.\" enum B {",
    ] {
        assert!(is_schema_text(text), "{text}");
    }
    for text in [
        "openapi: 3.1.0",
        "type: object",
        "{\"type\": 1}",
        "\"openapi\": 3.1.0",
        "enum:\n- a",
        "",
    ] {
        assert!(!is_schema_text(text), "{text}");
    }
}

/// A text that ends anywhere, also within a character of more bytes, a string or a value.
#[test]
fn every_beginning_of_a_text_is_read_or_refused() {
    let text = TEXT.replace("A note.", "Eine Notiz, für alle: \\\" ☕");
    let whole = text.char_indices().map(|(end, _)| &text[..end]);
    let refused = whole.filter(|begin| read(begin).is_err()).count();
    assert!(refused > 100, "{refused}");
    assert!(read(&text).is_ok());
}
