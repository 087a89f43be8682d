//! What a plugin tells its caller while it runs: how far it has come, and parts of its result before the
//! whole. Both are bounded and scrubbed like everything a guest hands over, and dropped where nobody listens.

use serde_json::value::RawValue;

use super::{Guest, cut};
use crate::limits;
use crate::listener::CallEvent;
use crate::log::LineLevel;
use toolgate_core::json;

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
