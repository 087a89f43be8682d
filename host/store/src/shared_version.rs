//! A number that all processes of a SQLite database share, in a file beside it: looking at it costs
//! no system call.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use rand::RngExt as _;

/// The file is at least this long; files of earlier versions are.
const BYTES: u64 = 16;

/// The file, mapped by every process that has the database open. On one machine, as SQLite's own
/// shared memory has to be.
#[derive(Debug)]
pub(super) struct SharedVersion(MmapRaw);

impl SharedVersion {
    /// Makes the file unless it is there.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::open_file(&options.open(path)?)
    }

    fn open_file(file: &File) -> io::Result<Self> {
        // Written, not only made longer: on a full disk this is an error, where the first store into a
        // page without a block would end the process.
        let bytes = file.metadata()?.len();
        if bytes < BYTES {
            file.write_all_at(&[0; BYTES as usize][bytes as usize..], bytes)?;
        }
        let number = size_of::<AtomicU64>();
        Ok(Self(MmapOptions::new().len(number).map_raw(file)?))
    }

    /// The number now.
    pub(super) fn get(&self) -> u64 {
        self.number().load(Ordering::SeqCst)
    }

    /// Puts a number there that nobody has seen.
    pub(super) fn renew(&self) {
        self.number().store(rand::rng().random(), Ordering::SeqCst);
    }

    fn number(&self) -> &AtomicU64 {
        // SAFETY: at the start of a page, writable, mapped as long as `self` is, and within the file,
        // which no process shortens. Nobody reaches it but through here.
        #[expect(unsafe_code, reason = "a number that processes share")]
        unsafe {
            AtomicU64::from_ptr(self.0.as_mut_ptr().cast())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_with_the_file_sees_the_same_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("db-changes");
        let (one, other) = (
            SharedVersion::open(&path).unwrap(),
            SharedVersion::open(&path).unwrap(),
        );
        assert_eq!(one.get(), other.get());
        let before = one.get();
        other.renew();
        assert_ne!(one.get(), before);
        assert_eq!(one.get(), other.get());
        let later = SharedVersion::open(&path).unwrap();
        assert_eq!(later.get(), other.get());
    }

    #[test]
    fn a_file_of_any_length_will_do() {
        let folder = tempfile::tempdir().unwrap();
        for (bytes, kept) in [(0, 16), (3, 16), (16, 16), (40, 40)] {
            let path = folder.path().join(format!("{bytes}-changes"));
            std::fs::write(&path, vec![7; bytes]).unwrap();
            let version = SharedVersion::open(&path).unwrap();
            let before = version.get();
            version.renew();
            assert_ne!(version.get(), before, "{bytes}");
            assert_eq!(std::fs::metadata(&path).unwrap().len(), kept, "{bytes}");
        }
    }
}
