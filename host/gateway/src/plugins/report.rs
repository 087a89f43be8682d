//! The outcome of a file, for the operator: a row of `toolgate plugin list` and a line of the log.

use super::folder::Fingerprint;
use toolgate_core::visible::visible_line;
use toolgate_store::{PluginFile, PluginState};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileReport {
    pub sha256: Option<String>,
    pub service: Option<String>,
    pub state: PluginState,
    pub reason: Option<String>,
    /// See [`FileReport::not_taken`].
    pub passing: bool,
}

impl FileReport {
    /// `reason` may repeat what a stranger wrote: no database and no line of a log trips over it.
    pub(super) fn quarantined(reason: &str) -> Self {
        Self {
            sha256: None,
            service: None,
            state: PluginState::Quarantined,
            reason: Some(visible_line(reason).into_owned()),
            passing: false,
        }
    }

    /// The gateway itself could not take the file: it is tried again until it can.
    pub(super) fn not_taken(reason: &str) -> Self {
        Self {
            passing: true,
            ..Self::quarantined(&format!("{reason}; the gateway tries again by itself"))
        }
    }

    /// Whether it was refused for what the gateway met, not for what the file is.
    pub(super) fn is_not_taken(&self) -> bool {
        self.passing
    }

    /// A plugin that would serve but for another one.
    pub(super) fn is_kept_out(&self) -> bool {
        let quarantined = self.state == PluginState::Quarantined && self.service.is_some();
        quarantined || self.state == PluginState::Conflict
    }

    /// As the store keeps it. `seen`: the file as it was when it was captured.
    pub(super) fn to_row(&self, name: &str, seen: Option<Fingerprint>, now_ms: i64) -> PluginFile {
        PluginFile {
            file_name: name.to_owned(),
            sha256: self.sha256.clone(),
            service: self.service.clone(),
            state: self.state,
            reason: self.reason.clone(),
            fingerprint: seen
                .filter(|_| self.sha256.is_some())
                .map(|seen| seen.mark()),
            updated_at_ms: now_ms,
        }
    }

    /// One of `many` at once is worth a line of its own only when something is wrong with it.
    pub(super) fn log(&self, name: &str, many: bool) {
        if many && self.reason.is_none() {
            return;
        }
        log_state(
            name,
            self.service.as_deref(),
            self.state,
            self.reason.as_deref(),
        );
    }
}

pub(super) fn log_state(
    file: &str,
    service: Option<&str>,
    state: PluginState,
    reason: Option<&str>,
) {
    let (service, state) = (service.unwrap_or("-"), state.into_str());
    match reason {
        Some(reason) => {
            tracing::warn!(
                plugin.file = file,
                plugin.service = service,
                plugin.state = state,
                "plugins.state: {reason}"
            );
        }
        None => {
            tracing::info!(
                plugin.file = file,
                plugin.service = service,
                plugin.state = state,
                "plugins.state"
            );
        }
    }
}
