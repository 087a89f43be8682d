//! Assertions that authenticate a client, signed with a key that it publishes (`private_key_jwt`: OpenID Connect Core
//! 1.0, section 9; RFC 7523, section 3).
//!
//! Pure. The caller makes sure that an assertion is used once, by the id in [`ProvenAssertion`].

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::JwkSet;
use serde::Deserialize;
use serde_json::Value;

use super::id_token::{ACCEPTED, LEEWAY_S};
use super::jws::signed_claims;

/// The `client_assertion_type` of a request (RFC 7523, section 2.2).
pub const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// Longest validity of an assertion: its id is stored for this time, since it is accepted once.
pub const LIFE_S_MAX: i64 = 60 * 60;
/// Longest assertion.
const BYTES_MAX: usize = 8 * 1024;
const ID_BYTES_MAX: usize = 500;

/// Why an assertion is refused, for the client's operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadClientAssertion {
    #[error("client_assertion is not a signed JWT of at most 8 KiB")]
    Malformed,
    #[error("client_assertion is signed with an algorithm that is not accepted")]
    Algorithm,
    #[error("client_assertion has a critical header that is not supported")]
    Critical,
    #[error("client_assertion is not signed with a key of the client's jwks_uri")]
    Signature,
    #[error("client_assertion lacks one of iss, sub, aud, exp and jti, or one has another type")]
    Claims,
    #[error("iss and sub of client_assertion are not the client_id")]
    Client,
    #[error("aud of client_assertion is not the issuer or the token endpoint of this server alone")]
    Audience,
    #[error("client_assertion is expired")]
    Expired,
    #[error("client_assertion is not yet valid")]
    NotYetValid,
    #[error("client_assertion is valid for more than an hour")]
    LongLived,
}

/// An assertion that its client has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvenAssertion {
    pub id: String,
    /// When it is no longer valid, including the leeway for clocks.
    pub over_at_ms: i64,
}

#[derive(Deserialize)]
struct ClientAssertionClaims {
    iss: String,
    sub: String,
    aud: Value,
    jti: String,
    exp: f64,
    #[serde(default)]
    nbf: Option<f64>,
    #[serde(default)]
    iat: Option<f64>,
}

/// The algorithms that are accepted, by their names (RFC 7518, section 3.1).
pub fn algorithms() -> Vec<String> {
    ACCEPTED.iter().map(|one| format!("{one:?}")).collect()
}

/// The client that an assertion names. Its signature is not verified yet.
pub fn named_client(assertion: &str) -> Result<String, BadClientAssertion> {
    #[derive(Deserialize)]
    struct NamedSubject {
        sub: String,
    }
    let claims = assertion
        .split('.')
        .nth(1)
        .filter(|_| assertion.len() <= BYTES_MAX);
    let claims = claims.and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
    let claims = claims.ok_or(BadClientAssertion::Malformed)?;
    let named: NamedSubject =
        serde_json::from_slice(&claims).map_err(|_| BadClientAssertion::Claims)?;
    Ok(named.sub)
}

/// Verifies that an assertion is signed by the client, for one of the audiences, and valid now.
pub fn verified(
    assertion: &str,
    keys: &JwkSet,
    client_id: &str,
    audiences: &[String],
    now_ms: i64,
) -> Result<ProvenAssertion, BadClientAssertion> {
    if assertion.len() > BYTES_MAX {
        return Err(BadClientAssertion::Malformed);
    }
    let header = assertion.split('.').next().unwrap_or_default();
    let header = URL_SAFE_NO_PAD.decode(header).ok();
    let declared: Option<Value> = header.and_then(|text| serde_json::from_slice(&text).ok());
    let declared = declared.ok_or(BadClientAssertion::Malformed)?;
    // A critical header that is not understood makes it invalid (RFC 7515, section 4.1.11).
    if declared.get("crit").is_some() {
        return Err(BadClientAssertion::Critical);
    }
    let named = declared.get("alg").and_then(Value::as_str);
    let algorithm = named.and_then(|name| name.parse().ok());
    if algorithm.is_none_or(|algorithm| !ACCEPTED.contains(&algorithm)) {
        return Err(BadClientAssertion::Algorithm);
    }
    let header = jsonwebtoken::decode_header(assertion);
    let header = header.map_err(|_| BadClientAssertion::Malformed)?;
    let claims = signed_claims(assertion, &header, keys).ok_or(BadClientAssertion::Signature)?;
    let claims: ClientAssertionClaims =
        serde_json::from_value(claims).map_err(|_| BadClientAssertion::Claims)?;
    if claims.iss != client_id || claims.sub != client_id {
        return Err(BadClientAssertion::Client);
    }
    // Only one audience: with an assertion for two servers, one of them could authenticate as the client at the other.
    let audience = match &claims.aud {
        Value::String(one) => Some(one.as_str()),
        Value::Array(all) => all
            .first()
            .filter(|_| all.len() == 1)
            .and_then(Value::as_str),
        _ => None,
    };
    if !audience.is_some_and(|audience| audiences.iter().any(|own| own == audience)) {
        return Err(BadClientAssertion::Audience);
    }
    if !(1..=ID_BYTES_MAX).contains(&claims.jti.len()) {
        return Err(BadClientAssertion::Claims);
    }
    let now_s = now_ms.div_euclid(1_000);
    let expires_s = seconds(claims.exp)?;
    if expires_s.saturating_add(LEEWAY_S) <= now_s {
        return Err(BadClientAssertion::Expired);
    }
    for begins in [claims.nbf, claims.iat].into_iter().flatten() {
        if seconds(begins)? > now_s.saturating_add(LEEWAY_S) {
            return Err(BadClientAssertion::NotYetValid);
        }
    }
    if expires_s.saturating_sub(now_s) > LIFE_S_MAX {
        return Err(BadClientAssertion::LongLived);
    }
    Ok(ProvenAssertion {
        id: claims.jti,
        over_at_ms: expires_s.saturating_add(LEEWAY_S).saturating_mul(1_000),
    })
}

/// A NumericDate may have a fraction (RFC 7519, section 2).
fn seconds(date: f64) -> Result<i64, BadClientAssertion> {
    let bounded = date.is_finite() && (0.0..1e12).contains(&date);
    #[expect(clippy::cast_possible_truncation, reason = "it is bounded")]
    let whole = date as i64;
    bounded.then_some(whole).ok_or(BadClientAssertion::Claims)
}

#[cfg(test)]
mod tests;
