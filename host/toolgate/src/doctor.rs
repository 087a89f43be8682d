//! Looks an installation over and says what is wrong, with the next step. Nothing is changed.
//!
//! - [`settings`]: what the settings name, without touching the network: `toolgate config check`;
//! - [`state`]: database, clock, disk and limits of this machine;
//! - [`network`]: who answers where: the gateway, its public address, upstreams, the model, the provider
//!   of sign-ins.

mod network;
pub(crate) mod settings;
mod state;

use serde::Serialize;

use crate::config::Config;
use toolgate_core::clock::Clock;

/// What was found about one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorFinding {
    /// What was looked at, such as `master_key`.
    pub check: &'static str,
    pub status: FindingStatus,
    /// One sentence.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FindingStatus {
    Ok,
    /// It works, and will surprise somebody.
    Warning,
    Failed,
    /// Not looked at, and why.
    Skipped,
}

impl FindingStatus {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl DoctorFinding {
    fn new(check: &'static str, status: FindingStatus, found: impl Into<String>) -> Self {
        Self {
            check,
            status,
            found: found.into(),
            next_step: None,
        }
    }

    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, FindingStatus::Ok, found)
    }

    fn warning(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, FindingStatus::Warning, found)
    }

    pub(crate) fn failed(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, FindingStatus::Failed, found)
    }

    fn skipped(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(check, FindingStatus::Skipped, found)
    }

    pub(crate) fn next(mut self, step: impl Into<String>) -> Self {
        self.next_step = Some(step.into());
        self
    }
}

/// What a person asks for beside the settings.
#[derive(Clone, Debug)]
pub(crate) struct DoctorOptions {
    /// Free space that the data folder should have.
    pub disk_free_min_bytes: u64,
    /// Addresses that the gateway has to reach by HTTPS.
    pub upstreams: Vec<url::Url>,
    /// Ask nothing beyond this machine, the database and the public address.
    pub offline: bool,
}

/// Every check, in the order in which one depends on another.
pub(crate) async fn examine(
    config: &Config,
    known_variables: &[String],
    options: &DoctorOptions,
    clock: &Clock,
) -> Vec<DoctorFinding> {
    let mut findings = settings::examine(config, known_variables);
    findings.extend(state::examine(config, options, clock).await);
    findings.extend(network::examine(config, options, clock).await);
    findings
}

/// An error with its causes, in one line.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        // Many libraries repeat their cause in their own sentence.
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = next.source();
    }
    text
}
