//! Mistakes in an OpenAPI description, as `toolgate plugin check` tells of them.

use std::collections::BTreeSet;

use tokio::process::Command;
use toolgate_tests::process::program;

use super::said_by;

/// A description without mistakes; `NAME` is the service.
const GOOD: &str = r#"openapi: 3.1.0
info:
  title: Notes
  version: 1.0.0
  description: Read and write notes kept at notes.example.
x-toolgate:
  service: NAME
  categories: [notes]
  homepage: https://notes.example.com
  pagination: { style: page, param: page, items: /notes }
servers:
  - url: https://api.notes.example.com/v1
security:
  - key: []
paths:
  /notes:
    get:
      operationId: list_notes
      summary: List notes
      description: Lists notes, newest first, with their texts.
      x-toolgate: { paginated: true }
      parameters:
        - { name: folder, in: query, description: Only notes of this folder., schema: { type: string } }
        - { name: page, in: query, schema: { type: integer } }
        - { name: limit, in: query, description: Notes on a page., schema: { type: integer, minimum: 1, maximum: 100, default: 20 } }
      responses: { "200": { description: The notes. } }
    post:
      operationId: create_note
      summary: Create a note
      description: Writes a note into a folder and answers its number.
      x-toolgate:
        examples: [{ text: Buy milk }]
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [text]
              properties:
                text: { type: string, description: "The text, in Markdown.", minLength: 1 }
      responses: { "201": { description: The note. } }
  /notes/{id}:
    delete:
      operationId: delete_note
      summary: Delete a note
      description: Deletes one note for good.
      x-toolgate:
        examples: [{ id: 7 }]
      parameters:
        - { name: id, in: path, required: true, description: Number of the note., schema: { type: integer } }
      responses: { "204": { description: It is deleted. } }
components:
  securitySchemes:
    key:
      type: apiKey
      in: header
      name: x-api-key
      description: API key
"#;

/// A mistake: its name, what stands in the description, and what stands there instead.
const MISTAKES: &[(&str, &str, &str)] = &[
    // Not a description.
    ("no_version", "openapi: 3.1.0\n", ""),
    ("another_version", "openapi: 3.1.0", "openapi: 4.0.0"),
    (
        "bad_indent",
        "    get:\n      operationId: list_notes",
        "    get:\n   operationId: list_notes",
    ),
    ("tab", "  title: Notes", "\ttitle: Notes"),
    ("no_paths", "paths:", "path:"),
    ("paths_as_list", "paths:\n  /notes:", "paths:\n  - /notes:"),
    ("key_twice", "    post:\n", "    get:\n"),
    // The document's own keys.
    ("service_name", "service: NAME", "service: My-Notes"),
    (
        "unknown_key",
        "  categories: [notes]",
        "  category: [notes]",
    ),
    (
        "key_of_wrong_type",
        "categories: [notes]",
        "categories: notes",
    ),
    ("page_style", "style: page", "style: pages"),
    (
        "operation_not_there",
        "  categories: [notes]",
        "  operations: [list_note]",
    ),
    // Addresses.
    (
        "no_servers",
        "servers:\n  - url: https://api.notes.example.com/v1\n",
        "",
    ),
    ("server_without_tls", "url: https://", "url: http://"),
    (
        "relative_server",
        "url: https://api.notes.example.com/v1",
        "url: /v1",
    ),
    (
        "server_of_own_network",
        "api.notes.example.com/v1",
        "localhost/v1",
    ),
    (
        "undeclared_variable",
        "https://api.notes.example.com",
        "https://{region}.notes.example.com",
    ),
    ("all_hosts", "  categories: [notes]", "  hosts: [\"*.com\"]"),
    // Credentials.
    ("undeclared_scheme", "  - key: []", "  - token: []"),
    (
        "digest",
        "type: apiKey\n      in: header\n      name: x-api-key",
        "type: http\n      scheme: digest",
    ),
    ("key_without_name", "      name: x-api-key\n", ""),
    ("key_in_body", "in: header", "in: body"),
    ("scheme_type", "type: apiKey", "type: apikey"),
    (
        "no_token_url",
        "type: apiKey\n      in: header\n      name: x-api-key",
        "type: oauth2\n      flows: { authorizationCode: { authorizationUrl: https://notes.example.com/auth } }",
    ),
    // Operations.
    (
        "effect",
        "x-toolgate: { paginated: true }",
        "x-toolgate: { effect: reads }",
    ),
    (
        "delete_that_reads",
        "        examples: [{ id: 7 }]",
        "        effect: read",
    ),
    (
        "operation_key",
        "x-toolgate: { paginated: true }",
        "x-toolgate: { pages: true }",
    ),
    (
        "paginated",
        "x-toolgate: { paginated: true }",
        "x-toolgate: { paginated: yes please }",
    ),
    (
        "tool_name",
        "operationId: list_notes\n",
        "operationId: list_notes\n      x-toolgate: { name: List-Notes }\n      x-other:\n",
    ),
    (
        "no_description",
        "      description: Lists notes, newest first, with their texts.\n",
        "",
    ),
    (
        "example_of_no_argument",
        "examples: [{ text: Buy milk }]",
        "examples: [{ txt: Buy milk }]",
    ),
    (
        "example_of_wrong_type",
        "examples: [{ id: 7 }]",
        "examples: [{ id: seven }]",
    ),
    // Arguments.
    (
        "path_without_parameter",
        "  /notes/{id}:",
        "  /notes/{number}:",
    ),
    (
        "reference_to_nothing",
        "schema: { type: integer, minimum: 1, maximum: 100, default: 20 }",
        "schema: { $ref: \"#/components/schemas/Limit\" }",
    ),
    (
        "reference_to_network",
        "schema: { type: string } }",
        "schema: { $ref: \"https://notes.example.com/types.yaml#/Folder\" } }",
    ),
    ("default_over_maximum", "default: 20", "default: 200"),
    (
        "type_of_schema",
        "text: { type: string,",
        "text: { type: txt,",
    ),
    (
        "argument_without_description",
        "description: Number of the note., ",
        "",
    ),
    (
        "body_without_content",
        "        content:\n          application/json:",
        "        contents:\n          application/json:",
    ),
];

/// The description with one mistake.
fn written(name: &str, from: &str, to: &str) -> String {
    assert!(
        GOOD.contains(from),
        "{name}: `{from}` is not in the description"
    );
    GOOD.replacen(from, to, 1).replace("NAME", name)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mistake_in_a_description_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = format!("{name}.yaml");
        std::fs::write(folder.path().join(&file), text).unwrap();
        file
    };
    let mut files = vec![write("good", &GOOD.replace("NAME", "good"))];
    for (name, from, to) in MISTAKES {
        files.push(write(name, &written(name, from, to)));
    }
    let names: BTreeSet<&String> = files.iter().collect();
    assert!(names.len() == files.len() && MISTAKES.len() >= 30);
    let said = said_by(
        Command::new(program())
            .args(["plugin", "check", "--strict"])
            .args(&files)
            .current_dir(folder.path()),
    )
    .await;
    let good = said.lines().next().unwrap_or_default();
    assert!(good.ends_with("3 tools, 0 errors, 0 warnings"), "{said}");
    for file in &files[1..] {
        let mut lines = said.lines();
        let head = lines.find(|line| line.starts_with(file.as_str()));
        let head = head.unwrap_or_else(|| panic!("nothing is said of {file}: {said}"));
        let silent = head.ends_with("0 errors, 0 warnings");
        assert!(!silent, "{file}: {said}");
    }
    insta::assert_snapshot!("description", said);
}
