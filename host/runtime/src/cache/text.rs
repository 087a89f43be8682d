//! The machine code of compiled components, kept once for all that hold the same.
//!
//! Plugins made from descriptions are one interpreter with different data, and their code is three
//! quarters of what they compile to. It stands in a file under its own hash; the image of a plugin
//! has a hole in its place, and where the image is mapped, the shared file is mapped into the hole.
//! So the kernel holds one copy of it, on disk and in memory, however many plugins run it.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _};
use rustix::mm::{MapFlags, ProtFlags};
use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

use super::write_new;
use crate::inspect::hex;

/// Where an image has its machine code, and which code that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MachineCode {
    offset: u64,
    bytes: u64,
    sha256: [u8; 32],
}

/// The end of the names of these files.
pub(super) const ENDING: &str = "text";

impl MachineCode {
    pub(super) const ENCODED_BYTES: usize = 48;

    /// The code of a compiled image. Code that does not fill whole pages of this machine cannot be
    /// mapped alone: then the image keeps it, and this is empty.
    pub(super) fn locate(image: &[u8]) -> Self {
        let page = rustix::param::page_size() as u64;
        let section = ElfFile64::<Endianness>::parse(image)
            .ok()
            .and_then(|elf| elf.section_by_name(".text")?.file_range())
            .filter(|(offset, bytes)| offset % page == 0 && bytes % page == 0)
            .filter(|(offset, bytes)| range(*offset, *bytes, image.len()).is_some());
        let (offset, bytes) = section.unwrap_or((0, 0));
        let code = range(offset, bytes, image.len()).unwrap_or(0..0);
        Self {
            offset,
            bytes,
            sha256: Sha256::digest(&image[code]).into(),
        }
    }

    pub(super) fn encode(&self) -> [u8; Self::ENCODED_BYTES] {
        let mut encoded = [0; Self::ENCODED_BYTES];
        encoded[..8].copy_from_slice(&self.offset.to_le_bytes());
        encoded[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        encoded[16..].copy_from_slice(&self.sha256);
        encoded
    }

    pub(super) fn decode(encoded: &[u8; Self::ENCODED_BYTES]) -> Self {
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&encoded[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(&encoded[16..]);
        Self {
            offset: number(0),
            bytes: number(8),
            sha256,
        }
    }

    /// Where the code is in an image of this many bytes; none if it would reach beyond.
    pub(super) fn range(&self, image_bytes: usize) -> Option<Range<usize>> {
        range(self.offset, self.bytes, image_bytes)
    }

    /// The file of this code; none if the image keeps it.
    pub(super) fn path(&self, dir: &Path) -> Option<PathBuf> {
        (self.bytes > 0).then(|| dir.join(hex(&self.sha256)).with_extension(ENDING))
    }

    /// Keeps the code, unless it is here unharmed.
    pub(super) fn keep(&self, dir: &Path, code: &[u8]) -> io::Result<()> {
        match self.path(dir) {
            Some(path) if self.open(&path).is_none() => write_new(&path, &[code]),
            _ => Ok(()),
        }
    }

    /// Opens the file of the code, if it holds what the hash says.
    pub(super) fn open(&self, path: &Path) -> Option<File> {
        let file = File::open(path).ok()?;
        // SAFETY: read-only; a change under the mapping could at worst make the hash differ.
        #[allow(unsafe_code)]
        let bytes = unsafe { memmap2::Mmap::map(&file) }.ok()?;
        (Sha256::digest(&bytes[..])[..] == self.sha256).then_some(file)
    }

    /// Maps the code into the hole of an image that has just been mapped.
    pub(super) fn map_into(&self, component: &Component, code: &File) -> io::Result<()> {
        let image = component.image_range();
        let len = image.end.addr() - image.start.addr();
        let Some(hole) = self.range(len) else {
            return Err(io::Error::other("the image is shorter than its mark says"));
        };
        // SAFETY: the range lies in the image, which the component owns and unmaps as a whole; no
        // call has run in it. The bytes are those that the compiler put there: the image's MAC names
        // their hash, which `open` compared, and the folder lets nobody else change the file.
        #[allow(unsafe_code)]
        unsafe {
            rustix::mm::mmap(
                image.start.wrapping_add(hole.start).cast_mut().cast(),
                hole.len(),
                ProtFlags::READ | ProtFlags::EXEC,
                MapFlags::PRIVATE | MapFlags::FIXED,
                code,
                0,
            )?;
        }
        Ok(())
    }
}

fn range(offset: u64, bytes: u64, image_bytes: usize) -> Option<Range<usize>> {
    let start = usize::try_from(offset).ok()?;
    let end = start.checked_add(usize::try_from(bytes).ok()?)?;
    (end <= image_bytes).then_some(start..end)
}

/// Removes the code that no image of the folder names any more.
pub(super) fn sweep(dir: &Path, named: &[PathBuf]) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) && !named.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
