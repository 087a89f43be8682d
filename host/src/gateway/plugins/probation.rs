//! A new version is on probation: five crashes within its first fifty calls put the version before
//! it back into the folder. Counted by each process from when it put the version into service.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;

use super::{Serving, folder};
use crate::gateway::Gateway;

/// How long probation lasts.
const CALLS: u32 = 50;
/// Crashes that end it.
const CRASHES: u32 = 5;

/// How a version has done since this process put it into service.
#[derive(Debug, Default)]
pub(in crate::gateway) struct Probation {
    calls: AtomicU32,
    crashes: AtomicU32,
}

impl Probation {
    /// Counts a call. True once: when the version has failed.
    fn note(&self, crashed: bool) -> bool {
        let over = |calls: u32| calls >= CALLS;
        if over(self.calls.load(Ordering::Relaxed))
            || over(self.calls.fetch_add(1, Ordering::Relaxed))
        {
            return false;
        }
        crashed && self.crashes.fetch_add(1, Ordering::Relaxed) + 1 == CRASHES
    }
}

impl Gateway {
    /// Counts a call of `serving`; a version that keeps crashing makes room for the one before it.
    pub(in crate::gateway) fn on_probation(self: &Arc<Self>, serving: &Serving, crashed: bool) {
        if !serving.probation.note(crashed) {
            return;
        }
        let gateway = self.clone();
        let service = serving.manifest.service.clone();
        let sha256 = serving.code.sha256().to_owned();
        self.running.spawn(async move {
            if let Err(cause) = gateway.put_previous_back(&service, &sha256).await {
                let error = format!("{cause:#}");
                tracing::error!(plugin.service = service, error, "plugins.not_rolled_back");
            }
        });
    }

    async fn put_previous_back(&self, service: &str, bad: &str) -> anyhow::Result<()> {
        let row = self.store.find_plugin(service).await?;
        let row = row.filter(|row| row.active_sha256.as_deref() == Some(bad));
        let Some(name) = row.and_then(|row| row.file_name) else {
            return Ok(());
        };
        let versions = self.store.plugin_versions(service).await?;
        let Some(previous) = versions.into_iter().find(|one| one.sha256 != bad) else {
            tracing::warn!(
                plugin.service = service,
                plugin.sha256 = bad,
                "plugins.keeps_crashing: there is no version before it"
            );
            return Ok(());
        };
        let kept = folder::captured(&self.plugins.captured, &previous.sha256);
        let bytes = tokio::fs::read(&kept)
            .await
            .context("the file of the version before is not kept any more")?;
        self.store.forget_plugin_version(service, bad).await?;
        self.put_file(name, bytes.into()).await?;
        tracing::error!(
            plugin.service = service,
            plugin.from = bad,
            plugin.to = previous.sha256,
            plugin.version = previous.version,
            "plugins.rolled_back: {CRASHES} of its first {CALLS} calls crashed"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_crashes_within_fifty_calls_are_told_once() {
        let probation = Probation::default();
        let told = |crashed: bool| probation.note(crashed);
        assert_eq!((0..4).filter(|_| told(true)).count(), 0);
        assert!(!told(false));
        assert!(told(true));
        assert!(!told(true), "once");
    }

    #[test]
    fn a_version_that_has_served_fifty_calls_is_trusted() {
        let probation = Probation::default();
        for _ in 0..CALLS {
            assert!(!probation.note(false));
        }
        assert_eq!((0..20).filter(|_| probation.note(true)).count(), 0);
    }
}
