//! What an author sees while `toolgate plugin dev` follows a plugin: its log lines and panics, and the
//! requests of its calls as receipts have them, without bodies and credentials.
//!
//! A follower makes a file in the data folder; the gateway appends to files that are there and makes
//! none. Calls of all workspaces are in it, so only who may read the data folder can follow.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arc_swap::ArcSwap;
use serde::{Deserialize, Serialize};

use toolgate_egress::RequestRecord;
use toolgate_runtime::LogObserver;

/// A file takes no more than this; a follower that is gone leaves no more behind.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// How often the gateway looks who follows.
const LOOK_EVERY_MS: i64 = 1_000;
const ENDING: &str = ".log";

/// One line of a file.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum DevEvent {
    Log {
        execution_id: String,
        tool: String,
        level: String,
        message: String,
    },
    Request {
        execution_id: String,
        method: String,
        /// Credentials in it are `[redacted]`.
        url: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        duration_ms: u64,
    },
    Ended {
        execution_id: String,
        tool: String,
        status: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        duration_ms: u64,
    },
}

/// The file that a follower of `service` makes.
pub fn file(data_dir: &Path, service: &str) -> PathBuf {
    folder(data_dir).join(format!("{service}{ENDING}"))
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("dev")
}

/// Which plugins are followed, and the way into their files.
#[derive(Debug)]
pub(crate) struct DevLogs {
    folder: PathBuf,
    looked_at_ms: AtomicI64,
    followed: ArcSwap<BTreeSet<String>>,
}

impl DevLogs {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self {
            folder: folder(data_dir),
            looked_at_ms: AtomicI64::new(i64::MIN),
            followed: ArcSwap::default(),
        }
    }

    /// The file of a call, where somebody follows its plugin.
    pub(crate) fn open_trace(
        &self,
        service: &str,
        tool: &str,
        execution_id: &str,
        now_ms: i64,
    ) -> Option<Arc<CallTrace>> {
        let looked_at_ms = self.looked_at_ms.load(Ordering::Relaxed);
        if now_ms.saturating_sub(looked_at_ms) >= LOOK_EVERY_MS || now_ms < looked_at_ms {
            self.looked_at_ms.store(now_ms, Ordering::Relaxed);
            self.followed.store(Arc::new(self.look()));
        }
        self.followed.load().contains(service).then(|| {
            Arc::new(CallTrace {
                file: self.folder.join(format!("{service}{ENDING}")),
                tool: tool.to_owned(),
                execution_id: execution_id.to_owned(),
            })
        })
    }

    fn look(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names
            .filter_map(|name| Some(name.strip_suffix(ENDING)?.to_owned()))
            .collect()
    }
}

/// What one call adds to the file.
#[derive(Debug)]
pub(crate) struct CallTrace {
    file: PathBuf,
    tool: String,
    execution_id: String,
}

impl CallTrace {
    pub(crate) fn observer(self: Arc<Self>) -> LogObserver {
        Arc::new(move |level, message| {
            self.add(&[DevEvent::Log {
                execution_id: self.execution_id.clone(),
                tool: self.tool.clone(),
                level: level.to_string(),
                message: message.to_owned(),
            }]);
        })
    }

    pub(crate) fn ended(
        &self,
        status: &str,
        reason: Option<&str>,
        duration_ms: u64,
        requests: &[RequestRecord],
    ) {
        let sent = requests.iter().map(|request| {
            let query = request.query.as_ref().map(|query| format!("?{query}"));
            DevEvent::Request {
                execution_id: self.execution_id.clone(),
                method: request.method.clone(),
                url: format!(
                    "{}{}{}",
                    request.origin,
                    request.path,
                    query.unwrap_or_default()
                ),
                status: request.status,
                duration_ms: request.duration_ms,
            }
        });
        let end = DevEvent::Ended {
            execution_id: self.execution_id.clone(),
            tool: self.tool.clone(),
            status: status.to_owned(),
            reason: reason.map(str::to_owned),
            duration_ms,
        };
        self.add(&sent.chain([end]).collect::<Vec<_>>());
    }

    fn add(&self, events: &[DevEvent]) {
        // Nobody's call fails because its author does not look any more.
        let _ = self.append(events);
    }

    fn append(&self, events: &[DevEvent]) -> io::Result<()> {
        let mut file = fs::OpenOptions::new().append(true).open(&self.file)?;
        if file.metadata()?.len() > FILE_BYTES_MAX {
            return Ok(());
        }
        let mut text = String::new();
        for event in events {
            text.push_str(&serde_json::to_string(event)?);
            text.push('\n');
        }
        // In one piece: calls write side by side.
        file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_is_there_is_written_and_it_is_bounded() {
        let data = tempfile::tempdir().unwrap();
        let logs = DevLogs::new(data.path());
        assert!(logs.open_trace("notes", "list", "exe_1", 0).is_none());
        let file = file(data.path(), "notes");
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(&file, "").unwrap();
        assert!(
            logs.open_trace("notes", "list", "exe_1", 500).is_none(),
            "not looked at yet"
        );
        let trace = logs.open_trace("notes", "list", "exe_1", 1_000).unwrap();
        assert!(logs.open_trace("other", "list", "exe_1", 1_000).is_none());
        trace.ended("success", None, 3, &[]);
        let text = fs::read_to_string(&file).unwrap();
        let event: DevEvent = serde_json::from_str(text.trim()).unwrap();
        assert!(
            matches!(event, DevEvent::Ended { duration_ms: 3, .. }),
            "{event:?}"
        );
        fs::write(&file, vec![b'x'; FILE_BYTES_MAX as usize + 1]).unwrap();
        trace.ended("success", None, 3, &[]);
        assert_eq!(fs::metadata(&file).unwrap().len(), FILE_BYTES_MAX + 1);
        fs::remove_file(&file).unwrap();
        trace.ended("success", None, 3, &[]);
        assert!(!file.exists(), "the gateway makes none");
    }
}
