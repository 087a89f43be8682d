//! JWTs that others have signed with a key that they publish (RFC 7515; RFC 8725).

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{DecodingKey, Header, Validation};
use serde_json::Value;

/// The claims of a token that one of the keys has signed, by the algorithm of `header`. `None`: none of them has. What
/// the claims say is looked at by the caller.
pub(super) fn signed_claims(token: &str, header: &Header, keys: &JwkSet) -> Option<Value> {
    let mut rules = Validation::new(header.alg);
    rules.required_spec_claims.clear();
    // Looked at one by one afterwards, for a reason that says which.
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
