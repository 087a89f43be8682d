//! The forms in which a secret may come back: as it is, and as encoders write it.
//!
//! Pure. A form is what is left of an encoding when letter case and everything but letters and digits
//! are taken away, as [`super::views`] does with the text; so one form covers standard and URL-safe
//! base64, with and without padding, in one line or in many, and for hexadecimal with any separator.
//! Encodings that write several bytes at once are kept for every place at which the secret may begin.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::Value;

/// Windows of the plain text are at least so long.
const PLAIN_WINDOW: usize = 10;
/// Shorter texts of a JSON document are names and kinds.
const LEAF_BYTES_MIN: usize = 16;
/// Longer forms are sampled: about so many windows each.
const WINDOWS_MAX: usize = 256;
/// Forms that only an odd server writes are sampled from the start.
const ODD_STRIDE: usize = 4;
/// The odd forms of a longer secret are left out; its ordinary ones stay.
const ODD_BYTES_MAX: usize = 512;
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BASE32_HEX: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";
const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// One form of a secret, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretForm {
    pub bytes: Vec<u8>,
    /// The shortest window that tells it from ordinary text.
    pub window: usize,
    /// How far its windows are apart.
    pub stride: usize,
    /// So many bytes at its start are in every token of the issuer, and no secret.
    pub public: usize,
    /// So many more precede it in the encoding.
    pub lead: usize,
}

/// The parts of a credential that are secret, and how many of the first bytes of each are public: the
/// leaves of a JSON document, the lines of a key file, an address without its host, else the whole.
pub(super) fn parts(secret: &str) -> Vec<(Cow<'_, str>, usize)> {
    let trimmed = secret.trim();
    if trimmed.starts_with('{')
        && let Ok(document) = serde_json::from_str::<Value>(trimmed)
    {
        let mut leaves = Vec::new();
        collect(&document, &mut leaves);
        return leaves
            .iter()
            .flat_map(|leaf| parts(leaf))
            .map(|(part, public)| (Cow::Owned(part.into_owned()), public))
            .collect();
    }
    if let Some((_, rest)) = trimmed.split_once("://") {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        return user
            .into_iter()
            .chain([path.trim_start_matches(['/', '?', '#'])])
            .filter(|part| !part.is_empty())
            .map(|part| (Cow::Borrowed(part), 0))
            .collect();
    }
    if trimmed.contains("-----BEGIN ") {
        return trimmed
            .lines()
            .filter(|line| !line.contains("-----"))
            .map(|line| (Cow::Borrowed(line.trim()), 0))
            .collect();
    }
    vec![(Cow::Borrowed(secret), jwt_head(secret))]
}

fn collect(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= LEAF_BYTES_MIN => leaves.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, leaves)),
        Value::Object(members) => members.values().for_each(|item| collect(item, leaves)),
        _ => {}
    }
}

/// The length of a JWT's header, which names an algorithm and hides nothing.
fn jwt_head(token: &str) -> usize {
    let mut public = 0;
    for segment in token.split('.') {
        let head = URL_SAFE_NO_PAD
            .decode(segment)
            .ok()
            .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
            .is_some_and(|value| value.get("alg").is_some());
        let end = public + segment.len() + 1;
        if !head || end >= token.len() {
            break;
        }
        public = end;
    }
    public
}

/// Every form of one part of a secret.
pub(super) fn forms(secret: &[u8], public: usize) -> Vec<SecretForm> {
    let mut all = Forms::default();
    let squeezed = squeeze(secret);
    let squeezed_public = squeeze(&secret[..public]).len();
    all.add(secret.to_ascii_lowercase(), PLAIN_WINDOW, public, 0);
    all.add(squeezed.clone(), PLAIN_WINDOW, squeezed_public, 0);
    // What is public is left out of the encodings, and precedes them.
    let body = &secret[public..];
    let is_short = body.len() <= ODD_BYTES_MAX;
    for lead in 0..3 {
        let once = base64_inner(body, lead);
        all.add(squeeze(&once), 12, 0, public * 4 / 3 + 8);
        for outer in (0..3).filter(|_| is_short) {
            let twice = squeeze(&base64_inner(&once, outer));
            all.add_odd(twice, 15, public * 16 / 9 + 12);
        }
    }
    all.add(squeeze(hex::encode(body).as_bytes()), 18, 0, public * 2);
    if is_short {
        all.add_bases(secret, public);
        all.add_digits(body);
        let mut reversed = squeeze(body);
        reversed.reverse();
        all.add(reversed, PLAIN_WINDOW, 0, 0);
        let rotated: Vec<u8> = squeezed.iter().map(|byte| rot13(*byte)).collect();
        all.add(rotated, PLAIN_WINDOW + 2, squeezed_public, 0);
        all.add_nested(body);
    }
    all.0
}

#[derive(Default)]
struct Forms(Vec<SecretForm>);

impl Forms {
    fn add(&mut self, bytes: Vec<u8>, window: usize, public: usize, lead: usize) {
        self.sample(bytes, window, public, lead, 1);
    }

    /// A form that few encoders write: sampled more coarsely.
    fn add_odd(&mut self, bytes: Vec<u8>, window: usize, lead: usize) {
        self.sample(bytes, window, 0, lead, ODD_STRIDE);
    }

    fn sample(
        &mut self,
        bytes: Vec<u8>,
        window: usize,
        public: usize,
        lead: usize,
        stride_min: usize,
    ) {
        let stride = bytes.len().div_ceil(WINDOWS_MAX).max(stride_min);
        // A short one is not sampled: it has too few windows.
        let stride = match bytes.len() < window + 4 * stride {
            true => 1,
            false => stride,
        };
        self.0.push(SecretForm {
            bytes,
            window,
            stride,
            public,
            lead,
        });
    }

    /// Base32 in both alphabets, and base58 of the whole.
    fn add_bases(&mut self, secret: &[u8], public: usize) {
        for lead in 0..5 {
            for alphabet in [BASE32, BASE32_HEX] {
                let inner = base32_inner(&secret[public..], lead, alphabet);
                self.add_odd(inner, 15, public * 8 / 5 + 8);
            }
        }
        self.add_odd(base58(secret).to_ascii_lowercase(), 14, 0);
    }

    /// Each byte as a number.
    fn add_digits(&mut self, body: &[u8]) {
        let decimal: String = body.iter().map(u8::to_string).collect();
        let octal: String = body.iter().map(|byte| format!("{byte:o}")).collect();
        let binary: String = body.iter().map(|byte| format!("{byte:08b}")).collect();
        for (digits, window) in [(decimal, 20), (octal, 24), (binary, 56)] {
            self.add_odd(digits.into_bytes(), window, 0);
        }
    }

    /// Encodings of encodings.
    fn add_nested(&mut self, body: &[u8]) {
        let wide: Vec<u8> = body.iter().flat_map(|byte| [*byte, 0]).collect();
        let hexed = hex::encode(body).into_bytes();
        for inner in [wide, hexed] {
            for lead in 0..3 {
                self.add_odd(squeeze(&base64_inner(&inner, lead)), 16, 0);
            }
        }
        // Wrapped before it was encoded once more, as MIME writers do.
        let wrapped: Vec<u8> = URL_SAFE.encode(body).into_bytes();
        self.add_odd(squeeze(hex::encode(&wrapped).as_bytes()), 24, 0);
    }
}

/// Letters and digits alone, in lower case.
pub(super) fn squeeze(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect()
}

/// The base64 characters that depend on `bytes` alone when `lead` other bytes precede them.
fn base64_inner(bytes: &[u8], lead: usize) -> Vec<u8> {
    let mut padded = vec![0; lead];
    padded.extend_from_slice(bytes);
    let encoded = STANDARD_NO_PAD.encode(&padded);
    let from = (lead * 8).div_ceil(6);
    let to = padded.len() * 8 / 6;
    encoded.as_bytes()[from.min(to)..to].to_vec()
}

/// The same for base32 (RFC 4648, section 6).
fn base32_inner(bytes: &[u8], lead: usize, alphabet: &[u8; 32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 8 / 5 + 2);
    let (mut pending, mut bits) = (0u32, 0);
    let from = (lead * 8).div_ceil(5);
    for byte in std::iter::repeat_n(&0, lead).chain(bytes) {
        pending = (pending << 8 | u32::from(*byte)) & 0xfff;
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            out.push(alphabet[(pending >> bits & 31) as usize]);
        }
    }
    out.split_off(from.min(out.len()))
}

fn base58(bytes: &[u8]) -> Vec<u8> {
    let mut digits: Vec<u8> = Vec::new();
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 58) as u8;
            carry /= 58;
        }
        while carry > 0 {
            digits.push((carry % 58) as u8);
            carry /= 58;
        }
    }
    digits
        .iter()
        .rev()
        .map(|digit| BASE58[usize::from(*digit)])
        .collect()
}

fn rot13(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => (byte - b'a' + 13) % 26 + b'a',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_those_of_their_standards() {
        assert_eq!(base32_inner(b"foobar", 0, BASE32), b"mzxw6ytbo");
        assert_eq!(base32_inner(b"foobar", 0, BASE32_HEX), b"cpnmuoj1e");
        assert_eq!(base58(b"hello world"), b"StV1DL6CwTryKyV");
        assert_eq!(base64_inner(b"secret", 0), b"c2VjcmV0");
        let whole = STANDARD_NO_PAD.encode(b"user:secret-value");
        let inner = base64_inner(b"secret-value", 5);
        assert!(whole.contains(std::str::from_utf8(&inner).expect("ascii")));
    }

    #[test]
    fn what_is_public_in_a_credential_is_not_searched_for() {
        let head = "eyJhbGciOiJSUzI1NiJ9";
        let jwt = format!("{head}.e30.sig");
        for (secret, expected) in [
            (jwt.as_str(), vec![(jwt.as_str(), head.len() + 1)]),
            ("no.jwt.here", vec![("no.jwt.here", 0)]),
            (
                "https://hooks.test/services/T0/abc",
                vec![("services/T0/abc", 0)],
            ),
            ("https://ada:pw@db.test", vec![("ada:pw", 0)]),
            (
                "-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----",
                vec![("MIIabc", 0)],
            ),
            (
                r#"{"type":"account","uri":"https://a.test","id":"0123456789abcdef"}"#,
                vec![("0123456789abcdef", 0)],
            ),
        ] {
            let found = parts(secret);
            let found: Vec<_> = found
                .iter()
                .map(|(part, public)| (part.as_ref(), *public))
                .collect();
            assert_eq!(found, expected);
        }
    }
}
