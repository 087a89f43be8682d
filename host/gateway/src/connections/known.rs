//! What this process knows of secrets, so that no answer hands one back.
//!
//! Before a call begins, everything that its user's connections to the service hold is learned
//! ([`ConnectionManager::known_for`]), whatever the call sends, and is searched for piece by piece. A provider may
//! repeat one caller's credential to the next, so the keys of a workspace's other users are searched for too, but only
//! whole: what is removed from one user's answers must not say what pieces of another's key are. Only hashes of fragments
//! are kept ([`toolgate_egress::LearnedSecrets`]), built once for each stored credential. Bounded: what has filled its
//! share begins anew, and what was known before stays known for one more share.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use url::Url;

use super::credential::OpenCredential;
use super::lend::{injection, is_secret};
use super::{ConnectionManager, Error, apps, slot_of};
use toolgate_catalog::manifest::{Manifest, Slot};
use toolgate_egress::{Exposure, LearnedSecrets, Scrubber, inject, looks_like_key};
use toolgate_store::Connection;
use toolgate_vault::Secret;

/// Fragments of one share, some 60 bytes each, before it is replaced by an empty one.
const FRAGMENTS_MAX: usize = 400_000;
/// Users and services whose exposure is counted, before those of whom nothing came back are forgotten.
const EXPOSURES_KEPT_MAX: usize = 20_000;

#[derive(Default)]
pub(super) struct KnownSecrets {
    /// By stored credential.
    own: Mutex<Generations<u64>>,
    /// By workspace and service: the keys of all users.
    others: Mutex<Generations<(String, String)>>,
    /// By workspace, user and service.
    exposures: Mutex<HashMap<u64, Arc<Exposure>>>,
    marks: RandomState,
}

/// The younger and the older half of what is known.
struct Generations<K> {
    young: HashMap<K, Arc<LearnedSecrets>>,
    old: HashMap<K, Arc<LearnedSecrets>>,
    /// What was added to `young`.
    fragments: usize,
}

impl<K> Default for Generations<K> {
    fn default() -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            fragments: 0,
        }
    }
}

impl<K: Hash + Eq + Clone> Generations<K> {
    fn find(&self, key: &K) -> Option<Arc<LearnedSecrets>> {
        self.young.get(key).or_else(|| self.old.get(key)).cloned()
    }

    /// Counts what was added, and lets the older half go once the younger one is full.
    fn added(&mut self, fragments: usize) {
        self.fragments += fragments;
        if self.fragments >= FRAGMENTS_MAX {
            self.old = std::mem::take(&mut self.young);
            self.fragments = 0;
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl KnownSecrets {
    /// Stands for one stored credential.
    fn mark(&self, row: &Connection) -> u64 {
        self.marks
            .hash_one((&row.workspace_id, &row.id, row.generation, &row.sealed))
    }

    /// Learns the secrets of one stored credential.
    fn own(&self, mark: u64, secrets: &[Secret]) -> Arc<LearnedSecrets> {
        let learned = Arc::new(LearnedSecrets::default());
        learned.learn(secrets.iter().map(|secret| secret.expose().as_bytes()));
        let mut own = locked(&self.own);
        own.young.insert(mark, learned.clone());
        own.added(learned.fragments());
        learned
    }

    /// Learns what a refresh brought, also for the calls that run with the credential of before.
    pub(super) fn learn(&self, row: &Connection, secrets: &[Secret]) {
        let known = locked(&self.own).find(&self.mark(row));
        if let Some(learned) = known {
            learned.learn(secrets.iter().map(|secret| secret.expose().as_bytes()));
        }
        self.teach_others(&row.workspace_id, &row.service, secrets);
    }

    /// Learns the keys among `secrets` for the other users of the workspace. A word that a member enters as a password
    /// must not vanish from the answers of the others.
    fn teach_others(&self, workspace_id: &str, service: &str, secrets: &[Secret]) {
        let keys = secrets.iter().map(Secret::expose);
        let keys: Vec<&[u8]> = keys
            .filter(|secret| looks_like_key(secret))
            .map(str::as_bytes)
            .collect();
        self.teach(workspace_id, service, &keys);
    }

    /// Learns what calls of the service hand back to no user of the workspace.
    fn teach(&self, workspace_id: &str, service: &str, wholes: &[&[u8]]) {
        let key = (workspace_id.to_owned(), service.to_owned());
        let learned = {
            let mut others = locked(&self.others);
            let learned = others.young.entry(key);
            learned
                .or_insert_with(|| Arc::new(LearnedSecrets::only_wholes()))
                .clone()
        };
        let before = learned.fragments();
        learned.learn(wholes.iter().copied());
        locked(&self.others).added(learned.fragments().saturating_sub(before));
    }

    fn others(&self, workspace_id: &str, service: &str) -> Vec<Arc<LearnedSecrets>> {
        let key = (workspace_id.to_owned(), service.to_owned());
        let others = locked(&self.others);
        let both = [others.young.get(&key), others.old.get(&key)];
        both.into_iter().flatten().cloned().collect()
    }

    /// What has come back of one user's credentials for a service. It outlives each of them: whether one may still be
    /// used is asked about its own parts.
    pub(super) fn exposure(
        &self,
        workspace_id: &str,
        user_id: &str,
        service: &str,
    ) -> Arc<Exposure> {
        let key = self.marks.hash_one((workspace_id, user_id, service));
        let mut exposures = locked(&self.exposures);
        if exposures.len() >= EXPOSURES_KEPT_MAX {
            exposures.retain(|_, one| !one.is_empty() || Arc::strong_count(one) > 1);
        }
        exposures.entry(key).or_default().clone()
    }
}

/// What a call must not hand back, and how much of it has come back already.
#[derive(Clone, Default)]
pub(crate) struct CallSecrets {
    /// With the id of its connection.
    own: Vec<(String, Arc<LearnedSecrets>)>,
    others: Vec<Arc<LearnedSecrets>>,
    exposure: Option<Arc<Exposure>>,
}

impl CallSecrets {
    pub(crate) fn scrubber(&self) -> Scrubber {
        let own = self.own.iter().map(|(_, learned)| learned.clone());
        Scrubber::knowing(own.collect())
            .with_others(self.others.clone())
            .counted_by(self.exposure.clone())
    }

    /// The connection of which so much came back that its user has to connect it again.
    pub(super) fn exposed(&self) -> Option<&str> {
        let exposure = self.exposure.as_ref()?;
        let mut own = self.own.iter();
        let exposed = own.find(|(_, learned)| learned.is_exposed(exposure))?;
        Some(&exposed.0)
    }
}

impl ConnectionManager {
    /// What a call of the service must not hand back: all that these connections hold, and the keys of other users
    /// that this process has met before.
    pub(super) async fn known_for(
        &self,
        workspace_id: &str,
        manifest: &Manifest,
        rows: &[Connection],
    ) -> Result<CallSecrets, Error> {
        let service = &manifest.service;
        let rows: Vec<&Connection> = rows.iter().filter(|row| row.service == *service).collect();
        let mut own = Vec::with_capacity(rows.len());
        for row in &rows {
            let mark = self.known.mark(row);
            let known = locked(&self.known.own).find(&mark);
            if let Some(learned) = known {
                own.push((row.id.clone(), learned));
                continue;
            }
            // What cannot be opened cannot be sent either.
            let Ok(credential) = self.open(row) else {
                tracing::warn!(connection.id = row.id, "connections.not_opened");
                continue;
            };
            let slot = slot_of(manifest, &row.slot);
            let secrets = secrets_of(slot, &credential, &row.parameters, manifest);
            own.push((row.id.clone(), self.known.own(mark, &secrets)));
            self.known.teach_others(workspace_id, service, &secrets);
            // The operator's, and so of no user whose guesses would be confirmed piece by piece.
            if slot.is_some_and(apps::needs_app)
                && let Some(app) = apps::find(&self.store, manifest, &row.workspace_id).await?
                && let Some(secret) = apps::secret(&self.vault, &app)?
            {
                self.known
                    .teach(workspace_id, service, &[secret.expose().as_bytes()]);
            }
        }
        Ok(CallSecrets {
            own,
            others: self.known.others(workspace_id, service),
            exposure: rows
                .first()
                .map(|row| self.known.exposure(workspace_id, &row.user_id, service)),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_others_are_known_whole_within_the_workspace_and_the_service() {
        let known = KnownSecrets::default();
        let key = "sk_live_9aT3xQ7mZ2kV8bN4wR6y";
        known.teach_others(
            "ours",
            "spy",
            &[Secret::new(key), Secret::new("subscriptions")],
        );
        let seen = |workspace_id: &str, service: &str, text: &str| {
            let others = known.others(workspace_id, service);
            let scrubber = Scrubber::default().with_others(others);
            scrubber.text(text).into_owned()
        };
        assert!(!seen("ours", "spy", key).contains("9aT3xQ7m"));
        for (workspace_id, service, text) in [
            ("theirs", "spy", key),
            ("ours", "mail", key),
            ("ours", "spy", &key[..18]),
            ("ours", "spy", "subscriptions"),
        ] {
            assert_eq!(
                seen(workspace_id, service, text),
                text,
                "{workspace_id} {service}"
            );
        }
    }
}
