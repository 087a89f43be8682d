//! Descriptions of other kinds, from the file to the manifest.

use serde_json::{Value, json};
use toolgate_catalog::manifest::{AuthKind, Effect};

use crate::{BuildInput, Described, describe};

fn described(document: &Value) -> Described {
    let folder = tempfile::tempdir().expect("a folder");
    let description = folder.path().join("description.json");
    std::fs::write(&description, document.to_string()).expect("written");
    describe(&BuildInput {
        description,
        ..BuildInput::default()
    })
    .expect("a plugin")
}

fn tools(made: &Described) -> Vec<(&str, Effect)> {
    let tools = made.manifest.tools.iter();
    tools
        .map(|tool| (tool.name.as_str(), tool.effect))
        .collect()
}

/// In the form of <https://tasks.googleapis.com/$discovery/rest?version=v1>, shortened.
#[test]
fn a_discovery_document_becomes_a_plugin() {
    let scope = "https://www.googleapis.com/auth/tasks";
    let readonly = "https://www.googleapis.com/auth/tasks.readonly";
    let list = json!({"type": "string", "location": "path", "required": true, "description": "Task list identifier."});
    let made = described(&json!({
        "kind": "discovery#restDescription", "name": "tasks", "version": "v1", "title": "Tasks",
        "description": "The Google Tasks API lets you manage your tasks and task lists.",
        "rootUrl": "https://tasks.googleapis.com/", "servicePath": "",
        "auth": {"oauth2": {"scopes": {scope: {"description": "Create and edit"}, readonly: {"description": "View"}}}},
        "schemas": {"Task": {"id": "Task", "type": "object", "properties": {
            "title": {"type": "string"}, "etag": {"type": "string", "readOnly": true}}}},
        "resources": {"tasks": {"methods": {
            "list": {"id": "tasks.tasks.list", "path": "tasks/v1/lists/{tasklist}/tasks", "httpMethod": "GET",
                "description": "Returns all tasks in the specified task list.",
                "parameters": {"tasklist": list, "maxResults": {"type": "integer", "location": "query", "default": "20"}},
                "scopes": [scope, readonly]},
            "insert": {"id": "tasks.tasks.insert", "path": "tasks/v1/lists/{tasklist}/tasks", "httpMethod": "POST",
                "description": "Creates a new task on the specified task list.",
                "parameters": {"tasklist": list}, "request": {"$ref": "Task"}, "scopes": [scope]},
            "delete": {"id": "tasks.tasks.delete", "path": "tasks/v1/lists/{tasklist}/tasks/{task}", "httpMethod": "DELETE",
                "description": "Deletes the specified task.", "scopes": [scope],
                "parameters": {"tasklist": list, "task": {"type": "string", "location": "path", "required": true}}}}}},
    }));
    assert_eq!(made.manifest.hosts, ["tasks.googleapis.com"]);
    let effects: Vec<Effect> = tools(&made).iter().map(|(_, effect)| *effect).collect();
    assert_eq!(effects, [Effect::Read, Effect::Write, Effect::Destructive]);
    assert_eq!(made.manifest.auth[0].kind, AuthKind::Oauth2);
    assert_eq!(made.manifest.tools[0].scopes, [readonly]);
    let arguments = made.manifest.tools[1].input.value();
    let names: Vec<&String> = arguments["properties"]
        .as_object()
        .expect("fields")
        .keys()
        .collect();
    assert_eq!(names, ["tasklist", "title"]);
}

/// In the form of <https://learning.postman.com/collection-format/getting-started/structure-of-a-collection/>.
#[test]
fn a_postman_collection_becomes_a_plugin() {
    let schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
    let made = described(&json!({
        "info": {"name": "Parcels", "schema": schema, "description": "Parcels and where they are."},
        "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "PLANTED", "type": "string"}]},
        "variable": [{"key": "baseUrl", "value": "https://api.parcels.io/v1"}],
        "item": [
            {"name": "List parcels", "request": {"method": "GET", "url": {"raw": "{{baseUrl}}/parcels?status=open",
                "query": [{"key": "status", "value": "open", "description": "Which ones."}]}}},
            {"name": "Delete a parcel", "request": {"method": "DELETE", "url": "{{baseUrl}}/parcels/:parcelId"}},
        ],
    }));
    assert_eq!(made.manifest.service, "parcels");
    assert_eq!(made.manifest.hosts, ["api.parcels.io"]);
    assert_eq!(
        tools(&made),
        [
            ("list_parcels", Effect::Read),
            ("delete_a_parcel", Effect::Destructive)
        ]
    );
    assert_eq!(made.manifest.auth[0].kind, AuthKind::Bearer);
    assert!(!made.manifest_json.contains("PLANTED"));
}

/// In the form of the examples of <https://spec.openapis.org/oas/v3.2.0.html>.
#[test]
fn openapi_3_2_becomes_a_plugin_and_its_new_methods_are_noted() {
    let made = described(&json!({
        "openapi": "3.2.0", "info": {"title": "Events", "version": "1.0.0"},
        "servers": [{"url": "https://api.events.io", "name": "production"}],
        "tags": [{"name": "all", "kind": "nav"}, {"name": "open", "parent": "all"}],
        "paths": {"/events": {
            "get": {"operationId": "list_events", "tags": ["open"], "parameters": [
                {"name": "all", "in": "querystring", "content": {"application/x-www-form-urlencoded":
                    {"schema": {"type": "object", "properties": {"since": {"type": "string"}}}}}}],
                "responses": {"200": {"description": "Events", "content": {"application/jsonl": {"itemSchema": {"type": "object"}}}}}},
            "query": {"operationId": "ask_events", "responses": {"200": {"description": "Events"}}}}},
    }));
    assert_eq!(tools(&made), [("list_events", Effect::Read)]);
    let arguments = made.manifest.tools[0].input.value();
    assert!(arguments["properties"]["since"].is_object(), "{arguments}");
    let left_out = made.notes.iter().find(|note| note.left_out);
    let left_out = left_out.expect("a note");
    assert!(left_out.message.contains("QUERY"), "{left_out}");
    assert!(
        made.notes
            .iter()
            .any(|note| note.message.contains("stream"))
    );
}
