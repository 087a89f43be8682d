//! API keys as owners and admins manage them in the dashboard: each change is in the audit log.

use ipnet::IpNet;
use serde_json::{Value, json};

use crate::keys::{self, CreatedKey, KeyInfo, NewKey};
use crate::{Caller, Error, Identity, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::UserId;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{ApiKey, KeyChange, Role};

/// What is to change of a key; what is absent stays. Of a limit, `Some(None)` takes it away.
#[derive(Clone, Debug, Default)]
pub struct ChangeKey {
    pub name: Option<String>,
    pub scopes: Option<Vec<Scope>>,
    pub rpm: Option<Option<u32>>,
    pub rpd: Option<Option<u32>>,
    pub expires_at_ms: Option<Option<i64>>,
    pub networks: Option<Vec<IpNet>>,
}

impl Identity {
    /// The workspace's keys, newest first, revoked ones too.
    pub async fn keys(&self, caller: &Caller) -> Result<Vec<KeyInfo>, Error> {
        caller.need_role(Role::Admin)?;
        keys::list(&self.store, &caller.workspace_id).await
    }

    /// Makes a key. What it answers is the only time at which the key can be read.
    pub async fn create_key(&self, caller: &Caller, new: NewKey) -> Result<CreatedKey, Error> {
        keys::create(&self.store, caller, new, self.clock.now_ms()).await
    }

    /// Changes name, scopes, limits or networks of a key, from its next request on.
    pub async fn change_key(
        &self,
        caller: &Caller,
        key_id: &str,
        change: ChangeKey,
    ) -> Result<KeyInfo, Error> {
        let row = self.living_key(caller, key_id).await?;
        let new = NewKey {
            name: change.name.clone().unwrap_or_else(|| row.name.clone()),
            scopes: change.scopes.clone().unwrap_or_else(|| scopes_of(&row)),
            rpm: change.rpm.unwrap_or_else(|| limit_of(row.rpm)),
            rpd: change.rpd.unwrap_or_else(|| limit_of(row.rpd)),
            expires_at_ms: change.expires_at_ms.unwrap_or(row.expires_at_ms),
            networks: match &change.networks {
                Some(networks) => networks.clone(),
                None => networks_of(&row)?,
            },
            user: user_of(&row)?,
        };
        keys::check(&new, self.clock.now_ms())?;
        let scopes = change.scopes.as_deref().map(scope_texts);
        let networks = change.networks.as_deref().map(network_texts);
        // What was only read is not written: somebody else may have changed it since.
        let columns = KeyChange {
            name: change.name.as_deref(),
            scopes: scopes.as_deref(),
            rpm: change.rpm.map(|rpm| rpm.map(i64::from)),
            rpd: change.rpd.map(|rpd| rpd.map(i64::from)),
            expires_at_ms: change.expires_at_ms,
            ip_allowlist: networks.as_deref(),
        };
        let details = change_details(&new.name, &columns);
        let changed = self
            .audited(caller, AuditAction::KeysChange, key_id, details)
            .update_key(&caller.workspace_id, key_id, &columns)
            .await?;
        Ok(changed.ok_or_else(|| unknown(key_id))?.into())
    }

    /// Makes a new key with the same settings. The old one stays good until it is revoked, so that
    /// applications can move over.
    pub async fn rotate_key(&self, caller: &Caller, key_id: &str) -> Result<CreatedKey, Error> {
        let row = self.living_key(caller, key_id).await?;
        // For the checks alone: the new key gets what the old one has at the moment at which it is kept.
        let new = NewKey {
            name: row.name.clone(),
            user: user_of(&row)?,
            scopes: scopes_of(&row),
            rpm: limit_of(row.rpm),
            rpd: limit_of(row.rpd),
            expires_at_ms: row.expires_at_ms,
            networks: networks_of(&row)?,
        };
        let now_ms = self.clock.now_ms();
        keys::make(&self.store, caller, new, Some(key_id), now_ms).await
    }

    /// Revokes a key: its next request is refused, and there is no way back.
    pub async fn revoke_key(&self, caller: &Caller, key_id: &str) -> Result<KeyInfo, Error> {
        self.key_row(caller, key_id).await?;
        keys::revoke(&self.store, caller, key_id, self.clock.now_ms()).await
    }

    async fn key_row(&self, caller: &Caller, key_id: &str) -> Result<ApiKey, Error> {
        caller.need_role(Role::Admin)?;
        let rows = self.store.list_keys(&caller.workspace_id).await?;
        rows.into_iter()
            .find(|row| row.id == key_id)
            .ok_or_else(|| unknown(key_id))
    }

    async fn living_key(&self, caller: &Caller, key_id: &str) -> Result<ApiKey, Error> {
        let row = self.key_row(caller, key_id).await?;
        if row.revoked_at_ms.is_some() {
            return Err(keys::revoked());
        }
        Ok(row)
    }
}

fn scopes_of(row: &ApiKey) -> Vec<Scope> {
    row.scopes
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect()
}

fn scope_texts(scopes: &[Scope]) -> Vec<String> {
    let texts = scopes.iter().map(|scope| scope.into_str().to_owned());
    texts.collect()
}

fn network_texts(networks: &[IpNet]) -> Vec<String> {
    networks.iter().map(ToString::to_string).collect()
}

/// The name of the key, and what was given.
fn change_details(name: &str, change: &KeyChange<'_>) -> Value {
    let mut details = json!({ "name": name });
    if let Some(scopes) = change.scopes {
        details["scopes"] = json!(scopes);
    }
    if let Some(rpm) = change.rpm {
        details["rpm"] = json!(rpm);
    }
    if let Some(rpd) = change.rpd {
        details["rpd"] = json!(rpd);
    }
    if let Some(expires_at_ms) = change.expires_at_ms {
        details["expires_at"] = json!(expires_at_ms.map(rfc3339));
    }
    if let Some(networks) = change.ip_allowlist {
        details["ip_allowlist"] = json!(networks);
    }
    details
}

fn limit_of(stored: Option<i64>) -> Option<u32> {
    stored.and_then(|limit| u32::try_from(limit).ok())
}

/// A network that cannot be read back must not open the key to everyone.
fn networks_of(row: &ApiKey) -> Result<Vec<IpNet>, Error> {
    row.ip_allowlist
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, _>>()
        .map_err(|cause: ipnet::AddrParseError| Error::Internal(cause.into()))
}

fn user_of(row: &ApiKey) -> Result<UserId, Error> {
    UserId::parse(&row.default_user).map_err(|cause| Error::Internal(cause.into()))
}

fn unknown(key_id: &str) -> Error {
    Error::NotFound(format!(
        "the key {}",
        toolgate_core::visible::shown_name(key_id)
    ))
}
