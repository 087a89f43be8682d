//! The answer as the plugin may see it.
//!
//! Pure. Where a credential rode on the request, or could have, what comes back is decided by its form
//! before it is scrubbed: listed and declared headers, listed and declared media types, no part of an
//! answer that was not asked for in parts. A refusal of the credential itself (401, 403) is handed over
//! as the few fields in which providers say why, since its body may well repeat what was refused.

use std::borrow::Cow;
use std::time::SystemTime;

use http::header::{CONTENT_RANGE, CONTENT_TYPE, HeaderMap, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::charset::{self, DecodedText};
use super::content_type::ContentType;
use super::dial::ReceivedResponse;
use super::hop::Hop;
use super::scope::CallScope;
use super::scrub::SearchDepth;
use super::{EgressFailure, FailureKind, Injection, Response, follow, headers};
use toolgate_catalog::manifest::Placement;
use toolgate_catalog::wire;

/// Longest text of one field of a refusal, and how many fields and levels are read.
const REASON_CHARS_MAX: usize = 300;
const REASON_FIELDS_MAX: usize = 50;
const REASON_LEVELS_MAX: usize = 6;
/// A longer body says nothing that a reason needs.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

/// Where providers say why they refuse, in lower case and without `_`, `-` and `.`.
const REASON_FIELDS: &[&str] = &[
    "category",
    "cod",
    "code",
    "data",
    "description",
    "detail",
    "details",
    "developermessage",
    "domain",
    "ecode",
    "err",
    "errcode",
    "errmsg",
    "errno",
    "error",
    "errorcode",
    "errordescription",
    "errordetail",
    "errordetails",
    "errorid",
    "erroridentifier",
    "errorinfo",
    "errorkey",
    "errormessage",
    "errormessages",
    "errormsg",
    "errorname",
    "errors",
    "errorsubcode",
    "errorsummary",
    "errortag",
    "errortype",
    "errorusermsg",
    "exceptiondetail",
    "exceptiondetails",
    "exceptionmessage",
    "extensions",
    "fault",
    "faultcode",
    "faultstring",
    "field",
    "id",
    "info",
    "infomessage",
    "innererror",
    "longmessage",
    "message",
    "messages",
    "meta",
    "missingscope",
    "missingscopes",
    "moreinfo",
    "msg",
    "name",
    "needed",
    "object",
    "ok",
    "permission",
    "permissions",
    "provided",
    "reason",
    "reasons",
    "requestid",
    "requiredscope",
    "requiredscopes",
    "response",
    "responsecode",
    "scope",
    "scopes",
    "status",
    "statuscode",
    "statusmessage",
    "subcode",
    "success",
    "tag",
    "title",
    "type",
    "typekey",
    "usermessage",
    "validationerrors",
];

/// How an answer was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerTerms {
    /// The request asked for the start of it only.
    pub in_part: bool,
    /// It is kept as a file: its bytes stay in their charset.
    pub as_file: bool,
    pub bytes_max: usize,
    pub now: SystemTime,
}

/// What of an answer the plugin gets.
pub(super) fn shown(
    scope: &CallScope,
    hop: &Hop,
    injection: Option<&Injection>,
    terms: AnswerTerms,
    answer: ReceivedResponse,
) -> Result<Response, EgressFailure> {
    let in_part = terms.in_part;
    let declared = &scope.declared;
    let head = hop.method == Method::HEAD;
    let given = headers::incoming(&answer.headers, head, declared)
        .ok_or_else(|| refused(FailureKind::TooLarge, "the answer's headers are too large"))?;
    let origin = hop.target.origin.to_string();
    let guarded = !declared.is_open()
        && (injection.is_some() || scope.credentials.slot_for_origin(&origin).is_some());
    let mut body = answer.body;
    let content_type = ContentType::from_headers(&answer.headers);
    let mut written_type = None;
    let text = text(content_type.as_ref(), &body, terms.bytes_max);
    let mut decoded = None;
    match &text {
        // Nothing that is read out of a part says in which charset the rest of it is.
        _ if in_part => {}
        DecodedText::TooLarge if !terms.as_file => {
            let message = "the answer is larger than allowed";
            return Err(refused(FailureKind::TooLarge, message));
        }
        DecodedText::Decoded(text) if terms.as_file => decoded = Some(text.clone()),
        DecodedText::Decoded(text) => {
            body = text.clone();
            written_type = content_type.as_ref().map(ContentType::in_utf8);
        }
        DecodedText::Relabelled => written_type = content_type.as_ref().map(ContentType::in_utf8),
        DecodedText::AsItCame | DecodedText::NotRead | DecodedText::TooLarge => {}
    }
    if let Some(found) = content_type.as_ref().filter(|found| found.is_doubled()) {
        written_type.get_or_insert_with(|| found.in_one());
    }
    if guarded {
        if !in_part
            && (answer.status == StatusCode::PARTIAL_CONTENT.as_u16()
                || answer.headers.contains_key(CONTENT_RANGE))
        {
            return Err(refused(
                FailureKind::Protocol,
                "the provider answered with a part that was not asked for",
            ));
        }
        if matches!(answer.status, 401 | 403 | 407) {
            body = reasons(&body).into();
        } else if let Err(media) = readable(scope, content_type.as_ref(), &text, &body) {
            if answer.status < 400 {
                return Err(refused(
                    FailureKind::Protocol,
                    format!(
                        "the provider answered with {media}, which the plugin does not declare in `response_types`"
                    ),
                ));
            }
            body = bytes::Bytes::new();
        }
    }
    let wait = waiting(answer.status, &answer.headers, terms.now);
    // A server that never has the credential cannot repeat pieces of it. It can send guesses, and what is removed would
    // say which of them were right.
    let knows = guarded || declared.is_audience(&hop.target, &scope.parameters());
    let depth = match knows {
        true => SearchDepth::Pieces,
        false => SearchDepth::Wholes,
    };
    let scrubber = scope.scrubber();
    let is_clean = |text: &str| matches!(scrubber.text_to(depth, text), Cow::Borrowed(_));
    // A file keeps its bytes unless its text holds a secret.
    if let Some(text) = decoded {
        let clean = scrubber.bytes_to(depth, text.clone());
        if clean != text {
            body = clean;
            written_type = content_type.as_ref().map(ContentType::in_utf8);
        }
    }
    let replaced = |name: &str| {
        (written_type.is_some() && name == CONTENT_TYPE.as_str())
            || (wait.is_some() && name == RETRY_AFTER.as_str())
    };
    let written = written_type
        .clone()
        .map(|value| (CONTENT_TYPE.as_str().to_owned(), value))
        .into_iter()
        .chain(
            wait.clone()
                .map(|value| (RETRY_AFTER.as_str().to_owned(), value)),
        );
    let headers = given
        .into_iter()
        .filter(|(name, _)| !replaced(name))
        .chain(written)
        .filter(|(name, _)| !is_placement(injection, name) && is_clean(name))
        .filter(|(name, value)| name != WWW_AUTHENTICATE.as_str() || is_clean(value))
        .map(|(name, value)| (name, scrubber.text_to(depth, &value).into_owned()))
        .chain(
            (in_part && guarded)
                .then(|| content_range(&answer.headers))
                .flatten(),
        )
        .collect();
    Ok(Response {
        status: answer.status,
        headers,
        body: scrubber.bytes_to(depth, body),
        url: scrubber
            .text_to(depth, hop.target.url.as_str())
            .into_owned(),
    })
}

/// The text that a body is, by what its `Content-Type` says. A body without one is bytes.
fn text(content_type: Option<&ContentType>, body: &bytes::Bytes, bytes_max: usize) -> DecodedText {
    let Some(content_type) = content_type.filter(|_| !body.is_empty()) else {
        return DecodedText::AsItCame;
    };
    let media = content_type.media.first().map_or("", String::as_str);
    let label = content_type.charset.as_deref();
    if !wire::is_text(media) {
        // Of bytes that are no text a charset says nothing, but one that is not read is no good sign.
        return match charset::is_not_read(label) {
            true => DecodedText::NotRead,
            false => DecodedText::AsItCame,
        };
    }
    let json = media.ends_with("json");
    charset::decode(label, json, body, bytes_max)
}

/// Whether the body is of a media type that the plugin may read; else its name.
fn readable(
    scope: &CallScope,
    content_type: Option<&ContentType>,
    text: &DecodedText,
    body: &[u8],
) -> Result<(), String> {
    if body.is_empty() {
        return Ok(());
    }
    let manifest = scope.declared.manifest();
    let Some(content_type) = content_type else {
        let text = std::str::from_utf8(body).is_ok();
        let open = text || wire::may_read_type(manifest, "application/octet-stream");
        return match open {
            true => Ok(()),
            false => Err("bytes of no named type".to_owned()),
        };
    };
    if *text == DecodedText::NotRead {
        return Err("text in an encoding that is not read".to_owned());
    }
    if content_type.media.is_empty() {
        return Err("no valid media type".to_owned());
    }
    for media in &content_type.media {
        if !wire::may_read_type(manifest, media) {
            return Err(match wire::check_type(media).is_ok() {
                true => format!("`{media}`"),
                false => "no valid media type".to_owned(),
            });
        }
    }
    Ok(())
}

/// The `Retry-After` that a plugin gets: seconds, whichever way the server writes it.
fn waiting(status: u16, headers: &HeaderMap, now: SystemTime) -> Option<String> {
    let wait = match headers.get(RETRY_AFTER) {
        Some(value) => follow::wait(value.to_str().ok()?, now)?,
        None if status == StatusCode::TOO_MANY_REQUESTS.as_u16() => {
            follow::wait_for_limit(headers, now)?
        }
        None => return None,
    };
    Some(follow::in_seconds(wait))
}

/// Why a credential was refused, without the rest of the answer.
fn reasons(body: &[u8]) -> Vec<u8> {
    if body.len() > REFUSAL_BYTES_MAX {
        return Vec::new();
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return Vec::new();
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let mut left = REASON_FIELDS_MAX;
        return reason(&value, 0, &mut left)
            .map_or_else(Vec::new, |value| value.to_string().into());
    }
    if text.starts_with('<') {
        return match page_title(text) {
            Some(page) => page.into_bytes(),
            None => xml_reason(text).into_bytes(),
        };
    }
    cut(text).into_bytes()
}

fn reason(value: &Value, level: usize, left: &mut usize) -> Option<Value> {
    if level > REASON_LEVELS_MAX || *left == 0 {
        return None;
    }
    *left -= 1;
    Some(match value {
        Value::String(text) => Value::String(cut(text)),
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map_while(|item| reason(item, level + 1, left))
                .collect(),
        ),
        Value::Object(members) => {
            let mut kept = Map::new();
            for (key, member) in members {
                let plain: String = key
                    .chars()
                    .filter(|c| !matches!(c, '_' | '-' | '.'))
                    .map(|c| c.to_ascii_lowercase())
                    .collect();
                if REASON_FIELDS.contains(&plain.as_str())
                    && let Some(member) = reason(member, level + 1, left)
                {
                    kept.insert(key.clone(), member);
                }
            }
            Value::Object(kept)
        }
        other => other.clone(),
    })
}

/// Of an HTML page its title, in which it says what it is: a sign-in page, a block page.
fn page_title(text: &str) -> Option<String> {
    // ASCII letters alone change, so places in both are the same.
    let lower = text.to_ascii_lowercase();
    let page = lower.contains("<html") || lower.contains("<!doctype html");
    if !page {
        return None;
    }
    let title = || {
        let start = lower.find("<title")?;
        let open = start + lower[start..].find('>')? + 1;
        let inner = &text[open..open + lower[open..].find("</title")?];
        (!inner.contains(['<', '>'])).then(|| cut(inner))
    };
    Some(match title() {
        Some(title) => format!("<html><head><title>{title}</title></head></html>"),
        None => "<html></html>".to_owned(),
    })
}

/// Code and message of an XML answer; nothing else of it.
fn xml_reason(text: &str) -> String {
    let between = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (inner, _) = rest.split_once(&format!("</{name}>"))?;
        let plain = !inner.contains(['<', '>']);
        plain.then(|| format!("<{name}>{}</{name}>", cut(inner)))
    };
    let parts: Vec<String> = ["Code", "Message"]
        .into_iter()
        .filter_map(between)
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("<Error>{}</Error>", parts.concat()),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).collect()
}

/// `bytes 0-9/100`, where the plugin asked for the start of a file.
fn content_range(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(CONTENT_RANGE)?.to_str().ok()?;
    let plain = value.len() <= 64
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"bytes -/*".contains(&byte));
    plain.then(|| (CONTENT_RANGE.as_str().to_owned(), value.to_owned()))
}

fn is_placement(injection: Option<&Injection>, name: &str) -> bool {
    injection.is_some_and(|injection| {
        injection
            .placements
            .iter()
            .any(|placement| match placement {
                Placement::Header { header, .. } => header.eq_ignore_ascii_case(name),
                _ => false,
            })
    })
}

fn refused(kind: FailureKind, message: impl Into<String>) -> EgressFailure {
    EgressFailure {
        kind,
        message: message.into(),
        sent: true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_keeps_its_reason_and_nothing_else() {
        let long = "x".repeat(1_000);
        for (body, expected) in [
            (
                json!({"error": {"code": 403, "message": "no", "you_sent": "t0k"}, "echo": {"message": "t0k"}}),
                json!({"error": {"code": 403, "message": "no"}}),
            ),
            (
                json!({"errors": [{"reason": "insufficientPermissions", "header": "t0k"}]}),
                json!({"errors": [{"reason": "insufficientPermissions"}]}),
            ),
            (
                json!({"message": long}),
                json!({"message": "x".repeat(300)}),
            ),
            (
                json!({"errcode": "M_FORBIDDEN", "error_description": "no"}),
                json!({"errcode": "M_FORBIDDEN", "error_description": "no"}),
            ),
        ] {
            let read: Value =
                serde_json::from_slice(&reasons(body.to_string().as_bytes())).expect("JSON");
            assert_eq!(read, expected);
        }
        assert_eq!(reasons(b"<html>t0k</html>"), b"<html></html>");
        assert_eq!(
            reasons(b"<!DOCTYPE html><HTML><head><Title lang=en>Attention</Title><p>t0k"),
            b"<html><head><title>Attention</title></head></html>"
        );
        assert_eq!(
            reasons(b"<?xml?><Error><Code>AccessDenied</Code><Message>no</Message><Echo>t0k</Echo></Error>"),
            b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
        );
        assert_eq!(reasons(b"Forbidden"), b"Forbidden");
        assert_eq!(reasons(&[0xff, 0xfe]), b"");
        assert_eq!(reasons(&vec![b'a'; REFUSAL_BYTES_MAX + 1]), b"");
    }
}
