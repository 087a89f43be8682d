//! What this process knows of secrets, by service, so that no answer hands one back.
//!
//! Before a call begins, everything that its user's connections to the service hold is learned
//! ([`ConnectionManager::learned_for`]), whatever the call sends; what other users' calls brought here stays known,
//! since a provider may repeat one caller's credential to the next. Only hashes of fragments are kept
//! ([`toolgate_egress::LearnedSecrets`]), built once for each stored credential. Bounded: a service that has filled
//! its share begins anew, and what was known before stays known for one more share.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use url::Url;

use super::credential::OpenCredential;
use super::lend::{injection, is_secret};
use super::{ConnectionManager, Error, apps, slot_of};
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_egress::{LearnedSecrets, inject};
use toolgate_store::Connection;
use toolgate_vault::Secret;

/// Fragments of one service, some 30 bytes each, before it begins anew.
const FRAGMENTS_MAX: usize = 100_000;

/// By service.
#[derive(Default)]
pub(super) struct KnownSecrets {
    services: Mutex<HashMap<String, Shares>>,
    marks: RandomState,
}

#[derive(Default)]
struct Shares {
    young: Share,
    old: Share,
}

#[derive(Default)]
struct Share {
    learned: Arc<LearnedSecrets>,
    /// Stored credentials that are in it.
    marks: HashSet<u64>,
}

impl KnownSecrets {
    fn services(&self) -> MutexGuard<'_, HashMap<String, Shares>> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stands for one stored credential.
    fn mark(&self, row: &Connection) -> u64 {
        self.marks
            .hash_one((&row.workspace_id, &row.id, row.generation, &row.sealed))
    }

    fn has(&self, service: &str, mark: u64) -> bool {
        self.services()
            .get(service)
            .is_some_and(|shares| shares.young.marks.contains(&mark))
    }

    /// Learns secrets of a service.
    pub(super) fn learn<'a>(
        &self,
        service: &str,
        mark: Option<u64>,
        secrets: impl IntoIterator<Item = &'a [u8]>,
    ) {
        let learned = {
            let mut services = self.services();
            let shares = services.entry(service.to_owned()).or_default();
            if shares.young.learned.fragments() >= FRAGMENTS_MAX {
                shares.old = std::mem::take(&mut shares.young);
            }
            shares.young.learned.clone()
        };
        learned.learn(secrets);
        if let Some(mark) = mark {
            let mut services = self.services();
            let shares = services.entry(service.to_owned()).or_default();
            shares.young.marks.insert(mark);
        }
    }

    /// All that is known of a service.
    fn for_service(&self, service: &str) -> Vec<Arc<LearnedSecrets>> {
        let services = self.services();
        let shares = services.get(service);
        let all = shares
            .into_iter()
            .flat_map(|shares| [&shares.young, &shares.old]);
        all.map(|share| share.learned.clone()).collect()
    }
}

impl ConnectionManager {
    /// What a call of the service must not hand back: all that these connections hold, and what this
    /// process has met before.
    pub(super) async fn learned_for(
        &self,
        manifest: &Manifest,
        rows: &[Connection],
    ) -> Result<Vec<Arc<LearnedSecrets>>, Error> {
        let service = &manifest.service;
        for row in rows.iter().filter(|row| row.service == *service) {
            let mark = self.known.mark(row);
            if self.known.has(service, mark) {
                continue;
            }
            // What cannot be opened cannot be sent either.
            let Ok(credential) = self.open(row) else {
                tracing::warn!(connection.id = row.id, "connections.not_opened");
                continue;
            };
            let slot = slot_of(manifest, &row.slot);
            let mut secrets = secrets_of(slot, &credential, &row.parameters, manifest);
            if slot.is_some_and(apps::needs_app)
                && let Some(app) = apps::find(&self.store, manifest, &row.workspace_id).await?
            {
                let secret = apps::secret(&self.vault, &app)?;
                secrets.extend(secret.iter().map(|secret| Secret::new(secret.expose())));
            }
            let bytes = secrets.iter().map(|secret| secret.expose().as_bytes());
            self.known.learn(service, Some(mark), bytes);
        }
        Ok(self.known.for_service(service))
    }
}

/// Every secret of a credential, and the texts that short ones are written as.
pub(super) fn secrets_of(
    slot: Option<&Slot>,
    credential: &OpenCredential,
    parameters: &BTreeMap<String, String>,
    manifest: &Manifest,
) -> Vec<Secret> {
    let values = credential.values.iter();
    let mut secrets: Vec<Secret> = values
        .filter(|(field, _)| is_secret(slot, field))
        .map(|(_, value)| value.clone())
        .chain(credential.refresh.clone())
        .chain(credential.spent.iter().cloned())
        .collect();
    if let Some(slot) = slot {
        secrets.extend(written(slot, credential, parameters, manifest));
    }
    secrets
}

fn written(
    slot: &Slot,
    credential: &OpenCredential,
    parameters: &BTreeMap<String, String>,
    manifest: &Manifest,
) -> Vec<Secret> {
    let settings = BTreeMap::new();
    let injection = injection(slot, parameters, manifest, &settings, credential.clone(), 0);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let Ok(url) = Url::parse("https://host.invalid/") else {
        return Vec::new();
    };
    let mut draft = inject::Draft {
        method: http::Method::POST,
        url,
        headers,
        body: Bytes::new(),
    };
    let secret =
        |field: &str| credential.values.contains_key(field) && is_secret(Some(slot), field);
    let written = inject::write(&mut draft, &injection, parameters, secret);
    written
        .unwrap_or_default()
        .into_iter()
        .map(Secret::new)
        .collect()
}
