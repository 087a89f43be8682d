//! Enterprise-managed authorization: an identity assertion (ID-JAG) of an issuer that the operator trusts,
//! exchanged for an access token of the person whom it names
//! (draft-ietf-oauth-identity-assertion-authz-grant, section 4.4; MCP extension
//! `io.modelcontextprotocol/enterprise-managed-authorization`).
//!
//! Nobody is asked, and no refresh token is given: the issuer decides anew with each assertion. Every refusal
//! is in the audit log of the person's workspace, or of the first one where no person is known.

use serde_json::json;

use super::params::OAuthParams;
use super::refusal::{AppProblem, RefusalCode, refused};
use super::tokens::{ACCESS_LIFE_MS, ACCESS_PREFIX, IssuedTokens, invalid};
use super::{APP_SCOPES, AppPeer, about, resources, scopes};
use crate::Identity;
use crate::members::checked_email;
use toolgate_core::ids;
use toolgate_oauth::id_jag::{self, AssertedIdentity, BadAssertion, ExpectedAssertion};
use toolgate_operation::audit::{AuditAction, entry};
use toolgate_store::{
    AppClient, AppGrant, AppToken, AppTokenKind, AuditEntry, Member, UsedAssertion, Workspace,
};
use toolgate_vault::Secret;
use toolgate_vault::opaque::hash;

/// Refusals a minute from one address that are written down.
const REFUSALS_WRITTEN_PER_MINUTE: u32 = 20;
/// Members that one address or account may be.
const MEMBERS_MAX: i64 = 32;

/// An assertion that is refused.
struct RefusedAssertion {
    reason: String,
    /// Whose log has it; the first workspace's if absent.
    workspace_id: Option<String>,
    answer: AppProblem,
}

impl RefusedAssertion {
    fn new(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self {
            answer: invalid(&reason),
            reason,
            workspace_id: None,
        }
    }

    fn in_workspace(self, workspace: &Workspace) -> Self {
        Self {
            workspace_id: Some(workspace.id.clone()),
            ..self
        }
    }
}

/// Why an assertion is not exchanged.
enum NotExchanged {
    Refused(RefusedAssertion),
    Failed(AppProblem),
}

impl From<RefusedAssertion> for NotExchanged {
    fn from(refused: RefusedAssertion) -> Self {
        Self::Refused(refused)
    }
}

impl From<BadAssertion> for NotExchanged {
    fn from(bad: BadAssertion) -> Self {
        Self::Refused(RefusedAssertion::new(bad.to_string()))
    }
}

impl Identity {
    pub(super) async fn exchange_assertion(
        &self,
        client: &AppClient,
        form: &OAuthParams,
        peer: &AppPeer,
    ) -> Result<IssuedTokens, AppProblem> {
        match self.judge_assertion(client, form, peer).await {
            Ok(issued) => Ok(issued),
            Err(NotExchanged::Failed(problem)) => Err(problem),
            Err(NotExchanged::Refused(refused)) => {
                self.count_unknown_key(peer);
                self.write_refusal(client, &refused, peer).await?;
                Err(refused.answer)
            }
        }
    }

    async fn judge_assertion(
        &self,
        client: &AppClient,
        form: &OAuthParams,
        peer: &AppPeer,
    ) -> Result<IssuedTokens, NotExchanged> {
        let failed = NotExchanged::Failed;
        let assertion = form.need("assertion").map_err(failed)?;
        let resource = self.mcp_resource();
        resources::requested(form, &resource, Some(&resource)).map_err(failed)?;
        let asked = scopes::narrowed_exactly(form.get("scope"), &scopes::every());
        let asked = asked.map_err(failed)?;
        let named = id_jag::named_issuer(assertion)?;
        let Some(issuer) = self.apps.issuers.find(&named) else {
            return Err(RefusedAssertion::new("the issuer of the assertion is not trusted").into());
        };
        let asserted = self.verify(issuer, assertion, &client.id).await?;
        let (member, workspace) = self.asserted_member(issuer, &asserted, client).await?;
        let of_workspace =
            |refused: RefusedAssertion| NotExchanged::Refused(refused.in_workspace(&workspace));
        let granted = granted(&asserted, client, &asked);
        if granted.is_empty() {
            let sentence = "none of the scopes is granted by the assertion";
            return Err(of_workspace(RefusedAssertion {
                answer: refused(RefusalCode::InvalidScope, sentence),
                ..RefusedAssertion::new(sentence)
            }));
        }
        let blocked = self.check_blocked(&workspace.id, &client.id).await;
        blocked.map_err(|problem| match problem {
            AppProblem::Refused { sentence, .. } => of_workspace(RefusedAssertion::new(sentence)),
            other => NotExchanged::Failed(other),
        })?;
        let access = self.new_token(ACCESS_PREFIX);
        let access = access.map_err(|cause| NotExchanged::Failed(cause.into()))?;
        let grant = self.asserted_grant(&workspace.id, member.id, client, granted, resource);
        let grant = self.same_grant(grant).await.map_err(failed)?;
        let first_use = self.record_exchange(issuer, &asserted, &grant, &access, peer);
        if !first_use.await? {
            return Err(of_workspace(RefusedAssertion::new(
                "the assertion was used before",
            )));
        }
        Ok(IssuedTokens {
            access,
            refresh: None,
            expires_in_s: ACCESS_LIFE_MS / 1_000,
            scopes: grant.scopes.join(" "),
        })
    }

    /// The grant that an assertion gives: one for each member and client, without a code to redeem.
    fn asserted_grant(
        &self,
        workspace_id: &str,
        member_id: String,
        client: &AppClient,
        scopes: Vec<String>,
        resource: String,
    ) -> AppGrant {
        let now_ms = self.clock.now_ms();
        let one = format!("id-jag {workspace_id} {member_id} {}", client.id);
        AppGrant {
            workspace_id: workspace_id.to_owned(),
            id: ids::ulid("app"),
            member_id,
            client_id: client.id.clone(),
            client_name: client.name.clone(),
            scopes,
            resource,
            redirect_uri: String::new(),
            challenge: String::new(),
            code_hash: hash(&one),
            code_expires_at_ms: now_ms,
            code_used_at_ms: Some(now_ms),
            created_at_ms: now_ms,
            last_used_at_ms: None,
            expires_at_ms: now_ms + ACCESS_LIFE_MS,
        }
    }

    /// Records the assertion as used and the access token that it gave. `false`: it was used before.
    async fn record_exchange(
        &self,
        issuer: &str,
        asserted: &AssertedIdentity,
        grant: &AppGrant,
        access: &Secret,
        peer: &AppPeer,
    ) -> Result<bool, NotExchanged> {
        let token = AppToken {
            hash: hash(access.expose()),
            workspace_id: grant.workspace_id.clone(),
            grant_id: grant.id.clone(),
            kind: AppTokenKind::Access,
            scopes: grant.scopes.clone(),
            expires_at_ms: grant.expires_at_ms,
            used_at_ms: None,
            generation: None,
            issued_at_ms: Some(self.clock.now_ms()),
        };
        let used = UsedAssertion {
            hash: hash(&format!("{issuer} {}", asserted.id)),
            expires_at_ms: asserted.over_at_ms,
        };
        let mut details = about(grant);
        details["issuer"] = json!(issuer);
        let action = AuditAction::AppsEnterByAssertion;
        let exchanged = self
            .audited_app(grant, action, details, peer)
            .exchange_app_assertion(&used, grant, &token)
            .await;
        exchanged.map_err(|cause| NotExchanged::Failed(cause.into()))
    }

    /// What the assertion says, once it is proven. Keys that do not fit are read again once: the issuer may
    /// have changed them.
    async fn verify(
        &self,
        issuer: &str,
        assertion: &str,
        client_id: &str,
    ) -> Result<AssertedIdentity, NotExchanged> {
        let (audience, resource) = (self.app_issuer(), self.mcp_resource());
        let unreachable = |cause: anyhow::Error| {
            tracing::warn!(
                issuer,
                error = format!("{cause:#}"),
                "apps.issuer_unreachable"
            );
            let sentence = "the issuer of the assertion cannot be asked for its keys: try again";
            NotExchanged::Failed(refused(RefusalCode::TemporarilyUnavailable, sentence))
        };
        let mut keys = self.issuer_keys(issuer, None).await.map_err(unreachable)?;
        let mut again = true;
        loop {
            let expected = ExpectedAssertion {
                issuer: &keys.issuer,
                audience: &audience,
                client_id,
                resource: &resource,
                now_ms: self.clock.now_ms(),
            };
            match id_jag::verified(assertion, &keys.keys, &expected) {
                Ok(asserted) => return Ok(asserted),
                Err(BadAssertion::Signature) if again => {
                    let asked = self.issuer_keys(issuer, Some(&keys)).await;
                    keys = asked.map_err(unreachable)?;
                    again = false;
                }
                Err(bad) => return Err(bad.into()),
            }
        }
    }

    /// The one member whom an assertion names, in a workspace that the issuer speaks for: who has signed in with that
    /// account, else who has that address and no account, and for whom the operator or the provider has vouched.
    async fn asserted_member(
        &self,
        issuer: &str,
        asserted: &AssertedIdentity,
        client: &AppClient,
    ) -> Result<(Member, Workspace), NotExchanged> {
        let internal = |cause: toolgate_store::StoreError| NotExchanged::Failed(cause.into());
        let subject = format!("{issuer} {}", asserted.subject);
        let known = self.store.members_with_oidc(&subject, MEMBERS_MAX).await;
        let mut found = known.map_err(internal)?;
        let email = asserted
            .email
            .as_deref()
            .and_then(|text| checked_email(text).ok());
        if let (true, Some(email)) = (found.is_empty(), email) {
            let with_email = self.store.members_with_email(&email, MEMBERS_MAX).await;
            found = with_email.map_err(internal)?;
            // A member with an account, of this issuer or of another one, is identified by that account alone.
            found.retain(|member| member.vouched && member.oidc_subject.is_none());
        }
        let mut fitting = Vec::new();
        for member in found {
            let workspace = self.store.find_workspace(&member.workspace_id).await;
            let Some(workspace) = workspace.map_err(internal)? else {
                continue;
            };
            let tenant = asserted.tenant.as_ref();
            let clients = client.workspace_id.as_ref();
            if self.apps.issuers.speaks_for(issuer, &workspace.name)
                && tenant.is_none_or(|name| *name == workspace.name)
                && clients.is_none_or(|id| *id == workspace.id)
            {
                fitting.push((member, workspace));
            }
        }
        if fitting.len() > 1 {
            let reason = "the assertion names members of several workspaces: its claim aud_tenant must be the workspace's name";
            return Err(RefusedAssertion::new(reason).into());
        }
        let Some((member, workspace)) = fitting.pop() else {
            return Err(RefusedAssertion::new("the assertion names no member").into());
        };
        let confirmed = self.confirmed(member, &workspace, false).await;
        match confirmed.map_err(|cause| NotExchanged::Failed(cause.into()))? {
            Some(confirmed) => Ok((confirmed.member, workspace)),
            None => {
                let reason = "the person is no longer a member, or has to sign in again";
                Err(NotExchanged::Refused(
                    RefusedAssertion::new(reason).in_workspace(&workspace),
                ))
            }
        }
    }

    /// The grant with the id that the client's last one for this member has.
    async fn same_grant(&self, grant: AppGrant) -> Result<AppGrant, AppProblem> {
        let before = self.store.find_app_grant_by_code(&grant.code_hash).await?;
        let id = before.map_or_else(|| grant.id.clone(), |before| before.id);
        Ok(AppGrant { id, ..grant })
    }

    async fn write_refusal(
        &self,
        client: &AppClient,
        refused: &RefusedAssertion,
        peer: &AppPeer,
    ) -> Result<(), AppProblem> {
        let now_ms = self.clock.now_ms();
        tracing::warn!(
            request_id = peer.request_id,
            client.id = client.id,
            reason = refused.reason,
            "apps.assertion_refused"
        );
        let written = &self.apps.refusals;
        if written
            .take(peer.address, REFUSALS_WRITTEN_PER_MINUTE, now_ms)
            .is_err()
        {
            return Ok(());
        }
        let workspace_id = match &refused.workspace_id {
            Some(id) => Some(id.clone()),
            None => self.store.first_workspace().await?.map(|first| first.id),
        };
        let Some(workspace_id) = workspace_id else {
            return Ok(());
        };
        let details = json!({
            "client": client.name, "client_id": client.id, "reason": refused.reason,
        });
        let action = AuditAction::AppsRefuseAssertion;
        let actor = "gateway".to_owned();
        self.store
            .add_audit_entry(&AuditEntry {
                address: peer.address.map(|address| address.to_string()),
                request_id: Some(peer.request_id.clone()),
                ..entry(&workspace_id, actor, now_ms, action, &client.id, details)
            })
            .await?;
        Ok(())
    }
}

/// The scopes that the issuer has granted, the client may have and the request asks for.
fn granted(asserted: &AssertedIdentity, client: &AppClient, asked: &[String]) -> Vec<String> {
    let by_issuer: Option<Vec<&str>> = asserted
        .scope
        .as_deref()
        .map(|text| text.split(' ').collect());
    let limited = client.workspace_id.is_some();
    APP_SCOPES
        .map(<&str>::from)
        .into_iter()
        .filter(|one| by_issuer.as_ref().is_none_or(|all| all.contains(one)))
        .filter(|one| !limited || client.scopes.iter().any(|own| own == one))
        .filter(|one| asked.iter().any(|asked| asked == one))
        .map(str::to_owned)
        .collect()
}
