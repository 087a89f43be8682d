//! Trying a plugin without a gateway: in the real sandbox, behind the real egress, with planted
//! credentials.
//!
//! [`replay`] answers a plugin's requests from an example file, [`generate`] makes arguments from a
//! schema so that [`Rig::plan`] can show what every tool would send. Nothing here leaves the machine.

pub mod generate;
pub mod replay;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::catalog::manifest::{AuthKind, Manifest, Slot};
use crate::egress::{
    AllowUpstream, CallLimits, Credentials, Egress, EgressConfig, Failure, FailureKind, Grant,
    Injection, Mode, PlannedRequest, Scope, SlotShape,
};
use crate::runtime::{
    Call, Ended, Entry, Inspected, KeyValue, KeyValueError, Plugin, Runtime, limits,
};
use crate::vault::Secret;

/// Begins every planted credential value.
pub const PLANTED: &str = "planted-credential-";
/// Address that stands for an operator's own.
const OWN_ADDRESS: &str = "https://self-hosted.example.org";

/// A plugin file ready to be called.
pub struct Rig {
    runtime: Runtime,
    plugin: Plugin,
    pub manifest: Arc<Manifest>,
}

/// What one call is made with.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    pub tool: String,
    pub arguments: Value,
    pub cursor: Option<String>,
    pub parameters: BTreeMap<String, String>,
    pub config: BTreeMap<String, Value>,
    /// Slots that are connected; all where absent.
    pub connected: Option<Vec<String>>,
}

impl Rig {
    /// Inspects a plugin file as the loader does and makes it callable. `upstreams` as
    /// `HOST=URL`; compiled code is kept in `cache`.
    pub async fn open(file: &Path, upstreams: &[String], cache: &Cache) -> anyhow::Result<Self> {
        let allow_upstreams = upstreams
            .iter()
            .map(|text| AllowUpstream::parse(text))
            .collect::<Result<Vec<_>, _>>()?;
        let egress = Egress::new(EgressConfig {
            allow_upstreams,
            ..EgressConfig::default()
        })?;
        let runtime = Runtime::open(cache.path(), [7; 32], egress)?;
        let inspected: Inspected = runtime.inspect(std::fs::read(file)?).await?;
        let plugin = Plugin::new(&inspected.manifest.service, &inspected.sha256, file);
        Ok(Self {
            runtime,
            plugin,
            manifest: Arc::new(inspected.manifest),
        })
    }

    /// Runs a tool; its requests go out.
    pub async fn run(&self, trial: &Trial) -> anyhow::Result<Ended> {
        Ok(self.call(trial, Mode::Live).await?.0)
    }

    /// Runs a tool up to its first request and answers what it would have sent.
    pub async fn plan(&self, trial: &Trial) -> anyhow::Result<(Ended, Vec<PlannedRequest>)> {
        let (ended, scope) = self.call(trial, Mode::DryRun).await?;
        Ok((ended, scope.planned()))
    }

    async fn call(&self, trial: &Trial, mode: Mode) -> anyhow::Result<(Ended, Arc<Scope>)> {
        let manifest = &self.manifest;
        let mut parameters = parameters(manifest);
        parameters.extend(trial.parameters.clone());
        let mut config: BTreeMap<String, String> = BTreeMap::new();
        for key in manifest.config.iter().filter(|key| key.adds_host) {
            config.insert(key.key.clone(), Value::from(OWN_ADDRESS).to_string());
        }
        config.extend(
            trial
                .config
                .iter()
                .map(|(key, value)| (key.clone(), value.to_string())),
        );
        for (key, value) in &parameters {
            config
                .entry(key.clone())
                .or_insert_with(|| Value::from(value.as_str()).to_string());
        }
        let origins: Vec<String> = manifest
            .config
            .iter()
            .filter(|key| key.adds_host)
            .filter_map(|key| serde_json::from_str(config.get(&key.key)?).ok())
            .collect();
        let grant = Grant::new(&manifest.hosts, &origins)?;
        let credentials = Planted {
            slots: manifest.auth.clone(),
            connected: trial.connected.clone(),
            parameters: parameters.clone(),
            origins,
        };
        let scope = Arc::new(Scope::new(
            Arc::new(grant),
            parameters,
            Arc::new(credentials),
            CallLimits::default(),
            mode,
        ));
        let call = Call {
            tool: trial.tool.clone(),
            arguments: trial.arguments.to_string(),
            session: None,
            cursor: trial.cursor.clone(),
            meta: "{}".to_owned(),
            scope: scope.clone(),
            kv: Arc::new(Memory::default()),
            config: Arc::new(config),
            timeout: Duration::from_secs(30),
            memory_bytes_max: limits::MEMORY_BYTES_MAX,
            response_bytes_max: CallLimits::default().response_bytes_max,
            now_ms: 1_767_225_600_000,
        };
        let ended = self.runtime.invoke(&self.plugin, call).await?;
        Ok((ended, scope))
    }
}

/// A value for every connection parameter: its default, its first option or one that fits.
fn parameters(manifest: &Manifest) -> BTreeMap<String, String> {
    let mut made = BTreeMap::new();
    for parameter in &manifest.parameters {
        let pattern = parameter
            .pattern
            .as_deref()
            .and_then(|pattern| regex::Regex::new(pattern).ok());
        let fits = |text: &&str| {
            pattern
                .as_ref()
                .is_none_or(|pattern| pattern.is_match(text))
        };
        let known = parameter
            .default
            .clone()
            .or_else(|| parameter.options.first().cloned());
        let guess = [
            "example",
            "1",
            "us1",
            "EXAMPLE",
            "a1b2c3d4",
            "00000000-0000-4000-8000-000000000000",
        ]
        .into_iter()
        .find(fits);
        made.insert(
            parameter.key.clone(),
            known.unwrap_or_else(|| guess.unwrap_or("example").to_owned()),
        );
    }
    for key in manifest
        .auth
        .iter()
        .flat_map(|slot| slot.token_parameters.keys())
    {
        made.entry(key.clone())
            .or_insert_with(|| "example".to_owned());
    }
    made
}

/// Every slot connected, with values that can be recognised.
struct Planted {
    slots: Vec<Slot>,
    connected: Option<Vec<String>>,
    parameters: BTreeMap<String, String>,
    /// Addresses that the operator set.
    origins: Vec<String>,
}

impl Planted {
    fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots
            .iter()
            .find(|slot| slot.slot == name && self.connected(name))
    }

    fn audience(&self, slot: &Slot) -> Vec<String> {
        let filled = slot.audience.iter().map(|origin| {
            self.parameters
                .iter()
                .fold(origin.clone(), |text, (key, value)| {
                    text.replace(&format!("{{{key}}}"), value)
                })
        });
        let own = self.origins.iter().filter_map(|address| {
            let url = url::Url::parse(address).ok()?;
            Some(url.origin().ascii_serialization())
        });
        filled
            .filter(|origin| !origin.starts_with('{'))
            .chain(own)
            .collect()
    }
}

impl Credentials for Planted {
    fn fetch<'a>(
        &'a self,
        slot: &'a str,
        _rejected: Option<u64>,
    ) -> BoxFuture<'a, Result<Injection, Failure>> {
        let injection = self.slot(slot).map(|slot| {
            let mut fields: Vec<&str> =
                slot.fields.iter().map(|field| field.key.as_str()).collect();
            if fields.is_empty() {
                fields = match slot.kind {
                    AuthKind::Basic => vec!["username", "password"],
                    _ => vec!["secret"],
                };
            }
            fields.extend(["secret", "client_id"]);
            let mut values: BTreeMap<String, Secret> = fields
                .into_iter()
                .map(|key| (key.to_owned(), Secret::new(format!("{PLANTED}{key}"))))
                .collect();
            for (key, value) in &self.parameters {
                values
                    .entry(key.clone())
                    .or_insert_with(|| Secret::new(value.clone()));
            }
            Injection {
                slot: slot.slot.clone(),
                generation: 1,
                placements: slot.placement.clone(),
                values,
                audience: self.audience(slot),
            }
        });
        let missing = || Failure {
            kind: FailureKind::AuthRequired,
            message: format!("the slot {slot} is not connected"),
            sent: false,
        };
        std::future::ready(injection.ok_or_else(missing)).boxed()
    }

    fn connected(&self, slot: &str) -> bool {
        self.connected
            .as_ref()
            .is_none_or(|list| list.iter().any(|name| name == slot))
    }

    fn is_secret(&self, _slot: &str, field: &str) -> bool {
        !self.parameters.contains_key(field)
    }

    fn slot_for_origin(&self, origin: &str) -> Option<String> {
        let slot = self
            .slots
            .iter()
            .find(|slot| self.audience(slot).iter().any(|own| own == origin))?;
        Some(slot.slot.clone())
    }

    fn shape(&self, slot: &str) -> Option<SlotShape> {
        let slot = self.slot(slot)?;
        Some(SlotShape {
            placements: slot.placement.clone(),
            audience: self.audience(slot),
        })
    }
}

/// State for one call.
#[derive(Default)]
struct Memory {
    entries: Mutex<BTreeMap<String, Entry>>,
}

impl KeyValue for Memory {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Entry>, KeyValueError>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        std::future::ready(Ok(entries.get(key).cloned())).boxed()
    }

    fn set<'a>(
        &'a self,
        key: &'a str,
        value: &'a [u8],
        _ttl_seconds: Option<u32>,
        if_version: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let version = entries.get(key).map_or(0, |entry| entry.version);
        let outcome = if if_version.is_some_and(|wanted| wanted != version) {
            Err(KeyValueError::Conflict)
        } else {
            entries.insert(
                key.to_owned(),
                Entry {
                    value: value.to_vec(),
                    version: version + 1,
                },
            );
            Ok(version + 1)
        };
        std::future::ready(outcome).boxed()
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>> {
        self.entries
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key);
        std::future::ready(Ok(())).boxed()
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        _cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(Vec<String>, Option<String>), KeyValueError>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = entries
            .keys()
            .filter(|key| key.starts_with(prefix))
            .cloned()
            .collect();
        std::future::ready(Ok((keys, None))).boxed()
    }
}

pub use cache::Cache;

mod cache {
    use std::path::{Path, PathBuf};

    /// Compiled code of one test run: a folder that goes away with its value.
    pub struct Cache(PathBuf);

    impl Cache {
        pub fn new() -> std::io::Result<Self> {
            let name = format!(
                "toolgate-trial-{}-{:016x}",
                std::process::id(),
                rand::random::<u64>()
            );
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir(&path)?;
            Ok(Self(path))
        }

        pub(super) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Cache {
        fn drop(&mut self) {
            // What stays behind is compiled code in the system's folder for such things.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
