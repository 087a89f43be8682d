//! Trying a plugin without a gateway: in the real sandbox, behind the real egress, with planted
//! credentials.
//!
//! [`replay`] answers a plugin's requests from an example file, [`generate`] makes arguments from a
//! schema so that [`TestPlugin::plan`] can show what every tool would send, [`description`] measures that by the document
//! that the plugin was made of, [`verdict`] does all of it for a whole plugin, [`plans`] shows what would be sent to a
//! checker outside.
//! Nothing here leaves the machine but what [`TestPlugin::run`] is told to send.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

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

use anyhow::bail;
use serde::Serialize;
use serde_json::Value;

use credentials::TestCredentials;
use example::{Example, RecordedExchange};
use log::LogSink;
use server::ReplayServer;
use state::Memory;
pub use state::TestCache;
use toolgate_catalog::manifest::{Effect, Manifest};
use toolgate_catalog::{stand_ins, write_integers};
use toolgate_core::clock::Clock;
use toolgate_egress::{
    AllowUpstream, AllowedQueries, CallLimits, CallScope, Declarations, DescribedSend, Egress,
    EgressConfig, ExchangeObserver, Grant, HostObserver, Mode, PlannedRequest,
};
use toolgate_runtime::{
    Call, CallEnd, CallListener, CallLog, Inspected, Plugin, Random, Requester, Runtime, Size, size,
};
use toolgate_vault::Secret;

/// Begins every planted credential value.
pub const PLANTED: &str = "planted-credential-";
/// Address that stands for an operator's own.
const OWN_ADDRESS: &str = "https://self-hosted.example.org";

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

/// What one call is made with.
#[derive(Clone, Debug, Default)]
pub struct TestCall {
    pub tool: String,
    pub arguments: Value,
    pub cursor: Option<String>,
    pub parameters: BTreeMap<String, String>,
    pub config: BTreeMap<String, Value>,
    /// Slots that are connected; all where absent.
    pub connected: Option<Vec<String>>,
    /// Credential fields in place of planted ones. With them nothing else is made up either: a
    /// connection parameter has its default or a value of [`Self::parameters`].
    pub secrets: Option<BTreeMap<String, Secret>>,
    /// Randomness counts, nothing is repeated, and an address that is not set is not made up.
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

    /// The same, but for `server` alone: hosts of the examples go there, no other host is asked.
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

    /// What the calls so far have cost; none before the second.
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

    /// Runs a tool; its requests go out.
    pub async fn run(&self, test_call: &TestCall) -> anyhow::Result<CallEnd> {
        Ok(self.call(test_call, Mode::Live, None).await?.0)
    }

    /// Runs a tool and answers its exchanges too, as the plugin saw them: without credentials.
    pub async fn run_recorded(
        &self,
        test_call: &TestCall,
    ) -> anyhow::Result<(CallEnd, Vec<RecordedExchange>)> {
        let seen: Arc<Mutex<Vec<RecordedExchange>>> = Arc::default();
        let keep = seen.clone();
        let witness = Arc::new(move |exchange: toolgate_egress::ObservedExchange<'_>| {
            let mut seen = keep.lock().unwrap_or_else(PoisonError::into_inner);
            seen.push(record::exchange(exchange));
        });
        let (ended, _) = self.call(test_call, Mode::Live, Some(witness)).await?;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((ended, std::mem::take(&mut *seen)))
    }

    /// Runs a tool up to its first request and answers what it would have sent.
    pub async fn plan(
        &self,
        test_call: &TestCall,
    ) -> anyhow::Result<(CallEnd, Vec<PlannedRequest>)> {
        let (ended, scope) = self.call(test_call, Mode::DryRun, None).await?;
        Ok((ended, scope.planned()))
    }

    async fn call(
        &self,
        test_call: &TestCall,
        mode: Mode,
        witness: Option<ExchangeObserver>,
    ) -> anyhow::Result<(CallEnd, Arc<CallScope>)> {
        let manifest = &self.manifest;
        let real = test_call.secrets.is_some();
        let made_up = !real && !test_call.replayed;
        let mut parameters = if real {
            defaults(manifest, &test_call.parameters)?
        } else {
            stand_ins::parameters(manifest)
        };
        parameters.extend(test_call.parameters.clone());
        let mut config: BTreeMap<String, String> = BTreeMap::new();
        for key in manifest
            .config
            .iter()
            .filter(|key| key.adds_host && made_up)
        {
            config.insert(key.key.clone(), Value::from(OWN_ADDRESS).to_string());
        }
        config.extend(
            test_call
                .config
                .iter()
                .map(|(key, value)| (key.clone(), value.to_string())),
        );
        for (key, value) in &parameters {
            config
                .entry(key.clone())
                .or_insert_with(|| Value::from(value.as_str()).to_string());
        }
        let addresses: BTreeMap<String, String> = manifest
            .config
            .iter()
            .filter(|key| key.adds_host)
            .filter_map(|key| {
                let address = serde_json::from_str(config.get(&key.key)?).ok()?;
                Some((key.key.clone(), address))
            })
            .collect();
        let origins: Vec<String> = addresses.values().cloned().collect();
        let grant = Grant::new(&manifest.hosts, &origins)?;
        let credentials = TestCredentials {
            slots: manifest.auth.clone(),
            connected: test_call.connected.clone(),
            parameters: parameters.clone(),
            addresses,
            secrets: test_call.secrets.clone(),
        };
        let mut scope = CallScope::new(
            Arc::new(grant),
            parameters,
            Arc::new(credentials),
            CallLimits::default(),
            mode,
        )
        .with_declarations(Declarations::new(manifest.clone()));
        let tool = manifest
            .tools
            .iter()
            .find(|tool| tool.name == test_call.tool);
        if let Some(request) = tool.and_then(|tool| tool.request.as_ref()) {
            scope = scope.sending(DescribedSend::new(request, &config));
        }
        if let Some(tool) = tool.filter(|tool| tool.effect == Effect::Read) {
            scope = scope.reading(AllowedQueries::new(&tool.queries, &config));
        }
        if let Some(witness) = witness {
            scope = scope.with_observer(witness);
        }
        if test_call.replayed {
            scope = scope.without_retries();
        }
        let scope = Arc::new(scope);
        let mut arguments = test_call.arguments.clone();
        write_integers(&mut arguments);
        let call = Call {
            requester: Requester::default(),
            tool: test_call.tool.clone(),
            arguments: arguments.to_string(),
            session: None,
            cursor: test_call.cursor.clone(),
            meta: "{}".to_owned(),
            scope: scope.clone(),
            kv: Arc::new(Memory::default()),
            config: Arc::new(config),
            timeout: Duration::from_secs(30),
            memory_bytes_max: size::memory_bytes_max(&manifest.limits),
            response_bytes_max: CallLimits::default().response_bytes_max,
            now_ms: if real {
                Clock::system().now_ms()
            } else {
                1_767_225_600_000
            },
            random: if test_call.replayed {
                Random::Counting
            } else {
                Random::System
            },
            log: CallLog {
                execution_id: None,
                observer: Some(test_call.log.observer()),
            },
            listener: CallListener::default(),
        };
        let began = Instant::now();
        let ended = self.runtime.invoke(&self.plugin, call).await?;
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(began.elapsed());
        drop(calls);
        Ok((ended, scope))
    }
}

/// The defaults of the connection parameters that were not given.
fn defaults(
    manifest: &Manifest,
    given: &BTreeMap<String, String>,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut made = BTreeMap::new();
    for parameter in &manifest.parameters {
        match &parameter.default {
            Some(value) => made.insert(parameter.key.clone(), value.clone()),
            None if given.contains_key(&parameter.key) || !parameter.required => None,
            None => bail!(
                "the connection parameter `{key}` ({title}) is missing: --parameter {key}=...",
                key = parameter.key,
                title = parameter.title
            ),
        };
    }
    Ok(made)
}
