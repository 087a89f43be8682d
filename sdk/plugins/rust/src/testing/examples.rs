//! Example exchanges: files with what a tool sends, what the service answers, and the result.
//!
//! ```json
//! { "note": "Written from the published description; not a recording.",
//!   "source": "https://docs.example.com/notes#get",
//!   "tool": "get_note", "arguments": { "id": 7 }, "cursor": null,
//!   "config": {}, "connected": ["user"],
//!   "exchanges": [{ "request": { "method": "GET", "url": "https://api.example.com/notes/7" },
//!                   "response": { "status": 200, "body": { "id": 7 } } }],
//!   "result": { "id": 7 }, "next_cursor": null }
//! ```
//!
//! A new example may leave out `result`, `error` and the members of its requests: with
//! `TOOLGATE_EXAMPLES=complete` in the environment the test writes into the file what the plugin
//! sent and answered. Compare that with the published description before you commit the file.
//!
//! In place of `result`, `error` names the members of the tool error that matter (`kind` as the
//! contract spells it). The members of a request are described at [`Exchange`].

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::mock::{Exchange, MockHost};
use crate::error::ToolError;
use crate::output::Output;
use crate::plugin::Plugin;

const KEYS: [&str; 12] = [
    "note",
    "source",
    "tool",
    "arguments",
    "cursor",
    "config",
    "connected",
    "exchanges",
    "result",
    "next_cursor",
    "summary",
    "error",
];

/// Runs every `*.json` of `folder` and demands that each tool of the plugin has an example that
/// succeeds. Panics, as tests do, at the first that differs.
pub fn replay_folder(plugin: &'static Plugin, folder: &str) {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    let mut shown = BTreeSet::new();
    for file in files {
        let (tool, succeeded) = replay(plugin, &file);
        if succeeded {
            shown.insert(tool);
        }
    }
    let missing: Vec<&str> = plugin
        .tools
        .iter()
        .map(|tool| tool.name)
        .filter(|name| !shown.contains(*name))
        .collect();
    assert!(
        missing.is_empty(),
        "no example in {folder} for {}",
        missing.join(", ")
    );
}

fn replay(plugin: &'static Plugin, file: &Path) -> (String, bool) {
    let name = file.display();
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
    let example: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text_of = |key: &str| {
        let found = example.get(key).and_then(Value::as_str);
        found
            .unwrap_or_else(|| panic!("{name}: `{key}` is missing"))
            .to_owned()
    };
    for key in example
        .as_object()
        .into_iter()
        .flat_map(|object| object.keys())
    {
        assert!(KEYS.contains(&key.as_str()), "{name}: unknown key `{key}`");
    }
    text_of("note");
    text_of("source");
    let tool = text_of("tool");

    let mut host = MockHost::new();
    if let Some(config) = example.get("config").and_then(Value::as_object) {
        host.config = config.clone();
    }
    if let Some(slots) = example.get("connected").and_then(Value::as_array) {
        host.connected = Some(
            slots
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
        );
    }
    for exchange in example
        .get("exchanges")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        host.exchanges.push_back(Exchange {
            request: exchange.get("request").cloned().unwrap_or_default(),
            response: exchange.get("response").cloned().unwrap_or_default(),
        });
    }
    let arguments = example
        .get("arguments")
        .cloned()
        .unwrap_or_else(|| json!({}));
    let cursor = example.get("cursor").and_then(Value::as_str);
    let incomplete = example.get("result").or(example.get("error")).is_none();
    if incomplete && std::env::var("TOOLGATE_EXAMPLES").is_ok_and(|mode| mode == "complete") {
        host.recorded = Some(Vec::new());
        let outcome = host.call(plugin, &tool, &arguments, cursor);
        let requests = host.recorded.take().unwrap_or_default();
        return complete(file, example, requests, tool, outcome);
    }
    let outcome = host.call(plugin, &tool, &arguments, cursor);
    match (example.get("result"), example.get("error")) {
        (Some(expected), None) => {
            let output = outcome.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            same(&name, "result", &output.value(), expected);
            let next = output.next_cursor.map_or(Value::Null, Value::from);
            same(
                &name,
                "next_cursor",
                &next,
                example.get("next_cursor").unwrap_or(&Value::Null),
            );
            if let Some(expected) = example.get("summary") {
                let summary = output.summary.map_or(Value::Null, Value::from);
                same(&name, "summary", &summary, expected);
            }
            (tool, true)
        }
        (None, Some(expected)) => {
            let error = match outcome {
                Err(error) => error_to_json(&error),
                Ok(output) => panic!("{name}: expected an error, got {}", output.data),
            };
            for (key, value) in expected.as_object().into_iter().flatten() {
                same(&name, key, &error[key], value);
            }
            (tool, false)
        }
        _ => panic!("{name}: needs either `result` or `error`"),
    }
}

/// Writes what was sent and what came out into the file.
fn complete(
    file: &Path,
    mut example: Value,
    requests: Vec<Value>,
    tool: String,
    outcome: Result<Output, ToolError>,
) -> (String, bool) {
    for (index, request) in requests.into_iter().enumerate() {
        example["exchanges"][index]["request"] = request;
    }
    let succeeded = outcome.is_ok();
    match outcome {
        Ok(output) => {
            example["result"] = output.value();
            if let Some(next) = output.next_cursor {
                example["next_cursor"] = next.into();
            }
        }
        Err(error) => {
            let mut members = error_to_json(&error);
            if let Some(members) = members.as_object_mut() {
                members.retain(|key, value| key != "details" && !value.is_null());
            }
            example["error"] = members;
        }
    }
    let name = file.display();
    let text =
        serde_json::to_string_pretty(&example).unwrap_or_else(|error| panic!("{name}: {error}"));
    std::fs::write(file, text + "\n").unwrap_or_else(|error| panic!("{name}: {error}"));
    (tool, succeeded)
}

fn error_to_json(error: &ToolError) -> Value {
    json!({
        "kind": error.kind.as_str(),
        "code": error.code,
        "message": error.message,
        "retry_after_ms": error.retry_after_ms,
        "http_status": error.http_status,
        "field": error.field,
        "details": error.details,
    })
}

fn same(name: &dyn std::fmt::Display, what: &str, found: &Value, expected: &Value) {
    assert!(
        found == expected,
        "{name}: {what} differs\n   found: {found:#}\nexpected: {expected:#}"
    );
}
