//! What an answer without a result says of the call.

use toolgate_mcp_wire::reply::{NoResult, RpcError};

use crate::elicitation;
use crate::fault::{CallFault, FaultKind};

/// Parameters are wrong (JSON-RPC 2.0, section 5.1).
const INVALID_PARAMS: i64 = -32602;
/// There is no such method.
const METHOD_NOT_FOUND: i64 = -32601;
/// The user has to open an address first (MCP 2025-11-25, URL elicitation).
const URL_ELICITATION_REQUIRED: i64 = -32042;
/// Errors that the MCP specification and JSON-RPC leave to servers begin here.
const SERVER_ERROR_MAX: i64 = -32000;
/// The version is not spoken, or a header does not fit the body (MCP 2026-07-28).
const PROTOCOL_ERRORS: std::ops::RangeInclusive<i64> = -32022..=-32020;
/// Longest wait that is handed on, in seconds: one day.
const RETRY_AFTER_S_MAX: u64 = 24 * 60 * 60;

impl CallFault {
    /// Of an answer without a result. `header` reads a header of it.
    pub fn of_answer(why: NoResult, header: &dyn Fn(&str) -> Option<String>) -> Self {
        match why {
            NoResult::Rpc { status, error } => {
                let refused = matches!(status, 401 | 403 | 429);
                let fault = match refused {
                    true => Self::of_status(status, header),
                    false => Self::of_rpc(error),
                };
                Self {
                    http_status: (status >= 300).then_some(status),
                    ..fault
                }
            }
            NoResult::Status(status) => Self::of_status(status, header),
            NoResult::NotMessage(what) => Self::new(
                FaultKind::Upstream,
                "not_mcp",
                format!("the server answered with {what}, which is no message of MCP"),
            ),
            NoResult::StreamCut => Self::new(
                FaultKind::Upstream,
                "stream_cut",
                "the server's event stream ended before its answer; the call may have been performed",
            ),
        }
    }

    fn of_rpc(error: RpcError) -> Self {
        let said = match error.message.trim() {
            "" => "the server gave no reason".to_owned(),
            message => message.to_owned(),
        };
        let code = error.code.to_string();
        match error.code {
            URL_ELICITATION_REQUIRED => elicitation::of_error(&error.data),
            INVALID_PARAMS => Self::new(FaultKind::InvalidArguments, &code, said),
            METHOD_NOT_FOUND => Self::new(FaultKind::NotFound, &code, said),
            number if PROTOCOL_ERRORS.contains(&number) => Self::new(
                FaultKind::Upstream,
                &code,
                format!(
                    "{said}: the server speaks another version of MCP than when the plugin was built; build it again"
                ),
            ),
            number if number <= SERVER_ERROR_MAX => Self::new(FaultKind::Upstream, &code, said),
            _ => Self::new(FaultKind::Upstream, &code, said),
        }
    }

    fn of_status(status: u16, header: &dyn Fn(&str) -> Option<String>) -> Self {
        let (kind, code, message) = match status {
            401 => (
                FaultKind::AuthExpired,
                "unauthorized",
                "the server refused the credential, or asks for one that the plugin does not have".to_owned(),
            ),
            403 => (
                FaultKind::PermissionDenied,
                "forbidden",
                match header("www-authenticate").and_then(|text| challenge_scope(&text)) {
                    Some(scopes) => format!("the server asks for more scopes: {scopes}"),
                    None => "the server does not allow this to the connected account".to_owned(),
                },
            ),
            404 | 410 => (
                FaultKind::NotFound,
                "no_endpoint",
                "the server has no MCP endpoint at this address".to_owned(),
            ),
            405 => (
                FaultKind::Upstream,
                "no_streamable_http",
                "the server takes no POST at this address: it may speak the HTTP+SSE transport of 2024-11-05 alone".to_owned(),
            ),
            429 => (
                FaultKind::RateLimited,
                "rate_limited",
                "the server received too many requests".to_owned(),
            ),
            502..=504 => (
                FaultKind::Unavailable,
                "unavailable",
                format!("the server is not available (status {status})"),
            ),
            _ => (
                FaultKind::Upstream,
                "http_status",
                format!("the server answered with status {status}"),
            ),
        };
        let wait = header("retry-after").and_then(|text| text.trim().parse::<u64>().ok());
        Self {
            http_status: Some(status),
            retry_after_ms: wait.map(|seconds| seconds.min(RETRY_AFTER_S_MAX) * 1_000),
            ..Self::new(kind, code, message)
        }
    }
}

/// `scope` of a challenge (RFC 6750, section 3).
fn challenge_scope(challenge: &str) -> Option<String> {
    let (_, behind) = challenge.split_once("scope=\"")?;
    let (scopes, _) = behind.split_once('"')?;
    let plain = scopes.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    (plain && !scopes.is_empty()).then(|| scopes.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn fault(why: NoResult, headers: &[(&str, &str)]) -> CallFault {
        let header = |name: &str| {
            let found = headers.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        CallFault::of_answer(why, &header)
    }

    #[test]
    fn each_failure_has_a_kind_and_a_code() {
        let rpc = |status, code| NoResult::Rpc {
            status,
            error: RpcError {
                code,
                message: "said so".to_owned(),
                data: Value::Null,
            },
        };
        for (why, kind, code) in [
            (rpc(200, -32602), FaultKind::InvalidArguments, "-32602"),
            (rpc(200, -32601), FaultKind::NotFound, "-32601"),
            (rpc(400, -32022), FaultKind::Upstream, "-32022"),
            (rpc(500, -32603), FaultKind::Upstream, "-32603"),
            (rpc(401, -32001), FaultKind::AuthExpired, "unauthorized"),
            (
                NoResult::Status(401),
                FaultKind::AuthExpired,
                "unauthorized",
            ),
            (NoResult::Status(404), FaultKind::NotFound, "no_endpoint"),
            (
                NoResult::Status(405),
                FaultKind::Upstream,
                "no_streamable_http",
            ),
            (NoResult::Status(503), FaultKind::Unavailable, "unavailable"),
            (NoResult::StreamCut, FaultKind::Upstream, "stream_cut"),
            (
                NoResult::NotMessage("x".to_owned()),
                FaultKind::Upstream,
                "not_mcp",
            ),
        ] {
            let found = fault(why.clone(), &[]);
            assert_eq!(
                (found.kind, found.code.as_deref()),
                (kind, Some(code)),
                "{why:?}"
            );
        }
    }

    #[test]
    fn missing_scopes_and_waits_are_named() {
        let challenge = r#"Bearer error="insufficient_scope", scope="notes:write admin""#;
        let found = fault(NoResult::Status(403), &[("www-authenticate", challenge)]);
        assert!(found.message.contains("notes:write admin"), "{found:?}");
        let busy = fault(NoResult::Status(429), &[("retry-after", "7")]);
        assert_eq!(busy.retry_after_ms, Some(7_000));
        let long = fault(NoResult::Status(429), &[("retry-after", "99999999999")]);
        assert_eq!(long.retry_after_ms, Some(RETRY_AFTER_S_MAX * 1_000));
    }
}
