//! Requests to the token and revocation endpoints (RFC 6749, section 4; RFC 7009), built and sent by the crate `oauth2`.
//!
//! The HTTP client is an argument: it writes the request in the provider's dialect ([`super::rewrite`]), sends it, and
//! writes the response in the standard form ([`super::standard`]).

use std::future::Future;
use std::pin::Pin;

use oauth2::{
    AccessToken, AsyncHttpClient, AuthorizationCode, HttpRequest, HttpResponse, PkceCodeVerifier,
    RefreshToken, RevocationUrl, Scope, StandardRevocableToken, TokenUrl,
};
use zeroize::Zeroizing;

use super::client::{authenticated, failure};
use super::{OAuthError, Provider};
use toolgate_catalog::manifest::TokenStep;
use toolgate_catalog::token_requests::{REDIRECT_URI, STATE};
use toolgate_vault::Secret;

pub use super::answer::Tokens;

/// Stands for the revocation endpoint in requests of the crate, which refuses an `http` address. The HTTP client sends
/// them to the provider's own, and egress decides about that.
const REVOCATION_ADDRESS: &str = "https://revocation.invalid/";

/// One exchange with a provider.
pub(crate) type Exchange<'a> =
    Pin<Box<dyn Future<Output = Result<HttpResponse, OAuthError>> + Send + 'a>>;

/// Sends the requests of the crate. A type of its own, since the crate's future would be `Send` only with a closure that
/// borrows nothing.
pub(crate) struct HttpClient<'a>(pub(crate) &'a (dyn Fn(HttpRequest) -> Exchange<'a> + Sync));

impl<'c> AsyncHttpClient<'c> for HttpClient<'_> {
    type Error = OAuthError;
    type Future = Exchange<'c>;

    fn call(&'c self, request: HttpRequest) -> Exchange<'c> {
        (self.0)(request)
    }
}

/// A request to the token endpoint, by its grant.
#[derive(Debug)]
pub enum TokenGrant<'a> {
    Code {
        code: &'a Secret,
        redirect_uri: &'a str,
        verifier: &'a Secret,
        /// The value of the authorization request, for a provider that requires it again.
        state: Option<&'a Secret>,
        scopes: &'a [String],
    },
    Refresh {
        token: &'a Secret,
        redirect_uri: &'a str,
        scopes: &'a [String],
    },
    ClientCredentials {
        scopes: &'a [String],
    },
}

impl TokenGrant<'_> {
    pub(crate) fn is_refresh(&self) -> bool {
        matches!(self, Self::Refresh { .. })
    }
}

/// The address of the token endpoint for a grant.
pub(crate) fn endpoint<'a>(provider: &'a Provider, grant: &TokenGrant<'_>) -> &'a str {
    match &provider.refresh_url {
        Some(url) if grant.is_refresh() => url,
        _ => &provider.token_url,
    }
}

/// The parameters that the manifest adds. It may repeat one of the gateway under another name.
pub(crate) fn own_params(provider: &Provider, grant: &TokenGrant<'_>) -> Vec<(String, String)> {
    let mut repeated: Vec<(&str, &str)> = Vec::new();
    match grant {
        TokenGrant::Code {
            redirect_uri,
            state,
            ..
        } => {
            repeated.push((REDIRECT_URI, redirect_uri));
            repeated.extend(state.map(|state| (STATE, state.expose())));
        }
        TokenGrant::Refresh { redirect_uri, .. } => repeated.push((REDIRECT_URI, redirect_uri)),
        TokenGrant::ClientCredentials { .. } => {}
    }
    provider.dialect.own_params(grant.is_refresh(), &repeated)
}

/// Requests tokens through `http`.
pub(crate) async fn issue(
    provider: &Provider,
    grant: &TokenGrant<'_>,
    http: &HttpClient<'_>,
) -> Result<Tokens, OAuthError> {
    let url = TokenUrl::new(endpoint(provider, grant).to_owned());
    let url = url.map_err(|_| OAuthError::Address("token_url"))?;
    let client = authenticated(provider).set_token_uri(url);
    let scope = scope(provider, grant);
    let answer = match grant {
        TokenGrant::Code {
            code,
            redirect_uri,
            verifier,
            ..
        } => {
            // Not as the crate's own parameter, which has to be a URL: eBay's name of the address is none.
            let mut request = client
                .exchange_code(AuthorizationCode::new(code.expose().to_owned()))
                .add_extra_param("redirect_uri", *redirect_uri);
            if provider.pkce {
                let verifier = PkceCodeVerifier::new(verifier.expose().to_owned());
                request = request.set_pkce_verifier(verifier);
            }
            // The standard has no scope here.
            if let Some(scope) = scope {
                request = request.add_extra_param("scope", String::from(scope));
            }
            request.request_async(http).await
        }
        TokenGrant::Refresh { token, .. } => {
            let token = RefreshToken::new(token.expose().to_owned());
            let request = client.exchange_refresh_token(&token).add_scopes(scope);
            let answer = request.request_async(http).await;
            drop(Zeroizing::new(token.into_secret()));
            answer
        }
        TokenGrant::ClientCredentials { .. } => {
            let request = client.exchange_client_credentials().add_scopes(scope);
            request.request_async(http).await
        }
    };
    answer
        .map(Tokens::from)
        .map_err(|cause| failure(cause, "token_url"))
}

/// The scopes that a request names, as one: the crate would join several by spaces.
fn scope(provider: &Provider, grant: &TokenGrant<'_>) -> Option<Scope> {
    let names = |step| provider.dialect.names_scope(step);
    let scopes = match grant {
        TokenGrant::Code { scopes, .. } if names(TokenStep::Code) => scopes,
        TokenGrant::Refresh { scopes, .. } if names(TokenStep::Refresh) => scopes,
        TokenGrant::Code { .. } | TokenGrant::Refresh { .. } => return None,
        TokenGrant::ClientCredentials { scopes } => scopes,
    };
    let scope = scopes.join(&provider.scope_separator);
    (!scope.is_empty()).then(|| Scope::new(scope))
}

/// Revokes a token through `http`.
pub(crate) async fn revoke(
    provider: &Provider,
    token: &Secret,
    refresh: bool,
    http: &HttpClient<'_>,
) -> Result<(), OAuthError> {
    let refused = || OAuthError::Address("revoke_url");
    let url = RevocationUrl::new(REVOCATION_ADDRESS.to_owned()).map_err(|_| refused())?;
    let client = authenticated(provider).set_revocation_url(url);
    let token = token.expose().to_owned();
    let token = match refresh {
        true => StandardRevocableToken::RefreshToken(RefreshToken::new(token)),
        false => StandardRevocableToken::AccessToken(AccessToken::new(token)),
    };
    let request = client.revoke_token(token).map_err(|_| refused())?;
    let answer = request.request_async(http).await;
    answer.map_err(|cause| failure(cause, "revoke_url"))
}

#[cfg(test)]
mod tests;
