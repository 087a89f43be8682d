//! Making a backup, also while a gateway serves.
//!
//! The order is what makes it consistent. Receipts that are not rows yet are read before the
//! database: they are in one of the two at each moment. The files of plugins are read after it: a file
//! is there before the row that names it. So are the keys: a rotation keeps the key before.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::write::{ArchiveWriter, create_private};
use super::{
    ArchiveError, BackupManifest, CAPTURED, DATABASE, MANIFEST, PLUGINS, RECEIPTS, Temporary, at,
    keys_beside, with_suffix,
};
use crate::config::Config;
use toolgate_core::clock::rfc3339;
use toolgate_store::{DatabaseKind, snapshot};
use toolgate_vault::Secret;
use toolgate_vault::passphrase::KeyBundle;

/// What was written.
#[derive(Debug, Serialize)]
pub(crate) struct BackupReport {
    pub archive: PathBuf,
    pub archive_bytes: u64,
    pub files: usize,
    /// The encrypted keys, unless they were left out.
    pub keys: Option<PathBuf>,
    #[serde(flatten)]
    pub manifest: BackupManifest,
}

/// Writes `archive` and the encrypted keys beside it. `passphrase`: none leaves the keys out.
pub(crate) async fn make(
    config: &Config,
    archive: &Path,
    passphrase: Option<&Secret>,
    now_ms: i64,
) -> Result<BackupReport, ArchiveError> {
    let settings = &config.gateway;
    let keys = keys_beside(archive);
    for path in [archive, &keys] {
        if path.exists() {
            return Err(ArchiveError::Exists(path.display().to_string()));
        }
    }
    let database = snapshot::sqlite_file(&settings.database_url);
    let kind = match database {
        Some(_) => DatabaseKind::Sqlite,
        None => DatabaseKind::Postgres,
    };
    let mut manifest = BackupManifest::new(kind, rfc3339(now_ms));

    let receipts = read_receipts(&settings.data_dir.join("receipts"))?;
    let copy = Temporary(with_suffix(archive, ".database.part"));
    if let Some(database) = &database {
        fs::metadata(database).map_err(at(database))?;
        let copied = snapshot::copy_sqlite(database, &copy.0).await?;
        manifest.migration = copied.migration;
    }
    let bundle = passphrase.map(|_| KeyBundle::read(&settings.master_key_file));
    let bundle = bundle.transpose()?;
    manifest.key_id = bundle.as_ref().map(KeyBundle::key_id);

    let part = Temporary(with_suffix(archive, ".part"));
    let mut writer = ArchiveWriter::create(&part.0)?;
    let first = serde_json::to_vec_pretty(&manifest).unwrap_or_default();
    writer.add_bytes(MANIFEST, &first)?;
    for (name, bytes) in &receipts {
        writer.add_bytes(&format!("{RECEIPTS}/{name}"), bytes)?;
    }
    if database.is_some() {
        writer.add_file(DATABASE, &copy.0)?;
    }
    add_folder(&mut writer, CAPTURED, &settings.data_dir.join("plugins"))?;
    add_folder(&mut writer, PLUGINS, &settings.plugins_dir)?;
    let files = writer.finish(&part.0)?;

    if let (Some(bundle), Some(passphrase)) = (&bundle, passphrase) {
        let keys_part = Temporary(with_suffix(&keys, ".part"));
        let mut file = create_private(&keys_part.0)?;
        let written = file.write_all(&bundle.encrypt(passphrase)?);
        written
            .and_then(|()| file.sync_all())
            .map_err(at(&keys_part.0))?;
        publish(&keys_part.0, &keys)?;
    }
    publish(&part.0, archive)?;
    Ok(BackupReport {
        archive_bytes: fs::metadata(archive).map_err(at(archive))?.len(),
        archive: archive.to_owned(),
        files,
        keys: bundle.map(|_| keys),
        manifest,
    })
}

/// Gives a finished file its name, unless another file has it by now.
fn publish(part: &Path, path: &Path) -> Result<(), ArchiveError> {
    fs::hard_link(part, path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::AlreadyExists => ArchiveError::Exists(path.display().to_string()),
        _ => at(path)(cause),
    })
}

/// The logs of receipts by name. A log that is emptied meanwhile has its receipts in the database.
fn read_receipts(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, ArchiveError> {
    let mut found = Vec::new();
    for (name, path) in files(folder)? {
        if name.ends_with(".log") {
            let bytes = fs::read(&path).map_err(at(&path))?;
            if !bytes.is_empty() {
                found.push((name, bytes));
            }
        }
    }
    Ok(found)
}

fn add_folder(writer: &mut ArchiveWriter, name: &str, folder: &Path) -> Result<(), ArchiveError> {
    for (file, path) in files(folder)? {
        // Other files are on their way to their names, or none of the gateway's.
        if file.ends_with(".wasm") {
            match writer.add_file(&format!("{name}/{file}"), &path) {
                // Removed since the folder was listed.
                Err(ArchiveError::Io { cause, .. })
                    if cause.kind() == std::io::ErrorKind::NotFound => {}
                added => added?,
            }
        }
    }
    Ok(())
}

/// The files of a folder by name, in order; none if it is not there.
fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, ArchiveError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(at(folder)(cause)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(at(folder))?;
        if let Ok(name) = entry.file_name().into_string()
            && entry.path().is_file()
        {
            found.push((name, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}
