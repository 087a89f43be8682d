//! What a running call tells whoever waits for it, and how they take it back.
//!
//! A plugin may say how far it has come, and give parts of its result before the whole. Both are
//! bounded and scrubbed like everything a guest hands over, and dropped where nobody listens.

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::guest::{Guest, cut};
use super::limits;
use super::log::LineLevel;
use toolgate_core::json;

/// What a plugin tells while it runs.
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

/// Is given each event of a call, in order. It must not block.
pub type CallEventObserver = Arc<dyn Fn(CallEvent) + Send + Sync>;

/// Whoever waits for a call. By default nobody listens and nobody takes the call back.
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

/// What one call has told.
#[derive(Default)]
pub(super) struct Told {
    events: u32,
    partial_bytes: usize,
}

impl Guest {
    pub(super) fn tell_progress(&mut self, done: u64, total: Option<u64>, message: &str) {
        let of = total.map_or_else(String::new, |total| format!("/{total}"));
        self.log_line(LineLevel::Debug, &format!("progress {done}{of} {message}"));
        let Some(events) = self.listener.events.clone() else {
            return;
        };
        if self.may_tell() {
            let message = cut(
                &self.scope.scrub(message),
                limits::PROGRESS_MESSAGE_BYTES_MAX,
            );
            events(CallEvent::Progress {
                done,
                total,
                message,
            });
        }
    }

    pub(super) fn tell_partial(&mut self, data: String) {
        let Some(events) = self.listener.events.clone() else {
            return;
        };
        let bytes = self.told.partial_bytes.saturating_add(data.len());
        if bytes > limits::PARTIAL_BYTES_MAX {
            return;
        }
        self.told.partial_bytes = bytes;
        let text = self.scope.scrub_owned(data);
        let checked = json::check_levels(text.as_bytes(), limits::RESULT_DEPTH_MAX);
        match checked.map(|()| RawValue::from_string(text)) {
            Ok(Ok(data)) if self.may_tell() => events(CallEvent::Partial(data)),
            Ok(Ok(_)) => {}
            Ok(Err(_)) | Err(_) => {
                self.log_line(
                    LineLevel::Warn,
                    "a partial result was dropped: it is no JSON",
                );
            }
        }
    }

    /// Counts one event. What is beyond the bound is dropped: the result itself holds everything.
    fn may_tell(&mut self) -> bool {
        self.told.events = self.told.events.saturating_add(1);
        self.told.events <= limits::EVENTS_MAX
    }
}
