//! One request to a token or revocation endpoint.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, header};
use oauth2::{HttpRequest, HttpResponse};

use super::answer::{AnswerReading, answer};
use super::rewrite::{TokenRequest, in_dialect};
use super::standard;
use super::token::{self, Exchange, HttpClient, TokenGrant, Tokens};
use super::{OAuthError, Provider};
use toolgate_egress::{DestinationClass, Egress, HostRequest, HostResponse};
use toolgate_vault::Secret;

/// A token response is a few kilobytes.
const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// How long a token endpoint may take. Shorter than the lease under which a refresh runs.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Requests tokens. `pointers` are JSON Pointers into the response, see [`Tokens::read`].
pub async fn tokens(
    egress: &Egress,
    provider: &Provider,
    grant: &TokenGrant<'_>,
    pointers: &[&str],
) -> Result<Tokens, OAuthError> {
    let mut sent: Vec<&str> = provider.client_secret.iter().map(Secret::expose).collect();
    match grant {
        TokenGrant::Code {
            code,
            verifier,
            state,
            ..
        } => {
            sent.extend([code.expose(), verifier.expose()]);
            sent.extend(state.map(Secret::expose));
        }
        TokenGrant::Refresh { token, .. } => sent.push(token.expose()),
        TokenGrant::ClientCredentials { .. } => {}
    }
    let reading = AnswerReading {
        separator: &provider.scope_separator,
        places: &provider.dialect.answer,
        refresh: grant.is_refresh(),
        pointers,
        sent: &sent,
    };
    let (url, own) = (
        token::endpoint(provider, grant),
        token::own_params(provider, grant),
    );
    let http = |built: HttpRequest| -> Exchange<'_> {
        let request = in_dialect(provider, built, &own);
        Box::pin(async move {
            let came = post(egress, provider, url, request).await?;
            let kind = came
                .headers
                .get(header::CONTENT_TYPE)
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default();
            standard::response(&answer(came.status, kind, &came.body, &reading)?)
        })
    };
    token::issue(provider, grant, &HttpClient(&http)).await
}

/// Revokes a token. `Ok(false)`: the provider has no endpoint for it.
pub async fn revoke(
    egress: &Egress,
    provider: &Provider,
    secret: &Secret,
    refresh: bool,
) -> Result<bool, OAuthError> {
    let Some(url) = &provider.revoke_url else {
        return Ok(false);
    };
    let http = |built: HttpRequest| -> Exchange<'_> {
        let request = in_dialect(provider, built, &[]);
        Box::pin(async move {
            let answer = post(egress, provider, url, request).await?;
            match answer.status {
                200..=299 => Ok(HttpResponse::new(Vec::new())),
                408 | 425 | 429 | 500.. => Err(OAuthError::Busy(answer.status)),
                _ => Err(OAuthError::Answer("the revocation was not accepted")),
            }
        })
    };
    token::revoke(provider, secret, refresh, &HttpClient(&http)).await?;
    Ok(true)
}

async fn post(
    egress: &Egress,
    provider: &Provider,
    url: &str,
    request: TokenRequest,
) -> Result<HostResponse, OAuthError> {
    let mut headers = vec![
        ("accept".to_owned(), "application/json".to_owned()),
        ("content-type".to_owned(), request.content_type.to_owned()),
    ];
    if let Some(value) = &request.authorization {
        headers.push(("authorization".to_owned(), value.to_string()));
    }
    egress
        .send_for_host(HostRequest {
            method: Method::POST,
            class: DestinationClass::Token,
            url: url.to_owned(),
            headers,
            // Zeroed when it has been sent.
            body: Bytes::from_owner(request.body),
            origins: provider.origins.clone(),
            response_bytes_max: ANSWER_BYTES_MAX,
            timeout: ANSWER_TIMEOUT,
        })
        .await
        .map_err(OAuthError::Unreachable)
}
