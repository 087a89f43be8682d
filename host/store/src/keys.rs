//! API keys: what is kept of one, which is never the key itself.

use serde_json::json;

use super::changes::bump;
use super::error::inserted;
use super::events::emit;
use super::text::Json;
use super::{Event, EventType, Store, StoreError, Topic, Workspace, portable};
use crate::columns::select;

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

/// A key and the workspace it opens. Revoked and expired keys are found too: refusing them is the
/// caller's decision, taken at the caller's time.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundKey {
    pub key: ApiKey,
    pub workspace: Workspace,
}

/// What became of a request to revoke.
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

    /// Replaces name, scopes, limits and networks of a living key. `false`: there is none with this id.
    pub async fn update_key(&self, key: &ApiKey) -> Result<bool, StoreError> {
        Ok(portable!(write self, tx => {
            let done = sqlx::query(
                "UPDATE api_keys SET name = $3, scopes = $4, rpm = $5, rpd = $6, expires_at_ms = $7, \
                 ip_allowlist = $8 WHERE workspace_id = $1 AND id = $2 AND revoked_at_ms IS NULL",
            )
            .bind(&key.workspace_id)
            .bind(&key.id)
            .bind(&key.name)
            .bind(Json(&key.scopes))
            .bind(key.rpm)
            .bind(key.rpd)
            .bind(key.expires_at_ms)
            .bind(Json(&key.ip_allowlist))
            .execute(&mut *tx)
            .await?;
            bump!(tx, Topic::Keys);
            done.rows_affected() == 1
        }))
    }

    /// What [`Store::revoke_key`] would do now: `Done` carries the living key that it would revoke.
    pub async fn find_key_to_revoke(
        &self,
        workspace_id: &str,
        which: &str,
    ) -> Result<RevokeOutcome, StoreError> {
        let mut named = self.list_keys(workspace_id).await?;
        named.retain(|key| key.id == which || key.prefix == which || key.name == which);
        Ok(choose(named, which))
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

    /// Notes when keys were last used: `(key id, time)`. Never moves a time backwards and does not
    /// make caches stale.
    pub async fn touch_keys(&self, used: &[(String, i64)]) -> Result<(), StoreError> {
        portable!(write self, tx => {
            for (id, at_ms) in used {
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
