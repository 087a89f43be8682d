//! The ID token of a sign-in with OpenID Connect (OpenID Connect Core 1.0, section 3.1.3.7).
//!
//! Pure. The signature is checked with the provider's published keys, by the algorithm that the key
//! is for; an HMAC is never accepted, since its key would be public.

use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::OAuthError;

/// How far the provider's clock may be off, in seconds.
pub(super) const LEEWAY_S: i64 = 60;
pub(super) const ACCEPTED: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// The claims of an ID token that are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct IdClaims {
    pub sub: String,
    #[serde(default)]
    pub email: Option<String>,
    #[serde(default)]
    pub email_verified: Option<bool>,
    exp: i64,
    #[serde(default)]
    nonce: Option<String>,
    #[serde(default)]
    azp: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The issuer, client and nonce that the token needs.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedClaims<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    /// `None` after a refresh, whose token need not have one (OpenID Connect Core 1.0, section 12.2).
    pub nonce: Option<&'a str>,
    pub now_ms: i64,
}

/// The claims of a token that is signed by the provider, for this client and this sign-in, and not
/// expired.
pub fn verified(
    token: &str,
    keys: &JwkSet,
    expected: &ExpectedClaims<'_>,
) -> Result<IdClaims, OAuthError> {
    let header = jsonwebtoken::decode_header(token)
        .map_err(|_| OAuthError::Answer("the ID token is not a JWT"))?;
    if !ACCEPTED.contains(&header.alg) {
        return Err(OAuthError::Answer(
            "the ID token's algorithm is not accepted",
        ));
    }
    let mut rules = Validation::new(header.alg);
    rules.set_issuer(&[expected.issuer]);
    rules.set_audience(&[expected.client_id]);
    rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
    // The caller passes the time; the library would read the machine's clock.
    rules.validate_exp = false;
    let named = |key: &&Jwk| match (&header.kid, &key.common.key_id) {
        (Some(wanted), Some(id)) => wanted == id,
        _ => true,
    };
    let claims = keys
        .keys
        .iter()
        .filter(named)
        .filter_map(|key| DecodingKey::from_jwk(key).ok())
        .find_map(|key| jsonwebtoken::decode::<IdClaims>(token, &key, &rules).ok())
        .map(|read| read.claims)
        .ok_or(OAuthError::Answer(
            "the ID token is not signed by the provider for this client",
        ))?;
    if claims.exp.saturating_add(LEEWAY_S) <= expected.now_ms / 1_000 {
        return Err(OAuthError::Answer("the ID token has expired"));
    }
    if expected.nonce.is_some() && claims.nonce.as_deref() != expected.nonce {
        return Err(OAuthError::Answer(
            "the ID token does not match this sign-in",
        ));
    }
    if claims
        .azp
        .as_deref()
        .is_some_and(|azp| azp != expected.client_id)
    {
        return Err(OAuthError::Answer("the ID token is for another client"));
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::{Value, json};

    const NOW_MS: i64 = 1_795_167_030_000;
    const EXPECTED: ExpectedClaims<'_> = ExpectedClaims {
        issuer: "https://id.test",
        client_id: "the-client",
        nonce: Some("n"),
        now_ms: NOW_MS,
    };

    struct Issuer {
        pair: EcdsaKeyPair,
        keys: JwkSet,
    }

    fn issuer() -> Issuer {
        toolgate_vault::jwt::install();
        let (how, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(how, document.as_ref(), &random).unwrap();
        let point = pair.public_key().as_ref();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let keys = json!({"keys": [{
            "kty": "EC", "crv": "P-256", "kid": "k", "alg": "ES256", "use": "sig",
            "x": part(&point[1..33]), "y": part(&point[33..]),
        }]});
        let keys = serde_json::from_value(keys).unwrap();
        Issuer { pair, keys }
    }

    impl Issuer {
        fn signed(&self, header: &Value, claims: &Value) -> String {
            let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let text = format!("{}.{}", part(header), part(claims));
            let signature = self.pair.sign(&SystemRandom::new(), text.as_bytes());
            format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.unwrap()))
        }
    }

    fn claims() -> Value {
        json!({
            "iss": "https://id.test", "aud": "the-client", "sub": "7", "nonce": "n",
            "exp": NOW_MS / 1_000 + 60, "email": "ada@example.com", "email_verified": true,
        })
    }

    #[test]
    fn a_token_of_the_provider_for_this_sign_in_is_believed() {
        let issuer = issuer();
        let token = issuer.signed(&json!({"alg": "ES256", "kid": "k"}), &claims());
        let read = verified(&token, &issuer.keys, &EXPECTED).unwrap();
        assert_eq!((read.sub.as_str(), read.email_verified), ("7", Some(true)));
    }

    #[test]
    fn a_token_of_a_refresh_has_no_nonce_and_may_name_groups() {
        let issuer = issuer();
        let mut claims = claims();
        claims["nonce"] = Value::Null;
        claims["groups"] = json!(["engineering"]);
        let token = issuer.signed(&json!({"alg": "ES256", "kid": "k"}), &claims);
        let refreshed = ExpectedClaims {
            nonce: None,
            ..EXPECTED
        };
        let read = verified(&token, &issuer.keys, &refreshed).unwrap();
        assert_eq!(read.more["groups"], json!(["engineering"]));
        assert!(verified(&token, &issuer.keys, &EXPECTED).is_err());
    }

    #[test]
    fn every_other_token_is_refused() {
        let (issuer, other) = (issuer(), self::issuer());
        let header = json!({"alg": "ES256", "kid": "k"});
        let refused = |token: &str, what: &str| {
            assert!(verified(token, &issuer.keys, &EXPECTED).is_err(), "{what}");
        };
        for (name, value) in [
            ("iss", json!("https://evil.test")),
            ("aud", json!("another-client")),
            ("azp", json!("another-client")),
            ("nonce", json!("another")),
            ("nonce", Value::Null),
            ("exp", json!(NOW_MS / 1_000 - 61)),
            ("exp", json!("never")),
            ("sub", Value::Null),
        ] {
            let mut claims = claims();
            claims[name] = value.clone();
            refused(&issuer.signed(&header, &claims), &format!("{name} {value}"));
        }
        refused(&other.signed(&header, &claims()), "another's key");
        for algorithm in ["none", "HS256", "RS256", "ES384"] {
            let header = json!({"alg": algorithm, "kid": "k"});
            refused(&issuer.signed(&header, &claims()), algorithm);
        }
        let unknown = json!({"alg": "ES256", "kid": "other"});
        refused(&issuer.signed(&unknown, &claims()), "an unknown key");
        refused("a.b.c", "no token");
    }
}
