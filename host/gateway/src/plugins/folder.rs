//! The plugins folder as files: what is there, whether it has stopped changing, a copy by hash.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use toolgate_core::ids;

/// What is read of a file at a time.
const PIECE_BYTES: usize = 64 << 10;

/// What tells one content of a file from the next without reading it. A write to a file
/// changes `changed_ns`, which no program can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub bytes: u64,
    modified_ns: i128,
    changed_ns: i128,
    device: u64,
    inode: u64,
}

impl Fingerprint {
    pub(super) fn from_metadata(metadata: &fs::Metadata) -> Self {
        let ns = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
        Self {
            bytes: metadata.size(),
            modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }

    /// As the database keeps it.
    pub(super) fn mark(&self) -> String {
        let Self {
            bytes,
            modified_ns,
            changed_ns,
            device,
            inode,
        } = self;
        format!("{bytes} {modified_ns} {changed_ns} {device} {inode}")
    }

    pub(super) fn modified_ms(&self) -> i64 {
        i64::try_from(self.modified_ns / 1_000_000).unwrap_or(i64::MAX)
    }
}

/// The `*.wasm` files of `dir` by name. A folder that is not there is empty.
pub(super) fn files(dir: &Path) -> io::Result<Vec<(String, Fingerprint)>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(cause),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !name.ends_with(".wasm") || name.starts_with('.') {
            continue;
        }
        // A file that vanished between the listing and this line is simply not there.
        if let Ok(metadata) = fs::metadata(entry.path())
            && metadata.is_file()
        {
            files.push((name, Fingerprint::from_metadata(&metadata)));
        }
    }
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(files)
}

/// Why a file could not be captured.
#[derive(Debug)]
pub(super) enum CaptureError {
    /// It changed while it was read: look again later.
    Moving,
    TooLarge(u64),
    Io(io::Error),
}

/// Copies a file of at most `bytes_max` into `store` under its SHA-256 and answers the hash. Only the copy is used from
/// here on; the file may change or vanish.
pub(super) fn capture(
    file: &Path,
    expected: Fingerprint,
    store: &Path,
    bytes_max: u64,
) -> Result<String, CaptureError> {
    if expected.bytes > bytes_max {
        return Err(CaptureError::TooLarge(expected.bytes));
    }
    let mut source = File::open(file).map_err(CaptureError::Io)?;
    let seen = read_through(&source, bytes_max, |_| Ok(())).map_err(CaptureError::Io)?;
    let now = fs::metadata(file).map_err(CaptureError::Io)?;
    if Fingerprint::from_metadata(&now) != expected || seen.bytes != expected.bytes {
        return Err(CaptureError::Moving);
    }
    let target = captured(store, &seen.sha256);
    if is_captured(store, &seen.sha256, expected) {
        return Ok(seen.sha256);
    }
    // Two files with one content may be written at once.
    let part = target.with_extension(ids::ulid("part"));
    let copied = source
        .rewind()
        .and_then(|()| copy(&source, bytes_max, &part));
    let kept = match copied {
        Ok(copied) if copied == seen => fs::rename(&part, &target).map_err(CaptureError::Io),
        Ok(_) => Err(CaptureError::Moving),
        Err(cause) => Err(CaptureError::Io(cause)),
    };
    if kept.is_err() {
        // What could not be written need not be there.
        let _ = fs::remove_file(&part);
    }
    kept.map(|()| seen.sha256)
}

/// Whether the copy with this hash, of a file of which `expected` was seen, is there.
pub(super) fn is_captured(store: &Path, sha256: &str, expected: Fingerprint) -> bool {
    fs::metadata(captured(store, sha256)).is_ok_and(|there| there.len() == expected.bytes)
}

/// The outcome of reading a file once.
#[derive(PartialEq, Eq)]
struct ReadOutcome {
    sha256: String,
    bytes: u64,
}

/// Reads a file piece by piece, one byte beyond `bytes_max` at most: nearly always it is read for its
/// hash alone.
fn read_through(
    source: &File,
    bytes_max: u64,
    mut piece: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<ReadOutcome> {
    let mut source = source.take(bytes_max + 1);
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut buffer = vec![0; PIECE_BYTES];
    loop {
        let read = match source.read(&mut buffer) {
            Ok(read) => read,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(cause),
        };
        if read == 0 {
            let sha256 = hex::encode(hash.finalize());
            return Ok(ReadOutcome { sha256, bytes });
        }
        hash.update(&buffer[..read]);
        piece(&buffer[..read])?;
        bytes += read as u64;
    }
}

fn copy(source: &File, bytes_max: u64, to: &Path) -> io::Result<ReadOutcome> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    let copied = read_through(source, bytes_max, |piece| file.write_all(piece))?;
    file.sync_data()?;
    Ok(copied)
}

/// Where the captured copy of a file with this hash is.
pub(super) fn captured(store: &Path, sha256: &str) -> PathBuf {
    store.join(format!("{sha256}.wasm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wasm_files_count_and_a_missing_folder_is_empty() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("b.wasm"), "b").expect("written");
        fs::write(dir.path().join("a.wasm"), "a").expect("written");
        fs::write(dir.path().join(".hidden.wasm"), "").expect("written");
        fs::write(dir.path().join("notes.txt"), "").expect("written");
        fs::create_dir(dir.path().join("folder.wasm")).expect("made");
        let names: Vec<String> = files(dir.path())
            .expect("listed")
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["a.wasm", "b.wasm"]);
        assert!(
            files(&dir.path().join("absent"))
                .expect("listed")
                .is_empty()
        );
    }

    #[test]
    fn a_capture_is_bound_to_what_was_seen() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join("a.wasm");
        fs::write(&file, "one").expect("written");
        let seen = Fingerprint::from_metadata(&fs::metadata(&file).expect("there"));
        let sha256 = capture(&file, seen, dir.path(), 16).expect("captured");
        assert_eq!(
            fs::read(captured(dir.path(), &sha256)).expect("a copy"),
            b"one"
        );
        fs::write(&file, "three").expect("written");
        assert!(matches!(
            capture(&file, seen, dir.path(), 16),
            Err(CaptureError::Moving)
        ));
        fs::write(&file, "x".repeat(16)).expect("written");
        let full = Fingerprint::from_metadata(&fs::metadata(&file).expect("there"));
        assert!(capture(&file, full, dir.path(), 16).is_ok(), "at the bound");
        let huge = Fingerprint { bytes: 17, ..seen };
        assert!(matches!(
            capture(&file, huge, dir.path(), 16),
            Err(CaptureError::TooLarge(_))
        ));
    }
}
