//! The triggers that the shipped plugins declare, on the results of their example exchanges.
//!
//! That each example's result is what its exchanges give is shown by the plugins' own tests.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgate_catalog::manifest::ToolSpec;
use toolgate_openapi::BuildInput;

/// Events that people use, at least.
const TRIGGERS_MIN: usize = 25;

/// Descriptions of shipped plugins that declare triggers.
fn descriptions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let plugins = std::fs::read_dir(folder).unwrap();
    let mut found: Vec<PathBuf> = plugins
        .map(|entry| entry.unwrap().path().join("openapi.yaml"))
        .filter(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.lines().any(|line| line.trim() == "triggers:")
        })
        .collect();
    found.sort();
    found
}

/// Results of a tool's examples.
fn results(folder: &Path, tool: &str) -> Vec<Value> {
    let examples = std::fs::read_dir(folder.join("examples")).unwrap();
    let read = examples.map(|entry| {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    });
    let of_tool = read.filter(|example| example["tool"] == tool && !example["result"].is_null());
    of_tool
        .map(|mut example| example["result"].take())
        .collect()
}

/// What is wrong with a tool's triggers.
fn problems(service: &str, folder: &Path, tool: &ToolSpec) -> Vec<String> {
    let results = results(folder, &tool.name);
    let mut found = Vec::new();
    for trigger in &tool.triggers {
        let name = format!("{service}.{}", trigger.name);
        let listed = results.iter().filter_map(|result| {
            let items = result.pointer(&trigger.items)?.as_array()?;
            (!items.is_empty()).then_some(items)
        });
        let listed: Vec<&Value> = listed.flatten().collect();
        if listed.is_empty() {
            found.push(format!("{name}: no example of {} lists items", tool.name));
        }
        let id = |item: &&&Value| {
            let first = item.pointer(&trigger.id[0]);
            first.is_some_and(|id| id.is_string() || id.is_number())
        };
        let with_id = listed.iter().filter(id).count();
        if with_id != listed.len() {
            found.push(format!(
                "{name}: {with_id} of {} items have an id",
                listed.len()
            ));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn every_shipped_trigger_finds_items_with_ids_in_the_examples_of_its_tool() {
    let (mut triggers, mut found) = (0, Vec::new());
    for description in descriptions() {
        let folder = description.parent().unwrap().to_owned();
        let input = BuildInput {
            description,
            ..BuildInput::default()
        };
        let described = tokio::task::spawn_blocking(move || toolgate_openapi::describe(&input));
        let manifest = described.await.unwrap().unwrap().manifest;
        for tool in &manifest.tools {
            triggers += tool.triggers.len();
            found.extend(problems(&manifest.service, &folder, tool));
        }
        let lint = toolgate_catalog::lint(&manifest);
        assert!(lint.accepted(), "{}: {:?}", manifest.service, lint.errors);
    }
    assert!(triggers >= TRIGGERS_MIN, "{triggers} triggers");
    assert!(found.is_empty(), "{found:#?}");
}
