//! The texts of tokens. A token ends in a mark that only this installation can make, so that a flood of made-up tokens
//! costs no look-up, and no good token is refused for what others send from the same address. The mark says nothing
//! about whether a token is good: that is looked up.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::keys::random_base62;
use crate::{Error, Identity};
use toolgate_vault::Secret;

/// Base62 characters of chance, 190 bits, and those of the mark, 64 bits.
const CHANCE_CHARS: usize = 32;
const MARK_CHARS: usize = 11;
/// Both: what follows the prefix.
pub(crate) const RANDOM_CHARS: usize = CHANCE_CHARS + MARK_CHARS;
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// What the key of the marks is derived for. It changes with the master key: tokens of before are looked up unmarked.
const PURPOSE: &str = "app token mark";

impl Identity {
    /// A new token.
    pub(super) fn new_token(&self, prefix: &str) -> Result<Secret, Error> {
        let chance = random_base62(CHANCE_CHARS);
        let text = format!("{prefix}{}", chance.expose());
        let mark = self.mark_of(&text)?;
        Ok(Secret::new(format!("{text}{mark}")))
    }

    /// Whether this installation has made a token, with the master key that it has now.
    pub(super) fn is_marked(&self, token: &str) -> Result<bool, Error> {
        let at = token.len().checked_sub(MARK_CHARS);
        let parts = at.and_then(|at| token.split_at_checked(at));
        let Some((text, mark)) = parts else {
            return Ok(false);
        };
        Ok(self.mark_of(text)? == mark)
    }

    fn mark_of(&self, text: &str) -> Result<String, Error> {
        let key = self.vault.derive(PURPOSE);
        let key = key.map_err(|cause| Error::Internal(cause.into()))?;
        let mac = Hmac::<Sha256>::new_from_slice(&key);
        let mut mac = mac.map_err(|cause| Error::Internal(cause.into()))?;
        mac.update(text.as_bytes());
        let digest: [u8; 32] = mac.finalize().into_bytes().into();
        Ok(in_base62(u64::from_be_bytes(
            *digest.first_chunk().expect("a digest is longer"),
        )))
    }
}

/// A number in [`MARK_CHARS`] digits, which hold 64 bits.
fn in_base62(mut number: u64) -> String {
    let digits = (0..MARK_CHARS).map(|_| {
        let digit = DIGITS[usize::try_from(number % 62).expect("below 62")];
        number /= 62;
        char::from(digit)
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::IdentityWorld;

    #[tokio::test]
    async fn a_mark_is_of_this_installation_and_of_one_text() {
        let world = IdentityWorld::open().await;
        let token = world.new_token("tg_oat_").unwrap();
        let token = token.expose();
        assert_eq!(token.len(), "tg_oat_".len() + RANDOM_CHARS);
        assert!(world.is_marked(token).unwrap());
        let sibling = world.sibling(world.clock.clone()).await;
        assert!(sibling.is_marked(token).unwrap(), "another process");
        let stranger = IdentityWorld::open().await;
        assert!(!stranger.is_marked(token).unwrap(), "another installation");
        let other = token.replace("tg_oat_", "tg_ort_");
        let shorter = &token[..token.len() - 1];
        for bad in [other.as_str(), shorter, "", "tg_oat_", "é"] {
            assert!(!world.is_marked(bad).unwrap(), "{bad}");
        }
        assert_eq!(in_base62(u64::MAX).len(), MARK_CHARS);
        assert_ne!(in_base62(u64::MAX), in_base62(u64::MAX - 1));
    }
}
