//! What all requests share: the homeserver's address, errors, transaction ids.

use toolgate_sdk::http::problem;
use toolgate_sdk::prelude::*;

const DEFAULT_HOMESERVER: &str = "https://matrix-client.matrix.org";

pub fn matrix(cx: &Context) -> Result<Client<'_>, ToolError> {
    let base = cx.config::<String>("homeserver")?;
    let base = base.unwrap_or_else(|| DEFAULT_HOMESERVER.to_owned());
    let base = format!("{}/_matrix/client/v3", base.trim_end_matches('/'));
    Ok(cx.client(base).errors(problem_of))
}

/// The general rule, and the wait that a homeserver puts into the body.
fn problem_of(response: &Response) -> ToolError {
    let mut error = problem::from_response(response);
    let body = response.json().unwrap_or_default();
    if error.retry_after_ms.is_none() {
        error.retry_after_ms = body["retry_after_ms"].as_u64();
    }
    match error.code.as_deref() {
        Some("M_LIMIT_EXCEEDED") => error.kind = ErrorKind::RateLimited,
        Some("M_UNKNOWN_TOKEN" | "M_MISSING_TOKEN") => error.kind = ErrorKind::AuthExpired,
        Some("M_ROOM_IN_USE" | "M_USER_IN_USE") => error.kind = ErrorKind::Conflict,
        _ => {}
    }
    error
}

/// A transaction id, by which a homeserver recognises a repeated request.
pub fn transaction(cx: &Context) -> String {
    cx.random_bytes(16)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
