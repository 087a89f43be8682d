//! One request to a token or revocation endpoint.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, header};

use super::answer::{AnswerReading, answer};
use super::token::{self, TokenGrant, TokenRequest, Tokens};
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
    let refresh = grant.is_refresh();
    let url = match &provider.refresh_url {
        Some(url) if refresh => url,
        _ => &provider.token_url,
    };
    let came = post(egress, provider, url, token::request(provider, grant)).await?;
    let kind = came
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let reading = AnswerReading {
        separator: &provider.scope_separator,
        places: &provider.dialect.answer,
        refresh,
        pointers,
        sent: &sent,
    };
    answer(came.status, kind, &came.body, &reading)
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
    let form = token::revocation(provider, secret, refresh);
    let answer = post(egress, provider, url, form).await?;
    match answer.status {
        200..=299 => Ok(true),
        408 | 425 | 429 | 500.. => Err(OAuthError::Busy(answer.status)),
        _ => Err(OAuthError::Answer("the revocation was not accepted")),
    }
}

async fn post(
    egress: &Egress,
    provider: &Provider,
    url: &str,
    form: TokenRequest,
) -> Result<HostResponse, OAuthError> {
    let mut headers = vec![
        ("accept".to_owned(), "application/json".to_owned()),
        ("content-type".to_owned(), form.content_type.to_owned()),
    ];
    if let Some(value) = &form.authorization {
        headers.push(("authorization".to_owned(), value.to_string()));
    }
    egress
        .send_for_host(HostRequest {
            method: Method::POST,
            class: DestinationClass::Token,
            url: url.to_owned(),
            headers,
            body: Bytes::copy_from_slice(form.body.as_bytes()),
            origins: provider.origins.clone(),
            response_bytes_max: ANSWER_BYTES_MAX,
            timeout: ANSWER_TIMEOUT,
        })
        .await
        .map_err(OAuthError::Unreachable)
}
