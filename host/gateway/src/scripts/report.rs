//! What a run says besides its result: logs, warnings and progress, each within its bound.

use tokio_util::sync::CancellationToken;

use super::ScriptLog;
use super::limits::{LOG_BYTES_MAX, LOG_LINES_MAX, PROGRESS_CHARS_MAX, PROGRESS_MAX};
use super::wire::EngineProgress;
use crate::tools::{CallEvent, CallListener};

/// Names of calls that a warning holds.
const NAMED_MAX: usize = 5;

#[derive(Default)]
pub(super) struct ScriptReport {
    pub logs: Vec<ScriptLog>,
    pub warnings: Vec<String>,
    log_bytes: usize,
    is_cut: bool,
    reported: usize,
    listener: CallListener,
}

impl ScriptReport {
    pub(super) fn new(listener: CallListener) -> Self {
        Self {
            listener,
            ..Self::default()
        }
    }

    /// Takes log lines; those beyond the bounds are dropped.
    pub(super) fn log(&mut self, lines: Vec<ScriptLog>) {
        for mut line in lines {
            let bytes = line.text.len();
            if self.logs.len() >= LOG_LINES_MAX || self.log_bytes + bytes > LOG_BYTES_MAX {
                if !self.is_cut {
                    self.is_cut = true;
                    self.warnings.push(format!(
                        "what was logged beyond {LOG_LINES_MAX} lines or {LOG_BYTES_MAX} bytes was dropped"
                    ));
                }
                return;
            }
            self.log_bytes += bytes;
            if !matches!(line.level.as_str(), "info" | "warn" | "error") {
                line.level = "info".to_owned();
            }
            self.logs.push(line);
        }
    }

    /// Passes progress on to the requester.
    pub(super) fn progress(&mut self, reports: Vec<EngineProgress>) {
        let Some(events) = &self.listener.events else {
            return;
        };
        for report in reports {
            if self.reported >= PROGRESS_MAX {
                return;
            }
            self.reported += 1;
            let message = report.message.unwrap_or_default();
            events(CallEvent::Progress {
                done: whole(report.done).unwrap_or(0),
                total: whole(report.total),
                message: message.chars().take(PROGRESS_CHARS_MAX).collect(),
            });
        }
    }

    /// Cancelled once the requester does not want the run any more; never where it cannot say so.
    pub(super) fn taken_back(&self) -> CancellationToken {
        self.listener.cancelled.clone().unwrap_or_default()
    }

    /// Names the calls that the script did not wait for. They are brought to their end all the same.
    pub(super) fn note_unawaited(&mut self, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let shown = names.iter().take(NAMED_MAX).map(String::as_str);
        let shown: Vec<&str> = shown.collect();
        let more = match names.len() > NAMED_MAX {
            true => " and others",
            false => "",
        };
        self.warnings.push(format!(
            "the script ended without waiting for {} of its calls: {}{more}; put `await` before them",
            names.len(),
            shown.join(", ")
        ));
    }
}

/// A count as whole numbers go; a script may report anything.
fn whole(number: Option<f64>) -> Option<u64> {
    let number = number.filter(|number| number.is_finite() && *number >= 0.0)?;
    Some(number.min(9_007_199_254_740_991.0) as u64)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    fn line(text: &str) -> ScriptLog {
        ScriptLog {
            level: "info".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn logs_end_at_their_bound_with_one_warning() {
        let mut report = ScriptReport::default();
        report.log(vec![line("first"), line(&"x".repeat(LOG_BYTES_MAX))]);
        report.log(vec![line(&"x".repeat(LOG_BYTES_MAX))]);
        assert_eq!(report.logs, [line("first")]);
        assert_eq!(report.warnings.len(), 1, "{:?}", report.warnings);
        let mut many = ScriptReport::default();
        many.log((0..=LOG_LINES_MAX).map(|_| line("")).collect());
        assert_eq!(many.logs.len(), LOG_LINES_MAX);
        assert_eq!(many.warnings.len(), 1);
    }

    #[test]
    fn progress_is_passed_on_within_its_bounds() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let told = heard.clone();
        let mut report = ScriptReport::new(CallListener {
            events: Some(Arc::new(move |event| told.lock().unwrap().push(event))),
            cancelled: None,
        });
        let one = |done, total| EngineProgress {
            done,
            total,
            message: Some("é".repeat(PROGRESS_CHARS_MAX + 1)),
        };
        report.progress(vec![
            one(Some(1.5), Some(3.0)),
            one(Some(-1.0), Some(f64::NAN)),
        ]);
        let mut events = std::mem::take(&mut *heard.lock().unwrap()).into_iter();
        let Some(CallEvent::Progress {
            done,
            total,
            message,
        }) = events.next()
        else {
            panic!("progress is heard");
        };
        assert_eq!((done, total), (1, Some(3)));
        assert_eq!(message.chars().count(), PROGRESS_CHARS_MAX);
        let Some(CallEvent::Progress { done, total, .. }) = events.next() else {
            panic!("progress is heard");
        };
        assert_eq!((done, total), (0, None));
        report.progress((0..PROGRESS_MAX).map(|_| one(None, None)).collect());
        assert_eq!(heard.lock().unwrap().len(), PROGRESS_MAX - 2);
    }
}
