//! What the services of Google have in common: errors, pages, and ids in addresses.

use serde_json::{Value, json};

use super::problem;
use super::response::Response;
use crate::error::{ErrorKind, ToolError};

/// Google says 403 for a spent quota and for a missing permission; the reason tells them apart.
pub fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let body = response.json().unwrap_or_default();
    let reason = body
        .pointer("/error/errors/0/reason")
        .or_else(|| body.pointer("/error/details/0/reason"))
        .and_then(Value::as_str);
    let status = body.pointer("/error/status").and_then(Value::as_str);
    match reason {
        Some(
            "rateLimitExceeded" | "userRateLimitExceeded" | "quotaExceeded" | "RATE_LIMIT_EXCEEDED",
        ) => error.kind = ErrorKind::RateLimited,
        Some("insufficientPermissions" | "ACCESS_TOKEN_SCOPE_INSUFFICIENT") => {
            error.kind = ErrorKind::PermissionDenied;
        }
        _ => {}
    }
    if let Some(code) = reason.or(status) {
        error.code = Some(code.to_owned());
    }
    error
}

/// The token of the next page.
pub fn next_page(answer: &Value) -> Option<String> {
    let token = answer.get("nextPageToken")?.as_str()?;
    (!token.is_empty()).then(|| token.to_owned())
}

/// The id of a file from an id or from its address in a browser. `field` names the argument.
pub fn file_id(text: &str, field: &str) -> Result<String, ToolError> {
    let text = text.trim();
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    let mut segments = plain.split('/');
    let id = if !text.contains('/') {
        Some(text)
    } else if let Some(id) = super::response::query_value(text, "id") {
        Some(id)
    } else if segments.any(|segment| matches!(segment, "d" | "folders")) {
        segments.next()
    } else {
        None
    };
    let known = |id: &&str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        !id.is_empty() && id.chars().all(plain)
    };
    id.filter(known).map(str::to_owned).ok_or_else(|| {
        ToolError::invalid(
            format!("/{field}"),
            "expected an id, or the address of a file as the browser shows it",
        )
    })
}

/// `#rrggbb` as shares of 1, the way Google's documents take colours.
pub fn rgb(hex: &str) -> Option<Value> {
    let hex = hex.strip_prefix('#').filter(|hex| hex.len() == 6)?;
    let part = |from: usize| u8::from_str_radix(hex.get(from..from + 2)?, 16).ok();
    let share = |value: u8| (f64::from(value) / 255.0 * 1000.0).round() / 1000.0;
    let (red, green, blue) = (part(0)?, part(2)?, part(4)?);
    Some(json!({ "red": share(red), "green": share(green), "blue": share(blue) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_in_an_address() {
        for (text, id) in [
            ("1a2B-3_c", "1a2B-3_c"),
            (
                "https://docs.google.com/document/d/1a2B/edit?tab=t.0",
                "1a2B",
            ),
            (
                "https://docs.google.com/spreadsheets/d/1a2B/edit#gid=0",
                "1a2B",
            ),
            ("https://drive.google.com/file/d/1a2B", "1a2B"),
            ("https://drive.google.com/drive/u/0/folders/1a2B", "1a2B"),
            ("https://drive.google.com/open?id=1a2B", "1a2B"),
        ] {
            assert_eq!(file_id(text, "file").as_deref(), Ok(id), "{text}");
        }
        for text in ["", "my file", "https://example.com/x", "../x", "a?b"] {
            let error = file_id(text, "file").expect_err(text);
            assert_eq!(error.field.as_deref(), Some("/file"), "{text}");
        }
    }

    #[test]
    fn a_colour_is_three_shares() {
        assert_eq!(
            rgb("#ff0033"),
            Some(json!({ "red": 1.0, "green": 0.0, "blue": 0.2 }))
        );
        for wrong in ["ff0033", "#ff00", "#gg0000", "#ä0033"] {
            assert_eq!(rgb(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_spent_quota_is_told_from_a_missing_permission() {
        for (reason, kind) in [
            ("userRateLimitExceeded", ErrorKind::RateLimited),
            ("insufficientPermissions", ErrorKind::PermissionDenied),
            ("forbidden", ErrorKind::PermissionDenied),
        ] {
            let body = json!({ "error": { "code": 403, "message": "no", "errors": [{ "reason": reason }] } });
            let response = Response {
                status: 403,
                headers: Vec::new(),
                body: body.to_string().into_bytes(),
                stored: None,
                url: String::new(),
            };
            let error = problem_of(&response);
            assert_eq!((error.kind, error.code.as_deref()), (kind, Some(reason)));
        }
    }
}
