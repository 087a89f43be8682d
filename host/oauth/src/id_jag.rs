//! Identity assertions: an identity provider lets a client act for a user, without asking the user
//! (draft-ietf-oauth-identity-assertion-authz-grant, sections 3.1 and 4.4.1; RFC 7521, section 5.2;
//! RFC 7523, section 3).
//!
//! Pure. The signature is checked with the issuer's published keys, by the algorithm that the key is for.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, Header};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::id_token::{ACCEPTED, LEEWAY_S};
use super::jws::signed_claims;

/// The `typ` of an assertion (RFC 8725, section 3.11).
pub const TYPE: &str = "oauth-id-jag+jwt";
/// Longest validity of an assertion: its id is stored for this time, since it is accepted once.
pub const LIFE_S_MAX: i64 = 60 * 60;
const ID_BYTES_MAX: usize = 500;

/// Why an assertion is refused, for the operators of its issuer and its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAssertion {
    #[error("the assertion is not a signed JWT")]
    Malformed,
    #[error("the assertion's typ is not oauth-id-jag+jwt")]
    Type,
    #[error("the assertion's algorithm is not accepted")]
    Algorithm,
    #[error("the assertion is not signed with a key of its issuer")]
    Signature,
    #[error("the assertion lacks a claim, or one has another type")]
    Claims,
    #[error("the assertion is of another issuer")]
    Issuer,
    #[error("the assertion is for another authorization server")]
    Audience,
    #[error("the assertion is for another client")]
    Client,
    #[error("the assertion is for another resource")]
    Resource,
    #[error("the assertion is expired")]
    Expired,
    #[error("the assertion is not yet valid")]
    NotYetValid,
    #[error("the assertion is valid for more than an hour")]
    LongLived,
    #[error(
        "the assertion has a claim or header that this server does not support: cnf, authorization_details or crit"
    )]
    Bound,
}

/// The issuer, audience, client and resource that an assertion needs.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedAssertion<'a> {
    /// As the issuer names itself.
    pub issuer: &'a str,
    /// This authorization server.
    pub audience: &'a str,
    pub client_id: &'a str,
    /// The protected resource, which the assertion need not name.
    pub resource: &'a str,
    pub now_ms: i64,
}

/// The claims of an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertedIdentity {
    pub subject: String,
    pub email: Option<String>,
    /// The tenant of this server that the user belongs to.
    pub tenant: Option<String>,
    /// Scopes that are granted, separated by spaces; `None`: the issuer names none.
    pub scope: Option<String>,
    pub id: String,
    /// When it is no longer valid, including the leeway for clocks.
    pub over_at_ms: i64,
}

#[derive(Deserialize)]
struct AssertionClaims {
    iss: String,
    sub: String,
    aud: OneOrMore,
    client_id: String,
    jti: String,
    exp: i64,
    iat: i64,
    #[serde(default)]
    nbf: Option<i64>,
    #[serde(default)]
    resource: Option<OneOrMore>,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: Option<bool>,
    #[serde(default)]
    aud_tenant: Option<String>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn is_exactly(&self, text: &str) -> bool {
        match self {
            Self::One(one) => one == text,
            Self::More(all) => matches!(&all[..], [one] if one == text),
        }
    }

    fn contains(&self, text: &str) -> bool {
        match self {
            Self::One(one) => one == text,
            Self::More(all) => all.iter().any(|one| one == text),
        }
    }
}

/// The issuer that an assertion names. Its signature is not verified yet.
pub fn named_issuer(assertion: &str) -> Result<String, BadAssertion> {
    #[derive(Deserialize)]
    struct Named {
        iss: String,
    }
    let mut parts = assertion.split('.');
    let (Some(_), Some(claims), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(BadAssertion::Malformed);
    };
    let claims = URL_SAFE_NO_PAD.decode(claims);
    let claims = claims.map_err(|_| BadAssertion::Malformed)?;
    let named: Named = serde_json::from_slice(&claims).map_err(|_| BadAssertion::Claims)?;
    Ok(named.iss)
}

/// The claims of an assertion that is signed by its issuer, for this server, client and resource, and valid now.
pub fn verified(
    assertion: &str,
    keys: &JwkSet,
    expected: &ExpectedAssertion<'_>,
) -> Result<AssertedIdentity, BadAssertion> {
    let header = header(assertion)?;
    let claims = signed_claims(assertion, &header, keys).ok_or(BadAssertion::Signature)?;
    let claims: AssertionClaims =
        serde_json::from_value(claims).map_err(|_| BadAssertion::Claims)?;
    if claims.iss != expected.issuer {
        return Err(BadAssertion::Issuer);
    }
    if !claims.aud.is_exactly(expected.audience) {
        return Err(BadAssertion::Audience);
    }
    if claims.client_id != expected.client_id {
        return Err(BadAssertion::Client);
    }
    let resource = claims.resource.as_ref();
    if resource.is_some_and(|resource| !resource.contains(expected.resource)) {
        return Err(BadAssertion::Resource);
    }
    let id_fits = (1..=ID_BYTES_MAX).contains(&claims.jti.len());
    if !id_fits || claims.sub.is_empty() {
        return Err(BadAssertion::Claims);
    }
    let now_s = expected.now_ms.div_euclid(1_000);
    if claims.exp.saturating_add(LEEWAY_S) <= now_s {
        return Err(BadAssertion::Expired);
    }
    let begins_s = claims.nbf.unwrap_or(claims.iat).max(claims.iat);
    if begins_s > now_s.saturating_add(LEEWAY_S) {
        return Err(BadAssertion::NotYetValid);
    }
    if claims.exp.saturating_sub(now_s) > LIFE_S_MAX {
        return Err(BadAssertion::LongLived);
    }
    // A key that the client has to prove (RFC 7800), and authorization details that are finer than scopes (RFC 9396):
    // to ignore them would grant more than the issuer did.
    if ["cnf", "authorization_details"]
        .iter()
        .any(|name| claims.more.contains_key(*name))
    {
        return Err(BadAssertion::Bound);
    }
    Ok(AssertedIdentity {
        subject: claims.sub,
        email: claims
            .email
            .filter(|_| claims.email_verified != Some(false)),
        tenant: claims.aud_tenant,
        scope: claims.scope,
        id: claims.jti,
        over_at_ms: claims.exp.saturating_add(LEEWAY_S).saturating_mul(1_000),
    })
}

fn header(assertion: &str) -> Result<Header, BadAssertion> {
    #[derive(Deserialize)]
    struct Declared {
        alg: String,
        #[serde(default)]
        typ: Option<String>,
        #[serde(default)]
        crit: Option<Value>,
    }
    let first = assertion.split('.').next().unwrap_or_default();
    let first = URL_SAFE_NO_PAD.decode(first);
    let first = first.map_err(|_| BadAssertion::Malformed)?;
    let declared: Declared = serde_json::from_slice(&first).map_err(|_| BadAssertion::Malformed)?;
    if declared
        .typ
        .is_none_or(|typ| !typ.eq_ignore_ascii_case(TYPE))
    {
        return Err(BadAssertion::Type);
    }
    let accepted: Option<Algorithm> = declared.alg.parse().ok();
    if accepted.is_none_or(|algorithm| !ACCEPTED.contains(&algorithm)) {
        return Err(BadAssertion::Algorithm);
    }
    // A critical header that is not understood makes it invalid (RFC 7515, section 4.1.11).
    if declared.crit.is_some() {
        return Err(BadAssertion::Bound);
    }
    jsonwebtoken::decode_header(assertion).map_err(|_| BadAssertion::Malformed)
}

#[cfg(test)]
mod tests;
