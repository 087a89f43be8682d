//! Identifiers: what each looks like and how a new one is made.
//!
//! Prefixes follow the public contract: `req_`, `exe_`, `key_`, `ws_`, `con_` before a ULID,
//! `tool_` and `ses_` before 32 hexadecimal digits. A [`UserId`] is chosen by the caller.

use std::fmt;

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::text::Text;

/// `prefix` and a fresh 26-character ULID: sorts by time, for example `req_01J...`.
pub fn ulid(prefix: &str) -> String {
    format!("{prefix}_{}", ulid::Ulid::generate())
}

/// `prefix` and 32 hexadecimal digits, for example `tool_019a...`: sorts by time, so that a database
/// adds new ones at the end of its index; no secret, but 80 of its bits are random.
pub fn session(prefix: &str) -> String {
    format!("{prefix}_{:032x}", ulid::Ulid::generate().0)
}

/// `prefix` and 32 random hexadecimal digits, for example `n_9f...`.
pub fn hex128(prefix: &str) -> String {
    format!("{prefix}_{:032x}", rand::rng().random::<u128>())
}

/// A random UUID (RFC 9562, version 4) in lower case.
pub fn uuid() -> String {
    let random = rand::rng().random::<u128>();
    let marked = random & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{marked:032x}");
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    parts.join("-")
}

/// Whether `text` has the form in which [`uuid`] writes: lower case, with hyphens, any version.
pub fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// Whoever tools run for: 1 to 128 characters of `A-Za-z0-9._:@-`, opaque to the gateway.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct UserId(Text);

/// A text that is no user id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a user id is 1 to 128 characters of A-Z a-z 0-9 . _ : @ -")]
pub struct BadUserId;

impl UserId {
    pub const LENGTH_MAX: usize = 128;

    pub fn parse(text: &str) -> Result<Self, BadUserId> {
        let fits = (1..=Self::LENGTH_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._:@-".contains(&b));
        if fits {
            Ok(Self(text.into()))
        } else {
            Err(BadUserId)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text for whoever can share it too.
    pub fn text(&self) -> Text {
        self.0.clone()
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for UserId {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_ids_are_checked() {
        for good in ["u", "ada@example.com", "tenant:7", &"x".repeat(128)] {
            assert!(UserId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a b", "ä", "a/b", "a\0", &"x".repeat(129)] {
            assert!(UserId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn ids_have_the_contracts_shape() {
        assert_eq!(ulid("req").len(), "req_".len() + 26);
        assert_eq!(hex128("tool").len(), "tool_".len() + 32);
        assert_ne!(hex128("tool"), hex128("tool"));
        assert_eq!(session("tool").len(), "tool_".len() + 32);
        assert_ne!(session("tool"), session("tool"));
        let uuid = uuid();
        assert!(is_uuid(&uuid) && uuid.as_bytes()[14] == b'4', "{uuid}");
        assert!("89ab".contains(char::from(uuid.as_bytes()[19])), "{uuid}");
        for other in [
            "",
            &uuid[1..],
            &uuid.to_uppercase(),
            &uuid.replace('-', "0"),
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }
}
