//! A new version is on probation: five crashes within its first fifty calls put the version before
//! it back into the folder. Counted by each process from when it put the version into service.
//!
//! A crash is a trap that no bound made ([`toolgate_runtime::Crash`]). One tenant alone can make a plugin
//! crash on purpose, so crashes count when they come from several workspaces, or from the one of the
//! operator. The version before comes back by itself only if it has the same rights; else the
//! operator is told and decides.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use serde_json::json;

use super::{ServingPlugin, recall};
use crate::Gateway;
use crate::audit::{self, AuditAction};
use toolgate_catalog::rights::{self, Difference, Upgrades};
use toolgate_core::text::Text;
use toolgate_store::PluginState;

/// How long probation lasts.
const CALLS: u32 = 50;
/// Crashes that end it.
const CRASHES: u32 = 5;
/// Workspaces that they have to come from, unless they all come from the operator's.
const WORKSPACES: usize = 3;

/// How a version has done since this process put it into service.
#[derive(Debug, Default)]
pub(crate) struct Probation {
    calls: AtomicU32,
    /// At most [`CALLS`] of them.
    crashes: Mutex<Crashes>,
    failed: AtomicBool,
}

/// Crashes by the workspace whose call it was.
#[derive(Clone, Debug, Default)]
struct Crashes(BTreeMap<Text, u32>);

impl Crashes {
    fn all(&self) -> u32 {
        self.0.values().sum()
    }

    /// Whether the version has failed. `operator`: the workspace that runs the installation.
    fn are_too_many(&self, operator: Option<&str>) -> bool {
        let of_operator = operator.and_then(|id| self.0.get(id)).copied();
        of_operator.unwrap_or(0) >= CRASHES || (self.all() >= CRASHES && self.0.len() >= WORKSPACES)
    }
}

impl Probation {
    /// Counts a call. All crashes so far, where this one may be one too many.
    fn note(&self, workspace_id: &Text, crashed: bool) -> Option<Crashes> {
        let over = |calls: u32| calls >= CALLS;
        if over(self.calls.load(Ordering::Relaxed))
            || over(self.calls.fetch_add(1, Ordering::Relaxed))
            || !crashed
        {
            return None;
        }
        let mut crashes = self.crashes.lock().unwrap_or_else(PoisonError::into_inner);
        *crashes.0.entry(workspace_id.clone()).or_default() += 1;
        (crashes.all() >= CRASHES).then(|| crashes.clone())
    }

    /// True once.
    fn fail(&self) -> bool {
        !self.failed.swap(true, Ordering::Relaxed)
    }
}

impl Gateway {
    /// Counts a call of `serving`; a version that keeps crashing makes room for the one before it.
    pub(crate) fn on_probation(
        self: &Arc<Self>,
        serving: &Arc<ServingPlugin>,
        workspace_id: &Text,
        crashed: bool,
    ) {
        let Some(crashes) = serving.probation.note(workspace_id, crashed) else {
            return;
        };
        let (gateway, serving) = (self.clone(), serving.clone());
        self.running.spawn(async move {
            if let Err(cause) = gateway.end_probation(&serving, &crashes).await {
                let (service, error) = (&*serving.service, format!("{cause:#}"));
                tracing::error!(plugin.service = service, error, "plugins.not_rolled_back");
            }
        });
    }

    async fn end_probation(
        &self,
        serving: &ServingPlugin,
        crashes: &Crashes,
    ) -> anyhow::Result<()> {
        let operator = self.store.first_workspace().await?;
        let operator = operator.as_ref().map(|workspace| &*workspace.id);
        if !crashes.are_too_many(operator) || !serving.probation.fail() {
            return Ok(());
        }
        self.put_previous_back(&serving.service, &serving.sha256)
            .await
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
        if let Some(why) = self.other_rights(bad, &previous.sha256).await? {
            let reason = format!(
                "{CRASHES} of its first {CALLS} calls crashed; version {} served before it, but {why}: \
                 roll back in the dashboard, or put its file back into the folder",
                previous.version
            );
            let (state, now_ms) = (PluginState::Active, self.clock.now_ms());
            self.store
                .set_plugin_state(service, state, Some(&reason), now_ms)
                .await?;
            tracing::error!(
                plugin.service = service,
                plugin.sha256 = bad,
                "plugins.keeps_crashing: {reason}"
            );
            return Ok(());
        }
        let folders = self.plugin_folders();
        let bytes = folders
            .kept(&self.store, &previous.sha256)
            .await
            .context("the file of the previous version is no longer kept")?;
        let staged = folders
            .stage(&self.store, &name, bytes, self.clock.now_ms())
            .await?;
        let details = json!({
            "to": { "version": previous.version, "sha256": previous.sha256 },
            "from": { "sha256": bad },
        });
        let (action, now_ms) = (AuditAction::PluginsRevert, self.clock.now_ms());
        audit::installation(&self.store, now_ms, action, service, details)
            .await?
            .forget_plugin_version(service, bad)
            .await?;
        staged.put(now_ms).await?;
        tracing::error!(
            plugin.service = service,
            plugin.from = bad,
            plugin.to = previous.sha256,
            plugin.version = previous.version,
            "plugins.rolled_back: {CRASHES} of its first {CALLS} calls crashed"
        );
        Ok(())
    }

    /// Why a version may not take the place of another one without a person.
    async fn other_rights(&self, from: &str, to: &str) -> anyhow::Result<Option<&'static str>> {
        let (from, to) = (
            recall::manifest(&self.store, from).await?,
            recall::manifest(&self.store, to).await?,
        );
        let (Some(from), Some(to)) = (from, to) else {
            return Ok(Some("its rights are no longer known"));
        };
        let (from, to) = (rights::normal(&from), rights::normal(&to));
        let difference = Difference::between(&from, &to, Upgrades::Strict);
        Ok((!difference.only_texts()).then_some("with other rights"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the version fails after calls of these workspaces, all of which crash.
    fn fails(workspaces: &str) -> bool {
        let probation = Probation::default();
        workspaces.split_whitespace().any(|workspace| {
            let crashes = probation.note(&workspace.into(), true);
            crashes.is_some_and(|crashes| crashes.are_too_many(Some("operator")))
        })
    }

    #[test]
    fn five_crashes_of_three_workspaces_or_of_the_operator_are_too_many() {
        assert!(!fails("operator operator operator operator"));
        assert!(fails("operator operator operator operator operator"));
        assert!(!fails(&"mallory ".repeat(50)));
        assert!(!fails(&"mallory eve ".repeat(25)));
        assert!(!fails(&"mallory operator operator ".repeat(2)));
        assert!(fails("mallory mallory mallory eve bob"));
        assert!(!fails("mallory eve bob alice"));
    }

    #[test]
    fn a_version_fails_once() {
        let probation = Probation::default();
        assert!(probation.fail());
        assert!(!probation.fail());
    }

    #[test]
    fn a_version_that_has_served_fifty_calls_is_trusted() {
        let probation = Probation::default();
        let workspace = "operator".into();
        for _ in 0..CALLS {
            assert!(probation.note(&workspace, false).is_none());
        }
        assert!((0..20).all(|_| probation.note(&workspace, true).is_none()));
    }
}
