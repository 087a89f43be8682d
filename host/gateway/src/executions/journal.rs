//! Requests that may write, written down before they leave.
//!
//! The receipt of a run whose tool may write, or whose next request is no GET or HEAD, is on disk
//! before that request leaves and grows with each, so that it is there whatever becomes of this
//! process. Receipts of calls that run at the same time share a commit. What came back is only known
//! at the end. A request that cannot be written down does not leave.

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use crate::executions::payloads::PayloadSeals;
use crate::executions::writer::{ReceiptPending, Receipts};
use toolgate_core::text::Text;
use toolgate_egress::{Journal, JournalError, Payload, RequestRecord};
use toolgate_store::{ExecutionRow, SessionRow};

/// Requests as a receipt keeps them.
pub(crate) fn requests_text(requests: &[RequestRecord]) -> Text {
    // Most calls of a plugin that computes send nothing.
    if requests.is_empty() {
        return "[]".into();
    }
    serde_json::to_string(requests).map_or_else(|_| "[]".into(), Text::from)
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
