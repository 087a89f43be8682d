//! Master keys for transport to another machine: encrypted with a passphrase, in the format of `age`
//! (<https://age-encryption.org/v1>), so that the program `age` opens them too.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use age::secrecy::SecretString;
use age::{DecryptError, scrypt};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::keyfile::{self, KeyFileError};
use super::sealed::MasterKey;
use super::{Secret, master};

/// Shortest passphrase, in characters.
pub const PASSPHRASE_CHARS_MIN: usize = 12;
/// Base-2 logarithm of the work that a guess costs; what `age` uses too, about a second.
const WORK_FACTOR: u8 = 18;
/// More work is refused: a file could ask for hours of it.
const WORK_FACTOR_MAX: u8 = 22;
const FORMAT: u32 = 1;

/// Why keys cannot be exported or imported.
#[derive(Debug, thiserror::Error)]
pub enum KeyExportError {
    #[error("the passphrase has fewer than {PASSPHRASE_CHARS_MIN} characters")]
    ShortPassphrase,
    #[error("the passphrase is wrong")]
    WrongPassphrase,
    #[error("the file of encrypted keys is damaged or cut off")]
    Damaged,
    #[error("the file of encrypted keys is of format {0}, which this program does not know")]
    Format(u32),
    #[error("the keys cannot be encrypted")]
    Encrypt,
    #[error(transparent)]
    Key(#[from] KeyFileError),
}

/// The keys of one installation: the master key and, after a rotation, the one before.
pub struct KeyBundle {
    current: Zeroizing<[u8; 32]>,
    previous: Option<Zeroizing<[u8; 32]>>,
}

/// The plain text, as JSON; the keys in base64.
#[derive(Deserialize, Serialize)]
struct WrittenKeys<T> {
    format: u32,
    master_key: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_key: Option<T>,
}

impl KeyBundle {
    /// The keys of the file `master_key_file`, which has to exist.
    pub fn read(master_key_file: &Path) -> Result<Self, KeyExportError> {
        let previous = master::previous(master_key_file);
        let previous = previous.exists().then_some(previous);
        Ok(Self {
            current: keyfile::load(master_key_file)?,
            previous: previous.map(|file| keyfile::load(&file)).transpose()?,
        })
    }

    /// The name of the key that seals.
    pub fn key_id(&self) -> String {
        MasterKey::new(self.current.clone()).id().to_owned()
    }

    /// Creates the key files; neither may exist.
    pub fn write(&self, master_key_file: &Path) -> Result<(), KeyExportError> {
        write_new(master_key_file, &self.current)?;
        if let Some(previous) = &self.previous {
            write_new(&master::previous(master_key_file), previous)?;
        }
        Ok(())
    }

    /// The keys in a form that only the passphrase opens.
    pub fn encrypt(&self, passphrase: &Secret) -> Result<Vec<u8>, KeyExportError> {
        if passphrase.expose().chars().count() < PASSPHRASE_CHARS_MIN {
            return Err(KeyExportError::ShortPassphrase);
        }
        let text = |key: &Zeroizing<[u8; 32]>| Zeroizing::new(STANDARD.encode(&key[..]));
        let (current, previous) = (text(&self.current), self.previous.as_ref().map(text));
        let written = WrittenKeys {
            format: FORMAT,
            master_key: current.as_str(),
            previous_key: previous.as_ref().map(|text| text.as_str()),
        };
        let plain = serde_json::to_vec(&written).map_err(|_| KeyExportError::Encrypt)?;
        let plain = Zeroizing::new(plain);
        let mut recipient = scrypt::Recipient::new(secret(passphrase));
        recipient.set_work_factor(WORK_FACTOR);
        age::encrypt(&recipient, &plain).map_err(|_| KeyExportError::Encrypt)
    }

    /// The opposite of [`Self::encrypt`].
    pub fn decrypt(encrypted: &[u8], passphrase: &Secret) -> Result<Self, KeyExportError> {
        let mut identity = scrypt::Identity::new(secret(passphrase));
        identity.set_max_work_factor(WORK_FACTOR_MAX);
        let plain = age::decrypt(&identity, encrypted).map_err(|cause| match cause {
            DecryptError::DecryptionFailed
            | DecryptError::KeyDecryptionFailed
            | DecryptError::NoMatchingKeys => KeyExportError::WrongPassphrase,
            _ => KeyExportError::Damaged,
        })?;
        let plain = Zeroizing::new(plain);
        let written: WrittenKeys<&str> =
            serde_json::from_slice(&plain).map_err(|_| KeyExportError::Damaged)?;
        if written.format != FORMAT {
            return Err(KeyExportError::Format(written.format));
        }
        Ok(Self {
            current: key(written.master_key)?,
            previous: written.previous_key.map(key).transpose()?,
        })
    }
}

fn secret(passphrase: &Secret) -> SecretString {
    SecretString::from(passphrase.expose().to_owned())
}

fn key(text: &str) -> Result<Zeroizing<[u8; 32]>, KeyExportError> {
    let bytes = Zeroizing::new(STANDARD.decode(text).map_err(|_| KeyExportError::Damaged)?);
    let key: [u8; 32] = bytes
        .as_slice()
        .try_into()
        .map_err(|_| KeyExportError::Damaged)?;
    Ok(Zeroizing::new(key))
}

fn write_new(path: &Path, key: &Zeroizing<[u8; 32]>) -> Result<(), KeyFileError> {
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    made.and_then(|mut file| {
        file.write_all(&key[..])?;
        file.sync_all()
    })
    .map_err(|cause| KeyFileError::Io {
        path: path.display().to_string(),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SealContext, Vault};

    #[test]
    fn keys_travel_with_their_passphrase_and_with_no_other() {
        let dir = tempfile::tempdir().expect("a folder");
        let (here, there) = (dir.path().join("here.key"), dir.path().join("there.key"));
        let home = SealContext {
            kind: "connection",
            workspace_id: "ws_1",
            user_id: "ada",
            service: "github",
            id: "con_1",
        };
        let vault = Vault::open(&here).expect("opened");
        let token = Secret::new("hunter2");
        let old = vault.seal(&home, &token).expect("sealed");
        vault.rotate_key().expect("rotated");
        let new = vault.seal(&home, &token).expect("sealed");

        let passphrase = Secret::new("correct horse battery staple");
        let bundle = KeyBundle::read(&here).expect("read");
        let encrypted = bundle.encrypt(&passphrase).expect("encrypted");
        let wrong = KeyBundle::decrypt(&encrypted, &Secret::new("correct horse battery"));
        assert!(matches!(wrong, Err(KeyExportError::WrongPassphrase)));
        let cut = KeyBundle::decrypt(&encrypted[..encrypted.len() - 1], &passphrase);
        assert!(matches!(cut, Err(KeyExportError::Damaged)));

        let carried = KeyBundle::decrypt(&encrypted, &passphrase).expect("decrypted");
        assert_eq!(carried.key_id(), vault.key_id().expect("known"));
        carried.write(&there).expect("written");
        let restored = Vault::open(&there).expect("opened");
        for sealed in [old, new] {
            assert_eq!(restored.unseal(&home, &sealed).expect("opened"), token);
        }
        assert!(
            carried.write(&there).is_err(),
            "a key file is never replaced"
        );
    }

    #[test]
    fn a_short_passphrase_and_a_missing_key_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("master.key");
        assert!(KeyBundle::read(&file).is_err());
        assert!(!file.exists(), "looking makes no key");
        Vault::open(&file).expect("opened");
        let short = KeyBundle::read(&file)
            .expect("read")
            .encrypt(&Secret::new("elevenchars"));
        assert!(matches!(short, Err(KeyExportError::ShortPassphrase)));
    }
}
