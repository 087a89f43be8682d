//! Key files: 32 random bytes, readable by their owner alone, made on first use.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use rand::Rng as _;
use zeroize::Zeroizing;

use super::Secret;

/// A key that a provider handed out.
const TEXT_BYTES_MAX: u64 = 4 << 10;

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("the key file {path} holds {bytes} bytes; a key is exactly 32")]
    Length { path: String, bytes: usize },
    #[error("the key file {path} must hold one line of visible ASCII characters")]
    Text { path: String },
    #[error("the key file {path} is open to others; run: chmod 600 {path}")]
    Open { path: String },
    #[error("the key file {path} cannot be read or made")]
    Io {
        path: String,
        #[source]
        cause: io::Error,
    },
}

/// Reads a secret text that somebody else made, without the white space around it.
pub fn read_text(path: &Path) -> Result<Secret, KeyFileError> {
    let shown = path.display().to_string();
    let failed = |cause| KeyFileError::Io {
        path: shown.clone(),
        cause,
    };
    let about = fs::metadata(path).map_err(failed)?;
    if about.permissions().mode() & 0o077 != 0 {
        return Err(KeyFileError::Open { path: shown });
    }
    if about.len() > TEXT_BYTES_MAX {
        return Err(KeyFileError::Text { path: shown });
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(failed)?);
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(KeyFileError::Text { path: shown });
    }
    Ok(Secret::new(text))
}

/// Reads the key, or makes the file (mode 0600) with a fresh one.
pub fn load_or_create(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
    let shown = path.display().to_string();
    let failed = |cause| KeyFileError::Io {
        path: shown.clone(),
        cause,
    };
    match fs::read(path) {
        Ok(bytes) => {
            let bytes = Zeroizing::new(bytes);
            let mode = fs::metadata(path).map_err(failed)?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(KeyFileError::Open { path: shown });
            }
            let key: [u8; 32] = bytes
                .as_slice()
                .try_into()
                .map_err(|_| KeyFileError::Length {
                    path: shown.clone(),
                    bytes: bytes.len(),
                })?;
            Ok(Zeroizing::new(key))
        }
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            let mut key = Zeroizing::new([0; 32]);
            rand::rng().fill_bytes(&mut key[..]);
            // Written whole before it has its name: two starts at once agree on one key.
            let part = path.with_extension(format!("part{}", std::process::id()));
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&part)
                .map_err(failed)?;
            file.write_all(&key[..])
                .and_then(|()| file.sync_all())
                .map_err(failed)?;
            match fs::hard_link(&part, path) {
                Ok(()) => {}
                Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                    let _ = fs::remove_file(&part);
                    return load_or_create(path);
                }
                Err(cause) => return Err(failed(cause)),
            }
            let _ = fs::remove_file(&part);
            Ok(key)
        }
        Err(cause) => Err(failed(cause)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_kept_private() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("k");
        let first = load_or_create(&path).expect("made");
        assert_eq!(*load_or_create(&path).expect("read"), *first);
        assert_eq!(
            fs::metadata(&path).expect("there").permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_key_of_another_length_or_open_to_others_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("k");
        fs::write(&path, [1; 31]).expect("written");
        assert!(matches!(
            load_or_create(&path),
            Err(KeyFileError::Open { .. })
        ));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
        assert!(matches!(
            load_or_create(&path),
            Err(KeyFileError::Length { bytes: 31, .. })
        ));
    }
}
