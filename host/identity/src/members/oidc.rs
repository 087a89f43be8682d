//! Signing in with an OpenID Connect provider that the operator has configured.
//!
//! Authorization code with PKCE, `state` and `nonce`; the flow is in a signed cookie of the browser
//! that began it. The provider says who it is; which member that is is our business ([`which`]): the
//! one whom the account has signed in as before, the one whom an invitation makes that the same
//! browser brought, the one for whose address the operator has vouched. Any other member with the
//! verified address may have been made by the holder of an invitation to it, so the person is asked
//! first, by the workspace's name. Where the operator has set rules for groups, [`groups`] makes and removes
//! members, and [`accounts`] asks the provider again while they are signed in.

mod accounts;
mod group_claims;
mod groups;
mod provider;
mod which;

use serde::{Deserialize, Serialize};
use serde_json::json;

pub use accounts::{ASKED_EVERY_MS, CONFIRMED_MS};
pub(crate) use accounts::{OidcAccounts, OidcAccountsParts};
pub(crate) use provider::origin;
pub use which::Choices;

use super::sign_in::{Browser, SignedIn};
use crate::config::OidcConfig;
use crate::{Error, Identity};
use toolgate_oauth::authorize::{self, Authorize};
use toolgate_oauth::callback::{self, CallbackOutcome};
use toolgate_oauth::send;
use toolgate_oauth::token::TokenGrant;
use toolgate_store::SignInProof;
use toolgate_vault::opaque::{hash, random_token};
use toolgate_vault::{Purpose, Secret};

/// Path of the callback to register at the provider.
pub const OIDC_CALLBACK_PATH: &str = "/internal/oidc/callback";
/// How long a person may take at the provider.
pub const FLOW_LIFE_MS: i64 = 10 * 60 * 1_000;
const RETURN_TO_BYTES_MAX: usize = 500;

/// A browser on its way to the provider.
#[derive(Debug)]
pub struct OidcStart {
    pub url: String,
    /// For a cookie that comes back with the provider's redirect.
    pub flow: Secret,
}

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum OidcProblem {
    /// A cookie with the choice, for the page that asks.
    #[error(
        "the account's address belongs to members of several workspaces, or to one that nobody vouched for"
    )]
    Choose(Secret),
    #[error("no member has this account's address")]
    NoMember,
    #[error("no group of the account is mapped to a role (--oidc-group-role)")]
    NoGroup,
    #[error("the provider refused the sign-in")]
    Denied,
    #[error("it took too long, or began in another browser")]
    Expired,
    #[error("the provider could not be understood")]
    Failed(#[source] anyhow::Error),
}

impl OidcProblem {
    /// The word for the page's address.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Choose(_) => "oidc_choose",
            Self::NoMember => "oidc_no_member",
            Self::NoGroup => "oidc_no_group",
            Self::Denied => "oidc_denied",
            Self::Expired => "oidc_expired",
            Self::Failed(_) => "oidc_failed",
        }
    }
}

impl From<Error> for OidcProblem {
    fn from(cause: Error) -> Self {
        Self::Failed(cause.into())
    }
}

impl From<toolgate_oauth::OAuthError> for OidcProblem {
    fn from(cause: toolgate_oauth::OAuthError) -> Self {
        Self::Failed(cause.into())
    }
}

#[derive(Serialize, Deserialize)]
struct OidcFlow {
    state: String,
    nonce: String,
    verifier: String,
    return_to: String,
    /// SHA-256 of the token of an invitation that is accepted so.
    #[serde(default)]
    invitation: Option<String>,
    exp_ms: i64,
}

impl Identity {
    /// The provider that the operator has configured, if any.
    pub fn oidc(&self) -> Option<&OidcConfig> {
        self.oidc.as_ref().map(|accounts| accounts.config())
    }

    /// Begins a sign-in at the provider. `return_to`: the page to open at the end. `invitation`: the
    /// token of a link that is accepted with it.
    pub async fn start_oidc(
        &self,
        return_to: &str,
        invitation: Option<&str>,
    ) -> Result<OidcStart, OidcProblem> {
        let accounts = self.configured()?;
        let now_ms = self.clock.now_ms();
        let found = accounts.provider.discover(now_ms).await?;
        let (state, nonce) = (random_token(), random_token());
        let verifier = authorize::verifier();
        let mut provider = accounts.provider.registration(&found);
        provider
            .authorize_params
            .insert("nonce".to_owned(), nonce.expose().to_owned());
        let url = authorize::url(
            &provider,
            &Authorize {
                redirect_uri: &self.oidc_callback(),
                scopes: &accounts.provider.scopes(&found),
                state: state.expose(),
                verifier: &verifier,
            },
        )?;
        let flow = OidcFlow {
            state: state.expose().to_owned(),
            nonce: nonce.expose().to_owned(),
            verifier: verifier.expose().to_owned(),
            return_to: own_page(return_to).to_owned(),
            invitation: invitation.map(hash),
            exp_ms: self.clock.now_ms() + FLOW_LIFE_MS,
        };
        let flow = self.vault.signed(Purpose::OidcFlow, &flow);
        let flow = flow.map_err(|cause| OidcProblem::Failed(cause.into()))?;
        Ok(OidcStart { url, flow })
    }

    /// Signs in the person who comes back from the provider; answers the page to open too.
    pub async fn finish_oidc(
        &self,
        query: &str,
        flow: Option<&str>,
        client: &Browser,
    ) -> Result<(SignedIn, String), OidcProblem> {
        let accounts = self.configured()?;
        let flow: OidcFlow = flow
            .and_then(|flow| self.vault.verified(Purpose::OidcFlow, flow).ok())
            .ok_or(OidcProblem::Expired)?;
        let now_ms = self.clock.now_ms();
        let came = callback::parse(query).map_err(|bad| OidcProblem::Failed(bad.into()))?;
        if flow.exp_ms <= now_ms || came.state.expose() != flow.state {
            return Err(OidcProblem::Expired);
        }
        let provider = &accounts.provider;
        let found = provider.discover(now_ms).await?;
        // Character by character, with the name that the provider gives itself (RFC 9207, section 2.4).
        if came.issuer.is_some_and(|issuer| issuer != found.issuer) {
            return Err(failed(
                "another provider answers than the one that was asked",
            ));
        }
        let CallbackOutcome::Code(code) = came.answer else {
            return Err(OidcProblem::Denied);
        };
        let grant = TokenGrant::Code {
            code: &code,
            redirect_uri: &self.oidc_callback(),
            verifier: &Secret::new(flow.verifier),
            state: None,
            scopes: &[],
        };
        let registration = provider.registration(&found);
        let egress = &self.egress;
        let tokens = send::tokens(egress, &registration, &grant, &[]).await?;
        let claims = provider
            .account_claims(&found, &tokens, Some(&flow.nonce), now_ms)
            .await?
            .ok_or_else(|| failed("the provider does not say who has signed in"))?;
        let account = which::Account::new(&provider.config, &claims);
        let admitted = if accounts.decide() {
            accounts.keep(account.subject(), &tokens, now_ms).await?;
            Some(self.admit(&account, &claims, client).await?)
        } else {
            None
        };
        let member = match &flow.invitation {
            Some(invitation) => {
                self.check_invitation(invitation, admitted.as_ref()).await?;
                self.invited(&account, invitation, client).await?
            }
            None => match self.member_of(&account, &flow.return_to, client).await {
                Err(OidcProblem::NoMember) if admitted.is_some() => {
                    return Err(OidcProblem::NoGroup);
                }
                other => other?,
            },
        };
        let details = json!({ "provider": provider.config.issuer });
        let signed_in = self
            .begin(member, SignInProof::Account, Some(details), client)
            .await?;
        Ok((signed_in, flow.return_to))
    }

    fn configured(&self) -> Result<&OidcAccounts, OidcProblem> {
        self.oidc
            .as_deref()
            .ok_or_else(|| failed("no provider is configured"))
    }

    fn oidc_callback(&self) -> String {
        format!("{}{OIDC_CALLBACK_PATH}", self.public_url)
    }
}

/// A page of the dashboard: a path that no browser reads as another site's address.
fn own_page(text: &str) -> &str {
    let plain = text.len() <= RETURN_TO_BYTES_MAX
        && text.starts_with('/')
        && !text.starts_with("//")
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if plain { text } else { "/" }
}

fn failed(sentence: &'static str) -> OidcProblem {
    OidcProblem::Failed(anyhow::anyhow!(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_of_our_own_is_returned_to() {
        for (text, page) in [
            ("/approvals/apr_1?x=y#z", "/approvals/apr_1?x=y#z"),
            ("/", "/"),
            ("", "/"),
            ("//evil.test", "/"),
            ("/\\evil.test", "/"),
            ("https://evil.test", "/"),
            ("/a\r\nset-cookie: x", "/"),
        ] {
            assert_eq!(own_page(text), page, "{text:?}");
        }
    }
}
