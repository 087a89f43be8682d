//! `toolgate plugin rollback`: an earlier version serves again.

use clap::Args;

use super::output::OutputFormat;
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::plugins::{self, PluginFolders};

/// Put an earlier version of a plugin back into the folder; a running gateway takes it up within seconds
#[derive(Debug, Args)]
pub(super) struct RollBack {
    /// Name of the service
    service: String,
    /// Version or SHA-256 to go back to [default: the version before the one that serves]
    #[arg(long, value_name = "VERSION")]
    to: Option<String>,
}

impl RollBack {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let now_ms = Clock::system().now_ms();
        let caller = super::operator(&store, now_ms).await?;
        let captured = config.gateway.data_dir.join("plugins");
        let folders = PluginFolders {
            plugins: &config.gateway.plugins_dir,
            captured: &captured,
        };
        let wanted = self.to.as_deref();
        let done =
            plugins::roll_back(&store, &caller, folders, &self.service, wanted, now_ms).await?;
        output.print(&done, |done| {
            let from = done.from_version.as_ref();
            let from = from.map(|version| format!(" in place of {version}"));
            format!(
                "{} {} (sha256 {}) is in the folder{}; a running gateway takes it up within seconds.",
                done.service,
                done.version,
                done.sha256,
                from.unwrap_or_default()
            )
        })
    }
}
