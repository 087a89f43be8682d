//! Signing in, staying signed in, signing out.
//!
//! A sign-in is a row in the database and two secrets in the browser: a JWT of ten minutes that says
//! which sign-in it is, and a refresh token that is good once. Each refresh makes new ones; a refresh
//! token that comes back later than its grace was copied, and ends the sign-in.

use std::net::IpAddr;

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::enter::{Claims, JWT_LIFE_MS, user_of};
use super::links::over;
use super::{checked_email, checked_name};
use crate::clock::rfc3339;
use crate::gateway::connections::apps::CALLBACK_PATH;
use crate::gateway::connections::link::{hash, random_token};
use crate::gateway::{Caller, Error, Gateway, RateLimited};
use crate::ids;
use crate::runtime::inspect::hex;
use crate::store::{
    AuditEntry, LinkKind, Member, Plan, RateCount, Role, SignIn, StoreError, Workspace,
};
use crate::vault::{Purpose, Secret};

/// A sign-in ends after this long without a refresh, and after this long in any case.
pub const IDLE_MS: i64 = 12 * 60 * 60 * 1_000;
pub const LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// How long the token before still refreshes: two pages of one browser may ask at once.
const GRACE_MS: i64 = 30_000;

/// Failed attempts are counted in windows of this length: for one address from one client, from one
/// client, and for one address from everywhere.
const WINDOW_MS: i64 = 15 * 60 * 1_000;
const FAILURES_MAX: i64 = 10;
const CLIENT_FAILURES_MAX: i64 = 60;
const ADDRESS_FAILURES_MAX: i64 = 100;
/// Workspaces that one address may be a member of and still sign in by password.
const SAME_EMAIL_MAX: i64 = 8;
const USER_AGENT_CHARS_MAX: usize = 200;

/// The browser at the other end.
#[derive(Clone, Debug)]
pub struct Client {
    pub request_id: String,
    pub address: Option<IpAddr>,
    pub user_agent: Option<String>,
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

/// The signed-in person.
#[derive(Clone, Debug, Serialize)]
pub struct Me {
    pub member_id: String,
    pub name: String,
    pub email: String,
    pub role: Role,
    /// Whether the workspace runs the installation.
    pub operator: bool,
    /// The user that this member's own calls are for.
    pub user_id: String,
    pub workspace: MyWorkspace,
    /// When the sign-in ends unless it is used before.
    pub session_expires_at: String,
    pub public_url: String,
    pub mcp_url: String,
    pub callback_url: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct MyWorkspace {
    pub workspace_id: String,
    pub name: String,
    pub plan: Plan,
}

/// A sign-in at the moment at which its secrets can be read.
#[derive(Debug)]
pub struct SignedIn {
    pub me: Me,
    pub jwt: Secret,
    /// Absent where the browser has a newer one already.
    pub refresh: Option<Secret>,
}

/// One place where a member is signed in.
#[derive(Clone, Debug, Serialize)]
pub struct SignInInfo {
    pub sign_in_id: String,
    pub current: bool,
    pub created_at: String,
    pub last_seen_at: String,
    pub expires_at: String,
    pub address: Option<String>,
    pub user_agent: Option<String>,
}

impl Gateway {
    /// Signs in with an address and a password.
    ///
    /// # Errors
    /// `invalid_credentials`; `choose_workspace` where they fit members of several workspaces;
    /// `rate_limit_exceeded` after too many failures.
    pub async fn sign_in(
        &self,
        request: SignInRequest,
        client: &Client,
    ) -> Result<SignedIn, Error> {
        let email = checked_email(&request.email).map_err(|_| Error::InvalidCredentials)?;
        let counted = self.count_attempt(&email, client).await?;
        let mut found = self
            .store
            .members_with_email(&email, SAME_EMAIL_MAX)
            .await?;
        if let Some(name) = &request.workspace {
            let named = self.store.find_workspace_by_name(name).await?;
            found.retain(|member| {
                named
                    .as_ref()
                    .is_some_and(|named| named.id == member.workspace_id)
            });
        }
        let mut fitting = Vec::new();
        if found.is_empty() {
            self.passwords.fits(request.password, None).await?;
        } else {
            for member in found {
                let (password, kept) = (request.password.clone(), member.password_hash.clone());
                if self.passwords.fits(password, kept).await? {
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
                self.begin(member, "members.sign_in", json!({}), client)
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
    pub async fn set_up(&self, request: SetUpRequest, client: &Client) -> Result<SignedIn, Error> {
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
        let password_hash = self.passwords.hash(request.password).await?;
        let link = self
            .store
            .take_member_link(&token_hash, now_ms)
            .await?
            .ok_or_else(over)?;
        if let (LinkKind::Reset, Some(id)) = (link.kind, &link.member_id) {
            let set = self
                .store
                .set_member_password(&link.workspace_id, id, &password_hash, None)
                .await?;
            let found = self.store.find_member(&link.workspace_id, id).await?;
            let member = found.filter(|_| set).ok_or_else(over)?;
            return self
                .begin(member, "members.set_password", json!({}), client)
                .await;
        }
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
        };
        match self.store.insert_member(&member).await {
            Ok(()) => {}
            Err(StoreError::Taken(_)) => {
                return Err(Error::Conflict(format!(
                    "{} is a member already",
                    member.email
                )));
            }
            Err(cause) => return Err(cause.into()),
        }
        let details = json!({ "email": member.email, "role": member.role });
        self.begin(member, "members.create", details, client).await
    }

    /// Makes a sign-in for a member who has proven who they are.
    pub(super) async fn begin(
        &self,
        member: Member,
        action: &str,
        details: Value,
        client: &Client,
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
        self.store.insert_sign_in(&sign_in).await?;
        self.record_member(&member, action, &member.id, details, client)
            .await?;
        self.signed_in(&member, &sign_in, Some(refresh)).await
    }

    /// New secrets for a sign-in, against its refresh token.
    ///
    /// # Errors
    /// `sign_in_required` for a token that is unknown, over, or used before.
    pub async fn refresh_sign_in(
        &self,
        refresh: Option<&str>,
        client: &Client,
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
            self.store
                .delete_sign_in(&workspace_id, &member_id, &sign_in.id)
                .await?;
            let details = json!({ "sign_in_id": sign_in.id });
            self.record_member(
                &member,
                "members.refresh_reused",
                &member.id,
                details,
                client,
            )
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
        client: &Client,
    ) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let by_jwt = jwt.and_then(|jwt| {
            let claims: Claims = self.vault().verified(Purpose::SignIn, jwt).ok()?;
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
        let gone = self
            .store
            .delete_sign_in(&workspace_id, &member_id, &id)
            .await?;
        if gone && let Some(member) = self.store.find_member(&workspace_id, &member_id).await? {
            self.record_member(&member, "members.sign_out", &member.id, json!({}), client)
                .await?;
        }
        Ok(())
    }

    /// The signed-in person.
    pub async fn me(&self, caller: &Caller, sign_in_id: &str) -> Result<Me, Error> {
        let (sign_in, member) = self.own_sign_in(caller, sign_in_id).await?;
        let workspace = self.workspace_of(&member).await?;
        self.me_of(&member, &sign_in, workspace).await
    }

    /// Changes the signed-in person's own name.
    pub async fn change_me(
        &self,
        caller: &Caller,
        sign_in_id: &str,
        name: Option<&str>,
    ) -> Result<Me, Error> {
        if let Some(name) = name {
            let name = checked_name(name)?;
            self.store
                .rename_member(&caller.workspace_id, &caller.key_id, &name)
                .await?;
            self.record_change(
                caller,
                "members.rename",
                &caller.key_id,
                json!({ "name": name }),
            )
            .await?;
        }
        self.me(caller, sign_in_id).await
    }

    /// Changes the signed-in person's own password and ends all other sign-ins.
    ///
    /// # Errors
    /// `invalid_credentials` when the current password does not fit.
    pub async fn change_password(
        &self,
        caller: &Caller,
        sign_in_id: &str,
        current: Secret,
        new: Secret,
        client: &Client,
    ) -> Result<(), Error> {
        let (_, member) = self.own_sign_in(caller, sign_in_id).await?;
        let counted = self.count_attempt(&member.email, client).await?;
        if member.password_hash.is_some()
            && !self.passwords.fits(current, member.password_hash).await?
        {
            return Err(Error::InvalidCredentials);
        }
        self.forgive(counted).await?;
        let password_hash = self.passwords.hash(new).await?;
        self.store
            .set_member_password(
                &caller.workspace_id,
                &caller.key_id,
                &password_hash,
                Some(sign_in_id),
            )
            .await?;
        self.record_change(caller, "members.set_password", &caller.key_id, json!({}))
            .await
    }

    /// Where the signed-in person is signed in, newest first.
    pub async fn sign_ins(
        &self,
        caller: &Caller,
        sign_in_id: &str,
    ) -> Result<Vec<SignInInfo>, Error> {
        caller.need_role(Role::Member)?;
        let rows = self
            .store
            .list_sign_ins(&caller.workspace_id, &caller.key_id, self.clock.now_ms())
            .await?;
        let shown = rows.into_iter().map(|row| SignInInfo {
            current: row.id == sign_in_id,
            sign_in_id: row.id,
            created_at: rfc3339(row.created_at_ms),
            last_seen_at: rfc3339(row.last_seen_at_ms),
            expires_at: rfc3339(row.expires_at_ms),
            address: row.address,
            user_agent: row.user_agent,
        });
        Ok(shown.collect())
    }

    /// Ends one of the signed-in person's own sign-ins.
    pub async fn revoke_sign_in(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        caller.need_role(Role::Member)?;
        let gone = self
            .store
            .delete_sign_in(&caller.workspace_id, &caller.key_id, id)
            .await?;
        if !gone {
            return Err(Error::NotFound("the sign-in".to_owned()));
        }
        self.record_change(
            caller,
            "members.revoke_sign_in",
            &caller.key_id,
            json!({ "sign_in_id": id }),
        )
        .await
    }

    async fn own_sign_in(
        &self,
        caller: &Caller,
        sign_in_id: &str,
    ) -> Result<(SignIn, Member), Error> {
        caller.need_role(Role::Member)?;
        let now_ms = self.clock.now_ms();
        let found = self
            .store
            .find_sign_in(&caller.workspace_id, sign_in_id, now_ms);
        found
            .await?
            .filter(|(_, member)| member.id == caller.key_id)
            .ok_or(Error::SignInRequired)
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
            .vault()
            .signed(Purpose::SignIn, &claims)
            .map_err(|cause| Error::Internal(cause.into()))?;
        let workspace = self.workspace_of(member).await?;
        Ok(SignedIn {
            me: self.me_of(member, sign_in, workspace).await?,
            jwt,
            refresh,
        })
    }

    async fn workspace_of(&self, member: &Member) -> Result<Workspace, Error> {
        self.store
            .find_workspace(&member.workspace_id)
            .await?
            .ok_or(Error::SignInRequired)
    }

    async fn me_of(
        &self,
        member: &Member,
        sign_in: &SignIn,
        workspace: Workspace,
    ) -> Result<Me, Error> {
        let base = &self.public_url;
        Ok(Me {
            member_id: member.id.clone(),
            name: member.name.clone(),
            email: member.email.clone(),
            role: member.role,
            operator: self.is_operator(&workspace.id).await?,
            user_id: user_of(member)?.to_string(),
            workspace: MyWorkspace {
                workspace_id: workspace.id,
                name: workspace.name,
                plan: workspace.plan,
            },
            session_expires_at: rfc3339(sign_in.expires_at_ms),
            public_url: base.clone(),
            mcp_url: format!("{base}/mcp"),
            callback_url: format!("{base}{CALLBACK_PATH}"),
        })
    }

    /// Adds to the audit log what somebody without a [`Caller`] yet has done.
    pub(super) async fn record_member(
        &self,
        member: &Member,
        action: &str,
        subject: &str,
        details: Value,
        client: &Client,
    ) -> Result<(), Error> {
        let entry = AuditEntry {
            workspace_id: member.workspace_id.clone(),
            id: ids::ulid("aud"),
            at_ms: self.clock.now_ms(),
            actor: format!("member:{}", member.id),
            action: action.to_owned(),
            subject: subject.to_owned(),
            details: details.to_string(),
            address: client.address.map(|address| address.to_string()),
            request_id: Some(client.request_id.clone()),
        };
        Ok(self.store.add_audit_entry(&entry).await?)
    }

    /// Counts an attempt as failed before it is looked at, so that attempts side by side do not
    /// slip through.
    async fn count_attempt(&self, email: &str, client: &Client) -> Result<Vec<RateCount>, Error> {
        let now_ms = self.clock.now_ms();
        let starts_at_ms = now_ms - now_ms.rem_euclid(WINDOW_MS);
        let from = client
            .address
            .map_or_else(|| "nowhere".to_owned(), |address| address.to_string());
        let of = hex(&Sha256::digest(email.as_bytes()));
        let limits = [
            (format!("sign_in:{of}:{from}"), FAILURES_MAX),
            (format!("sign_in_from:{from}"), CLIENT_FAILURES_MAX),
            (format!("sign_in_of:{of}"), ADDRESS_FAILURES_MAX),
        ];
        let counts: Vec<RateCount> = limits
            .iter()
            .map(|(subject, _)| RateCount {
                subject: subject.clone(),
                span_ms: WINDOW_MS,
                starts_at_ms,
                used: 1,
            })
            .collect();
        let sums = self.store.add_rate_counts(&counts).await?;
        let met = sums
            .iter()
            .zip(&limits)
            .find(|(sum, (_, max))| sum.used > *max);
        match met {
            None => Ok(counts),
            Some((_, (_, max))) => Err(Error::RateLimited(RateLimited {
                window: "quarter_hour",
                limit: max.unsigned_abs(),
                retry_after_s: ((starts_at_ms + WINDOW_MS - now_ms).unsigned_abs()).div_ceil(1_000),
            })),
        }
    }

    async fn forgive(&self, counted: Vec<RateCount>) -> Result<(), Error> {
        let back: Vec<RateCount> = counted
            .into_iter()
            .map(|count| RateCount { used: -1, ..count })
            .collect();
        self.store.add_rate_counts(&back).await?;
        Ok(())
    }
}
