//! Responses of the token endpoint (RFC 6749, section 5).
//!
//! Pure. They are read as JSON and, for the servers that still send it, as a form. A response without a token is a
//! refusal with any status, and so is every 4xx; only 429 and 5xx are an outage. The parts of a response that are stored
//! in clear, scopes and connection parameters, contain nothing of its credentials, in any form.

use serde_json::{Map, Value};
use url::form_urlencoded;

use super::OAuthError;
use super::clear::CredentialTexts;
use super::lifetime::Lifetime;
use super::refusal::refusal;
use toolgate_catalog::is_scope;
use toolgate_catalog::manifest::TokenAnswer;
use toolgate_catalog::token_requests::folded;
use toolgate_vault::Secret;

/// A longer token is refused.
const TOKEN_BYTES_MAX: usize = 32 * 1024;
const SCOPES_MAX: usize = 500;
/// Types of token that need a proof of possession, which is not supported: RFC 9449 (DPoP), the MAC and PoP drafts.
/// Every other type is a bearer token: eBay sends `User Access Token`, Slack `bot`, Stripe none.
const PROVEN_TYPES: [&str; 3] = ["dpop", "mac", "pop"];
/// Members with the access token's lifetime or expiry, without `_` and in lower case, best first.
const LIFE_NAMES: &[&str] = &[
    "expiresin",
    "accesstokenexpiresin",
    "expirein",
    "expiresat",
    "accesstokenexpiresat",
    "expireson",
    "expires",
    "expiry",
    "expiration",
];
/// The same of the refresh token.
const REFRESH_LIFE_NAMES: &[&str] = &[
    "refreshtokenexpiresin",
    "xrefreshtokenexpiresin",
    "refreshexpiresin",
    "refreshtokenexpirein",
    "refreshtokenlifetime",
    "refreshtokenexpiresat",
    "refreshexpiresat",
    "refreshtokenexpireson",
    "refreshtokenexpires",
    "refreshtokenexpiry",
];
const SCOPE_NAMES: &[&str] = &["scope", "scopes", "grantedscopes"];

/// The tokens of a response.
#[derive(Debug)]
pub struct Tokens {
    pub access: Secret,
    /// `None`: the previous one stays valid.
    pub refresh: Option<Secret>,
    /// `None`: not known.
    pub lifetime: Option<Lifetime>,
    /// Of the refresh token. `None`: not known, or without expiry.
    pub refresh_lifetime: Option<Lifetime>,
    /// The granted scopes. `None`: the requested ones.
    pub scopes: Option<Vec<String>>,
    /// Of a sign-in with OpenID Connect.
    pub id_token: Option<Secret>,
    /// Values of the response at the requested JSON Pointers, in their order; only strings and numbers that share no
    /// text with a credential.
    pub read: Vec<Option<String>>,
}

/// How a response is read.
#[derive(Clone, Copy, Debug)]
pub struct AnswerReading<'a> {
    pub separator: &'a str,
    pub places: &'a TokenAnswer,
    /// Whether a token was refreshed: its account is known then.
    pub refresh: bool,
    /// What else is read, see [`Tokens::read`].
    pub pointers: &'a [&'a str],
    /// Secrets of the request, which no error may repeat.
    pub sent: &'a [&'a str],
}

/// Reads a response of the token endpoint.
pub fn answer(
    status: u16,
    content_type: &str,
    body: &[u8],
    reading: &AnswerReading<'_>,
) -> Result<Tokens, OAuthError> {
    let whole = document(content_type, body);
    let found = whole
        .as_ref()
        .filter(|_| (200..300).contains(&status))
        .and_then(|whole| token_in(whole, reading));
    let (Some(whole), Some(found)) = (&whole, found) else {
        let place = reading.places.error.as_deref();
        return Err(refusal(status, whole.as_ref(), body, place, reading.sent));
    };
    let FoundToken { token, beside, .. } = found;
    if !fits(token) {
        return Err(OAuthError::Answer(
            "the access token is too long or not printable",
        ));
    }
    if beside.get("token_type").is_some_and(needs_proof) {
        return Err(OAuthError::Answer("the token is not a bearer token"));
    }
    // Members that belong to a token in another place are not read.
    let declared = |pointer: &Option<String>| {
        let place = pointer.as_deref().filter(|_| found.as_declared)?;
        match whole.pointer(place).filter(|value| !value.is_null()) {
            None if reading.refresh => None,
            value => Some(value.unwrap_or(&Value::Null)),
        }
    };
    let places = reading.places;
    let refresh = match declared(&places.refresh_token) {
        Some(value) => value.as_str(),
        None => text(beside, "refreshtoken"),
    };
    let life = |pointer: &Option<String>, names: &[&str]| match declared(pointer) {
        Some(value) => Lifetime::read(value),
        None => names
            .iter()
            .find_map(|name| Lifetime::read(member(beside, name)?)),
    };
    let credentials = CredentialTexts::collect(whole, reading.sent);
    let scopes = match declared(&places.scope) {
        Some(value) => Some(value),
        None => SCOPE_NAMES.iter().find_map(|name| member(beside, name)),
    };
    let read = reading
        .pointers
        .iter()
        .map(|pointer| match whole.pointer(pointer)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .map(|read| read.filter(|text| !credentials.overlap(text)))
        .collect();
    Ok(Tokens {
        access: Secret::new(token),
        refresh: refresh
            .filter(|token| !token.is_empty() && fits(token))
            .map(Secret::new),
        lifetime: life(&places.expires_in, LIFE_NAMES),
        refresh_lifetime: life(&places.refresh_token_expires_in, REFRESH_LIFE_NAMES),
        scopes: scopes.and_then(|value| granted(value, reading.separator, &credentials)),
        id_token: text(beside, "idtoken").map(Secret::new),
        read,
    })
}

struct FoundToken<'v> {
    token: &'v str,
    /// The members of the object that contains it.
    beside: &'v Map<String, Value>,
    /// It is where the manifest says.
    as_declared: bool,
}

/// The access token. Values of two places are never mixed: a part of a response may belong to another user.
fn token_in<'v>(whole: &'v Value, reading: &AnswerReading<'_>) -> Option<FoundToken<'v>> {
    let at = |pointer: &str| {
        let token = whole.pointer(pointer)?.as_str()?;
        let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        let found = FoundToken {
            token,
            beside: whole.pointer(parent)?.as_object()?,
            as_declared: true,
        };
        (!token.is_empty()).then_some(found)
    };
    let standard = |as_declared| {
        let beside = whole.as_object()?;
        Some(FoundToken {
            token: text(beside, "accesstoken")?,
            beside,
            as_declared,
        })
    };
    let Some(places) = &reading.places.access_token else {
        return standard(true);
    };
    let declared = places.list().iter().find_map(|pointer| at(pointer));
    match reading.refresh {
        true => declared.or_else(|| standard(false)),
        false => declared,
    }
}

/// A member by its name without `_` and in lower case; the standard's own spelling first.
fn member<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let mut named = members
        .iter()
        .filter(|(key, value)| folded(key) == name && !value.is_null());
    let first = named.next()?;
    let snake = |key: &str| !key.bytes().any(|byte| byte.is_ascii_uppercase());
    match snake(first.0) {
        true => Some(first.1),
        false => Some(named.find(|(key, _)| snake(key)).unwrap_or(first).1),
    }
}

fn text<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    let text = member(members, name)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

/// `None`: not stated. An empty string or list means that nothing was granted.
fn granted(value: &Value, separator: &str, credentials: &CredentialTexts) -> Option<Vec<String>> {
    // Some servers receive spaces and respond with commas.
    let split = |text: &str| -> Vec<String> {
        text.split(|c: char| c.is_ascii_whitespace() || c == ',' || separator.contains(c))
            .map(str::to_owned)
            .collect()
    };
    let named: Vec<String> = match value {
        Value::String(text) => split(text),
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .flat_map(split)
            .collect(),
        _ => return None,
    };
    let mut scopes: Vec<String> = Vec::new();
    for scope in named {
        if is_scope(&scope) && !credentials.overlap(&scope) && !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes.truncate(SCOPES_MAX);
    Some(scopes)
}

fn needs_proof(kind: &Value) -> bool {
    let proven = |text: &str| {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| {
            PROVEN_TYPES
                .iter()
                .any(|known| word.eq_ignore_ascii_case(known))
        })
    };
    match kind {
        Value::String(word) => proven(word),
        Value::Array(words) => words.iter().any(needs_proof),
        _ => false,
    }
}

/// The characters that a header can carry.
fn fits(token: &str) -> bool {
    token.len() <= TOKEN_BYTES_MAX && token.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

fn document(content_type: &str, body: &[u8]) -> Option<Value> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if let Ok(value) = serde_json::from_slice(body) {
        return Some(value);
    }
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let form = kind.eq_ignore_ascii_case("application/x-www-form-urlencoded")
        || kind.eq_ignore_ascii_case("text/plain")
        || body.starts_with(b"access_token=");
    if !form || body.first() == Some(&b'<') || !body.contains(&b'=') {
        return None;
    }
    let members: Map<String, Value> = form_urlencoded::parse(body)
        .map(|(key, value)| (key.into_owned(), Value::String(value.into_owned())))
        .collect();
    Some(Value::Object(members))
}

#[cfg(test)]
mod tests;
