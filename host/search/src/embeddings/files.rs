//! Which files the model is, and whether a folder holds exactly those.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

/// One file of the model, pinned.
#[derive(Clone, Copy, Debug)]
pub struct ModelFile {
    pub name: &'static str,
    pub bytes: u64,
    /// Lowercase hexadecimal.
    pub sha256: &'static str,
}

/// The weights as they are published. [`super::quantize`] makes [`WEIGHTS`] of them.
pub const PUBLISHED_WEIGHTS: ModelFile = ModelFile {
    name: "model.safetensors",
    bytes: 90_868_376,
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
};
/// The weights in eight bits.
pub const WEIGHTS: ModelFile = ModelFile {
    name: "model.int8.safetensors",
    bytes: 23_469_800,
    sha256: "c8d433fc79270906c6d7cbb7672f44bdc41514278fab29b216d276dccda14c3e",
};
pub const TOKENIZER: ModelFile = ModelFile {
    name: "tokenizer.json",
    bytes: 466_247,
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
};
/// What the tensor with the scales of a matrix's rows is called: as the matrix, with this behind it.
pub(super) const SCALES: &str = ".scales";
/// The files that are published, in the order of [`FILES`].
pub const PUBLISHED: [ModelFile; 2] = [TOKENIZER, PUBLISHED_WEIGHTS];
/// All files of the installed model.
pub const FILES: [ModelFile; 2] = [TOKENIZER, WEIGHTS];

/// Where the model lies in a data directory.
pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("models").join("all-MiniLM-L6-v2")
}

/// Why a folder does not hold the model.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{0} is missing")]
    Missing(PathBuf),
    #[error("{file} is not the file that was pinned: its SHA-256 is {found}")]
    Other { file: PathBuf, found: String },
    #[error("{file} cannot be read")]
    Unreadable {
        file: PathBuf,
        #[source]
        cause: io::Error,
    },
}

/// How the files look from outside: what changes when they do.
pub type FilesFingerprint = [(u64, SystemTime); FILES.len()];

/// A look at the files, cheap enough for every second; none while one is missing. [`verify`] reads them.
pub fn look(folder: &Path) -> Option<FilesFingerprint> {
    let mut look = [(0, SystemTime::UNIX_EPOCH); FILES.len()];
    for (look, file) in look.iter_mut().zip(&FILES) {
        let found = std::fs::metadata(folder.join(file.name)).ok()?;
        *look = (found.len(), found.modified().ok()?);
    }
    Some(look)
}

/// Compares every file with its pinned hash.
pub fn verify(folder: &Path) -> Result<(), FileError> {
    FILES
        .iter()
        .try_for_each(|file| verify_file(&folder.join(file.name), file))
}

/// Compares one file, whatever it is called, with a pinned hash.
pub fn verify_file(path: &Path, pinned: &ModelFile) -> Result<(), FileError> {
    let unreadable = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => FileError::Missing(path.to_owned()),
        _ => FileError::Unreadable {
            file: path.to_owned(),
            cause,
        },
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => break,
            read => hash.update(&buffer[..read]),
        }
    }
    let found: String = hash
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == pinned.sha256 {
        Ok(())
    } else {
        Err(FileError::Other {
            file: path.to_owned(),
            found,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::{FILES, FileError, TOKENIZER, look, verify, verify_file};

    #[test]
    fn what_is_missing_or_other_than_pinned_is_refused() {
        let folder = std::env::temp_dir().join(format!("toolgate-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        assert!(look(&folder).is_none());
        assert!(matches!(verify(&folder), Err(FileError::Missing(_))));
        for file in &FILES {
            let mut written = std::fs::File::create(folder.join(file.name)).expect("a file");
            written.write_all(b"{}").expect("written");
        }
        assert!(look(&folder).is_some());
        let refused = verify_file(&folder.join(TOKENIZER.name), &TOKENIZER);
        let Err(FileError::Other { found, .. }) = refused else {
            panic!("{refused:?}");
        };
        // Of the two bytes `{}`.
        assert!(found.starts_with("44136fa355b3678a"), "{found}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
