//! One call of a plugin under test: what the gateway would have given it, made up where nothing real is given.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::Value;
use toolgate_catalog::manifest::{Effect, Manifest};
use toolgate_catalog::{stand_ins, write_integers};
use toolgate_core::clock::Clock;
use toolgate_egress::{
    AllowedQueries, CallLimits, CallScope, Declarations, DescribedSend, ExchangeObserver, Grant,
    Mode,
};
use toolgate_runtime::{Call, CallEnd, CallListener, CallLog, Random, Requester, size};

use super::{TestCall, TestPlugin};
use crate::credentials::TestCredentials;
use crate::state::Memory;

/// Placeholder for the address that an operator sets.
const OWN_ADDRESS: &str = "https://self-hosted.example.org";
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time that a call without real credentials sees: 1 January 2026, so that its requests are the same each time.
const FIXED_NOW_MS: i64 = 1_767_225_600_000;

impl TestPlugin {
    pub(super) async fn call(
        &self,
        test_call: &TestCall,
        mode: Mode,
        observer: Option<ExchangeObserver>,
    ) -> anyhow::Result<(CallEnd, Arc<CallScope>)> {
        let manifest = &self.manifest;
        let parameters = parameters(manifest, test_call)?;
        let config = config(manifest, test_call, &parameters);
        let scope = scope(manifest, test_call, parameters, &config, mode)?;
        let mut scope = declared(scope, manifest, test_call, &config);
        if let Some(observer) = observer {
            scope = scope.with_observer(observer);
        }
        let scope = Arc::new(scope);
        let call = runtime_call(manifest, test_call, config, scope.clone());
        let began = Instant::now();
        let ended = self.runtime.invoke(&self.plugin, call).await?;
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(began.elapsed());
        drop(calls);
        Ok((ended, scope))
    }
}

/// The connection parameters: those given, over made up ones, or over the defaults with real credentials.
fn parameters(
    manifest: &Manifest,
    test_call: &TestCall,
) -> anyhow::Result<BTreeMap<String, String>> {
    let mut parameters = if test_call.secrets.is_some() {
        defaults(manifest, &test_call.parameters)?
    } else {
        stand_ins::parameters(manifest)
    };
    parameters.extend(test_call.parameters.clone());
    Ok(parameters)
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

/// The operator's settings as JSON texts, with the connection parameters among them.
fn config(
    manifest: &Manifest,
    test_call: &TestCall,
    parameters: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let made_up = test_call.secrets.is_none() && !test_call.replayed;
    let addresses = manifest
        .config
        .iter()
        .filter(|key| key.adds_host && made_up);
    let mut config: BTreeMap<String, String> = addresses
        .map(|key| (key.key.clone(), Value::from(OWN_ADDRESS).to_string()))
        .collect();
    let given = test_call.config.iter();
    config.extend(given.map(|(key, value)| (key.clone(), value.to_string())));
    for (key, value) in parameters {
        config
            .entry(key.clone())
            .or_insert_with(|| Value::from(value.as_str()).to_string());
    }
    config
}

/// What the call may reach, with the credentials of the connection.
fn scope(
    manifest: &Manifest,
    test_call: &TestCall,
    parameters: BTreeMap<String, String>,
    config: &BTreeMap<String, String>,
    mode: Mode,
) -> anyhow::Result<CallScope> {
    let hosts = manifest.config.iter().filter(|key| key.adds_host);
    let addresses: BTreeMap<String, String> = hosts
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
    Ok(CallScope::new(
        Arc::new(grant),
        parameters,
        Arc::new(credentials),
        CallLimits::default(),
        mode,
    ))
}

/// Narrows a scope to what the manifest declares for the plugin and the tool.
fn declared(
    scope: CallScope,
    manifest: &Arc<Manifest>,
    test_call: &TestCall,
    config: &BTreeMap<String, String>,
) -> CallScope {
    let mut scope = scope.with_declarations(Declarations::new(manifest.clone()));
    let mut tools = manifest.tools.iter();
    let tool = tools.find(|tool| tool.name == test_call.tool);
    if let Some(request) = tool.and_then(|tool| tool.request.as_ref()) {
        let arguments = test_call.arguments.to_string();
        scope = scope.sending(DescribedSend::new(request, config, &arguments));
    }
    if let Some(tool) = tool.filter(|tool| tool.effect == Effect::Read) {
        scope = scope.reading(AllowedQueries::new(&tool.queries, config));
    }
    if test_call.replayed {
        scope = scope.without_retries();
    }
    scope
}

fn runtime_call(
    manifest: &Manifest,
    test_call: &TestCall,
    config: BTreeMap<String, String>,
    scope: Arc<CallScope>,
) -> Call {
    let mut arguments = test_call.arguments.clone();
    write_integers(&mut arguments);
    Call {
        requester: Requester::default(),
        tool: test_call.tool.clone(),
        arguments: arguments.to_string(),
        files: Arc::default(),
        session: None,
        cursor: test_call.cursor.clone(),
        meta: "{}".to_owned(),
        scope,
        kv: Arc::new(Memory::default()),
        config: Arc::new(config),
        timeout: TIMEOUT,
        memory_bytes_max: size::memory_bytes_max(&manifest.limits),
        response_bytes_max: CallLimits::default().response_bytes_max,
        now_ms: if test_call.secrets.is_some() {
            Clock::system().now_ms()
        } else {
            FIXED_NOW_MS
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
    }
}
