//! The answer as the plugin may see it.
//!
//! Pure. Where a credential rode on the request, or could have, what comes back is decided by its form
//! before it is scrubbed: listed and declared headers, listed and declared media types, no part of an
//! answer that was not asked for in parts. A refusal of the credential itself (401, 403) is handed over
//! as the few fields in which providers say why, since its body may well repeat what was refused.

use std::borrow::Cow;

use http::header::{CONTENT_RANGE, CONTENT_TYPE, HeaderMap, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::dial::ReceivedResponse;
use super::hop::Hop;
use super::scope::CallScope;
use super::scrub::SearchDepth;
use super::{EgressFailure, FailureKind, Injection, Response, headers};
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

/// Encodings of text in which ASCII looks like ASCII, by how their names begin.
const CHARSETS: &[&str] = &[
    "ascii",
    "big5",
    "euc-",
    "gb",
    "iso-8859-",
    "koi8",
    "latin1",
    "shift_jis",
    "us-ascii",
    "utf-16",
    "utf-8",
    "utf8",
    "windows-",
];

/// What of an answer the plugin gets. `in_part`: the request asked for the start of it only.
pub(super) fn shown(
    scope: &CallScope,
    hop: &Hop,
    injection: Option<&Injection>,
    in_part: bool,
    answer: ReceivedResponse,
) -> Result<Response, EgressFailure> {
    let declared = &scope.declared;
    let head = hop.method == Method::HEAD;
    let given = headers::incoming(&answer.headers, head, declared)
        .ok_or_else(|| refused(FailureKind::TooLarge, "the answer's headers are too large"))?;
    let origin = hop.target.origin.to_string();
    let guarded = !declared.is_open()
        && (injection.is_some() || scope.credentials.slot_for_origin(&origin).is_some());
    let mut body = answer.body;
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
        } else if let Err(media) = readable(scope, &answer.headers, &body) {
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
    // A server that never has the credential cannot repeat pieces of it. It can send guesses, and what is removed would
    // say which of them were right.
    let knows = guarded || declared.is_audience(&hop.target, &scope.parameters);
    let depth = match knows {
        true => SearchDepth::Pieces,
        false => SearchDepth::Wholes,
    };
    let scrubber = scope.scrubber();
    let is_clean = |text: &str| matches!(scrubber.text_to(depth, text), Cow::Borrowed(_));
    let headers = given
        .into_iter()
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

/// Whether the body is of a media type that the plugin may read; else its name.
fn readable(scope: &CallScope, headers: &HeaderMap, body: &[u8]) -> Result<(), String> {
    if body.is_empty() {
        return Ok(());
    }
    let manifest = scope.declared.manifest();
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        let text = std::str::from_utf8(body).is_ok();
        let open = text || wire::may_read_type(manifest, "application/octet-stream");
        return match open {
            true => Ok(()),
            false => Err("bytes of no named type".to_owned()),
        };
    };
    let kind = String::from_utf8_lossy(kind.as_bytes()).to_ascii_lowercase();
    let (media, parameters) = kind.split_once(';').unwrap_or((&kind, ""));
    let media = media.trim();
    let charset = parameters
        .split(';')
        .filter_map(|one| one.trim().strip_prefix("charset="))
        .map(|name| name.trim_matches(['"', '\'', ' ']));
    for name in charset {
        if !CHARSETS.iter().any(|known| name.starts_with(known)) {
            return Err("text in an encoding that is not read".to_owned());
        }
    }
    if wire::may_read_type(manifest, media) {
        return Ok(());
    }
    let plain = wire::check_type(media).is_ok();
    Err(match plain {
        true => format!("`{media}`"),
        false => "no valid media type".to_owned(),
    })
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
        return xml_reason(text).into_bytes();
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

/// Code and message of an XML answer; nothing of a page.
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
        assert_eq!(reasons(b"<html>t0k</html>"), b"");
        assert_eq!(
            reasons(b"<?xml?><Error><Code>AccessDenied</Code><Message>no</Message><Echo>t0k</Echo></Error>"),
            b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
        );
        assert_eq!(reasons(b"Forbidden"), b"Forbidden");
        assert_eq!(reasons(&[0xff, 0xfe]), b"");
        assert_eq!(reasons(&vec![b'a'; REFUSAL_BYTES_MAX + 1]), b"");
    }
}
