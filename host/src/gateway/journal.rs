//! Requests of a write that must not be sent twice, written down before they leave.
//!
//! The receipt of such a run is on disk before its first request leaves and grows with each, so that
//! whoever repeats it after a crash is told what left. What came back is only known at the end. A
//! request that cannot be written down does not leave.

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use super::execute::requests_text;
use super::receipt_writer::{Late, Receipts};
use crate::egress::{Journal, NotWritten, RequestRecord};
use crate::store::{ExecutionRow, Session};

/// The receipt of one run while it runs.
pub(super) struct RunJournal {
    receipts: Receipts,
    row: ExecutionRow,
    session: Session,
    /// Held while a line is written, so that a later receipt never lacks an earlier line.
    left: Mutex<Vec<RequestRecord>>,
}

impl RunJournal {
    pub(super) fn new(receipts: Receipts, (row, session): (ExecutionRow, Session)) -> Self {
        Self {
            receipts,
            row,
            session,
            left: Mutex::default(),
        }
    }
}

impl Journal for RunJournal {
    fn leaving<'a>(&'a self, record: &'a RequestRecord) -> BoxFuture<'a, Result<(), NotWritten>> {
        Box::pin(async move {
            let mut left = self.left.lock().await;
            left.push(record.clone());
            let row = ExecutionRow {
                requests: requests_text(&left),
                ..self.row.clone()
            };
            let receipt = Box::new((row, self.session.clone()));
            let kept = self.receipts.keep(receipt, true).await;
            kept.map_err(|Late| NotWritten)
        })
    }
}
