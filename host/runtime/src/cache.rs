//! Compiled code on disk: written by this program, loaded only if its MAC is valid.
//!
//! Loading machine code is running it. Each file therefore carries a MAC under a key of the data
//! directory, in a folder that only the owner can enter; a file without a valid MAC, of another
//! engine or of another version is a miss, never an error.
//!
//! A component is an image (`.cwasm`) and its MAC (`.mac`).

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wasmtime::Engine;
use wasmtime::component::Component;

const MAC_BYTES: usize = 32;

/// The folder of compiled components.
#[derive(Debug)]
pub(crate) struct CodeCache {
    dir: PathBuf,
    key: [u8; 32],
    bytes_max: Option<u64>,
    /// Names the engine's settings and version, so that another build looks for other files.
    engine_mark: String,
    /// Two threads that keep the same component would write into one another's unfinished file.
    changing: Mutex<()>,
}

impl CodeCache {
    /// Opens `dir` (0700, made if absent) for files of `engine`, at most `bytes_max` of them together.
    pub(crate) fn open(
        dir: &Path,
        key: [u8; 32],
        engine: &Engine,
        bytes_max: Option<u64>,
    ) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)?;
        let mut mark = fnv::Fnv1a::default();
        std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut mark);
        std::hash::Hash::hash(env!("CARGO_PKG_VERSION"), &mut mark);
        let engine_mark = format!("{:016x}", std::hash::Hasher::finish(&mark));
        let cache = Self {
            dir: dir.to_owned(),
            key,
            bytes_max,
            engine_mark,
            changing: Mutex::default(),
        };
        cache.forget_other_engines()?;
        Ok(cache)
    }

    /// Removes what another version of the program compiled, which this one never loads. A process of that
    /// version goes on with what it has mapped.
    fn forget_other_engines(&self) -> io::Result<()> {
        let ours = format!("-{}", self.engine_mark);
        for path in files(&self.dir)? {
            let of_cache = path
                .extension()
                .is_some_and(|ending| ending == "cwasm" || ending == "mac");
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            if of_cache && !stem.is_some_and(|stem| stem.ends_with(&ours)) {
                // Another process may have done it.
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }

    fn path(&self, sha256: &str) -> PathBuf {
        self.dir
            .join(format!("{sha256}-{}.cwasm", self.engine_mark))
    }

    /// The compiled component for a file's hash, if it is stored and its MAC is valid.
    pub(crate) fn load(&self, engine: &Engine, sha256: &str) -> Option<Component> {
        let path = self.path(sha256);
        let image = File::open(&path).ok()?;
        let mac: [u8; MAC_BYTES] = fs::read(mac_path(&path)).ok()?.try_into().ok()?;
        if !self.holds(&image, sha256, &mac) {
            tracing::warn!(
                plugin.sha256 = sha256,
                "runtime.cache_rejected: compiled again"
            );
            return None;
        }
        // The descriptor, not the path: what is mapped is the file that was just checked.
        let checked = format!("/proc/self/fd/{}", image.as_raw_fd());
        // SAFETY: the bytes are the output of `Component::serialize` of this program, shown by the
        // MAC above; the folder lets nobody else change them.
        #[expect(unsafe_code, reason = "maps code with a valid MAC")]
        let loaded = unsafe { Component::deserialize_file(engine, &checked) };
        match loaded {
            Ok(component) => {
                release_pages(&component);
                if self.bytes_max.is_some() {
                    #[expect(
                        clippy::disallowed_methods,
                        reason = "only the order of files by their last use depends on it"
                    )]
                    let now = SystemTime::now();
                    let _ = image.set_modified(now);
                }
                Some(component)
            }
            Err(cause) => {
                tracing::debug!(plugin.sha256 = sha256, error = %cause, "runtime.cache_miss");
                None
            }
        }
    }

    /// Stores a compiled component. The MAC is written last, so that an incomplete file is a miss.
    pub(crate) fn store(&self, sha256: &str, component: &Component) -> anyhow::Result<()> {
        let image = component.serialize()?;
        let path = self.path(sha256);
        let mac = self.mac(sha256, &image).finalize().into_bytes();
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = fs::remove_file(mac_path(&path));
        write_new(&path, &image)?;
        write_new(&mac_path(&path), &mac)?;
        if let Some(bytes_max) = self.bytes_max {
            self.make_room(&path, bytes_max)?;
        }
        Ok(())
    }

    /// The hashes of the components that are here.
    pub(crate) fn hashes(&self) -> io::Result<Vec<String>> {
        let ending = format!("-{}.cwasm", self.engine_mark);
        let names = files(&self.dir)?.into_iter().filter_map(|path| {
            let name = path.file_name()?.to_str()?;
            name.strip_suffix(&ending).map(str::to_owned)
        });
        Ok(names.collect())
    }

    /// Removes a component, if it is stored.
    pub(crate) fn remove(&self, sha256: &str) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.path(sha256);
        let _ = fs::remove_file(mac_path(&path));
        let _ = fs::remove_file(path);
    }

    fn mac(&self, sha256: &str, image: &[u8]) -> Hmac<Sha256> {
        Hmac::<Sha256>::new_from_slice(&self.key)
            .expect("HMAC takes a key of any length")
            .chain_update(self.engine_mark.as_bytes())
            .chain_update(sha256.as_bytes())
            .chain_update(image)
    }

    fn holds(&self, image: &File, sha256: &str, mac: &[u8; MAC_BYTES]) -> bool {
        // SAFETY: read-only; a change under the mapping could at worst make the MAC fail.
        #[expect(unsafe_code, reason = "maps an image to read it")]
        let Ok(bytes) = (unsafe { memmap2::Mmap::map(image) }) else {
            return false;
        };
        self.mac(sha256, &bytes).verify_slice(mac).is_ok()
    }

    /// Removes images, the one used longest ago first, until the folder takes at most `bytes_max` of
    /// the disk; `but` stays. Code that is mapped stays mapped.
    fn make_room(&self, but: &Path, bytes_max: u64) -> io::Result<()> {
        let mut images = Vec::new();
        for path in files(&self.dir)? {
            if path.extension().is_some_and(|ending| ending == "cwasm") && path != but {
                images.push((fs::metadata(&path)?.modified()?, path));
            }
        }
        images.sort();
        for (_, path) in images {
            if disk_bytes(&self.dir)? <= bytes_max {
                break;
            }
            let _ = fs::remove_file(mac_path(&path));
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// Releases the pages that loading an image has read: names and tables that calls do not need. The
/// kernel reads a page from the file again when it is used.
fn release_pages(component: &Component) {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let image = component.image_range();
        let len = image.end.addr() - image.start.addr();
        let start = image.start.cast_mut().cast();
        // SAFETY: the range is a mapping of files that the component owns and that nothing writes to:
        // wasmtime takes no image with relocations, and made it read-only.
        #[expect(unsafe_code, reason = "gives pages back to the kernel")]
        let released = unsafe { madvise(start, len, Advice::LinuxDontNeed) };
        if let Err(cause) = released {
            tracing::debug!(error = %cause, "runtime.pages_stay");
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = component;
}

fn mac_path(image: &Path) -> PathBuf {
    image.with_extension("mac")
}

fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(dir)?.map(|entry| Ok(entry?.path())).collect()
}

/// What the files of a folder take of the disk.
fn disk_bytes(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let metadata = entry?.metadata()?;
        if metadata.is_file() {
            bytes += metadata.blocks() * 512;
        }
    }
    Ok(bytes)
}

/// Writes beside the target and renames, so that a reader sees the old file or the whole new one.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_extension(format!("part{}", std::process::id()));
    let _ = fs::remove_file(&part);
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&part)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&part, path)
}

/// A hash that is the same in every process (FNV-1a), for file names only.
mod fnv {
    #[derive(Debug)]
    pub(super) struct Fnv1a(u64);

    impl Default for Fnv1a {
        fn default() -> Self {
            Self(0xcbf2_9ce4_8422_2325)
        }
    }

    impl std::hash::Hasher for Fnv1a {
        fn finish(&self) -> u64 {
            self.0
        }

        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}
