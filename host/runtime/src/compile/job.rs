//! One file to compile, in a folder of its own.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::cost::CompileCost;

/// The input file in the folder of a job, and the output file.
pub(super) const INPUT: &str = "in.wasm";
pub(super) const OUTPUT: &str = "out.cwasm";

/// A file on its way, in a folder that goes with this.
pub struct CompileJob {
    pub(super) dir: PathBuf,
    pub(super) name: String,
    pub(super) cost: CompileCost,
}

impl Drop for CompileJob {
    fn drop(&mut self) {
        // A folder that is left is removed at a later start.
        let _ = fs::remove_dir_all(self.folder());
    }
}

impl CompileJob {
    pub(super) fn folder(&self) -> PathBuf {
        self.dir.join(&self.name)
    }
}

pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}
