//! Telling a server of MCP that the caller has cancelled the call that it works on.
//!
//! In a session a closed connection is no cancellation (MCP 2025-11-25, "Transports"): the server is sent
//! `notifications/cancelled`. The host sends it, since the plugin waits for the answer meanwhile. Since 2026-07-28 closing
//! the stream is the cancellation, and nothing is sent.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use http::header::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::inject::Draft;
use super::inner::EgressInner;
use super::memory::AnswerMemory;
use super::scope::CallScope;
use super::wire::{Departure, DestinationClass};
use super::{EgressFailure, FailureKind, Origin, RequestRecord};
use toolgate_catalog::mcp_calls::SESSION_HEADER;

/// How long a server may take to accept the notification, of the time that the call has left.
const ACCEPTED_WITHIN: Duration = Duration::from_secs(3);
/// Largest answer to the notification, in bytes. The protocol has none.
const ANSWER_BYTES_MAX: usize = 16 << 10;
/// Longest id of a request that is repeated, in bytes.
const ID_BYTES_MAX: usize = 1 << 10;
const CALL: &str = "tools/call";
const REASON: &str = "the caller has cancelled the call";

/// The notification about one call, ready to leave with the credential of the call.
pub(super) struct CancelNotice {
    pub(super) draft: Draft,
    /// As the policy has decided it, also where another address is dialled.
    pub(super) origin: Origin,
    /// The operator named the origin, so that it may be private.
    pub(super) private: bool,
    pub(super) credential: bool,
    /// Its line in the receipt, without what its answer adds.
    pub(super) record: RequestRecord,
}

/// The notice about the call that a server works on; empty while there is none.
#[derive(Default)]
pub(super) struct CallUnderWay(Mutex<Option<CancelNotice>>);

impl CallUnderWay {
    pub(super) fn set(&self, notice: Option<CancelNotice>) {
        *self.slot() = notice;
    }

    pub(super) fn take(&self) -> Option<CancelNotice> {
        self.slot().take()
    }

    fn slot(&self) -> MutexGuard<'_, Option<CancelNotice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parts of a message that say which request it is.
#[derive(Deserialize)]
struct SentCall {
    method: String,
    id: Value,
}

/// The notification that cancels a request. `None`: the request is no call in a session.
pub(super) fn message(headers: &HeaderMap, body: &[u8]) -> Option<Bytes> {
    headers.get(SESSION_HEADER)?;
    let call: SentCall = serde_json::from_slice(body).ok()?;
    let is_id = match &call.id {
        Value::String(id) => id.len() <= ID_BYTES_MAX,
        Value::Number(_) => true,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    };
    let notification = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": call.id, "reason": REASON},
    });
    (call.method == CALL && is_id).then(|| notification.to_string().into())
}

impl CancelNotice {
    /// Sends it within the budget of the call, once. What the server makes of it is the server's matter.
    pub(super) async fn send(self, egress: &EgressInner, scope: &CallScope) {
        let Self {
            mut draft,
            origin,
            private,
            credential,
            mut record,
        } = self;
        if scope.take_request(draft.body.len()).is_err() {
            return;
        }
        record.started_ms = Some(scope.age_ms());
        if scope.leaving(&record, None).await.is_err() {
            return;
        }
        // Bodies of the call are numbered as its requests are. This one says nothing that is worth keeping.
        scope.next_number();
        let began = Instant::now();
        let departure = Departure {
            class: match private {
                true => DestinationClass::Operator,
                false => DestinationClass::Provider,
            },
            method: &Method::POST,
            origin: &origin,
            credential,
            resend: 0,
        };
        let wire = egress.depart(&departure, &mut draft.headers);
        let memory = AnswerMemory::default();
        let work = Box::pin(egress.dialler.exchange(
            draft,
            &origin.host,
            private,
            ANSWER_BYTES_MAX,
            &memory,
            |_, _, part| scope.take_bytes(part.len()),
        ));
        let deadline = scope.deadline.min(began + ACCEPTED_WITHIN);
        let answer = timeout_at(deadline, work)
            .await
            .unwrap_or_else(|_| Err(late()));
        wire.exchanged(&answer);
        match &answer {
            Ok(answer) => {
                record.status = Some(answer.status);
                record.bytes_in = answer.wire_bytes as u64;
            }
            Err(failure) if failure.sent => {}
            Err(_) => return,
        }
        record.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        scope.record(record);
    }
}

fn late() -> EgressFailure {
    EgressFailure {
        kind: FailureKind::Timeout,
        message: "the server did not accept the cancellation in time".to_owned(),
        sent: true,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn read(session: bool, body: &Value) -> Option<Value> {
        let session = session.then(|| (SESSION_HEADER, HeaderValue::from_static("s-1")));
        let headers = session
            .into_iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value));
        let headers: HeaderMap = headers.collect();
        let message = message(&headers, body.to_string().as_bytes())?;
        Some(serde_json::from_slice(&message).expect("JSON"))
    }

    fn call(id: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "method": CALL, "params": {"name": "walk"}})
    }

    #[test]
    fn a_call_in_a_session_is_cancelled_by_its_id() {
        for id in [json!("7f"), json!(7), json!("x".repeat(ID_BYTES_MAX))] {
            let message = read(true, &call(&id)).expect("a notification");
            assert_eq!(message["method"], "notifications/cancelled");
            assert_eq!(
                message["params"],
                json!({"requestId": id, "reason": REASON})
            );
            assert_eq!(message.get("id"), None, "a notification has no id");
        }
    }

    #[test]
    fn nothing_else_is_cancelled() {
        assert_eq!(read(false, &call(&json!("7f"))), None, "without a session");
        for id in [
            json!(null),
            json!(["7f"]),
            json!("x".repeat(ID_BYTES_MAX + 1)),
        ] {
            assert_eq!(read(true, &call(&id)), None);
        }
        for method in ["initialize", "ping", "notifications/initialized"] {
            let body = json!({"jsonrpc": "2.0", "id": "1", "method": method});
            assert_eq!(read(true, &body), None, "{method}");
        }
        assert_eq!(read(true, &json!([call(&json!("7f"))])), None, "a batch");
    }
}
