//! A plugin's key-value import, kept in the store for one session, service and connection.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::Gateway;
use crate::runtime::{Entry, KeyValue, KeyValueError};
use crate::store::{KvScope, KvSet, StoreError};

/// Keys of one page of `list-keys`.
const PAGE: usize = 100;

/// The values that one call may see.
pub(super) struct SessionState {
    pub gateway: Arc<Gateway>,
    pub scope: KvScope,
}

fn unavailable(cause: StoreError) -> KeyValueError {
    tracing::error!(error = %cause, "sessions.state_failed");
    KeyValueError::Unavailable
}

impl KeyValue for SessionState {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<Entry>, KeyValueError>> {
        async move {
            let found = self
                .gateway
                .store
                .kv_get(&self.scope, key, self.gateway.clock.now_ms())
                .await
                .map_err(unavailable)?;
            Ok(found.map(|entry| Entry {
                value: entry.value,
                version: entry.version,
            }))
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
