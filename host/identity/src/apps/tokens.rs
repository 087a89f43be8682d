//! The token endpoint (RFC 6749, sections 4.1.3 and 6): codes and refresh tokens become tokens. A code is exchanged
//! once. A refresh token is exchanged once too, but clients repeat an exchange: several processes of one share the
//! token, and an answer may be lost. [`may_rotate`] tells that from a copy in other hands, with which the whole grant
//! ends. The other grant types are in [`super::assertion`] and [`super::client_credentials`].

use super::params::OAuthParams;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::{AppPeer, about, resources, scopes};
use crate::Identity;
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray};
use toolgate_oauth::authorize::is_challenge_of;
use toolgate_operation::audit::AuditAction;
use toolgate_store::{AppClient, AppGrant, AppToken, AppTokenKind, GrantTokensMax, RefreshUses};
use toolgate_vault::Secret;
use toolgate_vault::opaque::hash;

/// What every access token begins with.
pub const ACCESS_PREFIX: &str = "tg_oat_";
/// What every refresh token begins with.
pub const REFRESH_PREFIX: &str = "tg_ort_";
/// How long an access token is good.
pub const ACCESS_LIFE_MS: i64 = 60 * 60 * 1_000;
/// A grant ends after this long without a refresh, and after this long in any case.
pub const IDLE_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
pub const GRANT_LIFE_MS: i64 = 365 * 24 * 60 * 60 * 1_000;

/// For how long tokens of one generation of a grant are exchanged after the first of them was.
pub const OVERLAP_MS: i64 = 60 * 1_000;
/// Tokens of one grant that are kept, the newest.
pub const KEPT: GrantTokensMax = GrantTokensMax {
    access: 32,
    refresh: 32,
    used: 1_000,
};

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

impl Identity {
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
        let form = OAuthParams::parse(form)?;
        // A token of ours is never refused for what others have sent from the same address.
        let is_ours = form.get("refresh_token").map(|token| self.is_marked(token));
        if !is_ours.transpose()?.unwrap_or(false) {
            self.counts
                .check_unknown_key(peer.address, self.clock.now_ms())?;
        }
        let grant_type = self.grant_type(&form)?;
        let client = match grant_type {
            // Its client need not have been here before.
            GrantType::JwtBearer => self.known_or_documented(authorization, &form, peer).await,
            _ => self.authenticated_client(authorization, &form, peer).await,
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
        if !is_challenge_of(&grant.challenge, &Secret::new(verifier)) {
            return self
                .note_refusal(&grant, client, "another code_verifier", peer)
                .await;
        }
        resources::requested(form, &self.mcp_resource(), Some(&grant.resource))?;
        self.check_blocked(&grant.workspace_id, &grant.client_id)
            .await?;
        self.check_member(&grant, false).await?;
        let texts = self.new_pair()?;
        let new = new_tokens(&grant, grant.scopes.clone(), 0, texts, now_ms);
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
        if token.expires_at_ms <= now_ms || grant.expires_at_ms <= now_ms {
            return Err(invalid("the refresh token is unknown, expired or revoked"));
        }
        resources::requested(form, &self.mcp_resource(), Some(&grant.resource))?;
        let asked = scopes::narrowed(form.get("scope"), &grant.scopes)?;
        self.check_blocked(&grant.workspace_id, &grant.client_id)
            .await?;
        // Groups of the member's provider are asked about each time.
        self.check_member(&grant, true).await?;
        let generation = token.generation.unwrap_or(0) + 1;
        let texts = self.new_pair()?;
        let new = new_tokens(&grant, asked, generation, texts, now_ms);
        let rotated = self.store.rotate_app_tokens(
            &token,
            [&new.access, &new.refresh],
            new.grant_expires_at_ms,
            now_ms,
            KEPT,
            may_rotate,
        );
        if !rotated.await? {
            return self
                .end_reused(&grant, AuditAction::AppsRefreshReused, peer)
                .await;
        }
        Ok(new.issued)
    }

    fn new_pair(&self) -> Result<(Secret, Secret), AppProblem> {
        Ok((
            self.new_token(ACCESS_PREFIX)?,
            self.new_token(REFRESH_PREFIX)?,
        ))
    }

    /// Refuses where the member has left.
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

    /// Ends the grant of a code or refresh token that is in other hands too.
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

/// Whether a refresh token that its client presents is exchanged. The client may present it again, and other tokens
/// of its generation, for [`OVERLAP_MS`], and the same token for as long as none of the next generation was used: then
/// no answer to it has arrived. Later, somebody else holds a copy.
fn may_rotate(uses: &RefreshUses, now_ms: i64) -> bool {
    let first_ms = uses.generation_ms.or(uses.own_ms);
    let in_time = first_ms.is_none_or(|first_ms| now_ms - first_ms <= OVERLAP_MS);
    let unanswered = uses.own_ms.is_some() && !uses.successor_used;
    in_time || unanswered
}

pub(super) fn invalid(sentence: &str) -> AppProblem {
    refused(RefusalCode::InvalidGrant, sentence)
}

fn new_tokens(
    grant: &AppGrant,
    scopes: Vec<String>,
    generation: i64,
    (access, refresh): (Secret, Secret),
    now_ms: i64,
) -> NewTokens {
    let grant_expires_at_ms = (now_ms + IDLE_MS).min(grant.created_at_ms + GRANT_LIFE_MS);
    let row = |token: &Secret, kind, scopes: &[String], expires_at_ms| AppToken {
        hash: hash(token.expose()),
        workspace_id: grant.workspace_id.clone(),
        grant_id: grant.id.clone(),
        kind,
        scopes: scopes.to_vec(),
        expires_at_ms,
        used_at_ms: None,
        generation: (kind == AppTokenKind::Refresh).then_some(generation),
        issued_at_ms: Some(now_ms),
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_exchange_is_told_from_a_copy() {
        const AT: i64 = 1_000_000;
        let uses = |own_ms, generation_ms, successor_used| RefreshUses {
            own_ms,
            generation_ms,
            successor_used,
        };
        for (uses, after_ms, expected) in [
            // The first exchange, however late.
            (uses(None, None, false), 1_000 * OVERLAP_MS, true),
            // Again, at the same time and within a minute, whatever happened to the answer.
            (uses(Some(AT), Some(AT), false), 0, true),
            (uses(Some(AT), Some(AT), true), OVERLAP_MS, true),
            // Later: only where no answer was used.
            (uses(Some(AT), Some(AT), false), OVERLAP_MS + 1, true),
            (uses(Some(AT), Some(AT), true), OVERLAP_MS + 1, false),
            // Another token of the same generation: only within the minute.
            (uses(None, Some(AT), false), OVERLAP_MS, true),
            (uses(None, Some(AT), true), OVERLAP_MS, true),
            (uses(None, Some(AT), false), OVERLAP_MS + 1, false),
            (uses(None, Some(AT), true), OVERLAP_MS + 1, false),
            // Of before generations were written down: whether it was answered is not known.
            (uses(Some(AT), None, true), OVERLAP_MS, true),
            (uses(Some(AT), None, true), OVERLAP_MS + 1, false),
        ] {
            assert_eq!(
                may_rotate(&uses, AT + after_ms),
                expected,
                "{uses:?} {after_ms}"
            );
        }
    }
}
