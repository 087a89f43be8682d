//! API keys: what is kept of one, which is never the key itself.

use serde_json::json;

use super::changes::bump;
use super::error::inserted;
use super::events::emit;
use super::text::Json;
use super::{Event, EventType, Store, StoreError, Topic, Workspace, Writer, portable};
use crate::columns::{returning, select};

/// A key without its hash.
#[derive(Clone, Debug, PartialEq, sqlx::FromRow)]
pub struct ApiKey {
    /// `key_<ULID>`.
    pub id: String,
    pub workspace_id: String,
    pub name: String,
    /// First eight characters of the random part.
    pub prefix: String,
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub scopes: Vec<String>,
    pub default_user: String,
    /// Requests a minute and a day; absent: only the workspace's limit.
    pub rpm: Option<i64>,
    pub rpd: Option<i64>,
    pub expires_at_ms: Option<i64>,
    /// Networks in CIDR form; empty: any address.
    #[sqlx(try_from = "Json<Vec<String>>")]
    pub ip_allowlist: Vec<String>,
    pub created_at_ms: i64,
    pub revoked_at_ms: Option<i64>,
    pub last_used_at_ms: Option<i64>,
}

/// What to change of a key; `None` keeps. Of a limit and of the expiry, `Some(None)` takes it away.
#[derive(Clone, Debug, Default)]
pub struct KeyChange<'a> {
    pub name: Option<&'a str>,
    pub scopes: Option<&'a [String]>,
    pub rpm: Option<Option<i64>>,
    pub rpd: Option<Option<i64>>,
    pub expires_at_ms: Option<Option<i64>>,
    pub ip_allowlist: Option<&'a [String]>,
}

/// A key and the workspace it opens. Revoked and expired keys are found too: refusing them is the
/// caller's decision, taken at the caller's time.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundKey {
    pub key: ApiKey,
    pub workspace: Workspace,
}

/// The outcome of a request to revoke.
#[derive(Clone, Debug, PartialEq)]
pub enum RevokeOutcome {
    Done(ApiKey),
    Already(ApiKey),
    /// Several living keys have this prefix or name; nothing was changed.
    Ambiguous(Vec<ApiKey>),
    NotFound,
}

fn key_event(kind: EventType, key: &ApiKey, at_ms: i64) -> Event {
    let data = json!({
        "key_id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes,
        "user_id": key.default_user,
    });
    Event::new(kind, &key.workspace_id, at_ms, data)
}

impl Store {
    /// The hashes of all keys that are not revoked, at most `limit`.
    pub async fn key_hashes(&self, limit: i64) -> Result<Vec<String>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_scalar("SELECT hash FROM api_keys WHERE revoked_at_ms IS NULL LIMIT $1")
                .bind(limit)
                .fetch_all(db)
                .await?
        }))
    }

    /// The key with this hash and its workspace, in whatever state.
    pub async fn find_key_by_hash(&self, hash: &str) -> Result<Option<FoundKey>, StoreError> {
        let key: Option<ApiKey> = portable!(read self, db => {
            sqlx::query_as(select!(api_keys, "WHERE hash = $1")).bind(hash).fetch_optional(db).await?
        });
        let Some(key) = key else { return Ok(None) };
        let workspace = self.find_workspace(&key.workspace_id).await?;
        Ok(workspace.map(|workspace| FoundKey { key, workspace }))
    }

    /// The key with this id and its workspace, in whatever state.
    pub async fn find_key(&self, id: &str) -> Result<Option<FoundKey>, StoreError> {
        let key: Option<ApiKey> = portable!(read self, db => {
            sqlx::query_as(select!(api_keys, "WHERE id = $1")).bind(id).fetch_optional(db).await?
        });
        let Some(key) = key else { return Ok(None) };
        let workspace = self.find_workspace(&key.workspace_id).await?;
        Ok(workspace.map(|workspace| FoundKey { key, workspace }))
    }

    /// Newest first, revoked ones too.
    pub async fn list_keys(&self, workspace_id: &str) -> Result<Vec<ApiKey>, StoreError> {
        Ok(portable!(read self, db => {
            sqlx::query_as(select!(api_keys, "WHERE workspace_id = $1 ORDER BY created_at_ms DESC, id DESC"))
                .bind(workspace_id)
                .fetch_all(db)
                .await?
        }))
    }

    /// What [`Writer::revoke_key`] would do now: `Done` carries the living key that it would revoke.
    pub async fn find_key_to_revoke(
        &self,
        workspace_id: &str,
        which: &str,
    ) -> Result<RevokeOutcome, StoreError> {
        let mut named = self.list_keys(workspace_id).await?;
        named.retain(|key| key.id == which || key.prefix == which || key.name == which);
        Ok(choose(named, which))
    }

    /// Notes when keys were last used: `(key id, time)`. Never moves a time backwards and does not
    /// make caches stale.
    pub async fn touch_keys(&self, used: &[(String, i64)]) -> Result<(), StoreError> {
        // In order, so that two processes never wait for one another.
        let mut used: Vec<&(String, i64)> = used.iter().collect();
        used.sort();
        portable!(write self, tx => {
            for (id, at_ms) in &used {
                sqlx::query(
                    "UPDATE api_keys SET last_used_at_ms = $2 \
                     WHERE id = $1 AND (last_used_at_ms IS NULL OR last_used_at_ms < $2)",
                )
                .bind(id)
                .bind(at_ms)
                .execute(&mut *tx)
                .await?;
            }
        });
        Ok(())
    }
}

impl Writer {
    /// Keeps a new key. `hash` is the SHA-256 of the whole key as 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`StoreError::Taken`] for a hash that is there already, [`StoreError::NoSuchParent`] for an
    /// unknown workspace.
    pub async fn insert_key(&self, key: &ApiKey, hash: &str) -> Result<(), StoreError> {
        portable!(write self, tx => {
            let done = sqlx::query(
                "INSERT INTO api_keys (id, workspace_id, name, hash, prefix, scopes, default_user, rpm, rpd, \
                 expires_at_ms, ip_allowlist, created_at_ms, revoked_at_ms, last_used_at_ms) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (hash) DO NOTHING",
            )
            .bind(&key.id)
            .bind(&key.workspace_id)
            .bind(&key.name)
            .bind(hash)
            .bind(&key.prefix)
            .bind(Json(&key.scopes))
            .bind(&key.default_user)
            .bind(key.rpm)
            .bind(key.rpd)
            .bind(key.expires_at_ms)
            .bind(Json(&key.ip_allowlist))
            .bind(key.created_at_ms)
            .bind(key.revoked_at_ms)
            .bind(key.last_used_at_ms)
            .execute(&mut *tx)
            .await?;
            inserted(done.rows_affected(), "API key")?;
            bump!(tx, Topic::Keys);
            emit!(tx, self, &[key_event(EventType::ApiKeyCreated, key, key.created_at_ms)]);
        });
        Ok(())
    }

    /// Changes what is given of a living key, so that of two changes at the same time neither takes the other
    /// back. `None`: no such id.
    pub async fn update_key(
        &self,
        workspace_id: &str,
        id: &str,
        change: &KeyChange<'_>,
    ) -> Result<Option<ApiKey>, StoreError> {
        Ok(portable!(write self, tx => {
            let updated: Option<ApiKey> = sqlx::query_as(
                returning!(
                    api_keys,
                    "UPDATE api_keys SET name = COALESCE($3, name), scopes = COALESCE($4, scopes), \
                     ip_allowlist = COALESCE($5, ip_allowlist), rpm = CASE WHEN $6 THEN $7 ELSE rpm END, \
                     rpd = CASE WHEN $8 THEN $9 ELSE rpd END, \
                     expires_at_ms = CASE WHEN $10 THEN $11 ELSE expires_at_ms END \
                     WHERE workspace_id = $1 AND id = $2 AND revoked_at_ms IS NULL"
                ),
            )
            .bind(workspace_id)
            .bind(id)
            .bind(change.name)
            .bind(change.scopes.map(Json))
            .bind(change.ip_allowlist.map(Json))
            .bind(change.rpm.is_some())
            .bind(change.rpm.flatten())
            .bind(change.rpd.is_some())
            .bind(change.rpd.flatten())
            .bind(change.expires_at_ms.is_some())
            .bind(change.expires_at_ms.flatten())
            .fetch_optional(&mut *tx)
            .await?;
            bump!(tx, Topic::Keys);
            updated
        }))
    }

    /// Keeps a new key with the settings that the living key `of` has now. Of `new` id, prefix and time count.
    /// `None`: there is no living key `of`.
    ///
    /// # Errors
    /// [`StoreError::Taken`] for a hash that is there already.
    pub async fn insert_key_like(
        &self,
        of: &str,
        new: &ApiKey,
        hash: &str,
    ) -> Result<Option<ApiKey>, StoreError> {
        Ok(portable!(write self, tx => {
            let living: Option<String> = sqlx::query_scalar(
                "UPDATE api_keys SET name = name WHERE workspace_id = $1 AND id = $2 AND revoked_at_ms IS NULL \
                 RETURNING id",
            )
            .bind(&new.workspace_id)
            .bind(of)
            .fetch_optional(&mut *tx)
            .await?;
            if living.is_none() {
                return Ok(None);
            }
            let inserted: Option<ApiKey> = sqlx::query_as(
                returning!(
                    api_keys,
                    "INSERT INTO api_keys (id, workspace_id, name, hash, prefix, scopes, default_user, rpm, rpd, \
                     expires_at_ms, ip_allowlist, created_at_ms) SELECT $3, workspace_id, name, $4, $5, scopes, \
                     default_user, rpm, rpd, expires_at_ms, ip_allowlist, $6 FROM api_keys \
                     WHERE workspace_id = $1 AND id = $2 ON CONFLICT (hash) DO NOTHING"
                ),
            )
            .bind(&new.workspace_id)
            .bind(of)
            .bind(&new.id)
            .bind(hash)
            .bind(&new.prefix)
            .bind(new.created_at_ms)
            .fetch_optional(&mut *tx)
            .await?;
            let Some(key) = inserted else {
                return Err(StoreError::Taken("API key"));
            };
            bump!(tx, Topic::Keys);
            emit!(tx, self, &[key_event(EventType::ApiKeyCreated, &key, key.created_at_ms)]);
            Some(key)
        }))
    }

    /// Revokes the living key that `which` names: its id, else its prefix or name if only one has it.
    pub async fn revoke_key(
        &self,
        workspace_id: &str,
        which: &str,
        at_ms: i64,
    ) -> Result<RevokeOutcome, StoreError> {
        Ok(portable!(write self, tx => {
            let named: Vec<ApiKey> = sqlx::query_as(
                select!(
                    api_keys,
                    "WHERE workspace_id = $1 AND (id = $2 OR prefix = $2 OR name = $2) \
                     ORDER BY created_at_ms DESC, id DESC"
                ),
            )
            .bind(workspace_id)
            .bind(which)
            .fetch_all(&mut *tx)
            .await?;
            let mut key = match choose(named, which) {
                RevokeOutcome::Done(key) => key,
                other => return Ok(other),
            };
            let done = sqlx::query("UPDATE api_keys SET revoked_at_ms = $2 WHERE id = $1 AND revoked_at_ms IS NULL")
                .bind(&key.id)
                .bind(at_ms)
                .execute(&mut *tx)
                .await?;
            bump!(tx, Topic::Keys);
            key.revoked_at_ms.get_or_insert(at_ms);
            if done.rows_affected() == 1 {
                emit!(tx, self, &[key_event(EventType::ApiKeyRevoked, &key, at_ms)]);
            }
            if done.rows_affected() == 1 { RevokeOutcome::Done(key) } else { RevokeOutcome::Already(key) }
        }))
    }
}

/// Which of the keys that go by `which` is meant: `Done` carries the one to revoke.
fn choose(named: Vec<ApiKey>, which: &str) -> RevokeOutcome {
    if let Some(key) = named.iter().find(|key| key.id == which).cloned() {
        return if key.revoked_at_ms.is_none() {
            RevokeOutcome::Done(key)
        } else {
            RevokeOutcome::Already(key)
        };
    }
    let (mut living, mut revoked): (Vec<_>, Vec<_>) = named
        .into_iter()
        .partition(|key| key.revoked_at_ms.is_none());
    match (living.len(), revoked.is_empty()) {
        (1, _) => RevokeOutcome::Done(living.swap_remove(0)),
        (0, true) => RevokeOutcome::NotFound,
        (0, false) => RevokeOutcome::Already(revoked.swap_remove(0)),
        _ => RevokeOutcome::Ambiguous(living),
    }
}
