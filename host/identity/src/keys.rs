//! API keys: made, listed and revoked, in the dashboard and at the command line.

use ipnet::IpNet;
use rand::RngExt as _;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{Caller, Error, Scope};
use toolgate_core::clock::rfc3339;
use toolgate_core::ids::{self, UserId};
use toolgate_operation::audit::AuditAction;
use toolgate_store::{ApiKey, RevokeOutcome, Role, Store};
use toolgate_vault::Secret;

/// What every key begins with.
pub const KEY_PREFIX: &str = "tg_live_";
/// Base62 characters after the prefix: 256 bits.
pub const RANDOM_CHARS: usize = 43;
/// Characters of the random part that are kept for people to recognise a key by.
const SHOWN_CHARS: usize = 8;
const NAME_CHARS_MAX: usize = 100;
const NETWORKS_MAX: usize = 100;
/// What a key may do when nobody says otherwise: everything an agent needs, and nothing that changes what other agents
/// read or whose account is used.
pub const DEFAULT_SCOPES: [Scope; 4] = [
    Scope::ToolsRead,
    Scope::ToolsExecute,
    Scope::SkillsRead,
    Scope::ConnectionsFirst,
];
/// A key's own limits end here, whatever the workspace's plan.
pub const RPM_MAX: u32 = 1_000;
pub const RPD_MAX: u32 = 1_000_000;

/// Whether a key with these scopes acts for every user of its workspace. `admin` holds every scope.
pub fn acts_for_any(scopes: impl IntoIterator<Item = Scope>) -> bool {
    scopes
        .into_iter()
        .any(|scope| matches!(scope, Scope::UsersAny | Scope::Admin))
}

/// What a new key may do.
#[derive(Clone, Debug)]
pub struct NewKey {
    pub name: String,
    pub user: UserId,
    pub scopes: Vec<Scope>,
    pub rpm: Option<u32>,
    pub rpd: Option<u32>,
    pub expires_at_ms: Option<i64>,
    pub networks: Vec<IpNet>,
}

/// A key at the only moment at which it can be read.
#[derive(Debug)]
pub struct CreatedKey {
    pub key: Secret,
    pub info: KeyInfo,
}

/// What is known of a key afterwards.
#[derive(Clone, Debug, Serialize)]
pub struct KeyInfo {
    pub key_id: String,
    pub name: String,
    pub prefix: String,
    pub scopes: Vec<String>,
    pub user_id: String,
    /// Whether it acts for every user of the workspace, and not for `user_id` alone.
    pub users_any: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpm: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpd: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    pub ip_allowlist: Vec<String>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

impl From<ApiKey> for KeyInfo {
    fn from(key: ApiKey) -> Self {
        Self {
            key_id: key.id,
            name: key.name,
            prefix: key.prefix,
            users_any: acts_for_any(key.scopes.iter().filter_map(|text| text.parse().ok())),
            scopes: key.scopes,
            user_id: key.default_user,
            rpm: key.rpm,
            rpd: key.rpd,
            expires_at: key.expires_at_ms.map(rfc3339),
            ip_allowlist: key.ip_allowlist,
            created_at: rfc3339(key.created_at_ms),
            revoked_at: key.revoked_at_ms.map(rfc3339),
            last_used_at: key.last_used_at_ms.map(rfc3339),
        }
    }
}

/// Makes a key; only its SHA-256 and eight characters of it are kept.
pub async fn create(
    store: &Store,
    caller: &Caller,
    new: NewKey,
    now_ms: i64,
) -> Result<CreatedKey, Error> {
    make(store, caller, new, None, now_ms).await
}

/// `of`: the id of the key that this one is to take the place of.
pub(crate) async fn make(
    store: &Store,
    caller: &Caller,
    new: NewKey,
    of: Option<&str>,
    now_ms: i64,
) -> Result<CreatedKey, Error> {
    caller.need_role(Role::Admin)?;
    check(&new, now_ms)?;
    let random = random_base62(RANDOM_CHARS);
    let random = random.expose();
    let key = format!("{KEY_PREFIX}{random}");
    let row = ApiKey {
        id: ids::ulid("key"),
        workspace_id: caller.workspace_id.to_string(),
        name: new.name,
        prefix: random[..SHOWN_CHARS].to_owned(),
        scopes: new
            .scopes
            .iter()
            .map(|scope| scope.into_str().to_owned())
            .collect(),
        default_user: new.user.to_string(),
        rpm: new.rpm.map(i64::from),
        rpd: new.rpd.map(i64::from),
        expires_at_ms: new.expires_at_ms,
        ip_allowlist: new.networks.iter().map(ToString::to_string).collect(),
        created_at_ms: now_ms,
        revoked_at_ms: None,
        last_used_at_ms: None,
    };
    let (action, details) = match of {
        None => (
            AuditAction::KeysCreate,
            json!({ "name": row.name, "prefix": row.prefix, "scopes": row.scopes }),
        ),
        Some(of) => (
            AuditAction::KeysRotate,
            json!({ "of": of, "prefix": row.prefix }),
        ),
    };
    let audited = caller.audited(store, now_ms, action, &row.id, details);
    let hash = hex::encode(Sha256::digest(key.as_bytes()));
    let row = match of {
        None => {
            audited.insert_key(&row, &hash).await?;
            row
        }
        // Somebody may have taken a scope from the other key since it was read.
        Some(of) => {
            let inserted = audited.insert_key_like(of, &row, &hash).await?;
            inserted.ok_or_else(revoked)?
        }
    };
    Ok(CreatedKey {
        key: Secret::new(key),
        info: row.into(),
    })
}

pub(crate) fn revoked() -> Error {
    Error::Conflict("the key is revoked".to_owned())
}

pub(crate) fn check(key: &NewKey, now_ms: i64) -> Result<(), Error> {
    let name_chars = key.name.chars().count();
    if key.name.trim().is_empty()
        || name_chars > NAME_CHARS_MAX
        || key.name.chars().any(char::is_control)
    {
        return Err(Error::InvalidRequest(format!(
            "a key's name has 1 to {NAME_CHARS_MAX} characters"
        )));
    }
    in_range("requests a minute", key.rpm, RPM_MAX)?;
    in_range("requests a day", key.rpd, RPD_MAX)?;
    if key.networks.len() > NETWORKS_MAX {
        return Err(Error::InvalidRequest(format!(
            "a key has at most {NETWORKS_MAX} networks"
        )));
    }
    if key.expires_at_ms.is_some_and(|at| at <= now_ms) {
        return Err(Error::InvalidRequest(
            "a key cannot expire in the past".to_owned(),
        ));
    }
    Ok(())
}

/// Newest first, revoked ones too.
pub async fn list(store: &Store, workspace_id: &str) -> Result<Vec<KeyInfo>, Error> {
    Ok(store
        .list_keys(workspace_id)
        .await?
        .into_iter()
        .map(Into::into)
        .collect())
}

/// Revokes the key named by id, prefix or name; its next request is refused. Cannot be undone.
pub async fn revoke(
    store: &Store,
    caller: &Caller,
    which: &str,
    now_ms: i64,
) -> Result<KeyInfo, Error> {
    caller.need_role(Role::Admin)?;
    let workspace_id = &caller.workspace_id;
    let named = store.find_key_to_revoke(workspace_id, which).await?;
    let revoked = match named {
        RevokeOutcome::Done(key) => {
            let details = json!({ "name": key.name, "prefix": key.prefix });
            caller
                .audited(store, now_ms, AuditAction::KeysRevoke, &key.id, details)
                .revoke_key(workspace_id, &key.id, now_ms)
                .await?
        }
        other => other,
    };
    match revoked {
        RevokeOutcome::Done(key) | RevokeOutcome::Already(key) => Ok(key.into()),
        RevokeOutcome::Ambiguous(keys) => {
            let ids: Vec<String> = keys.into_iter().map(|key| key.id).collect();
            Err(Error::InvalidRequest(format!(
                "{which} names several keys; use an id: {}",
                ids.join(", ")
            )))
        }
        RevokeOutcome::NotFound => Err(Error::NotFound(format!("the key {which}"))),
    }
}

fn in_range(what: &str, value: Option<u32>, max: u32) -> Result<(), Error> {
    match value {
        Some(value) if !(1..=max).contains(&value) => Err(Error::InvalidRequest(format!(
            "{what} of a key are 1 to {max}, not {value}"
        ))),
        _ => Ok(()),
    }
}

/// So many random characters of `0-9A-Za-z`, six bits each and a little less.
pub fn random_base62(chars: usize) -> Secret {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut random = rand::rng();
    let text: String = (0..chars)
        .map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]))
        .collect();
    Secret::new(text)
}
