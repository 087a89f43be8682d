//! What a call, a start and a request cost, each beside the same work without toolgate, in one run
//! and printed as ratios: absolute times are the machine's, ratios travel.
//!
//! `make bench` runs it on an optimised build; a word (`real`, `mcp-upstream`, `disk`, `call`, `start`, `search`,
//! `http`, `mcp`) runs one part alone, `growth` the one that takes minutes, `peers` other gateways, `telemetry` what
//! OpenTelemetry costs. Nothing here passes or fails.

#![expect(clippy::disallowed_methods, reason = "files have the machine's time")]
#![allow(unreachable_pub, reason = "modules of one program")]

mod bare;
mod disk;
mod growth;
mod mcp_upstream;
mod peers;
mod real_calls;
mod requests;
mod searches;
mod start;
mod telemetry;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_egress::{
    CallLimits, CallScope, Credentials, Egress, EgressConfig, EgressFailure, FailureKind, Grant,
    Injection, Mode,
};
use toolgate_runtime::{
    Call, CallEnd, CallListener, CallLog, KeyValue, KeyValueError, Plugin, Random, Requester,
    Runtime, Size, StoredValue,
};
use toolgate_tests::gateway::built_plugin;
use toolgate_tests::process;

const TEXT: &str = "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer \
    the slings and arrows of outrageous fortune, or to take arms against a sea of troubles.";

/// As the program has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    toolgate::memory::small_pages();
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    if let Some(server) = wanted.iter().find_map(|word| word.strip_prefix("serve-")) {
        return bare::serve(server).await;
    }
    // A program without optimization, named by `TOOLGATE`, has been measured by mistake.
    eprintln!("measured: {}", process::program().display());
    if wanted.iter().any(|word| word == "growth") {
        let part = wanted.iter().find(|word| *word != "growth");
        return growth::measure(part.map(String::as_str)).await;
    }
    if wanted.iter().any(|word| word == "peers") {
        return peers::compare().await;
    }
    if wanted.iter().any(|word| word == "telemetry") {
        return telemetry::measure().await;
    }
    let wants = |part: &str| wanted.is_empty() || wanted.iter().any(|one| one == part);
    if wants("real") {
        real_calls::compare_all().await?;
    }
    if wants("mcp-upstream") {
        mcp_upstream::calls().await?;
    }
    println!("| what | toolgate | beside it | ratio |\n|---|---|---|---|");
    if wants("disk") {
        disk::measure().await?;
    }
    if wants("call") {
        fresh_store_call().await?;
    }
    if wants("start") {
        start::with(Some(100)).await?;
        start::with(None).await?;
    }
    if wants("mcp-upstream") {
        mcp_upstream::starts().await?;
    }
    if wants("search") {
        searches::measure().await?;
    }
    if wants("http") {
        requests::over_http().await?;
    }
    if wants("mcp") {
        requests::over_mcp().await?;
    }
    Ok(())
}

fn row(what: &str, ours: &str, theirs: &str, ratio: f64) {
    println!("| {what} | {ours} | {theirs} | {ratio:.2} |");
}

/// One call in a fresh store, against the same function in native code, both built for speed.
async fn fresh_store_call() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("words.wasm");
    let component = built_plugin("words")?;
    std::fs::write(&file, &component)?;
    let runtime = Runtime::open(
        &folder.path().join("code"),
        [7; 32],
        Egress::new(EgressConfig::default())?,
    )?;
    let inspected = runtime.inspect(component.clone()).await?;
    let plugin = Plugin::new("words", &inspected.sha256, Size::Ordinary, &file);
    let arguments = json!({ "text": TEXT, "shortest": 2 }).to_string();

    let once = || async { runtime.invoke(&plugin, call("count", &arguments)).await };
    ensure!(
        matches!(once().await?, CallEnd::Returned(_)),
        "the plugin answers"
    );
    let ours = median_us(2_000, || async {
        once().await.map(|_| ()).map_err(Into::into)
    })
    .await?;
    let returns = || async { runtime.invoke(&plugin, call("none", "{}")).await };
    ensure!(
        matches!(returns().await?, CallEnd::Refused(_)),
        "a tool that is not there ends the call at once"
    );
    let instantiated = median_us(2_000, || async {
        returns().await.map(|_| ()).map_err(Into::into)
    })
    .await?;
    let theirs = median_us(20_000, || async {
        let arguments: Value = serde_json::from_str(&arguments)?;
        let text = arguments["text"].as_str().context("a text")?;
        let shortest = u32::try_from(arguments["shortest"].as_u64().context("a number")?)?;
        std::hint::black_box(toolgate_plugin_words::counted(text, shortest).to_string());
        Ok(())
    })
    .await?;
    row(
        &format!("fresh-store call ({} KB plugin)", component.len() >> 10),
        &format!("{ours:.1} us"),
        &format!("{theirs:.1} us native"),
        ours / theirs,
    );
    row(
        "instantiate: store, instance, a guest that returns at once",
        &format!("{instantiated:.1} us"),
        &format!("{ours:.1} us the whole call"),
        instantiated / ours,
    );
    Ok(())
}

/// Median microseconds of one run of `work`.
async fn median_us<F: Future<Output = anyhow::Result<()>>>(
    runs: usize,
    work: impl Fn() -> F,
) -> anyhow::Result<f64> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let began = Instant::now();
        work().await?;
        times.push(began.elapsed());
    }
    times.sort();
    Ok(times[runs / 2].as_secs_f64() * 1e6)
}

fn call(tool: &str, arguments: &str) -> Call {
    let scope = CallScope::new(
        Arc::new(Grant::default()),
        BTreeMap::new(),
        Arc::new(Nothing),
        CallLimits::default(),
        Mode::Live,
    );
    Call {
        requester: Requester::default(),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        files: Arc::default(),
        session: None,
        cursor: None,
        meta: "{}".to_owned(),
        scope: Arc::new(scope),
        kv: Arc::new(Nothing),
        config: Arc::default(),
        timeout: Duration::from_secs(10),
        memory_bytes_max: 64 << 20,
        response_bytes_max: 1 << 20,
        now_ms: 0,
        random: Random::System,
        log: CallLog::default(),
        listener: CallListener::default(),
    }
}

/// A call without credentials and without a session.
struct Nothing;

impl Credentials for Nothing {
    fn fetch<'a>(
        &'a self,
        _slot: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, EgressFailure>> {
        let failure = EgressFailure {
            kind: FailureKind::AuthRequired,
            message: String::new(),
            sent: false,
        };
        std::future::ready(Err(failure)).boxed()
    }

    fn connected(&self, _slot: &str) -> bool {
        false
    }

    fn slot_for_origin(&self, _origin: &str) -> Option<String> {
        None
    }
}

impl KeyValue for Nothing {
    fn get<'a>(
        &'a self,
        _key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredValue>, KeyValueError>> {
        std::future::ready(Ok(None)).boxed()
    }

    fn set<'a>(
        &'a self,
        _key: &'a str,
        _value: &'a [u8],
        _ttl_seconds: Option<u32>,
        _if_version: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>> {
        std::future::ready(Err(KeyValueError::Unavailable)).boxed()
    }

    fn delete<'a>(&'a self, _key: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>> {
        std::future::ready(Ok(())).boxed()
    }

    fn list<'a>(
        &'a self,
        _prefix: &'a str,
        _cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(Vec<String>, Option<String>), KeyValueError>> {
        std::future::ready(Ok((Vec::new(), None))).boxed()
    }
}
