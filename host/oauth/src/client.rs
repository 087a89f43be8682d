//! The client of the crate `oauth2` that stands for the gateway's registration at a provider.

use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
};
use oauth2::{
    AuthType, Client, ClientId, ClientSecret, ErrorResponse, RequestTokenError,
    StandardRevocableToken,
};
use zeroize::Zeroizing;

use super::standard::StandardAnswer;
use super::{OAuthError, Provider};
use toolgate_catalog::manifest::TokenAuth;

/// Answers are read in the standard form, see [`super::standard`].
pub(crate) type ProviderClient = Client<
    BasicErrorResponse,
    StandardAnswer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
>;

/// A client that only names itself.
pub(crate) fn named(provider: &Provider) -> ProviderClient {
    ProviderClient::new(ClientId::new(provider.client_id.clone()))
        .set_auth_type(AuthType::RequestBody)
}

/// A client that authenticates itself, where it has a secret.
pub(crate) fn authenticated(provider: &Provider) -> ProviderClient {
    let client = named(provider);
    let Some(secret) = &provider.client_secret else {
        return client;
    };
    let auth_type = match provider.token_auth {
        TokenAuth::None => return client,
        TokenAuth::Post => AuthType::RequestBody,
        // The header of `BasicRaw` is written in place of the crate's, see `super::rewrite`.
        TokenAuth::Basic | TokenAuth::BasicRaw => AuthType::BasicAuth,
    };
    client
        .set_auth_type(auth_type)
        .set_client_secret(ClientSecret::new(secret.expose().to_owned()))
}

/// The failure of a request to `address`. Nothing of an answer is passed on.
pub(crate) fn failure<E: ErrorResponse + 'static>(
    cause: RequestTokenError<OAuthError, E>,
    address: &'static str,
) -> OAuthError {
    match cause {
        RequestTokenError::Request(cause) => cause,
        // Answers are in the standard form when they reach the crate, so only a request can fail otherwise.
        RequestTokenError::Other(_) => OAuthError::Address(address),
        RequestTokenError::Parse(_, body) => {
            drop(Zeroizing::new(body));
            OAuthError::Answer("its standard form is not read")
        }
        RequestTokenError::ServerResponse(_) => OAuthError::Answer("its standard form is an error"),
    }
}
