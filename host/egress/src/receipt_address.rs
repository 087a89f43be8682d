//! The address of a request as a receipt keeps it.
//!
//! Shown of a path: what the tool's manifest declares, and arguments at declared places that have no secret name; of any
//! other request, segments that are short or are words, numbers or UUIDs. Of a query: names, and values that do not look
//! like a credential. An address within an address is held to the same, and what stands in front of an `@` is never kept.
//! Known secrets are removed by value.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use url::Url;

use super::scrub::Scrubber;

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
/// Words that stand before the address of a person: in searches, and as a scheme.
const BEFORE_ADDRESSES: [&str; 15] = [
    "from",
    "to",
    "cc",
    "bcc",
    "deliveredto",
    "list",
    "sender",
    "recipient",
    "author",
    "assignee",
    "reporter",
    "creator",
    "involves",
    "email",
    "mailto",
];
/// A value of at least so many characters without a space, with digits and letters, may be a key.
const KEY_CHARS_MIN: usize = 20;
/// A longer run of letters is no word.
const WORD_CHARS_MAX: usize = 24;
/// Addresses within addresses, and encodings of encodings, that are looked into; what is deeper is not kept.
const DEPTH_MAX: usize = 4;

/// A query whose parameters have their names, and their values unless these look like credentials.
pub(super) fn masked_query(query: &str, scrubber: &Scrubber) -> String {
    masked_query_at(query, scrubber, DEPTH_MAX)
}

fn masked_query_at(query: &str, scrubber: &Scrubber, depth: usize) -> String {
    // As everywhere that people read: what is removed is counted.
    let is_known = |text: &str| matches!(scrubber.text(text), Cow::Owned(_));
    let hidden = |text: &str| {
        is_known(text) || looks_like_key(text) || hides_in_address(text, scrubber, depth)
    };
    let parameters = query.split('&').map(|parameter| {
        let Some((name, value)) = parameter.split_once('=') else {
            // No name says what it is.
            return match hidden(parameter) || hidden(&form_decoded(parameter)) {
                true => REDACTED.to_owned(),
                false => parameter.to_owned(),
            };
        };
        let (plain_name, plain_value) = (form_decoded(name), form_decoded(value));
        let name = match hidden(&plain_name) {
            true => REDACTED,
            false => name,
        };
        match is_secret_name(&plain_name) || is_known(value) || hidden(&plain_value) {
            true => format!("{name}={REDACTED}"),
            false => format!("{name}={value}"),
        }
    });
    parameters.collect::<Vec<_>>().join("&")
}

/// A path without segments that may be credentials. `template`: the declared path, where the request is the declared one;
/// its last segments are the path's.
pub(super) fn masked_path(path: &str, template: Option<&str>, scrubber: &Scrubber) -> String {
    let segments: Vec<&str> = path.split('/').collect();
    // One hole of this form takes several segments.
    let template = template.filter(|template| !template.contains("{+"));
    let declared: Vec<&str> = template.map_or_else(Vec::new, |template| {
        template.trim_matches('/').split('/').collect()
    });
    let end = match path.ends_with('/') && path.len() > 1 {
        true => segments.len() - 1,
        false => segments.len(),
    };
    let first = end.saturating_sub(declared.len());
    let shown = segments.iter().enumerate().map(|(at, segment)| {
        let is_shown = match (template, at.checked_sub(first)) {
            // In front of the declared path is what the operator has set.
            (Some(_), None) => true,
            (Some(_), Some(place)) => declared.get(place).is_none_or(|own| !has_secret_hole(own)),
            (None, _) => is_plain_segment(segment),
        };
        let behind_scheme = at > 0 && segments[at - 1].is_empty() && at > 1;
        match is_shown && !has_user(segment, behind_scheme, scrubber) {
            true => *segment,
            false => REDACTED,
        }
    });
    shown.collect::<Vec<_>>().join("/")
}

/// Whether a segment of a declared path is filled with an argument that has the name of a secret.
fn has_secret_hole(template: &str) -> bool {
    let holes = template.split('{').skip(1);
    let mut names = holes.filter_map(|behind| behind.split_once('}'));
    names.any(|(name, _)| is_secret_name(name))
}

/// Whether a segment, decoded, has a user in front of an `@`: one with a password, or at the place of a host.
fn has_user(segment: &str, behind_scheme: bool, scrubber: &Scrubber) -> bool {
    let plain = decoded(segment);
    let user = plain.split_once('@').map(|(user, _)| user);
    user.is_some_and(|user| behind_scheme || user.contains(':'))
        || hides_in_address(&plain, scrubber, DEPTH_MAX)
}

/// Whether a segment that nothing declares is shown.
fn is_plain_segment(segment: &str) -> bool {
    let plain = decoded(segment);
    let is_word = |word: &str| {
        let letters = word.bytes().all(|byte| byte.is_ascii_lowercase());
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        (letters || digits) && word.len() <= WORD_CHARS_MAX
    };
    plain.len() < KEY_CHARS_MIN
        || plain.bytes().all(|byte| byte.is_ascii_digit())
        || is_uuid(&plain)
        || plain.split(['-', '_', '.', '~', ' ']).all(is_word)
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12])
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// Whether a value is, or holds, an address with something that a receipt does not keep.
fn hides_in_address(value: &str, scrubber: &Scrubber, depth: usize) -> bool {
    let Some(left) = depth.checked_sub(1) else {
        return value.contains("://") || value.contains('%');
    };
    let again = decoded(value);
    if *again != *value && hides_in_address(&again, scrubber, left) {
        return true;
    }
    if has_password(value) || names_secret(value, scrubber, left) {
        return true;
    }
    let addresses = value.match_indices("//").map(|(at, _)| &value[at + 2..]);
    let mut addresses = addresses.filter(|behind| !behind.is_empty());
    addresses.any(|behind| {
        let end = behind.find(['/', '?', '#', ' ', '"', '\'']);
        let (authority, rest) = behind.split_at(end.unwrap_or(behind.len()));
        if authority.contains('@') {
            return true;
        }
        let Ok(url) = Url::parse(&format!("https://h{rest}")) else {
            return false;
        };
        masked_path(url.path(), None, scrubber) != url.path()
            || url
                .query()
                .is_some_and(|query| masked_query_at(query, scrubber, left) != query)
    })
}

/// Whether a user with a password stands in front of an `@`: `ada:hunter2@proxy.example` is an address too.
fn has_password(value: &str) -> bool {
    let mut words = value.split(|c: char| " /\\\"',;=&?()<>".contains(c));
    words.any(|word| {
        let user = word.rsplit_once('@').map(|(user, _)| user);
        user.and_then(|user| user.split_once(':'))
            .is_some_and(|(name, _)| !BEFORE_ADDRESSES.contains(&name))
    })
}

/// Whether a value is a query, or a JSON document, in which a parameter has the name of a secret.
fn names_secret(value: &str, scrubber: &Scrubber, depth: usize) -> bool {
    if value.contains('=') {
        let query = value.split_once('?').map_or(value, |(_, query)| query);
        let query = query.split_once('#').map_or(query, |(query, _)| query);
        if masked_query_at(query, scrubber, depth) != query {
            return true;
        }
    }
    let quoted: Vec<&str> = value.split('"').collect();
    quoted.windows(2).any(|pair| {
        let is_name = pair[1].trim_start().starts_with(':');
        is_name && is_secret_name(pair[0])
    })
}

fn form_decoded(text: &str) -> String {
    decoded(&text.replace('+', " ")).into_owned()
}

fn decoded(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8_lossy()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubber() -> Scrubber {
        let mut scrubber = Scrubber::default();
        scrubber.learn([b"hunter2-hunter2".as_slice()]);
        scrubber
    }

    #[test]
    fn a_query_keeps_its_names_and_no_value_that_may_be_a_credential() {
        let scrubber = scrubber();
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
            assert_eq!(masked_query(query, &scrubber), expected, "{query}");
        }
    }

    #[test]
    fn an_address_within_a_query_has_no_user_and_no_credential() {
        let scrubber = scrubber();
        for (value, hidden) in [
            ("https://example.com/a/b?page=2", false),
            ("https%3A%2F%2Fexample.com%2Fa", false),
            ("https://user:pass@example.com/", true),
            ("https%3A%2F%2Fuser%3Apass%40example.com", true),
            ("https%253A%252F%252Fuser%253Apass%2540example.com", true),
            ("https://token@example.com", true),
            ("//user:pass@example.com", true),
            ("see+https://user:pass@example.com+there", true),
            ("https://example.com/?access_token=x", true),
            ("https://example.com/?to=https://u:p@example.org", true),
            ("https://example.com/hook/T0123456789abcdefghij", true),
            ("mail+user@example.com", false),
            ("ada:hunter2@proxy.example:8080", true),
            (r"https:\\ada:hunter2@example.com", true),
            ("from:ada@example.com", false),
            ("/next?page=2", false),
            ("/reset?token=x", true),
            ("user%3Dada%26password%3Dx", true),
            ("state%3Dopen%26sort%3Dasc", false),
            (r#"{"password":"x"}"#, true),
            (r#"{"name":"x"}"#, false),
        ] {
            let query = format!("url={value}");
            let expected = if hidden { "url=[redacted]" } else { &*query };
            assert_eq!(masked_query(&query, &scrubber), expected, "{value}");
        }
    }

    #[test]
    fn a_path_that_nothing_declares_shows_words_numbers_and_uuids() {
        let scrubber = scrubber();
        for (path, expected) in [
            ("/", "/"),
            ("/v1/messages/42/", "/v1/messages/42/"),
            (
                "/repos/octo/spoon-knife/issues",
                "/repos/octo/spoon-knife/issues",
            ),
            (
                "/things/1234567890123456789012",
                "/things/1234567890123456789012",
            ),
            (
                "/pages/01890a5d-ac96-774b-bcce-b302099a8057",
                "/pages/01890a5d-ac96-774b-bcce-b302099a8057",
            ),
            (
                "/bot123456:AAE-0a9b8c7d6e5f4g3h2i1/sendMessage",
                "/[redacted]/sendMessage",
            ),
            (
                "/services/T012/B034/AbCdEfGhIjKlMnOpQrStUvWx",
                "/services/T012/B034/[redacted]",
            ),
            (
                "/bot%31%323456%3AAAE0a9b8c7d6e5f4g3h2i1/getMe",
                "/[redacted]/getMe",
            ),
            (
                "/fetch/https://token@example.com/a",
                "/fetch/https://[redacted]/a",
            ),
            ("/fetch/user:pass@example.com/a", "/fetch/[redacted]/a"),
            (
                "/fetch/https%3A%2F%2Fu%3Ap%40example.com",
                "/fetch/[redacted]",
            ),
            ("/users/ada@example.com", "/users/ada@example.com"),
        ] {
            assert_eq!(masked_path(path, None, &scrubber), expected, "{path}");
        }
    }

    #[test]
    fn a_declared_path_shows_its_arguments_but_for_those_with_the_name_of_a_secret() {
        let scrubber = scrubber();
        let page = "0a9b8c7d6e5f4a3b2c1d0a9b8c7d6e5f";
        for (path, template, expected) in [
            (
                "/v1/pages/X/blocks",
                "/v1/pages/{page_id}/blocks",
                "/v1/pages/X/blocks",
            ),
            ("/api/v1/pages/X", "/v1/pages/{page_id}", "/api/v1/pages/X"),
            ("/v1/pages/X/", "/v1/pages/{page_id}", "/v1/pages/X/"),
            (
                "/botX/sendMessage",
                "/bot{token}/sendMessage",
                "/[redacted]/sendMessage",
            ),
            ("/hooks/X", "/hooks/{webhook_secret}", "/hooks/[redacted]"),
            ("/hooks/X", "/hooks/{+rest}", "/hooks/[redacted]"),
            ("/hooks/u:p@h", "/hooks/{id}", "/hooks/[redacted]"),
        ] {
            let [path, expected] = [path, expected].map(|text| text.replace('X', page));
            let shown = masked_path(&path, Some(template), &scrubber);
            assert_eq!(shown, expected, "{template}");
        }
    }
}
