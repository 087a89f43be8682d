//! Inspections under way: files are judged beside one another, so that one whose code takes long to
//! compile holds up no other.

use std::collections::HashMap;
use std::path::PathBuf;

use futures_util::FutureExt as _;
use tokio::task::JoinHandle;

use toolgate_runtime::{Inspected, Rejected, Runtime};

/// What came of an inspection; an error is one of reading the captured copy.
type InspectionResult = std::io::Result<std::result::Result<Inspected, Rejected>>;

/// Inspections by the hash of the file.
#[derive(Default)]
pub(super) struct Inspections(HashMap<String, JoinHandle<InspectionResult>>);

/// How far an inspection has come.
pub(super) enum InspectionProgress {
    Running,
    Ended(Box<anyhow::Result<std::result::Result<Inspected, Rejected>>>),
}

impl Inspections {
    /// Begins with the captured copy `file`, or looks how far that has come.
    pub(super) fn ask(
        &mut self,
        runtime: &Runtime,
        sha256: &str,
        file: PathBuf,
    ) -> InspectionProgress {
        let Some(running) = self.0.get_mut(sha256) else {
            let runtime = runtime.clone();
            let task = tokio::spawn(async move { runtime.inspect_file(&file).await });
            self.0.insert(sha256.to_owned(), task);
            return InspectionProgress::Running;
        };
        match running.now_or_never() {
            None => InspectionProgress::Running,
            Some(ended) => {
                self.0.remove(sha256);
                InspectionProgress::Ended(Box::new(match ended {
                    Ok(inspected) => inspected.map_err(Into::into),
                    Err(cause) => Err(cause.into()),
                }))
            }
        }
    }

    /// Whether the inspection of this file goes on.
    pub(super) fn is_running(&self, sha256: &str) -> bool {
        self.0.get(sha256).is_some_and(|task| !task.is_finished())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Ends what nobody waits for any more.
    pub(super) fn keep(&mut self, waits: impl Fn(&str) -> bool) {
        self.0.retain(|sha256, task| {
            let keep = waits(sha256);
            if !keep {
                task.abort();
            }
            keep
        });
    }
}

impl Drop for Inspections {
    fn drop(&mut self) {
        self.keep(|_| false);
    }
}
