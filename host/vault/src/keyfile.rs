//! Key files: 32 random bytes, readable only by their owner, created at first use.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rand::Rng as _;
use zeroize::Zeroizing;

use super::Secret;

/// A key that a provider handed out.
const TEXT_BYTES_MAX: u64 = 4 << 10;
/// Begins the extension of a key file that is being written; the process id follows.
const PART: &str = "part";
/// An older file of that kind was left by a process that ended.
const PART_LIFE: Duration = Duration::from_secs(60);

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("the key file {path} holds {bytes} bytes; a key is exactly 32")]
    Length { path: String, bytes: usize },
    #[error("the key file {path} must hold one line of visible ASCII characters")]
    Text { path: String },
    #[error("the key file {path} is open to others; run: chmod 600 {path}")]
    Open { path: String },
    #[error("the key file {path} is missing")]
    Missing { path: String },
    #[error("the key file {path} cannot be read or made")]
    Io {
        path: String,
        #[source]
        cause: io::Error,
    },
}

/// Reads a secret text of the operator, without the white space around it.
pub fn read_text(path: &Path) -> Result<Secret, KeyFileError> {
    let shown = path.display().to_string();
    let failed = |cause| KeyFileError::Io {
        path: shown.clone(),
        cause,
    };
    let about = fs::metadata(path).map_err(failed)?;
    if !is_private(&about) {
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

/// Whether only this user can read the file, by its mode.
fn is_private(about: &fs::Metadata) -> bool {
    let user = rustix::process::geteuid().as_raw();
    is_private_mode(about.mode(), about.uid(), user)
}

/// A secret that Kubernetes mounts belongs to root and is readable by the group of the pod, which is the only way for
/// the user of the pod to read it.
fn is_private_mode(mode: u32, owner: u32, user: u32) -> bool {
    mode & 0o077 == 0 || (mode & 0o037 == 0 && owner == 0 && user != 0)
}

/// Reads the key, or creates the file (mode 0600) with a new one.
pub fn load_or_create(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
    let key = loop {
        match load(path) {
            Err(KeyFileError::Missing { .. }) => {}
            loaded => break loaded?,
        }
        if let Some(key) = create(path)? {
            break key;
        }
    };
    remove_parts(path);
    Ok(key)
}

/// Reads a key from an existing file.
///
/// # Errors
/// [`KeyFileError::Missing`] where the file does not exist.
pub fn load(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => KeyFileError::Missing { path: shown(path) },
        _ => io_error(path, cause),
    };
    let bytes = Zeroizing::new(fs::read(path).map_err(failed)?);
    if !is_private(&fs::metadata(path).map_err(failed)?) {
        return Err(KeyFileError::Open { path: shown(path) });
    }
    let key: [u8; 32] = bytes
        .as_slice()
        .try_into()
        .map_err(|_| KeyFileError::Length {
            path: shown(path),
            bytes: bytes.len(),
        })?;
    Ok(Zeroizing::new(key))
}

/// `None`: another process was first, or has removed the file that this one prepared.
fn create(path: &Path) -> Result<Option<Zeroizing<[u8; 32]>>, KeyFileError> {
    let failed = |cause| io_error(path, cause);
    let mut key = Zeroizing::new([0; 32]);
    rand::rng().fill_bytes(&mut key[..]);
    // The file gets its name once it is complete, so that two processes that start at once use one key.
    let part = path.with_extension(format!("{PART}{}", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&part)
        .map_err(failed)?;
    let written = file.write_all(&key[..]).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&part, path));
    let _ = fs::remove_file(&part);
    match linked {
        // Name and content are on disk before anything is sealed under the key.
        Ok(()) => {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = fs::File::open(folder.unwrap_or(Path::new(".")));
            folder
                .and_then(|folder| folder.sync_all())
                .map_err(failed)?;
            Ok(Some(key))
        }
        Err(cause)
            if matches!(
                cause.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
            ) =>
        {
            Ok(None)
        }
        Err(cause) => Err(failed(cause)),
    }
}

/// Removes files of processes that were killed while they created this key. A process that takes longer than
/// [`PART_LIFE`] finds its file removed and begins again.
fn remove_parts(path: &Path) {
    let beginning = path.with_extension(PART);
    let (Some(folder), Some(beginning)) = (path.parent(), beginning.file_name()) else {
        return;
    };
    let folder = match folder == Path::new("") {
        true => Path::new("."),
        false => folder,
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .as_encoded_bytes()
            .strip_prefix(beginning.as_encoded_bytes());
        let is_part = process
            .is_some_and(|process| !process.is_empty() && process.iter().all(u8::is_ascii_digit));
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_part && age().is_some_and(|age| age > PART_LIFE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn io_error(path: &Path, cause: io::Error) -> KeyFileError {
    KeyFileError::Io {
        path: shown(path),
        cause,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_group_reads_a_key_only_where_root_has_mounted_it_for_another_user() {
        for (mode, owner, user, private) in [
            (0o600, 7, 7, true),
            (0o400, 0, 7, true),
            (0o440, 0, 7, true),
            (0o440, 7, 7, false),
            (0o440, 0, 0, false),
            (0o460, 0, 7, false),
            (0o444, 0, 7, false),
        ] {
            assert_eq!(is_private_mode(mode, owner, user), private, "{mode:o}");
        }
    }

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

    #[test]
    fn files_of_a_killed_start_are_removed_and_no_others() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("master.key");
        #[expect(clippy::disallowed_methods, reason = "the age of a file on disk")]
        let long_ago = std::time::SystemTime::now() - 2 * PART_LIFE;
        let left = |name: &str, old: bool| {
            let file = fs::File::create(dir.path().join(name)).expect("made");
            if old {
                file.set_modified(long_ago).expect("set");
            }
        };
        for name in ["master.part12", "master.part"] {
            left(name, true);
        }
        for name in ["cache.part12", "master.part12x", "master.partial"] {
            left(name, true);
        }
        left("master.part13", false);
        load_or_create(&path).expect("made");
        let there = |name: &str| dir.path().join(name).exists();
        assert!(!there("master.part12"));
        for name in [
            "master.part",
            "master.part13",
            "cache.part12",
            "master.part12x",
            "master.partial",
            "master.key",
        ] {
            assert!(there(name), "{name}");
        }
    }

    #[test]
    fn a_missing_key_is_not_made_where_it_should_be_there() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("k");
        assert!(matches!(load(&path), Err(KeyFileError::Missing { .. })));
        assert!(!path.exists());
    }
}
