//! `toolgate vault`: the master key.

use clap::Subcommand;

use super::output::OutputFormat;
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::jobs::rotation;
use toolgate_vault::{Vault as Keys, master};

#[derive(Debug, Subcommand)]
pub(super) enum VaultCommand {
    /// Put every credential under a fresh master key, also while a gateway serves
    Rotate,
}

impl VaultCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let Self::Rotate = self;
        let store = super::open_store(config).await?;
        let vault = Keys::open(&config.gateway.master_key_file)?;
        let now_ms = Clock::system().now_ms();
        let caller = super::operator(&store, now_ms).await?;
        let rotated = rotation::rotate(&store, &vault, &caller, now_ms).await?;
        let previous = master::previous(&config.gateway.master_key_file);
        output.print(&rotated, |rotated| {
            format!(
                "{} credentials are under the new master key {} in {}.\n\
                 The key before is in {}: keep it for backups that were made under it, else delete it. \
                 On other machines that share the database, copy both files.",
                rotated.boxes,
                rotated.key_id,
                config.gateway.master_key_file.display(),
                previous.display()
            )
        })
    }
}
