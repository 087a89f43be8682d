//! What a plugin asked for becomes a request that may be sent: decided, cleaned, and decided again where a renewed
//! token names another address of the account (`instance_url`, `api_domain`).

use http::Method;
use http::header::{HeaderName, HeaderValue, RANGE};

use super::hop::Hop;
use super::scope::CallScope;
use super::{EgressFailure, FailureKind, GuestRequest, headers, policy};

/// The longest idempotency key that is passed on.
const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// The name under which an idempotency key travels (draft-ietf-httpapi-idempotency-key-header).
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Policy and cleaning of what the plugin asked for.
pub(super) fn first_hop(scope: &CallScope, request: &GuestRequest) -> Result<Hop, EgressFailure> {
    if matches!(request.method, Method::CONNECT | Method::TRACE) {
        return Err(denied(format!("method {} is not allowed", request.method)));
    }
    let target = policy::decide(
        &scope.grant,
        &scope.parameters(),
        &request.url,
        &request.query,
    )
    .map_err(|refusal| denied(refusal.to_string()))?;
    let mut headers = headers::outgoing(&request.headers, &scope.declared)
        .map_err(|refusal| denied(refusal.to_string()))?;
    if let Some(key) = &request.idempotency_key {
        let value = HeaderValue::from_str(key)
            .ok()
            .filter(|value| value.len() <= IDEMPOTENCY_KEY_BYTES_MAX);
        let value =
            value.ok_or_else(|| denied("the idempotency key is too long or no header text"))?;
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
    .map_err(|refusal| denied(refusal.to_string()))?;
    may_change(scope, hop)
}

/// Refuses what a reading call may not send, and what a described tool does not declare.
pub(super) fn may_change(scope: &CallScope, hop: &Hop) -> Result<(), EgressFailure> {
    if let Some(described) = &scope.described {
        described
            .check(&hop.method, &hop.target.url)
            .map_err(denied)?;
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
        .map_err(denied)
}

fn denied(message: impl Into<String>) -> EgressFailure {
    EgressFailure {
        kind: FailureKind::Denied,
        message: message.into(),
        sent: false,
    }
}
