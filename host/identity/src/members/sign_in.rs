//! Signing in, staying signed in, signing out.
//!
//! A sign-in is a row in the database and two secrets in the browser: a JWT of ten minutes that says
//! which sign-in it is, and a refresh token that is good once. Each refresh makes new ones; a refresh
//! token that comes back later than its grace was copied, and ends the sign-in.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::account::Me;
use super::enter::{Claims, JWT_LIFE_MS};
use super::links::over;
use super::{checked_email, checked_name};
use crate::{Error, Identity};
use toolgate_core::ids;
use toolgate_operation::audit::{AuditAction, entry};
use toolgate_store::{AuditEntry, AuditedStore, LinkKind, Member, SignIn, SignInProof, StoreError};
use toolgate_vault::opaque::{hash, random_token};
use toolgate_vault::{Purpose, Secret};

/// A sign-in ends after this long without a refresh, and after this long in any case.
pub const IDLE_MS: i64 = 12 * 60 * 60 * 1_000;
pub const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// How long the token before still refreshes: two pages of one browser may ask at once.
const GRACE_MS: i64 = 30_000;

/// Workspaces that one address may be a member of and still sign in by password.
const SAME_EMAIL_MAX: i64 = 8;
const USER_AGENT_CHARS_MAX: usize = 200;

/// The browser at the other end.
#[derive(Clone, Debug)]
pub struct Browser {
    pub request_id: String,
    pub address: Option<IpAddr>,
    pub user_agent: Option<String>,
    /// What an earlier sign-in has left in it.
    pub device: Option<String>,
}

/// `POST /internal/sign-in`.
#[derive(Clone, Debug)]
pub struct SignInRequest {
    pub email: String,
    pub password: Secret,
    /// Name of the workspace, where the address is a member of several.
    pub workspace: Option<String>,
}

/// `POST /internal/setup`: what the holder of a link says of themselves.
#[derive(Clone, Debug)]
pub struct SetUpRequest {
    pub token: Secret,
    pub email: Option<String>,
    pub name: Option<String>,
    pub password: Secret,
}

/// A sign-in at the moment at which its secrets can be read.
#[derive(Debug)]
pub struct SignedIn {
    pub me: Me,
    pub jwt: Secret,
    /// Absent where the browser has a newer one already.
    pub refresh: Option<Secret>,
    /// By which the browser is known again; absent where nobody has proven anything just now.
    pub device: Option<Secret>,
}

impl Identity {
    /// Signs in with an address and a password.
    ///
    /// # Errors
    /// `invalid_credentials`; `choose_workspace` where they fit members of several workspaces;
    /// `rate_limit_exceeded` after too many failures.
    pub async fn sign_in(
        &self,
        request: SignInRequest,
        client: &Browser,
    ) -> Result<SignedIn, Error> {
        let email = checked_email(&request.email).map_err(|_| Error::InvalidCredentials)?;
        let counted = self.count_attempt(&email, client).await?;
        let found = match &request.workspace {
            // However many workspaces have invited this address.
            Some(name) => match self.store.find_workspace_by_name(name).await? {
                Some(named) => self.store.member_with_email(&named.id, &email).await?,
                None => None,
            }
            .into_iter()
            .collect(),
            None => {
                let found = self.store.members_with_email(&email, SAME_EMAIL_MAX);
                found.await?
            }
        };
        let known = counted.known;
        let mut fitting = Vec::new();
        if found.is_empty() {
            self.passwords.fits(request.password, None, known).await?;
        } else {
            for member in found {
                let (password, kept) = (request.password.clone(), member.password_hash.clone());
                if self.passwords.fits(password, kept, known).await? {
                    fitting.push(member);
                }
            }
        }
        match fitting.len() {
            0 => {
                tracing::warn!(request_id = client.request_id, "members.sign_in_refused");
                Err(Error::InvalidCredentials)
            }
            1 => {
                self.forgive(counted).await?;
                let member = fitting.swap_remove(0);
                self.begin(member, SignInProof::Password, Some(json!({})), client)
                    .await
            }
            _ => {
                self.forgive(counted).await?;
                let mut names = Vec::new();
                for member in fitting {
                    let workspace = self.store.find_workspace(&member.workspace_id).await?;
                    names.extend(workspace.map(|workspace| workspace.name));
                }
                Err(Error::ChooseWorkspace(names))
            }
        }
    }

    /// Uses up a link: makes the first owner or an invited member, or sets a new password; and signs
    /// them in.
    ///
    /// # Errors
    /// `not_found` for a link that is over: used, expired, for the first owner where there is one, or for a new
    /// password of a member who has another role by now.
    pub async fn set_up(&self, request: SetUpRequest, client: &Browser) -> Result<SignedIn, Error> {
        let token_hash = hash(request.token.expose());
        let now_ms = self.clock.now_ms();
        let link = self
            .store
            .find_member_link(&token_hash, now_ms)
            .await?
            .ok_or_else(over)?;
        // Everything that can be refused comes before the link is used up.
        let email = match (&link.email, &request.email) {
            (Some(invited), None) => invited.clone(),
            (Some(invited), Some(said)) if checked_email(said)? == *invited => invited.clone(),
            (Some(_), Some(_)) => {
                return Err(Error::InvalidRequest(
                    "email: the invitation is for another address".to_owned(),
                ));
            }
            (None, Some(said)) => checked_email(said)?,
            (None, None) => {
                return Err(Error::InvalidRequest("email: is required".to_owned()));
            }
        };
        let name = request.name.as_deref().map(checked_name).transpose()?;
        if link.kind != LinkKind::Reset && name.is_none() {
            return Err(Error::InvalidRequest("name: is required".to_owned()));
        }
        let resets = match &link.member_id {
            Some(id) => {
                let found = self.store.find_member(&link.workspace_id, id).await?;
                let member = found.ok_or_else(over)?;
                self.require_not_group_managed(&member, "how they sign in")
                    .await?;
                Some(member)
            }
            None => None,
        };
        let password_hash = self.passwords.hash(request.password).await?;
        if let Some(member) = resets {
            let action = AuditAction::MembersSetPassword;
            let reset = self
                .audited_member(&member, action, json!({}), client)
                .reset_member_password(&token_hash, &password_hash, now_ms)
                .await?;
            let member = reset.ok_or_else(over)?;
            return self
                .begin(member, SignInProof::Password, None, client)
                .await;
        }
        let link = self
            .store
            .take_member_link(&token_hash, now_ms)
            .await?
            .ok_or_else(over)?;
        let member = Member {
            workspace_id: link.workspace_id,
            id: ids::ulid("mem"),
            email,
            name: name.unwrap_or_default(),
            role: link.role,
            password_hash: Some(password_hash),
            oidc_subject: None,
            created_at_ms: now_ms,
            last_seen_at_ms: None,
            vouched: link.vouched,
        };
        let details = json!({ "email": member.email, "role": member.role });
        let audited = self.audited_member(&member, AuditAction::MembersCreate, details, client);
        match audited.insert_member(&member).await {
            Ok(()) => {}
            Err(StoreError::Taken(_)) => {
                return Err(Error::Conflict(format!(
                    "{} is a member already",
                    member.email
                )));
            }
            Err(cause) => return Err(cause.into()),
        }
        self.begin(member, SignInProof::Password, None, client)
            .await
    }

    /// Makes a sign-in for a member who has proven who they are; `member` as read for the check of `proof`.
    /// `details` of its entry in the audit log; `None` where joining or a new password has left one, which the
    /// sign-in comes with.
    ///
    /// # Errors
    /// `invalid_credentials` where the member has another password by now, or is gone; `sign_in_required` the same
    /// for an account of the provider.
    pub(super) async fn begin(
        &self,
        member: Member,
        proof: SignInProof,
        details: Option<Value>,
        client: &Browser,
    ) -> Result<SignedIn, Error> {
        let now_ms = self.clock.now_ms();
        let refresh = random_token();
        let user_agent = client.user_agent.as_ref().map(|text| {
            let shown = text.chars().filter(|c| !c.is_control());
            shown.take(USER_AGENT_CHARS_MAX).collect()
        });
        let sign_in = SignIn {
            workspace_id: member.workspace_id.clone(),
            id: ids::ulid("sin"),
            member_id: member.id.clone(),
            refresh_hash: hash(refresh.expose()),
            previous_hash: None,
            rotated_at_ms: now_ms,
            created_at_ms: now_ms,
            last_seen_at_ms: now_ms,
            expires_at_ms: now_ms + IDLE_MS,
            address: client.address.map(|address| address.to_string()),
            user_agent,
        };
        let store = match details {
            Some(details) => {
                self.audited_member(&member, AuditAction::MembersSignIn, details, client)
            }
            None => self.store.audited_where(None),
        };
        if !store.insert_sign_in(&sign_in, &member, proof).await? {
            tracing::warn!(request_id = client.request_id, "members.sign_in_refused");
            return Err(match proof {
                SignInProof::Password => Error::InvalidCredentials,
                SignInProof::Account => Error::SignInRequired,
            });
        }
        let mut signed_in = self.signed_in(&member, &sign_in, Some(refresh)).await?;
        signed_in.device = Some(self.new_device(&member)?);
        Ok(signed_in)
    }

    /// New secrets for a sign-in, against its refresh token.
    ///
    /// # Errors
    /// `sign_in_required` for a token that is unknown, over, or used before.
    pub async fn refresh_sign_in(
        &self,
        refresh: Option<&str>,
        client: &Browser,
    ) -> Result<SignedIn, Error> {
        let old_hash = hash(refresh.ok_or(Error::SignInRequired)?);
        let now_ms = self.clock.now_ms();
        let mut sign_in = self
            .store
            .find_sign_in_by_refresh(&old_hash, now_ms)
            .await?
            .ok_or(Error::SignInRequired)?;
        let (workspace_id, member_id) = (sign_in.workspace_id.clone(), sign_in.member_id.clone());
        let member = self
            .store
            .find_member(&workspace_id, &member_id)
            .await?
            .ok_or(Error::SignInRequired)?;
        if sign_in.refresh_hash != old_hash {
            if now_ms - sign_in.rotated_at_ms <= GRACE_MS {
                return self.signed_in(&member, &sign_in, None).await;
            }
            let details = json!({ "sign_in_id": sign_in.id });
            self.audited_member(&member, AuditAction::MembersRefreshReused, details, client)
                .delete_sign_in(&workspace_id, &member_id, &sign_in.id)
                .await?;
            tracing::warn!(member.id = member.id, "members.refresh_reused");
            return Err(Error::SignInRequired);
        }
        let fresh = random_token();
        let expires_at_ms = (now_ms + IDLE_MS).min(sign_in.created_at_ms + LIFE_MS);
        let rotated = self
            .store
            .rotate_sign_in(&sign_in, &hash(fresh.expose()), expires_at_ms, now_ms)
            .await?;
        sign_in.expires_at_ms = expires_at_ms;
        self.signed_in(&member, &sign_in, rotated.then_some(fresh))
            .await
    }

    /// Ends the sign-in that either secret belongs to. Also done when nobody was signed in.
    pub async fn sign_out(
        &self,
        jwt: Option<&str>,
        refresh: Option<&str>,
        client: &Browser,
    ) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let by_jwt = jwt.and_then(|jwt| {
            let claims: Claims = self.vault.verified(Purpose::SignIn, jwt).ok()?;
            Some((claims.ws, claims.sub, claims.sid))
        });
        let ended = match (by_jwt, refresh) {
            (Some(ended), _) => Some(ended),
            (None, Some(refresh)) => self
                .store
                .find_sign_in_by_refresh(&hash(refresh), now_ms)
                .await?
                .map(|row| (row.workspace_id, row.member_id, row.id)),
            (None, None) => None,
        };
        let Some((workspace_id, member_id, id)) = ended else {
            return Ok(());
        };
        // Without the member its sign-ins are gone too.
        if let Some(member) = self.store.find_member(&workspace_id, &member_id).await? {
            self.audited_member(&member, AuditAction::MembersSignOut, json!({}), client)
                .delete_sign_in(&workspace_id, &member_id, &id)
                .await?;
        }
        Ok(())
    }

    async fn signed_in(
        &self,
        member: &Member,
        sign_in: &SignIn,
        refresh: Option<Secret>,
    ) -> Result<SignedIn, Error> {
        let now_ms = self.clock.now_ms();
        let claims = Claims {
            sub: member.id.clone(),
            ws: member.workspace_id.clone(),
            sid: sign_in.id.clone(),
            iat: now_ms / 1_000,
            exp: (now_ms + JWT_LIFE_MS) / 1_000,
        };
        let jwt = self
            .vault
            .signed(Purpose::SignIn, &claims)
            .map_err(|cause| Error::Internal(cause.into()))?;
        let workspace = self.workspace_of(member).await?;
        Ok(SignedIn {
            me: self.me_of(member, sign_in, workspace).await?,
            jwt,
            refresh,
            device: None,
        })
    }

    /// The store for one change of somebody who is not a caller yet, to themselves.
    pub(super) fn audited_member(
        &self,
        member: &Member,
        action: AuditAction,
        details: Value,
        client: &Browser,
    ) -> AuditedStore {
        let actor = format!("member:{}", member.id);
        let now_ms = self.clock.now_ms();
        self.store.audited(AuditEntry {
            address: client.address.map(|address| address.to_string()),
            request_id: Some(client.request_id.clone()),
            ..entry(
                &member.workspace_id,
                actor,
                now_ms,
                action,
                &member.id,
                details,
            )
        })
    }
}
