//! What a start costs, and what a plugin weighs: idle, and once calls have mapped its code.
//!
//! Times are taken in this process, memory of the program itself, which is asked to plan a call of
//! every plugin (a dry run) for the second number.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;
use toolgate_catalog::Tool;
use toolgate_tests::gateway::{Options, TestGateway};
use toolgate_tests::process::{Installation, Process};
use toolgate_tests::search::shipped_catalog;

use crate::row;

/// A start with a warm cache: until every plugin of the folder, or the first so many, can be searched
/// and called.
pub async fn with(plugins_max: Option<usize>) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (data, plugins) = (folder.path().join("data"), folder.path().join("plugins"));
    let services = copy_plugins(&plugins, plugins_max)?;
    let files = services.len();
    let (cold, warm) = times(&data, &plugins, files).await?;
    row(
        &format!("start with {files} plugins, warm"),
        &format!("{:.0} ms", warm.as_secs_f64() * 1e3),
        &format!("{:.1} s cold", cold.as_secs_f64()),
        warm.as_secs_f64() / cold.as_secs_f64(),
    );
    // Blocks: the image of a plugin has a hole where its code is shared.
    let code: u64 = std::fs::read_dir(data.join("code"))?
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .map(|file| file.blocks() * 512)
        .sum();
    weigh(folder.path(), &services, code).await
}

/// How long a start takes until so many plugins serve: the first one, which compiles them, and the next.
pub(crate) async fn times(
    data: &Path,
    plugins: &Path,
    files: usize,
) -> anyhow::Result<(Duration, Duration)> {
    let options = || Options {
        data_dir: Some(data.to_owned()),
        plugins_dir: Some(plugins.to_owned()),
        ..Options::default()
    };
    let cold = Instant::now();
    let first = TestGateway::start(options()).await;
    while active(&first).await < files {
        tokio::time::sleep(Duration::from_millis(50)).await;
        ensure!(
            cold.elapsed() < Duration::from_secs(600),
            "{} of {files} plugins serve",
            active(&first).await
        );
    }
    let cold = cold.elapsed();
    first.stop().await;
    let warm = Instant::now();
    let again = TestGateway::start(options()).await;
    let warm = warm.elapsed();
    ensure!(
        active(&again).await == files,
        "every plugin serves when the start returns"
    );
    again.stop().await;
    Ok((cold, warm))
}

/// Copies plugins as an operator has them: files that nobody has touched for an hour.
pub(crate) fn copy_plugins(into: &Path, plugins_max: Option<usize>) -> anyhow::Result<Vec<String>> {
    std::fs::create_dir_all(into)?;
    let old = std::time::SystemTime::now() - Duration::from_secs(3_600);
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/dist");
    let mut services = Vec::new();
    for entry in
        std::fs::read_dir(dist).context("plugins/dist is missing: run `make build` first")?
    {
        let path = entry?.path();
        let (Some(name), Some("wasm")) = (
            path.file_name(),
            path.extension().and_then(|kind| kind.to_str()),
        ) else {
            continue;
        };
        if plugins_max.is_some_and(|most| services.len() >= most) {
            break;
        }
        let target = into.join(name);
        std::fs::copy(&path, &target)?;
        let copied = std::fs::File::options().write(true).open(&target)?;
        copied.set_modified(old)?;
        services.extend(
            path.file_stem()
                .and_then(|stem| stem.to_str())
                .map(str::to_owned),
        );
    }
    Ok(services)
}

async fn active(gateway: &TestGateway) -> usize {
    gateway.gateway.health().await.plugins.active
}

/// What these plugins add to the program without any: memory, and disk for their compiled code.
async fn weigh(folder: &Path, services: &[String], code: u64) -> anyhow::Result<()> {
    let empty = tempfile::tempdir()?;
    let nothing = settled(empty.path(), 0).await?;
    let none = nothing.memory()?;
    nothing.kill().await;
    let process = settled(folder, services.len()).await?;
    let idle = process.memory()?;
    plan_a_call_of_each(&process, services).await?;
    let mapped = process.memory()?;
    process.kill().await;
    let each = |bytes: u64| format!("{:.0} KB", bytes as f64 / services.len() as f64 / 1024.0);
    let all = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
    for (state, now) in [("idle", idle), ("mapped by a call", mapped)] {
        let (bytes, resident) = (all(now.bytes), all(now.resident_bytes));
        println!(
            "| memory a plugin, {state} | {} | {bytes} the program, {resident} if what is mapped twice counts twice | - |",
            each(now.bytes.saturating_sub(none.bytes)),
        );
    }
    println!(
        "| disk a plugin, compiled | {} | {} all | - |",
        each(code),
        all(code)
    );
    Ok(())
}

/// The program at its second start: the first one hashes a password, and what that took stays with
/// the process.
pub(crate) async fn settled(folder: &Path, plugins: usize) -> anyhow::Result<Process> {
    serving(folder, plugins).await?.kill().await;
    serving(folder, plugins).await
}

/// The program, once so many plugins serve.
async fn serving(folder: &Path, plugins: usize) -> anyhow::Result<Process> {
    let installation = Installation::new(folder, &[]);
    let process = installation.serve(&[]).await;
    if process.key.is_empty() {
        process.kill().await;
        let made = installation
            .run(&["key", "create", "--name", "bench"])
            .await;
        let key = made["key"].as_str().context("a key")?;
        std::fs::write(folder.join("key"), key)?;
        return Box::pin(serving(folder, plugins)).await;
    }
    let health = process.get("/v1/health").await.data();
    ensure!(
        health["plugins"]["active"] == plugins,
        "{plugins} plugins serve: {health}"
    );
    Ok(process)
}

async fn plan_a_call_of_each(process: &Process, services: &[String]) -> anyhow::Result<()> {
    let catalog = shipped_catalog()?;
    for service in services {
        let has_example = |tool: &&std::sync::Arc<Tool>| {
            tool.service() == service && !tool.spec().examples.is_empty()
        };
        let tool = catalog.tools().iter().find(has_example);
        let tool = tool.with_context(|| format!("{service} has a tool with an example"))?;
        let body = json!({ "arguments": tool.spec().examples[0], "dry_run": true });
        let path = format!("/v1/tools/{}/execute", tool.name);
        let answer = process.post(&path, &body).await;
        ensure!(answer.status == 200, "{path}: {}", answer.text);
    }
    Ok(())
}
