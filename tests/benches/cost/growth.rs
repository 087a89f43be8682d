//! What grows with the number of plugins, of receipts and of processes: starts, memory, calls, lists, statistics and the
//! disk. How search fares with 1,000 to 100,000 tools is in the benchmark `search`.
//! `-- growth` prints it, `-- growth processes` the last table alone; it is not part of a run without words, because
//! filling takes minutes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};
use toolgate_core::ids;
use toolgate_openapi::BuildInput;
use toolgate_store::{ExecutionRow, Store};
use toolgate_tests::postgres;
use toolgate_tests::process::{Installation, Process};

use crate::bare::Server;
use crate::real_calls::{Target, rest_call, start_toolgate, start_with, turn};
use crate::requests::Request;
use crate::start;

const PLUGINS: [usize; 3] = [10, 100, 1_000];
const RECEIPTS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const USERS: usize = 100_000;
const BATCH: usize = 4_096;
const PROCESSES: [usize; 3] = [1, 2, 4];
const CONNECTIONS: usize = 16;
/// Of each list.
const LOOKS: usize = 50;
/// Between two receipts.
const STEP_MS: i64 = 100;

/// `part`: one of `plugins`, `receipts` and `processes`; all without.
pub async fn measure(part: Option<&str>) -> anyhow::Result<()> {
    let wants = |name: &str| part.is_none_or(|part| part == name);
    if wants("plugins") {
        plugins().await?;
    }
    if wants("receipts") {
        receipts().await?;
    }
    if wants("processes") {
        println!(
            "\n| processes, one PostgreSQL | calls/s at 16 each | p99 ms | processor us a call | statements a call | \
             transactions a call | WAL bytes a call | database bytes a call |\n|---|---|---|---|---|---|---|---|"
        );
        for processes in PROCESSES {
            share_a_database(processes).await?;
        }
    }
    Ok(())
}

/// Plugins that are alike but for their names, of eight tools each.
async fn plugins() -> anyhow::Result<()> {
    println!(
        "| plugins | first start s | next start ms | memory MB | search over REST, 16 connections |\n|---|---|---|---|---|"
    );
    let folder = tempfile::tempdir()?;
    let (data, plugins) = (folder.path().join("data"), folder.path().join("plugins"));
    std::fs::create_dir_all(&plugins)?;
    let description =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins/hackernews/openapi.yaml");
    let long_ago = SystemTime::now() - Duration::from_secs(3_600);
    let mut there = 0;
    for most in PLUGINS {
        for n in there..most {
            let service = format!("copy_{n}");
            let input = BuildInput {
                description: description.clone(),
                service: Some(service.clone()),
                ..BuildInput::default()
            };
            let built = toolgate_openapi::build(&input).await?;
            let file = plugins.join(format!("{service}.wasm"));
            std::fs::write(&file, built.wasm)?;
            std::fs::File::options()
                .write(true)
                .open(&file)?
                .set_modified(long_ago)?;
        }
        there = most;
        let (cold, warm) = start::times(&data, &plugins, most).await?;
        let process = start::settled(folder.path(), most).await?;
        let memory = process.memory()?.bytes as f64 / 1e6;
        let search = Request::get(
            process.url("/v1/tools/search?query=top+stories&limit=5"),
            vec![("authorization", format!("Bearer {}", process.key))],
            "copy_",
        );
        let searched = turn(&Target::new(search, process.id())?, CONNECTIONS).await?;
        println!(
            "| {most} | {:.1} | {:.0} | {memory:.0} | {:.0}/s |",
            cold.as_secs_f64(),
            warm.as_secs_f64() * 1e3,
            searched.per_second(),
        );
        process.kill().await;
    }
    Ok(())
}

async fn receipts() -> anyhow::Result<()> {
    println!(
        "\n| receipts, SQLite | database MB | calls/s at 16 | p99 ms | newest 20 ms | newest 20 of one of 100,000 users ms | \
         usage of a day ms |\n|---|---|---|---|---|---|---|"
    );
    let upstream = Server::program("upstream").await?;
    let folder = tempfile::tempdir()?;
    start_toolgate(folder.path(), &upstream).await?.kill().await;
    let file = folder.path().join("data/toolgate.db");
    let mut there = 0;
    for most in RECEIPTS {
        fill(&file, there, most).await?;
        there = most;
        let megabytes = std::fs::metadata(&file)?.len() as f64 / 1e6;
        let toolgate = start_toolgate(folder.path(), &upstream).await?;
        let target = Target::new(rest_call(&toolgate), toolgate.id())?;
        let called = turn(&target, CONNECTIONS).await?;
        let newest = look(&toolgate, "/v1/executions?limit=20").await?;
        let of_user = look(&toolgate, "/v1/executions?limit=20&user_id=user-7").await?;
        let (calls, p99) = (called.per_second(), called.percentile_ms(99.0));
        let usage = usage(&file).await?;
        println!(
            "| {most} | {megabytes:.0} | {calls:.0} | {p99:.2} | {newest:.2} | {of_user:.2} | {usage:.1} |"
        );
        toolgate.kill().await;
    }
    Ok(())
}

/// Receipts up to `most` of [`USERS`] users, the newest now.
async fn fill(file: &Path, there: usize, most: usize) -> anyhow::Result<()> {
    let store = Store::open(&format!("sqlite://{}", file.display())).await?;
    let workspace = store.first_workspace().await?.context("a workspace")?;
    let now_ms = toolgate_core::clock::Clock::system().now_ms();
    let first_ms = now_ms - i64::try_from(most)? * STEP_MS;
    let numbers: Vec<usize> = (there..most).collect();
    for batch in numbers.chunks(BATCH) {
        let rows: Vec<ExecutionRow> = batch
            .iter()
            .map(|n| receipt(&workspace.id, *n, first_ms + *n as i64 * STEP_MS))
            .collect();
        store.record_executions(&rows, &[]).await?;
    }
    store.close().await;
    Ok(())
}

fn receipt(workspace_id: &str, n: usize, at_ms: i64) -> ExecutionRow {
    ExecutionRow {
        workspace_id: workspace_id.into(),
        id: ids::ulid_at("exe", at_ms).into(),
        kind: "tool".into(),
        tool_name: "prometheus_query".into(),
        service: "prometheus".into(),
        user_id: format!("user-{}", n % USERS).into(),
        key_id: "key_bench".into(),
        key_name: "bench".into(),
        key_prefix: "abcdefgh".into(),
        session_id: None,
        connection_id: None,
        parent_execution_id: None,
        status: "success".into(),
        reason: None,
        started_at_ms: at_ms,
        duration_ms: 1,
        plugin_version: "1.0.0".into(),
        plugin_sha256: "0".repeat(64).into(),
        requests: r#"[["GET","http://127.0.0.1:9090","127.0.0.1","/api/v1/query","query=up",200,0,null,170,1,null]]"#
            .into(),
        arguments: None,
        result: None,
        payloads: Vec::new(),
    }
}

/// Median milliseconds of one request.
async fn look(toolgate: &Process, path: &str) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..LOOKS {
        let began = Instant::now();
        let answer = toolgate.get(path).await;
        ensure!(answer.status == 200, "{path}: {}", answer.text);
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[LOOKS / 2])
}

async fn usage(file: &Path) -> anyhow::Result<f64> {
    let store = Store::open(&format!("sqlite://{}", file.display())).await?;
    let workspace = store.first_workspace().await?.context("a workspace")?;
    let from_ms = toolgate_core::clock::Clock::system().now_ms() - 24 * 60 * 60 * 1_000;
    let began = Instant::now();
    store.usage(&workspace.id, None, from_ms, 60_000).await?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    store.close().await;
    Ok(took)
}

async fn share_a_database(processes: usize) -> anyhow::Result<()> {
    let upstream = Server::program("upstream").await?;
    let folder = tempfile::tempdir()?;
    let upstream_url = format!("http://{}", upstream.address);
    let url = postgres::fresh_url();
    let mut running = Vec::new();
    let mut key: Option<String> = None;
    for process in 0..processes {
        let mut installation =
            Installation::new(&folder.path().join(process.to_string()), &["prometheus"]);
        installation.database_url = Some(url.clone());
        installation.master_key_file = Some(folder.path().join("master.key"));
        // Keys are shown once; the others know it from the database.
        if let Some(key) = &key {
            std::fs::write(installation.folder.join("key"), key)?;
        }
        let toolgate = start_with(&installation, &upstream_url).await?;
        key = Some(toolgate.key.clone());
        running.push(toolgate);
    }
    let before = DatabaseCounts::read(&url).await?;
    let mut turns = Vec::new();
    for toolgate in &running {
        let target = Arc::new(Target::new(rest_call(toolgate), toolgate.id())?);
        turns.push(tokio::spawn(
            async move { turn(&target, CONNECTIONS).await },
        ));
    }
    let (mut per_second, mut p99, mut calls, mut processor_us) = (0.0, 0.0_f64, 0, 0.0);
    for turn in turns {
        let turn = turn.await??;
        per_second += turn.per_second();
        p99 = p99.max(turn.percentile_ms(99.0));
        calls += turn.calls;
        processor_us += turn.cpu_us_per_call * turn.calls as f64;
    }
    let after = DatabaseCounts::read(&url).await?;
    // Those of the warm-up too.
    let receipts = after.receipts - before.receipts;
    let each = |total: i64| total as f64 / receipts as f64;
    println!(
        "| {processes} | {per_second:.0} | {p99:.2} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} |",
        processor_us / calls as f64,
        each(after.statements - before.statements),
        each(after.transactions - before.transactions),
        each(after.wal_bytes - before.wal_bytes),
        each(after.bytes - before.bytes),
    );
    for toolgate in running {
        toolgate.kill().await;
    }
    Ok(())
}

/// What a database has done and holds.
struct DatabaseCounts {
    /// Each is a round trip of the gateway that sends it.
    statements: i64,
    transactions: i64,
    wal_bytes: i64,
    bytes: i64,
    receipts: i64,
}

impl DatabaseCounts {
    async fn read(url: &str) -> anyhow::Result<Self> {
        // A PostgreSQL session updates its statistics at most once a second.
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        let url = url.to_owned();
        let statement = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements; \
                         SELECT (SELECT sum(s.calls)::bigint FROM pg_stat_statements s WHERE s.dbid = d.datid), \
                         d.xact_commit, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint, \
                         pg_database_size(d.datid), (SELECT count(*) FROM executions) \
                         FROM pg_stat_database d WHERE d.datname = current_database()";
        let text = tokio::task::spawn_blocking(move || postgres::ask(&url, statement)).await?;
        let numbers: Vec<i64> = text.split('|').map(str::parse).collect::<Result<_, _>>()?;
        let [statements, transactions, wal_bytes, bytes, receipts] = numbers[..] else {
            anyhow::bail!("five numbers, not {text}");
        };
        Ok(Self {
            statements,
            transactions,
            wal_bytes,
            bytes,
            receipts,
        })
    }
}
