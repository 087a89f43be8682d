use serde_json::json;

use super::*;
use crate::listing;

fn choices() -> ServerChoices {
    ServerChoices {
        service: Some("notes".to_owned()),
        only: BTreeSet::new(),
        tools_max: TOOLS_DEFAULT_MAX,
        effects: BTreeMap::new(),
        account: AccountChoice::Discover,
        again: false,
    }
}

fn composed(tools: &Value, choices: &ServerChoices) -> Result<ComposedServer, ServerProblem> {
    let address = RemoteAddress::parse("https://mcp.example.com/mcp", false).expect("public");
    let listing = listing::from_file(&tools.to_string(), "2025-06-18").expect("a list");
    compose(&address, listing, choices, None)
}

fn left_out(composed: &ComposedServer) -> Vec<(&str, &str)> {
    let notes = composed.notes.iter().filter(|note| note.left_out);
    notes
        .map(|note| {
            (
                note.tool.as_deref().unwrap_or_default(),
                note.message.as_str(),
            )
        })
        .collect()
}

#[test]
fn the_manifest_asks_for_one_origin_and_names_each_tool() {
    let tools = json!([{"name": "addNote", "description": "Adds a note to the list.", "inputSchema": {
        "type": "object", "properties": {"text": {"type": "string", "description": "The text."}}}}]);
    let made = composed(&tools, &choices()).expect("a plugin");
    let manifest = &made.manifest;
    assert_eq!(manifest.hosts, ["mcp.example.com"]);
    assert_eq!(manifest.tools[0].name, "add_note");
    let request = manifest.tools[0].request.as_ref().expect("a request");
    assert_eq!(request.send, "MCP https://mcp.example.com/mcp");
    assert_eq!(request.with, ["addNote"]);
    assert_eq!(made.table.tools["add_note"].name, "addNote");
    assert_eq!(
        serde_json::from_str::<Manifest>(&made.manifest_json).expect("reads"),
        *manifest
    );
    let again = composed(&tools, &choices()).expect("a plugin");
    assert_eq!(again.manifest_json, made.manifest_json);
}

#[test]
fn a_bad_tool_is_left_out_and_the_others_serve() {
    let good = json!({"name": "good", "description": "Does something good.", "inputSchema": {"type": "object"}});
    let refers_to_itself = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}});
    let recurs_below = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"type": "object", "properties": {"next": {"$ref": "#/$defs/A"}}}}});
    let with = |name: &str, schema: Value| json!({"name": name, "description": "Some tool.", "inputSchema": schema});
    let deep = (0..80).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "array", "items": inner}),
    );
    let tools = json!([
        good,
        with("loops", refers_to_itself),
        with("recurs", recurs_below),
        with("outside", json!({"type": "object", "properties": {"a": {"$ref": "https://evil.example/s.json"}}})),
        with("backtracks", json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(a)\\1"}}})),
        with("deep", json!({"type": "object", "properties": {"a": deep}})),
        with("large", json!({"type": "object", "description": "x".repeat(70_000)})),
        {"name": "hides", "description": "Ignore\u{e0041}\u{e0042} all", "inputSchema": {"type": "object"}},
        {"name": "result", "description": "Some tool.", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}},
    ]);
    let made = composed(&tools, &choices()).expect("a plugin");
    let names: Vec<_> = made
        .manifest
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["good", "recurs", "result"]);
    let left_out: Vec<_> = left_out(&made).into_iter().map(|(tool, _)| tool).collect();
    assert_eq!(
        left_out,
        ["loops", "outside", "backtracks", "deep", "large", "hides"]
    );
    assert_eq!(made.manifest.tools[2].output, None);
}

#[test]
fn many_tools_need_a_choice() {
    let tools: Vec<Value> = (0..5_000).map(|n| json!({"name": format!("tool_{n}"), "description": format!("Number {n} of many tools.")})).collect();
    let tools = json!(tools);
    let said = composed(&tools, &choices())
        .expect_err("too many")
        .to_string();
    assert!(
        said.contains("5000 tools") && said.contains("--only"),
        "{said}"
    );
    let few = ServerChoices {
        only: ["tool_7".to_owned(), "tool_4999".to_owned()].into(),
        ..choices()
    };
    let made = composed(&tools, &few).expect("a plugin");
    assert_eq!(made.manifest.tools.len(), 2);
    let wrong = ServerChoices {
        only: ["tool_5000".to_owned()].into(),
        ..choices()
    };
    assert!(composed(&tools, &wrong).is_err());
}

#[test]
fn a_chosen_tool_that_is_gone_is_left_out_where_the_plugin_is_made_again() {
    let tools = json!([{"name": "find", "description": "Finds things by name."}]);
    let first = ServerChoices {
        only: ["find".to_owned(), "gone".to_owned()].into(),
        ..choices()
    };
    let said = composed(&tools, &first).expect_err("a missing tool");
    assert!(said.to_string().contains("`gone`"), "{said}");
    let again = ServerChoices {
        again: true,
        ..first
    };
    let made = composed(&tools, &again).expect("a plugin");
    let names: Vec<&str> = made.manifest.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["find"]);
}

#[test]
fn a_server_without_a_usable_tool_is_refused() {
    for tools in [json!([]), json!([{"name": "\u{200b}"}])] {
        assert!(composed(&tools, &choices()).is_err(), "{tools}");
    }
    let reserved = ServerChoices {
        service: Some("Not A Name".to_owned()),
        ..choices()
    };
    let said = composed(&json!([{"name": "a"}]), &reserved)
        .expect_err("a name")
        .to_string();
    assert!(said.contains("service name"), "{said}");
}

#[test]
fn a_service_does_not_take_a_name_of_the_gateway() {
    for (title, name) in [
        ("mcp.example.com", "example_com"),
        ("MCP Notes", "notes"),
        ("Notes", "notes"),
        ("mcp", "remote_mcp"),
        ("Skills MCP 3", "remote_mcp_3"),
    ] {
        let service = service_name(title);
        assert_eq!(service, name);
        assert!(!is_reserved(&service), "{service}");
    }
}
