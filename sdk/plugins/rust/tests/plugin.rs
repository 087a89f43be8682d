//! The macros as an author uses them: a small plugin, its manifest, its tools against a mock.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolgate_sdk::prelude::*;
use toolgate_sdk::testing::MockHost;
use toolgate_sdk::webhook::{Delivery, Event};

toolgate_sdk::plugin! {
    service: "notes",
    title: "Notes",
    version: "1.2.3",
    description: "Notes with \"quotes\".",
    hosts: ["api.notes.example"],
    capabilities: ["egress"],
    auth: [
        { slot: "user", title: "Account", type: "oauth2",
          authorize_url: "https://notes.example/authorize", token_url: "https://notes.example/token",
          placement: { header: "authorization", template: "Bearer {secret}" },
          audience: ["https://api.notes.example"] },
        { slot: "key", title: "API key", type: "api_key",
          placement: { header: "x-api-key" }, audience: ["https://api.notes.example"] },
    ],
    webhook: { signature: { header: "x-notes-signature", signed: "{body}" } },
    normalize: inner::changes,
    tools: [create_note, list_notes, delete_notes, inner::status],
}

/// How loud a note is.
#[derive(Args, Clone, Debug, PartialEq)]
enum Level {
    Low,
    #[arg(rename = "HIGH")]
    High,
}

#[derive(Args)]
struct Place {
    /// City.
    city: String,
}

#[derive(Args)]
struct CreateNote {
    /// Folder that the note
    /// goes into.
    #[arg(path, pattern = "^[a-z]+$", max_length = 40)]
    folder: String,
    #[arg(min_length = 1)]
    text: String,
    #[arg(default = "low")]
    level: Level,
    #[arg(default = 1, max = 5)]
    copies: u32,
    #[arg(min = -1.5)]
    weight: Option<f64>,
    place: Option<Place>,
    #[arg(max_items = 3, unique_items)]
    tags: Option<Vec<String>>,
    extra: Option<BTreeMap<String, i64>>,
    r#type: Option<Value>,
}

fn notes(cx: &Context) -> Client<'_> {
    cx.client("https://api.notes.example/v1/")
        .header("accept", "application/json")
}

/// Writes a note.
///
/// Long story.
#[tool(effect = "write", scopes = ["notes:write"], example = { "folder": "work", "text": "hi" })]
fn create_note(args: CreateNote, cx: &Context) -> Result<Value, ToolError> {
    notes(cx)
        .post(path!("/folders/{}/notes", args.folder))
        .json(&args)
        .fetch()
}

#[derive(Args)]
struct ListNotes {
    level: Option<Level>,
}

/// Lists notes.
#[tool(effect = "read", paginated, auth = ["key"],
       trigger = { name: "new_note", title: "New note", description: "A note was written.",
                   arguments: { level: "low" }, items: "", id: ["/id"], time: "/written", order: "newest_first" },
       trigger = { name: "changed_note", title: "Changed note", description: "A note was written or changed.",
                   items: "", id: ["/id", "/changed"], interval_s: 600 })]
fn list_notes(args: ListNotes, cx: &Context) -> Result<Output, ToolError> {
    let page = cx.page_number(1)?;
    let answer = notes(cx)
        .get("/notes")
        .query("level", args.level)
        .query("page", page)
        .send()?;
    let next = answer.next_link().map(|_| (page + 1).to_string());
    Output::page(pick_each(&answer.json()?, &["id"]), next)
}

#[derive(Args)]
struct DeleteNotes {
    folder: Option<String>,
    ids: Option<Vec<String>>,
    #[arg(path)]
    owner: String,
}

/// Deletes notes.
#[tool(effect = "destructive", auth = [])]
fn delete_notes(args: DeleteNotes, cx: &Context) -> Result<Value, ToolError> {
    let request = notes(cx).delete(path!("/owners/{}/notes", args.owner));
    match args.ids {
        Some(ids) => request.query("id", ids).fetch(),
        None => request.query_fields(&args).fetch(),
    }
}

mod inner {
    use toolgate_sdk::prelude::*;
    use toolgate_sdk::webhook::{Delivery, Event};

    pub(crate) fn changes(delivery: &Delivery) -> Result<Vec<Event>, ToolError> {
        let body = delivery.json()?;
        let changes = body["changes"].as_array().into_iter().flatten();
        let event = |change: &Value| Event::new("note.changed", change.clone()).id("c1");
        Ok(changes.map(event).collect())
    }

    /// Whether the service is up.
    #[tool(effect = "read", auth = [])]
    pub(crate) fn status(cx: &Context) -> Result<&'static str, ToolError> {
        super::notes(cx).get("/status").send()?;
        Ok("up")
    }
}

#[test]
fn the_manifest_is_what_was_written() {
    let manifest: Value = serde_json::from_str(MANIFEST).expect("the manifest is JSON");
    assert_eq!(manifest["version"], "1.2.3");
    assert_eq!(manifest["description"], "Notes with \"quotes\".");
    assert_eq!(
        manifest["auth"][1]["placement"],
        json!({"header": "x-api-key"})
    );
    let tools = manifest["tools"].as_array().expect("tools");
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(
        names,
        ["create_note", "list_notes", "delete_notes", "status"]
    );
    assert_eq!(tools[0]["title"], "Create note");
    assert_eq!(tools[0]["description"], "Writes a note.\n\nLong story.");
    assert_eq!(tools[0]["auth"], json!(["user", "key"]));
    assert_eq!(tools[0]["scopes"], json!(["notes:write"]));
    assert_eq!(
        tools[0]["examples"],
        json!([{"folder": "work", "text": "hi"}])
    );
    assert_eq!(tools[1]["auth"], json!(["key"]));
    assert_eq!(tools[1]["paginated"], true);
    assert_eq!(
        tools[1]["triggers"],
        json!([
            { "name": "new_note", "title": "New note", "description": "A note was written.",
              "arguments": { "level": "low" }, "items": "", "id": ["/id"], "time": "/written",
              "order": "newest_first" },
            { "name": "changed_note", "title": "Changed note",
              "description": "A note was written or changed.", "items": "",
              "id": ["/id", "/changed"], "interval_s": 600 },
        ])
    );
    assert_eq!(tools[0].get("triggers"), None);
    assert_eq!(tools[3].get("auth"), None);
}

#[test]
fn types_become_schemas() {
    let manifest: Value = serde_json::from_str(MANIFEST).expect("the manifest is JSON");
    assert_eq!(
        manifest["tools"][0]["input"],
        json!({
            "type": "object",
            "properties": {
                "folder": { "description": "Folder that the note goes into.", "type": "string",
                            "pattern": "^[a-z]+$", "maxLength": 40 },
                "text": { "type": "string", "minLength": 1 },
                "level": { "type": "string", "enum": ["low", "HIGH"], "default": "low" },
                "copies": { "type": "integer", "minimum": 0, "maximum": 5, "default": 1 },
                "weight": { "type": "number", "minimum": -1.5 },
                "place": { "type": "object", "additionalProperties": false, "required": ["city"],
                           "properties": { "city": { "description": "City.", "type": "string" } } },
                "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 3,
                          "uniqueItems": true },
                "extra": { "type": "object", "additionalProperties": { "type": "integer" } },
                "type": { "type": ["object", "array", "string", "number", "boolean", "null"] }
            },
            "required": ["folder", "text"],
            "additionalProperties": false
        })
    );
    let paged = &manifest["tools"][1]["input"]["properties"];
    assert_eq!(paged["cursor"]["type"], "string");
    assert_eq!(manifest["tools"][3]["input"]["properties"], json!({}));
}

#[test]
fn a_path_argument_stays_out_of_the_body_and_a_default_goes_in() {
    let mut host = MockHost::new().exchange(
        json!({ "method": "POST", "url": "https://api.notes.example/v1/folders/work/notes",
                "auth": "user", "headers": { "accept": "application/json" },
                "body": { "text": "hi", "level": "low", "copies": 1, "place": { "city": "Rome" } } }),
        json!({ "status": 201, "body": { "id": 1 } }),
    );
    let arguments = json!({ "folder": "work", "text": "hi", "place": { "city": "Rome" } });
    let output = host
        .call(&PLUGIN, "create_note", &arguments, None)
        .expect("created");
    assert_eq!(output.value(), json!({ "id": 1 }));
}

#[test]
fn the_first_connected_slot_is_used() {
    for (connected, slot) in [
        (&["key"][..], "key"),
        (&["user", "key"], "user"),
        (&[], "user"),
    ] {
        let mut host = MockHost::new().connected(connected).exchange(
            json!({ "auth": slot, "body": { "text": "x", "level": "HIGH", "copies": 2 } }),
            json!({}),
        );
        let arguments = json!({ "folder": "a", "text": "x", "level": "HIGH", "copies": 2 });
        host.call(&PLUGIN, "create_note", &arguments, None)
            .expect("answered");
    }
}

#[test]
fn a_page_follows_the_cursor_from_either_place() {
    let next = json!({ "link": "<https://api.notes.example/v1/notes?page=3>; rel=\"next\"" });
    for (arguments, cursor) in [(json!({ "cursor": "2" }), None), (json!({}), Some("2"))] {
        let mut host = MockHost::new().exchange(
            json!({ "auth": "key", "query": { "page": "2" } }),
            json!({ "headers": next, "body": [{ "id": 4, "more": true }] }),
        );
        let output = host
            .call(&PLUGIN, "list_notes", &arguments, cursor)
            .expect("a page");
        assert_eq!(output.value(), json!([{ "id": 4 }]));
        assert_eq!(output.next_cursor.as_deref(), Some("3"));
    }
}

#[test]
fn what_the_schema_forbids_is_refused_by_the_type_too() {
    for (tool, arguments) in [
        ("create_note", json!({ "folder": "a" })),
        (
            "create_note",
            json!({ "folder": "a", "text": "x", "unknown": 1 }),
        ),
        (
            "create_note",
            json!({ "folder": "a", "text": "x", "level": "loud" }),
        ),
        ("create_note", json!({ "folder": "..", "text": "x" })),
        ("list_notes", json!({ "cursor": "not a page" })),
    ] {
        let error = MockHost::new()
            .call(&PLUGIN, tool, &arguments, None)
            .expect_err("refused");
        assert_eq!(error.kind, ErrorKind::InvalidArguments, "{arguments}");
    }
}

/// What would have chosen vanishes, and everything would be deleted.
#[test]
fn a_delete_that_does_not_say_what_is_not_sent() {
    for (arguments, field) in [
        (json!({ "owner": "" }), None),
        (json!({ "owner": "ada", "ids": [] }), Some("/id")),
        (json!({ "owner": "ada", "ids": ["", ""] }), Some("/id")),
        (json!({ "owner": "ada", "folder": "" }), Some("/folder")),
    ] {
        let error = MockHost::new()
            .call(&PLUGIN, "delete_notes", &arguments, None)
            .expect_err("refused before anything is sent");
        assert_eq!(error.kind, ErrorKind::InvalidArguments, "{arguments}");
        let found = error.field.as_deref().filter(|field| !field.is_empty());
        assert_eq!(found, field, "{arguments}");
    }
    let mut host = MockHost::new().exchange(
        json!({ "method": "DELETE", "query": { "id": ["a", "b"] } }),
        json!({ "status": 204 }),
    );
    let arguments = json!({ "owner": "ada", "ids": ["a", "b"] });
    host.call(&PLUGIN, "delete_notes", &arguments, None)
        .expect("deleted");
}

#[test]
fn a_provider_error_is_a_tool_error() {
    let mut host = MockHost::new().exchange(
        json!({ "method": "GET", "auth": null }),
        json!({ "status": 503, "headers": { "retry-after": "2" }, "body": { "message": "Busy" } }),
    );
    let error = host
        .call(&PLUGIN, "status", &json!({}), None)
        .expect_err("busy");
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert_eq!(
        (error.message.as_str(), error.retry_after_ms),
        ("Busy", Some(2000))
    );
}

#[test]
#[should_panic(expected = "expected \"https://elsewhere.example\"")]
fn the_mock_notices_another_request() {
    let mut host =
        MockHost::new().exchange(json!({ "url": "https://elsewhere.example" }), json!({}));
    let _ = host.call(&PLUGIN, "status", &json!({}), None);
}

#[test]
#[should_panic(expected = "never sent")]
fn the_mock_notices_a_missing_request() {
    let mut host = MockHost::new()
        .exchange(json!({}), json!({}))
        .exchange(json!({ "url": "https://a.example" }), json!({}));
    let _ = host.call(&PLUGIN, "status", &json!({}), None);
}

#[test]
fn a_delivery_is_read_by_the_function_that_was_named() {
    let manifest: Value = serde_json::from_str(MANIFEST).expect("the manifest is JSON");
    assert_eq!(
        manifest["webhook"],
        json!({"signature": {"header": "x-notes-signature", "signed": "{body}"}})
    );
    assert_eq!(manifest.get("normalize"), None);
    let none: [(&str, &str); 0] = [];
    let read = |body: &str| PLUGIN.normalize(&Delivery::new(none, body));
    let events = read(r#"{"changes": [{"id": 7}]}"#).expect("it can be read");
    assert_eq!(
        events,
        [Event::new("note.changed", json!({"id": 7})).id("c1")]
    );
    assert_eq!(read("{}").expect("it can be read"), []);
    assert!(read("{").is_err());
}
