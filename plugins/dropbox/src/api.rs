//! What all requests share: two addresses, arguments in a header, errors, paths.

use std::fmt::Write as _;

use toolgate_sdk::http::{Request, problem};
use toolgate_sdk::prelude::*;

/// Calls an endpoint whose arguments and answer are JSON.
pub fn rpc(cx: &Context, endpoint: &'static str, arguments: &Value) -> Result<Value, ToolError> {
    let client = cx.client("https://api.dropboxapi.com/2").errors(problem_of);
    client.post(endpoint).json(arguments).fetch()
}

/// A request with its arguments in a header, for what carries content.
pub fn content(cx: &Context, endpoint: &'static str, arguments: &Value) -> Request<'static> {
    let client = cx
        .client("https://content.dropboxapi.com/2")
        .errors(problem_of);
    client
        .post(endpoint)
        .header("dropbox-api-arg", ascii(arguments))
}

/// JSON of plain ASCII, as a header can carry it (docs: content-upload endpoints).
fn ascii(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        if (' '..='~').contains(&c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}").expect("writing to a string succeeds");
        }
    }
    out
}

/// 409 says only that the endpoint has an error of its own; the summary names it.
fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let body = response.json().unwrap_or_default();
    let Some(summary) = body["error_summary"].as_str() else {
        return error;
    };
    // The service appends dots so that nobody compares the whole.
    let summary = summary.trim_end_matches('.').trim_end_matches('/');
    let has = |word: &str| summary.contains(word);
    error.kind = match response.status {
        401 if has("missing_scope") => ErrorKind::PermissionDenied,
        409 if has("not_found") || has("not_file") || has("not_folder") => ErrorKind::NotFound,
        409 if has("conflict") || has("already_exists") => ErrorKind::Conflict,
        409 if has("too_many_") => ErrorKind::RateLimited,
        409 if has("insufficient_space") || has("too_large") => ErrorKind::TooLarge,
        409 if has("permission") || has("access") || has("restricted") => {
            ErrorKind::PermissionDenied
        }
        409 => ErrorKind::InvalidArguments,
        _ => error.kind,
    };
    error.message = match body["user_message"]["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!(
            "Dropbox says {}",
            summary.replace('/', ", ").replace('_', " ")
        ),
    };
    if let Some(scope) = body["error"]["required_scope"].as_str() {
        error.message = format!("the connection lacks the permission {scope}");
    }
    if let Some(seconds) = body["error"]["retry_after"].as_u64() {
        error.retry_after_ms = Some(seconds * 1000);
    }
    error.code = Some(summary.to_owned());
    error
}

/// A path as Dropbox takes it: the top is empty, everything else begins with a slash or is an id.
pub fn path(text: &str, field: &str) -> Result<String, ToolError> {
    let text = text.trim();
    if ["id:", "rev:", "ns:"]
        .iter()
        .any(|mark| text.starts_with(mark))
    {
        return Ok(text.to_owned());
    }
    let plain = text.trim_matches('/');
    if plain.split('/').any(|part| part == "." || part == "..") {
        let text = "a path has no `.` or `..`";
        return Err(ToolError::invalid(format!("/{field}"), text));
    }
    Ok(if plain.is_empty() {
        String::new()
    } else {
        format!("/{plain}")
    })
}

/// The path of something below the top.
pub fn below(text: &str, field: &str) -> Result<String, ToolError> {
    let path = path(text, field)?;
    if path.is_empty() {
        let text =
            "the top of the Dropbox is not meant here; give a path such as `/Reports/may.pdf`";
        return Err(ToolError::invalid(format!("/{field}"), text));
    }
    Ok(path)
}

/// A file or folder as tools answer it.
pub fn shown(metadata: &Value) -> Value {
    pick(
        metadata,
        &[
            "kind=.tag",
            "name",
            "path=path_display",
            "id",
            "bytes=size",
            "modified=server_modified",
            "rev",
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_plain_ascii() {
        let value = json!({ "path": "/Grüße \u{7f} 😀\n" });
        assert_eq!(
            ascii(&value),
            r#"{"path":"/Gr\u00fc\u00dfe \u007f \ud83d\ude00\n"}"#
        );
    }

    #[test]
    fn paths_are_written_dropboxs_way() {
        for (text, expected) in [
            ("/", ""),
            ("", ""),
            ("Reports/", "/Reports"),
            ("/Reports/may.pdf", "/Reports/may.pdf"),
            ("id:a4ayc_80_OEAAAAAAAAAXw", "id:a4ayc_80_OEAAAAAAAAAXw"),
        ] {
            assert_eq!(path(text, "path").as_deref(), Ok(expected), "{text}");
        }
        assert!(path("/a/../b", "path").is_err());
        assert!(below("/", "path").is_err());
    }
}
