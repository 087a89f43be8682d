//! The plugins folder of an installation of several machines. Their database holds which file has which
//! content; the folder of each machine is a door to it.
//!
//! What this machine's folder shows to have changed is put into the database: a file that appears or is
//! written, and one that is deleted. What the database holds, by whichever machine it came in, is laid into a
//! folder of this process, the mirror, and only that is looked at by [`super::intake`]: so every process judges
//! the same files. A folder that this machine has not seen before (a new machine, a fresh container, a mount
//! that is missing) deletes nothing, and brings nothing back that was replaced or removed.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use super::folder::{self, CaptureError, Fingerprint};
use super::recall::KnownFiles;
use toolgate_core::ids;
use toolgate_store::{PluginSource, SourcePut, Store, Topic};

/// A file is taken once it has not changed for this long.
const STABLE: Duration = Duration::from_millis(500);
/// At start, a file that was last written this long ago counts as stable at once.
const OLD_MS: i64 = 2_000;
/// Another process inspects what it has put here; it has this long for it.
const INSPECTED_ELSEWHERE_WITHIN: Duration = Duration::from_secs(5);

pub(super) struct SharedFolder {
    store: Store,
    /// The operator's folder on this machine.
    door: PathBuf,
    mirror: PathBuf,
    captured: PathBuf,
    memory: LocalFolderState,
    memory_file: PathBuf,
    settling: BTreeMap<String, (Fingerprint, Instant)>,
    /// Files that were there when the folder was seen first, and are not taken yet: nobody is known to have
    /// written them.
    found: HashSet<String>,
    /// By the database's count of changes, when the mirror was true to it last.
    at: Option<i64>,
    mirrored: BTreeMap<String, MirroredFile>,
    /// Contents that this process has put into the database: it inspects them.
    put_here: HashSet<String>,
}

/// A file of the mirror.
struct MirroredFile {
    sha256: String,
    mark: String,
    since: Instant,
}

/// What was in the operator's folder when it was looked at last.
#[derive(Default, Serialize, Deserialize)]
struct LocalFolderState {
    /// Device and inode of the folder.
    folder: Option<(u64, u64)>,
    files: BTreeMap<String, LocalFile>,
}

#[derive(Clone, Serialize, Deserialize)]
struct LocalFile {
    mark: String,
    /// `None`: it could not be read.
    sha256: Option<String>,
}

impl SharedFolder {
    pub(super) fn open(store: Store, door: &Path, data_dir: &Path) -> io::Result<Self> {
        let mirror = data_dir.join("plugins-mirror");
        fs::create_dir_all(&mirror)?;
        let memory_file = data_dir.join("plugins-folder.json");
        let memory = match fs::read(&memory_file) {
            // What cannot be read is a folder that was not seen before.
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => LocalFolderState::default(),
            Err(cause) => return Err(cause),
        };
        Ok(Self {
            store,
            door: door.to_owned(),
            mirror,
            captured: data_dir.join("plugins"),
            memory,
            memory_file,
            settling: BTreeMap::new(),
            found: HashSet::new(),
            at: None,
            mirrored: BTreeMap::new(),
            put_here: HashSet::new(),
        })
    }

    pub(super) fn mirror(&self) -> &Path {
        &self.mirror
    }

    /// Whether the file is in the shared folder, by the last look.
    pub(super) fn holds(&self, name: &str) -> bool {
        self.mirrored.contains_key(name)
    }

    /// The files of the mirror as it was made: none of them has to be read for its hash.
    pub(super) fn known(&self) -> KnownFiles {
        let files = self.mirrored.iter();
        files
            .map(|(name, file)| (name.clone(), (file.mark.clone(), file.sha256.clone())))
            .collect()
    }

    /// Whether a content of the mirror may be inspected here by now.
    pub(super) fn may_inspect(&self, name: &str, sha256: &str) -> bool {
        let waited = |file: &MirroredFile| file.since.elapsed() >= INSPECTED_ELSEWHERE_WITHIN;
        self.put_here.contains(sha256) || self.mirrored.get(name).is_none_or(waited)
    }

    /// Whether a copy of the mirror is what the database says; one that is not is made again.
    pub(super) fn is_sound(&mut self, name: &str, sha256: &str) -> bool {
        let sound = self
            .mirrored
            .get(name)
            .is_none_or(|file| file.sha256 == sha256);
        if !sound {
            self.mirrored.remove(name);
            self.at = None;
        }
        sound
    }

    /// Puts into the database what has changed in the operator's folder, and lays into the mirror what has
    /// changed in the database. Answers whether a file is still being written. `starting`: files that were
    /// written a while ago need not settle.
    pub(super) async fn sync(
        &mut self,
        bytes_max: u64,
        now_ms: i64,
        starting: bool,
    ) -> anyhow::Result<bool> {
        let unsettled = self.scan_local_folder(bytes_max, now_ms, starting).await?;
        let at = self.store.changes().await?.get(Topic::Plugins);
        if self.at != Some(at) {
            self.lay_out().await?;
            self.at = Some(at);
        }
        Ok(unsettled)
    }

    async fn scan_local_folder(
        &mut self,
        bytes_max: u64,
        now_ms: i64,
        starting: bool,
    ) -> anyhow::Result<bool> {
        let door = self.door.clone();
        let seen = tokio::task::spawn_blocking(move || {
            let Some(folder) = fs::metadata(&door).ok().filter(fs::Metadata::is_dir) else {
                return Ok(None);
            };
            Ok::<_, io::Error>(Some(((folder.dev(), folder.ino()), folder::files(&door)?)))
        });
        let seen = seen.await?.with_context(|| {
            format!("the plugins folder {} cannot be read", self.door.display())
        })?;
        // A folder that is away says nothing of its files.
        let Some((folder, present)) = seen else {
            return Ok(false);
        };
        let mut changed = false;
        if self.memory.folder != Some(folder) {
            self.found = present.iter().map(|(name, _)| name.clone()).collect();
            self.memory = LocalFolderState {
                folder: Some(folder),
                files: BTreeMap::new(),
            };
            changed = true;
        }
        let mut unsettled = false;
        for (name, fingerprint) in &present {
            let before = self.memory.files.get(name);
            if before.is_some_and(|before| before.mark == fingerprint.mark()) {
                self.settling.remove(name);
                continue;
            }
            let old = starting && now_ms - fingerprint.modified_ms() > OLD_MS;
            if !old && !self.has_settled(name, *fingerprint) {
                unsettled = true;
                continue;
            }
            match self.take(name, *fingerprint, bytes_max, now_ms).await? {
                None => unsettled = true,
                Some(file) => {
                    self.settling.remove(name);
                    self.found.remove(name);
                    self.memory.files.insert(name.clone(), file);
                    changed = true;
                }
            }
        }
        let is_there = |name: &String| present.iter().any(|(there, _)| there == name);
        let gone: Vec<String> = self
            .memory
            .files
            .keys()
            .filter(|name| !is_there(name))
            .cloned()
            .collect();
        for name in gone {
            if let Some(sha256) = self.memory.files[&name].sha256.clone()
                && self
                    .store
                    .withdraw_plugin_source(&name, &sha256, now_ms)
                    .await?
            {
                tracing::info!(plugin.file = %name, plugin.sha256 = %sha256, "plugins.withdrawn");
            }
            self.memory.files.remove(&name);
            changed = true;
        }
        self.settling.retain(|name, _| is_there(name));
        self.found.retain(|name| is_there(name));
        if changed {
            self.remember().await?;
        }
        Ok(unsettled)
    }

    fn has_settled(&mut self, name: &str, fingerprint: Fingerprint) -> bool {
        let now = Instant::now();
        let seen = self
            .settling
            .entry(name.to_owned())
            .or_insert((fingerprint, now));
        if seen.0 != fingerprint {
            *seen = (fingerprint, now);
        }
        seen.1.elapsed() >= STABLE
    }

    /// Puts a file of the operator's folder into the database. `None`: it changed meanwhile.
    async fn take(
        &mut self,
        name: &str,
        fingerprint: Fingerprint,
        bytes_max: u64,
        now_ms: i64,
    ) -> anyhow::Result<Option<LocalFile>> {
        let written = !self.found.contains(name);
        let (path, store) = (self.door.join(name), self.captured.clone());
        let captured = tokio::task::spawn_blocking(move || {
            let sha256 = folder::capture(&path, fingerprint, &store, bytes_max)?;
            let bytes = fs::read(folder::captured(&store, &sha256)).map_err(CaptureError::Io)?;
            Ok::<_, CaptureError>((sha256, bytes))
        });
        let mark = fingerprint.mark();
        let (sha256, bytes) = match captured.await? {
            Ok(captured) => captured,
            Err(CaptureError::Moving) => return Ok(None),
            Err(CaptureError::TooLarge(_) | CaptureError::Io(_)) => {
                // It stays this machine's: there it is judged, and told to be bad.
                self.show_alone(name).await?;
                return Ok(Some(LocalFile { mark, sha256: None }));
            }
        };
        self.store.put_plugin_bytes(&sha256, &bytes, now_ms).await?;
        match self
            .store
            .put_plugin_source(name, &sha256, written, now_ms)
            .await?
        {
            SourcePut::Done => {
                tracing::info!(plugin.file = name, plugin.sha256 = %sha256, "plugins.shared");
                self.put_here.insert(sha256.clone());
            }
            SourcePut::Known => {}
            SourcePut::Superseded => tracing::warn!(
                plugin.file = name,
                plugin.sha256 = %sha256,
                "plugins.file_superseded: this content was replaced or removed before, so it does not serve; \
                 write the file again to bring it back"
            ),
        }
        Ok(Some(LocalFile {
            mark,
            sha256: Some(sha256),
        }))
    }

    /// A file that cannot be shared is looked at where it is, unless the shared folder has one of its name.
    async fn show_alone(&self, name: &str) -> io::Result<()> {
        if self.mirrored.contains_key(name) {
            tracing::warn!(
                plugin.file = name,
                "plugins.file_unreadable: it is too large or cannot be read"
            );
            return Ok(());
        }
        let link = self.mirror.join(name);
        let _ = tokio::fs::remove_file(&link).await;
        tokio::fs::symlink(std::path::absolute(self.door.join(name))?, link).await
    }

    /// Makes the mirror hold what the database does.
    async fn lay_out(&mut self) -> anyhow::Result<()> {
        let sources = self.store.list_plugin_sources().await?;
        for PluginSource {
            file_name, sha256, ..
        } in &sources
        {
            let there = self.mirrored.get(file_name);
            if there.is_some_and(|there| there.sha256 == *sha256) {
                continue;
            }
            if !fetch(&self.store, &self.captured, sha256).await? {
                tracing::error!(plugin.file = %file_name, plugin.sha256 = %sha256, "plugins.content_missing");
                continue;
            }
            let (from, to) = (
                folder::captured(&self.captured, sha256),
                self.mirror.join(file_name),
            );
            let part = self.mirror.join(format!(".{}.part", ids::ulid("put")));
            let laid = tokio::task::spawn_blocking(move || {
                if !is_same(&from, &to) {
                    fs::copy(&from, &part)?;
                    fs::rename(&part, &to)?;
                }
                Ok::<_, io::Error>(Fingerprint::from_metadata(&fs::metadata(&to)?).mark())
            });
            let file = MirroredFile {
                sha256: sha256.clone(),
                mark: laid.await??,
                since: Instant::now(),
            };
            self.mirrored.insert(file_name.clone(), file);
        }
        let shared: HashSet<&str> = sources
            .iter()
            .map(|source| source.file_name.as_str())
            .collect();
        self.mirrored
            .retain(|name, _| shared.contains(name.as_str()));
        let alone = |name: &str| {
            let of_door = self.memory.files.get(name);
            of_door.is_some_and(|file| file.sha256.is_none())
        };
        let mut entries = tokio::fs::read_dir(&self.mirror).await?;
        while let Some(entry) = entries.next_entry().await? {
            let name = entry.file_name();
            let kept = name
                .to_str()
                .is_some_and(|name| shared.contains(name) || alone(name));
            if !kept {
                tokio::fs::remove_file(entry.path()).await?;
            }
        }
        let held: HashSet<&str> = sources
            .iter()
            .map(|source| source.sha256.as_str())
            .collect();
        self.put_here
            .retain(|sha256| held.contains(sha256.as_str()));
        Ok(())
    }

    async fn remember(&self) -> anyhow::Result<()> {
        let (text, file) = (serde_json::to_vec(&self.memory)?, self.memory_file.clone());
        let written = tokio::task::spawn_blocking(move || {
            let part = file.with_extension("part");
            let mut to = fs::File::create(&part)?;
            to.write_all(&text)?;
            to.sync_data()?;
            fs::rename(&part, &file)
        });
        Ok(written.await??)
    }
}

/// Whether two files are there and have the same content.
fn is_same(one: &Path, other: &Path) -> bool {
    let bytes = |path| fs::metadata(path).map(|file| file.len()).ok();
    if bytes(one) != bytes(other) {
        return false;
    }
    let (Ok(one), Ok(other)) = (fs::read(one), fs::read(other)) else {
        return false;
    };
    one == other
}

/// Makes sure that the content with this hash is among the captured copies of this machine. `false`: it is
/// not kept anywhere.
pub(super) async fn fetch(store: &Store, captured: &Path, sha256: &str) -> anyhow::Result<bool> {
    let target = folder::captured(captured, sha256);
    if tokio::fs::try_exists(&target).await? {
        return Ok(true);
    }
    // Of a database in a file, the copies of this machine are all there are.
    if store.is_file() {
        return Ok(false);
    }
    let Some(bytes) = store.plugin_bytes(sha256).await? else {
        return Ok(false);
    };
    anyhow::ensure!(
        hex::encode(Sha256::digest(&bytes)) == sha256,
        "the content that the database has for {sha256} is another one"
    );
    let part = target.with_extension(ids::ulid("part"));
    let written = tokio::task::spawn_blocking(move || {
        let mut new = fs::OpenOptions::new();
        let mut file = new.write(true).create_new(true).mode(0o600).open(&part)?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        fs::rename(&part, &target)
    });
    written.await??;
    Ok(true)
}
