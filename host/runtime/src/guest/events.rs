//! What a plugin reports to its caller while it runs: progress, and parts of its result before the whole.
//! Both are bounded, and dropped where the caller does not listen.

use std::sync::atomic::{AtomicU32, Ordering};

use super::Guest;
use crate::limits;
use crate::log::LineLevel;
use crate::returned;
use toolgate_egress::{EgressFailure, GuestRequest, Response, ServerProgress};

impl Guest {
    pub(super) fn report_progress(&mut self, done: u64, total: Option<u64>, message: &str) {
        let of = total.map_or_else(String::new, |total| format!("/{total}"));
        self.log_line(LineLevel::Debug, &format!("progress {done}{of} {message}"));
        let Some(observer) = self.listener.events.clone() else {
            return;
        };
        if self.may_report() {
            observer(returned::progress(&self.scope, done, total, message));
        }
    }

    /// Sends a request. Where it asks an MCP server for progress, what the server reports reaches the caller while the
    /// answer arrives, within the limits of what the plugin itself reports.
    pub(crate) async fn send_reporting(
        &mut self,
        request: GuestRequest,
    ) -> Result<Response, EgressFailure> {
        let Some(observer) = self.listener.events.clone() else {
            return self.egress.send(&self.scope, request).await;
        };
        let (egress, scope) = (self.egress.clone(), self.scope.clone());
        let left = limits::EVENTS_MAX.saturating_sub(self.event_counts.events);
        let reported = AtomicU32::new(0);
        let report = |progress: ServerProgress| {
            if reported.load(Ordering::Relaxed) < left {
                reported.fetch_add(1, Ordering::Relaxed);
                let ServerProgress {
                    done,
                    total,
                    message,
                } = progress;
                observer(returned::progress(&scope, done, total, &message));
            }
        };
        let sent = egress.send_reporting(&scope, request, &report).await;
        self.event_counts.events += reported.into_inner();
        sent
    }

    pub(super) fn report_partial(&mut self, data: String) {
        let Some(observer) = self.listener.events.clone() else {
            return;
        };
        let bytes = self.event_counts.partial_bytes.saturating_add(data.len());
        if bytes > limits::PARTIAL_BYTES_MAX {
            return;
        }
        self.event_counts.partial_bytes = bytes;
        match returned::partial(&self.scope, data) {
            Some(event) if self.may_report() => observer(event),
            Some(_) => {}
            None => self.log_line(
                LineLevel::Warn,
                "a partial result was dropped: it is not valid JSON, or nested too deeply",
            ),
        }
    }

    /// Counts one event. Events beyond the limit are dropped: the result itself has everything.
    fn may_report(&mut self) -> bool {
        self.event_counts.events = self.event_counts.events.saturating_add(1);
        self.event_counts.events <= limits::EVENTS_MAX
    }
}
