//! A live call written down as an example.
//!
//! The recording has what the plugin saw: requests before the credential was written into them,
//! responses after known secret values were removed. Data of the account in a response is recorded as
//! it was received, so the author has to read it before publishing it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::TestCall;
use super::example::{Example, ExpectedRequest, RecordedExchange, RecordedResponse};
use super::replay::kind;
use toolgate_egress::{CredentialChoice, ObservedExchange};
use toolgate_runtime::CallEnd;

/// Answer headers that plugins read; all others are left out.
const HEADERS_KEPT: &[&str] = &["content-type", "link", "location", "retry-after", "etag"];
/// Request headers that say nothing about the exchange.
const HEADERS_DROPPED: &[&str] = &["user-agent", "accept-encoding", "content-length"];

/// One exchange of a live call.
pub fn exchange(seen: ObservedExchange<'_>) -> RecordedExchange {
    let request = seen.request;
    let kept = |name: &str| !HEADERS_DROPPED.contains(&name.to_ascii_lowercase().as_str());
    RecordedExchange {
        request: ExpectedRequest {
            method: Some(request.method.to_string()),
            url: Some(seen.url.to_string()),
            query: BTreeMap::new(),
            auth: match &request.credential {
                CredentialChoice::Slot(slot) => Some(slot.clone()),
                CredentialChoice::Anonymous | CredentialChoice::ByAudience => None,
            },
            headers: request
                .headers
                .iter()
                .filter(|(name, _)| kept(name))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
                .collect(),
            body: text(&request.body),
        },
        response: RecordedResponse {
            status: seen.response.status,
            headers: seen
                .response
                .headers
                .iter()
                .filter(|(name, _)| HEADERS_KEPT.contains(&name.as_str()))
                .cloned()
                .collect(),
            body: text(&seen.response.body),
            failure: None,
        },
    }
}

/// The example of a call that ended; `None` where it has no outcome to compare with.
pub fn example(
    test_call: &TestCall,
    ended: &CallEnd,
    exchanges: Vec<RecordedExchange>,
) -> Option<Example> {
    let mut example = Example {
        tool: test_call.tool.clone(),
        source: "recording".to_owned(),
        note: "Recorded from the service; credentials were never in it.".to_owned(),
        arguments: Some(test_call.arguments.clone()),
        cursor: test_call.cursor.clone(),
        parameters: test_call.parameters.clone(),
        config: test_call.config.clone(),
        connected: test_call.connected.clone(),
        exchanges,
        ..Example::default()
    };
    match ended {
        CallEnd::Returned(output) => {
            example.result = Some(serde_json::from_str(output.data.get()).unwrap_or(Value::Null));
            example.next_cursor = output.next_cursor.clone();
        }
        CallEnd::Refused(refusal) => {
            let mut error = BTreeMap::from([("kind".to_owned(), Value::from(kind(refusal.kind)))]);
            if let Some(code) = &refusal.code {
                error.insert("code".to_owned(), code.as_str().into());
            }
            if let Some(status) = refusal.http_status {
                error.insert("http_status".to_owned(), status.into());
            }
            example.error = Some(error);
        }
        _ => return None,
    }
    Some(example)
}

/// JSON as JSON, other text as text, nothing as nothing.
fn text(body: &[u8]) -> Option<Value> {
    if body.is_empty() {
        return None;
    }
    let text = String::from_utf8_lossy(body);
    Some(serde_json::from_str(&text).unwrap_or_else(|_| Value::from(text.as_ref())))
}
