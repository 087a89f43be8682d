//! The small store behind a plugin's `kv` import: values by workspace, session, service and
//! the connection that the call ran with.
//!
//! A value has a version that grows by one with each write, for compare-and-set. Keys and values
//! of one service and connection in one session together hold at most [`KV_BYTES_MAX`].

use super::page::one_more;
use super::{DatabaseKind, Store, StoreError, portable};
use toolgate_core::text::Text;

/// Bytes of all keys and values of one service and connection in one session.
pub const KV_BYTES_MAX: i64 = 64 * 1024;

/// Whose values: no plugin sees those of another service, session or workspace, and no call those of
/// another account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvScope {
    pub workspace_id: Text,
    pub session_id: Text,
    pub service: Text,
    /// None for a call that runs without one.
    pub connection_id: Option<Text>,
}

impl KvScope {
    /// As it is kept: nothing for none.
    fn connection(&self) -> &str {
        self.connection_id.as_deref().unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvEntry {
    /// The key of a sealed value; `None` for one that an earlier version wrote in clear.
    pub sealed_key: Option<String>,
    pub value: Vec<u8>,
    pub version: u64,
}

/// A value as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct KvValue<'a> {
    pub sealed_key: Option<&'a str>,
    pub bytes: &'a [u8],
    /// Of what the plugin wrote: these count.
    pub bytes_written: usize,
}

impl<'a> KvValue<'a> {
    pub fn clear(bytes: &'a [u8]) -> Self {
        Self {
            sealed_key: None,
            bytes,
            bytes_written: bytes.len(),
        }
    }
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KvSet {
    Stored {
        version: u64,
    },
    /// Not written: `found` is the version that is there, 0 for none.
    VersionMismatch {
        found: u64,
    },
    /// Not written: together it would have been this many bytes.
    OverQuota {
        bytes: u64,
    },
}

/// Of PostgreSQL: one writer of the scope at a time, because quota and version are read before they are
/// written.
macro_rules! lock_scope {
    ($tx:expr, $scope:expr) => {
        sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2 || '/' || $3 || '/' || $4, 0))")
            .bind($scope.workspace_id.as_str())
            .bind($scope.session_id.as_str())
            .bind($scope.service.as_str())
            .bind($scope.connection())
            .execute(&mut *$tx)
            .await?
    };
}

/// Deletes what has expired.
macro_rules! expire {
    ($tx:expr, $scope:expr, $now_ms:expr) => {
        sqlx::query(
            "DELETE FROM session_kv WHERE workspace_id = $1 AND session_id = $2 AND service = $3 \
             AND connection_id = $4 AND expires_at_ms <= $5",
        )
        .bind($scope.workspace_id.as_str())
        .bind($scope.session_id.as_str())
        .bind($scope.service.as_str())
        .bind($scope.connection())
        .bind($now_ms)
        .execute(&mut *$tx)
        .await?
    };
}

/// The bytes of the scope's other values.
macro_rules! bytes_of_others {
    ($tx:expr, $scope:expr, $key:expr) => {{
        let others: i64 = sqlx::query_scalar(
            "SELECT CAST(COALESCE(SUM(octet_length(key) + COALESCE(value_bytes, octet_length(value))), 0) AS BIGINT) FROM session_kv \
             WHERE workspace_id = $1 AND session_id = $2 AND service = $3 \
             AND connection_id = $4 AND key <> $5",
        )
        .bind($scope.workspace_id.as_str())
        .bind($scope.session_id.as_str())
        .bind($scope.service.as_str())
        .bind($scope.connection())
        .bind($key)
        .fetch_one(&mut *$tx)
        .await?;
        others
    }};
}

impl Store {
    pub async fn kv_get(
        &self,
        scope: &KvScope,
        key: &str,
        now_ms: i64,
    ) -> Result<Option<KvEntry>, StoreError> {
        let row: Option<(Option<String>, Vec<u8>, i64)> = portable!(read self, db => {
            sqlx::query_as(
                "SELECT sealed_key, value, version FROM session_kv WHERE workspace_id = $1 AND session_id = $2 AND service = $3 \
                 AND connection_id = $4 AND key = $5 AND (expires_at_ms IS NULL OR expires_at_ms > $6)",
            )
            .bind(scope.workspace_id.as_str())
            .bind(scope.session_id.as_str())
            .bind(scope.service.as_str())
            .bind(scope.connection())
            .bind(key)
            .bind(now_ms)
            .fetch_optional(db)
            .await?
        });
        Ok(row.map(|(sealed_key, value, version)| KvEntry {
            sealed_key,
            value,
            version: version.unsigned_abs(),
        }))
    }

    /// Writes a value. `if_version`: `None` always, `Some(0)` only where it does not exist, else only
    /// over that version. `ttl_ms`: `None` for as long as the session lives.
    pub async fn kv_set(
        &self,
        scope: &KvScope,
        key: &str,
        value: KvValue<'_>,
        ttl_ms: Option<i64>,
        if_version: Option<u64>,
        now_ms: i64,
    ) -> Result<KvSet, StoreError> {
        let own_bytes = i64::try_from(key.len() + value.bytes_written).unwrap_or(i64::MAX);
        Ok(portable!(write unnoticed self, tx => {
            if self.kind() == DatabaseKind::Postgres {
                lock_scope!(tx, scope);
            }
            expire!(tx, scope, now_ms);
            let found: Option<i64> = sqlx::query_scalar(
                "SELECT version FROM session_kv \
                 WHERE workspace_id = $1 AND session_id = $2 AND service = $3 \
                 AND connection_id = $4 AND key = $5",
            )
            .bind(scope.workspace_id.as_str())
            .bind(scope.session_id.as_str())
            .bind(scope.service.as_str())
            .bind(scope.connection())
            .bind(key)
            .fetch_optional(&mut *tx)
            .await?;
            let found = found.unwrap_or(0);
            if if_version.is_some_and(|expected| expected != found.unsigned_abs()) {
                return Ok(KvSet::VersionMismatch { found: found.unsigned_abs() });
            }
            let bytes = bytes_of_others!(tx, scope, key).saturating_add(own_bytes);
            if bytes > KV_BYTES_MAX {
                return Ok(KvSet::OverQuota { bytes: bytes.unsigned_abs() });
            }
            sqlx::query(
                "INSERT INTO session_kv \
                 (workspace_id, session_id, service, connection_id, key, value, version, expires_at_ms, updated_at_ms, \
                 sealed_key, value_bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
                 ON CONFLICT (workspace_id, session_id, service, connection_id, key) \
                 DO UPDATE SET value = excluded.value, version = excluded.version, \
                 sealed_key = excluded.sealed_key, value_bytes = excluded.value_bytes, \
                 expires_at_ms = excluded.expires_at_ms, updated_at_ms = excluded.updated_at_ms",
            )
            .bind(scope.workspace_id.as_str())
            .bind(scope.session_id.as_str())
            .bind(scope.service.as_str())
            .bind(scope.connection())
            .bind(key)
            .bind(value.bytes)
            .bind(found + 1)
            .bind(ttl_ms.map(|ttl| now_ms.saturating_add(ttl)))
            .bind(now_ms)
            .bind(value.sealed_key)
            .bind(i64::try_from(value.bytes_written).unwrap_or(i64::MAX))
            .execute(&mut *tx)
            .await?;
            KvSet::Stored { version: (found + 1).unsigned_abs() }
        }))
    }

    /// `false`: there was no such value.
    pub async fn kv_delete(
        &self,
        scope: &KvScope,
        key: &str,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        Ok(portable!(write unnoticed self, tx => {
            sqlx::query(
                "DELETE FROM session_kv WHERE workspace_id = $1 AND session_id = $2 AND service = $3 \
                 AND connection_id = $4 AND key = $5 \
                 AND (expires_at_ms IS NULL OR expires_at_ms > $6)",
            )
            .bind(scope.workspace_id.as_str())
            .bind(scope.session_id.as_str())
            .bind(scope.service.as_str())
            .bind(scope.connection())
            .bind(key)
            .bind(now_ms)
            .execute(&mut *tx)
            .await?
            .rows_affected() == 1
        }))
    }

    /// Keys that begin with `prefix`, in byte order, and the cursor of the next page.
    pub async fn kv_keys(
        &self,
        scope: &KvScope,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        now_ms: i64,
    ) -> Result<(Vec<String>, Option<String>), StoreError> {
        let mut keys: Vec<String> = portable!(read self, db => {
            sqlx::query_scalar(
                "SELECT key FROM session_kv WHERE workspace_id = $1 AND session_id = $2 AND service = $3 \
                 AND connection_id = $4 AND key > $5 AND substr(key, 1, length($6)) = $6 \
                 AND (expires_at_ms IS NULL OR expires_at_ms > $7) ORDER BY key LIMIT $8",
            )
            .bind(scope.workspace_id.as_str())
            .bind(scope.session_id.as_str())
            .bind(scope.service.as_str())
            .bind(scope.connection())
            .bind(after.unwrap_or(""))
            .bind(prefix)
            .bind(now_ms)
            .bind(one_more(limit))
            .fetch_all(db)
            .await?
        });
        let more = keys.len() > limit;
        keys.truncate(limit);
        let next = keys.last().filter(|_| more).cloned();
        Ok((keys, next))
    }
}
