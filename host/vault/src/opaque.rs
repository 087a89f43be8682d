//! Secrets that carry nothing: links, cookies, states of a flow. The holder of the text may continue; only its hash is stored.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng as _;
use sha2::{Digest as _, Sha256};

use crate::Secret;

/// 256 random bits in base64url.
pub fn random_token() -> Secret {
    let mut bytes = zeroize::Zeroizing::new([0_u8; 32]);
    rand::rng().fill_bytes(&mut bytes[..]);
    Secret::new(URL_SAFE_NO_PAD.encode(&bytes[..]))
}

/// The form in which tokens, states and cookies are stored: SHA-256, hexadecimal.
pub fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_kept_as_hashes() {
        let token = random_token();
        assert_eq!(token.expose().len(), 43);
        assert_ne!(token, random_token());
        assert_eq!(hash(token.expose()).len(), 64);
    }
}
