//! Requests that may write, written down before they leave.
//!
//! The receipt of a run whose tool may write, or whose next request is not a GET or HEAD, is on disk
//! before that request leaves and grows with each, so that it is there whatever becomes of this
//! process. Receipts of calls that run at the same time share a commit. What came back is only known
//! at the end. A request that cannot be written down does not leave.

use futures_util::future::BoxFuture;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::executions::payloads::PayloadSeals;
use crate::executions::writer::{ReceiptPending, Receipts};
use toolgate_core::text::Text;
use toolgate_egress::{Journal, JournalError, Payload, RequestRecord};
use toolgate_store::{ExecutionRow, SessionRow};

/// The values of a [`RequestRecord`] in the order of its fields. A new field has to be the last and have a
/// default: receipts that are kept do not have it.
#[derive(Serialize)]
struct RequestValues<'a>(
    &'a str,
    &'a str,
    &'a str,
    &'a str,
    Option<&'a str>,
    Option<u16>,
    u64,
    Option<&'a str>,
    u64,
    Option<u64>,
    u64,
    Option<&'a str>,
);

impl<'a> From<&'a RequestRecord> for RequestValues<'a> {
    fn from(record: &'a RequestRecord) -> Self {
        let RequestRecord {
            method,
            origin,
            host,
            path,
            query,
            status,
            bytes_out,
            body_sha256,
            bytes_in,
            started_ms,
            duration_ms,
            credential_slot,
        } = record;
        Self(
            method,
            origin,
            host,
            path,
            query.as_deref(),
            *status,
            *bytes_out,
            body_sha256.as_deref(),
            *bytes_in,
            *started_ms,
            *duration_ms,
            credential_slot.as_deref(),
        )
    }
}

/// Requests as a receipt keeps them: arrays of values in the order of the fields, because their names
/// would be half of the text.
pub(crate) fn requests_text(requests: &[RequestRecord]) -> Text {
    // Most calls of a plugin that computes send nothing.
    if requests.is_empty() {
        return "[]".into();
    }
    let all: Vec<_> = requests.iter().map(RequestValues::from).collect();
    serde_json::to_string(&all).map_or_else(|_| "[]".into(), Text::from)
}

/// Reads what [`requests_text`] wrote, and objects, as earlier versions wrote them.
pub(crate) fn requests_from_text(text: &str) -> serde_json::Result<Vec<RequestRecord>> {
    serde_json::from_str(text)
}

/// The receipt of one run while it runs.
pub(crate) struct RunJournal {
    receipts: Receipts,
    row: ExecutionRow,
    session: Option<SessionRow>,
    /// Present where the workspace keeps bodies.
    seals: Option<PayloadSeals>,
    left: Mutex<SentRequests>,
}

/// What has left so far.
struct SentRequests {
    requests: Vec<RequestRecord>,
    /// Whether one of them may have written, or may from the first on.
    may_write: bool,
}

impl RunJournal {
    /// `may_write`: whether the tool is declared to write. A request other than GET or HEAD is
    /// recorded first in either case.
    pub(crate) fn new(
        receipts: Receipts,
        (row, session): (ExecutionRow, Option<SessionRow>),
        seals: Option<PayloadSeals>,
        may_write: bool,
    ) -> Self {
        let requests = Vec::new();
        Self {
            receipts,
            row,
            session,
            seals,
            left: Mutex::new(SentRequests {
                requests,
                may_write,
            }),
        }
    }
}

impl Journal for RunJournal {
    fn leaving<'a>(
        &'a self,
        record: &'a RequestRecord,
        payload: Option<&'a Payload>,
    ) -> BoxFuture<'a, Result<(), JournalError>> {
        Box::pin(async move {
            // Held until the line is queued, so that a later receipt never lacks an earlier line;
            // requests of one call that leave together wait for the same commit.
            let mut left = self.left.lock().await;
            left.requests.push(record.clone());
            left.may_write |= !matches!(record.method.as_str(), "GET" | "HEAD");
            if !left.may_write {
                return Ok(());
            }
            let sealed = self.seals.as_ref().zip(payload);
            let row = ExecutionRow {
                requests: requests_text(&left.requests),
                payloads: sealed
                    .and_then(|(seals, payload)| seals.row(payload))
                    .into_iter()
                    .collect(),
                ..self.row.clone()
            };
            let receipt = Box::new((row, self.session.clone()));
            let queued = self.receipts.queue(receipt).await;
            drop(left);
            let written = match queued {
                Ok(queued) => queued.written().await,
                Err(ReceiptPending) => Err(ReceiptPending),
            };
            written.map_err(|ReceiptPending| JournalError)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_read_back_as_they_were_kept_by_this_version_and_by_earlier_ones() {
        let least = RequestRecord {
            method: "GET".into(),
            origin: String::new(),
            host: "api.example.com".into(),
            path: "/".into(),
            query: None,
            status: None,
            bytes_out: 0,
            body_sha256: None,
            bytes_in: 0,
            started_ms: None,
            duration_ms: 0,
            credential_slot: None,
        };
        let most = RequestRecord {
            origin: "https://api.example.com".into(),
            query: Some("page=2".into()),
            status: Some(200),
            bytes_out: 1,
            body_sha256: Some("ab".into()),
            bytes_in: 2,
            started_ms: Some(4),
            duration_ms: 3,
            credential_slot: Some("user".into()),
            ..least.clone()
        };
        let requests = vec![least, most];
        let kept = requests_text(&requests);
        assert!(!kept.contains("bytes_in"), "{kept}");
        assert_eq!(requests_from_text(&kept).unwrap(), requests);
        let before = serde_json::to_string(&requests).unwrap();
        assert_eq!(requests_from_text(&before).unwrap(), requests);
        assert!(requests_from_text("[[\"GET\"]]").is_err());
    }
}
