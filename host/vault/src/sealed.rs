//! The box: a secret at rest, in one line of text.
//!
//! Pure. `tg1.KEY_ID.BASE64URL`: a format version, the id of the master key, and in base64url
//! (RFC 4648, section 5, no padding) the wrapped data key and the content, each AES-256-GCM
//! (NIST SP 800-38D) with a random 96-bit nonce in front. The data key is fresh for every box, so
//! that changing the master key rewrites 60 bytes and never opens the content. The record's
//! [`SealContext`] is associated data of both: a box that is copied to another row does not open.

use aes_gcm::aead::{Aead as _, Payload};
use aes_gcm::{Aes256Gcm, Key, KeyInit as _, Nonce};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use rand::Rng as _;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::Secret;

/// The one format this build writes.
const VERSION: &str = "tg1";
pub(super) const NONCE_BYTES: usize = 12;
pub(super) const TAG_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// Nonce, wrapped data key and tag.
const WRAP_BYTES: usize = NONCE_BYTES + KEY_BYTES + TAG_BYTES;
/// A credential is far smaller; a longer text is not a box.
pub const BOX_BYTES_MAX: usize = 256 * 1024;
/// Characters of a box before its content: version, key id and wrapped data key. All that a new master key changes.
pub const HEAD_CHARS: usize = VERSION.len() + 1 + KEY_ID_CHARS + 1 + WRAP_BYTES / 3 * 4;
const KEY_ID_CHARS: usize = 16;

/// Which record a box belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SealContext<'a> {
    /// `connection`, `connect_flow`, `oauth_app`, `webhook`, `webhook_previous`, `hook`,
    /// `oidc_account`, `payload`, `client_session`, or the name of a column whose texts are sealed.
    pub kind: &'a str,
    pub workspace_id: &'a str,
    pub user_id: &'a str,
    pub service: &'a str,
    pub id: &'a str,
}

impl SealContext<'_> {
    /// Every part with its length in front, so that no two places give the same bytes.
    pub(super) fn associated_data(&self, purpose: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(256);
        for part in [
            VERSION,
            purpose,
            self.kind,
            self.workspace_id,
            self.user_id,
            self.service,
            self.id,
        ] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

/// Why a box does not open. Does not reveal its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("the text is not an encrypted value in the format of this version")]
    Format,
    #[error("the encrypted value is of another record or another key, or has been altered")]
    Refused,
    #[error("the secret is longer than an encrypted value may be")]
    TooLarge,
}

/// A master key with its name. Zeroed on drop.
pub struct MasterKey {
    id: String,
    bytes: Zeroizing<[u8; KEY_BYTES]>,
}

impl MasterKey {
    pub fn new(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"toolgate master key id\0");
        hash.update(&bytes[..]);
        let id = hex::encode(&hash.finalize()[..8]);
        Self { id, bytes }
    }

    /// A key for another purpose, from which this one cannot be derived: HMAC-SHA256 as a
    /// pseudorandom function (RFC 5869, section 2).
    pub(super) fn derived(&self, purpose: &str) -> Zeroizing<[u8; KEY_BYTES]> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.bytes[..]).expect("a key of any length");
        mac.update(b"toolgate derived key\0");
        mac.update(purpose.as_bytes());
        Zeroizing::new(mac.finalize().into_bytes().into())
    }

    /// 16 hexadecimal digits that name the key and do not reveal it.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The parts of a box that is not opened.
pub struct Parts {
    pub key_id: String,
    wrapped: Vec<u8>,
    content: Vec<u8>,
}

impl Parts {
    pub fn parse(text: &str) -> Result<Self, SealError> {
        Self::parse_within(text, BOX_BYTES_MAX, NONCE_BYTES + TAG_BYTES)
    }

    /// The first [`HEAD_CHARS`] of a box, without its content.
    pub(super) fn parse_head(text: &str) -> Result<Self, SealError> {
        Self::parse_within(text, HEAD_CHARS, 0)
    }

    pub(super) fn parse_within(
        text: &str,
        bytes_max: usize,
        content_bytes_min: usize,
    ) -> Result<Self, SealError> {
        if text.len() > bytes_max {
            return Err(SealError::Format);
        }
        let mut parts = text.split('.');
        let (Some(VERSION), Some(key_id), Some(body), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(SealError::Format);
        };
        let mut wrapped = URL_SAFE_NO_PAD
            .decode(body)
            .map_err(|_| SealError::Format)?;
        if wrapped.len() < WRAP_BYTES + content_bytes_min {
            return Err(SealError::Format);
        }
        let content = wrapped.split_off(WRAP_BYTES);
        Ok(Self {
            key_id: key_id.to_owned(),
            wrapped,
            content,
        })
    }

    /// The secret, with the key that the box names.
    pub fn open(&self, master: &MasterKey, place: &SealContext<'_>) -> Result<Secret, SealError> {
        let data_key = self.data_key(master, place)?;
        let plain = decrypt(&data_key, &self.content, &place.associated_data("content"))?;
        match std::str::from_utf8(&plain) {
            Ok(text) => Ok(Secret::new(text)),
            Err(_) => Err(SealError::Format),
        }
    }

    /// The same content under another master key.
    pub fn rewrap(
        &self,
        from: &MasterKey,
        to: &MasterKey,
        place: &SealContext<'_>,
    ) -> Result<String, SealError> {
        let data_key = self.data_key(from, place)?;
        Ok(write(to, &data_key, &self.content, place))
    }

    pub(super) fn data_key(
        &self,
        master: &MasterKey,
        place: &SealContext<'_>,
    ) -> Result<Zeroizing<[u8; KEY_BYTES]>, SealError> {
        let bytes = decrypt(
            &master.bytes,
            &self.wrapped,
            &place.associated_data(&wrap_purpose(master)),
        )?;
        let key = <[u8; KEY_BYTES]>::try_from(bytes.as_slice()).map_err(|_| SealError::Format)?;
        Ok(Zeroizing::new(key))
    }
}

/// Seals a secret for one record.
pub fn seal(
    master: &MasterKey,
    place: &SealContext<'_>,
    secret: &Secret,
) -> Result<String, SealError> {
    seal_within(master, place, secret.expose(), BOX_BYTES_MAX / 2)
}

pub(super) fn seal_within(
    master: &MasterKey,
    place: &SealContext<'_>,
    plain: &str,
    bytes_max: usize,
) -> Result<String, SealError> {
    if plain.len() > bytes_max {
        return Err(SealError::TooLarge);
    }
    let data_key = fresh_key();
    let content = encrypt(
        &data_key,
        plain.as_bytes(),
        &place.associated_data("content"),
    );
    Ok(write(master, &data_key, &content, place))
}

pub(super) fn fresh_key() -> Zeroizing<[u8; KEY_BYTES]> {
    let mut data_key = Zeroizing::new([0; KEY_BYTES]);
    rand::rng().fill_bytes(&mut data_key[..]);
    data_key
}

pub(super) fn write(
    master: &MasterKey,
    data_key: &[u8; KEY_BYTES],
    content: &[u8],
    place: &SealContext<'_>,
) -> String {
    let mut body = encrypt(
        &master.bytes,
        data_key,
        &place.associated_data(&wrap_purpose(master)),
    );
    body.extend_from_slice(content);
    format!("{VERSION}.{}.{}", master.id, URL_SAFE_NO_PAD.encode(body))
}

fn wrap_purpose(master: &MasterKey) -> String {
    format!("key {}", master.id)
}

pub(super) fn encrypt(key: &[u8; KEY_BYTES], plain: &[u8], aad: &[u8]) -> Vec<u8> {
    let mut nonce = [0; NONCE_BYTES];
    rand::rng().fill_bytes(&mut nonce);
    let sealed = Aes256Gcm::new(&Key::<Aes256Gcm>::from(*key))
        .encrypt(&Nonce::from(nonce), Payload { msg: plain, aad })
        .expect("the bound on a box is far below the cipher's");
    let mut out = Vec::with_capacity(NONCE_BYTES + sealed.len());
    out.extend_from_slice(&nonce);
    out.extend_from_slice(&sealed);
    out
}

pub(super) fn decrypt(
    key: &[u8; KEY_BYTES],
    sealed: &[u8],
    aad: &[u8],
) -> Result<Zeroizing<Vec<u8>>, SealError> {
    let (nonce, msg) = sealed
        .split_first_chunk::<NONCE_BYTES>()
        .ok_or(SealError::Format)?;
    Aes256Gcm::new(&Key::<Aes256Gcm>::from(*key))
        .decrypt(&Nonce::from(*nonce), Payload { msg, aad })
        .map(Zeroizing::new)
        .map_err(|_| SealError::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: SealContext<'static> = SealContext {
        kind: "connection",
        workspace_id: "ws_1",
        user_id: "ada",
        service: "github",
        id: "con_1",
    };

    fn key(byte: u8) -> MasterKey {
        MasterKey::new(Zeroizing::new([byte; KEY_BYTES]))
    }

    #[test]
    fn a_box_opens_in_its_own_place_under_its_own_key_only() {
        let sealed = seal(&key(1), &HOME, &Secret::new("hunter2")).unwrap();
        assert!(!sealed.contains("hunter2"));
        let parts = Parts::parse(&sealed).unwrap();
        assert_eq!(parts.key_id, key(1).id());
        assert_eq!(parts.open(&key(1), &HOME).unwrap().expose(), "hunter2");
        assert_eq!(parts.open(&key(2), &HOME), Err(SealError::Refused));
        for other in [
            SealContext {
                kind: "oauth_app",
                ..HOME
            },
            SealContext {
                workspace_id: "ws_2",
                ..HOME
            },
            SealContext {
                user_id: "eve",
                ..HOME
            },
            SealContext {
                service: "slack",
                ..HOME
            },
            SealContext {
                id: "con_2",
                ..HOME
            },
            // The same letters, split at another place.
            SealContext {
                workspace_id: "ws_1a",
                user_id: "da",
                ..HOME
            },
        ] {
            assert_eq!(
                parts.open(&key(1), &other),
                Err(SealError::Refused),
                "{other:?}"
            );
        }
    }

    #[test]
    fn two_boxes_of_one_secret_share_nothing() {
        let one = seal(&key(1), &HOME, &Secret::new("hunter2")).unwrap();
        let two = seal(&key(1), &HOME, &Secret::new("hunter2")).unwrap();
        assert_ne!(one[30..], two[30..]);
    }

    #[test]
    fn an_altered_box_is_refused() {
        let sealed = seal(&key(1), &HOME, &Secret::new("hunter2")).unwrap();
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(bytes).unwrap();
            let opened = Parts::parse(&altered).and_then(|parts| {
                // Another key id leads to another key or to none.
                if parts.key_id == key(1).id() {
                    parts.open(&key(1), &HOME)
                } else {
                    Err(SealError::Refused)
                }
            });
            assert!(opened.is_err(), "byte {at}");
        }
        for text in [
            "",
            "tg1",
            "tg1.a",
            "tg1.a.AAAA",
            "tg2.a.AAAA",
            "tg1.a.A.A",
            "tg1.a.!",
        ] {
            assert!(Parts::parse(text).is_err(), "{text}");
        }
        for end in [0, 10, 40, sealed.len() - 2] {
            let cut = Parts::parse(&sealed[..end]).and_then(|parts| parts.open(&key(1), &HOME));
            assert!(cut.is_err(), "cut at {end}");
        }
    }

    #[test]
    fn a_rewrapped_box_holds_the_same_under_the_new_key_only() {
        let old = seal(&key(1), &HOME, &Secret::new("hunter2")).unwrap();
        let new = Parts::parse(&old)
            .unwrap()
            .rewrap(&key(1), &key(2), &HOME)
            .unwrap();
        let parts = Parts::parse(&new).unwrap();
        assert_eq!(parts.open(&key(2), &HOME).unwrap().expose(), "hunter2");
        assert_eq!(parts.open(&key(1), &HOME), Err(SealError::Refused));
        let elsewhere = SealContext {
            id: "con_2",
            ..HOME
        };
        let moved = Parts::parse(&old)
            .unwrap()
            .rewrap(&key(1), &key(2), &elsewhere);
        assert_eq!(moved, Err(SealError::Refused));
    }

    #[test]
    fn a_secret_has_a_largest_size() {
        let most = Secret::new("x".repeat(BOX_BYTES_MAX / 2));
        let sealed = seal(&key(1), &HOME, &most).unwrap();
        assert_eq!(
            Parts::parse(&sealed).unwrap().open(&key(1), &HOME).unwrap(),
            most
        );
        let more = Secret::new("x".repeat(BOX_BYTES_MAX / 2 + 1));
        assert_eq!(seal(&key(1), &HOME, &more), Err(SealError::TooLarge));
    }
}
