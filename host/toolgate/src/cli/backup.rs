//! `toolgate backup` and `toolgate restore`: an installation in a file, and back.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;

use super::output::{OutputFormat, note};
use crate::archive::{self, backup, restore};
use crate::config::Config;
use toolgate_core::clock::Clock;
use toolgate_gateway::dashboard::first_steps::LAST_BACKUP_FILE;
use toolgate_store::DatabaseKind;
use toolgate_vault::Secret;

/// The option that both commands have.
#[derive(Debug, Args)]
struct PassphraseFile {
    /// File whose first line is the passphrase of the keys (mode 0600), or /dev/stdin
    #[arg(
        long,
        env = "TOOLGATE_PASSPHRASE_FILE",
        value_name = "FILE",
        required_unless_present = "no_keys"
    )]
    passphrase_file: Option<PathBuf>,
    /// Leave out the master key; without it the credentials of the backup cannot be read
    #[arg(long, conflicts_with = "passphrase_file")]
    no_keys: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A gateway may serve meanwhile. FILE (a tar.gz) holds the SQLite database as it is at this moment, the
plugin files and what belongs to them. It holds no key: the master key goes to FILE.keys.age, encrypted
with the passphrase. Keep the two in different places; the program age opens FILE.keys.age too.

A PostgreSQL database is not in FILE. Dump it first: pg_dump --format=custom --file toolgate.dump URL")]
pub(super) struct BackupCommand {
    /// File to write; it must not exist yet
    #[arg(value_name = "FILE")]
    archive: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseFile,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The data folder, the master key and the plugins folder that the settings name have to be empty or absent.
Everything is read, decrypted and checked before the first file is put in its place. Start no gateway
meanwhile.")]
pub(super) struct RestoreCommand {
    /// The backup
    #[arg(value_name = "FILE")]
    archive: PathBuf,
    /// Its encrypted keys [default: FILE.keys.age]
    #[arg(long, value_name = "FILE", conflicts_with = "no_keys")]
    keys: Option<PathBuf>,
    #[command(flatten)]
    passphrase: PassphraseFile,
    /// Leave the plugins folder as it is
    #[arg(long)]
    no_plugins: bool,
}

impl BackupCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let passphrase = self.passphrase.read()?;
        let now_ms = Clock::system().now_ms();
        let made = backup::make(config, &self.archive, passphrase.as_ref(), now_ms).await?;
        if made.manifest.database == DatabaseKind::Postgres.as_str() {
            note(
                "The PostgreSQL database is not in the backup. Dump it with pg_dump before the backup, \
                 so that no plugin file is missing that it names.",
            );
        }
        let mark = config.gateway.data_dir.join(LAST_BACKUP_FILE);
        if let Err(cause) = std::fs::write(&mark, &made.manifest.created_at) {
            note(&format!(
                "The backup is complete, but the dashboard does not know of it: {} cannot be written ({cause}).",
                mark.display()
            ));
        }
        output.print(&made, |made| {
            let keys = match &made.keys {
                Some(keys) => format!(
                    "Its keys are in {}: keep the two in different places, and the passphrase in a third.",
                    keys.display()
                ),
                None => "It holds no keys: without the master key its credentials cannot be read."
                    .to_owned(),
            };
            format!(
                "{} holds {} files in {} bytes.\n{keys}",
                made.archive.display(),
                made.files,
                made.archive_bytes
            )
        })
    }
}

impl RestoreCommand {
    pub(super) async fn run(self, config: &Config, output: OutputFormat) -> anyhow::Result<()> {
        let passphrase = self.passphrase.read()?;
        let keys = self
            .keys
            .unwrap_or_else(|| archive::keys_beside(&self.archive));
        let request = restore::RestoreRequest {
            archive: &self.archive,
            keys: passphrase.as_ref().map(|passphrase| (&*keys, passphrase)),
            plugins: !self.no_plugins,
        };
        let restored = restore::restore(config, request).await?;
        output.print(&restored, |restored| {
            let mut text = format!(
                "The installation of {} is in {}. Start it with: toolgate serve",
                restored.manifest.created_at,
                restored.data_dir.display()
            );
            if restored.database.is_none() {
                text.push_str(
                    "\nBring the PostgreSQL database first: pg_restore --clean --if-exists --dbname URL toolgate.dump",
                );
            }
            if restored.master_key_file.is_none() {
                text.push_str(&format!(
                    "\nBring the master key {} first.",
                    config.gateway.master_key_file.display()
                ));
            }
            text
        })
    }
}

impl PassphraseFile {
    fn read(&self) -> anyhow::Result<Option<Secret>> {
        self.passphrase_file.as_deref().map(read).transpose()
    }
}

fn read(path: &Path) -> anyhow::Result<Secret> {
    use std::os::unix::fs::PermissionsExt as _;
    let shown = path.display();
    let about = std::fs::metadata(path)
        .with_context(|| format!("the passphrase file {shown} cannot be read"))?;
    ensure!(
        !about.is_file() || about.permissions().mode() & 0o077 == 0,
        "the passphrase file {shown} is open to others; run: chmod 600 {shown}"
    );
    let secret = crate::config::read_secret(path)?;
    ensure!(
        !secret.expose().is_empty(),
        "the first line of the passphrase file {shown} is empty"
    );
    Ok(secret)
}
