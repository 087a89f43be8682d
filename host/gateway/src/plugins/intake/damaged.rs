//! Captured copies that can no longer be loaded: their files are taken from the folder again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::Intake;
use crate::plugins::folder;
use toolgate_runtime::LoadError;

/// Hashes of copies that calls could not load. Bounded by the copies that serve.
#[derive(Clone, Debug, Default)]
pub(crate) struct DamagedCopies(Arc<Mutex<BTreeSet<String>>>);

impl DamagedCopies {
    /// Notes the copy if it is the copy that is at fault.
    pub(crate) fn note(&self, sha256: &str, cause: &LoadError) {
        match cause {
            LoadError::Read(_) | LoadError::Changed => {
                let mut hashes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                hashes.insert(sha256.to_owned());
            }
            LoadError::Compile(_) | LoadError::LargeNotAllowed => {}
        }
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Intake {
    /// Takes damaged copies out of service and has their files judged anew. A file that is as it was is
    /// back before the snapshot is swapped; one that cannot be read is quarantined.
    pub(super) async fn drop_damaged(&mut self) {
        for sha256 in self.damaged.take() {
            tracing::error!(plugin.sha256 = %sha256, "plugins.copy_damaged: taking the file again");
            let copy = folder::captured(&self.captured, &sha256);
            // What cannot be removed is found damaged again, and that is in the log.
            let _ = tokio::fs::remove_file(copy).await;
            let before = self.serving.len();
            self.serving
                .retain(|_, plugin| plugin.code.sha256() != sha256);
            self.changed |= self.serving.len() != before;
            for file in self.files.values_mut() {
                let judged = file
                    .judged
                    .as_ref()
                    .and_then(|judged| judged.sha256.as_deref());
                if judged == Some(sha256.as_str()) {
                    file.captured = None;
                    file.judged = None;
                    file.at_start = true;
                }
            }
        }
    }
}
