//! Compiled code on disk: written by this program, opened only if the mark it left still holds.
//!
//! Loading machine code is running it. Each file therefore carries a MAC under a key of the data
//! directory, in a folder that only the owner can enter; a file without a valid mark, of another
//! engine or of another version is a miss, never an error.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wasmtime::Engine;
use wasmtime::component::Component;

const MAC_BYTES: usize = 32;

/// The folder of compiled components.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    key: [u8; 32],
    bytes_max: Option<u64>,
    /// Names the engine's settings and version, so that another build looks for other files.
    engine_mark: String,
}

impl Cache {
    /// Opens `dir` (0700, made if absent) for files of `engine`, at most `bytes_max` of them together.
    pub fn open(
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
        Ok(Self {
            dir: dir.to_owned(),
            key,
            bytes_max,
            engine_mark,
        })
    }

    fn path(&self, sha256: &str) -> PathBuf {
        self.dir
            .join(format!("{sha256}-{}.cwasm", self.engine_mark))
    }

    /// The compiled component for a file's hash, if it is here and unharmed.
    pub fn load(&self, engine: &Engine, sha256: &str) -> Option<Component> {
        let path = self.path(sha256);
        let code = File::open(&path).ok()?;
        let mut mark = [0; MAC_BYTES];
        File::open(path.with_extension("mac"))
            .ok()?
            .read_exact(&mut mark)
            .ok()?;
        if !self.holds(&code, sha256, &mark) {
            tracing::warn!(
                plugin.sha256 = sha256,
                "runtime.cache_rejected: compiled again"
            );
            return None;
        }
        // The descriptor, not the path: what is mapped is the file that was just checked.
        let checked = format!("/proc/self/fd/{}", code.as_raw_fd());
        // SAFETY: the bytes are the output of `Component::serialize` of this program, shown by the
        // MAC above; the folder lets nobody else change them.
        #[allow(unsafe_code)]
        let loaded = unsafe { Component::deserialize_file(engine, &checked) };
        match loaded {
            Ok(component) => {
                if self.bytes_max.is_some() {
                    // Only the order of files by their last use depends on it.
                    let _ = code.set_modified(SystemTime::now());
                }
                Some(component)
            }
            Err(cause) => {
                tracing::debug!(plugin.sha256 = sha256, error = %cause, "runtime.cache_miss");
                None
            }
        }
    }

    /// Keeps a compiled component. The mark is written last, so that half a file is a miss.
    pub fn store(&self, sha256: &str, component: &Component) -> anyhow::Result<()> {
        let code = component.serialize()?;
        let path = self.path(sha256);
        let mark_path = path.with_extension("mac");
        let _ = fs::remove_file(&mark_path);
        write_new(&path, &code)?;
        write_new(
            &mark_path,
            &self.mac(sha256).chain_update(&code).finalize().into_bytes(),
        )?;
        if let Some(bytes_max) = self.bytes_max {
            make_room(&self.dir, &path, bytes_max)?;
        }
        Ok(())
    }

    /// Forgets a component; nothing happens if it is not here.
    pub fn remove(&self, sha256: &str) {
        let path = self.path(sha256);
        let _ = fs::remove_file(path.with_extension("mac"));
        let _ = fs::remove_file(path);
    }

    fn mac(&self, sha256: &str) -> Hmac<Sha256> {
        Hmac::<Sha256>::new_from_slice(&self.key)
            .expect("HMAC takes a key of any length")
            .chain_update(self.engine_mark.as_bytes())
            .chain_update(sha256.as_bytes())
    }

    fn holds(&self, code: &File, sha256: &str, mark: &[u8]) -> bool {
        // SAFETY: read-only; a change under the mapping could at worst make the MAC fail.
        #[allow(unsafe_code)]
        let Ok(bytes) = (unsafe { memmap2::Mmap::map(code) }) else {
            return false;
        };
        self.mac(sha256)
            .chain_update(&bytes[..])
            .verify_slice(mark)
            .is_ok()
    }
}

/// Removes compiled files, the one used longest ago first, until the rest has at most `bytes_max`;
/// `but` stays. Code that is mapped stays mapped.
fn make_room(dir: &Path, but: &Path, bytes_max: u64) -> io::Result<()> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "cwasm") {
            let metadata = fs::metadata(&path)?;
            files.push((path != but, metadata.modified()?, metadata.len(), path));
        }
    }
    let mut total: u64 = files.iter().map(|(_, _, bytes, _)| bytes).sum();
    files.retain(|(may_go, ..)| *may_go);
    files.sort();
    for (_, _, bytes, path) in files {
        if total <= bytes_max {
            break;
        }
        let _ = fs::remove_file(path.with_extension("mac"));
        fs::remove_file(path)?;
        total -= bytes;
    }
    Ok(())
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
    pub struct Fnv1a(u64);

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
