//! What is written down of a request before it leaves.

use futures_util::future::BoxFuture;

use super::payload::Payload;
use super::{EgressFailure, FailureKind, RequestRecord};

/// Writes a request down before it leaves, where a crash must not hide that it did.
pub trait Journal: Send + Sync {
    /// The record as the receipt will have it, without what the answer adds. What cannot be written
    /// does not leave. `payload`: its body, where the workspace keeps it.
    fn leaving<'a>(
        &'a self,
        record: &'a RequestRecord,
        payload: Option<&'a Payload>,
    ) -> BoxFuture<'a, Result<(), JournalError>>;

    /// The line that was written last, with what the answer added; for requests of the host alone.
    fn answered(&self, record: &RequestRecord) {
        let _ = record;
    }
}

/// The journal did not take a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalError;

impl From<JournalError> for EgressFailure {
    fn from(JournalError: JournalError) -> Self {
        Self::unsent(
            FailureKind::Cancelled,
            "the request was not sent, because its receipt could not be written",
        )
    }
}
