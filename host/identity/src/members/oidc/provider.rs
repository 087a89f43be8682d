//! Asks the provider: where its endpoints are, and what it says of an account.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use jsonwebtoken::jwk::JwkSet;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::group_claims::read_groups;
use super::which::AccountClaims;
use super::{OidcProblem, failed};
use crate::config::OidcConfig;
use toolgate_catalog::manifest::TokenAuth;
use toolgate_egress::{DestinationClass, Egress, HostRequest, HostResponse};
use toolgate_oauth::Provider;
use toolgate_oauth::dialect::Dialect;
use toolgate_oauth::id_token::{self, ExpectedClaims};
use toolgate_oauth::token::Tokens;
use toolgate_vault::Secret;

const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
const TIMEOUT: Duration = Duration::from_secs(10);
/// What every sign-in asks for.
const SCOPES: [&str; 3] = ["openid", "email", "profile"];
/// For tokens by which the provider can be asked again.
const OFFLINE: &str = "offline_access";

/// How long a description is used without asking again: anybody may begin a sign-in.
pub(super) const DESCRIBED_MS: i64 = 5 * 60 * 1_000;
/// And where the provider does not answer then.
const DESCRIBED_STALE_MS: i64 = 24 * 60 * 60 * 1_000;

pub(crate) struct OidcProvider {
    pub(super) config: OidcConfig,
    egress: Egress,
    /// The last description, and when it was asked for.
    described: Mutex<Option<(i64, Arc<Discovered>)>>,
}

/// The provider's own description (OpenID Connect Discovery 1.0, section 3).
#[derive(Deserialize)]
pub(super) struct Discovered {
    pub(super) issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    userinfo_endpoint: Option<String>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    scopes_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct OidcUserInfo {
    sub: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: Option<bool>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl OidcProvider {
    pub(super) fn new(config: OidcConfig, egress: Egress) -> Self {
        Self {
            config,
            egress,
            described: Mutex::default(),
        }
    }

    /// The provider's description, asked for at most every [`DESCRIBED_MS`] once it has answered.
    pub(super) async fn discover(&self, now_ms: i64) -> Result<Arc<Discovered>, OidcProblem> {
        let known = self.described().clone();
        let since = |known: &(i64, Arc<Discovered>)| now_ms - known.0;
        if let Some(known) = known.as_ref().filter(|known| since(known) < DESCRIBED_MS) {
            return Ok(known.1.clone());
        }
        match self.describe().await {
            Ok(found) => {
                let found = Arc::new(found);
                *self.described() = Some((now_ms, found.clone()));
                Ok(found)
            }
            Err(problem) => match known.filter(|known| since(known) < DESCRIBED_STALE_MS) {
                Some((_, found)) => Ok(found),
                None => Err(problem),
            },
        }
    }

    fn described(&self) -> MutexGuard<'_, Option<(i64, Arc<Discovered>)>> {
        self.described
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    async fn describe(&self) -> Result<Discovered, OidcProblem> {
        let url = format!("{}/.well-known/openid-configuration", self.config.issuer);
        let found: Discovered = self.fetch(&url).await?;
        if found.issuer.trim_end_matches('/') != self.config.issuer {
            return Err(failed(
                "the issuer in the provider's metadata does not match --oidc-issuer",
            ));
        }
        Ok(found)
    }

    /// The gateway's registration there.
    pub(super) fn registration(&self, found: &Discovered) -> Provider {
        let methods = found.token_endpoint_auth_methods_supported.as_deref();
        let takes = |method: &str| methods.is_some_and(|all| all.iter().any(|one| one == method));
        Provider {
            authorize_url: Some(found.authorization_endpoint.clone()),
            token_url: found.token_endpoint.clone(),
            refresh_url: None,
            revoke_url: None,
            issuer: Some(self.config.issuer.clone()),
            client_id: self.config.client_id.clone(),
            client_secret: self.config.client_secret.clone(),
            // Basic is what a provider takes that says nothing (Discovery 1.0, section 3).
            token_auth: if takes("client_secret_post") && !takes("client_secret_basic") {
                TokenAuth::Post
            } else {
                TokenAuth::Basic
            },
            pkce: true,
            scope_separator: " ".to_owned(),
            authorize_params: BTreeMap::new(),
            dialect: Dialect::default(),
            redirect_name: None,
            origins: vec![origin(&self.config.issuer).to_owned()],
        }
    }

    /// What a sign-in asks for: where groups decide, also the groups and to be able to ask again.
    pub(super) fn scopes(&self, found: &Discovered) -> Vec<String> {
        let mut scopes = SCOPES.map(str::to_owned).to_vec();
        let groups = &self.config.groups;
        if groups.rules.is_empty() {
            return scopes;
        }
        let supported = found.scopes_supported.as_deref();
        let offers = |scope: &str| supported.is_some_and(|all| all.iter().any(|one| one == scope));
        if supported.is_none() || offers(OFFLINE) {
            scopes.push(OFFLINE.to_owned());
        }
        if offers(&groups.claim) {
            scopes.push(groups.claim.clone());
        }
        scopes
    }

    /// What the provider says with tokens of a sign-in (`nonce`) or of a refresh. `None`: it takes the
    /// access token no more.
    pub(super) async fn account_claims(
        &self,
        found: &Discovered,
        tokens: &Tokens,
        nonce: Option<&str>,
        now_ms: i64,
    ) -> Result<Option<AccountClaims>, OidcProblem> {
        let claim = &self.config.groups.claim;
        let wants_groups = !self.config.groups.rules.is_empty();
        let (mut account, mut groups) = match &tokens.id_token {
            Some(id_token) => {
                let keys: JwkSet = self.fetch(&found.jwks_uri).await?;
                let expected = ExpectedClaims {
                    issuer: &found.issuer,
                    client_id: &self.config.client_id,
                    nonce,
                    now_ms,
                };
                let claims = id_token::verified(id_token.expose(), &keys, &expected)?;
                let groups = read_groups(&claims.more, claim);
                let account = AccountClaims {
                    subject: claims.sub,
                    email: claims.email,
                    email_verified: claims.email_verified == Some(true),
                    name: name_of(&claims.more),
                    groups: Vec::new(),
                };
                (Some(account), groups)
            }
            None if nonce.is_some() => return Err(failed("the provider sent no ID token")),
            None => (None, None),
        };
        let complete = |account: &AccountClaims, groups: &Option<Vec<String>>| {
            account.email.is_some() && (groups.is_some() || !wants_groups)
        };
        if !account
            .as_ref()
            .is_some_and(|account| complete(account, &groups))
        {
            match self.user_info(found, &tokens.access).await? {
                UserInfoOutcome::Nowhere => {}
                UserInfoOutcome::Refused => return Ok(None),
                UserInfoOutcome::Said(said) => {
                    let groups_now = read_groups(&said.more, claim);
                    groups = groups.or(groups_now);
                    let base = account.get_or_insert_with(|| AccountClaims {
                        subject: said.sub.clone(),
                        email: None,
                        email_verified: false,
                        name: None,
                        groups: Vec::new(),
                    });
                    // OpenID Connect Core 1.0, section 5.3.2.
                    if said.sub != base.subject {
                        return Err(failed("the provider describes another account"));
                    }
                    if base.email.is_none() {
                        base.email = said.email;
                        base.email_verified = said.email_verified == Some(true);
                    }
                    base.name = base.name.take().or_else(|| name_of(&said.more));
                }
            }
        }
        let mut account =
            account.ok_or_else(|| failed("the provider does not say whose the tokens are"))?;
        account.groups = groups.unwrap_or_default();
        Ok(Some(account))
    }

    async fn user_info(
        &self,
        found: &Discovered,
        access: &Secret,
    ) -> Result<UserInfoOutcome, OidcProblem> {
        let Some(url) = &found.userinfo_endpoint else {
            return Ok(UserInfoOutcome::Nowhere);
        };
        let answer = self.get(url, Some(access)).await?;
        match answer.status {
            200 => read(&answer).map(UserInfoOutcome::Said),
            401 => Ok(UserInfoOutcome::Refused),
            _ => Err(failed("the provider does not answer")),
        }
    }

    async fn fetch<T: DeserializeOwned>(&self, url: &str) -> Result<T, OidcProblem> {
        let answer = self.get(url, None).await?;
        if answer.status != 200 {
            return Err(failed("the provider does not answer"));
        }
        read(&answer)
    }

    async fn get(&self, url: &str, bearer: Option<&Secret>) -> Result<HostResponse, OidcProblem> {
        let mut headers = vec![("accept".to_owned(), "application/json".to_owned())];
        if let Some(token) = bearer {
            let value = format!("Bearer {}", token.expose());
            headers.push(("authorization".to_owned(), value));
        }
        let request = HostRequest {
            method: Method::GET,
            class: DestinationClass::Identity,
            url: url.to_owned(),
            headers,
            body: Bytes::new(),
            origins: vec![origin(&self.config.issuer).to_owned()],
            response_bytes_max: DOCUMENT_BYTES_MAX,
            timeout: TIMEOUT,
        };
        let answer = self.egress.send_for_host(request).await;
        answer.map_err(|cause| OidcProblem::Failed(cause.into()))
    }

    pub(super) fn egress(&self) -> &Egress {
        &self.egress
    }
}

enum UserInfoOutcome {
    /// The provider has no such endpoint.
    Nowhere,
    /// It takes the access token no more.
    Refused,
    Said(OidcUserInfo),
}

fn read<T: DeserializeOwned>(answer: &HostResponse) -> Result<T, OidcProblem> {
    serde_json::from_slice(&answer.body).map_err(|cause| OidcProblem::Failed(cause.into()))
}

fn name_of(claims: &Map<String, Value>) -> Option<String> {
    claims.get("name")?.as_str().map(str::to_owned)
}

/// Scheme, host and port of an address.
pub(crate) fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

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
