//! From an `Authorization` header to a [`Caller`].
//!
//! Known keys are remembered by hash and forgotten as soon as any process has changed a key, so a
//! revoked key is refused on its next request. A text that is not a key never reaches the database, and neither does
//! a key that does not exist ([`KeyHashes`]).

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ipnet::IpNet;
use sha2::{Digest as _, Sha256};

use crate::keys::{KEY_PREFIX, RANDOM_CHARS, acts_for_any};
use crate::{Caller, Error, Identity, Principal, Scope};
use toolgate_core::ids::UserId;
use toolgate_operation::caller::CallerKind;
use toolgate_operation::limits::limits_of;
use toolgate_store::{Changes, FoundKey, Store, Topic};

/// Keys remembered at one time.
const KNOWN_MAX: usize = 10_000;

/// Keys of which the hashes are kept. Where there are more, each unknown key is looked up.
const HASHES_MAX: usize = 500_000;

/// Keys seen since the last change to any key.
#[derive(Default)]
pub(crate) struct KnownKeys {
    known: Mutex<KeyCache>,
    hashes: tokio::sync::RwLock<KeyHashes>,
    /// Those that were used since the last write of when.
    used: Mutex<Vec<Arc<Holder>>>,
}

/// The first 64 bits of the hash of every key that is not revoked, read once after each change to any key. They say of
/// a key that it is unknown, so that a flood of unknown keys costs no query each, and never that it is good.
#[derive(Default)]
struct KeyHashes {
    /// The version of [`Topic::Keys`] that they are of.
    at: Option<i64>,
    /// `None`: there are more than [`HASHES_MAX`].
    starts: Option<HashSet<u64>>,
}

impl KeyHashes {
    fn says_unknown(&self, hash: &[u8; 32]) -> bool {
        let starts = self.starts.as_ref();
        starts.is_some_and(|starts| !starts.contains(&start_of(hash)))
    }
}

fn start_of(hash: &[u8; 32]) -> u64 {
    let start = hash.first_chunk().copied().unwrap_or_default();
    u64::from_be_bytes(start)
}

#[derive(Default)]
struct KeyCache {
    at: i64,
    keys: HashMap<[u8; 32], Arc<Holder>>,
}

/// A key ready to be checked and turned into callers.
pub(super) struct Holder {
    pub(super) principal: Arc<Principal>,
    revoked: bool,
    expires_at_ms: Option<i64>,
    networks: Vec<IpNet>,
    /// When it was last used, until that is written; 0: not since.
    used_at_ms: AtomicI64,
}

impl Holder {
    pub(super) fn from_found(found: FoundKey) -> Result<Self, Error> {
        let FoundKey { key, workspace } = found;
        let scopes: Box<[Scope]> = key
            .scopes
            .iter()
            .filter_map(|text| text.parse().ok())
            .collect();
        // A network that cannot be read back must not open the key to everyone.
        let networks = key.ip_allowlist.iter().map(|text| text.parse());
        let networks = networks
            .collect::<Result<_, _>>()
            .map_err(|cause: ipnet::AddrParseError| Error::Internal(cause.into()))?;
        let default_user =
            UserId::parse(&key.default_user).map_err(|cause| Error::Internal(cause.into()))?;
        let principal = Principal {
            confined: !acts_for_any(scopes.iter().copied()),
            scopes,
            limits: limits_of(&key, &workspace),
            default_user,
            workspace_id: workspace.id.into(),
            workspace_name: workspace.name.into(),
            default_permission: workspace.settings.default_permission,
            default_approvers: workspace.settings.default_approvers,
            keep_payloads: workspace.settings.keep_payloads,
            kind: CallerKind::Key,
            client_id: None,
            key_id: key.id.into(),
            key_name: key.name.into(),
            key_prefix: key.prefix.into(),
            role: None,
            operator: false,
        };
        Ok(Self {
            principal: Arc::new(principal),
            networks,
            revoked: key.revoked_at_ms.is_some(),
            expires_at_ms: key.expires_at_ms,
            used_at_ms: AtomicI64::new(0),
        })
    }

    pub(super) fn lives(&self, now_ms: i64) -> bool {
        !self.revoked && self.expires_at_ms.is_none_or(|at| at > now_ms)
    }

    pub(super) fn lets_in(&self, address: Option<IpAddr>) -> bool {
        let within = |ip: IpAddr| {
            let ip = ip.to_canonical();
            self.networks.iter().any(|network| network.contains(&ip))
        };
        self.networks.is_empty() || address.is_some_and(within)
    }
}

impl KnownKeys {
    fn get(&self, at: i64, hash: &[u8; 32]) -> Option<Arc<Holder>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at != at {
            known.keys.clear();
            known.at = at;
        }
        known.keys.get(hash).cloned()
    }

    fn put(&self, at: i64, hash: [u8; 32], holder: Arc<Holder>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at == at && known.keys.len() < KNOWN_MAX {
            known.keys.insert(hash, holder);
        }
    }

    /// Whether no key has this hash, at the version `at` of the keys.
    async fn is_unknown(&self, store: &Store, at: i64, hash: &[u8; 32]) -> Result<bool, Error> {
        {
            let hashes = self.hashes.read().await;
            if hashes.at == Some(at) {
                return Ok(hashes.says_unknown(hash));
            }
        }
        let mut hashes = self.hashes.write().await;
        // Another request may have read them meanwhile, of this version or of a later one.
        if hashes.at.is_none_or(|read| read < at) {
            let limit = i64::try_from(HASHES_MAX + 1).unwrap_or(i64::MAX);
            let all = store.key_hashes(limit).await?;
            let few = all.len() <= HASHES_MAX;
            let starts = all
                .iter()
                .filter_map(|hash| u64::from_str_radix(hash.get(..16)?, 16).ok());
            hashes.starts = few.then(|| starts.collect());
            hashes.at = Some(at);
        }
        Ok(hashes.says_unknown(hash))
    }

    fn note_use(&self, holder: &Arc<Holder>, now_ms: i64) {
        // Most requests come in the millisecond of another, or find their key in the list.
        if holder.used_at_ms.load(Ordering::Relaxed) == now_ms {
            return;
        }
        if holder.used_at_ms.swap(now_ms, Ordering::Relaxed) == 0 {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            used.push(holder.clone());
        }
    }

    /// The ids of the keys that were used since this was last asked, and when; an id may come twice.
    pub(crate) fn take_uses(&self) -> Vec<(String, i64)> {
        let used = std::mem::take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner));
        let taken = used.iter().map(|holder| {
            let at_ms = holder.used_at_ms.swap(0, Ordering::Relaxed);
            (holder.principal.key_id.to_string(), at_ms)
        });
        taken.collect()
    }
}

impl Identity {
    /// The caller behind a bearer token. `request_id`: `req_<ULID>`, for the answer and the log.
    ///
    /// # Errors
    /// `api_key_required` without a token; `invalid_api_key` for an unknown, expired or revoked
    /// one; `ip_not_allowed` outside the key's networks; `rate_limit_exceeded` beyond a limit of the
    /// key or its workspace, or after too many unknown keys from one address.
    pub async fn authenticate(
        &self,
        bearer: Option<&str>,
        request_id: String,
        address: Option<IpAddr>,
    ) -> Result<Caller, Error> {
        let token = bearer.ok_or(Error::ApiKeyRequired)?;
        if !looks_like_a_key(token) {
            return Err(Error::InvalidApiKey);
        }
        let changes = self.store.changes().await?;
        let holder = self
            .holder(token, changes, address)
            .await?
            .ok_or(Error::InvalidApiKey)?;
        let now_ms = self.clock.now_ms();
        if !holder.lives(now_ms) {
            return Err(Error::InvalidApiKey);
        }
        if !holder.lets_in(address) {
            return Err(Error::IpNotAllowed);
        }
        self.counts
            .count(&self.store, &holder.principal.limits, now_ms)
            .await?;
        self.known_keys.note_use(&holder, now_ms);
        Ok(Caller {
            principal: holder.principal.clone(),
            changes,
            request_id: request_id.into(),
            address,
        })
    }

    async fn holder(
        &self,
        token: &str,
        changes: Changes,
        address: Option<IpAddr>,
    ) -> Result<Option<Arc<Holder>>, Error> {
        let at = changes.get(Topic::Keys);
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(holder) = self.known_keys.get(at, &hash) {
            return Ok(Some(holder));
        }
        // Counted after it was looked for, so that no good key is refused for what others have sent.
        let found = match self.known_keys.is_unknown(&self.store, at, &hash).await? {
            true => None,
            false => self.store.find_key_by_hash(&hex::encode(hash)).await?,
        };
        let Some(found) = found else {
            self.counts.take_unknown_key(address, self.clock.now_ms())?;
            return Ok(None);
        };
        let holder = Arc::new(Holder::from_found(found)?);
        self.known_keys.put(at, hash, holder.clone());
        Ok(Some(holder))
    }
}

fn looks_like_a_key(token: &str) -> bool {
    token.strip_prefix(KEY_PREFIX).is_some_and(|random| {
        random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod limits;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_shape_of_a_key_reaches_the_database() {
        let good = format!("{KEY_PREFIX}{}", "a".repeat(RANDOM_CHARS));
        assert!(looks_like_a_key(&good));
        for bad in [
            "",
            "tg_live_",
            &good[1..],
            &format!("{good}b"),
            &good.replace('a', "-"),
        ] {
            assert!(!looks_like_a_key(bad), "{bad}");
        }
    }
}
