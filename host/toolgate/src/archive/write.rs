//! Writing an archive: entries one after the other, their hashes at the end.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::{ArchiveError, SUMS, at};

/// An archive on its way to the disk.
pub(super) struct ArchiveWriter {
    tar: Builder<GzEncoder<BufWriter<File>>>,
    sums: String,
    entries: usize,
}

impl ArchiveWriter {
    /// Begins the file `path`, which may not be there, readable by its owner alone.
    pub(super) fn create(path: &Path) -> Result<Self, ArchiveError> {
        let file = create_private(path)?;
        let zipped = GzEncoder::new(BufWriter::new(file), Compression::fast());
        Ok(Self {
            tar: Builder::new(zipped),
            sums: String::new(),
            entries: 0,
        })
    }

    pub(super) fn add_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.add(name, bytes.len() as u64, bytes)
            .map_err(at(Path::new(name)))
    }

    /// Adds what `file` holds now. What is written to it meanwhile is not part of the entry.
    pub(super) fn add_file(&mut self, name: &str, file: &Path) -> Result<(), ArchiveError> {
        let opened = File::open(file).map_err(at(file))?;
        let bytes = opened.metadata().map_err(at(file))?.len();
        self.add(name, bytes, opened.take(bytes)).map_err(at(file))
    }

    fn add(&mut self, name: &str, bytes: u64, content: impl Read) -> io::Result<()> {
        let mut content = HashingReader {
            from: content,
            hash: Sha256::new(),
            bytes: 0,
        };
        append(&mut self.tar, name, bytes, &mut content)?;
        if content.bytes != bytes {
            return Err(io::Error::other(
                "the file became shorter while it was read",
            ));
        }
        let hash = hex::encode(content.hash.finalize());
        self.sums.push_str(&format!("{hash}  {name}\n"));
        self.entries += 1;
        Ok(())
    }

    /// Writes the hashes and waits until the disk has everything. Answers the number of entries.
    pub(super) fn finish(mut self, path: &Path) -> Result<usize, ArchiveError> {
        let sums = self.sums.into_bytes();
        append(&mut self.tar, SUMS, sums.len() as u64, &mut &sums[..]).map_err(at(path))?;
        let end = || -> io::Result<()> {
            let mut file = self.tar.into_inner()?.finish()?;
            file.flush()?;
            file.get_ref().sync_all()
        };
        end().map_err(at(path))?;
        Ok(self.entries)
    }
}

/// A new file, readable by its owner alone.
pub(super) fn create_private(path: &Path) -> Result<File, ArchiveError> {
    let mut options = std::fs::OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(path);
    made.map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => ArchiveError::Exists(path.display().to_string()),
        _ => at(path)(cause),
    })
}

fn append<W: io::Write>(
    tar: &mut Builder<W>,
    name: &str,
    bytes: u64,
    content: &mut impl Read,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes);
    header.set_mode(0o600);
    tar.append_data(&mut header, name, content)
}

/// Hashes what passes.
pub(super) struct HashingReader<R> {
    pub from: R,
    pub hash: Sha256,
    pub bytes: u64,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hash.update(&buffer[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}
