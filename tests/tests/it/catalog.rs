//! Every plugin that ships, in the real sandbox.

use std::path::{Path, PathBuf};

use serde_json::json;
use toolgate_plugin_test::TestCache;
use toolgate_plugin_test::verdict::{self, TestCriteria};
use toolgate_tests::component::Fixture;
use toolgate_tests::gateway::{TestGateway, built_plugin};
use toolgate_tests::search::shipped_catalog;

use crate::parity::say;

#[tokio::test(flavor = "multi_thread")]
async fn every_plugin_passes_lint_replays_its_examples_and_plans_allowed_requests() {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let entries = std::fs::read_dir(plugins.join("dist"))
        .expect("`make plugins described` has built plugins/dist");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "wasm"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "plugins/dist has no plugin");
    let cache = TestCache::new().unwrap();
    let demands = TestCriteria {
        examples: plugins,
        without_examples: false,
    };
    let verdicts = verdict::judge_all(&files, &demands, &cache).await;
    let failures: Vec<String> = verdicts
        .iter()
        .flat_map(|verdict| {
            let file = verdict.plugin.file_name().unwrap().to_string_lossy();
            verdict
                .failures
                .iter()
                .map(move |failure| format!("{file}: {failure}"))
        })
        .collect();
    let examples: usize = verdicts.iter().map(|verdict| verdict.examples).sum();
    let tools: usize = verdicts.iter().map(|verdict| verdict.tools).sum();
    assert!(
        failures.is_empty(),
        "{} failures in {} plugins, {tools} tools, {examples} examples:\n{}",
        failures.len(),
        files.len(),
        failures.join("\n")
    );
}

/// An agent sees them beside the schema, and copies them.
#[test]
fn every_tool_that_ships_has_examples_that_fit_its_schema() {
    let catalog = shipped_catalog().unwrap();
    assert!(!catalog.tools().is_empty());
    let mut wrong = Vec::new();
    for tool in catalog.tools() {
        if tool.spec().examples.is_empty() {
            wrong.push(format!("{}: no example", tool.name));
        }
        for example in &tool.spec().examples {
            for violation in tool.validate(example) {
                let (path, message) = (violation.path, violation.message);
                wrong.push(format!("{}: {path} {message}", tool.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_shows_the_examples_on_both_edges() {
    let gateway =
        TestGateway::with_plugin("prometheus.wasm", built_plugin("prometheus").unwrap()).await;
    let schema = gateway
        .get("/v1/tools/prometheus_query/schema")
        .await
        .data();
    let example = &schema["examples"][0];
    assert!(example["query"].is_string(), "{schema}");
    let asked = json!({ "tool_name": "prometheus_query" });
    let said = say(&gateway, "svc_get_tool_schema", asked).await;
    assert!(said.text.contains(&example.to_string()), "{}", said.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_reaches_no_host_that_its_examples_lack() {
    let url = "https://two.example.com/v1/";
    // One request to the second host, and then the result that the example wants.
    let component = Fixture::new("wanderer")
        .with("hosts", json!(["one.example.com", "two.example.com"]))
        .with("capabilities", json!(["egress"]))
        .fields(&format!(
            r#"(import "toolgate:plugin/egress@0.1.0" "send" (func $send (param i32 i32)))
            (data (i32.const 16) "{url}")"#
        ))
        .invoke(&format!(
            "(drop (memory.grow (i32.const 1)))
            (memory.fill (i32.const 65536) (i32.const 0) (i32.const 76))
            (i32.store (i32.const 65540) (i32.const 16))
            (i32.store (i32.const 65544) (i32.const {}))
            (call $send (i32.const 65536) (i32.const 65640))
            (call $ok)",
            url.len()
        ))
        .build();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wanderer.wasm");
    std::fs::write(&file, component).unwrap();
    let examples = folder.path().join("wanderer/examples");
    std::fs::create_dir_all(&examples).unwrap();
    let example = json!({
        "tool": "run",
        "exchanges": [{
            "request": { "url": "https://one.example.com/" },
            "response": { "failure": { "kind": "timeout" } }
        }],
        "result": {}
    });
    std::fs::write(examples.join("run.json"), example.to_string()).unwrap();
    let demands = TestCriteria {
        examples: folder.path().to_owned(),
        without_examples: false,
    };
    let verdict = verdict::judge(&file, &demands, &TestCache::new().unwrap()).await;
    assert_eq!(verdict.examples, 1);
    let told = |failure: &String| failure.contains("`two.example.com` is in no example");
    assert!(verdict.failures.iter().any(told), "{:?}", verdict.failures);
}
