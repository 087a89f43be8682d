//! A new version is on probation: five crashes within its first fifty calls put the version before
//! it back into the folder. Counted by each process from when it put the version into service.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;

use super::{Serving, folder};
use crate::gateway::Gateway;

/// How long probation lasts.
const CALLS: u32 = 50;
/// Crashes that end it.
const CRASHES: u32 = 5;

/// The version of each service that was called last, and how it did.
#[derive(Default)]
pub(in crate::gateway) struct Probation(Mutex<HashMap<String, Record>>);

#[derive(Default)]
struct Record {
    sha256: String,
    calls: u32,
    crashes: u32,
}

impl Probation {
    /// Counts a call. True once for a version: when it has failed.
    fn note(&self, service: &str, sha256: &str, crashed: bool) -> bool {
        let mut records = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !records.contains_key(service) {
            records.insert(service.to_owned(), Record::default());
        }
        let Some(record) = records.get_mut(service) else {
            return false;
        };
        if record.sha256 != sha256 {
            *record = Record {
                sha256: sha256.to_owned(),
                ..Record::default()
            };
        }
        if record.calls >= CALLS {
            return false;
        }
        record.calls += 1;
        record.crashes += u32::from(crashed);
        crashed && record.crashes == CRASHES
    }
}

impl Gateway {
    /// Counts a call of `serving`; a version that keeps crashing makes room for the one before it.
    pub(in crate::gateway) fn on_probation(self: &Arc<Self>, serving: &Serving, crashed: bool) {
        let (service, sha256) = (&serving.manifest.service, serving.code.sha256());
        if !self.probation.note(service, sha256, crashed) {
            return;
        }
        let (gateway, service, sha256) = (self.clone(), service.clone(), sha256.to_owned());
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
        let told = |crashed: bool| probation.note("s", "a", crashed);
        assert_eq!((0..4).filter(|_| told(true)).count(), 0);
        assert!(!told(false));
        assert!(told(true));
        assert!(!told(true), "once");
        assert!(
            !probation.note("s", "b", true),
            "another version begins anew"
        );
    }

    #[test]
    fn a_version_that_has_served_fifty_calls_is_trusted() {
        let probation = Probation::default();
        for _ in 0..CALLS {
            assert!(!probation.note("s", "a", false));
        }
        assert_eq!(
            (0..20).filter(|_| probation.note("s", "a", true)).count(),
            0
        );
    }
}
