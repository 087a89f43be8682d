//! Why a token endpoint issued no token, in the provider's own words.
//!
//! Pure. `error` and `error_description` of the standard have other names and places at many providers, and some
//! respond with a page. The words are shown to users and stored: they are one line, bounded, and left out where they
//! repeat a secret of the request or a token of the response.

use serde_json::Value;

use super::OAuthError;
use super::callback::error_code;
use toolgate_core::visible::is_hidden;
use toolgate_egress::Scrubber;

/// Characters of a provider's words that are kept.
pub const WORDS_CHARS_MAX: usize = 200;
/// How much of a page is searched for its title.
const PAGE_BYTES_MAX: usize = 16 * 1024;
/// Objects and lists inside an answer that are searched.
const DEPTH_MAX: usize = 3;

/// The gateway's registration is refused: RFC 6749, GitHub, Slack.
const CLIENT_CODES: &[&str] = &[
    "bad_client_id",
    "bad_client_secret",
    "incorrect_client_credentials",
    "invalid_client",
    "invalid_client_id",
    "unauthorized_client",
];
/// The server itself says that it cannot answer now (RFC 6749, section 4.1.2.1; RFC 8628; Slack).
const BUSY_CODES: &[&str] = &[
    "ratelimited",
    "server_error",
    "slow_down",
    "temporarily_unavailable",
];
/// Members with a code, best first.
const CODE_NAMES: &[&str] = &[
    "error",
    "code",
    "error_code",
    "errorCode",
    "errcode",
    "type",
    "error_type",
    "errorType",
    "status",
];
/// Members with a sentence, best first.
const TEXT_NAMES: &[&str] = &[
    "error_description",
    "errorDescription",
    "message",
    "error_message",
    "errorMessage",
    "errmsg",
    "msg",
    "detail",
    "details",
    "description",
    "error_summary",
    "summary",
    "title",
    "reason",
    "hint",
    "faultstring",
];
/// Members that contain the two above.
const PARTS: &[&str] = &[
    "error", "errors", "fault", "detail", "data", "meta", "response",
];
/// Which input an entry of a list of errors is about.
const SUBJECT_NAMES: &[&str] = &["resource", "field", "param", "parameter"];
/// Members that are never shown.
const TOKEN_WORDS: &[&str] = &["token", "secret", "jwt", "assertion", "password", "cookie"];

/// The error of a response without a token. `sent` are secrets of the request.
pub(crate) fn refusal(
    status: u16,
    answer: Option<&Value>,
    body: &[u8],
    place: Option<&str>,
    sent: &[&str],
) -> OAuthError {
    let code = answer.and_then(|answer| code(answer, place, sent));
    let known = |codes: &[&str]| code.as_deref().is_some_and(|code| codes.contains(&code));
    match status {
        429 | 500.. => return OAuthError::Busy(status),
        // The client may repeat the request (RFC 9110, section 15.5.9; RFC 8470).
        408 | 425 => return OAuthError::Busy(status),
        300..=399 => return OAuthError::Answer("it leads to another address"),
        _ if known(BUSY_CODES) => return OAuthError::Busy(status),
        _ => {}
    }
    let secrets = Secrets::collect(answer, sent);
    let words = match answer {
        Some(answer) => words(answer, place),
        None => page(body),
    };
    let words = words.and_then(|words| secrets.shown(&words));
    let said = match (code.as_deref(), words) {
        (Some(code), Some(words)) if words != code => format!("{code}: {words}"),
        (Some(code), _) => code.to_owned(),
        (None, Some(words)) => words,
        (None, None) => "provider_error".to_owned(),
    };
    match known(CLIENT_CODES) {
        true => OAuthError::Client(said),
        false => OAuthError::Refused(said),
    }
}

/// The provider's error code.
fn code(answer: &Value, place: Option<&str>, sent: &[&str]) -> Option<String> {
    let usable = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) if number.as_i64() != Some(0) => number.to_string(),
            _ => return None,
        };
        let code = error_code(&text, sent);
        // A text that the sentence repeats is not a code.
        (code == text).then_some(code)
    };
    let declared = place.and_then(|place| usable(answer.pointer(place)?));
    declared.or_else(|| {
        parts(answer)
            .into_iter()
            .find_map(|part| CODE_NAMES.iter().find_map(|name| usable(part.get(name)?)))
    })
}

/// The provider's sentence.
fn words(answer: &Value, place: Option<&str>) -> Option<String> {
    if let Some(Value::String(text)) = place.and_then(|place| answer.pointer(place)) {
        return Some(text.clone());
    }
    let text = |part: &Value, names: &[&str]| {
        names.iter().find_map(|name| match part.get(name)? {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            _ => None,
        })
    };
    let parts = parts(answer);
    let sentence = parts.iter().find_map(|part| match part {
        Value::String(text) => Some(text.clone()),
        part => text(part, TEXT_NAMES),
    });
    let sentence = sentence.or_else(|| text(answer, &["error"]));
    // Which input is meant: `RefreshToken refresh_token invalid`.
    let subject = parts.iter().find_map(|part| {
        let about: Vec<&str> = SUBJECT_NAMES
            .iter()
            .chain(&["code"])
            .filter_map(|name| part.get(name)?.as_str())
            .collect();
        (part.get("field").is_some() || part.get("param").is_some()).then(|| about.join(" "))
    });
    match (sentence, subject) {
        (Some(sentence), Some(subject)) => Some(format!("{sentence} ({subject})")),
        (sentence, subject) => sentence.or(subject),
    }
}

/// The response and the objects in it that may describe the error, from the outside in.
fn parts(answer: &Value) -> Vec<&Value> {
    let mut found = vec![answer];
    let mut from = 0;
    for _ in 0..DEPTH_MAX {
        let level: Vec<&Value> = found[from..].to_vec();
        from = found.len();
        for part in level {
            match part {
                Value::Object(members) => {
                    let inner = PARTS.iter().filter_map(|name| members.get(*name));
                    found.extend(inner.filter(|part| part.is_object() || part.is_array()));
                }
                Value::Array(items) => found.extend(items.first()),
                _ => {}
            }
        }
    }
    found
}

/// The title of a page, or a short text.
fn page(body: &[u8]) -> Option<String> {
    let body = String::from_utf8_lossy(&body[..body.len().min(PAGE_BYTES_MAX)]);
    let lower = body.to_ascii_lowercase();
    if let Some(open) = lower.find("<title") {
        let start = open + lower[open..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        return Some(body[start..end].to_owned());
    }
    let text = body.trim();
    let plain = !text.is_empty()
        && !text.starts_with(['<', '{', '['])
        && text.chars().count() <= WORDS_CHARS_MAX
        && !text.contains('\u{fffd}');
    plain.then(|| text.to_owned())
}

/// Secrets that no word may repeat.
struct Secrets {
    texts: Vec<String>,
    scrubber: Scrubber,
}

impl Secrets {
    fn collect(answer: Option<&Value>, sent: &[&str]) -> Self {
        let mut texts: Vec<String> = sent.iter().map(|text| (*text).to_owned()).collect();
        if let Some(answer) = answer {
            tokens(answer, &mut texts);
        }
        let mut scrubber = Scrubber::default();
        scrubber.learn(texts.iter().map(|text| text.as_bytes()));
        Self { texts, scrubber }
    }

    /// One line without hidden characters; `None` where it repeats a secret, or is empty.
    fn shown(&self, words: &str) -> Option<String> {
        let line: String = words
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .filter(|c| !is_hidden(*c))
            .collect();
        let line = line.split(' ').filter(|word| !word.is_empty());
        let line = line.collect::<Vec<_>>().join(" ");
        let repeats = self.scrubber.finds(line.as_bytes())
            || self
                .texts
                .iter()
                .any(|secret| secret.len() >= 4 && line.contains(secret.as_str()));
        let line: String = line.chars().take(WORDS_CHARS_MAX).collect();
        (!repeats && !line.is_empty()).then_some(line)
    }
}

/// Values of members with the name of a token.
fn tokens(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.to_ascii_lowercase();
                match member {
                    Value::String(text) if TOKEN_WORDS.iter().any(|word| name.contains(word)) => {
                        texts.push(text.clone());
                    }
                    member => tokens(member, texts),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| tokens(item, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(status: u16, body: &str) -> String {
        let answer = serde_json::from_str(body).ok();
        let sent = &["hunter2", "refresh-7f3a9c1e5b2d"];
        match refusal(status, answer.as_ref(), body.as_bytes(), None, sent) {
            OAuthError::Refused(said) => said,
            OAuthError::Client(said) => format!("client {said}"),
            OAuthError::Busy(status) => format!("busy {status}"),
            OAuthError::Answer(_) => "answer".to_owned(),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn the_providers_words_are_read_wherever_they_are() {
        for (status, body, expected) in [
            (
                400,
                r#"{"error":"invalid_grant","error_description":"Token has been expired or revoked."}"#,
                "invalid_grant: Token has been expired or revoked.",
            ),
            // Strava
            (
                400,
                r#"{"message":"Bad Request","errors":[{"resource":"RefreshToken","field":"refresh_token","code":"invalid"}]}"#,
                "invalid: Bad Request (RefreshToken refresh_token invalid)",
            ),
            // Meta
            (
                400,
                r#"{"error":{"message":"The session is invalid.","type":"OAuthException","code":190}}"#,
                "190: The session is invalid.",
            ),
            // Fitbit
            (
                400,
                r#"{"errors":[{"errorType":"invalid_grant","message":"Refresh token invalid"}],"success":false}"#,
                "invalid_grant: Refresh token invalid",
            ),
            // Slack
            (
                200,
                r#"{"ok":false,"error":"invalid_refresh_token"}"#,
                "invalid_refresh_token",
            ),
            // Feishu
            (
                200,
                r#"{"code":20026,"msg":"refresh token expired"}"#,
                "20026: refresh token expired",
            ),
            // TikTok
            (
                200,
                r#"{"error":"invalid_grant","error_description":"Authorization code is expired.","log_id":"2022"}"#,
                "invalid_grant: Authorization code is expired.",
            ),
            (401, r#"{"message":"Unauthorized"}"#, "Unauthorized"),
            (400, r#""plain words""#, "plain words"),
            (
                403,
                "<html><head><title>Access\ndenied</title></head>",
                "Access denied",
            ),
            (400, "Bad verification code", "Bad verification code"),
            (200, "{}", "provider_error"),
            (200, "", "provider_error"),
            (400, "[]", "provider_error"),
            (
                401,
                r#"{"error":"invalid_client","error_description":"Client unknown"}"#,
                "client invalid_client: Client unknown",
            ),
            (
                200,
                r#"{"ok":false,"error":"bad_client_secret"}"#,
                "client bad_client_secret",
            ),
            (429, r#"{"error":"invalid_grant"}"#, "busy 429"),
            (500, "<title>Oops</title>", "busy 500"),
            (503, r#"{"error":"invalid_grant"}"#, "busy 503"),
            (400, r#"{"error":"temporarily_unavailable"}"#, "busy 400"),
            (302, "", "answer"),
        ] {
            assert_eq!(said(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn words_are_bounded_and_repeat_no_secret() {
        let long = format!(r#"{{"message":"{}"}}"#, "x".repeat(10_000));
        assert_eq!(said(400, &long).chars().count(), WORDS_CHARS_MAX);
        for body in [
            r#"{"message":"the token refresh-7f3a9c1e5b2d is bad"}"#,
            r#"{"message":"wrong secret: hunter2"}"#,
            r#"{"error":"hunter2"}"#,
            r#"{"message":"tok-123456789","refresh_token":"tok-123456789"}"#,
            "the token refresh-7f3a9c1e5b2d is bad",
            "<title>refresh-7f3a9c1e5b2d</title>",
        ] {
            assert_eq!(said(400, body), "provider_error", "{body}");
        }
        assert_eq!(said(400, "{\"message\":\"a\\u202e b\\n\\tc\"}"), "a b c");
    }

    #[test]
    fn a_declared_place_counts_first() {
        let body = r#"{"error":"x","status":{"text":"token_expired"}}"#;
        let answer: Value = serde_json::from_str(body).unwrap();
        let refused = refusal(
            400,
            Some(&answer),
            body.as_bytes(),
            Some("/status/text"),
            &[],
        );
        assert_eq!(refused.to_string(), "the provider refused: token_expired");
    }
}
