//! What a call's receipt says about one request on the wire.
//!
//! Everything is as it was before injection, so no credential of the gateway is in it. Parameters of
//! the query keep their names; a value that a plugin or its caller put there and that looks like a
//! credential is not kept ([`masked`]).

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sha2::{Digest as _, Sha256};
use url::Url;

use super::hop::Hop;
use super::scope::CallScope;
use super::scrub::Scrubber;
use super::{Injection, RequestRecord};

/// How much of a path the receipt keeps, and of a query.
pub(crate) const RECEIPT_PATH_BYTES_MAX: usize = 1024;
/// Stands where a value was.
const REDACTED: &str = "[redacted]";
/// Words in the name of a parameter whose value is not kept.
const SECRET_NAMES: [&str; 17] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "key",
    "auth",
    "signature",
    "sig",
    "credential",
    "cred",
    "session",
    "jwt",
    "code",
    "nonce",
    "otp",
    "pin",
];
/// A value of at least so many characters without a space, with digits and letters, may be a key.
const KEY_CHARS_MIN: usize = 20;

/// The line of one request, without what its answer adds.
pub(super) fn record(
    method: &http::Method,
    url: &Url,
    body: &[u8],
    slot: Option<&str>,
    scrubber: &Scrubber,
) -> RequestRecord {
    let path = cut(scrubber.text(url.path()).into_owned());
    RequestRecord {
        method: method.to_string(),
        origin: url.origin().ascii_serialization(),
        host: url.host_str().unwrap_or_default().to_owned(),
        path,
        query: url
            .query()
            .filter(|query| !query.is_empty())
            .map(|query| cut(masked(query, scrubber))),
        status: None,
        bytes_out: body.len() as u64,
        body_sha256: (!body.is_empty()).then(|| sha256(body)),
        bytes_in: 0,
        started_ms: None,
        duration_ms: 0,
        credential_slot: slot.map(str::to_owned),
    }
}

/// A query whose parameters have their names, and their values unless these look like credentials.
fn masked(query: &str, scrubber: &Scrubber) -> String {
    // As everywhere that people read: what is removed is counted.
    let is_known = |text: &str| matches!(scrubber.text(text), Cow::Owned(_));
    let parameters = query.split('&').map(|parameter| {
        let Some((name, value)) = parameter.split_once('=') else {
            // No name says what it is.
            return match looks_like_key(parameter) || is_known(parameter) {
                true => REDACTED.to_owned(),
                false => parameter.to_owned(),
            };
        };
        let decoded = |text: &str| {
            url::form_urlencoded::parse(text.as_bytes())
                .next()
                .map_or_else(String::new, |(text, _)| text.into_owned())
        };
        let (plain_name, plain_value) = (decoded(name), decoded(value));
        let known = [value, &plain_value].map(is_known);
        let name = match is_known(&plain_name) || looks_like_key(&plain_name) {
            true => REDACTED,
            false => name,
        };
        match is_secret_name(&plain_name) || known.contains(&true) || looks_like_key(&plain_value) {
            true => format!("{name}={REDACTED}"),
            false => format!("{name}={value}"),
        }
    });
    parameters.collect::<Vec<_>>().join("&")
}

fn sha256(body: &[u8]) -> String {
    hex::encode(Sha256::digest(body))
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
}

/// Whether the value may be a credential that nobody has named.
pub fn looks_like_key(value: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~+/=:".contains(c);
    value.len() >= KEY_CHARS_MIN
        && value.chars().all(plain)
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

pub(super) fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(RECEIPT_PATH_BYTES_MAX));
    text
}

/// One line of the receipt, written when it is dropped: a call that is cut off leaves it too.
pub(super) struct ReceiptLine<'a> {
    scope: &'a CallScope,
    sent: &'a AtomicBool,
    started: Instant,
    pub(super) record: RequestRecord,
    /// Whether the provider may have seen the request.
    pub(super) left: bool,
}

impl<'a> ReceiptLine<'a> {
    pub(super) fn start(
        scope: &'a CallScope,
        sent: &'a AtomicBool,
        hop: &Hop,
        injection: Option<&Injection>,
    ) -> Self {
        let mut record = record(
            &hop.method,
            &hop.target.url,
            &hop.body,
            injection.map(|injection| injection.slot.as_str()),
            &scope.scrubber(),
        );
        record.started_ms = Some(scope.age_ms());
        Self {
            scope,
            sent,
            started: Instant::now(),
            record,
            left: true,
        }
    }
}

impl Drop for ReceiptLine<'_> {
    fn drop(&mut self) {
        if self.left {
            self.sent.store(true, Ordering::Relaxed);
            self.record.duration_ms =
                u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.scope.record(self.record.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_keeps_its_names_and_no_value_that_may_be_a_credential() {
        let mut scrubber = Scrubber::default();
        scrubber.learn([b"hunter2-hunter2".as_slice()]);
        for (query, expected) in [
            ("page=2&q=a+b", "page=2&q=a+b"),
            ("access_token=x", "access_token=[redacted]"),
            ("API%4Bey=x", "API%4Bey=[redacted]"),
            ("X-Amz-Signature=0", "X-Amz-Signature=[redacted]"),
            ("q=hunter2-hunter2", "q=[redacted]"),
            ("q=hunter2%2Dhunter2", "q=[redacted]"),
            ("q=sk_live_0123456789abcdef", "q=[redacted]"),
            ("sk_live_0123456789abcdef", "[redacted]"),
            ("sk_live_0123456789abcdef=1", "[redacted]=1"),
            ("since=2026-01-01&flag", "since=2026-01-01&flag"),
        ] {
            assert_eq!(masked(query, &scrubber), expected, "{query}");
        }
    }
}
