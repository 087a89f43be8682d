//! Tokens that this installation signs and reads itself: JWTs (RFC 7519) under a key that is
//! derived from the master key, one for each purpose. All processes with one master key accept them.

use std::collections::HashSet;

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Secret, Vault, VaultError};

/// The purpose of a token. A token for another purpose does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A member who is signed in.
    SignIn,
    /// A browser on its way to an OpenID Connect provider and back.
    OidcFlow,
    /// An account of a provider that has to say which workspace it signs in to.
    OidcChoice,
    /// A browser that has signed in before.
    Device,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::SignIn => "member sign-in",
            Self::OidcFlow => "oidc flow",
            Self::OidcChoice => "oidc choice",
            Self::Device => "known device",
        }
    }
}

/// The text is not a token of this purpose that this installation has signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the token is forged or damaged")]
pub struct BadToken;

impl Vault {
    /// Signs claims. The caller checks their expiry: [`Vault::verified`] does not check `exp`.
    pub fn signed<T: Serialize>(&self, purpose: Purpose, claims: &T) -> Result<Secret, VaultError> {
        let [key, _] = self.derived(purpose.as_str())?;
        let key = key.map(|key| EncodingKey::from_secret(&key[..]));
        let token = key.and_then(|key| {
            jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &key).ok()
        });
        token.map(Secret::new).ok_or(VaultError::Claims)
    }

    /// The claims of a token whose signature is valid.
    pub fn verified<T: DeserializeOwned>(
        &self,
        purpose: Purpose,
        token: &str,
    ) -> Result<T, BadToken> {
        let mut rules = Validation::new(Algorithm::HS256);
        rules.validate_exp = false;
        rules.validate_aud = false;
        rules.required_spec_claims = HashSet::new();
        let keys = self.derived(purpose.as_str()).map_err(|_| BadToken)?;
        keys.into_iter()
            .flatten()
            .find_map(|key| {
                let key = DecodingKey::from_secret(&key[..]);
                jsonwebtoken::decode::<T>(token, &key, &rules).ok()
            })
            .map(|read| read.claims)
            .ok_or(BadToken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn vault() -> (Vault, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::open(&folder.path().join("master.key")).unwrap();
        (vault, folder)
    }

    #[test]
    fn a_token_is_read_back_by_its_purpose_alone() {
        let (vault, _folder) = vault();
        let token = vault
            .signed(Purpose::SignIn, &json!({"sub": "mem_1", "exp": 1}))
            .unwrap();
        let claims: Value = vault.verified(Purpose::SignIn, token.expose()).unwrap();
        assert_eq!(claims, json!({"sub": "mem_1", "exp": 1}));
        assert_eq!(
            vault.verified::<Value>(Purpose::OidcFlow, token.expose()),
            Err(BadToken)
        );
    }

    #[test]
    fn a_token_survives_one_change_of_the_master_key() {
        let (vault, _folder) = vault();
        let token = vault
            .signed(Purpose::SignIn, &json!({"sub": "mem_1"}))
            .unwrap();
        vault.rotate_key().unwrap();
        assert!(
            vault
                .verified::<Value>(Purpose::SignIn, token.expose())
                .is_ok()
        );
        vault.rotate_key().unwrap();
        assert!(
            vault
                .verified::<Value>(Purpose::SignIn, token.expose())
                .is_err()
        );
    }

    #[test]
    fn forged_tokens_do_not_verify() {
        use base64::Engine as _;
        use base64::engine::general_purpose::URL_SAFE_NO_PAD;
        let (vault, _folder) = vault();
        let (other, _other_folder) = self::vault();
        let token = vault
            .signed(Purpose::SignIn, &json!({"sub": "mem_1"}))
            .unwrap();
        let parts: Vec<&str> = token.expose().split('.').collect();
        let encoded = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let none = encoded(json!({"alg": "none", "typ": "JWT"}));
        let strange = other
            .signed(Purpose::SignIn, &json!({"sub": "mem_1"}))
            .unwrap();
        for forged in [
            String::new(),
            "a.b.c".to_owned(),
            format!("{none}.{}.", parts[1]),
            format!("{none}.{}.{}", parts[1], parts[2]),
            format!(
                "{}.{}.{}",
                parts[0],
                encoded(json!({"sub": "mem_2"})),
                parts[2]
            ),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{}.{}", parts[0], parts[1]),
            strange.expose().to_owned(),
        ] {
            assert_eq!(
                vault.verified::<Value>(Purpose::SignIn, &forged),
                Err(BadToken),
                "{forged}"
            );
        }
    }
}
