//! The first entry of an archive: what it is a backup of.

use serde::{Deserialize, Serialize};

use super::ArchiveError;
use toolgate_store::DatabaseKind;

/// The format that this program writes; it reads those before it.
const FORMAT: u32 = 1;

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct BackupManifest {
    pub format: u32,
    /// Version of the program that made the backup.
    pub toolgate: String,
    pub created_at: String,
    /// `sqlite`, which is in the archive, or `postgres`, which is not.
    pub database: String,
    /// The newest migration of the database in the archive.
    pub migration: Option<i64>,
    /// The master key under which credentials are sealed; absent where the keys were left out.
    pub key_id: Option<String>,
}

impl BackupManifest {
    pub(super) fn new(kind: DatabaseKind, created_at: String) -> Self {
        Self {
            format: FORMAT,
            toolgate: env!("CARGO_PKG_VERSION").to_owned(),
            created_at,
            database: kind.as_str().to_owned(),
            migration: None,
            key_id: None,
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, ArchiveError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let Format { format } = serde_json::from_slice(bytes).map_err(|_| ArchiveError::Foreign)?;
        if format > FORMAT {
            return Err(ArchiveError::NewerFormat {
                found: format,
                known: FORMAT,
            });
        }
        serde_json::from_slice(bytes).map_err(|_| ArchiveError::Foreign)
    }
}
