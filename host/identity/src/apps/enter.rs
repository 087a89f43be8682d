//! From an access token to a [`Caller`].
//!
//! Known tokens are remembered by hash and forgotten as soon as any process has ended a grant or
//! changed a member, so that a revoked token is refused on its next request and a member's rights are
//! those of the moment. Where groups of a provider decide about the member, a token is remembered only as long
//! as the provider's last answer.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

use super::token_text::RANDOM_CHARS;
use super::tokens::ACCESS_PREFIX;
use super::{APP_RPM, APP_SCOPES};
use crate::members::enter::{scopes_of, user_of};
use crate::{Caller, Error, Identity, Principal, Scope};
use toolgate_core::ids::UserId;
use toolgate_operation::caller::CallerKind;
use toolgate_operation::limits::limits_of_app;
use toolgate_store::{AppTokenKind, Changes, Topic, Workspace};

/// Tokens remembered at one time.
const KNOWN_MAX: usize = 10_000;

/// Tokens seen since the last change to any key, grant or member.
#[derive(Default)]
pub(crate) struct KnownTokens {
    known: Mutex<TokenCache>,
    /// Hashes that no token has. None ever will: a token is there before anybody can present it.
    gone: Mutex<HashSet<String>>,
    /// When apps were last used, until that is written.
    used: Mutex<HashMap<String, i64>>,
}

#[derive(Default)]
struct TokenCache {
    at: (i64, i64),
    tokens: HashMap<[u8; 32], Arc<CachedToken>>,
}

/// A token ready to be checked and turned into callers.
struct CachedToken {
    principal: Arc<Principal>,
    resource: String,
    expires_at_ms: i64,
    /// When the member's provider has to be asked again; `None`: it decides nothing.
    confirmed_until_ms: Option<i64>,
}

impl CachedToken {
    fn is_confirmed(&self, now_ms: i64) -> bool {
        self.confirmed_until_ms.is_none_or(|until| until > now_ms)
    }
}

impl KnownTokens {
    fn get(&self, at: (i64, i64), hash: &[u8; 32], now_ms: i64) -> Option<Arc<CachedToken>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.at != at {
            known.tokens.clear();
            known.at = at;
        }
        let holder = known.tokens.get(hash)?;
        holder.is_confirmed(now_ms).then(|| holder.clone())
    }

    fn put(&self, at: (i64, i64), hash: [u8; 32], holder: Arc<CachedToken>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let room = known.tokens.len() < KNOWN_MAX || known.tokens.contains_key(&hash);
        if known.at == at && room {
            known.tokens.insert(hash, holder);
        }
    }

    fn is_gone(&self, hash: &str) -> bool {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        gone.contains(hash)
    }

    fn note_gone(&self, hash: &str) {
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if gone.len() >= KNOWN_MAX {
            gone.clear();
        }
        gone.insert(hash.to_owned());
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

impl Identity {
    /// The caller behind an access token, at the endpoint whose address is `resource`.
    ///
    /// # Errors
    /// `invalid_access_token` for one that is unknown, over, revoked or for another endpoint;
    /// `rate_limit_exceeded` beyond a limit of the app or its workspace, or after too many unknown
    /// tokens from one address; `overloaded` where the member's provider has to be asked and does not answer.
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
        let holder = self.token_holder(token, changes, address).await?;
        let now_ms = self.clock.now_ms();
        let holder = holder
            .filter(|holder| holder.expires_at_ms > now_ms && holder.resource == resource)
            .ok_or(Error::InvalidAccessToken)?;
        self.counts
            .count(&self.store, &holder.principal.limits, now_ms)
            .await?;
        self.apps.tokens.note_use(&holder.principal.key_id, now_ms);
        Ok(Caller {
            principal: holder.principal.clone(),
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
    ) -> Result<Option<Arc<CachedToken>>, Error> {
        let at = (changes.get(Topic::Keys), changes.get(Topic::Members));
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let now_ms = self.clock.now_ms();
        if let Some(holder) = self.apps.tokens.get(at, &hash, now_ms) {
            return Ok(Some(holder));
        }
        let hex_hash = hex::encode(hash);
        if self.apps.tokens.is_gone(&hex_hash) {
            self.counts.take_unknown_key(address, now_ms)?;
            return Ok(None);
        }
        if !self.is_marked(token)? {
            self.counts.check_unknown_key(address, now_ms)?;
        }
        let Some(holder) = self.find_token(&hex_hash).await? else {
            self.counts.stranger(address, now_ms);
            return Ok(None);
        };
        let holder = Arc::new(holder);
        self.apps.tokens.put(at, hash, holder.clone());
        Ok(Some(holder))
    }

    async fn find_token(&self, hash: &str) -> Result<Option<CachedToken>, Error> {
        let found = self.store.find_app_token(hash).await?;
        let Some((token, grant)) = found else {
            return self.find_token_of_client(hash).await;
        };
        if token.kind != AppTokenKind::Access {
            return Ok(None);
        }
        // A token that was made while its client was being blocked is not good either.
        let blocked = self
            .store
            .is_app_blocked(&grant.workspace_id, &grant.client_id);
        if blocked.await? {
            return Ok(None);
        }
        let member = self
            .store
            .find_member(&grant.workspace_id, &grant.member_id);
        let Some(member) = member.await? else {
            return Ok(None);
        };
        let Some(workspace) = self.store.find_workspace(&grant.workspace_id).await? else {
            return Ok(None);
        };
        let Some(confirmed) = self.confirmed(member, &workspace, false).await? else {
            return Ok(None);
        };
        let member = confirmed.member;
        let of_role = scopes_of(member.role);
        let scopes = token
            .scopes
            .iter()
            .filter_map(|text| text.parse().ok())
            .filter(|scope| of_role.contains(scope))
            .collect();
        let app = AuthenticatedApp {
            id: grant.id,
            client_id: grant.client_id,
            name: grant.client_name,
            user: user_of(&member)?,
            scopes,
        };
        Ok(Some(CachedToken {
            principal: Arc::new(app.principal(workspace)),
            resource: grant.resource,
            expires_at_ms: token.expires_at_ms.min(grant.expires_at_ms),
            confirmed_until_ms: confirmed.until_ms,
        }))
    }

    /// The token of a client that acts for a user by itself.
    async fn find_token_of_client(&self, hash: &str) -> Result<Option<CachedToken>, Error> {
        let Some((token, client)) = self.store.find_client_token(hash).await? else {
            self.apps.tokens.note_gone(hash);
            return Ok(None);
        };
        let (Some(workspace_id), Some(user)) = (&client.workspace_id, &client.acts_for) else {
            return Ok(None);
        };
        if self.store.is_app_blocked(workspace_id, &client.id).await? {
            return Ok(None);
        }
        let user = UserId::parse(user).map_err(|cause| Error::Internal(cause.into()))?;
        let Some(workspace) = self.store.find_workspace(workspace_id).await? else {
            return Ok(None);
        };
        let scopes = token.scopes.iter().filter_map(|text| text.parse().ok());
        let app = AuthenticatedApp {
            scopes: scopes.filter(|scope| APP_SCOPES.contains(scope)).collect(),
            client_id: client.id.clone(),
            id: client.id,
            name: client.name,
            user,
        };
        Ok(Some(CachedToken {
            principal: Arc::new(app.principal(workspace)),
            resource: token.resource,
            expires_at_ms: token.expires_at_ms,
            confirmed_until_ms: None,
        }))
    }
}

/// An app whose token is good.
struct AuthenticatedApp {
    /// Stands where a key's id would.
    id: String,
    client_id: String,
    name: String,
    user: UserId,
    scopes: Box<[Scope]>,
}

impl AuthenticatedApp {
    fn principal(self, workspace: Workspace) -> Principal {
        Principal {
            default_user: self.user,
            limits: limits_of_app(&self.id, APP_RPM, &workspace),
            workspace_id: workspace.id.into(),
            workspace_name: workspace.name.into(),
            kind: CallerKind::App,
            client_id: Some(self.client_id.into()),
            key_id: self.id.into(),
            key_name: self.name.into(),
            key_prefix: "oauth".into(),
            role: None,
            operator: false,
            confined: true,
            scopes: self.scopes,
            default_permission: workspace.settings.default_permission,
            default_approvers: workspace.settings.default_approvers,
            keep_payloads: workspace.settings.keep_payloads,
        }
    }
}

fn looks_like_a_token(token: &str) -> bool {
    token.strip_prefix(ACCESS_PREFIX).is_some_and(|random| {
        random.len() == RANDOM_CHARS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}
