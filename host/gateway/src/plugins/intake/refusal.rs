//! Files that were refused are tried again: what their taking met (no space, no permission, no process to
//! compile with, a copy that was not whole yet) may have passed, and nobody has to touch the file.
//!
//! A file with the same content that was refused for what it is stays refused without being judged anew.

use std::time::Duration;

use tokio::time::Instant;

use super::{Intake, TrackedFile};
use crate::plugins::report::FileReport;
use toolgate_store::PluginState;

/// Until the first further try; doubled by each.
const AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Between later tries.
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(5 * 60);

/// Why a file was refused, and when it is tried again.
pub(super) struct FileRefusal {
    report: FileReport,
    tries: u32,
    again: Instant,
}

impl FileRefusal {
    fn new(report: FileReport, tries: u32) -> Self {
        let after = AGAIN_AFTER.saturating_mul(1 << tries.min(16));
        Self {
            report,
            tries,
            again: Instant::now() + after.min(AGAIN_AFTER_MAX),
        }
    }
}

impl TrackedFile {
    /// Notes a verdict. `false`: it is the one before, of an attempt that needs no report.
    pub(super) fn refused(&mut self, judged: &FileReport) -> bool {
        // One that another plugin keeps out has its turn when that one changes.
        if judged.state != PluginState::Quarantined || judged.is_kept_out() {
            self.refusal = None;
            return true;
        }
        let before = self.refusal.take();
        let tries = before.as_ref().map_or(0, |before| before.tries + 1);
        let is_new = before.is_none_or(|before| before.report != *judged);
        self.refusal = Some(FileRefusal::new(judged.clone(), tries));
        is_new
    }
}

impl Intake {
    /// Has those judged anew whose time has come.
    pub(super) fn try_refused_again(&mut self) {
        for file in self.files.values_mut() {
            let due = file
                .refusal
                .as_ref()
                .is_some_and(|refusal| refusal.again <= Instant::now());
            if due && file.judged.is_some() {
                file.captured = None;
                file.judged = None;
            }
        }
    }

    /// Whether a file that was captured once more is the one that was refused for what it is.
    pub(super) fn is_refused_still(&mut self, name: &str, sha256: &str) -> bool {
        let Some(file) = self.files.get_mut(name) else {
            return false;
        };
        let Some(FileRefusal { report, tries, .. }) = file.refusal.take() else {
            return false;
        };
        let same = report.sha256.as_deref() == Some(sha256) && !report.is_not_taken();
        if same {
            file.judged = Some(report.clone());
        }
        let tries = if same { tries + 1 } else { tries };
        file.refusal = Some(FileRefusal::new(report, tries));
        same
    }
}
