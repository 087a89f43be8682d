//! Reading what the gateway says of the plugin's calls.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use toolgate_gateway::plugins::dev_log::{self, DevEvent};

/// The file that a running gateway appends to, for as long as this value is there.
pub(super) struct Follower {
    file: PathBuf,
    at: u64,
    /// The beginning of a line whose end is not there yet.
    rest: String,
}

impl Follower {
    pub(super) fn start(data_dir: &Path, service: &str) -> anyhow::Result<Self> {
        let file = dev_log::file(data_dir, service);
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("{} cannot be made", folder.display()))?;
        }
        // Calls of all workspaces are in it.
        std::fs::File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&file)
            .with_context(|| format!("{} cannot be written", file.display()))?;
        Ok(Self {
            file,
            at: 0,
            rest: String::new(),
        })
    }

    /// What was added since.
    pub(super) fn read(&mut self) -> Vec<DevEvent> {
        let Ok(mut file) = std::fs::File::open(&self.file) else {
            return Vec::new();
        };
        let mut added = String::new();
        let read = file
            .seek(SeekFrom::Start(self.at))
            .and_then(|_| file.read_to_string(&mut added));
        self.at += read.unwrap_or(0) as u64;
        self.rest.push_str(&added);
        let Some(end) = self.rest.rfind('\n') else {
            return Vec::new();
        };
        let whole: String = self.rest.drain(..=end).collect();
        let events = whole
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        events.collect()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
