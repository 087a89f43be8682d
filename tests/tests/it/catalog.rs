//! Every plugin that ships, in the real sandbox.

use std::path::{Path, PathBuf};

use toolgate::trial::{Cache, verdict};

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
    let cache = Cache::new().unwrap();
    let verdicts = verdict::judge_all(&files, &plugins, &cache).await;
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
