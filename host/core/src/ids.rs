//! Identifiers: the form of each and how a new one is made.
//!
//! Prefixes follow the public contract: `req_`, `exe_`, `key_`, `ws_`, `con_` before a ULID,
//! `tool_` and `ses_` before 32 hexadecimal digits. A [`UserId`] is chosen by the caller.

use std::fmt;

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::text::Text;

/// What the ids of executions begin with, and those of the sessions that calls begin.
const EXECUTION: &str = "exe_";
const SESSION: &str = "tool_";

/// `prefix` and a fresh 26-character ULID: sorts by time, for example `req_01J...`.
pub fn ulid(prefix: &str) -> String {
    format!("{prefix}_{}", ulid::Ulid::generate())
}

/// As [`ulid()`], but for the given time, by which it sorts.
pub fn ulid_at(prefix: &str, at_ms: i64) -> String {
    format!("{prefix}_{}", at(at_ms, rand::rng().random()))
}

/// The least that [`ulid_at`] can make for a time. Times before 1970 count as 1970.
pub fn ulid_floor(prefix: &str, at_ms: i64) -> String {
    format!("{prefix}_{}", at(at_ms, 0))
}

/// `prefix` and 128 bits of a hash in the form of a ULID: the same for the same hash. Does not sort by time.
pub fn ulid_of_hash(prefix: &str, hash: [u8; 16]) -> String {
    format!("{prefix}_{}", ulid::Ulid(u128::from_be_bytes(hash)))
}

fn at(at_ms: i64, random: u128) -> ulid::Ulid {
    let most = (1 << ulid::Ulid::TIME_BITS) - 1;
    ulid::Ulid::from_parts(u64::try_from(at_ms).unwrap_or(0).min(most), random)
}

/// The session of a call that names none: `tool_` and the number of its execution. `None` where
/// `execution_id` is not `exe_` and a ULID.
pub fn session_of_execution(execution_id: &str) -> Option<String> {
    let number = execution_id.strip_prefix(EXECUTION)?;
    let number = ulid::Ulid::from_string(number).ok()?;
    Some(format!("{SESSION}{:032x}", number.0))
}

/// The execution whose [`session_of_execution`] this is, if there is one.
pub fn execution_of_session(session_id: &str) -> Option<String> {
    let number = session_id.strip_prefix(SESSION)?;
    let digits = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if number.len() != 32 || !number.bytes().all(digits) {
        return None;
    }
    let number = u128::from_str_radix(number, 16).ok()?;
    Some(format!("{EXECUTION}{}", ulid::Ulid(number)))
}

/// `prefix` and 32 hexadecimal digits, for example `ses_019a...`: sorts by time, so that a database
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

/// Characters of a toolset's name.
pub const TOOLSET_NAME_CHARS_MAX: usize = 64;

/// Whether a text can be the name of a toolset: what is the same in an address however it is encoded.
pub fn is_toolset_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let inner = |byte: u8| plain(byte) || byte == b'-' || byte == b'_';
    name.len() <= TOOLSET_NAME_CHARS_MAX
        && name.bytes().all(inner)
        && name.bytes().next().is_some_and(plain)
}

/// The user that tools run for: 1 to 128 characters of `A-Za-z0-9._:@-`, opaque to the gateway.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct UserId(Text);

/// A text that is not a user id.
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

    /// The same text as a shared `str`, without a copy.
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
    fn a_hash_has_one_id() {
        let id = ulid_of_hash("evt", [7; 16]);
        assert_eq!(id, ulid_of_hash("evt", [7; 16]));
        assert_ne!(id, ulid_of_hash("evt", [8; 16]));
        assert_eq!(id.len(), "evt_".len() + 26);
    }

    #[test]
    fn an_id_of_a_time_sorts_by_it() {
        let now_ms = 1_800_000_000_000;
        assert_ne!(ulid_at("exe", now_ms), ulid_at("exe", now_ms));
        assert!(ulid_floor("exe", now_ms) <= ulid_at("exe", now_ms));
        assert!(ulid_at("exe", now_ms) < ulid_floor("exe", now_ms + 1));
        assert_eq!(ulid_floor("exe", -1), ulid_floor("exe", 0));
        assert!(ulid_at("exe", now_ms) < ulid_floor("exe", i64::MAX));
    }

    #[test]
    fn a_call_and_its_session_are_found_from_each_other() {
        let execution = ulid("exe");
        let session = session_of_execution(&execution).unwrap();
        assert_eq!(session.len(), "tool_".len() + 32);
        assert_eq!(execution_of_session(&session).as_deref(), Some(&*execution));
        for other in ["tool_1", "ses_", &session.to_uppercase(), &session[..36]] {
            assert_eq!(execution_of_session(other), None, "{other}");
        }
        for other in ["exe_1", "req_01KAHZ6M5T9Q4C8W2N7RXJ3VBD", ""] {
            assert_eq!(session_of_execution(other), None, "{other}");
        }
    }

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
        assert_eq!(session("ses").len(), "ses_".len() + 32);
        assert_ne!(session("ses"), session("ses"));
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

    #[test]
    fn a_toolset_name_is_one_segment_of_an_address() {
        for name in [
            "a",
            "support",
            "9-lives",
            "a_b-c",
            &"x".repeat(TOOLSET_NAME_CHARS_MAX),
        ] {
            assert!(is_toolset_name(name), "{name}");
        }
        for name in [
            "",
            "-a",
            "_a",
            "A",
            "a b",
            "a/b",
            "a.b",
            "..",
            "a%2fb",
            "ä",
            "a\0",
            "a\n",
            &"x".repeat(TOOLSET_NAME_CHARS_MAX + 1),
        ] {
            assert!(!is_toolset_name(name), "{name:?}");
        }
    }
}
