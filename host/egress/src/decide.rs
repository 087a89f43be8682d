//! What a plugin asked for becomes a request that may be sent: decided, cleaned, and decided again where a renewed
//! token names another address of the account (`instance_url`, `api_domain`).

use http::Method;
use http::header::{HeaderName, HeaderValue, RANGE};

use super::hop::Hop;
use super::scope::CallScope;
use super::{EgressFailure, GuestRequest, headers, policy};
use toolgate_catalog::mcp_calls::McpPost;

/// The longest idempotency key that is passed on.
const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// The name under which an idempotency key travels (draft-ietf-httpapi-idempotency-key-header).
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Policy and cleaning of what the plugin asked for.
pub(super) fn first_hop(scope: &CallScope, request: &GuestRequest) -> Result<Hop, EgressFailure> {
    if matches!(request.method, Method::CONNECT | Method::TRACE) {
        return Err(EgressFailure::denied(format!(
            "method {} is not allowed",
            request.method
        )));
    }
    let target = policy::decide(
        &scope.grant,
        &scope.parameters(),
        &request.url,
        &request.query,
    )
    .map_err(|refusal| EgressFailure::denied(refusal.to_string()))?;
    let mut headers = headers::outgoing(&request.headers, &scope.declared)
        .map_err(|refusal| EgressFailure::denied(refusal.to_string()))?;
    if let Some(key) = &request.idempotency_key {
        let value = HeaderValue::from_str(key)
            .ok()
            .filter(|value| value.len() <= IDEMPOTENCY_KEY_BYTES_MAX);
        let value = value.ok_or_else(|| {
            EgressFailure::denied("the idempotency key is too long or no header text")
        })?;
        headers.entry(IDEMPOTENCY_KEY).or_insert(value);
    }
    Ok(Hop {
        target,
        method: request.method.clone(),
        headers,
        body: request.body.clone(),
        range: request
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(RANGE.as_str()))
            .and_then(|(_, value)| start_of_file(value)),
    })
}

/// `bytes=0-N`.
fn start_of_file(value: &str) -> Option<HeaderValue> {
    let last = value.strip_prefix("bytes=0-")?;
    let number = !last.is_empty() && last.len() <= 18 && last.bytes().all(|b| b.is_ascii_digit());
    HeaderValue::from_str(value).ok().filter(|_| number)
}

/// Takes over the parameters of a renewed connection, and moves the request unless it has been redirected.
pub(super) fn follow_renewal(
    scope: &CallScope,
    request: &GuestRequest,
    redirected: bool,
    hop: &mut Hop,
) -> Result<(), EgressFailure> {
    let Some(parameters) = scope.credentials.moved() else {
        return Ok(());
    };
    scope.take_over(parameters);
    if redirected {
        return Ok(());
    }
    hop.target = policy::decide(
        &scope.grant,
        &scope.parameters(),
        &request.url,
        &request.query,
    )
    .map_err(|refusal| EgressFailure::denied(refusal.to_string()))?;
    may_change(scope, hop)
}

/// What a request to an MCP server is. `None`: the tool is not one of an MCP server.
fn mcp_post(scope: &CallScope, hop: &Hop) -> Option<Result<McpPost, String>> {
    let described = scope.described.as_ref()?;
    described.check_mcp(&hop.method, &hop.target.url, &hop.headers, &hop.body)
}

/// Whether a request only opens, keeps or ends a session, so that nobody is asked about it.
pub(super) fn is_of_session(scope: &CallScope, hop: &Hop) -> bool {
    mcp_post(scope, hop) == Some(Ok(McpPost::Session))
}

/// Refuses what a reading call may not send, and what a described tool does not declare.
pub(super) fn may_change(scope: &CallScope, hop: &Hop) -> Result<(), EgressFailure> {
    if let Some(decided) = mcp_post(scope, hop) {
        return decided.map(|_| ()).map_err(EgressFailure::denied);
    }
    if let Some(described) = &scope.described {
        described
            .check(&hop.method, &hop.target.url, &hop.headers, &hop.body)
            .map_err(EgressFailure::denied)?;
    }
    let Some(reading) = &scope.reading else {
        return Ok(());
    };
    reading
        .check(
            &hop.method,
            &hop.target.url,
            &hop.headers,
            &hop.body,
            scope.moved().as_deref(),
        )
        .map_err(EgressFailure::denied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_the_start_of_a_file_and_nothing_else() {
        for start in ["bytes=0-0", "bytes=0-1048575"] {
            assert_eq!(start_of_file(start).expect("a start"), start);
        }
        for other in [
            "bytes=1-9",
            "bytes=0-",
            "bytes=-9",
            "bytes=0-1,3-4",
            "bytes=0-a",
            "Bytes=0-9",
            "items=0-9",
            "bytes=0-9999999999999999999",
        ] {
            assert_eq!(start_of_file(other), None, "{other}");
        }
    }
}
