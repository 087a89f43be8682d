//! A change of the plugins folder in two steps, so that its entry in the audit log can be committed
//! between them: first everything that is likely to fail, under a name that the watcher does not look
//! at; then one rename. What is dropped between the steps leaves the folder as it was.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::{folder, shared_folder};
use crate::Error;
use toolgate_core::ids;
use toolgate_store::Store;

/// A file that is written whole and has not got its name yet: the watcher never sees half a file.
pub(super) struct StagedFile {
    part: PathBuf,
    target: PathBuf,
}

impl StagedFile {
    async fn write(folder: &Path, name: &str, bytes: Bytes) -> Result<Self, Error> {
        let staged = Self {
            target: folder.join(plain(name)?),
            // A name of its own: two uploads at once do not write into one another's file.
            part: folder.join(format!(".{name}.{}.part", ids::ulid("put"))),
        };
        let part = staged.part.clone();
        let written = tokio::task::spawn_blocking(move || write_new(&part, &bytes));
        let written = written
            .await
            .map_err(|cause| Error::Internal(cause.into()))?;
        written.map_err(|_| not_writable())?;
        Ok(staged)
    }

    /// Gives the file its name.
    async fn put(self) -> Result<(), Error> {
        let put = tokio::fs::rename(&self.part, &self.target).await;
        put.map_err(|_| not_writable())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.part);
    }
}

/// A file on its way into the plugins folder.
pub(super) enum StagedPlugin {
    /// Into the folder of this machine, which is the only one.
    File(StagedFile),
    /// Into the one that machines share: its content is stored, and its name does not lead to it yet.
    Shared {
        store: Store,
        name: String,
        sha256: String,
    },
}

impl StagedPlugin {
    /// Gives the file its name.
    pub(super) async fn put(self, now_ms: i64) -> Result<(), Error> {
        match self {
            Self::File(staged) => staged.put().await,
            Self::Shared {
                store,
                name,
                sha256,
            } => {
                store
                    .put_plugin_source(&name, &sha256, true, now_ms)
                    .await?;
                Ok(())
            }
        }
    }
}

/// Where plugin files are, and those that served once.
#[derive(Clone, Copy, Debug)]
pub struct PluginFolders<'a> {
    pub plugins: &'a Path,
    pub captured: &'a Path,
}

impl PluginFolders<'_> {
    /// Brings a file as far as the plugins folder, or the one that machines share.
    pub(super) async fn stage(
        self,
        store: &Store,
        name: &str,
        bytes: Bytes,
        now_ms: i64,
    ) -> Result<StagedPlugin, Error> {
        if store.is_file() {
            let staged = StagedFile::write(self.plugins, name, bytes).await?;
            return Ok(StagedPlugin::File(staged));
        }
        let name = plain(name)?.to_owned();
        let sha256 = hex::encode(Sha256::digest(&bytes));
        store.put_plugin_bytes(&sha256, &bytes, now_ms).await?;
        Ok(StagedPlugin::Shared {
            store: store.clone(),
            name,
            sha256,
        })
    }

    /// A file that served once, by the hash of its content.
    pub(super) async fn kept(self, store: &Store, sha256: &str) -> anyhow::Result<Bytes> {
        shared_folder::fetch(store, self.captured, sha256).await?;
        let kept = folder::captured(self.captured, sha256);
        Ok(tokio::fs::read(&kept).await?.into())
    }
}

/// A file that is out of the watcher's sight and comes back unless it is deleted.
pub(super) struct TakenFile {
    aside: PathBuf,
    from: Option<PathBuf>,
}

impl TakenFile {
    /// `None`: there is no such file.
    pub(super) async fn take(folder: &Path, name: &str) -> Result<Option<Self>, Error> {
        let from = folder.join(plain(name)?);
        let aside = folder.join(format!(".{name}.{}.gone", ids::ulid("del")));
        match tokio::fs::rename(&from, &aside).await {
            Ok(()) => Ok(Some(Self {
                aside,
                from: Some(from),
            })),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(_) => Err(not_writable()),
        }
    }

    pub(super) async fn delete(mut self) -> Result<(), Error> {
        self.from = None;
        let gone = tokio::fs::remove_file(&self.aside).await;
        gone.map_err(|_| not_writable())
    }
}

impl Drop for TakenFile {
    fn drop(&mut self) {
        if let Some(from) = &self.from {
            let _ = fs::rename(&self.aside, from);
        }
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A name that stays in the folder.
pub(super) fn plain(name: &str) -> Result<&str, Error> {
    let fits =
        name.ends_with(".wasm") && !name.starts_with('.') && !name.contains(['/', '\\', '\0']);
    fits.then_some(name)
        .ok_or_else(|| Error::Internal(anyhow::anyhow!("a plugin's file name leaves the folder")))
}

fn not_writable() -> Error {
    Error::Conflict(
        "the gateway may not write to its plugins folder; copy the file there yourself".to_owned(),
    )
}
