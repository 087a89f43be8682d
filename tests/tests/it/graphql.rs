//! A GraphQL server becomes a plugin: queries and mutations as tools, pages, and errors beside data.

use serde_json::{Value, json};
use toolgate_tests::gateway::{Options, TestGateway, configure};
use toolgate_tests::graphql::GraphqlServer;
use toolgate_tests::process::Installation;

/// In the form of the server's own schema.
const SCHEMA: &str = "\"\"\"Notes.\"\"\"\n\
    type Query { note(id: ID!): Note }\n\
    type Note { id: ID! name: String! }\n";

/// A gateway with the plugin that the program builds of the server.
async fn gateway_of(server: &GraphqlServer) -> (TestGateway, Value) {
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let endpoint = server.endpoint();
    let built = [
        "plugin",
        "build",
        "--graphql",
        &endpoint,
        "--service",
        "notes",
    ];
    let report = installation.run(&built).await;
    let file = folder.path().join("notes.wasm");
    let checked = installation
        .run(&["plugin", "check", &file.display().to_string()])
        .await;
    assert_eq!(checked[0]["errors"], json!([]), "{checked}");
    let gateway = TestGateway::start(Options {
        plugins: vec![("notes.wasm".to_owned(), std::fs::read(&file).unwrap())],
        ..Options::default()
    })
    .await;
    gateway.wait_for_file("notes.wasm", "active").await;
    let set = [("api_base".to_owned(), server.origin())];
    configure(&gateway.gateway, "notes", &set).await.unwrap();
    (gateway, report)
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_and_mutations_of_a_real_server_are_tools() {
    let server = GraphqlServer::start(false).await.unwrap();
    let (gateway, report) = gateway_of(&server).await;
    assert_eq!(report["tools"], 5, "{report}");
    let notes = report["notes"].to_string();
    for said in ["scalar `Json`", "1 deprecated", "api_base="] {
        assert!(notes.contains(said), "{said}: {notes}");
    }

    let first = gateway
        .execute(
            "notes_list_notes",
            json!({ "first": 2, "filter": { "tag": "shop" } }),
        )
        .await;
    assert_eq!(first["status"], "success", "{first}");
    assert_eq!(first["result"]["totalCount"], 3, "{first}");
    assert_eq!(first["result"]["nodes"][0]["folder"]["name"], "Home");
    assert_eq!(first["result"].get("pageInfo"), None, "{first}");
    // `secret` of the second note is an error beside the data.
    assert!(first.to_string().contains("not for you"), "{first}");
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = gateway
        .execute("notes_list_notes", json!({ "first": 2, "cursor": cursor }))
        .await;
    assert_eq!(second["result"]["nodes"][0]["name"], "Tea", "{second}");
    assert_eq!(second["next_cursor"], Value::Null, "{second}");
    // The server refuses a page without a number of items.
    let unnumbered = gateway.execute("notes_list_notes", json!({})).await;
    assert_eq!(unnumbered["result"]["totalCount"], 3, "{unnumbered}");

    let found = gateway
        .execute("notes_search", json!({ "text": "Tea" }))
        .await;
    let kinds: Vec<&Value> = found["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["__typename"])
        .collect();
    assert_eq!(kinds, [&json!("Note"), &json!("Folder")], "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_errors_and_a_mutation_is_a_write() {
    let server = GraphqlServer::start(false).await.unwrap();
    let (gateway, _) = gateway_of(&server).await;
    let missing = gateway
        .execute("notes_get_note", json!({ "id": "n9" }))
        .await;
    assert_eq!(missing["status"], "error", "{missing}");
    assert_eq!(missing["reason"], "provider_error", "{missing}");
    assert_eq!(missing["error"]["code"], "NOT_FOUND", "{missing}");
    assert_eq!(missing["error"]["message"], "No note n9.", "{missing}");

    let effects = async |tool: &str| {
        let schema = gateway.get(&format!("/v1/tools/{tool}/schema")).await;
        let marks = schema.data()["annotations"].clone();
        (
            marks["readOnlyHint"].clone(),
            marks["destructiveHint"].clone(),
        )
    };
    assert_eq!(effects("notes_get_note").await.0, true);
    assert_eq!(effects("notes_note_create").await.0, false);
    assert_eq!(effects("notes_note_delete").await.1, true);
    // The fields of the only input object are the tool's arguments.
    let created = gateway
        .execute(
            "notes_note_create",
            json!({ "name": "Jam", "extra": { "a": [1] } }),
        )
        .await;
    assert_eq!(created["result"]["note"]["name"], "Jam", "{created}");
    assert_eq!(created["result"]["note"]["extra"], json!({ "a": [1] }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_introspection_is_built_from_its_schema() {
    let server = GraphqlServer::start(true).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let installation = Installation::new(folder.path(), &[]);
    let endpoint = server.endpoint();
    let said = installation
        .refused(&["plugin", "build", "--graphql", &endpoint])
        .await;
    assert!(said.contains("introspection has been disabled"), "{said}");
    assert!(said.contains("--endpoint"), "{said}");

    let file = folder.path().join("schema.graphql").display().to_string();
    std::fs::write(&file, SCHEMA).unwrap();
    let said = installation
        .refused(&["plugin", "build", "--graphql", &file])
        .await;
    assert!(said.contains("--endpoint"), "{said}");
    let said = installation.refused(&["plugin", "build", &file]).await;
    assert!(said.contains("is a GraphQL schema"), "{said}");
    let public = "https://api.notes.io/graphql";
    let build = ["plugin", "build", "--graphql", &file, "--endpoint", public];
    let report = installation
        .run(&[&build[..], &["--auth", "bearer", "--only", "note"]].concat())
        .await;
    assert_eq!(
        (&report["service"], &report["tools"]),
        (&json!("notes"), &json!(1))
    );
    let said = installation
        .refused(&[&build[..], &["--only", "absent"]].concat())
        .await;
    assert!(said.contains("`absent` is neither"), "{said}");
}
