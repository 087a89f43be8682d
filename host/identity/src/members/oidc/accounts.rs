//! Asks the provider again which groups an account is in, so that a person who left them is out within
//! [`CONFIRMED_MS`].
//!
//! A membership that groups decide about is good for that long after the provider was asked. It is asked at
//! each sign-in, at each refresh of an app's token, and by the first request after [`ASKED_EVERY_MS`]: with
//! the refresh token of the last sign-in, or, where the provider gives none, with its access token as long as
//! that is good. One process asks at a time, since a provider that rotates refresh tokens takes a second use
//! for theft.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use super::provider::OidcProvider;
use super::{OidcProblem, group_claims};
use crate::config::OidcConfig;
use crate::{Error, Identity};
use toolgate_core::clock::Clock;
use toolgate_core::trace;
use toolgate_egress::Egress;
use toolgate_oauth::token::{TokenGrant, Tokens};
use toolgate_oauth::{OAuthError, send};
use toolgate_operation::audit::AuditAction;
use toolgate_store::{Member, OidcAccount, Store, StoreError, Workspace};
use toolgate_vault::{SealContext, Secret, Vault};

/// How long what the provider has said holds.
pub const CONFIRMED_MS: i64 = 5 * 60 * 1_000;
/// From then on a request asks anew; until the end of [`CONFIRMED_MS`] it is served even where the
/// provider does not answer.
pub const ASKED_EVERY_MS: i64 = 4 * 60 * 1_000;
/// Between two times that a provider is asked though the last answer still holds.
const ASKED_AGAIN_MS: i64 = 1_000;
/// How long one process may take to ask: discovery, tokens, keys and user info.
const TURN_MS: i64 = 60_000;
/// How long an answer is believed that could not be renewed.
const UNRENEWED_MS: i64 = 10_000;
/// How long a request waits for another one that asks.
const WAIT: Duration = Duration::from_millis(100);
const WAITS_MAX: usize = 200;

/// The provider, and what is kept of its accounts. One per gateway.
pub(crate) struct OidcAccounts {
    pub(super) provider: OidcProvider,
    pub(super) store: Store,
    vault: Vault,
    pub(super) clock: Clock,
    running: TaskTracker,
    workers: Handle,
}

/// What [`OidcAccounts::new`] is made of.
pub(crate) struct OidcAccountsParts {
    pub(crate) egress: Egress,
    pub(crate) store: Store,
    pub(crate) vault: Vault,
    pub(crate) clock: Clock,
    pub(crate) running: TaskTracker,
}

/// The outcome of asking about an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AccountState {
    /// The account's members are as the provider says, and need not be asked about before this time.
    Until(i64),
    /// The person has to sign in again.
    Over,
}

/// What the provider has just said of an account.
struct AskedAccount {
    groups: Vec<String>,
    /// When it has to be asked again.
    until_ms: i64,
}

/// The tokens of an account, sealed.
#[derive(Serialize, Deserialize)]
struct KeptTokens {
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<String>,
    access: String,
}

/// A member whose membership holds.
pub(crate) struct ConfirmedMember {
    pub(crate) member: Member,
    /// When the provider has to be asked again; `None`: it does not decide about this member.
    pub(crate) until_ms: Option<i64>,
}

impl OidcAccounts {
    /// Must be called in a tokio runtime, where asking goes on after the requester has gone.
    pub(crate) fn new(config: OidcConfig, parts: OidcAccountsParts) -> Self {
        Self {
            provider: OidcProvider::new(config, parts.egress),
            store: parts.store,
            vault: parts.vault,
            clock: parts.clock,
            running: parts.running,
            workers: Handle::current(),
        }
    }

    pub(crate) fn config(&self) -> &OidcConfig {
        &self.provider.config
    }

    /// Whether groups of the provider decide about anybody.
    pub(crate) fn decide(&self) -> bool {
        !self.config().groups.rules.is_empty()
    }

    /// Keeps the tokens of a sign-in.
    pub(super) async fn keep(
        &self,
        subject: &str,
        tokens: &Tokens,
        now_ms: i64,
    ) -> Result<(), OidcProblem> {
        let account = OidcAccount {
            subject: subject.to_owned(),
            sealed: self.seal(subject, tokens, None)?,
            confirmed_at_ms: now_ms,
            checking_until_ms: 0,
        };
        let kept = self.store.put_oidc_account(&account).await;
        Ok(kept.map_err(Error::from)?)
    }

    /// Asks the provider about an account unless its last answer holds; `anew`: even then.
    async fn confirm(self: &Arc<Self>, subject: &str, anew: bool) -> Result<AccountState, Error> {
        let began_ms = self.clock.now_ms();
        let good_since_ms = match anew {
            true => began_ms - ASKED_AGAIN_MS,
            false => began_ms - ASKED_EVERY_MS,
        };
        for _ in 0..WAITS_MAX {
            let Some(account) = self.store.find_oidc_account(subject).await? else {
                return Ok(AccountState::Over);
            };
            let now_ms = self.clock.now_ms();
            let asked_ms = account.confirmed_at_ms;
            if asked_ms > good_since_ms {
                return Ok(AccountState::Until(asked_ms + ASKED_EVERY_MS));
            }
            let claimed = self
                .store
                .claim_oidc_account(&account, now_ms + TURN_MS, now_ms);
            if claimed.await? {
                let cause = match self.ask_to_the_end(account).await {
                    Ok(Some(asked)) => return Ok(AccountState::Until(asked.until_ms)),
                    Ok(None) => return Ok(AccountState::Over),
                    Err(cause) => cause,
                };
                tracing::warn!(error = format!("{cause:#}"), "members.groups_not_asked");
                let ends_ms = asked_ms + CONFIRMED_MS;
                return match cause {
                    Error::ProviderUnavailable if !anew && ends_ms > now_ms => {
                        Ok(AccountState::Until(ends_ms.min(now_ms + UNRENEWED_MS)))
                    }
                    cause => Err(cause),
                };
            }
            if !anew && asked_ms + CONFIRMED_MS > now_ms {
                let until_ms = (asked_ms + CONFIRMED_MS).min(now_ms + UNRENEWED_MS);
                return Ok(AccountState::Until(until_ms));
            }
            tokio::time::sleep(WAIT).await;
        }
        Err(Error::ProviderUnavailable)
    }

    /// The groups of an account, asked for now, however long ago that was done before. `None`: the person has to
    /// sign in again.
    pub(super) async fn groups_now(
        self: &Arc<Self>,
        subject: &str,
    ) -> Result<Option<Vec<String>>, Error> {
        for _ in 0..WAITS_MAX {
            let Some(account) = self.store.find_oidc_account(subject).await? else {
                return Ok(None);
            };
            let now_ms = self.clock.now_ms();
            let claimed = self
                .store
                .claim_oidc_account(&account, now_ms + TURN_MS, now_ms);
            if claimed.await? {
                let asked = self.ask_to_the_end(account).await?;
                return Ok(asked.map(|asked| asked.groups));
            }
            tokio::time::sleep(WAIT).await;
        }
        Err(Error::ProviderUnavailable)
    }

    /// The same as [`OidcAccounts::ask`], whether or not the caller waits for it.
    async fn ask_to_the_end(
        self: &Arc<Self>,
        account: OidcAccount,
    ) -> Result<Option<AskedAccount>, Error> {
        let asking = {
            let this = self.clone();
            async move { this.ask(account).await }
        };
        let asking = self.running.track_future(trace::carry(asking));
        let asked = self.workers.spawn(asking).await;
        asked.map_err(|cause| Error::Internal(cause.into()))?
    }

    /// Asks about an account whose turn this process has, and gives the turn back. `None`: the person has to sign
    /// in again.
    async fn ask(&self, account: OidcAccount) -> Result<Option<AskedAccount>, Error> {
        let asked_ms = self.clock.now_ms();
        let subject = &account.subject;
        match self.ask_groups(&account, asked_ms).await {
            Ok(Some(groups)) => {
                let governed_workspaces = self.governed_workspaces(&groups).await?;
                self.apply(subject, &governed_workspaces).await?;
                let store = &self.store;
                store.release_oidc_account(subject, Some(asked_ms)).await?;
                let until_ms = asked_ms + ASKED_EVERY_MS;
                Ok(Some(AskedAccount { groups, until_ms }))
            }
            Ok(None) => {
                let ended = self.store.delete_oidc_account(subject, &account.sealed);
                // Where a sign-in has brought other tokens meanwhile, those count.
                if ended.await? {
                    self.end_access(subject).await?;
                }
                Ok(None)
            }
            Err(cause) => {
                self.store.release_oidc_account(subject, None).await?;
                tracing::warn!(error = %cause, "members.provider_unavailable");
                Err(Error::ProviderUnavailable)
            }
        }
    }

    /// The groups of an account. `None`: the provider takes its tokens no more.
    async fn ask_groups(
        &self,
        account: &OidcAccount,
        now_ms: i64,
    ) -> Result<Option<Vec<String>>, OidcProblem> {
        let internal = |cause: anyhow::Error| OidcProblem::Failed(cause);
        let kept = self.vault.unseal(&place(&account.subject), &account.sealed);
        let kept: KeptTokens = match kept {
            Ok(kept) => serde_json::from_str(kept.expose()).map_err(|e| internal(e.into()))?,
            // Under a master key that is lost.
            Err(_) => return Ok(None),
        };
        let found = self.provider.discover(self.clock.now_ms()).await?;
        let tokens = match kept.refresh {
            Some(refresh) => {
                let refresh = Secret::new(refresh);
                let registration = self.provider.registration(&found);
                let grant = TokenGrant::Refresh {
                    token: &refresh,
                    redirect_uri: "",
                    scopes: &[],
                };
                let egress = self.provider.egress();
                let tokens = match send::tokens(egress, &registration, &grant, &[]).await {
                    Ok(tokens) => tokens,
                    Err(OAuthError::Refused(_)) => return Ok(None),
                    Err(cause) => return Err(cause.into()),
                };
                // Before anything else: the one before may be good no more.
                let sealed = self.seal(&account.subject, &tokens, Some(&refresh))?;
                let renewed =
                    self.store
                        .renew_oidc_account(&account.subject, &account.sealed, &sealed);
                renewed.await.map_err(Error::from)?;
                tokens
            }
            None => Tokens {
                access: Secret::new(kept.access),
                refresh: None,
                lifetime: None,
                refresh_lifetime: None,
                scopes: None,
                id_token: None,
                read: Vec::new(),
            },
        };
        let Some(claims) = self
            .provider
            .account_claims(&found, &tokens, None, now_ms)
            .await?
        else {
            return Ok(None);
        };
        let issuer = &self.config().issuer;
        if format!("{issuer} {}", claims.subject) != account.subject {
            return Err(super::failed("the provider describes another account"));
        }
        Ok(Some(claims.groups))
    }

    /// Ends where the members of an account are signed in, and their apps, where the groups decide about
    /// them.
    async fn end_access(&self, subject: &str) -> Result<(), StoreError> {
        let governed_workspaces = self.governed_workspaces(&[]).await?;
        let members = self.store.members_with_oidc(subject, i64::MAX).await?;
        for member in members {
            let decides = governed_workspaces
                .iter()
                .any(|one| one.workspace.id == member.workspace_id);
            if !decides || member.password_hash.is_some() {
                continue;
            }
            let details = json!({ "email": member.email });
            self.audited(&member, AuditAction::MembersEndAccount, details)
                .end_member_access(&member.workspace_id, &member.id)
                .await?;
        }
        Ok(())
    }

    fn seal(
        &self,
        subject: &str,
        tokens: &Tokens,
        before: Option<&Secret>,
    ) -> Result<String, OidcProblem> {
        let refresh = tokens.refresh.as_ref().or(before);
        let kept = KeptTokens {
            refresh: refresh.map(|token| token.expose().to_owned()),
            access: tokens.access.expose().to_owned(),
        };
        let text = serde_json::to_string(&kept).map_err(|e| OidcProblem::Failed(e.into()))?;
        let sealed = self.vault.seal(&place(subject), &Secret::new(text));
        sealed.map_err(|cause| OidcProblem::Failed(cause.into()))
    }
}

fn place(subject: &str) -> SealContext<'_> {
    SealContext {
        kind: "oidc_account",
        workspace_id: "",
        user_id: "",
        service: "",
        id: subject,
    }
}

impl Identity {
    /// The member as the provider's groups have it now. `None`: it is no member any more, or has to sign in
    /// again. `anew`: the provider is asked even where its last answer still holds.
    ///
    /// # Errors
    /// `overloaded` where the groups decide about the member and the provider does not answer.
    pub(crate) async fn confirmed(
        &self,
        member: Member,
        workspace: &Workspace,
        anew: bool,
    ) -> Result<Option<ConfirmedMember>, Error> {
        let decided = self.managing_provider(&member, workspace).await?;
        let (Some(accounts), Some(subject)) = (decided, &member.oidc_subject) else {
            return Ok(Some(ConfirmedMember {
                member,
                until_ms: None,
            }));
        };
        let AccountState::Until(until_ms) = accounts.confirm(subject, anew).await? else {
            return Ok(None);
        };
        // Its role may be another one now, or it may be gone.
        let member = self.store.find_member(&member.workspace_id, &member.id);
        Ok(member.await?.map(|member| ConfirmedMember {
            member,
            until_ms: Some(until_ms),
        }))
    }

    /// The same for a member of whatever workspace, with the provider asked now.
    pub(crate) async fn confirmed_now(&self, member: Member) -> Result<Option<Member>, Error> {
        let workspace = self.store.find_workspace(&member.workspace_id).await?;
        let Some(workspace) = workspace else {
            return Ok(None);
        };
        let confirmed = self.confirmed(member, &workspace, true).await?;
        Ok(confirmed.map(|confirmed| confirmed.member))
    }

    /// Refuses to change by hand what the provider's groups decide.
    ///
    /// # Errors
    /// `conflict`.
    pub(crate) async fn require_not_group_managed(
        &self,
        member: &Member,
        what: &str,
    ) -> Result<(), Error> {
        let workspace = self.workspace_of(member).await?;
        match self.managing_provider(member, &workspace).await? {
            Some(accounts) => Err(Error::Conflict(format!(
                "{} is a member by the groups of {}, which decide about {what}",
                member.email,
                accounts.config().name
            ))),
            None => Ok(()),
        }
    }

    /// The provider, where its groups decide about this member.
    pub(super) async fn managing_provider(
        &self,
        member: &Member,
        workspace: &Workspace,
    ) -> Result<Option<&Arc<OidcAccounts>>, Error> {
        let Some(accounts) = self.oidc.as_ref().filter(|accounts| accounts.decide()) else {
            return Ok(None);
        };
        let first = self.is_operator(&workspace.id).await?;
        let decide = group_claims::manages(accounts.config(), member, &workspace.name, first);
        Ok(decide.then_some(accounts))
    }
}
