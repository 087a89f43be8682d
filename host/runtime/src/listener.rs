//! What a running call reports to its caller, and how the caller cancels it.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

/// What a plugin reports while it runs.
#[derive(Clone, Debug)]
pub enum CallEvent {
    Progress {
        done: u64,
        total: Option<u64>,
        message: String,
    },
    /// A part of the result: one JSON document.
    Partial(Box<RawValue>),
}

/// Receives each event of a call, in order. It must not block.
pub type CallEventObserver = Arc<dyn Fn(CallEvent) + Send + Sync>;

/// The caller of a call. By default it neither listens nor cancels.
#[derive(Clone, Default)]
pub struct CallListener {
    pub events: Option<CallEventObserver>,
    /// Cancelled once the caller does not want the result any more.
    pub cancelled: Option<CancellationToken>,
}

impl fmt::Debug for CallListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallListener")
            .field("events", &self.events.is_some())
            .field("cancelled", &self.is_cancelled())
            .finish()
    }
}

impl CallListener {
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
            .as_ref()
            .is_some_and(CancellationToken::is_cancelled)
    }
}

/// What one call has reported so far.
#[derive(Default)]
pub(super) struct EventCounts {
    pub(super) events: u32,
    pub(super) partial_bytes: usize,
}
