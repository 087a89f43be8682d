//! The triggers that the shipped plugins declare, on the results of their example exchanges.
//!
//! That each example's result is what its exchanges give is shown by the plugins' own tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgate_catalog::manifest::{Manifest, ToolSpec};
use toolgate_openapi::BuildInput;
use toolgate_runtime::inspect;
use toolgate_tests::gateway::built_plugin;

/// Events that people use, at least.
const TRIGGERS_MIN: usize = 80;

/// Services whose plugins are written in Rust, with the triggers that people want most of all.
const WRITTEN: [(&str, usize); 10] = [
    ("github", 8),
    ("gmail", 2),
    ("google_calendar", 3),
    ("google_drive", 2),
    ("google_sheets", 1),
    ("jira", 2),
    ("linear", 2),
    ("microsoft_outlook", 1),
    ("notion", 4),
    ("slack", 3),
];

fn plugins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins")
}

/// Manifests of the shipped plugins whose source names triggers.
fn manifests() -> Vec<Manifest> {
    let folders = std::fs::read_dir(plugins()).unwrap();
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
        .iter()
        .filter_map(|folder| manifest(folder))
        .collect()
}

fn manifest(folder: &Path) -> Option<Manifest> {
    let description = folder.join("openapi.yaml");
    if let Ok(text) = std::fs::read_to_string(&description) {
        text.lines().find(|line| line.trim() == "triggers:")?;
        let input = BuildInput {
            description,
            ..BuildInput::default()
        };
        return Some(toolgate_openapi::describe(&input).unwrap().manifest);
    }
    if !folder.join("Cargo.toml").exists() {
        return None;
    }
    let built = built_plugin(folder.file_name()?.to_str()?).unwrap();
    let manifest = inspect::read(&built).unwrap().manifest;
    let triggers = manifest.tools.iter().any(|tool| !tool.triggers.is_empty());
    triggers.then_some(manifest)
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
    let manifests = tokio::task::spawn_blocking(manifests).await.unwrap();
    let (mut triggers, mut found) = (BTreeMap::new(), Vec::new());
    for manifest in &manifests {
        let service = manifest.service.as_str();
        let folder = plugins().join(service);
        for tool in &manifest.tools {
            *triggers.entry(service).or_insert(0) += tool.triggers.len();
            found.extend(problems(service, &folder, tool));
        }
        let lint = toolgate_catalog::lint(manifest);
        assert!(lint.accepted(), "{service}: {:?}", lint.errors);
    }
    let all: usize = triggers.values().sum();
    assert!(all >= TRIGGERS_MIN, "{all} triggers");
    for (service, expected) in WRITTEN {
        assert_eq!(triggers.get(service), Some(&expected), "{service}");
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// What a row of the guide's table says of each: service, trigger, tool and when.
#[tokio::test(flavor = "multi_thread")]
async fn the_guide_lists_every_shipped_trigger() {
    let manifests = tokio::task::spawn_blocking(manifests).await.unwrap();
    let mut expected = Vec::new();
    for manifest in &manifests {
        let service = &manifest.service;
        for tool in &manifest.tools {
            expected.extend(tool.triggers.iter().map(|trigger| {
                let (name, when) = (&trigger.name, &trigger.description);
                format!(
                    "| `{service}` | `{name}` | `{service}_{}` | {when} |",
                    tool.name
                )
            }));
        }
    }
    let guide = std::fs::read_to_string(plugins().join("../docs/triggers.md")).unwrap();
    let (_, table) = guide
        .split_once("## Triggers of the shipped plugins")
        .expect("the guide has the table");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let mut listed: Vec<&str> = rows.collect();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);
}
