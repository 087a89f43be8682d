//! Operator settings of services, ready for calls: what a plugin may read and which addresses the
//! operator has named.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arc_swap::ArcSwap;
use serde_json::{Value, json};

use crate::audit::AuditAction;
use crate::plugins::ServingPlugin;
use crate::{Caller, Error};
use toolgate_catalog::manifest::Manifest;
use toolgate_egress::Grant;
use toolgate_store::{ALL_WORKSPACES, Changes, Role, Store, Topic};

const VALUE_BYTES_MAX: usize = 4 << 10;

/// Key to JSON document.
type Values = BTreeMap<String, String>;

/// Every setting of every service, as of the last change.
pub(crate) struct Services {
    at: AtomicI64,
    /// By service, then by workspace (or all).
    settings: ArcSwap<HashMap<String, HashMap<String, Arc<Values>>>>,
    /// What holds where nothing is set.
    none: Arc<Values>,
    reading: tokio::sync::Mutex<()>,
}

impl Default for Services {
    fn default() -> Self {
        Self {
            at: AtomicI64::new(i64::MIN),
            settings: ArcSwap::default(),
            none: Arc::default(),
            reading: tokio::sync::Mutex::default(),
        }
    }
}

impl Services {
    /// Reads the settings again if any process has changed one.
    pub(crate) async fn refresh(&self, store: &Store, changes: Changes) -> Result<(), Error> {
        let now = changes.get(Topic::Services);
        if self.at.load(Ordering::Acquire) == now {
            return Ok(());
        }
        let _one = self.reading.lock().await;
        if self.at.load(Ordering::Acquire) == now {
            return Ok(());
        }
        let mut settings: HashMap<String, HashMap<String, Arc<Values>>> = HashMap::new();
        for row in store.list_service_config().await? {
            let of_service = settings.entry(row.service).or_default();
            let values = of_service.entry(row.workspace_id).or_default();
            Arc::make_mut(values).insert(row.key, row.value);
        }
        self.settings.store(Arc::new(settings));
        self.at.store(now, Ordering::Release);
        Ok(())
    }

    /// What holds for a workspace: its own values over those for all.
    pub(crate) fn get(&self, workspace_id: &str, service: &str) -> Arc<Values> {
        let settings = self.settings.load();
        let at = |workspace: &str| settings.get(service)?.get(workspace).cloned();
        match (at(ALL_WORKSPACES), at(workspace_id)) {
            (None, None) => self.none.clone(),
            (Some(one), None) | (None, Some(one)) => one,
            (Some(all), Some(own)) => {
                let mut merged = BTreeMap::clone(&all);
                merged.extend(own.iter().map(|(key, value)| (key.clone(), value.clone())));
                Arc::new(merged)
            }
        }
    }
}

/// What a plugin may reach with these settings: its approved hosts, and as exact origins the
/// addresses that the operator wrote into settings with `adds_host`.
pub(crate) fn grant(
    serving: &ServingPlugin,
    settings: &BTreeMap<String, String>,
) -> Result<Arc<Grant>, Error> {
    let origins: Vec<String> = named_origins(&serving.manifest, settings).collect();
    if origins.is_empty() {
        return Ok(serving.grant.clone());
    }
    Grant::new(&serving.manifest.hosts, &origins)
        .map(Arc::new)
        .map_err(|cause| Error::Internal(cause.into()))
}

/// The addresses that the operator wrote into settings with `adds_host`.
pub(crate) fn named_origins<'a>(
    manifest: &'a Manifest,
    settings: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = String> + 'a {
    manifest
        .config
        .iter()
        .filter(|key| key.adds_host)
        .filter_map(|key| serde_json::from_str::<String>(settings.get(&key.key)?).ok())
}

/// What is to change about the settings of a service, for one workspace or [`ALL_WORKSPACES`].
#[derive(Clone, Copy, Debug)]
pub struct ChangeSettings<'a> {
    pub manifest: &'a Manifest,
    pub workspace_id: &'a str,
    /// As written on the command line: JSON where it parses as such, else text.
    pub set: &'a [(String, String)],
    pub unset: &'a [String],
}

/// Sets operator settings of a service after checking each against the manifest's schema.
pub async fn configure(
    store: &Store,
    caller: &Caller,
    change: ChangeSettings<'_>,
    now_ms: i64,
) -> Result<BTreeMap<String, Value>, Error> {
    caller.need_role(Role::Admin)?;
    let ChangeSettings {
        manifest,
        workspace_id,
        set: values,
        unset,
    } = change;
    let mut checked = BTreeMap::new();
    for (key, text) in values {
        let declared = manifest
            .config
            .iter()
            .find(|declared| declared.key == *key)
            .ok_or_else(|| {
                let known: Vec<&str> = manifest
                    .config
                    .iter()
                    .map(|declared| declared.key.as_str())
                    .collect();
                let known = if known.is_empty() {
                    "it has none".to_owned()
                } else {
                    known.join(", ")
                };
                Error::InvalidRequest(format!(
                    "{} has no setting {key}; its settings: {known}",
                    manifest.service
                ))
            })?;
        if text.len() > VALUE_BYTES_MAX {
            return Err(Error::InvalidRequest(format!(
                "a setting is at most {VALUE_BYTES_MAX} bytes long"
            )));
        }
        let value = parse_value(text, &declared.schema);
        if let Some(problem) = toolgate_catalog::value_problem(&declared.schema, &value) {
            return Err(Error::InvalidRequest(format!("{key}: {problem}")));
        }
        if declared.adds_host {
            let address = value.as_str().unwrap_or_default();
            Grant::new(&[], &[address.to_owned()])
                .map_err(|cause| Error::InvalidRequest(format!("{key}: {cause}")))?;
        }
        checked.insert(key.clone(), value);
    }
    let stored = checked
        .iter()
        .map(|(key, value)| (key.clone(), value.to_string()))
        .collect();
    let service = &manifest.service;
    let details = json!({
        "set": checked.keys().collect::<Vec<_>>(),
        "removed": unset,
        "everywhere": workspace_id == ALL_WORKSPACES,
    });
    caller
        .audited(
            store,
            now_ms,
            AuditAction::ServicesConfigure,
            service,
            details,
        )
        .change_service_config(workspace_id, service, &stored, unset, now_ms)
        .await?;
    Ok(checked)
}

/// `8080` is a number unless the schema wants a string.
pub fn parse_value(text: &str, schema: &Value) -> Value {
    let wants_text = schema.get("type").is_some_and(|kind| kind == "string");
    if wants_text {
        return Value::String(text.to_owned());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}
