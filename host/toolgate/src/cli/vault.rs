//! `toolgate vault`: the master key.

use clap::Subcommand;

use super::output::OutputFormat;
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::jobs::master_key::{self, open_vault};
use toolgate_gateway::jobs::rotation;
use toolgate_vault::master;

#[derive(Debug, Subcommand)]
pub(super) enum VaultCommand {
    /// Re-encrypt all credentials with a new master key, also while a gateway serves
    Rotate,
    /// Accept the key file after the old key was lost; credentials under the old key are lost
    Adopt,
}

impl VaultCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let store = super::open_store(config).await?;
        let file = &config.gateway.master_key_file;
        let now_ms = Clock::system().now_ms();
        let caller = super::operator(&store, now_ms).await?;
        match self {
            Self::Rotate => {
                let vault = open_vault(&store, file).await?;
                let rotated = rotation::rotate(&store, &vault, &caller, now_ms).await?;
                output.print(&rotated, |rotated| {
                    format!(
                        "{} credentials are under the new master key {} in {}.\n\
                         The previous key is in {}: keep it for backups that were made under it, else delete it. \
                         On other machines that share the database, copy both files.",
                        rotated.boxes,
                        rotated.key_id,
                        file.display(),
                        master::previous(file).display()
                    )
                })
            }
            Self::Adopt => {
                let adopted = master_key::adopt(&store, file, &caller, now_ms).await?;
                output.print(&adopted, |adopted| {
                    format!(
                        "The database needs the master key {} in {} from now on.\n\
                         Connections whose users have to connect again: {}.\n\
                         Secrets of OAuth applications, webhooks and hooks to set again: {}.",
                        adopted.key_id,
                        file.display(),
                        adopted.connections,
                        adopted.other_secrets
                    )
                })
            }
        }
    }
}
