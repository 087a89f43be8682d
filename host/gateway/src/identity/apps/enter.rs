//! From an access token to a [`Caller`].
//!
//! Known tokens are remembered by hash and forgotten as soon as any process has ended a grant or
//! changed a member, so that a revoked token is refused on its next request and a member's rights are
//! those of the moment.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::APP_RPM;
use super::tokens::{ACCESS_PREFIX, RANDOM_CHARS};
use crate::identity::caller::CallerKind;
use crate::identity::members::enter::{scopes_of, user_of};
use crate::limits::limits_of_app;
use crate::{Caller, Error, Gateway, Identity, Scope};
use toolgate_store::{AppTokenKind, Changes, Topic};

/// Tokens remembered at one time.
const KNOWN_MAX: usize = 10_000;

/// Tokens seen since the last change to any key, grant or member.
#[derive(Default)]
pub(crate) struct KnownTokens {
    known: Mutex<TokenCache>,
    /// When apps were last used, until that is written.
    used: Mutex<HashMap<String, i64>>,
}

#[derive(Default)]
struct TokenCache {
    at: (i64, i64),
    tokens: HashMap<[u8; 32], Arc<TokenHolder>>,
}

/// A token ready to be checked and turned into callers.
struct TokenHolder {
    identity: Arc<Identity>,
    resource: String,
    expires_at_ms: i64,
}

impl KnownTokens {
    fn get(&self, at: (i64, i64), hash: &[u8; 32]) -> Option<Arc<TokenHolder>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at != at {
            known.tokens.clear();
            known.at = at;
        }
        known.tokens.get(hash).cloned()
    }

    fn put(&self, at: (i64, i64), hash: [u8; 32], holder: Arc<TokenHolder>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at == at && known.tokens.len() < KNOWN_MAX {
            known.tokens.insert(hash, holder);
        }
    }

    fn note_use(&self, app_id: &str, now_ms: i64) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        match used.get_mut(app_id) {
            Some(at_ms) => *at_ms = now_ms,
            None => {
                used.insert(app_id.to_owned(), now_ms);
            }
        }
    }

    /// The ids of the apps that were used since this was last asked, and when.
    pub(crate) fn take_uses(&self) -> Vec<(String, i64)> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *used).into_iter().collect()
    }
}

/// Whether a bearer token is an access token of an app, and no key.
pub fn is_access_token(token: &str) -> bool {
    token.starts_with(ACCESS_PREFIX)
}

impl Gateway {
    /// The caller behind an access token, at the endpoint whose address is `resource`.
    ///
    /// # Errors
    /// `invalid_access_token` for one that is unknown, over, revoked or for another endpoint;
    /// `rate_limit_exceeded` beyond a limit of the app or its workspace, or after too many unknown
    /// tokens from one address.
    pub async fn authenticate_app(
        &self,
        token: &str,
        resource: &str,
        request_id: String,
        address: Option<IpAddr>,
    ) -> Result<Caller, Error> {
        if !looks_like_a_token(token) {
            return Err(Error::InvalidAccessToken);
        }
        let changes = self.store.changes().await?;
        self.services.refresh(&self.store, changes).await?;
        let holder = self.token_holder(token, changes, address).await?;
        let now_ms = self.clock.now_ms();
        let holder = holder
            .filter(|holder| holder.expires_at_ms > now_ms && holder.resource == resource)
            .ok_or(Error::InvalidAccessToken)?;
        self.counts
            .count(&self.store, &holder.identity.limits, now_ms)
            .await?;
        self.apps.tokens.note_use(&holder.identity.key_id, now_ms);
        Ok(Caller {
            identity: holder.identity.clone(),
            changes,
            request_id: request_id.into(),
            address,
        })
    }

    async fn token_holder(
        &self,
        token: &str,
        changes: Changes,
        address: Option<IpAddr>,
    ) -> Result<Option<Arc<TokenHolder>>, Error> {
        let at = (changes.get(Topic::Keys), changes.get(Topic::Members));
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        if let Some(holder) = self.apps.tokens.get(at, &hash) {
            return Ok(Some(holder));
        }
        let now_ms = self.clock.now_ms();
        self.counts.check_stranger(address, now_ms)?;
        let Some(holder) = self.find_token(&hex::encode(hash)).await? else {
            self.counts.stranger(address, now_ms);
            return Ok(None);
        };
        let holder = Arc::new(holder);
        self.apps.tokens.put(at, hash, holder.clone());
        Ok(Some(holder))
    }

    async fn find_token(&self, hash: &str) -> Result<Option<TokenHolder>, Error> {
        let found = self.store.find_app_token(hash).await?;
        let Some((token, grant)) = found.filter(|(row, _)| row.kind == AppTokenKind::Access) else {
            return Ok(None);
        };
        let member = self
            .store
            .find_member(&grant.workspace_id, &grant.member_id);
        let Some(member) = member.await? else {
            return Ok(None);
        };
        let Some(workspace) = self.store.find_workspace(&grant.workspace_id).await? else {
            return Ok(None);
        };
        let of_role = scopes_of(member.role);
        let scopes: Box<[Scope]> = token
            .scopes
            .iter()
            .filter_map(|text| text.parse().ok())
            .filter(|scope| of_role.contains(scope))
            .collect();
        let identity = Identity {
            default_user: user_of(&member)?,
            limits: limits_of_app(&grant.id, APP_RPM, &workspace),
            workspace_id: workspace.id.into(),
            workspace_name: workspace.name.into(),
            kind: CallerKind::App,
            key_id: grant.id.into(),
            key_name: grant.client_name.into(),
            key_prefix: "oauth".into(),
            role: None,
            operator: false,
            confined: true,
            scopes,
            default_permission: workspace.settings.default_permission,
            default_approvers: workspace.settings.default_approvers,
            keep_payloads: workspace.settings.keep_payloads,
        };
        Ok(Some(TokenHolder {
            identity: Arc::new(identity),
            resource: grant.resource,
            expires_at_ms: token.expires_at_ms.min(grant.expires_at_ms),
        }))
    }
}

fn looks_like_a_token(token: &str) -> bool {
    token.strip_prefix(ACCESS_PREFIX).is_some_and(|random| {
        random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
