//! JWTs that another party has signed with a key that it publishes (RFC 7515; RFC 8725).

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{DecodingKey, Header, Validation};
use serde_json::Value;

/// The claims of a token that one of the keys has signed, by the algorithm of `header`. `None`: no key has signed it.
/// The caller checks the claims.
pub(super) fn signed_claims(token: &str, header: &Header, keys: &JwkSet) -> Option<Value> {
    let mut rules = Validation::new(header.alg);
    rules.required_spec_claims.clear();
    // The caller checks each claim, so that its reason names the claim.
    rules.validate_exp = false;
    rules.validate_aud = false;
    let fits = |key: &&Jwk| {
        let common = &key.common;
        let named = match (&header.kid, &common.key_id) {
            (Some(wanted), Some(id)) => wanted == id,
            _ => true,
        };
        let signs = matches!(common.public_key_use, None | Some(PublicKeyUse::Signature));
        let algorithm = common.key_algorithm.map(|algorithm| algorithm.to_string());
        let same = algorithm.is_none_or(|name| name.parse().ok() == Some(header.alg));
        named && signs && same
    };
    keys.keys
        .iter()
        .filter(fits)
        .filter_map(|key| DecodingKey::from_jwk(key).ok())
        .find_map(|key| jsonwebtoken::decode::<Value>(token, &key, &rules).ok())
        .map(|signed| signed.claims)
}
