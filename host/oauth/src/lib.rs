//! Talking to an authorization server: authorize, exchange, refresh, revoke. Stores nothing.
//!
//! The crate `oauth2` builds the requests of the flows. What providers do otherwise than the standards is around it and
//! pure: requests are rewritten in the provider's dialect, and responses are read by it ([`answer`]) and written in the
//! standard form for the crate. Only [`send`] reaches the network, through the egress for the host's own requests. The
//! rules are those of
//! RFC 6749 (OAuth 2.0), RFC 7636 (PKCE, S256 only), RFC 7009 (revocation), RFC 9207 (issuer
//! identification), RFC 9700 (best current practice). The server is not trusted: its responses are bounded, and no
//! text of one that repeats a secret is passed on.

#![forbid(unsafe_code)]

pub mod answer;
pub mod authorize;
pub mod callback;
mod clear;
mod client;
pub mod client_assertion;
pub mod dialect;
pub mod id_jag;
pub mod id_token;
mod jws;
pub mod lifetime;
pub mod refusal;
mod rewrite;
pub mod send;
mod standard;
pub mod token;

use std::collections::BTreeMap;

use dialect::Dialect;
use toolgate_catalog::manifest::TokenAuth;
use toolgate_egress::EgressFailure;
use toolgate_vault::Secret;

/// An authorization server and the gateway's registration there, all addresses filled.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Absent for client credentials.
    pub authorize_url: Option<String>,
    pub token_url: String,
    /// Absent: tokens are renewed at `token_url`.
    pub refresh_url: Option<String>,
    pub revoke_url: Option<String>,
    /// The server's issuer identifier, where its host is not one of those above.
    pub issuer: Option<String>,
    pub client_id: String,
    /// Absent for a public client.
    pub client_secret: Option<Secret>,
    pub token_auth: TokenAuth,
    pub pkce: bool,
    pub scope_separator: String,
    pub authorize_params: BTreeMap<String, String>,
    pub dialect: Dialect,
    /// The provider's name of the callback address, sent in its place.
    pub redirect_name: Option<String>,
    /// Origins that the operator named, private or not.
    pub origins: Vec<String>,
}

impl Provider {
    /// What is sent as `redirect_uri`, where the browser comes back to `address`.
    pub fn redirect_uri<'a>(&'a self, address: &'a str) -> &'a str {
        self.redirect_name.as_deref().unwrap_or(address)
    }
}

/// Why an authorization server issued no token.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The grant itself is refused: only the user can repair it. The provider's code and words, see [`refusal`].
    #[error("the provider refused: {0}")]
    Refused(String),
    /// The gateway's registration is refused: only the operator can repair it.
    #[error("the provider refused this gateway's registration: {0}")]
    Client(String),
    /// May pass by itself.
    #[error("the provider cannot answer now (HTTP status {0})")]
    Busy(u16),
    #[error("the provider's answer is not understood: {0}")]
    Answer(&'static str),
    #[error("the provider cannot be reached")]
    Unreachable(#[source] EgressFailure),
    #[error("the address {0} is not usable")]
    Address(&'static str),
}
