//! What an answer says of the credential that its request carried.
//!
//! Pure. Providers say that a token has ended with 401, with another status and a word, or with 200 and a word, and
//! that it lacks a scope in a header, a code or a sentence. What is read here decides whether a credential is renewed
//! and what its user is asked for; it never condemns one: that takes a second request, which the gateway makes.
//!
//! A word is compared whole with the texts at places where providers put error codes. Words that the slot's manifest
//! names count for any status but a redirect. The usual words for an expired token count for 400, 403 and 419, and those
//! for any credential that is not taken for a success that says `false` at `ok` or `success`.

use http::StatusCode;
use http::header::{HeaderMap, WWW_AUTHENTICATE};
use serde_json::Value;

use toolgate_catalog::manifest::{Manifest, Slot};

/// A longer body of a failure is not read.
const FAILURE_BYTES_MAX: usize = 64 * 1024;
/// A longer body of a success is not read: one that says that it failed is short.
const SUCCESS_BYTES_MAX: usize = 4 * 1024;
/// Scopes that one answer may name.
const SCOPES_MAX: usize = 50;

/// Where providers put the code of a failure.
const CODES: &[&str] = &[
    "/error",
    "/error/code",
    "/error/type",
    "/error/status",
    "/error/reason",
    "/error/message",
    "/error/error_subcode",
    "/error/errors/0/reason",
    "/error/details/0/reason",
    "/error/innerError/code",
    "/error_code",
    "/errorCode",
    "/error_description",
    "/errcode",
    "/err",
    "/errors/0",
    "/errors/0/code",
    "/errors/0/error",
    "/errors/0/errorCode",
    "/errors/0/error_code",
    "/errors/0/extensions/code",
    "/errors/0/message",
    "/errors/0/reason",
    "/errors/0/type",
    "/0/errorCode",
    "/0/code",
    "/__type",
    "/category",
    "/code",
    "/fault/code",
    "/fault/detail/errorcode",
    "/message",
    "/meta/error_type",
    "/name",
    "/reason",
    "/response_code",
    "/status",
    "/type",
];

/// The usual words for a token that has ended, in lower case without `_`, `-`, `.` and spaces.
const EXPIRED: &[&str] = &[
    "accesstokenexpired",
    "accesstokenhasexpired",
    "authtokenexpired",
    "expiredaccesstoken",
    "expiredauthenticationtoken",
    "expiredtoken",
    "expiredtokenexception",
    "oauthtokenexpired",
    "theaccesstokenexpired",
    "theaccesstokenhasexpired",
    "tokenexpired",
    "tokenhasexpired",
];

/// The usual words for a credential that is not taken, in the same form.
const NOT_TAKEN: &[&str] = &[
    "accountinactive",
    "authenticationerror",
    "authenticationfailed",
    "authenticationrequired",
    "autherror",
    "badcredentials",
    "invalidaccesstoken",
    "invalidapikey",
    "invalidauth",
    "invalidcredentials",
    "invalidtoken",
    "notauthed",
    "tokenrevoked",
    "unauthenticated",
    "unauthorized",
];

/// Codes of a token without a scope that the request needs, in the same form.
const SCOPE_MISSING: &[&str] = &[
    "accesstokenscopeinsufficient",
    "insufficientscope",
    "insufficientscopes",
    "missingscope",
    "missingscopes",
    "scopemissing",
];
/// Pieces of sentences that say it, in lower case.
const SCOPE_SENTENCES: &[&str] = &[
    "insufficient authentication scopes",
    "insufficient client scope",
    "scope does not match",
];
/// Where an answer names the scopes. `true`: one of them is enough.
const SCOPE_NAMES: &[(&str, bool)] = &[
    ("/needed", false),
    ("/required_scope", false),
    ("/required_scopes", false),
    ("/requiredScope", false),
    ("/requiredScopes", false),
    ("/missing_scope", false),
    ("/missing_scopes", false),
    ("/missingScopes", false),
    ("/errors/0/context/requiredGranularScopes", true),
    ("/errors/0/context/requiredScopes", true),
    ("/scope", true),
    ("/scopes", true),
];

/// What an answer says of the credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialVerdict {
    /// The provider did what was asked.
    Accepted,
    /// The provider does not take the credential. `performed_nothing`: status 401 or a word that the manifest names
    /// says so, and the same request may be sent again whatever it changes.
    Refused { performed_nothing: bool },
    /// The credential is good and lacks a right.
    ScopeMissing(MissingScopes),
    /// Another failure, which says nothing of the credential.
    Unclear,
}

/// The scopes that an answer asks for; none where it names none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingScopes {
    pub names: Vec<String>,
    /// Each of them alone is enough.
    pub any_of: bool,
}

impl CredentialVerdict {
    /// Judges an answer to a request that carried the credential of `slot`.
    pub(super) fn new(
        manifest: Option<&Manifest>,
        slot: &str,
        status: u16,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let slot = manifest.and_then(|manifest| manifest.auth.iter().find(|one| one.slot == slot));
        let failed = status >= 400;
        if (300..400).contains(&status) || status < 200 {
            return Self::Unclear;
        }
        let body = JudgedBody::read(status, body, slot);
        if let Some(missing) = missing_scopes(manifest, slot, status, headers, &body) {
            return Self::ScopeMissing(missing);
        }
        let named = slot.is_some_and(|slot| {
            let mut words = slot.expired.iter();
            words.any(|word| body.says(word) || (failed && *word == status.to_string()))
        });
        let unauthorized = status == StatusCode::UNAUTHORIZED.as_u16();
        if named || unauthorized {
            return Self::Refused {
                performed_nothing: true,
            };
        }
        let usual = match status {
            400 | 403 | 419 => {
                challenge(headers, "invalid_token").is_some() || body.is_one_of(&[EXPIRED])
            }
            200..=299 => body.says_no() && body.is_one_of(&[EXPIRED, NOT_TAKEN]),
            _ => false,
        };
        match usual {
            true => Self::Refused {
                performed_nothing: false,
            },
            false if failed || body.says_no() => Self::Unclear,
            false => Self::Accepted,
        }
    }
}

/// The part of a body that error codes are read from.
struct JudgedBody {
    json: Value,
    text: String,
}

impl JudgedBody {
    fn read(status: u16, body: &[u8], slot: Option<&Slot>) -> Self {
        let failed = status >= 400;
        let bytes_max = match failed {
            true => FAILURE_BYTES_MAX,
            false => SUCCESS_BYTES_MAX,
        };
        // Nearly every success says nothing of the kind, and is not parsed.
        let declared = slot.is_some_and(|slot| !slot.expired.is_empty());
        let no = || body.windows(5).any(|five| five == b"false");
        let read = body.len() <= bytes_max && (failed || declared || no());
        let text = match read {
            true => String::from_utf8_lossy(body).into_owned(),
            false => String::new(),
        };
        Self {
            json: serde_json::from_str(&text).unwrap_or_default(),
            text,
        }
    }

    fn codes(&self) -> impl Iterator<Item = String> + '_ {
        let texts = CODES.iter().filter_map(|pointer| {
            Some(match self.json.pointer(pointer)? {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return None,
            })
        });
        // `com.example#ExpiredTokenException` names the type behind the sign.
        texts.map(|text| match text.rsplit_once('#') {
            Some((_, name)) => name.to_owned(),
            None => text,
        })
    }

    fn says(&self, word: &str) -> bool {
        self.codes().any(|code| code.trim() == word)
            || self.text.trim() == word
            || self.text.contains(&format!("<Code>{word}</Code>"))
    }

    fn is_one_of(&self, words: &[&[&str]]) -> bool {
        let listed = |text: &str| {
            words
                .iter()
                .any(|list| list.contains(&plain(text).as_str()))
        };
        self.codes().any(|code| listed(&code)) || listed(&self.text)
    }

    /// A success that says that it failed.
    fn says_no(&self) -> bool {
        let no = Some(&Value::Bool(false));
        ["/ok", "/success"]
            .map(|at| self.json.pointer(at))
            .contains(&no)
    }
}

/// A word without what providers write differently.
fn plain(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    // A long text is no word.
    let bytes = text.bytes().take(100);
    let kept = bytes.filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' '));
    kept.map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}

/// The challenge with this `error` (RFC 6750, section 3).
fn challenge<'a>(headers: &'a HeaderMap, error: &str) -> Option<&'a str> {
    let values = headers.get_all(WWW_AUTHENTICATE).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .find(|text| parameter(text, "error").is_some_and(|said| said == error))
}

/// A parameter of a challenge, quoted or not.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(at) = challenge[from..].find(name) {
        let (start, end) = (from + at, from + at + name.len());
        let alone = challenge[..start].ends_with([' ', ',', '\t']);
        if let Some(value) = challenge[end..].strip_prefix('=').filter(|_| alone) {
            return match value.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next(),
                None => value.split([',', ' ']).next(),
            };
        }
        from = end;
    }
    None
}

fn missing_scopes(
    manifest: Option<&Manifest>,
    slot: Option<&Slot>,
    status: u16,
    headers: &HeaderMap,
    body: &JudgedBody,
) -> Option<MissingScopes> {
    if let Some(challenge) = challenge(headers, "insufficient_scope") {
        return Some(MissingScopes {
            names: names(parameter(challenge, "scope").unwrap_or_default()),
            any_of: false,
        });
    }
    if let Some(missing) = accepted_scopes(status, headers) {
        return Some(missing);
    }
    let may_say = matches!(status, 400 | 401 | 403) || (status < 300 && body.says_no());
    if !may_say || body.text.is_empty() {
        return None;
    }
    let lower = body.text.to_lowercase();
    let coded = body
        .codes()
        .any(|code| SCOPE_MISSING.contains(&plain(&code).as_str()))
        || lower.contains("access_token_scope_insufficient");
    let said = coded || SCOPE_SENTENCES.iter().any(|piece| lower.contains(piece));
    if said {
        let listed = SCOPE_NAMES.iter().find_map(|(pointer, any_of)| {
            let names = listed(body.json.pointer(pointer)?);
            (!names.is_empty()).then_some(MissingScopes {
                names,
                any_of: *any_of,
            })
        });
        if listed.is_some() {
            return listed;
        }
    }
    let denied = matches!(status, 401 | 403) && lower.contains("scope");
    if !said && !denied {
        return None;
    }
    // A sentence names scopes among others of its words: only those that the manifest declares are read.
    let names: Vec<String> = declared(manifest?, slot?)
        .filter(|scope| has_word(&body.text, scope))
        .take(SCOPES_MAX)
        .map(str::to_owned)
        .collect();
    (said || !names.is_empty()).then_some(MissingScopes {
        names,
        any_of: true,
    })
}

/// A 403 of a service that lists the scopes that it would have taken beside those that the token has.
fn accepted_scopes(status: u16, headers: &HeaderMap) -> Option<MissingScopes> {
    if status != StatusCode::FORBIDDEN.as_u16() {
        return None;
    }
    let list = |name: &str| Some(names(headers.get(name)?.to_str().ok()?));
    let (accepted, has) = (list("x-accepted-oauth-scopes")?, list("x-oauth-scopes")?);
    let lacks = !accepted.is_empty() && !accepted.iter().any(|scope| has.contains(scope));
    lacks.then_some(MissingScopes {
        names: accepted,
        any_of: true,
    })
}

fn names(text: &str) -> Vec<String> {
    let words = text
        .split([' ', ','])
        .filter(|word| toolgate_catalog::is_scope(word));
    words.take(SCOPES_MAX).map(str::to_owned).collect()
}

fn listed(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => names(text),
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .filter(|scope| toolgate_catalog::is_scope(scope))
            .take(SCOPES_MAX)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

fn declared<'a>(manifest: &'a Manifest, slot: &'a Slot) -> impl Iterator<Item = &'a str> {
    let tools = manifest
        .tools
        .iter()
        .filter(|tool| tool.auth.contains(&slot.slot));
    let scopes = slot
        .scopes
        .iter()
        .chain(tools.flat_map(|tool| &tool.scopes));
    let mut seen = std::collections::BTreeSet::new();
    scopes
        .map(String::as_str)
        .filter(move |scope| seen.insert(*scope))
}

/// Whether `word` is in the text, with no letter or digit of a longer scope beside it.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_ascii_alphanumeric() || "_:./-".contains(c);
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + word.len()..].chars();
        // A full stop or colon may end the sentence or introduce it.
        let next = after.next().filter(|c| inside(*c));
        let longer = match next {
            Some('.' | ':') => after.next().is_some_and(|c| c.is_ascii_alphanumeric()),
            Some(_) => true,
            None => false,
        };
        !before.is_some_and(inside) && !longer
    })
}

#[cfg(test)]
mod tests;
