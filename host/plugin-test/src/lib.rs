//! Trying a plugin without a gateway: in the real sandbox, behind the real egress, with planted
//! credentials.
//!
//! [`replay`] answers a plugin's requests from an example file, [`generate`] makes arguments from a
//! schema so that [`TestPlugin::plan`] can show what every tool would send, [`description`] compares that with the
//! OpenAPI document that the plugin was made from, [`verdict`] does all of it for a whole plugin, [`plans`] writes the
//! requests for an external checker.
//! Only the requests of [`TestPlugin::run`] and [`TestPlugin::run_recorded`] leave the machine.

#![forbid(unsafe_code)]

mod call;
mod credentials;
pub mod description;
pub mod example;
pub mod generate;
pub mod judge;
pub mod log;
pub mod plans;
pub mod record;
pub mod replay;
pub mod server;
mod state;
pub mod verdict;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use example::{Example, RecordedExchange};
use log::LogSink;
use server::ReplayServer;
pub use state::TestCache;
use toolgate_catalog::manifest::Manifest;
use toolgate_egress::{AllowUpstream, Egress, EgressConfig, HostObserver, Mode, PlannedRequest};
use toolgate_runtime::{CallEnd, Inspected, Plugin, Runtime, Size};
use toolgate_vault::Secret;

/// Begins every planted credential value.
pub const PLANTED: &str = "planted-credential-";

/// A plugin file ready to be called.
pub struct TestPlugin {
    runtime: Runtime,
    plugin: Plugin,
    pub manifest: Arc<Manifest>,
    inspected_in: Duration,
    calls: Mutex<Vec<Duration>>,
}

/// What a plugin costs here.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PluginCost {
    /// Compilation and inspection of the file.
    pub inspect_ms: u64,
    /// The first call: its code is mapped.
    pub first_call_ms: u64,
    /// Median of the other calls, each with what it sent and waited for.
    pub call_us: u64,
    /// Most guest memory of a call.
    pub memory_bytes: usize,
}

/// The input of one call.
#[derive(Clone, Debug, Default)]
pub struct TestCall {
    pub tool: String,
    pub arguments: Value,
    pub cursor: Option<String>,
    pub parameters: BTreeMap<String, String>,
    pub config: BTreeMap<String, Value>,
    /// Slots that are connected; all where `None`.
    pub connected: Option<Vec<String>>,
    /// Credential fields in place of planted ones. With them connection parameters are not made up
    /// either: each has its default or a value of [`Self::parameters`].
    pub secrets: Option<BTreeMap<String, Secret>>,
    /// Random numbers are a counter, nothing is repeated, and an address that is not set is not made up.
    pub replayed: bool,
    /// Takes what the plugin writes into its log.
    pub log: LogSink,
}

impl TestPlugin {
    /// Inspects a plugin file as the loader does and makes it callable. `upstreams` as
    /// `HOST=URL`; compiled code is kept in `cache`.
    pub async fn open(
        file: &Path,
        upstreams: &[String],
        cache: &TestCache,
    ) -> anyhow::Result<Self> {
        Self::reaching(file, upstreams, None, cache).await
    }

    /// The same, but every request to a host of the examples goes to `server`, and no other host is reached.
    pub async fn replaying(
        file: &Path,
        server: &ReplayServer,
        examples: &[Example],
        cache: &TestCache,
    ) -> anyhow::Result<Self> {
        let upstreams = server.upstreams(examples)?;
        Self::reaching(file, &upstreams, Some(server.elsewhere()), cache).await
    }

    async fn reaching(
        file: &Path,
        upstreams: &[String],
        only_upstreams: Option<HostObserver>,
        cache: &TestCache,
    ) -> anyhow::Result<Self> {
        let allow_upstreams = upstreams
            .iter()
            .map(|text| AllowUpstream::parse(text))
            .collect::<Result<Vec<_>, _>>()?;
        let egress = Egress::new(EgressConfig {
            allow_upstreams,
            only_upstreams,
            ..EgressConfig::default()
        })?;
        let runtime = cache.runtime(egress)?;
        let began = Instant::now();
        let inspected: Inspected = runtime.inspect(std::fs::read(file)?).await?;
        let inspected_in = began.elapsed();
        let size = Size::for_manifest(&inspected.manifest);
        let plugin = Plugin::new(&inspected.manifest.service, &inspected.sha256, size, file);
        Ok(Self {
            runtime,
            plugin,
            manifest: Arc::new(inspected.manifest),
            inspected_in,
            calls: Mutex::default(),
        })
    }

    /// The cost of the calls so far; `None` before the second.
    pub fn cost(&self) -> Option<PluginCost> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, others) = calls.split_first()?;
        let mut others = others.to_vec();
        others.sort();
        let median = others.get(others.len() / 2)?;
        let size = Size::for_manifest(&self.manifest);
        Some(PluginCost {
            inspect_ms: u64::try_from(self.inspected_in.as_millis()).unwrap_or(u64::MAX),
            first_call_ms: u64::try_from(first.as_millis()).unwrap_or(u64::MAX),
            call_us: u64::try_from(median.as_micros()).unwrap_or(u64::MAX),
            memory_bytes: self.runtime.memory_peak_bytes(size),
        })
    }

    /// Runs a tool; its requests are sent.
    pub async fn run(&self, test_call: &TestCall) -> anyhow::Result<CallEnd> {
        Ok(self.call(test_call, Mode::Live, None).await?.0)
    }

    /// Runs a tool and returns its exchanges too, as the plugin saw them: without credentials.
    pub async fn run_recorded(
        &self,
        test_call: &TestCall,
    ) -> anyhow::Result<(CallEnd, Vec<RecordedExchange>)> {
        let seen: Arc<Mutex<Vec<RecordedExchange>>> = Arc::default();
        let keep = seen.clone();
        let observer = Arc::new(move |exchange: toolgate_egress::ObservedExchange<'_>| {
            let mut seen = keep.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(record::exchange(exchange));
        });
        let (ended, _) = self.call(test_call, Mode::Live, Some(observer)).await?;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((ended, std::mem::take(&mut *seen)))
    }

    /// Runs a tool up to its first request and returns what it would have sent.
    pub async fn plan(
        &self,
        test_call: &TestCall,
    ) -> anyhow::Result<(CallEnd, Vec<PlannedRequest>)> {
        let (ended, scope) = self.call(test_call, Mode::DryRun, None).await?;
        Ok((ended, scope.planned()))
    }
}
