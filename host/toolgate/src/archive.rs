//! Backups: what an installation is, in one file that is complete or refused.
//!
//! An archive is a `tar.gz`, so that its content can be read without this program:
//!
//! | entry | what it is |
//! |---|---|
//! | `toolgate-backup.json` | first: [`BackupManifest`] |
//! | `receipts/*.log` | receipts that were not rows of the database yet |
//! | `database/toolgate.db` | the SQLite database as it was at one moment |
//! | `captured/*` | the plugin versions that serve, by their hash |
//! | `plugins/*.wasm` | the watched folder |
//! | `SHA256SUMS` | last: the hash of every other entry; without it the archive is cut off |
//!
//! The keys that open the credentials in the database are never in it. They are a file of their own,
//! encrypted with a passphrase ([`toolgate_vault::passphrase`]).
//!
//! [`backup`] makes an archive, [`restore`] an installation; [`mod@write`] and [`read`] know the form.

pub(crate) mod backup;
mod manifest;
mod read;
pub(crate) mod restore;
mod write;

use std::io;
use std::path::{Path, PathBuf};

pub(crate) use manifest::BackupManifest;
use toolgate_store::StoreError;
use toolgate_vault::passphrase::KeyExportError;

/// The entries that have one name.
const MANIFEST: &str = "toolgate-backup.json";
const SUMS: &str = "SHA256SUMS";
const DATABASE: &str = "database/toolgate.db";
/// The folders of the entries that have many.
const RECEIPTS: &str = "receipts";
const CAPTURED: &str = "captured";
const PLUGINS: &str = "plugins";

/// Why there is no backup, or why one is not restored. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("{0} is there already: a backup replaces no file; choose another name")]
    Exists(String),
    #[error("the backup is cut off: copy it again, or take another one")]
    CutOff,
    #[error("the backup is damaged ({0}): copy it again, or take another one")]
    Damaged(String),
    #[error("this file is not a toolgate backup")]
    Foreign,
    #[error(
        "the backup is of format {found}, this program knows up to {known}: use the newer program"
    )]
    NewerFormat { found: u32, known: u32 },
    #[error(
        "the backup is of {backup}, and --database-url names {settings}: use the settings of the installation that was backed up"
    )]
    OtherDatabase {
        backup: String,
        settings: &'static str,
    },
    #[error("{what} {path} is there already: restore into an empty place, or move it away")]
    Occupied { what: &'static str, path: String },
    #[error(
        "the file {0} with the keys is missing: name it with --keys, or bring the master key by other means and use --no-keys"
    )]
    NoKeys(String),
    #[error("the keys are not those of this backup: its credentials are under the master key {0}")]
    OtherKeys(String),
    #[error(
        "the backup was made with --no-keys: bring the master key by other means and use --no-keys"
    )]
    MadeWithoutKeys,
    #[error(transparent)]
    Keys(#[from] KeyExportError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{path} cannot be read or written")]
    Io {
        path: String,
        #[source]
        cause: io::Error,
    },
}

/// Names the file of an error.
fn at(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
    let path = path.display().to_string();
    move |cause| ArchiveError::Io { path, cause }
}

/// Where the keys of an archive are, unless the command line names another place.
pub(crate) fn keys_beside(archive: &Path) -> PathBuf {
    with_suffix(archive, ".keys.age")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A file or folder that is removed when this is dropped.
struct Temporary(PathBuf);

impl Temporary {
    /// Leaves it where it is.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = if self.0.is_dir() {
            std::fs::remove_dir_all(&self.0)
        } else {
            std::fs::remove_file(&self.0)
        };
    }
}
