//! What a dry run shows in place of a request.
//!
//! Everything is decided as for a real one, but nothing is resolved and no credential is opened:
//! where it would be written, the plan has `[slot NAME]`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::hop::Hop;
use super::scope::{CallScope, PlanDigest, PlanMarks};
use super::{EgressFailure, FailureKind, PlannedRequest, decide};
use toolgate_catalog::manifest::Placement;
use toolgate_catalog::mcp_calls::{SESSION_HEADER, VERSION_HEADER};

/// Longer bodies are shown by their size, and nobody is asked about such a request.
pub(crate) const PLANNED_BODY_BYTES_MAX: usize = 256 * 1024;

/// Notes the request in the scope; the failure is what the plugin gets instead of an answer.
pub(super) fn plan(scope: &CallScope, hop: &Hop, slot: Option<&str>) -> EgressFailure {
    if decide::is_of_session(scope, hop) {
        return EgressFailure::unsent(FailureKind::Cancelled, "dry run");
    }
    let planned = match planned(scope, hop, slot) {
        Ok(planned) => planned,
        Err(refused) => return refused,
    };
    let digest = digest(&planned, hop);
    let mut shown = scrubbed(scope, &planned);
    let masked = shown != planned;
    let is_cut = hop.body.len() > PLANNED_BODY_BYTES_MAX;
    if !is_cut && std::str::from_utf8(&hop.body).is_err() {
        let scrubbed = scope.scrub_bytes(hop.body.clone());
        shown.body_base64 = Some(STANDARD.encode(&scrubbed));
    }
    match scope.plan(shown, digest, PlanMarks { is_cut, masked }) {
        Ok(()) => EgressFailure::unsent(FailureKind::Cancelled, "dry run"),
        Err(exhausted) => exhausted,
    }
}

/// Refuses a request that differs from those that a person has approved.
pub(super) fn agreed(
    scope: &CallScope,
    hop: &Hop,
    slot: Option<&str>,
) -> Result<(), EgressFailure> {
    if !scope.has_required_plan() || decide::is_of_session(scope, hop) {
        return Ok(());
    }
    let planned = planned(scope, hop, slot)?;
    scope.agreed(&digest(&planned, hop))
}

fn digest(planned: &PlannedRequest, hop: &Hop) -> PlanDigest {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(planned.method.as_bytes());
    part(planned.url.as_bytes());
    for (name, value) in &planned.headers {
        part(name.as_bytes());
        part(value.as_bytes());
    }
    part(b"body");
    part(planned.body.as_bytes());
    part(&hop.body);
    hash.finalize().into()
}

/// The request as people may see it. The agent has chosen its texts, so that only whole values are removed.
fn scrubbed(scope: &CallScope, planned: &PlannedRequest) -> PlannedRequest {
    PlannedRequest {
        method: planned.method.clone(),
        url: scope.scrub_wholes(&planned.url),
        headers: planned
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), scope.scrub_wholes(value)))
            .collect(),
        body: scope.scrub_wholes(&planned.body),
        body_base64: None,
    }
}

/// The request with the slot's name in place of its credential.
fn planned(
    scope: &CallScope,
    hop: &Hop,
    slot: Option<&str>,
) -> Result<PlannedRequest, EgressFailure> {
    let failure = |kind, message: String| EgressFailure::unsent(kind, message);
    let mut headers: Vec<(String, String)> = hop
        .headers
        .iter()
        // The session in which a call is made, and its revision, are not known when it is planned.
        .filter(|(name, _)| {
            scope.described.is_none() || ![SESSION_HEADER, VERSION_HEADER].contains(&name.as_str())
        })
        .map(|(name, value)| (name.as_str().to_owned(), shown_header(value.as_bytes())))
        .collect();
    let mut url = hop.target.url.to_string();
    let mut body = match std::str::from_utf8(&hop.body) {
        Ok(text) if text.len() <= PLANNED_BODY_BYTES_MAX => text.to_owned(),
        _ => format!("[{} bytes]", hop.body.len()),
    };
    if let Some(slot) = slot {
        if !scope.credentials.connected(slot) {
            return Err(failure(
                FailureKind::AuthRequired,
                format!("slot `{slot}` is not connected"),
            ));
        }
        let mark = format!("[slot {slot}]");
        match scope.credentials.shape(slot) {
            None => headers.push(("authorization".into(), mark)),
            Some(shape) if !hop.target.origin.is_in(&shape.audience) => {
                let message = format!("slot `{slot}` may not be sent to {}", hop.target.origin);
                return Err(failure(FailureKind::Denied, message));
            }
            Some(shape) => {
                for placement in &shape.placements {
                    show(
                        placement,
                        &mark,
                        &hop.target.url,
                        &mut url,
                        &mut headers,
                        &mut body,
                    );
                }
            }
        }
    }
    Ok(PlannedRequest {
        method: hop.method.to_string(),
        url,
        headers,
        body,
        body_base64: None,
    })
}

/// A header as text; bytes that are none are escaped, so that two values never look the same.
fn shown_header(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => value.escape_ascii().to_string(),
    }
}

fn show(
    placement: &Placement,
    mark: &str,
    target: &Url,
    url: &mut String,
    headers: &mut Vec<(String, String)>,
    body: &mut String,
) {
    let mut header = |name: &str, value: String| {
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        headers.push((name.to_ascii_lowercase(), value));
    };
    match placement {
        Placement::Header {
            header: name,
            template,
        } => header(name, marked(template, mark)),
        Placement::Basic { .. } => header("authorization", format!("Basic {mark}")),
        Placement::AwsSigv4 { .. } => header("authorization", format!("AWS4-HMAC-SHA256 {mark}")),
        Placement::Query { query, template } => {
            let joint = if url.contains('?') { '&' } else { '?' };
            url.push_str(&format!("{joint}{query}={}", marked(template, mark)));
        }
        Placement::Path { path } => {
            let origin = target[..url::Position::BeforePath].len();
            url.insert_str(origin, marked(path, mark).trim_end_matches('/'));
        }
        Placement::Body {
            body: field,
            template,
        } => {
            let value = marked(template, mark);
            match serde_json::from_str::<serde_json::Value>(body) {
                Ok(serde_json::Value::Object(mut object)) => {
                    object.insert(field.clone(), value.into());
                    *body = serde_json::Value::Object(object).to_string();
                }
                _ => {
                    let joint = if body.is_empty() { "" } else { "&" };
                    body.push_str(&format!("{joint}{field}={value}"));
                }
            }
        }
    }
}

/// A template with every field shown as the slot.
fn marked(template: &str, mark: &str) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((_, behind)) = after.split_once('}') else {
            break;
        };
        out.push_str(before);
        out.push_str(mark);
        rest = behind;
    }
    out.push_str(rest);
    out
}
