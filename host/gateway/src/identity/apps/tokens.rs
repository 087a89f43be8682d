//! The token endpoint (RFC 6749, sections 4.1.3 and 6): codes and refresh tokens become tokens, each
//! once. Whoever presents one a second time holds a copy: the whole grant ends. The other grant types are in
//! [`super::assertion`] and [`super::client_credentials`].

use super::authorize::{check_resource, scopes};
use super::params::OAuthParams;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::{AppPeer, about};
use crate::Gateway;
use crate::audit::AuditAction;
use crate::connections::link::hash;
use crate::identity::keys::random_base62;
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray};
use toolgate_oauth::authorize::challenge;
use toolgate_store::{AppClient, AppGrant, AppToken, AppTokenKind};
use toolgate_vault::Secret;

/// What every access token begins with.
pub const ACCESS_PREFIX: &str = "tg_oat_";
/// What every refresh token begins with.
pub const REFRESH_PREFIX: &str = "tg_ort_";
/// Base62 characters after the prefix: 256 bits.
pub(crate) const RANDOM_CHARS: usize = 43;
/// How long an access token is good.
pub const ACCESS_LIFE_MS: i64 = 60 * 60 * 1_000;
/// A grant ends after this long without a refresh, and after this long in any case.
pub const IDLE_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
pub const GRANT_LIFE_MS: i64 = 365 * 24 * 60 * 60 * 1_000;

/// What is exchanged for tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
enum GrantType {
    AuthorizationCode,
    RefreshToken,
    ClientCredentials,
    /// RFC 7523, section 2.1.
    #[strum(serialize = "urn:ietf:params:oauth:grant-type:jwt-bearer")]
    JwtBearer,
}

/// Tokens at the only time at which they can be read.
#[derive(Debug)]
pub struct IssuedTokens {
    pub access: Secret,
    /// Absent where the client has something to present anew.
    pub refresh: Option<Secret>,
    pub expires_in_s: i64,
    pub scopes: String,
}

/// New tokens as texts and as rows.
struct NewTokens {
    issued: IssuedTokens,
    access: AppToken,
    refresh: AppToken,
    grant_expires_at_ms: i64,
}

impl Gateway {
    /// Answers a request to the token endpoint. `authorization`: its header, `form`: its body.
    ///
    /// # Errors
    /// Those of RFC 6749, section 5.2.
    pub async fn app_tokens(
        &self,
        authorization: Option<&str>,
        form: &str,
        peer: &AppPeer,
    ) -> Result<IssuedTokens, AppProblem> {
        self.counts
            .check_unknown_key(peer.address, self.clock.now_ms())?;
        let form = OAuthParams::parse(form)?;
        let grant_type = self.grant_type(&form)?;
        let client = match grant_type {
            // Its client need not have been here before.
            GrantType::JwtBearer => self.known_or_documented(authorization, &form, peer).await,
            _ => self.authenticated_client(authorization, &form).await,
        };
        let client = client.inspect_err(|_| self.count_unknown_key(peer))?;
        match grant_type {
            GrantType::AuthorizationCode => self.exchange_code(&client, &form, peer).await,
            GrantType::RefreshToken => self.refresh_app(&client, &form, peer).await,
            GrantType::ClientCredentials => self.client_tokens(&client, &form, peer).await,
            GrantType::JwtBearer => self.exchange_assertion(&client, &form, peer).await,
        }
    }

    /// The grant types that there are.
    pub fn grant_types(&self) -> Vec<&'static str> {
        let all = GrantType::VARIANTS.iter().copied();
        all.filter(|one| self.takes(*one))
            .map(|one| one.into_str())
            .collect()
    }

    fn takes(&self, grant_type: GrantType) -> bool {
        match grant_type {
            GrantType::AuthorizationCode
            | GrantType::RefreshToken
            | GrantType::ClientCredentials => true,
            GrantType::JwtBearer => !self.apps.config.id_jag_issuers.is_empty(),
        }
    }

    fn grant_type(&self, form: &OAuthParams) -> Result<GrantType, AppProblem> {
        let named: Option<GrantType> = form.need("grant_type")?.parse().ok();
        named.filter(|one| self.takes(*one)).ok_or_else(|| {
            let sentence = format!("grant_type is one of {}", self.grant_types().join(", "));
            refused(RefusalCode::UnsupportedGrantType, sentence)
        })
    }

    async fn exchange_code(
        &self,
        client: &AppClient,
        form: &OAuthParams,
        peer: &AppPeer,
    ) -> Result<IssuedTokens, AppProblem> {
        let (code, verifier) = (form.need("code")?, form.need("code_verifier")?);
        let redirect_uri = form.need("redirect_uri")?;
        let resource = form.get("resource");
        let found = self.store.find_app_grant_by_code(&hash(code)).await?;
        let Some(grant) = found else {
            self.count_unknown_key(peer);
            return Err(invalid("the code is unknown or expired"));
        };
        let now_ms = self.clock.now_ms();
        if grant.client_id != client.id {
            return self
                .note_refusal(&grant, client, "the code of another client", peer)
                .await;
        }
        if grant.code_used_at_ms.is_some() {
            return self
                .end_reused(&grant, AuditAction::AppsCodeReused, peer)
                .await;
        }
        if grant.code_expires_at_ms <= now_ms {
            return Err(invalid("the code is unknown or expired"));
        }
        if grant.redirect_uri != redirect_uri {
            return self
                .note_refusal(&grant, client, "another redirect_uri", peer)
                .await;
        }
        if challenge(&Secret::new(verifier)) != grant.challenge {
            return self
                .note_refusal(&grant, client, "another code_verifier", peer)
                .await;
        }
        let resource =
            resource.ok_or_else(|| refused(RefusalCode::InvalidTarget, "resource is missing"))?;
        check_resource(resource, &grant.resource)?;
        self.check_blocked(&grant.workspace_id, &grant.client_id)
            .await?;
        self.check_member(&grant, false).await?;
        let new = new_tokens(&grant, grant.scopes.clone(), now_ms);
        let redeemed = self
            .audited_app(&grant, AuditAction::AppsEnter, about(&grant), peer)
            .redeem_app_code(
                &grant,
                [&new.access, &new.refresh],
                new.grant_expires_at_ms,
                now_ms,
            )
            .await?;
        if !redeemed {
            return self
                .end_reused(&grant, AuditAction::AppsCodeReused, peer)
                .await;
        }
        Ok(new.issued)
    }

    async fn refresh_app(
        &self,
        client: &AppClient,
        form: &OAuthParams,
        peer: &AppPeer,
    ) -> Result<IssuedTokens, AppProblem> {
        let presented = form.need("refresh_token")?;
        let found = self.store.find_app_token(&hash(presented)).await?;
        let Some((token, grant)) = found.filter(|(row, _)| row.kind == AppTokenKind::Refresh)
        else {
            self.count_unknown_key(peer);
            return Err(invalid("the refresh token is unknown, expired or revoked"));
        };
        let now_ms = self.clock.now_ms();
        if grant.client_id != client.id {
            return self
                .note_refusal(&grant, client, "the refresh token of another client", peer)
                .await;
        }
        if token.used_at_ms.is_some() {
            return self
                .end_reused(&grant, AuditAction::AppsRefreshReused, peer)
                .await;
        }
        if token.expires_at_ms <= now_ms || grant.expires_at_ms <= now_ms {
            return Err(invalid("the refresh token is unknown, expired or revoked"));
        }
        if let Some(resource) = form.get("resource") {
            check_resource(resource, &grant.resource)?;
        }
        let asked = match form.get("scope") {
            Some(text) => scopes(Some(text))?,
            None => grant.scopes.clone(),
        };
        if asked.iter().any(|scope| !grant.scopes.contains(scope)) {
            let sentence = "scope is more than what was granted";
            return Err(refused(RefusalCode::InvalidScope, sentence));
        }
        self.check_blocked(&grant.workspace_id, &grant.client_id)
            .await?;
        // Groups of the member's provider are asked about each time.
        self.check_member(&grant, true).await?;
        let new = new_tokens(&grant, asked, now_ms);
        let rotated = self.store.rotate_app_tokens(
            &token,
            [&new.access, &new.refresh],
            new.grant_expires_at_ms,
            now_ms,
        );
        if !rotated.await? {
            return self
                .end_reused(&grant, AuditAction::AppsRefreshReused, peer)
                .await;
        }
        Ok(new.issued)
    }

    /// Refuses where the member is none any more.
    async fn check_member(&self, grant: &AppGrant, anew: bool) -> Result<(), AppProblem> {
        let workspace = self.store.find_workspace(&grant.workspace_id).await?;
        let member = self
            .store
            .find_member(&grant.workspace_id, &grant.member_id)
            .await?;
        let confirmed = match (member, workspace) {
            (Some(member), Some(workspace)) => self.confirmed(member, &workspace, anew).await?,
            _ => None,
        };
        match confirmed {
            Some(_) => Ok(()),
            None => Err(invalid(
                "the member who authorized the app was removed or has to sign in again",
            )),
        }
    }

    pub(super) async fn check_blocked(
        &self,
        workspace_id: &str,
        client_id: &str,
    ) -> Result<(), AppProblem> {
        match self.store.is_app_blocked(workspace_id, client_id).await? {
            true => Err(invalid(
                "an admin of the workspace has switched the app off",
            )),
            false => Ok(()),
        }
    }

    /// Ends the grant of a code or refresh token that came back.
    async fn end_reused<T>(
        &self,
        grant: &AppGrant,
        action: AuditAction,
        peer: &AppPeer,
    ) -> Result<T, AppProblem> {
        self.audited_app(grant, action, about(grant), peer)
            .delete_app_grant(&grant.workspace_id, &grant.id)
            .await?;
        tracing::warn!(
            request_id = peer.request_id,
            app.id = grant.id,
            action = action.into_str(),
            "apps.reused"
        );
        Err(invalid(
            "the code or refresh token was already used; the grant was revoked: connect again",
        ))
    }

    /// Writes down that somebody presented what belongs to a grant and could not use it.
    async fn note_refusal<T>(
        &self,
        grant: &AppGrant,
        client: &AppClient,
        reason: &'static str,
        peer: &AppPeer,
    ) -> Result<T, AppProblem> {
        self.count_unknown_key(peer);
        let details = json!({
            "client": grant.client_name,
            "presented_by": client.name,
            "presented_by_id": client.id,
            "reason": reason,
        });
        let entry = self.app_entry(grant, AuditAction::AppsRefuseToken, details, peer);
        self.store.add_audit_entry(&entry).await?;
        Err(invalid(
            "the code or refresh token was issued to another client, or redirect_uri or code_verifier does not match",
        ))
    }

    pub(super) fn count_unknown_key(&self, peer: &AppPeer) {
        self.counts.stranger(peer.address, self.clock.now_ms());
    }
}

pub(super) fn invalid(sentence: &str) -> AppProblem {
    refused(RefusalCode::InvalidGrant, sentence)
}

/// A token as text.
pub(super) fn new_token(prefix: &str) -> Secret {
    let random = random_base62(RANDOM_CHARS);
    Secret::new(format!("{prefix}{}", random.expose()))
}

fn new_tokens(grant: &AppGrant, scopes: Vec<String>, now_ms: i64) -> NewTokens {
    let grant_expires_at_ms = (now_ms + IDLE_MS).min(grant.created_at_ms + GRANT_LIFE_MS);
    let row = |token: &Secret, kind, scopes: &[String], expires_at_ms| AppToken {
        hash: hash(token.expose()),
        workspace_id: grant.workspace_id.clone(),
        grant_id: grant.id.clone(),
        kind,
        scopes: scopes.to_vec(),
        expires_at_ms,
        used_at_ms: None,
    };
    let (access, refresh) = (new_token(ACCESS_PREFIX), new_token(REFRESH_PREFIX));
    let access_until_ms = (now_ms + ACCESS_LIFE_MS).min(grant_expires_at_ms);
    NewTokens {
        access: row(&access, AppTokenKind::Access, &scopes, access_until_ms),
        // It keeps what was granted: one narrower access token takes nothing from the next.
        refresh: row(
            &refresh,
            AppTokenKind::Refresh,
            &grant.scopes,
            grant_expires_at_ms,
        ),
        issued: IssuedTokens {
            access,
            refresh: Some(refresh),
            expires_in_s: (access_until_ms - now_ms) / 1_000,
            scopes: scopes.join(" "),
        },
        grant_expires_at_ms,
    }
}
