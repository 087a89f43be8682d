//! Why a credential was refused, as the few fields in which providers say so. The rest of such an answer may repeat
//! what was refused.

use serde_json::{Map, Value};

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

/// Why a credential was refused, without the rest of the answer.
pub(super) fn reasons(body: &[u8]) -> Vec<u8> {
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
