//! The master key: its file, and how it is changed while gateways serve.
//!
//! `FILE` is the key that seals; `FILE.previous`, where it exists, still opens. Every sealing checks
//! whether `FILE` has been replaced, and a box under an unknown key makes the files be read again:
//! a running gateway uses a new key without a restart. [`Vault::rotate_key`] changes the files so that
//! at each moment, also after a crash, the key of every box is in one of the two.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use zeroize::Zeroizing;

use super::Secret;
use super::keyfile::{self, KeyFileError};
use super::sealed::{self, MasterKey, Parts, SealContext, SealError};

/// Why the vault cannot seal or open.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("the master key cannot be read")]
    Key(#[from] KeyFileError),
    #[error("the encrypted value cannot be decrypted")]
    Sealed(#[from] SealError),
    #[error("the value is encrypted with the master key {0}, which is not here")]
    UnknownKey(String),
    #[error("the claims cannot be signed")]
    Claims,
    #[error("the master key file {path} cannot be replaced")]
    Replace {
        path: String,
        #[source]
        cause: io::Error,
    },
}

/// Seals and opens with the keys of one file. Cheap to clone.
#[derive(Clone)]
pub struct Vault {
    file: Arc<PathBuf>,
    keys: Arc<ArcSwap<VaultKeys>>,
}

pub(super) struct VaultKeys {
    pub(super) current: MasterKey,
    previous: Option<MasterKey>,
    read_from: FileIdentity,
}

/// Device, inode and time of the last change: a replaced file differs in one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileIdentity(u64, u64, i64, i64);

impl VaultKeys {
    fn named(&self, id: &str) -> Option<&MasterKey> {
        std::iter::once(&self.current)
            .chain(&self.previous)
            .find(|key| key.id() == id)
    }
}

impl Vault {
    /// Reads the keys; creates the file at first use.
    pub fn open(file: &Path) -> Result<Self, VaultError> {
        keyfile::load_or_create(file)?;
        Self::open_existing(file)
    }

    /// Reads the keys of an existing file.
    ///
    /// # Errors
    /// [`KeyFileError::Missing`] where it does not exist; no file is created.
    pub fn open_existing(file: &Path) -> Result<Self, VaultError> {
        super::jwt::install();
        Ok(Self {
            keys: Arc::new(ArcSwap::from_pointee(read(file)?)),
            file: Arc::new(file.to_owned()),
        })
    }

    /// Whether boxes under the key of this name can be opened.
    pub fn has_key(&self, id: &str) -> Result<bool, VaultError> {
        Ok(self.keys_with(id)?.named(id).is_some())
    }

    /// The name of the key that a box is under.
    pub fn key_id_of(sealed: &str) -> Result<String, VaultError> {
        Ok(Parts::parse(sealed)?.key_id)
    }

    /// Seals under the current key of the file.
    pub fn seal(&self, place: &SealContext<'_>, secret: &Secret) -> Result<String, VaultError> {
        let keys = self.current()?;
        Ok(sealed::seal(&keys.current, place, secret)?)
    }

    /// The secret of a box that was sealed for this record.
    pub fn unseal(&self, place: &SealContext<'_>, sealed: &str) -> Result<Secret, VaultError> {
        let parts = Parts::parse(sealed)?;
        let keys = self.keys_with(&parts.key_id)?;
        let key = named(&keys, &parts)?;
        Ok(parts.open(key, place)?)
    }

    /// The same box under the current key; `None` when it is already.
    pub fn rewrap(
        &self,
        place: &SealContext<'_>,
        sealed: &str,
    ) -> Result<Option<String>, VaultError> {
        let parts = Parts::parse(sealed)?;
        let current = self.current()?;
        if parts.key_id == current.current.id() {
            return Ok(None);
        }
        let keys = self.keys_with(&parts.key_id)?;
        let from = named(&keys, &parts)?;
        Ok(Some(parts.rewrap(from, &current.current, place)?))
    }

    /// A key for `purpose` that is derived from the master key alone, so that every process with the
    /// master key has it too. It changes with the master key.
    pub fn derive(&self, purpose: &str) -> Result<[u8; 32], VaultError> {
        Ok(*self.current()?.current.derived(purpose))
    }

    /// The name of the key that seals now.
    pub fn key_id(&self) -> Result<String, VaultError> {
        Ok(self.current()?.current.id().to_owned())
    }

    /// Writes a new key into the file and keeps the previous one as `FILE.previous`. Every box must be
    /// under the current key before, since the key of an earlier rotation is removed.
    pub fn rotate_key(&self) -> Result<String, VaultError> {
        let failed = |cause| VaultError::Replace {
            path: self.file.display().to_string(),
            cause,
        };
        let (next, kept, previous) = (
            beside(&self.file, "next"),
            beside(&self.file, "kept"),
            previous(&self.file),
        );
        // Left by a rotation that was interrupted: no box was sealed under it.
        forget(&next).map_err(failed)?;
        forget(&kept).map_err(failed)?;
        keyfile::load_or_create(&next)?;
        fs::hard_link(&*self.file, &kept).map_err(failed)?;
        fs::rename(&kept, &previous).map_err(failed)?;
        // Where both were the same file already, the renaming has done nothing (rename(2)).
        forget(&kept).map_err(failed)?;
        fs::rename(&next, &*self.file).map_err(failed)?;
        self.key_id()
    }

    /// Keys for another purpose, from the current master key and the one before.
    pub(super) fn derived(
        &self,
        purpose: &str,
    ) -> Result<[Option<Zeroizing<[u8; 32]>>; 2], VaultError> {
        let keys = self.current()?;
        let previous = keys.previous.as_ref();
        Ok([
            Some(keys.current.derived(purpose)),
            previous.map(|key| key.derived(purpose)),
        ])
    }

    /// The keys, read again if the file has been replaced.
    pub(super) fn current(&self) -> Result<Arc<VaultKeys>, VaultError> {
        let keys = self.keys.load_full();
        if identity(&self.file)? == keys.read_from {
            return Ok(keys);
        }
        self.read_again()
    }

    pub(super) fn keys_with(&self, id: &str) -> Result<Arc<VaultKeys>, VaultError> {
        let keys = self.keys.load_full();
        if keys.named(id).is_some() {
            return Ok(keys);
        }
        self.read_again()
    }

    fn read_again(&self) -> Result<Arc<VaultKeys>, VaultError> {
        let keys = Arc::new(read(&self.file)?);
        self.keys.store(keys.clone());
        Ok(keys)
    }
}

pub(super) fn named<'a>(keys: &'a VaultKeys, parts: &Parts) -> Result<&'a MasterKey, VaultError> {
    keys.named(&parts.key_id)
        .ok_or_else(|| VaultError::UnknownKey(parts.key_id.clone()))
}

fn read(file: &Path) -> Result<VaultKeys, VaultError> {
    let current = keyfile::load(file)?;
    // Taken after the key: a file replaced in between differs at the next look.
    let read_from = identity(file)?;
    let current = if keyfile::load(file)? == current {
        current
    } else {
        return read(file);
    };
    let previous = previous(file);
    Ok(VaultKeys {
        current: MasterKey::new(current),
        previous: match previous.exists() {
            true => Some(MasterKey::new(keyfile::load(&previous)?)),
            false => None,
        },
        read_from,
    })
}

fn identity(file: &Path) -> Result<FileIdentity, VaultError> {
    let seen = fs::metadata(file).map_err(|cause| {
        VaultError::Key(KeyFileError::Io {
            path: file.display().to_string(),
            cause,
        })
    })?;
    Ok(FileIdentity(
        seen.dev(),
        seen.ino(),
        seen.mtime(),
        seen.mtime_nsec(),
    ))
}

/// The file of the previous key.
pub fn previous(file: &Path) -> PathBuf {
    beside(file, "previous")
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn forget(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: SealContext<'static> = SealContext {
        kind: "connection",
        workspace_id: "ws_1",
        user_id: "ada",
        service: "github",
        id: "con_1",
    };

    fn vault() -> (tempfile::TempDir, Vault) {
        let dir = tempfile::tempdir().unwrap();
        let vault = Vault::open(&dir.path().join("master.key")).unwrap();
        (dir, vault)
    }

    #[test]
    fn a_running_vault_takes_up_a_new_key() {
        let (dir, running) = vault();
        let command = Vault::open(&dir.path().join("master.key")).unwrap();
        let secret = Secret::new("hunter2");
        let old = running.seal(&HOME, &secret).unwrap();
        let old_id = running.key_id().unwrap();
        let new_id = command.rotate_key().unwrap();
        assert_ne!(old_id, new_id);
        let rewrapped = command.rewrap(&HOME, &old).unwrap().unwrap();
        assert!(rewrapped.contains(&new_id));
        // The running vault opens boxes of both keys and seals under the new one.
        assert_eq!(running.unseal(&HOME, &rewrapped).unwrap(), secret);
        assert_eq!(running.unseal(&HOME, &old).unwrap(), secret);
        assert!(running.seal(&HOME, &secret).unwrap().contains(&new_id));
        assert_eq!(command.rewrap(&HOME, &rewrapped).unwrap(), None);
    }

    #[test]
    fn a_derived_key_is_the_same_in_every_process_and_another_for_each_purpose() {
        let (dir, vault) = vault();
        let elsewhere = Vault::open(&dir.path().join("master.key")).unwrap();
        let key = vault.derive("a").unwrap();
        assert_eq!(key, elsewhere.derive("a").unwrap());
        assert_ne!(key, vault.derive("b").unwrap());
        vault.rotate_key().unwrap();
        assert_ne!(key, vault.derive("a").unwrap());
    }

    #[test]
    fn the_key_before_the_previous_one_is_gone() {
        let (_dir, vault) = vault();
        let secret = Secret::new("hunter2");
        let first = vault.seal(&HOME, &secret).unwrap();
        vault.rotate_key().unwrap();
        let second = vault.seal(&HOME, &secret).unwrap();
        vault.rotate_key().unwrap();
        assert_eq!(vault.unseal(&HOME, &second).unwrap(), secret);
        let fresh = Vault::open(&vault.file).unwrap();
        assert!(matches!(
            fresh.unseal(&HOME, &first),
            Err(VaultError::UnknownKey(_))
        ));
    }

    #[test]
    fn a_rotation_that_was_cut_short_can_be_repeated() {
        let (dir, vault) = vault();
        let file = dir.path().join("master.key");
        let secret = Secret::new("hunter2");
        let sealed = vault.seal(&HOME, &secret).unwrap();
        // Stopped after the first steps: a key without a use, the old one linked twice.
        keyfile::load_or_create(&beside(&file, "next")).unwrap();
        fs::hard_link(&file, beside(&file, "kept")).unwrap();
        fs::hard_link(&file, previous(&file)).unwrap();
        vault.rotate_key().unwrap();
        let fresh = Vault::open(&file).unwrap();
        assert_eq!(fresh.unseal(&HOME, &sealed).unwrap(), secret);
    }

    #[test]
    fn a_box_of_an_unknown_key_names_that_key() {
        let (_one, here) = vault();
        let (_two, there) = vault();
        let sealed = there.seal(&HOME, &Secret::new("hunter2")).unwrap();
        let refused = here.unseal(&HOME, &sealed).unwrap_err();
        assert!(refused.to_string().contains(&there.key_id().unwrap()));
    }
}
