//! The effect of operations that declare none, and the notes about it.

use serde_json::{Value, json};
use toolgate_catalog::manifest::{Effect, ToolSpec};

use crate::{BuildInput, Described, describe};

fn built(paths: &Value) -> Described {
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "Demo", "version": "1.0.0"},
        "servers": [{"url": "https://api.goodsvc.com"}],
        "x-toolgate": {"service": "demo"}, "paths": paths,
    });
    let folder = tempfile::tempdir().expect("a folder");
    let description = folder.path().join("openapi.json");
    std::fs::write(&description, document.to_string()).expect("written");
    describe(&BuildInput {
        description,
        ..BuildInput::default()
    })
    .expect("a plugin")
}

/// The tool of one operation, and the notes that ask for its effect.
fn decided(method: &str, path: &str, operation: Value) -> (ToolSpec, Vec<String>) {
    let mut operation = operation;
    operation["responses"] = json!({"200": {"description": "ok"}});
    let mut made = built(&json!({path: {method: operation}}));
    let notes = made.notes.into_iter().map(|note| note.message);
    let notes = notes.filter(|note| note.contains("x-toolgate: { effect"));
    (made.manifest.tools.remove(0), notes.collect())
}

fn named(id: &str) -> Value {
    json!({"operationId": id})
}

#[test]
fn a_get_with_a_changing_verb_is_not_a_read_and_a_note_says_why() {
    for (path, operation, effect, why) in [
        (
            "/logout",
            named("logout"),
            Effect::Write,
            "`logout` in the name",
        ),
        (
            "/delete",
            named("deleteRecord"),
            Effect::Destructive,
            "`delete` in the name",
        ),
        (
            "/unsubscribe",
            named("unsubscribe"),
            Effect::Write,
            "`unsubscribe` in the name",
        ),
        (
            "/v1/session/terminate",
            json!({}),
            Effect::Destructive,
            "`terminate` in the path",
        ),
        (
            "/api/users.delete",
            json!({}),
            Effect::Destructive,
            "`delete` in the path",
        ),
        (
            "/index.php?action=delete",
            named("page"),
            Effect::Destructive,
            "`delete` in the query",
        ),
        (
            "/things/{id}",
            named("getAndLock"),
            Effect::Write,
            "`lock` in the name",
        ),
        (
            "/scan",
            json!({"summary": "Stop a scan"}),
            Effect::Write,
            "`stop` in the summary",
        ),
        (
            "/page",
            json!({"operationId": "getPage", "x-toolgate": {"query": {"cmd": "reboot"}}}),
            Effect::Write,
            "`reboot` in the query",
        ),
        (
            "/page",
            json!({"operationId": "getPage", "x-toolgate": {"name": "purge_cache"}}),
            Effect::Destructive,
            "`purge` in the name",
        ),
    ] {
        let (tool, notes) = decided("get", path, operation.clone());
        assert_eq!(tool.effect, effect, "{path} {operation}");
        assert_eq!(notes.len(), 1, "{path} {operation}: {notes:?}");
        assert!(notes[0].contains(why), "{path} {operation}: {notes:?}");
    }
}

#[test]
fn a_declared_effect_wins_without_a_note() {
    let operation = json!({"operationId": "deleteRecord", "x-toolgate": {"effect": "read"}});
    let (tool, notes) = decided("get", "/delete", operation);
    assert_eq!((tool.effect, notes), (Effect::Read, Vec::new()));
    let operation = json!({"operationId": "getAndLock", "x-toolgate": {"effect": "write"}});
    let (tool, notes) = decided("post", "/x", operation);
    assert_eq!((tool.effect, notes), (Effect::Write, Vec::new()));
}

#[test]
fn a_get_that_only_names_things_is_a_read_without_a_note() {
    for (path, id) in [
        ("/send_limits", "sendLimits"),
        ("/items/deleted", "listDeletedItems"),
        ("/users/{id}", "getUser"),
        ("/orders", "orders"),
        ("/updates", "updates"),
    ] {
        let (tool, notes) = decided("get", path, named(id));
        assert_eq!((tool.effect, notes), (Effect::Read, Vec::new()), "{path}");
    }
}

#[test]
fn a_post_is_a_read_only_if_every_verb_of_its_names_reads() {
    for (path, id) in [
        ("/x", "searchAndReplace"),
        ("/x", "getOrCreate"),
        ("/x", "checkOut"),
        ("/x", "findOneAndUpdate"),
        ("/users/delete/search", "searchUsers"),
        ("/x", "createSearch"),
        ("/search", "post"),
    ] {
        let (tool, _) = decided("post", path, named(id));
        assert_ne!(tool.effect, Effect::Read, "{path} {id}");
        assert!(tool.queries.is_empty(), "{path} {id}");
    }
    let (tool, notes) = decided("post", "/search", named("searchUsers"));
    assert_eq!(tool.effect, Effect::Read);
    assert_eq!(tool.queries, ["POST https://api.goodsvc.com/search"]);
    assert!(
        notes[0].contains("every verb in `searchUsers` reads"),
        "{notes:?}"
    );
    let (tool, notes) = decided("post", "/x", named("users_remove"));
    assert_eq!(tool.effect, Effect::Destructive);
    assert!(notes[0].contains("`remove` in the name"), "{notes:?}");
    let (tool, notes) = decided("delete", "/x", named("x"));
    assert_eq!((tool.effect, notes), (Effect::Destructive, Vec::new()));
}

#[test]
fn an_argument_that_is_a_statement_makes_a_call_destructive_unless_it_is_bounded() {
    let query = |name: &str, schema: Value, text: &str| {
        json!({"operationId": "query", "description": "Runs a query.", "parameters": [
            {"name": name, "in": "query", "description": text, "schema": schema}
        ]})
    };
    let text = || json!({"type": "string"});
    let (tool, notes) = decided(
        "get",
        "/query",
        query("q", text(), "A statement of InfluxQL."),
    );
    assert_eq!(tool.effect, Effect::Destructive);
    assert!(
        notes[0].contains("`q` is a statement of InfluxQL"),
        "{notes:?}"
    );
    let (tool, _) = decided("get", "/query", query("sql", text(), ""));
    assert_eq!(tool.effect, Effect::Destructive);

    let bounded = json!({"type": "string", "pattern": "^SHOW [A-Z ]+$"});
    let (tool, notes) = decided("get", "/query", query("sql", bounded, ""));
    assert_eq!((tool.effect, notes), (Effect::Read, Vec::new()));
    let (tool, notes) = decided("get", "/query", query("q", text(), "Words to find."));
    assert_eq!((tool.effect, notes), (Effect::Read, Vec::new()));

    let schema =
        json!({"type": "object", "properties": {"query": text(), "variables": {"type": "object"}}});
    let graphql = json!({
        "operationId": "queryGraph", "description": "Runs a GraphQL document.",
        "requestBody": {"content": {"application/json": {"schema": schema}}},
    });
    let (tool, _) = decided("post", "/graphql", graphql);
    assert_eq!(tool.effect, Effect::Destructive);
    assert!(tool.queries.is_empty());

    let body = |media: &str| {
        json!({
            "operationId": "queryTables",
            "requestBody": {"content": {media: {"schema": {"type": "string"}}}},
        })
    };
    for media in [
        "application/sql",
        "application/vnd.flux; charset=utf-8",
        "application/graphql",
    ] {
        let (tool, notes) = decided("post", "/query", body(media));
        assert_eq!(tool.effect, Effect::Destructive, "{media}");
        assert!(notes[0].contains("the body is a statement"), "{notes:?}");
    }
    let (tool, _) = decided("post", "/query", body("text/plain"));
    assert_eq!(tool.effect, Effect::Read);

    // A write that runs a statement can also destroy; one that keeps a script cannot.
    let schema = json!({"type": "object", "properties": {"sql": text(), "script": text()}});
    for (id, effect) in [
        ("executeSql", Effect::Destructive),
        ("run_statement", Effect::Destructive),
        ("createScript", Effect::Write),
    ] {
        let operation = json!({
            "operationId": id,
            "requestBody": {"content": {"application/json": {"schema": schema}}},
        });
        let (tool, _) = decided("post", "/x", operation);
        assert_eq!(tool.effect, effect, "{id}");
    }
}
