//! Restoring a backup: everything is read, decrypted and checked in a folder of its own before the
//! first file gets its place.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{
    ArchiveError, BackupManifest, CAPTURED, DATABASE, PLUGINS, RECEIPTS, Temporary, at, read,
    with_suffix,
};
use crate::config::Config;
use toolgate_store::{DatabaseKind, snapshot};
use toolgate_vault::Secret;
use toolgate_vault::passphrase::KeyBundle;

/// In the data folder, so that what is in it can be moved without being copied.
const STAGING: &str = ".restoring";

/// What to restore.
pub(crate) struct RestoreRequest<'a> {
    pub archive: &'a Path,
    /// The file of encrypted keys and their passphrase; none where the master key comes by other means.
    pub keys: Option<(&'a Path, &'a Secret)>,
    /// Whether the watched folder is restored too.
    pub plugins: bool,
}

/// What was put where.
#[derive(Debug, Serialize)]
pub(crate) struct RestoreReport {
    pub data_dir: PathBuf,
    pub database: Option<PathBuf>,
    pub master_key_file: Option<PathBuf>,
    pub plugins_dir: Option<PathBuf>,
    #[serde(flatten)]
    pub manifest: BackupManifest,
}

/// # Errors
/// Before anything is changed, unless the disk fails while files are given their places.
pub(crate) async fn restore(
    config: &Config,
    request: RestoreRequest<'_>,
) -> Result<RestoreReport, ArchiveError> {
    let settings = &config.gateway;
    let database = snapshot::sqlite_file(&settings.database_url);
    let places = Places {
        data_dir: settings.data_dir.clone(),
        database: database.clone(),
        master_key_file: request.keys.map(|_| settings.master_key_file.clone()),
        plugins_dir: request.plugins.then(|| settings.plugins_dir.clone()),
    };
    places.check()?;

    let manifest = read::manifest(request.archive)?;
    check_database(&manifest, database.is_some())?;
    let bundle = open_keys(&manifest, request.keys)?;

    let made_here = !places.data_dir.exists();
    // Dropped last: a data folder that was not there before is gone again if nothing was restored.
    let folder = made_here.then(|| Temporary(places.data_dir.clone()));
    toolgate_gateway::make_private_dir(&places.data_dir).map_err(|cause| ArchiveError::Io {
        path: places.data_dir.display().to_string(),
        cause: io::Error::other(cause),
    })?;
    let staging = Temporary(places.data_dir.join(STAGING));
    make_dir(&staging.0)?;
    read::extract(request.archive, &staging.0)?;
    if database.is_some() {
        let staged = staging.0.join(DATABASE);
        if !staged.exists() {
            return Err(ArchiveError::Damaged(DATABASE.to_owned()));
        }
        snapshot::inspect_sqlite(&staged).await?.check_version()?;
    }
    places.fill(&staging.0, bundle.as_ref())?;
    drop(staging);
    if let Some(folder) = folder {
        folder.keep();
    }
    Ok(RestoreReport {
        data_dir: places.data_dir,
        database: places.database,
        master_key_file: places.master_key_file,
        plugins_dir: places.plugins_dir,
        manifest,
    })
}

fn check_database(manifest: &BackupManifest, is_file: bool) -> Result<(), ArchiveError> {
    let settings = match is_file {
        true => DatabaseKind::Sqlite,
        false => DatabaseKind::Postgres,
    };
    if manifest.database != settings.as_str() {
        return Err(ArchiveError::OtherDatabase {
            backup: manifest.database.clone(),
            settings: settings.as_str(),
        });
    }
    Ok(snapshot::check_migration(settings, manifest.migration)?)
}

/// The keys, if they are to be restored and are those of the archive.
fn open_keys(
    manifest: &BackupManifest,
    keys: Option<(&Path, &Secret)>,
) -> Result<Option<KeyBundle>, ArchiveError> {
    let Some((file, passphrase)) = keys else {
        return Ok(None);
    };
    let key_id = manifest
        .key_id
        .as_ref()
        .ok_or(ArchiveError::MadeWithoutKeys)?;
    let encrypted = fs::read(file).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotFound => ArchiveError::NoKeys(file.display().to_string()),
        _ => at(file)(cause),
    })?;
    let bundle = KeyBundle::decrypt(&encrypted, passphrase)?;
    if bundle.key_id() != *key_id {
        return Err(ArchiveError::OtherKeys(key_id.clone()));
    }
    Ok(Some(bundle))
}

/// Where the settings have the parts of an installation.
struct Places {
    data_dir: PathBuf,
    database: Option<PathBuf>,
    master_key_file: Option<PathBuf>,
    plugins_dir: Option<PathBuf>,
}

impl Places {
    /// Refuses where anything would be replaced or mixed with what is there.
    fn check(&self) -> Result<(), ArchiveError> {
        let occupied = |what, path: &Path| ArchiveError::Occupied {
            what,
            path: path.display().to_string(),
        };
        if !is_empty(&self.data_dir)? {
            return Err(occupied("the data folder", &self.data_dir));
        }
        if let Some(database) = &self.database {
            // A log that is left of another database would be applied to this one.
            for part in ["", "-wal", "-shm"].map(|part| with_suffix(database, part)) {
                if part.exists() {
                    return Err(occupied("the database", &part));
                }
            }
        }
        if let Some(key) = self.master_key_file.as_deref().filter(|path| path.exists()) {
            return Err(occupied("the master key", key));
        }
        if let Some(plugins) = &self.plugins_dir
            && !is_empty(plugins)?
        {
            let mut cause = occupied("the plugins folder", plugins);
            if let ArchiveError::Occupied { path, .. } = &mut cause {
                path.push_str(" (--no-plugins leaves it as it is)");
            }
            return Err(cause);
        }
        Ok(())
    }

    /// Gives every staged file its place; the database last, without which nothing else is used.
    fn fill(&self, staging: &Path, keys: Option<&KeyBundle>) -> Result<(), ArchiveError> {
        move_files(&staging.join(RECEIPTS), &self.data_dir.join("receipts"))?;
        move_files(&staging.join(CAPTURED), &self.data_dir.join("plugins"))?;
        if let Some(plugins) = &self.plugins_dir {
            move_files(&staging.join(PLUGINS), plugins)?;
        }
        if let (Some(keys), Some(file)) = (keys, &self.master_key_file) {
            if let Some(parent) = file.parent() {
                make_dir(parent)?;
            }
            keys.write(file)?;
        }
        if let Some(database) = &self.database {
            if let Some(parent) = database.parent() {
                make_dir(parent)?;
            }
            move_file(&staging.join(DATABASE), database)?;
        }
        Ok(())
    }
}

/// Whether a folder holds nothing, or is not there.
fn is_empty(folder: &Path) -> Result<bool, ArchiveError> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            // The root of a file system of its own is never quite empty.
            let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
            Ok(names.all(|name| name == "lost+found"))
        }
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(cause) => Err(at(folder)(cause)),
    }
}

fn make_dir(folder: &Path) -> Result<(), ArchiveError> {
    let mut builder = fs::DirBuilder::new();
    let made = builder.recursive(true).mode(0o700).create(folder);
    made.map_err(at(folder))
}

fn move_files(from: &Path, to: &Path) -> Result<(), ArchiveError> {
    let entries = match fs::read_dir(from) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(at(from)(cause)),
    };
    make_dir(to)?;
    for entry in entries {
        let entry = entry.map_err(at(from))?;
        move_file(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn move_file(from: &Path, to: &Path) -> Result<(), ArchiveError> {
    match fs::rename(from, to) {
        Err(cause) if cause.kind() == io::ErrorKind::CrossesDevices => {
            let part = Temporary(with_suffix(to, ".part"));
            fs::copy(from, &part.0).map_err(at(to))?;
            let whole = fs::File::open(&part.0).and_then(|file| file.sync_all());
            whole.map_err(at(to))?;
            fs::rename(&part.0, to).map_err(at(to))
        }
        moved => moved.map_err(at(to)),
    }
}
