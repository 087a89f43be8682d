//! Signing in with an OpenID Connect provider that the operator has configured.
//!
//! Authorization code with PKCE, `state` and `nonce`; the flow is in a signed cookie of the browser
//! that began it. The provider says who it is; which member that is is our business ([`which`]): the
//! one whom the account has signed in as before, the one whom an invitation makes that the same
//! browser brought, the one for whose address the operator has vouched. Any other member with the
//! verified address may have been made by whoever held an invitation to it, so the person is asked
//! first, by the workspace's name.

mod which;

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use jsonwebtoken::jwk::JwkSet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use which::Choices;

use super::sign_in::{Browser, SignedIn};
use crate::config::OidcConfig;
use crate::connections::link::{hash, random_token};
use crate::{Error, Gateway};
use toolgate_catalog::manifest::TokenAuth;
use toolgate_egress::HostRequest;
use toolgate_oauth::authorize::{self, Authorize};
use toolgate_oauth::callback::{self, CallbackOutcome};
use toolgate_oauth::id_token::{self, ExpectedClaims, IdClaims};
use toolgate_oauth::token::{TokenGrant, Tokens};
use toolgate_oauth::{Provider, send};
use toolgate_vault::{Purpose, Secret};

/// Path of the callback to register at the provider.
pub const OIDC_CALLBACK_PATH: &str = "/internal/oidc/callback";
/// How long a person may take at the provider.
pub const FLOW_LIFE_MS: i64 = 10 * 60 * 1_000;
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
const TIMEOUT: Duration = Duration::from_secs(10);
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
        "the account's address is a member of several workspaces, or of one that nobody vouched for"
    )]
    Choose(Secret),
    #[error("no member has this account's address")]
    NoMember,
    #[error("the provider said no")]
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

/// The provider's own description (OpenID Connect Discovery 1.0, section 3).
#[derive(Deserialize)]
struct Discovered {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct OidcUserInfo {
    sub: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: Option<bool>,
}

impl Gateway {
    /// The provider that the operator has configured, if any.
    pub fn oidc(&self) -> Option<&OidcConfig> {
        self.oidc.as_ref()
    }

    /// Begins a sign-in at the provider. `return_to`: the page to open at the end. `invitation`: the
    /// token of a link that is accepted with it.
    pub async fn start_oidc(
        &self,
        return_to: &str,
        invitation: Option<&str>,
    ) -> Result<OidcStart, OidcProblem> {
        let config = self.configured()?;
        let found = self.discover(config).await?;
        let (state, nonce) = (random_token(), random_token());
        let verifier = authorize::verifier();
        let mut provider = provider(config, &found);
        provider
            .authorize_params
            .insert("nonce".to_owned(), nonce.expose().to_owned());
        let url = authorize::url(
            &provider,
            &Authorize {
                redirect_uri: &self.oidc_callback(),
                scopes: &["openid", "email", "profile"].map(str::to_owned),
                state: state.expose(),
                challenge: &authorize::challenge(&verifier),
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
        let flow = self.vault().signed(Purpose::OidcFlow, &flow);
        let flow = flow.map_err(|cause| OidcProblem::Failed(cause.into()))?;
        Ok(OidcStart { url, flow })
    }

    /// Signs in whoever comes back from the provider; answers the page to open too.
    pub async fn finish_oidc(
        &self,
        query: &str,
        flow: Option<&str>,
        client: &Browser,
    ) -> Result<(SignedIn, String), OidcProblem> {
        let config = self.configured()?;
        let flow: OidcFlow = flow
            .and_then(|flow| self.vault().verified(Purpose::OidcFlow, flow).ok())
            .ok_or(OidcProblem::Expired)?;
        let now_ms = self.clock.now_ms();
        let came = callback::parse(query).map_err(|bad| OidcProblem::Failed(bad.into()))?;
        if flow.exp_ms <= now_ms || came.state.expose() != flow.state {
            return Err(OidcProblem::Expired);
        }
        let found = self.discover(config).await?;
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
        };
        let provider = provider(config, &found);
        let egress = self.runtime.egress();
        let tokens = send::tokens(egress, &provider, &grant, &[]).await?;
        let id_token = tokens
            .id_token
            .as_ref()
            .ok_or_else(|| failed("the provider sent no ID token"))?;
        let keys: JwkSet = self.fetch(config, &found.jwks_uri, None).await?;
        let expected = ExpectedClaims {
            issuer: &found.issuer,
            client_id: &config.client_id,
            nonce: &flow.nonce,
            now_ms,
        };
        let mut claims = id_token::verified(id_token.expose(), &keys, &expected)?;
        if claims.email.is_none() {
            self.ask_for_email(config, &found, &tokens, &mut claims)
                .await?;
        }
        let account = which::Account::from_claims(config, &claims);
        let member = match &flow.invitation {
            Some(invitation) => self.invited(&account, invitation, client).await?,
            None => self.member_of(&account, &flow.return_to, client).await?,
        };
        let details = json!({ "provider": config.issuer });
        let signed_in = self.begin(member, Some(details), client).await?;
        Ok((signed_in, flow.return_to))
    }

    async fn ask_for_email(
        &self,
        config: &OidcConfig,
        found: &Discovered,
        tokens: &Tokens,
        claims: &mut IdClaims,
    ) -> Result<(), OidcProblem> {
        let Some(url) = &found.userinfo_endpoint else {
            return Ok(());
        };
        let told: OidcUserInfo = self.fetch(config, url, Some(&tokens.access)).await?;
        // OpenID Connect Core 1.0, section 5.3.2.
        if told.sub != claims.sub {
            return Err(failed("the provider describes another account"));
        }
        claims.email = told.email;
        claims.email_verified = told.email_verified;
        Ok(())
    }

    async fn discover(&self, config: &OidcConfig) -> Result<Discovered, OidcProblem> {
        let url = format!("{}/.well-known/openid-configuration", config.issuer);
        let found: Discovered = self.fetch(config, &url, None).await?;
        if found.issuer.trim_end_matches('/') != config.issuer {
            return Err(failed(
                "the provider names itself otherwise than --oidc-issuer",
            ));
        }
        Ok(found)
    }

    async fn fetch<T: DeserializeOwned>(
        &self,
        config: &OidcConfig,
        url: &str,
        bearer: Option<&Secret>,
    ) -> Result<T, OidcProblem> {
        let mut headers = vec![("accept".to_owned(), "application/json".to_owned())];
        if let Some(token) = bearer {
            let value = format!("Bearer {}", token.expose());
            headers.push(("authorization".to_owned(), value));
        }
        let request = HostRequest {
            method: Method::GET,
            url: url.to_owned(),
            headers,
            body: Bytes::new(),
            origins: vec![origin(&config.issuer).to_owned()],
            response_bytes_max: DOCUMENT_BYTES_MAX,
            timeout: TIMEOUT,
        };
        let answer = self.runtime.egress().send_for_host(request).await;
        let answer = answer.map_err(|cause| OidcProblem::Failed(cause.into()))?;
        if answer.status != 200 {
            return Err(failed("the provider does not answer"));
        }
        serde_json::from_slice(&answer.body).map_err(|cause| OidcProblem::Failed(cause.into()))
    }

    fn configured(&self) -> Result<&OidcConfig, OidcProblem> {
        self.oidc
            .as_ref()
            .ok_or_else(|| failed("no provider is configured"))
    }

    fn oidc_callback(&self) -> String {
        format!("{}{OIDC_CALLBACK_PATH}", self.public_url)
    }
}

fn provider(config: &OidcConfig, found: &Discovered) -> Provider {
    let methods = found.token_endpoint_auth_methods_supported.as_deref();
    let takes = |method: &str| methods.is_some_and(|all| all.iter().any(|one| one == method));
    Provider {
        authorize_url: Some(found.authorization_endpoint.clone()),
        token_url: found.token_endpoint.clone(),
        revoke_url: None,
        issuer: Some(config.issuer.clone()),
        client_id: config.client_id.clone(),
        client_secret: config.client_secret.clone(),
        // Basic is what a provider takes that says nothing (Discovery 1.0, section 3).
        token_auth: if takes("client_secret_post") && !takes("client_secret_basic") {
            TokenAuth::Post
        } else {
            TokenAuth::Basic
        },
        pkce: true,
        scope_separator: " ".to_owned(),
        authorize_params: BTreeMap::new(),
        origins: vec![origin(&config.issuer).to_owned()],
    }
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    &url[..end]
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

    #[test]
    fn an_origin_ends_before_the_path() {
        for (url, expected) in [
            ("https://id.test", "https://id.test"),
            ("https://id.test/realms/x", "https://id.test"),
            ("http://127.0.0.1:9/", "http://127.0.0.1:9"),
        ] {
            assert_eq!(origin(url), expected);
        }
    }
}
