//! `toolgate plugin diff`: what a new version changes for its callers and for the operator.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use super::output::{OutputFormat, ReportedFailure};
use crate::config::Config;
use toolgate_catalog::compatibility::{CallerChange, CallerImpact, caller_changes, version_for};
use toolgate_catalog::manifest::Manifest;
use toolgate_catalog::rights::{self, Difference};
use toolgate_core::visible::visible_line;
use toolgate_gateway::{Error, plugins};
use toolgate_runtime::inspect;

/// Compare two versions of a plugin: what breaks for callers, and what the operator has to approve
///
/// Each is a plugin file (.wasm), or the name of a service for the version that serves here.
#[derive(Debug, Args)]
pub(super) struct DiffPlugins {
    /// The older version: a file, or the name of a service
    old: String,
    /// The newer version: a file, or the name of a service
    new: String,
    /// Fail where something breaks for callers and the version does not say so
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Serialize)]
struct PluginDifference {
    old: ComparedVersion,
    new: ComparedVersion,
    /// For those who call its tools, breaks first.
    callers: Vec<CallerChange>,
    /// For the operator: what waits for approval has the weight `right`.
    rights: Difference,
    /// Whether an upgrade waits for the operator here.
    waits: bool,
    /// The lowest version that says what changes for callers.
    version_needed: String,
    version_says_so: bool,
}

#[derive(Debug, Serialize)]
struct ComparedVersion {
    service: String,
    version: String,
    tools: usize,
}

impl DiffPlugins {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let old = manifest_of(config, &self.old).await?;
        let new = manifest_of(config, &self.new).await?;
        let compared = compare(&old, &new, config.gateway.upgrades)?;
        output.print(&compared, PluginDifference::text)?;
        if self.strict && !compared.version_says_so {
            let sum = format!(
                "{} should be {}",
                compared.new.version, compared.version_needed
            );
            return Err(ReportedFailure(sum).into());
        }
        Ok(())
    }
}

async fn manifest_of(config: &Config, named: &str) -> anyhow::Result<Manifest> {
    if !named.ends_with(".wasm") && !Path::new(named).is_file() {
        let store = super::open_store(config).await?;
        return Ok(plugins::manifest(&store, named).await?);
    }
    let file = PathBuf::from(named);
    let read = tokio::task::spawn_blocking(move || {
        let bytes = std::fs::read(&file)
            .with_context(|| format!("the file {} cannot be read", file.display()))?;
        let inspected = inspect::read(&bytes).map_err(|rejected| {
            Error::InvalidRequest(format!("{}: {}", file.display(), rejected.reason()))
        })?;
        anyhow::Ok(inspected.manifest)
    });
    read.await?
}

fn compare(
    old: &Manifest,
    new: &Manifest,
    upgrades: rights::Upgrades,
) -> anyhow::Result<PluginDifference> {
    let callers = caller_changes(old, new);
    let rights = Difference::between(&rights::normal(old), &rights::normal(new), upgrades);
    let version = semver::Version::parse(&old.version)?;
    let needed = version_for(&version, &callers);
    let given = semver::Version::parse(&new.version)?;
    // The same file needs no other version.
    let same = callers.is_empty() && rights.is_empty();
    Ok(PluginDifference {
        waits: rights.waits(),
        version_says_so: same || given >= needed,
        version_needed: needed.to_string(),
        old: ComparedVersion::new(old),
        new: ComparedVersion::new(new),
        callers,
        rights,
    })
}

impl ComparedVersion {
    fn new(manifest: &Manifest) -> Self {
        Self {
            service: manifest.service.clone(),
            version: manifest.version.clone(),
            tools: manifest.tools.len(),
        }
    }
}

impl PluginDifference {
    fn text(&self) -> String {
        let mut lines = vec![format!(
            "{} {} -> {} {}",
            self.old.service,
            visible_line(&self.old.version),
            self.new.service,
            visible_line(&self.new.version)
        )];
        for (impact, head) in [
            (CallerImpact::Breaking, "breaks calls"),
            (CallerImpact::Addition, "new for callers"),
            (CallerImpact::Detail, "other changes for callers"),
        ] {
            let of = |change: &&CallerChange| change.impact == impact;
            let mut changes = self.callers.iter().filter(of).peekable();
            if changes.peek().is_some() {
                lines.push(format!("{head}:"));
            }
            lines
                .extend(changes.map(|change| format!("  - {}", visible_line(&change.to_string()))));
        }
        if self.rights.is_empty() {
            lines.push("It asks the operator for nothing else.".to_owned());
        } else {
            lines.push("For the operator, it".to_owned());
            lines.push(self.rights.to_string().trim_end().to_owned());
        }
        if self.waits {
            lines.push("An upgrade waits until the operator approves it.".to_owned());
        }
        if !self.version_says_so {
            lines.push(format!(
                "The version should be at least {}.",
                self.version_needed
            ));
        }
        lines.join("\n")
    }
}
