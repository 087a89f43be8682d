//! A plugin's key-value import, kept in the store for one session, service and connection; for a dry
//! run over it, in memory, so that nothing of it stays.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::Gateway;
use toolgate_runtime::{KeyValue, KeyValueError, StoredValue};
use toolgate_store::{KV_BYTES_MAX, KvScope, KvSet, KvValue};

/// Keys of one page of `list-keys`.
const PAGE: usize = 100;
/// Keys that one dry run may touch.
const SCRATCH_KEYS_MAX: usize = 4_096;

/// The values that one call may see.
pub(crate) struct SessionState {
    pub gateway: Arc<Gateway>,
    pub scope: KvScope,
    /// Set before the first value is kept.
    pub wrote: Arc<AtomicBool>,
}

fn unavailable(cause: impl Display) -> KeyValueError {
    tracing::error!(error = %cause, "sessions.state_failed");
    KeyValueError::Unavailable
}

impl KeyValue for SessionState {
    fn get<'a>(
        &'a self,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredValue>, KeyValueError>> {
        async move {
            let found = self
                .gateway
                .store
                .kv_get(&self.scope, key, self.gateway.clock.now_ms())
                .await
                .map_err(unavailable)?;
            let Some(entry) = found else {
                return Ok(None);
            };
            let version = entry.version;
            let value = self.gateway.opened_value(&self.scope, key, entry);
            let value = value.map_err(unavailable)?;
            Ok(Some(StoredValue { value, version }))
        }
        .boxed()
    }

    fn set<'a>(
        &'a self,
        key: &'a str,
        value: &'a [u8],
        ttl_seconds: Option<u32>,
        if_version: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>> {
        async move {
            let ttl_ms = ttl_seconds.map(|seconds| i64::from(seconds) * 1_000);
            self.wrote.store(true, Ordering::Relaxed);
            let sealed = self.gateway.sealed_value(&self.scope, key, value);
            let sealed = sealed.map_err(unavailable)?;
            let value = KvValue {
                sealed_key: Some(&sealed.key),
                bytes: &sealed.bytes,
                bytes_written: value.len(),
            };
            let set = self
                .gateway
                .store
                .kv_set(
                    &self.scope,
                    key,
                    value,
                    ttl_ms,
                    if_version,
                    self.gateway.clock.now_ms(),
                )
                .await
                .map_err(unavailable)?;
            match set {
                KvSet::Stored { version } => Ok(version),
                KvSet::VersionMismatch { .. } => Err(KeyValueError::Conflict),
                KvSet::OverQuota { .. } => Err(KeyValueError::Full),
            }
        }
        .boxed()
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>> {
        async move {
            self.gateway
                .store
                .kv_delete(&self.scope, key, self.gateway.clock.now_ms())
                .await
                .map(|_| ())
                .map_err(unavailable)
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(Vec<String>, Option<String>), KeyValueError>> {
        async move {
            self.gateway
                .store
                .kv_keys(
                    &self.scope,
                    prefix,
                    cursor,
                    PAGE,
                    self.gateway.clock.now_ms(),
                )
                .await
                .map_err(unavailable)
        }
        .boxed()
    }
}

/// What a dry run sees: the session's values, and over them its own, which end with it.
pub(crate) struct DryRunState {
    under: SessionState,
    /// `None`: deleted.
    over: Mutex<BTreeMap<String, Option<StoredValue>>>,
}

impl DryRunState {
    pub(crate) fn over(under: SessionState) -> Self {
        Self {
            under,
            over: Mutex::default(),
        }
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<String, Option<StoredValue>>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyValue for DryRunState {
    fn get<'a>(
        &'a self,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredValue>, KeyValueError>> {
        async move {
            let own = self.own().get(key).cloned();
            match own {
                Some(own) => Ok(own),
                None => self.under.get(key).await,
            }
        }
        .boxed()
    }

    fn set<'a>(
        &'a self,
        key: &'a str,
        value: &'a [u8],
        _ttl_seconds: Option<u32>,
        if_version: Option<u64>,
    ) -> BoxFuture<'a, Result<u64, KeyValueError>> {
        async move {
            let before = self.get(key).await?.map_or(0, |entry| entry.version);
            if if_version.is_some_and(|wanted| wanted != before) {
                return Err(KeyValueError::Conflict);
            }
            let mut own = self.own();
            if own.len() >= SCRATCH_KEYS_MAX && !own.contains_key(key) {
                return Err(KeyValueError::Full);
            }
            let others: usize = own
                .iter()
                .filter(|(other, _)| *other != key)
                .filter_map(|(other, entry)| Some(other.len() + entry.as_ref()?.value.len()))
                .sum();
            if (others + key.len() + value.len()) as u64 > KV_BYTES_MAX.unsigned_abs() {
                return Err(KeyValueError::Full);
            }
            let entry = StoredValue {
                value: value.to_vec(),
                version: before + 1,
            };
            own.insert(key.to_owned(), Some(entry));
            Ok(before + 1)
        }
        .boxed()
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), KeyValueError>> {
        let mut own = self.own();
        let fits = own.len() < SCRATCH_KEYS_MAX || own.contains_key(key);
        let done = if fits {
            own.insert(key.to_owned(), None);
            Ok(())
        } else {
            Err(KeyValueError::Full)
        };
        std::future::ready(done).boxed()
    }

    /// One page holds all keys: a session's state is small.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
        _cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(Vec<String>, Option<String>), KeyValueError>> {
        async move {
            let mut keys = std::collections::BTreeSet::new();
            let mut cursor: Option<String> = None;
            loop {
                let (page, next) = self.under.list(prefix, cursor.as_deref()).await?;
                keys.extend(page);
                match next {
                    Some(next) => cursor = Some(next),
                    None => break,
                }
            }
            for (key, entry) in self.own().iter().filter(|(key, _)| key.starts_with(prefix)) {
                if entry.is_some() {
                    keys.insert(key.clone());
                } else {
                    keys.remove(key);
                }
            }
            Ok((keys.into_iter().collect(), None))
        }
        .boxed()
    }
}
